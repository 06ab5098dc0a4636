//! The log files that a job names: on its command line, in its script and settings, or in what it printed.
//!
//! Names only: whoever asks looks at the files, and reads no more of them than what the run wrote.

use std::path::PathBuf;

use crate::parsers::cut;
use crate::words::is_assignment;

/// How many names are answered.
const MOST: usize = 8;
/// So much of a text is looked through, in bytes.
const LONGEST: usize = 512 * 1024;
/// How often a value may name another variable.
const DEPTH: usize = 4;
/// How many names of pictures are taken from an output.
const PICTURES: usize = 20;

/// How the names of log files end.
const ENDS: [&str; 4] = [".log", ".err", ".log.txt", ".errors"];
/// Words before a name that make it one of a log.
const LEADS: [&str; 13] = [
    "--log-file",
    "--logfile",
    "--log",
    "--log-path",
    "--output-log",
    "--error-log",
    "--stderr",
    "-logfile",
    "tee",
    "logfile",
    "log_file",
    "log-file",
    "error_log",
];
/// Calls whose first value is the name of a log.
const CALLS: [&str; 4] =
    ["FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler", "WatchedFileHandler"];

/// The names of the log files in a text, in the order in which they stand; variables are looked up in the text, then by
/// `var`. Names with parts that are not known are left out.
#[must_use]
pub fn named_in(text: &str, var: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let text = cut(text, LONGEST);
    // Most texts name none, and this is asked before every run.
    if !["log", "2>", "&>", ".err"].iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let lookup = |name: &str| set_in(text, name).or_else(|| var(name));
    let mut out: Vec<PathBuf> = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        for word in in_line(line) {
            let name = expanded(&word, &lookup, DEPTH).filter(|name| is_name(name)).map(PathBuf::from);
            out.extend(name.filter(|name| !out.contains(name)));
            if out.len() >= MOST {
                return out;
            }
        }
    }
    out
}

/// The words of a line that may be names of log files, as written.
fn in_line(line: &str) -> Vec<String> {
    let line = cut(line, 2_000);
    let breaks = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '=' | '(' | ')' | ',' | ';' | '|' | '`' | '[' | ']')
    };
    let mut out = Vec::new();
    let (mut before, mut second) = ("", "");
    for word in line.split(breaks).filter(|word| !word.is_empty()) {
        let (mark, name) = redirection(word);
        let errors = matches!(mark, "2>" | "2>>" | "&>" | "&>>") || mark.is_empty() && is_error_mark(before);
        let of_option = LEADS.contains(&before) || (before == "-a" && second == "tee");
        let of_call = CALLS.iter().any(|call| before.ends_with(call))
            || before == "filename" && line.contains("basicConfig");
        // `> FILE 2>&1`: the complaints go to the same file.
        let both = line.contains("2>&1") && (matches!(mark, ">" | ">>") || matches!(before, ">" | ">>"));
        if !name.is_empty() && (errors || of_option || of_call || both || looks_like_log(name)) {
            out.push(name.to_owned());
        }
        (second, before) = (before, word);
    }
    out
}

/// `2>>` and what stands behind it.
fn redirection(word: &str) -> (&str, &str) {
    let end = word.rfind('>').map_or(0, |at| at + 1);
    let (mark, name) = word.split_at_checked(end).unwrap_or(("", word));
    let plain = mark.chars().all(|c| matches!(c, '>' | '&') || c.is_ascii_digit());
    if plain && !name.starts_with('&') { (mark, name) } else { ("", if mark.is_empty() { name } else { "" }) }
}

fn is_error_mark(word: &str) -> bool {
    matches!(word, "2>" | "2>>" | "&>" | "&>>")
}

fn looks_like_log(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ':', '!', '}']);
    let base = word.rsplit('/').next().unwrap_or(word);
    ENDS.iter().any(|end| base.len() > end.len() && base.ends_with(end))
}

/// The names of pictures in an output: screenshots that a failing test or browser made.
#[must_use]
pub fn pictures_in(output: &str) -> Vec<PathBuf> {
    const ENDS: [&str; 3] = [".png", ".jpg", ".jpeg"];
    let breaks = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>' | ',' | ';' | '=')
    };
    let mut names: Vec<PathBuf> = Vec::new();
    for word in output.split(breaks).map(|word| word.trim_end_matches(['.', ':', '!'])) {
        let lower = word.get(word.len().saturating_sub(5)..).unwrap_or(word).to_ascii_lowercase();
        if names.len() < PICTURES && ENDS.iter().any(|end| lower.ends_with(end)) && is_name(word) {
            names.push(word.into());
        }
    }
    names
}

