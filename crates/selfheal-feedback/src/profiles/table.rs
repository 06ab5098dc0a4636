//! The form of a table of profiles, and how it is read.

use std::collections::BTreeMap;

use selfheal_core::outcome::Class;
use serde::Deserialize;
use toml::Spanned;

use super::versions::Range;

/// Why a table of profiles could not be used. The text reads after "failed to".
#[derive(Debug, thiserror::Error)]
#[error("read profiles from {file}: {what}")]
pub struct ProfileError {
    file: String,
    what: String,
}

impl ProfileError {
    /// Something that is wrong at a byte of a text.
    pub(super) fn at(text: &str, file: &str, at: usize, what: &str) -> Self {
        Self { file: file.to_owned(), what: format!("line {}: {what}", line_at(text, at)) }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    profile: Vec<Profile>,
}

/// What the exit codes of one command, or of several that agree, mean.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The names of the command, without folder.
    pub command: Spanned<Vec<String>>,
    /// Words that must follow the command in this order, options between them not counted: `diff` of `git diff`.
    #[serde(default)]
    pub sub: Vec<String>,
    /// Options of which at least one must be there; empty when none is needed.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The versions of the command that this holds for, as `>=1.12, <2`; all when not given. Where the version of the
    /// command cannot be found out, it holds.
    #[serde(default)]
    pub versions: Option<Range>,
    /// Whether a person accepted it: what `selfheal profile learn` proposes is not used until then.
    #[serde(default = "accepted")]
    pub accepted: bool,
    /// What the codes mean, the first that fits.
    pub codes: Vec<Meaning>,
    /// Runs and what they must mean, checked when the table is loaded.
    #[serde(default)]
    pub examples: Vec<Example>,
}

fn accepted() -> bool {
    true
}

/// What some codes mean.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meaning {
    /// The codes.
    pub code: Spanned<Vec<i32>>,
    /// In a few words.
    pub meaning: String,
    /// Whether this is a failure.
    pub outcome: Kind,
    /// The class of the failure; unknown when not given.
    pub class: Option<Class>,
    /// Only when standard error contains one of these.
    #[serde(default)]
    pub stderr_contains: Vec<String>,
    /// Only when standard output contains one of these.
    #[serde(default)]
    pub stdout_contains: Vec<String>,
    /// Only when standard error is empty.
    #[serde(default)]
    pub silent: bool,
}

/// Whether a code is a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The command did what it should.
    Succeeded,
    /// The code is an answer.
    Negative,
    /// The command failed.
    Failed,
}

/// A run and what it must mean.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The command line, its words separated by blanks.
    pub argv: Spanned<String>,
    /// The exit code.
    pub code: i32,
    /// What it printed as errors.
    #[serde(default)]
    pub stderr: String,
    /// What it printed.
    #[serde(default)]
    pub stdout: String,
    /// What it must mean.
    pub outcome: Kind,
    /// The class that it must have, if it matters.
    pub class: Option<Class>,
    /// The files, by name, of an empty folder in which it can really be run and does no harm; absent where it cannot.
    pub files: Option<BTreeMap<String, String>>,
}

/// Reads a table.
pub fn read(text: &str, file: &str) -> Result<Vec<Profile>, ProfileError> {
    let table: File = toml::from_str(text).map_err(|error| ProfileError {
        file: file.to_owned(),
        what: match error.span() {
            Some(span) => format!("line {}: {}", line_at(text, span.start), error.message()),
            None => error.message().to_owned(),
        },
    })?;
    match table.profile.iter().find_map(wrong) {
        Some((at, what)) => Err(ProfileError::at(text, file, at, &what)),
        None => Ok(table.profile),
    }
}

