//! The command behind wrappers such as `env`, `nice` and `timeout`, and behind a shell that only starts it.

use std::ffi::OsString;

use selfheal_core::job::inner_command;

use crate::words::{base, commands};

/// A command and the words of the wrappers around it.
#[derive(Debug, PartialEq, Eq)]
pub struct Inner {
    /// The command with its arguments; empty when there is none.
    pub words: Vec<String>,
    /// All the words before it.
    pub outer: Vec<String>,
}

impl Inner {
    /// The words of a wrapper and of what it wraps, up to the command.
    pub fn wrapper(&self, name: &str) -> Option<&[String]> {
        let at = self.outer.iter().position(|word| base(word) == name)?;
        self.outer.get(at..)
    }
}

/// Looks through wrappers, and through `sh -c` where it holds one plain command.
pub fn look_through(argv: &[OsString]) -> Inner {
    let mut inner = inner_command(argv);
    let mut outer: Vec<String> =
        texts(argv.get(..argv.len().saturating_sub(inner.len())).unwrap_or_default());
    if let Some(plain) = plain_shell(&texts(&inner)) {
        outer.extend(texts(&inner).into_iter().take(2));
        inner = inner_command(&plain.iter().map(OsString::from).collect::<Vec<_>>());
    }
    Inner { words: texts(&inner), outer }
}

/// The same for words that a probe saw.
pub fn look_through_words(words: &[String]) -> Vec<String> {
    look_through(&words.iter().map(OsString::from).collect::<Vec<_>>()).words
}

fn texts(words: &[OsString]) -> Vec<String> {
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The command of `sh -c 'command'`, if it is a single plain one.
fn plain_shell(words: &[String]) -> Option<Vec<String>> {
    let [shell, flag, text, ..] = words else { return None };
    let shell = matches!(base(shell), "sh" | "bash" | "dash" | "zsh" | "ksh");
    let plain = flag == "-c" && !text.contains(['|', ';', '&', '<', '>', '`', '\n', '(', '{', '!']);
    let mut found = if shell && plain { commands(text) } else { Vec::new() };
    (found.len() == 1).then(|| found.remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_with_one_plain_command_is_that_command() {
        let argv = |text: &str| ["nice", "sh", "-c", text].map(OsString::from);
        assert_eq!(look_through(&argv("timeout 5 grep -q x f")).words, ["grep", "-q", "x", "f"]);
        assert_eq!(look_through(&argv("grep x f | sort")).words[0], "sh");
        assert_eq!(look_through(&argv("set -e; grep x f")).words[0], "sh");
    }

    #[test]
    fn the_words_of_a_wrapper_are_kept() {
        let argv = ["flock", "-n", "-E", "99", "/run/x", "rsync", "a"].map(OsString::from);
        let inner = look_through(&argv);
        assert_eq!(inner.words, ["rsync", "a"]);
        assert_eq!(inner.wrapper("flock").map(<[String]>::len), Some(5));
        assert_eq!(inner.wrapper("timeout"), None);
    }
}
