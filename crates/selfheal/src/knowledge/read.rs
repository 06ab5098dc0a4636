//! What a file is by its name, and its text: redacted, and nothing that is no text or holds secrets by trade.

use std::path::Path;

use selfheal_core::knowledge::Kind;
use selfheal_core::redact::{MASK, Redacted, Redactor};

use super::walk::{Root, Seen};
use crate::normal;

/// The bytes that are read of a document, of data, and of what nothing is known of.
pub const MOST_OF_A_DOCUMENT: usize = 1 << 20;
const MOST_OF_DATA: usize = 4 << 10;
const MOST_OF_UNKNOWN: usize = 64 << 10;
/// Of so many bytes at the beginning none may be zero.
const SNIFFED: usize = 8 << 10;
/// One byte in so many may be no UTF-8.
const TOLERATED: usize = 50;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// Says what changed.
    Notes,
    /// Says what there is.
    Readme,
    /// Says how it works.
    Manual,
    /// A program.
    Program,
    /// Settings.
    Settings,
    /// Data that a job works on.
    Data,
    /// Nothing that is known by its name.
    Other,
}

impl Sort {
    /// What documents of this sort are to a job.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::Notes | Self::Readme | Self::Manual | Self::Other => Kind::Reference,
            Self::Program | Self::Settings | Self::Data => Kind::Context,
        }
    }
}

const MANUALS: [&str; 8] = ["md", "markdown", "rst", "adoc", "org", "txt", "text", "mdx"];
const PROGRAMS: [&str; 19] = [
    "sh", "bash", "zsh", "ksh", "py", "pl", "pm", "rb", "js", "mjs", "cjs", "ts", "awk", "sed", "sql", "mk",
    "php", "lua", "go",
];
const SETTINGS: [&str; 10] =
    ["conf", "cfg", "ini", "toml", "yaml", "yml", "properties", "service", "timer", "crontab"];
const DATA: [&str; 10] = ["csv", "tsv", "json", "jsonl", "ndjson", "xml", "log", "dat", "out", "html"];

/// What a file is by its name.
#[must_use]
pub fn sort_of(path: &Path) -> Sort {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_one_of = |list: &[&str]| list.contains(&ending.as_str());
    let text = ending.is_empty() || is_one_of(&MANUALS) || ending.bytes().all(|byte| byte.is_ascii_digit());
    if text && selfheal_repair::knowledge::is_release_notes(path) {
        Sort::Notes
    } else if text && name.starts_with("README") {
        Sort::Readme
    } else if is_one_of(&MANUALS) || text && ["USAGE", "MANUAL", "INSTALL", "API"].contains(&name.as_str()) {
        Sort::Manual
    } else if is_one_of(&PROGRAMS) || name == "MAKEFILE" {
        Sort::Program
    } else if is_one_of(&SETTINGS) {
        Sort::Settings
    } else if is_one_of(&DATA) {
        Sort::Data
    } else {
        Sort::Other
    }
}

/// Why a file is not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// Its name says that it holds secrets, or it begins like a key.
    Secret,
    /// It is no text.
    Binary,
    /// It cannot be read.
    Unreadable,
}

/// What was read of a file: its bytes as far as they count, and the text of them.
pub struct Read {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The text, without secrets.
    pub text: Redacted,
}

/// Reads a file below a root.
///
/// # Errors
/// Why it is not taken in.
pub fn read(root: &Root, seen: &Seen, redactor: &Redactor) -> Result<Read, Skipped> {
    let path = root.full(&seen.path);
    if normal::is_secret(&path) {
        return Err(Skipped::Secret);
    }
    let most = match sort_of(&path) {
        Sort::Data => MOST_OF_DATA,
        Sort::Other => MOST_OF_UNKNOWN,
        _ => MOST_OF_A_DOCUMENT,
    };
    // Most of what is no text shows that at once, and need not be read.
    let head = root.read(&seen.path, SNIFFED.min(most)).ok_or(Skipped::Unreadable)?;
    if head.contains(&0) {
        return Err(Skipped::Binary);
    }
    let whole = head.len() < SNIFFED.min(most);
    let mut bytes = if whole { head } else { root.read(&seen.path, most).ok_or(Skipped::Unreadable)? };
    if bytes.len() == most {
        // The last line is not whole.
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        bytes.truncate(end);
    }
    let text = String::from_utf8_lossy(&bytes);
    if is_binary(&bytes, &text) {
        return Err(Skipped::Binary);
    }
    if text.trim_start().starts_with("-----BEGIN ") && text.contains("PRIVATE KEY") {
        return Err(Skipped::Secret);
    }
    let text = redactor.text(&text);
    Ok(Read { bytes, text })
}

fn is_binary(bytes: &[u8], text: &str) -> bool {
    let broken = text.matches(char::REPLACEMENT_CHARACTER).count();
    bytes.iter().take(SNIFFED).any(|byte| *byte == 0) || broken > bytes.len() / TOLERATED
}

/// A text for keeps: the numbers of its secrets mean nothing in another process.
#[must_use]
pub fn without_numbers(text: &Redacted, redactor: &Redactor) -> Redacted {
    const NUMBERED: &str = "[secret-";
    if !text.as_str().contains(NUMBERED) {
        return text.clone();
    }
    let mut out = String::with_capacity(text.as_str().len());
    let mut parts = text.as_str().split(NUMBERED);
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        match rest.strip_prefix(']') {
            Some(rest) if rest.len() < part.len() => {
                out.push_str(MASK);
                out.push_str(rest);
            }
            _ => {
                out.push_str(NUMBERED);
                out.push_str(part);
            }
        }
    }
    redactor.text(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_name_says() {
        for (name, sort) in [
            ("CHANGES", Sort::Notes),
            ("NEWS.md", Sort::Notes),
            ("RELEASE-2.0", Sort::Notes),
            ("README.md", Sort::Readme),
            ("api.rst", Sort::Manual),
            ("notes.txt", Sort::Manual),
            ("changes.py", Sort::Program),
            ("Makefile", Sort::Program),
            ("app.toml", Sort::Settings),
            ("news.csv", Sort::Data),
            ("a.bin", Sort::Other),
        ] {
            assert_eq!(sort_of(Path::new(name)), sort, "{name}");
        }
    }

    #[test]
    fn numbers_of_secrets_are_not_kept() {
        let redactor = Redactor::default();
        redactor.know("canary-4711");
        let text = redactor.text("a canary-4711 b [secret-x] c");
        assert_eq!(text.as_str(), "a [secret-1] b [secret-x] c");
        assert_eq!(without_numbers(&text, &redactor).as_str(), "a [secret] b [secret-x] c");
    }
}
