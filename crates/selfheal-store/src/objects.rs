//! Content-addressed files: `objects/ab/cdef…` holds the content whose SHA-256 is `abcdef…`, unredacted.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use selfheal_core::ids::ContentHash;
use selfheal_core::ports::{PortError, Trouble};

use crate::files::{self, sha256};
use crate::trouble;

/// The hash of a content.
pub(crate) fn hash_of(content: &[u8]) -> ContentHash {
    ContentHash::new(sha256(content))
}

/// Saves content durably. Saving the same again costs a read; a damaged object is replaced. One that was there becomes
/// young again, so that `gc` does not take it before an incident names it. The caller holds the lock.
pub(crate) fn save(root: &Path, content: &[u8]) -> Result<ContentHash, PortError> {
    let hash = hash_of(content);
    let path = path_of(root, &hash)?;
    let failed = |error| trouble::io(format!("save content {hash}"), error);
    if fs::read(&path).is_ok_and(|found| found == content) {
        let file = File::options().write(true).open(&path).map_err(failed)?;
        file.set_modified(std::time::SystemTime::now()).map_err(failed)?;
        return Ok(hash);
    }
    if let Some(shelf) = path.parent() {
        make_shelf(root, shelf).map_err(failed)?;
    }
    files::replace(&path, content, true).map_err(failed)?;
    Ok(hash)
}

/// Content that was saved.
pub(crate) fn load(root: &Path, hash: &ContentHash) -> Result<Vec<u8>, PortError> {
    let content = fs::read(path_of(root, hash)?)
        .map_err(|error| trouble::io(format!("load saved content {hash}"), error))?;
    if hash_of(&content) == *hash {
        return Ok(content);
    }
    Err(PortError::plain(format!("load saved content {hash}: it is damaged"), Trouble::Corrupt))
}

/// The hash comes from stored records, so it is checked before it becomes part of a path.
fn path_of(root: &Path, hash: &ContentHash) -> Result<PathBuf, PortError> {
    let text = hash.as_str();
    let fits = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match text.split_at_checked(2) {
        Some((shelf, name)) if fits => Ok(root.join("objects").join(shelf).join(name)),
        _ => Err(PortError::plain("use a content hash that is not SHA-256", Trouble::Missing)),
    }
}

/// Makes the folders of an object, durably: a file in a folder whose name is lost is lost too.
fn make_shelf(root: &Path, shelf: &Path) -> io::Result<()> {
    for (parent, folder) in [(root, root.join("objects").as_path()), (&root.join("objects"), shelf)] {
        match DirBuilder::new().mode(0o700).create(folder) {
            Ok(()) => File::open(parent)?.sync_all()?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_that_is_not_one_names_no_file() {
        for wrong in ["", "ab", "../../../../etc/passwd", &"Z".repeat(64), &"é".repeat(32)] {
            let error = path_of(Path::new("/r"), &ContentHash::new(wrong)).unwrap_err();
            assert_eq!(error.trouble, Trouble::Missing, "{wrong}");
        }
    }
}
