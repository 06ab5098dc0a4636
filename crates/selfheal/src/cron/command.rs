//! What is in a job's command: cron's own `%`, the shell line, and whether selfheal stands in front of it already.

use std::ops::Range;

use selfheal_syntax::shell::{self, Script};

/// A command as cron divides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// What the shell gets; `\%` in it stands for `%`.
    pub line: &'a str,
    /// The first `%` that is not escaped, and everything behind: the standard input.
    pub input: &'a str,
}

impl<'a> Command<'a> {
    /// Divides it.
    #[must_use]
    pub fn divide(text: &'a str) -> Self {
        let mut escaped = false;
        let end = text.bytes().position(|byte| {
            let ends = byte == b'%' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let (line, input) = text.split_at(end.unwrap_or(text.len()));
        Self { line, input }
    }

    /// The line as the shell gets it.
    #[must_use]
    pub fn shell_text(&self) -> String {
        self.line.replace("\\%", "%")
    }
}

/// The shells that read a quoted line as `sh` does. Source: their manuals.
const BOURNE: [&str; 8] = ["sh", "bash", "dash", "ksh", "mksh", "zsh", "ash", "rbash"];

/// The word for the shell of a job, by the table's `SHELL`; `None` when it is none that quotes like `sh`.
#[must_use]
pub fn shell_of(setting: Option<&str>) -> Option<String> {
    let Some(path) = setting else { return Some("sh".to_owned()) };
    let name = path.rsplit('/').next().unwrap_or(path);
    let plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    (plain && BOURNE.contains(&name)).then(|| path.to_owned())
}

/// A `selfheal run` that stands in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapped {
    /// The job's name, if one is given.
    pub job: Option<String>,
    /// From the program to the first byte of what it runs.
    pub span: Range<usize>,
    /// The shell that [`super::wrap()`] put in: its words, and the quoted line. `--job=NAME` says that it did; people
    /// write `--job NAME`, and so does [`super::wrap()`] where it puts in no shell.
    pub shell: Option<(Range<usize>, Range<usize>)>,
}

/// Finds `selfheal run` in a command.
#[must_use]
pub fn wrapped_in(text: &str) -> Option<Wrapped> {
    let line = Command::divide(text).line;
    if !line.contains("selfheal") {
        return None;
    }
    let script = Script::parse(line).ok()?;
    script.commands().iter().filter(|command| !command.context.substitution).find_map(wrapped)
}

fn wrapped(command: &shell::Command) -> Option<Wrapped> {
    // Anything may stand before it: `flock -n FILE selfheal run …`.
    let at = command.words.iter().position(|word| {
        word.literal().is_some_and(|name| name == "selfheal" || name.ends_with("/selfheal"))
    })?;
    let words = command.words.get(at..)?;
    let text: Vec<String> = words.iter().map(|word| word.literal().unwrap_or_default()).collect();
    if text.get(1)? != "run" {
        return None;
    }
    let dashes = text.iter().position(|word| word == "--")?;
    let own = text.get(..dashes)?;
    let joined = own.iter().find_map(|word| word.strip_prefix("--job=")).map(str::to_owned);
    let apart = own.iter().position(|word| word == "--job").and_then(|at| own.get(at + 1)).cloned();
    let rest = words.get(dashes + 1..)?;
    let shell = match (&joined, rest) {
        (Some(_), [shell, option, line]) if option.text == "-c" => {
            Some((shell.span.start..option.span.end, line.span.clone()))
        }
        _ => None,
    };
    Some(Wrapped { job: joined.or(apart), span: words.first()?.span.start..rest.first()?.span.start, shell })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_unescaped_percent_ends_the_line() {
        for (text, line, input) in [
            ("date +\\%F", "date +\\%F", ""),
            ("cat%one%two", "cat", "%one%two"),
            ("a \\\\%b", "a \\\\", "%b"),
            ("%", "", "%"),
        ] {
            assert_eq!(Command::divide(text), Command { line, input }, "{text}");
        }
    }

    #[test]
    fn a_run_is_found_wherever_it_stands() {
        for (text, job) in [
            ("selfheal run -- a", None),
            ("cd /x && /usr/bin/selfheal run --job b --apply low -- a >f", Some("b")),
            ("flock -n /l selfheal run --job=c -- sh -c 'a; b'", Some("c")),
        ] {
            assert_eq!(
                wrapped_in(text).map(|found| found.job.as_deref().map(str::to_owned)),
                Some(job.map(str::to_owned))
            );
        }
        for text in
            ["selfheal tick", "echo selfheal run", "/opt/selfheal/bin/x run -- y", "a%selfheal run -- b"]
        {
            assert_eq!(wrapped_in(text), None, "{text}");
        }
    }

    #[test]
    fn only_shells_that_quote_alike_are_used() {
        assert_eq!(shell_of(None).as_deref(), Some("sh"));
        assert_eq!(shell_of(Some("/bin/bash")).as_deref(), Some("/bin/bash"));
        for other in ["/usr/bin/fish", "/bin/csh", "/sbin/nologin", "/bin/ba sh"] {
            assert_eq!(shell_of(Some(other)), None);
        }
    }
}
