//! What is kept of the facts about a run: where it took place, in a form that two runs can be compared by and that holds
//! no secret.
//!
//! The same facts must give the same text from run to run, since the store keeps each text once: what is different at
//! every start (session numbers, sockets) is left out, and everything is in a fixed order.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::redact::{MASK, Redactor, names_a_secret};
use crate::run::{Facts, Program};

/// Variables that are different at every start, or that only the shell which sets them cares for.
const VOLATILE: [&str; 16] = [
    "_",
    "SHLVL",
    "PWD",
    "OLDPWD",
    "COLUMNS",
    "LINES",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "SYSTEMD_EXEC_PID",
    "MANAGERPID",
    "XDG_SESSION_ID",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "WINDOWID",
    "RANDOM_SEED",
    "STATE_DIRECTORY",
];

/// Beginnings of names of such variables.
const VOLATILE_BEGINNINGS: [&str; 2] = ["SELFHEAL_", "BASH_FUNC_"];

/// The longest value that is kept whole, in characters; a longer one is kept by its beginning and its mark.
const LONGEST: usize = 4_096;
/// The most variables that are kept.
const MOST: usize = 1_000;

/// The variables that decide the locale, the strongest first.
const LOCALE: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

/// Where a run took place, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedFacts {
    /// The folder.
    #[serde(with = "crate::path_text")]
    pub cwd: PathBuf,
    /// The user's number.
    pub uid: u32,
    /// The file mode creation mask, as people write it: `0022`.
    pub umask: String,
    /// Whether standard output was a terminal.
    pub tty: bool,
    /// The limits of the process by name: soft and hard.
    pub limits: BTreeMap<String, String>,
    /// The environment, sorted by name. Secrets are a mark: `[secret] 3fa9`.
    pub env: Vec<(String, String)>,
    /// The program that runs the job's script.
    pub program: Option<Program>,
    /// The command lines of what the job left running in the background.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_running: Vec<String>,
}

impl RecordedFacts {
    /// What is kept of facts.
    #[must_use]
    pub fn of(facts: &Facts, redactor: &Redactor) -> Self {
        let env = facts.env.iter().filter(|(name, _)| !is_volatile(name)).take(MOST);
        Self {
            cwd: facts.cwd.clone(),
            uid: facts.uid,
            umask: format!("{:04o}", facts.umask),
            tty: facts.tty,
            limits: facts.limits.clone(),
            env: env.map(|(name, value)| (name.clone(), recorded(name, value, redactor))).collect(),
            program: facts.program.clone(),
            left_running: Vec::new(),
        }
    }

    /// A variable.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&str> {
        self.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The folders of the search path, in order.
    #[must_use]
    pub fn path(&self) -> Vec<&str> {
        self.var("PATH").map(|path| path.split(':').collect()).unwrap_or_default()
    }

    /// The locale that programs read text with: `POSIX` where none is set.
    #[must_use]
    pub fn locale(&self) -> &str {
        LOCALE.iter().find_map(|name| self.var(name).filter(|value| !value.is_empty())).map_or(
            "POSIX",
            |value| match value {
                "C" => "POSIX",
                other => other,
            },
        )
    }
}

/// Whether a variable is left out of what is kept and compared.
#[must_use]
pub fn is_volatile(name: &str) -> bool {
    VOLATILE.contains(&name) || VOLATILE_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// A value as it is kept. Where something was taken out, a mark of the whole value stands behind, so that a change shows.
fn recorded(name: &str, value: &str, redactor: &Redactor) -> String {
    if names_a_secret(name) && !value.is_empty() {
        return format!("{MASK} {}", mark(value));
    }
    let short: String = value.chars().take(LONGEST).collect();
    let clean = redactor.text(&short);
    if clean.as_str() == value { short } else { format!("{} {}", clean.as_str(), mark(value)) }
}

/// Sixteen bits of a value: enough to see that a secret changed, and too few to find out what it is by trying.
/// FNV-1a, folded; which function it is does not matter for so few bits.
fn mark(value: &str) -> String {
    let hash = value.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let folded = hash ^ (hash >> 32);
    format!("{:04x}", (folded ^ (folded >> 16)) & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(env: &[(&str, &str)]) -> Facts {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Facts { env, umask: 0o27, cwd: "/job".into(), ..Facts::default() }
    }

    fn recorded_of(env: &[(&str, &str)]) -> RecordedFacts {
        RecordedFacts::of(&facts(env), &Redactor::from_env(env.iter().copied()))
    }

    #[test]
    fn secrets_are_a_mark_that_changes_with_them() {
        let kept = |secret| recorded_of(&[("API_TOKEN", secret), ("URL", "https://me:hunter22@host/x")]);
        let (one, other) = (kept("correct horse"), kept("battery staple"));
        assert_ne!(one.var("API_TOKEN"), other.var("API_TOKEN"));
        assert_eq!(one, kept("correct horse"));
        let text = serde_json::to_string(&one).unwrap();
        assert!(!text.contains("horse") && !text.contains("hunter22"), "{text}");
    }

    #[test]
    fn what_is_different_at_every_start_is_left_out() {
        let kept =
            recorded_of(&[("INVOCATION_ID", "1"), ("SHLVL", "2"), ("USER", "bob"), ("SELFHEAL_X", "y")]);
        assert_eq!(kept.env, [("USER".to_owned(), "bob".to_owned())]);
        assert_eq!(kept.umask, "0027");
    }

    #[test]
    fn the_locale_is_that_of_the_strongest_variable() {
        assert_eq!(recorded_of(&[]).locale(), "POSIX");
        assert_eq!(recorded_of(&[("LANG", "C")]).locale(), "POSIX");
        assert_eq!(recorded_of(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "")]).locale(), "de_DE.UTF-8");
        assert_eq!(recorded_of(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C.UTF-8")]).locale(), "C.UTF-8");
    }

    #[test]
    fn a_long_value_is_cut_and_its_change_still_shows() {
        let long = |end: &str| "x".repeat(10_000) + end;
        let kept = |value: &str| recorded_of(&[("LONG", value)]);
        assert!(kept(&long("a")).var("LONG").is_some_and(|value| value.len() < 5_000));
        assert_ne!(kept(&long("a")), kept(&long("b")));
    }
}
