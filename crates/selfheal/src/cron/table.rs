//! A crontab as lines. Joined again, the lines are the text that was read, byte for byte.

use std::ops::Range;

use super::Schedule;

/// The form of a crontab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A user's own: schedule, command.
    User,
    /// `/etc/crontab` and `/etc/cron.d/*`: schedule, user, command.
    System,
}

/// A crontab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    entries: Vec<Entry>,
}

/// One line of a crontab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The line as it is, its line end included.
    raw: Vec<u8>,
    /// What it is.
    pub kind: Kind,
}

/// What a line is. Ranges are bytes of the line; what they name is text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Empty, or a comment.
    Blank,
    /// `NAME=value`, quotes around either taken away.
    Setting {
        /// The variable.
        name: String,
        /// Its value.
        value: String,
    },
    /// A job.
    Job {
        /// The five fields, or the nickname.
        schedule: Range<usize>,
        /// The user, in a system table.
        user: Option<Range<usize>>,
        /// Everything behind, without the line end.
        command: Range<usize>,
    },
    /// What cron would not take either, or what is not text.
    Unknown,
}

impl Entry {
    /// Reads one line.
    #[must_use]
    pub fn read(raw: &[u8], form: Form) -> Self {
        let kind = std::str::from_utf8(raw).map_or(Kind::Unknown, |text| kind_of(text, form));
        Self { raw: raw.to_vec(), kind }
    }

    /// The text of a range of it.
    #[must_use]
    pub fn text(&self, range: &Range<usize>) -> &str {
        self.raw.get(range.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// The command, if it is a job.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        match &self.kind {
            Kind::Job { command, .. } => Some(self.text(command)),
            _ => None,
        }
    }

    /// The schedule, if it is a job.
    #[must_use]
    pub fn schedule(&self) -> Option<&str> {
        match &self.kind {
            Kind::Job { schedule, .. } => Some(self.text(schedule)),
            _ => None,
        }
    }

    /// The user, if it names one.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        match &self.kind {
            Kind::Job { user: Some(user), .. } => Some(self.text(user)),
            _ => None,
        }
    }

    /// The same line with another command.
    #[must_use]
    pub fn with_command(&self, fresh: &str, form: Form) -> Self {
        let Kind::Job { command, .. } = &self.kind else { return self.clone() };
        let before = self.raw.get(..command.start).unwrap_or_default();
        let after = self.raw.get(command.end..).unwrap_or_default();
        Self::read(&[before, fresh.as_bytes(), after].concat(), form)
    }
}

impl Table {
    /// Reads a crontab.
    #[must_use]
    pub fn read(bytes: &[u8], form: Form) -> Self {
        let entries =
            bytes.split_inclusive(|byte| *byte == b'\n').map(|raw| Entry::read(raw, form)).collect();
        Self { entries }
    }

    /// The bytes of all lines.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.entries.iter().flat_map(|entry| entry.raw.iter().copied()).collect()
    }

    /// The lines.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The line with a number, from 1.
    #[must_use]
    pub fn entry(&self, line: usize) -> Option<&Entry> {
        self.entries.get(line.checked_sub(1)?)
    }

    /// Puts another line in the place of one; the number is from 1.
    pub fn replace(&mut self, line: usize, fresh: Entry) {
        if let Some(entry) = line.checked_sub(1).and_then(|at| self.entries.get_mut(at)) {
            *entry = fresh;
        }
    }

    /// The value that a variable has for the job on a line: the last setting before it counts.
    #[must_use]
    pub fn setting_at(&self, wanted: &str, line: usize) -> Option<&str> {
        self.entries.iter().take(line).rev().find_map(|entry| match &entry.kind {
            Kind::Setting { name, value } if name == wanted => Some(value.as_str()),
            _ => None,
        })
    }

    /// The jobs with the numbers of their lines, from 1.
    pub fn jobs(&self) -> impl Iterator<Item = (usize, &Entry)> {
        (1..).zip(&self.entries).filter(|(_, entry)| matches!(entry.kind, Kind::Job { .. }))
    }
}

fn kind_of(line: &str, form: Form) -> Kind {
    // A carriage return is part of the command for cron; it stays where it is, behind ours.
    let text = line.strip_suffix('\n').unwrap_or(line);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let start = text.len() - text.trim_start_matches(BLANKS).len();
    let rest = text.get(start..).unwrap_or_default();
    if rest.is_empty() || rest.starts_with('#') {
        return Kind::Blank;
    }
    if let Some((name, value)) = setting(rest) {
        return Kind::Setting { name, value };
    }
    job(text, start, form).unwrap_or(Kind::Unknown)
}

const BLANKS: [char; 2] = [' ', '\t'];

