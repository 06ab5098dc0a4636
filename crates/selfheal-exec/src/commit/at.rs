//! A name in an opened folder: whatever happens to the path meanwhile, what is done goes to that folder.
//!
//! Folders on the way are opened so that no link is followed (`openat2`, from the root): who puts a link in the place of
//! a folder while a commit is under way gets an error, and no file of his is touched.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, StatxFlags, openat, openat2, renameat_with, statx,
};

use super::facts::Facts;
use super::meta::place_of;

/// A name in an opened folder.
#[derive(Clone, Debug)]
pub(crate) struct At {
    dir: Rc<OwnedFd>,
    name: OsString,
}

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl At {
    /// The name in the folder.
    pub(crate) fn new(dir: Rc<OwnedFd>, name: impl Into<OsString>) -> Self {
        Self { dir, name: name.into() }
    }

    /// A path that leads here, for calls that take one. Its last part must not be followed.
    pub(crate) fn path(&self) -> PathBuf {
        place_of(&*self.dir).join(&self.name)
    }

    /// What is here; `None` where there is nothing.
    pub(crate) fn facts(&self) -> io::Result<Option<Facts>> {
        Facts::of(&self.path())
    }

    /// Stands for what is here, without opening it.
    pub(crate) fn stand(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&*self.dir, &self.name, flags, Mode::empty())?)
    }

    /// Opens what is here: no link is followed, and a fifo does not block.
    pub(crate) fn open(&self, flags: OFlags) -> io::Result<fs::File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(openat(&*self.dir, &self.name, flags, Mode::from_raw_mode(0o600))?.into())
    }

    /// Renames what is here.
    pub(crate) fn rename(&self, to: &Self, flags: RenameFlags) -> io::Result<()> {
        Ok(renameat_with(&*self.dir, &self.name, &*to.dir, &to.name, flags)?)
    }

    /// The folder that the name is in.
    pub(crate) fn dir(&self) -> &OwnedFd {
        &self.dir
    }

    /// The name.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// The same name's child, when it is a folder.
    pub(crate) fn inside(&self) -> io::Result<Rc<OwnedFd>> {
        Ok(Rc::new(openat(&*self.dir, &self.name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
    }

    /// Removes whatever is here, folders with all that is in them; nothing is no error.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let gone = match self.facts()? {
            None => Ok(()),
            Some(facts) if facts.is_folder() => remove_folder(&self.path()),
            Some(_) => fs::remove_file(self.path()),
        };
        match gone {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

/// Removes a folder of ours, also one whose owner took himself the right to.
pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            loosen(path);
            fs::remove_dir_all(path)
        }
        other => other,
    }
}

fn loosen(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir()) {
        // What stays closed shows when it is removed.
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            loosen(&entry.path());
        }
    }
}

/// Opens folders by absolute path, no part of which may be a link. Remembers the last one: paths come sorted.
#[derive(Debug)]
pub(crate) struct Tree {
    root: OwnedFd,
    last: Option<(PathBuf, Rc<OwnedFd>)>,
}

impl Tree {
    /// The whole tree.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { root: openat(CWD, "/", FOLDER, Mode::empty())?, last: None })
    }

    /// A path's place.
    pub(crate) fn at(&mut self, path: &Path) -> io::Result<At> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if let Some((known, dir)) = &self.last
            && known == parent
        {
            return Ok(At::new(Rc::clone(dir), name));
        }
        let dir = Rc::new(self.folder(parent)?);
        self.last = Some((parent.to_path_buf(), Rc::clone(&dir)));
        Ok(At::new(dir, name))
    }

    /// Forgets what was opened: a folder may be another one now.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }

    fn folder(&self, path: &Path) -> io::Result<OwnedFd> {
        let inside = path.strip_prefix("/").unwrap_or(path);
        let inside = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        Ok(openat2(&self.root, inside, FOLDER, Mode::empty(), how)?)
    }

    /// The nearest folder on the way to a path that is there and not among those that are left out.
    pub(crate) fn anchor(
        &self,
        path: &Path,
        left_out: impl Fn(&Path) -> bool,
    ) -> io::Result<(PathBuf, OwnedFd)> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for folder in path.ancestors().skip(1).filter(|folder| !left_out(folder)) {
            match self.folder(folder) {
                Ok(dir) => return Ok((folder.to_path_buf(), dir)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// Opens a folder of our own, whose path may lead over links.
pub(crate) fn own_folder(path: &Path) -> io::Result<Rc<OwnedFd>> {
    Ok(Rc::new(openat(CWD, path, FOLDER, Mode::empty())?))
}

/// Which mount a folder is on: renaming works only within one.
pub(crate) fn mount_of(dir: impl AsFd) -> io::Result<u64> {
    let facts = statx(&dir, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
    Ok(facts.stx_mnt_id)
}