/// Whether a word can be the name of a file.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() < 1_000
        && !name.contains(['$', '{', '}', '*', '?', '<', '>', '%', '\0'])
        && !name.contains("://")
        && !name.starts_with(['-', '&', '+'])
        && !name.starts_with("/dev/")
        && name.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

/// A word with its variables filled in; `None` where one is not known.
fn expanded(word: &str, lookup: &dyn Fn(&str) -> Option<String>, depth: usize) -> Option<String> {
    let word = word.trim_end_matches(['.', ':', '!']);
    let home = word.strip_prefix("~/").and_then(|rest| Some(format!("{}/{rest}", lookup("HOME")?)));
    let mut rest = home.as_deref().unwrap_or(word);
    let mut out = String::new();
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let braced = behind.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, after) = braced.unwrap_or_else(|| {
            let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(behind.len());
            behind.split_at_checked(end).unwrap_or(("", behind))
        });
        // `${LOG:-x.log}` has its value beside it.
        let (name, usual) = name.split_once(":-").map_or((name, None), |(name, usual)| (name, Some(usual)));
        let value = lookup(name).or_else(|| usual.map(str::to_owned)).filter(|_| depth > 0)?;
        out.push_str(&expanded(&value, lookup, depth - 1)?);
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// What a shell text sets a variable to first, its quotes taken off.
fn set_in(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let line = line.trim_start();
        let line = ["export ", "readonly ", "local "]
            .iter()
            .find_map(|word| line.strip_prefix(word))
            .unwrap_or(line);
        line.strip_prefix(name)?.strip_prefix('=').filter(|_| is_assignment(line))
    })?;
    let value = value.trim();
    let quoted = value.strip_prefix('"').and_then(|rest| rest.split('"').next());
    let quoted = quoted.or_else(|| value.strip_prefix('\'').and_then(|rest| rest.split('\'').next()));
    let plain = quoted.unwrap_or_else(|| value.split([' ', ';', '#']).next().unwrap_or(value));
    Some(plain.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let var = |name: &str| (name == "HOME").then(|| "/home/a".to_owned());
        named_in(text, &var).into_iter().map(|name| name.display().to_string()).collect()
    }

    #[test]
    fn log_files_are_named_in_many_ways() {
        for (text, name) in [
            ("make all >> build.log 2>&1", "build.log"),
            ("exec > out/run.txt 2>&1", "out/run.txt"),
            ("import-all 2>>errors.txt", "errors.txt"),
            ("rsync -a --log-file=sync.out a/ b/", "sync.out"),
            ("tool --log-file /var/log/tool.txt x", "/var/log/tool.txt"),
            ("LOG_DIR=/var/log/app\n./app &>> \"$LOG_DIR/app.log\"", "/var/log/app/app.log"),
            ("BASE=/srv\nLOG=\"${BASE}/a.log\"\nrun 2> $LOG", "/srv/a.log"),
            ("logging.basicConfig(level=10, filename='nightly.out')", "nightly.out"),
            ("handler = logging.handlers.RotatingFileHandler('x.txt', maxBytes=5)", "x.txt"),
            ("make 2>&1 | tee -a make.txt", "make.txt"),
            (
                "npm error A complete log of this run can be found in: /root/.npm/_logs/a-debug-0.log",
                "/root/.npm/_logs/a-debug-0.log",
            ),
            ("see ~/app.log.", "/home/a/app.log"),
            ("x >> ${LOG:-fall.log}", "fall.log"),
        ] {
            assert!(names(text).contains(&name.to_owned()), "{text}: {:?}", names(text));
        }
    }

    #[test]
    fn what_is_no_log_or_not_known_is_left_out() {
        for text in [
            "git log --oneline",
            "echo login >&2",
            "cat catalog.csv > list.txt",
            "# writes to old.log",
            "run 2>/dev/null",
            "x >> log-$(date +%F).txt 2>&1",
            "curl https://x.org/a.log",
            "ls *.log",
            "run 2> $UNKNOWN",
        ] {
            assert_eq!(names(text), Vec::<String>::new(), "{text}");
        }
    }
}
