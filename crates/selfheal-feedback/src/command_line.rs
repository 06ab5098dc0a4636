//! A command as somebody wrote it on one line, read back into what was run: the words of each command in it, and which of
//! them the exit code is from.

use std::ffi::OsString;

use crate::words::is_assignment;

/// The longest line that is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// A command line, cut into its commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The whole line.
    text: String,
    /// The file of the last `<`.
    stdin: Option<String>,
    commands: Vec<Command>,
    /// Whether it can be understood without a shell: no loops, substitutions or open quotes.
    plain: bool,
}

/// One command of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Command {
    words: Vec<String>,
    /// What stands before it: empty, `|`, `;`, `&&`, `||`, `&`.
    before: &'static str,
}

impl CommandLine {
    /// Reads a line.
    #[must_use]
    pub fn read(line: &str) -> Self {
        let line = line.trim();
        let mut reader = Reader { plain: line.len() <= LONGEST, ..Reader::default() };
        let mut chars = crate::parsers::cut(line, LONGEST).chars().peekable();
        while let Some(c) = chars.next() {
            reader.take(c, &mut chars);
        }
        reader.flush_word();
        reader.plain &= reader.quote.is_none();
        reader.flush_command("");
        let mut commands = reader.commands;
        commands.retain(|command| !command.words.is_empty());
        Self {
            text: line.to_owned(),
            stdin: reader.stdin,
            plain: reader.plain && !commands.is_empty(),
            commands,
        }
    }

    /// The command with its arguments, as a job has it: the words of a single command, else a shell with the whole line.
    #[must_use]
    pub fn argv(&self) -> Vec<OsString> {
        match self.commands.as_slice() {
            [only] if self.plain => only.words.iter().map(OsString::from).collect(),
            _ => ["sh", "-c", &self.text].map(OsString::from).into(),
        }
    }

    /// The file that the last command reads as standard input.
    #[must_use]
    pub fn stdin(&self) -> Option<&str> {
        self.stdin.as_deref().filter(|_| self.plain)
    }

    /// Each command with its arguments, in order; none where only a shell understands the line.
    #[must_use]
    pub fn each(&self) -> Vec<Vec<OsString>> {
        let commands = self.commands.iter().filter(|_| self.plain);
        commands.map(|command| command.words.iter().map(OsString::from).collect()).collect()
    }

    /// The command that the exit code of the line is from, where the line alone tells: the last of a pipe or sequence.
    #[must_use]
    pub fn answering(&self) -> Option<Vec<OsString>> {
        let last = self.commands.last().filter(|_| self.plain)?;
        let sure = self.commands.len() == 1 || matches!(last.before, "|" | ";");
        let pipefail = self.text.contains("pipefail");
        (sure && !pipefail).then(|| last.words.iter().map(OsString::from).collect())
    }
}

#[derive(Default)]
struct Reader {
    commands: Vec<Command>,
    words: Vec<String>,
    word: Option<String>,
    quote: Option<char>,
    before: &'static str,
    /// The next word is the file of a redirection.
    skip: bool,
    /// And that of `<`.
    reads: bool,
    stdin: Option<String>,
    plain: bool,
}

