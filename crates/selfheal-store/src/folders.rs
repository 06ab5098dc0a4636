//! The folders that are made for a file which a repair adds: made before it, and gone with it.
//!
//! Theory of operation: a change says how many of the folders above its file are new, so that nothing has to be
//! remembered when they are made. They are made one by one below a folder that is there, and removed one by one as long
//! as they are empty: what somebody else put there stays, with the folders above it. Both may be called again after a
//! crash.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use selfheal_core::ports::{PortError, Trouble};

use crate::trouble;

/// Where Python keeps the compiled form of the files of a folder.
const CACHE: &str = "__pycache__";

/// Whether a file cannot be there because its folder is not.
pub(crate) fn are_gone(path: &Path) -> bool {
    path.parent().is_some_and(|folder| {
        fs::symlink_metadata(folder).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    })
}

/// Makes the nearest `count` folders above a file, as far as they are missing.
pub(crate) fn make(path: &Path, count: u32) -> Result<(), PortError> {
    let above: Vec<&Path> = path.ancestors().skip(1).take(count as usize).collect();
    for folder in above.into_iter().rev() {
        match fs::create_dir(folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            other => {
                other.map_err(|error| trouble::io(format!("make the folder {}", folder.display()), error))?;
            }
        }
        // A link in the place of a folder that was to be new leads to somebody else's.
        if !fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir()) {
            let doing = format!("make the folder {}: something else is there", folder.display());
            return Err(PortError::plain(doing, Trouble::Changed));
        }
    }
    Ok(())
}

/// Removes what Python compiled from a file that is not there any more, and the nearest `count` folders above it as far as
/// they are empty.
pub(crate) fn clear(path: &Path, count: u32) {
    let gone = || fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    if !gone() && !are_gone(path) {
        return;
    }
    clear_compiled(path);
    for folder in path.ancestors().skip(1).take(count as usize) {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => return,
            _ => {}
        }
    }
}

/// `__pycache__/NAME.*.pyc` beside `NAME.py`: without its source it is of no use, and its folder would be a package without
/// anything in it.
fn clear_compiled(path: &Path) {
    let (Some(folder), Some(stem)) = (path.parent(), path.file_stem().and_then(|stem| stem.to_str())) else {
        return;
    };
    if path.extension().is_none_or(|ending| ending != "py") {
        return;
    }
    let cache = folder.join(CACHE);
    let own = |name: &str| {
        name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.')) && name.ends_with(".pyc")
    };
    for entry in fs::read_dir(&cache).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(own) {
            // What stays is a cache, and harmless.
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir(&cache);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_and_go_with_the_file() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("lib/pkg/mod.py");
        make(&path, 2).unwrap();
        make(&path, 2).unwrap();
        fs::write(&path, "x = 1\n").unwrap();
        clear(&path, 2);
        assert!(path.exists(), "the file is still there");
        fs::remove_file(&path).unwrap();
        fs::create_dir(root.path().join("lib/pkg/__pycache__")).unwrap();
        fs::write(root.path().join("lib/pkg/__pycache__/mod.cpython-311.pyc"), "").unwrap();
        clear(&path, 2);
        clear(&path, 2);
        assert!(!root.path().join("lib").exists() && root.path().exists());
        assert!(are_gone(&path));
    }

    #[test]
    fn what_somebody_put_there_stays() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("lib/pkg/mod.py");
        make(&path, 2).unwrap();
        fs::create_dir(root.path().join("lib/pkg/__pycache__")).unwrap();
        fs::write(root.path().join("lib/pkg/__pycache__/modern.cpython-311.pyc"), "").unwrap();
        fs::write(root.path().join("lib/note"), "mine").unwrap();
        clear(&path, 2);
        assert!(root.path().join("lib/pkg/__pycache__/modern.cpython-311.pyc").exists());
        fs::remove_dir_all(root.path().join("lib/pkg")).unwrap();
        clear(&path, 2);
        assert!(root.path().join("lib/note").exists());
    }

    #[test]
    fn a_link_is_no_new_folder_and_only_what_is_new_is_made() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("lib")).unwrap();
        assert_eq!(make(&root.path().join("lib/mod.py"), 1).unwrap_err().trouble, Trouble::Changed);
        assert!(make(&root.path().join("a/b/mod.py"), 1).is_err());
    }
}