/// `NAME = value`, as crontab(5) reads it: blanks around the sign and quotes around both sides are not part of them.
fn setting(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let name = unquoted(name.trim_matches(BLANKS));
    let first = name.chars().next()?;
    let plain = (first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    plain.then(|| (name.to_owned(), unquoted(value.trim_matches(BLANKS)).to_owned()))
}

fn unquoted(text: &str) -> &str {
    ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(text)
}

fn job(text: &str, start: usize, form: Form) -> Option<Kind> {
    let fields = if text.get(start..)?.starts_with('@') { 1 } else { 5 };
    let mut words = Words { text, at: start };
    let schedule = (0..fields).try_fold(start..start, |whole, _| {
        let word = words.next_word()?;
        Some(whole.start..word.end)
    })?;
    let said = text.get(schedule.clone())?;
    // Fields that only some crons know cannot be checked; in all others a word in the wrong place shows.
    let extended = said.chars().any(|letter| matches!(letter, '~' | '?' | '#' | 'L' | 'W' | 'H'));
    let known = fields == 1 || extended || Schedule::parse(said).is_some();
    if !known || fields == 5 && !said.chars().all(in_schedule) {
        return None;
    }
    let user = match form {
        Form::User => None,
        Form::System => Some(words.next_word()?),
    };
    let command = words.rest()?;
    Some(Kind::Job { schedule, user, command })
}

/// What the five fields consist of. A leading `-` (do not log) is part of the first one.
fn in_schedule(c: char) -> bool {
    c.is_ascii_alphanumeric() || "*/,-~#?".contains(c) || BLANKS.contains(&c)
}

struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl Words<'_> {
    fn next_word(&mut self) -> Option<Range<usize>> {
        let start = self.skip()?;
        let rest = self.text.get(start..)?;
        let end = start + rest.find(BLANKS).unwrap_or(rest.len());
        self.at = end;
        Some(start..end)
    }

    fn rest(&mut self) -> Option<Range<usize>> {
        Some(self.skip()?..self.text.len())
    }

    /// Where the next word begins; `None` at the end.
    fn skip(&self) -> Option<usize> {
        let rest = self.text.get(self.at..)?;
        let word = rest.trim_start_matches(BLANKS);
        (!word.is_empty()).then(|| self.text.len() - word.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"# m h dom mon dow command\nSHELL=/bin/bash\n MAILTO = \"ops@example.org\"\n\n\
        15 2 * * *\t/usr/local/bin/backup.sh >/dev/null 2>&1\n@daily cd /srv && ./run.sh\r\n\
        -*/5 * * * 1-5 echo a\\%b%stdin\n0 0 * *\n\xff\xfe 1\nPATH=/usr/bin:/bin\n* * * * * no-newline";

    #[test]
    fn a_table_is_written_back_byte_for_byte() {
        for form in [Form::User, Form::System] {
            assert_eq!(Table::read(TABLE, form).bytes(), TABLE);
        }
        for text in ["", "\n", "x", "\r\n\r\n", "@reboot", " \t \n* * * * *"] {
            assert_eq!(Table::read(text.as_bytes(), Form::System).bytes(), text.as_bytes());
        }
    }

    #[test]
    fn the_jobs_are_found_with_schedule_and_command() {
        let table = Table::read(TABLE, Form::User);
        let jobs: Vec<_> = table.jobs().map(|(line, job)| (line, job.schedule(), job.command())).collect();
        assert_eq!(
            jobs,
            [
                (5, Some("15 2 * * *"), Some("/usr/local/bin/backup.sh >/dev/null 2>&1")),
                (6, Some("@daily"), Some("cd /srv && ./run.sh")),
                (7, Some("-*/5 * * * 1-5"), Some("echo a\\%b%stdin")),
                (11, Some("* * * * *"), Some("no-newline")),
            ]
        );
    }

    #[test]
    fn a_system_table_has_a_user() {
        let table = Table::read(b"17 *\t* * *\troot    cd / && run-parts /etc/cron.hourly\n", Form::System);
        let (_, job) = table.jobs().next().unwrap();
        assert_eq!((job.user(), job.command()), (Some("root"), Some("cd / && run-parts /etc/cron.hourly")));
    }

    #[test]
    fn what_cron_would_not_take_is_no_job() {
        for line in ["61 * * * * x", "* * * * root too few", "a b c d e f", "* * * *", "@daily"] {
            assert_eq!(Entry::read(line.as_bytes(), Form::User).kind, Kind::Unknown, "{line}");
        }
        for line in
            ["~ 3 * * * x", "0 0 L * * x", "0 3 * jan mon-fri x", "@every_minute x", "-*/5 * * * 1-5 x"]
        {
            assert!(Entry::read(line.as_bytes(), Form::User).command().is_some(), "{line}");
        }
    }

    #[test]
    fn settings_count_from_where_they_stand() {
        let table = Table::read(TABLE, Form::User);
        assert_eq!(table.setting_at("MAILTO", 5), Some("ops@example.org"));
        assert_eq!(table.setting_at("PATH", 5), None);
        assert_eq!(table.setting_at("PATH", 11), Some("/usr/bin:/bin"));
    }

    #[test]
    fn another_command_leaves_the_rest_of_the_line() {
        let mut table = Table::read(TABLE, Form::User);
        let fresh = table.entry(6).unwrap().with_command("true", Form::User);
        table.replace(6, fresh);
        let text = String::from_utf8_lossy(&table.bytes()).into_owned();
        assert!(text.contains("\n@daily true\r\n-*/5"), "{text}");
    }
}