impl Reader {
    fn take(&mut self, c: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        match (self.quote, c) {
            (Some(open), _) if c == open => self.quote = None,
            (Some('"'), '\\') if matches!(chars.peek(), Some('"' | '\\' | '$' | '`')) => {
                self.word.get_or_insert_default().extend(chars.next());
            }
            (Some('"'), '`') => self.only_a_shell(c),
            (Some(_), _) => self.word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                self.quote = Some(c);
                self.word.get_or_insert_default();
            }
            (None, '\\') => self.word.get_or_insert_default().extend(chars.next()),
            (None, '|') if chars.next_if_eq(&'|').is_some() => self.flush_command("||"),
            (None, '|') => {
                chars.next_if_eq(&'&');
                self.flush_command("|");
            }
            (None, '&') if chars.next_if_eq(&'&').is_some() => self.flush_command("&&"),
            (None, '&') if chars.peek() == Some(&'>') => {}
            (None, '&') => self.flush_command("&"),
            (None, ';' | '\n') => self.flush_command(";"),
            (None, '<' | '>') => self.redirection(c, chars),
            (None, '(' | ')' | '`') => self.only_a_shell(c),
            (None, c) if c.is_whitespace() => self.flush_word(),
            (None, c) => self.word.get_or_insert_default().push(c),
        }
    }

    fn only_a_shell(&mut self, c: char) {
        self.plain = false;
        self.word.get_or_insert_default().push(c);
    }

    /// `> FILE`, `2>&1`, `>>FILE`: neither the number before it nor the file is an argument.
    fn redirection(&mut self, first: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        self.reads = first == '<' && chars.peek() != Some(&'<');
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.flush_word();
        while chars.next_if(|c| matches!(c, '<' | '>' | '|')).is_some() {}
        if chars.next_if_eq(&'&').is_some() {
            while chars.next_if(|c| c.is_ascii_digit() || *c == '-').is_some() {}
        } else if chars.peek() == Some(&'(') {
            self.plain = false;
        } else {
            self.skip = true;
        }
    }

    fn flush_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.skip) {
            if std::mem::take(&mut self.reads) {
                self.stdin = Some(word);
            }
            return;
        }
        let leads = self.words.is_empty() && is_assignment(&word);
        if !leads {
            self.words.push(word);
        }
    }

    fn flush_command(&mut self, next: &'static str) {
        self.flush_word();
        if !next.is_empty() {
            self.stdin = None;
        }
        let words = std::mem::take(&mut self.words);
        let keyword = ["if", "for", "while", "until", "case", "{", "!", "function"];
        self.plain &= words.first().is_none_or(|word| !keyword.contains(&word.as_str()));
        self.commands.push(Command { words, before: self.before });
        self.before = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(argv: &[OsString]) -> String {
        argv.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn a_single_command_is_its_words() {
        for (line, expected) in [
            ("bash job.sh 'a b'", "bash|job.sh|a b"),
            ("TZ=UTC grep -c \"a|b\" f > out 2>&1", "grep|-c|a|b|f"),
            ("awk '{print $1}' f 2>/dev/null", "awk|{print $1}|f"),
            ("cp a\\ b ''", "cp|a b|"),
            ("python3 x.py &> log", "python3|x.py"),
        ] {
            assert_eq!(words(&CommandLine::read(line).argv()), expected, "{line}");
        }
    }

    #[test]
    fn the_code_is_that_of_the_last_command() {
        let answering = |line: &str| CommandLine::read(line).answering().map(|argv| words(&argv));
        assert_eq!(answering("cat f | grep -q x").as_deref(), Some("grep|-q|x"));
        assert_eq!(answering("a; diff b c").as_deref(), Some("diff|b|c"));
        assert_eq!(answering("cd x && grep y z"), None);
        assert_eq!(answering("set -o pipefail; a | grep x"), None);
        assert_eq!(answering("for f in *; do cp $f x; done"), None);
        assert_eq!(answering("(cd x; ls)"), None);
        assert_eq!(words(&CommandLine::read("a && b").argv()), "sh|-c|a && b");
        assert_eq!(CommandLine::read("").argv().len(), 3);
    }

    #[test]
    fn the_file_of_standard_input_is_known() {
        assert_eq!(CommandLine::read("sqlite3 a.db < load.sql > out").stdin(), Some("load.sql"));
        assert_eq!(CommandLine::read("tr a b < x | sort").stdin(), None);
        assert_eq!(CommandLine::read("cat <<< x").stdin(), None);
    }

    #[test]
    fn hostile_lines_are_read_too() {
        for line in ["'", "\\", "|||&&&", ">>>", "\"`", &"<".repeat(100_000), "a 'b"] {
            let _ = CommandLine::read(line).argv();
        }
    }
}
