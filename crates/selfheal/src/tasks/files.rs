//! Files that steps declare: which there are, and what they hold.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use selfheal_core::task::FileSummary;
use sha2::{Digest, Sha256};

/// Files of one pattern that are looked at.
pub const MOST: usize = 1_000;
/// The largest file whose content is hashed, in bytes.
const HASHED: u64 = 16 << 20;

const OPTIONS: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// Whether a path is a pattern.
#[must_use]
pub fn is_pattern(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains(['*', '?', '[']))
}

/// What a path or pattern names now.
#[must_use]
pub fn named(path: &Path) -> Vec<PathBuf> {
    if let Some(text) = path.to_str().filter(|_| is_pattern(path)) {
        let found = glob::glob_with(text, OPTIONS).into_iter().flatten();
        return found.take(MOST).filter_map(Result::ok).collect();
    }
    fs::symlink_metadata(path).map(|_| path.to_owned()).into_iter().collect()
}

/// What these paths and patterns hold now.
#[must_use]
pub fn summaries(paths: &[PathBuf]) -> Vec<FileSummary> {
    paths.iter().flat_map(|path| named(path)).filter_map(|path| summary(&path)).collect()
}

fn summary(path: &Path) -> Option<FileSummary> {
    let facts = fs::metadata(path).ok()?;
    let hashed = facts.is_file() && facts.len() <= HASHED;
    Some(FileSummary {
        path: path.to_owned(),
        bytes: facts.len(),
        sha256: hashed.then(|| hash(path)).flatten(),
    })
}

fn hash(path: &Path) -> Option<String> {
    let mut digest = Sha256::new();
    let mut file = File::open(path).ok()?.take(HASHED);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            count => digest.update(buffer.get(..count)?),
        }
    }
}

/// The first of these that names nothing.
#[must_use]
pub fn missing(paths: &[PathBuf]) -> Option<&PathBuf> {
    paths.iter().find(|path| named(path).is_empty())
}

/// Whether a path is one of these or lies below one.
#[must_use]
pub fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| {
        path.starts_with(root)
            || root.to_str().filter(|_| is_pattern(root)).is_some_and(|text| {
                glob::Pattern::new(text).is_ok_and(|pattern| pattern.matches_path_with(path, OPTIONS))
            })
    })
}
