//! What one assertion shows after a run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use regex_lite::Regex;
use selfheal_core::scene::absolute;
use selfheal_core::verification::{Check, Showed};
use sha2::{Digest, Sha256};

use super::After;

/// Whether an assertion holds after a run, and why.
#[must_use]
pub fn look(check: &Check, after: &dyn After) -> (Showed, String) {
    match held(check, after) {
        Ok(true) => (Showed::Passed, "it holds".to_owned()),
        Ok(false) => (Showed::Failed, broken(check)),
        Err(Unseen::No(why)) => (Showed::Failed, why),
        Err(Unseen::Unknown(why)) => (Showed::NotTested, why),
    }
}

/// Why an assertion could not be answered with yes.
enum Unseen {
    /// It does not hold, and this is why.
    No(String),
    /// It could not be looked at.
    Unknown(String),
}

fn held(check: &Check, after: &dyn After) -> Result<bool, Unseen> {
    let run = after.run();
    Ok(match check {
        Check::Succeeded => run.ended.code() == 0,
        Check::ExitCode { codes } => codes.contains(&run.ended.code()),
        Check::StdoutContains { text } => run.stdout.text().contains(text),
        Check::StdoutMatches { pattern } => expression(pattern)?.is_match(&run.stdout.text()),
        Check::StderrLacks { text } => !run.stderr.text().contains(text),
        Check::MinDuration { ms } => run.duration_ms >= *ms,
        Check::MaxDuration { ms } => run.duration_ms <= *ms,
        Check::Missing { path } => after.named(path).is_empty(),
        Check::Exists { path } => newest(path, after).is_ok(),
        Check::Newer { path } => after.written(&newest(path, after)?),
        Check::MaxAge { path, seconds } => {
            after.age(&newest(path, after)?).is_some_and(|age| age <= Duration::from_secs(*seconds))
        }
        Check::MinBytes { path, bytes } => after.len(&newest(path, after)?).unwrap_or(0) >= *bytes,
        Check::MinLines { path, lines } => lines_in(&content(path, after)?) >= u64::from(*lines),
        Check::FileContains { path, text } => String::from_utf8_lossy(&content(path, after)?).contains(text),
        Check::Matches { path, pattern } => {
            expression(pattern)?.is_match(&String::from_utf8_lossy(&content(path, after)?))
        }
        Check::Json { path, pointer } => json(path, pointer, after)?,
        Check::CsvColumns { path, columns } => {
            let header = rows(path, after)?.into_iter().next().unwrap_or_default();
            columns
                .iter()
                .all(|column| header.iter().any(|name| name.trim_start_matches('\u{feff}') == column))
        }
        Check::MinRows { path, rows: least } => rows(path, after)?.len().saturating_sub(1) as u64 >= *least,
        Check::Checksums { path } => checksums(path, after)?,
    })
}

fn newest(path: &Path, after: &dyn After) -> Result<PathBuf, Unseen> {
    let found = after.named(path).into_iter().next();
    found.ok_or_else(|| Unseen::No(format!("{} is not there", path.display())))
}

fn content(path: &Path, after: &dyn After) -> Result<Vec<u8>, Unseen> {
    let file = newest(path, after)?;
    if after.len(&file).is_some_and(|len| len > super::after::LARGEST) {
        return Err(Unseen::Unknown(format!("{} is too large to look into", path.display())));
    }
    after
        .content(&file)
        .ok_or_else(|| Unseen::Unknown(format!("{} cannot be looked into here", path.display())))
}

/// Expressions are checked when settings are read; one from elsewhere that is none cannot be looked at.
fn expression(pattern: &str) -> Result<Regex, Unseen> {
    Regex::new(pattern).map_err(|error| Unseen::Unknown(format!("`{pattern}` is no expression: {error}")))
}

/// Lines, the last one with or without its end.
fn lines_in(content: &[u8]) -> u64 {
    let ends = content.iter().filter(|byte| **byte == b'\n').count() as u64;
    ends + u64::from(content.last().is_some_and(|last| *last != b'\n'))
}

fn json(path: &Path, pointer: &str, after: &dyn After) -> Result<bool, Unseen> {
    let value: serde_json::Value = serde_json::from_slice(&content(path, after)?)
        .map_err(|error| Unseen::No(format!("{} is not JSON: {error}", path.display())))?;
    Ok(value.pointer(pointer).is_some_and(|found| !found.is_null()))
}

fn rows(path: &Path, after: &dyn After) -> Result<Vec<csv::StringRecord>, Unseen> {
    let content = content(path, after)?;
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(content.as_slice());
    reader
        .records()
        .collect::<Result<_, _>>()
        .map_err(|error| Unseen::No(format!("{} is not CSV: {error}", path.display())))
}