/// What is wrong with a profile beyond its form, and at which byte.
fn wrong(profile: &Profile) -> Option<(usize, String)> {
    let place = profile.command.span().start;
    let names = profile.command.get_ref();
    if names.is_empty() || profile.codes.is_empty() {
        return Some((place, "a profile needs a command and codes".to_owned()));
    }
    if let Some(name) = names.iter().find(|name| name.is_empty() || name.contains(['/', ' '])) {
        return Some((place, format!("`{name}` is no name of a command: it is given without its folder")));
    }
    let mut seen: Vec<(i32, &Meaning)> = Vec::new();
    for meaning in &profile.codes {
        let place = meaning.code.span().start;
        if meaning.code.get_ref().is_empty() {
            return Some((place, "there is no code".to_owned()));
        }
        for code in meaning.code.get_ref() {
            if !(1..=255).contains(code) {
                return Some((place, format!("{code} is no code of 1 to 255 (0 is always success)")));
            }
            if seen.iter().any(|(known, earlier)| known == code && earlier.covers(meaning)) {
                return Some((
                    place,
                    format!("code {code} overlaps with an earlier entry, so this one never counts"),
                ));
            }
            seen.push((*code, meaning));
        }
        if meaning.meaning.trim().is_empty() {
            return Some((place, "a code needs a meaning".to_owned()));
        }
        if meaning.outcome != Kind::Failed && meaning.class.is_some() {
            return Some((place, "only a failure has a class".to_owned()));
        }
    }
    None
}

impl Meaning {
    /// Whether every run that fits another meaning of the same code fits this one, too.
    fn covers(&self, other: &Self) -> bool {
        let texts = |own: &[String], others: &[String]| {
            own.is_empty() || (!others.is_empty() && others.iter().all(|text| own.contains(text)))
        };
        texts(&self.stderr_contains, &other.stderr_contains)
            && texts(&self.stdout_contains, &other.stdout_contains)
            && (!self.silent || other.silent)
    }
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

impl Profile {
    /// Whether it says more of the command than that zero is good and everything else is bad.
    pub fn says_more(&self) -> bool {
        let harmless = self.codes.iter().any(|meaning| meaning.outcome != Kind::Failed);
        let by_output = self.codes.iter().any(|meaning| {
            meaning.silent || !meaning.stderr_contains.is_empty() || !meaning.stdout_contains.is_empty()
        });
        harmless || by_output || self.codes.len() > 1
    }

    /// The command as people write it: `git diff --exit-code`.
    pub fn title(&self, command: &str) -> String {
        let words = std::iter::once(command).chain(self.sub.iter().map(String::as_str));
        let title = words.collect::<Vec<_>>().join(" ");
        if self.needs.is_empty() { title } else { format!("{title} {}", self.needs.join("|")) }
    }

    /// Whether this profile speaks of a command; `words` begin with its name.
    pub fn fits(&self, words: &[String]) -> bool {
        let Some((name, arguments)) = words.split_first() else { return false };
        let name = crate::words::base(name);
        self.command.get_ref().iter().any(|command| command == name)
            && self.sub_fits(arguments)
            && (self.needs.is_empty() || arguments.iter().any(|word| self.needed(word)))
    }

    /// The sub-command words follow each other; options and their values may stand before the first.
    fn sub_fits(&self, arguments: &[String]) -> bool {
        let Some(first) = self.sub.first() else { return true };
        let Some(at) = arguments.iter().take(8).position(|word| word == first) else { return false };
        let mut plain = arguments.iter().skip(at).filter(|word| !word.starts_with('-'));
        self.sub.iter().all(|word| plain.next() == Some(word))
    }

    /// `--quiet`, `--quiet=…`, or `-q` inside of `-nq`.
    fn needed(&self, word: &str) -> bool {
        self.needs.iter().any(|need| {
            let long =
                word == need || word.strip_prefix(need.as_str()).is_some_and(|rest| rest.starts_with('='));
            let letter = need.strip_prefix('-').filter(|letter| letter.chars().count() == 1);
            let bundled = word.starts_with('-') && !word.starts_with("--");
            long || letter.is_some_and(|letter| bundled && word.contains(letter))
        })
    }
}
