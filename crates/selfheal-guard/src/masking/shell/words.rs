//! What kinds of commands there are, by name, and how a command is compared with another.

use selfheal_syntax::shell::{Command, CommandKind, Word};

/// Commands that say something and cannot fail in a way that matters.
const MESSAGE: &[&str] = &[
    "echo",
    "printf",
    "logger",
    "true",
    ":",
    "date",
    "sleep",
    "wall",
    "say",
    "tput",
    "notify-send",
    "cat",
    "head",
    "tail",
    "mail",
    "mailx",
    "sendmail",
    "tee",
    "warn",
    "warning",
    "info",
    "log",
    "debug",
    "notice",
    "msg",
    "message",
    "print",
    "notify",
    "alert",
];

/// Commands that clean up, so that their success says nothing about the step before them.
const CLEANUP: &[&str] =
    &["rm", "rmdir", "kill", "pkill", "touch", "unset", "cleanup", "clean_up", "umount", "wait", "mkdir"];

/// Commands that change only how the shell itself works.
const PLUMBING: &[&str] = &[
    "set",
    "shopt",
    "local",
    "export",
    "declare",
    "readonly",
    "typeset",
    "unset",
    "return",
    "exit",
    "shift",
    "trap",
    "umask",
    "break",
    "continue",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "alias",
    "unalias",
    "wait",
    "[",
    "[[",
    "((",
    "test",
    "let",
    "type",
    "hash",
    "command",
    "exec",
    "which",
    "ulimit",
    "false",
];

/// Names that people give to a function that ends the script with a failure.
const FAIL: &[&str] = &[
    "die",
    "fail",
    "fatal",
    "abort",
    "bail",
    "bail_out",
    "panic",
    "error_exit",
    "err_exit",
    "exit_with_error",
    "croak",
    "throw",
    "errexit",
    "false",
    "usage_error",
];

/// Wrappers that run the rest of their words.
const WRAPPERS: &[&str] = &[
    "sudo", "nice", "nohup", "time", "timeout", "env", "command", "exec", "stdbuf", "setsid", "ionice",
    "flock", "builtin",
];

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The name of a command without its folder; empty when it depends on the run.
pub fn name_of(command: &Command) -> String {
    command.name().map(|name| base(&name).to_owned()).unwrap_or_default()
}

/// The name of the program that really runs: behind `sudo`, `timeout 60`, `env X=1`.
pub fn inner_name(command: &Command) -> String {
    let mut words = command.words.iter().map(|word| word.literal().unwrap_or_else(|| word.text.clone()));
    let Some(first) = words.next() else { return name_of(command) };
    let first = base(&first).to_owned();
    if !WRAPPERS.contains(&first.as_str()) || command.kind != CommandKind::Simple {
        return if command.kind == CommandKind::Simple { first } else { name_of(command) };
    }
    // The first operand of `flock` is its lock file.
    if first == "flock" {
        words.by_ref().find(|word| !word.starts_with('-'));
    }
    let numeric = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    words
        .find(|word| {
            !word.starts_with('-')
                && !word.contains('=')
                && !numeric(word)
                && !WRAPPERS.contains(&word.as_str())
        })
        .map_or(first, |word| base(&word).to_owned())
}

/// Whether a command only says something: its success means nothing.
pub fn is_message(command: &Command) -> bool {
    let name = name_of(command);
    let plain = name.to_lowercase();
    MESSAGE.contains(&plain.as_str())
        || plain.starts_with("log_")
        || plain.starts_with("log-")
        || plain.starts_with("warn_")
}

/// Whether a command only tidies up.
pub fn is_cleanup(command: &Command) -> bool {
    CLEANUP.contains(&name_of(command).to_lowercase().as_str())
}

/// Whether a command always succeeds, whatever its words: the ways to force a status of 0.
pub fn is_forced_success(command: &Command) -> bool {
    let name = name_of(command);
    let behind = command.arguments().first().and_then(Word::literal).unwrap_or_default();
    match name.as_str() {
        "true" | ":" => true,
        "exec" | "command" | "builtin" | "sudo" | "env" => matches!(base(&behind), "true" | ":"),
        _ => false,
    }
}

/// Whether a name promises to end the script with a failure.
pub fn is_fail_name(name: &str) -> bool {
    FAIL.contains(&name.to_lowercase().as_str())
}

/// Whether a command is a step of the work: it has an effect or gives data.
pub fn is_step(command: &Command) -> bool {
    let name = name_of(command);
    match command.kind {
        CommandKind::Simple if name == "exec" => command.words.len() > 1 && !is_forced_success(command),
        CommandKind::Simple => {
            let says = is_message(command) && !reads(&name, command) && !writes_a_result(command);
            !says && !PLUMBING.contains(&name.as_str()) && name != "mkdir"
        }
        _ => false,
    }
}

/// `echo $((sum / count)) > mean`: what it says is a result, unless it goes to a log or to nowhere.
fn writes_a_result(command: &Command) -> bool {
    let targets = command.redirects.iter().filter(|redirect| redirect.writes());
    targets.filter_map(|redirect| redirect.target.as_ref()).any(|target| {
        let target = plain(target).to_lowercase();
        !target.starts_with("/dev/") && !target.contains("log")
    })
}

/// `cat file`, `tail file`: these read data and can fail.
fn reads(name: &str, command: &Command) -> bool {
    matches!(name, "cat" | "head" | "tail" | "tee") && !command.arguments().is_empty()
}

/// The words of a command without quotes, so that quoting repairs do not make another command of it.
pub fn plain_words(command: &Command) -> Vec<String> {
    command.words.iter().map(plain).collect()
}

/// The text of a word without quotes and braces: `"${x}"` and `$x` are the same.
pub fn plain(word: &Word) -> String {
    plain_text(&word.text)
}

/// The text without quotes, braces and double brackets.
pub fn plain_text(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '"' | '\'' | '{' | '}' | '\\')).collect()
}

/// Command name and arguments in one text, for comparison.
pub fn key_of(command: &Command) -> String {
    plain_words(command).join(" ")
}

/// Whether a word is a numeral other than zero: an exit code that says failure.
pub fn is_failing_code(word: &str) -> bool {
    let plain = word.trim_matches(['"', '\'']);
    plain.parse::<i64>().is_ok_and(|code| code != 0)
}
