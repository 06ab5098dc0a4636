//! Tables that people put into folders of the user's and the machine's settings, and into the job's folder: which there are,
//! and reading one that nobody else can write.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The longest table that is read, in bytes.
const LONGEST: u64 = 1 << 20;
/// The most entries of a folder that are looked at.
const MOST: usize = 1_000;

/// A table, and whether it lies in the job's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The file.
    pub file: PathBuf,
    /// Whether it lies in the job's folder, and can only tighten.
    pub of_project: bool,
}

/// The tables (`*.toml`) in folders, in their order, and the project's file where it is there.
#[must_use]
pub fn find(mut folders: Vec<PathBuf>, project: PathBuf) -> Vec<Table> {
    folders.dedup();
    let owned = folders.iter().flat_map(|folder| in_folder(folder));
    let mut all: Vec<Table> = owned.map(|file| Table { file, of_project: false }).collect();
    if project.exists() {
        all.push(Table { file: project, of_project: true });
    }
    all
}

fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

/// Reads a table.
///
/// # Errors
/// When it cannot be read, is no regular file of bounded size, or can be written by somebody else than root and `uid`; in
/// words, with the file.
pub fn read(file: &Path, uid: u32) -> Result<String, String> {
    let fail = |reason: &dyn std::fmt::Display| format!("{}: {reason}", file.display());
    let facts = std::fs::metadata(file).map_err(|error| fail(&error))?;
    if !facts.is_file() || facts.len() > LONGEST {
        return Err(fail(&"it is not a regular file of at most 1 MiB"));
    }
    if (facts.uid() != 0 && facts.uid() != uid) || facts.mode() & 0o022 != 0 {
        return Err(fail(&"it can be written by somebody else"));
    }
    std::fs::read_to_string(file).map_err(|error| fail(&error))
}
