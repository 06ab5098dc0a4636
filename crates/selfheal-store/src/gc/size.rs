//! How much room the store takes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::Connection;

use crate::values::unsigned;

/// The pages of the database that hold something, in bytes. Free ones are used again before the file grows.
pub(super) fn of_database(db: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name: &str| db.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).map(unsigned);
    Ok((pragma("page_count")? - pragma("freelist_count")?) * pragma("page_size")?)
}

/// What the files below a folder take on the disk. What cannot be read counts nothing.
pub(super) fn of_folder(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(facts) if facts.is_dir() => of_folder(&entry.path()),
            Ok(facts) => facts.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

/// What one file, or everything in one folder, takes on the disk.
pub(super) fn of(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => of_folder(path),
        Ok(facts) => facts.blocks() * 512,
        Err(_) => 0,
    }
}
