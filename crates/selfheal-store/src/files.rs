//! The store's own files: private, written so that a crash leaves the old or the new content.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use selfheal_core::failpoint;
use selfheal_core::ports::{PortError, Trouble};
use sha2::{Digest, Sha256};

use crate::trouble::io;

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 as hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Makes sure that the root is a folder of ours that nobody else can enter.
///
/// The owner is checked because the root may lie in a folder like `/var/tmp`, where anybody can put one for us.
pub(crate) fn prepare_root(root: &Path) -> Result<(), PortError> {
    let shown = root.display();
    let meta = match fs::symlink_metadata(root) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_private_folder(root).map_err(|error| io(format!("create {shown}"), error))?;
            fs::symlink_metadata(root).map_err(|error| io(format!("look at {shown}"), error))?
        }
        Err(error) => return Err(io(format!("look at {shown}"), error)),
    };
    if !meta.is_dir() {
        return Err(PortError::plain(format!("use {shown}: it is not a folder"), Trouble::NoRoom));
    }
    let us = rustix::process::geteuid().as_raw();
    if meta.uid() != us {
        let doing = format!("use {shown}: it belongs to user {}, not to user {us}", meta.uid());
        return Err(PortError::plain(doing, Trouble::Other));
    }
    if meta.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(root, fs::Permissions::from_mode(0o700))
            .map_err(|error| io(format!("make {shown} private"), error))?;
    }
    Ok(())
}

fn make_private_folder(root: &Path) -> io::Result<()> {
    if let Some(parent) = root.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(root) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Makes an empty private file if there is none. Never opens one that is there: closing it would drop the locks that
/// SQLite holds on it in this process.
pub(crate) fn make_private_file(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    let fresh = fresh_name(path);
    drop(private().create_new(true).open(&fresh)?);
    let linked = fs::hard_link(&fresh, path);
    fs::remove_file(&fresh)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // A file system without links. Only threads that make the same store at the same time could be disturbed.
        Err(_) => private().create(true).truncate(false).open(path).map(drop),
        Ok(()) => Ok(()),
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// A private file that is not there yet.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    private().create_new(true).open(path)
}

/// A name beside a path that no other writer uses.
fn fresh_name(path: &Path) -> std::path::PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{next}.tmp", std::process::id()));
    name.into()
}

/// Replaces a file as a whole: after a crash it has the old or the new content. With `now`, the new one is durable when
/// this returns; without, a power cut may bring the old one back.
pub(crate) fn replace(path: &Path, content: &[u8], now: bool) -> io::Result<()> {
    let fresh = fresh_name(path);
    let written = write_synced(&fresh, content).and_then(|()| {
        failpoint::hit("store.written");
        fs::rename(&fresh, path)
    });
    if let Err(error) = written {
        // It may not exist; nothing more can be done about it.
        let _ = fs::remove_file(&fresh);
        return Err(error);
    }
    match path.parent() {
        Some(folder) if now => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

fn write_synced(path: &Path, content: &[u8]) -> io::Result<()> {
    // A leftover of a process with the same number that was killed.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private().create_new(true).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// The lock under which everything is written, until it is dropped.
///
/// SQLite's own waiting backs off to 100 ms, so that one of twenty writers may starve; these tries stay short. It also
/// keeps the ledger's files in step with its rows.
pub(crate) fn lock(root: &Path, patience: Duration) -> Result<File, PortError> {
    const PAUSE: Duration = Duration::from_millis(2);
    let path = root.join("write.lock");
    let file = private()
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|error| io(format!("open {}", path.display()), error))?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if start.elapsed() < patience => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                let doing = format!("lock {} within {} ms", root.display(), patience.as_millis());
                return Err(PortError::plain(doing, Trouble::Locked));
            }
            Err(TryLockError::Error(error)) => return Err(io(format!("lock {}", path.display()), error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_print_as_sha256sum_does() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