/// A list as `sha256sum` writes it: a sum, two blanks or a blank and a star, a name relative to the list.
fn checksums(path: &Path, after: &dyn After) -> Result<bool, Unseen> {
    let list = newest(path, after)?;
    let folder = list.parent().unwrap_or(Path::new("/")).to_owned();
    let text = String::from_utf8_lossy(&content(path, after)?).into_owned();
    let mut any = false;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (sum, name) = line
            .split_once(' ')
            .ok_or_else(|| Unseen::No(format!("{} is no list of SHA-256 sums", path.display())))?;
        let name = Path::new(name.trim_start_matches([' ', '*']));
        let data = content(&absolute(&folder, name), after)?;
        let is = Sha256::digest(&data).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        if !is.eq_ignore_ascii_case(sum) {
            return Err(Unseen::No(format!("{} is not what its checksum says", name.display())));
        }
        any = true;
    }
    Ok(any)
}

/// What is wrong, in words.
fn broken(check: &Check) -> String {
    match check {
        Check::Succeeded => "it does not end well".to_owned(),
        Check::ExitCode { .. } => "its exit code is none of those that it may have".to_owned(),
        Check::StdoutContains { text } => format!("its output lacks `{text}`"),
        Check::StdoutMatches { pattern } => format!("its output does not match `{pattern}`"),
        Check::StderrLacks { text } => format!("its error output has `{text}`"),
        Check::MinDuration { ms } => format!("it took less than {}", seconds(*ms)),
        Check::MaxDuration { ms } => format!("it took more than {}", seconds(*ms)),
        Check::Missing { path } => format!("{} is there", path.display()),
        Check::Exists { path } => format!("{} is not there", path.display()),
        Check::Newer { path } => format!("{} was not written by this run", path.display()),
        Check::MaxAge { path, .. } => format!("{} is too old", path.display()),
        Check::MinBytes { path, bytes } => format!("{} has less than {bytes} bytes", path.display()),
        Check::MinLines { path, lines } => format!("{} has less than {lines} lines", path.display()),
        Check::FileContains { path, text } => format!("{} lacks `{text}`", path.display()),
        Check::Matches { path, pattern } => format!("{} does not match `{pattern}`", path.display()),
        Check::Json { path, pointer } => format!("{} has no value at `{pointer}`", path.display()),
        Check::CsvColumns { path, .. } => format!("{} lacks a column", path.display()),
        Check::MinRows { path, rows } => format!("{} has less than {rows} rows", path.display()),
        Check::Checksums { path } => format!("{} lists no sums", path.display()),
    }
}

fn seconds(ms: u64) -> String {
    format!("{:.1} s", ms as f64 / 1_000.0)
}

/// An assertion, in words.
#[must_use]
pub fn in_words(check: &Check) -> String {
    match check {
        Check::Succeeded => "it ends well".to_owned(),
        Check::ExitCode { codes } => format!("its exit code is one of {codes:?}"),
        Check::StdoutContains { text } => format!("its output has `{text}`"),
        Check::StdoutMatches { pattern } => format!("its output matches `{pattern}`"),
        Check::StderrLacks { text } => format!("its error output lacks `{text}`"),
        Check::MinDuration { ms } => format!("it takes at least {}", seconds(*ms)),
        Check::MaxDuration { ms } => format!("it takes at most {}", seconds(*ms)),
        Check::Missing { path } => format!("{} is not there", path.display()),
        Check::Exists { path } => format!("{} is there", path.display()),
        Check::Newer { path } => format!("{} is written by the run", path.display()),
        Check::MaxAge { path, seconds } => format!("{} is at most {seconds} s old", path.display()),
        Check::MinBytes { path, bytes } => format!("{} has at least {bytes} bytes", path.display()),
        Check::MinLines { path, lines } => format!("{} has at least {lines} lines", path.display()),
        Check::FileContains { path, text } => format!("{} has `{text}`", path.display()),
        Check::Matches { path, pattern } => format!("{} matches `{pattern}`", path.display()),
        Check::Json { path, pointer } => format!("{} is JSON with a value at `{pointer}`", path.display()),
        Check::CsvColumns { path, columns } => {
            format!("{} has the columns {}", path.display(), columns.join(", "))
        }
        Check::MinRows { path, rows } => format!("{} has at least {rows} rows", path.display()),
        Check::Checksums { path } => format!("what {} lists has its checksum", path.display()),
    }
}
