//! The files that a job may read: those that its script and its arguments name, and those in the folders that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use selfheal_core::ids::ContentHash;
use selfheal_core::job::Job;
use selfheal_core::scene::absolute;
use selfheal_store::{GoodRun, KeptInput};

/// The largest file that is kept, in bytes.
const LARGEST: u64 = 256 << 10;
/// All that is kept of a run, in bytes.
const ALL: u64 = 1 << 20;
/// The most files.
const MOST: usize = 40;
/// The most of one folder.
const MOST_OF_ONE: usize = 20;
/// Words of a script that are looked at.
const WORDS: usize = 2_000;

/// The inputs of a run that began at a time, with their contents. What the run itself wrote is none of them.
pub fn find(job: &Job, script: &Path, began: SystemTime) -> Vec<(KeptInput, Vec<u8>)> {
    let mut left = ALL;
    let mut out = Vec::new();
    for path in candidates(job, script) {
        let Some((content, mode)) = content_of(&path, began, left) else { continue };
        left = left.saturating_sub(content.len() as u64);
        let hash = ContentHash::new(hash(&content));
        out.push((KeptInput { path, content: hash, mode }, content));
        if out.len() >= MOST {
            break;
        }
    }
    out
}

/// SHA-256 in hexadecimal digits, as the store names contents.
fn hash(content: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a job's script and arguments name, inside of its own folders.
#[derive(Debug, Default)]
pub struct Named {
    /// The files, without the script.
    pub files: BTreeSet<PathBuf>,
    /// The folders, each with the first of its files.
    pub folders: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

/// Looks up what script and arguments name.
pub fn named(job: &Job, script: &Path) -> Named {
    let text = crate::driver::text_of(Some(script)).unwrap_or_default();
    let arguments = job.argv.iter().filter_map(|word| word.to_str());
    let own = [job.cwd.as_path(), script.parent().unwrap_or(Path::new("/"))];
    let mut out = Named::default();
    for word in arguments.chain(words(&text).take(WORDS)) {
        let path = absolute(&job.cwd, Path::new(word));
        if path == script || !own.iter().any(|root| path.starts_with(root) && path != **root) {
            continue;
        }
        match fs::metadata(&path) {
            Ok(facts) if facts.is_file() => drop(out.files.insert(path)),
            Ok(facts) if facts.is_dir() => {
                let inside = fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
                let files =
                    inside.filter(|path| path.is_file() && path != script).take(MOST_OF_ONE).collect();
                out.folders.insert(path, files);
            }
            _ => {}
        }
    }
    out
}

/// The files among what is named, those in the folders included.
fn candidates(job: &Job, script: &Path) -> BTreeSet<PathBuf> {
    let Named { mut files, folders } = named(job, script);
    files.extend(folders.into_values().flatten());
    files
}

/// Files that came, since a good run, into folders that it read.
pub fn newer_beside(good: &GoodRun) -> Vec<PathBuf> {
    let known: BTreeSet<&Path> = good.inputs.iter().map(|input| input.path.as_path()).collect();
    let folders: BTreeSet<&Path> = known.iter().filter_map(|path| path.parent()).collect();
    let began =
        SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(u64::try_from(good.started.0).unwrap_or(0));
    let came = |path: &PathBuf| {
        let facts = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
        !known.contains(path.as_path())
            && facts.and_then(|facts| facts.modified().ok()).is_some_and(|time| time > began)
    };
    // Beside a script lie results, too; only folders of inputs are turned back.
    let of_inputs = folders
        .into_iter()
        .filter(|folder| known.iter().filter(|path| path.parent() == Some(folder)).count() > 1);
    of_inputs
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(came)
        .take(MOST)
        .collect()
}

/// What may be a path in a script: text between blanks, quotes and signs. A pattern stands for its folder.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | '@' | '%');
    text.split(move |c: char| !part(c))
        .map(|word| word.trim_end_matches('/'))
        .filter(|word| word.len() > 1 && !matches!(*word, "..") && word.len() < 200 && !word.starts_with('-'))
}

fn content_of(path: &Path, began: SystemTime, left: u64) -> Option<(Vec<u8>, u32)> {
    let facts = fs::symlink_metadata(path).ok()?;
    let before = facts.modified().ok()? < began;
    if !facts.is_file()
        || !before
        || facts.len() > LARGEST.min(left)
        || super::is_secret(path)
        || path.to_str().is_none()
    {
        return None;
    }
    Some((fs::read(path).ok()?, facts.permissions().mode() & 0o7777))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_script_are_what_may_be_paths() {
        let text = "for f in \"$SRC\"/*.csv; do cat 'in/a.txt' > out/x; done\nopen(\"data.json\")";
        let found: Vec<&str> = words(text).collect();
        for wanted in ["in/a.txt", "out/x", "data.json", "SRC"] {
            assert!(found.contains(&wanted), "{wanted}: {found:?}");
        }
    }
}
