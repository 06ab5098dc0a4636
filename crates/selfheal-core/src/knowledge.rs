//! Knowledge: passages of documents that may tell why a job fails, and how they are found again.
//!
//! A document is cut into [`Piece`]s; pieces and questions are reduced to the same [`terms`]: names are kept whole and
//! also taken apart (`maxRetry_count` is `maxretrycount`, `max`, `retry`, `count`), so that a message, a variable and a
//! sentence of the release notes meet however each writes the name.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::ids::ContentHash;
use crate::redact::Redacted;

/// What a document is to a failing job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It says how something works or what changed: README, release notes, manuals.
    Reference,
    /// It shows how things are done here: the folder, neighbouring scripts, samples of data.
    Context,
    /// It tells what was wrong before and what came of it.
    Incident,
}

impl Kind {
    /// Its word on the command line and in the store.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Context => "context",
            Self::Incident => "incident",
        }
    }

    /// The kind of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Reference, Self::Context, Self::Incident].into_iter().find(|kind| kind.word() == word)
    }
}

/// A file as it was when its pieces were taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Where it is, absolute.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// When it changed last, in nanoseconds since 1970; 0 where that is not to be relied on.
    pub modified_ns: i64,
    /// Its size in bytes.
    pub len: u64,
    /// What was read of it.
    pub hash: ContentHash,
}

/// A passage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The file that it is from; for an incident, its identity.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// What the document is.
    pub kind: Kind,
    /// What stands above it: headings, a version, the name of a function. May be empty.
    pub heading: Redacted,
    /// Its first line, from 1.
    pub first_line: u32,
    /// Its last line.
    pub last_line: u32,
    /// The passage.
    pub text: Redacted,
    /// Whether it shows data that a job works on, which is not to be sent everywhere.
    pub is_data: bool,
}

/// A piece that a question to a model held, as the incident keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedPiece {
    /// What the document is.
    pub kind: Kind,
    /// The file, redacted.
    pub path: Redacted,
    /// What stands above it.
    pub heading: Redacted,
    /// Its first line, from 1.
    pub first_line: u32,
    /// Its last line.
    pub last_line: u32,
    /// SHA-256 of the redacted passage.
    pub hash: ContentHash,
    /// Whether the repair rests on it: it holds a name that the repair brought into the job and that the job and its
    /// messages do not have.
    pub rests_on: bool,
}

/// The longest term, in characters; what is longer is no name.
const LONGEST: usize = 64;

/// The terms of a text, in its order, repetitions included: lower case, names whole and in parts, Chinese, Japanese and
/// Korean in pairs of characters.
#[must_use]
pub fn terms(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for run in text.split(|c: char| !is_of_a_name(c)) {
        take_run(run.trim_matches(['-', '.', '_']), &mut out);
    }
    out
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn take_run(run: &str, out: &mut Vec<String>) {
    let parts: Vec<&str> =
        run.split(['-', '.', '_']).flat_map(words_of_case).filter(|part| !part.is_empty()).collect();
    if parts.len() > 1 {
        let whole: String = parts.iter().flat_map(|part| part.chars()).flat_map(char::to_lowercase).collect();
        if !whole.chars().any(is_ideograph) {
            push(whole, out);
        }
    }
    for part in parts {
        if part.chars().any(is_ideograph) { pairs(part, out) } else { push(part.to_lowercase(), out) }
    }
}

fn push(term: String, out: &mut Vec<String>) {
    // One letter says nothing.
    if (2..=LONGEST).contains(&term.chars().count()) {
        out.push(term);
    }
}

/// The words of `camelCase` and `HTTPServer`.
fn words_of_case(run: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = run.char_indices().collect();
    let mut from = 0;
    let mut out = Vec::new();
    for window in chars.windows(2) {
        let [(_, one), (at, two)] = window else { continue };
        let next_is_lower =
            run.get(*at..).and_then(|rest| rest.chars().nth(1)).is_some_and(char::is_lowercase);
        let begins = two.is_uppercase() && (!one.is_uppercase() || next_is_lower)
            || is_ideograph(*one) != is_ideograph(*two);
        if begins {
            out.extend(run.get(from..*at));
            from = *at;
        }
    }
    out.extend(run.get(from..));
    out
}

fn pairs(run: &str, out: &mut Vec<String>) {
    let chars: Vec<char> = run.chars().collect();
    if let [single] = chars.as_slice() {
        out.push(single.to_string());
    }
    out.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
}

/// Whether words of this script stand without blanks between them.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_whole_and_taken_apart_however_it_is_written() {
        assert_eq!(terms("maxRetry_count"), ["maxretrycount", "max", "retry", "count"]);
        assert_eq!(terms("--max-retry-count=3"), ["maxretrycount", "max", "retry", "count"]);
        assert_eq!(terms("HTTPServer v1.4."), ["httpserver", "http", "server", "v14", "v1"]);
        assert_eq!(terms("see CHANGES.md, then a b"), ["see", "changesmd", "changes", "md", "then"]);
    }

    #[test]
    fn texts_without_blanks_are_taken_in_pairs() {
        assert_eq!(terms("日志目录 logs目录"), ["日志", "志目", "目录", "logs", "目录"]);
    }

    #[test]
    fn hostile_texts_are_linear_and_bounded() {
        assert!(terms(&"a".repeat(1 << 20)).is_empty());
        assert!(terms(&"_.-".repeat(1 << 18)).is_empty());
        assert!(terms(&"aB".repeat(1 << 12)).len() <= 1 << 13);
    }
}
