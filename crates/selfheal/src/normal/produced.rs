//! The files that a run wrote in its folder, by their times.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use selfheal_store::Produced;

/// Entries that are looked at after the shortest run.
const ENTRIES: u64 = 64;
/// And after the longest.
const MOST_ENTRIES: u64 = 20_000;
/// How deep.
const DEEPEST: usize = 4;
/// The most files that are kept.
const MOST: usize = 200;
/// The largest file whose lines are counted, in bytes.
const COUNTED: u64 = 1 << 20;
/// Folders of tools: what lies there is not what a job is run for.
const SKIPPED: [&str; 8] =
    [".git", "node_modules", "venv", ".venv", "__pycache__", ".cache", "target", ".selfheal"];

/// The files below a folder that were written since a time. A run of `took` milliseconds may cost so much looking that it
/// does not show beside it.
pub fn find(folder: &Path, since: SystemTime, took: u64) -> Vec<Produced> {
    let mut left = ENTRIES.saturating_add(took.saturating_mul(2)).min(MOST_ENTRIES);
    let mut out = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((next, depth)) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            if left == 0 || out.len() >= MOST {
                return out;
            }
            let name = entry.file_name();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < DEEPEST && !SKIPPED.iter().any(|skipped| name == *skipped) {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() {
                out.extend(produced(folder, entry.path(), since));
            }
        }
    }
    out
}

fn produced(folder: &Path, path: PathBuf, since: SystemTime) -> Option<Produced> {
    let facts = fs::symlink_metadata(&path).ok()?;
    // The clock of files lags by a tick of the kernel.
    if facts.modified().ok()? + Duration::from_millis(20) < since {
        return None;
    }
    let relative = path.strip_prefix(folder).ok()?.to_owned();
    relative.to_str()?;
    Some(Produced { lines: lines_of(&path, facts.len()), path: relative, bytes: facts.len() })
}

fn lines_of(path: &Path, len: u64) -> Option<u64> {
    if len > COUNTED {
        return None;
    }
    let mut content = Vec::new();
    File::open(path).ok()?.take(COUNTED).read_to_end(&mut content).ok()?;
    let is_text = !content.contains(&0);
    is_text.then(|| content.iter().filter(|byte| **byte == b'\n').count() as u64)
}
