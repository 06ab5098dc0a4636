//! One file of a job, looked at and replaced without ever following a link that was not there before.
//!
//! Theory of operation: [`Place::find`] resolves all links of a path once. Its folder is then opened part by part, none of
//! which may be a link, and everything is done relative to that descriptor: who swaps a folder for a link in between
//! changes nothing. A new content is prepared under a temporary name in the same folder and exchanged with the old one
//! in one step; what came out is compared with what was expected, and on a difference the two are exchanged back, so
//! that a change which another program makes at the same time is never lost. The temporary name is derived from
//! incident and file: a crash leaves at most that one, and the next attempt removes it.

mod meta;
mod replace;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use selfheal_core::ports::{PortError, Trouble};

pub(crate) use meta::{Meta, Times, mode_of};
pub(crate) use replace::{Replaced, Wanted};

use crate::trouble;

/// Files larger than this are not changed by selfheal: 64 MiB.
const LARGEST: u64 = 64 << 20;

/// A file's place: its folder, opened, and its name there.
#[derive(Debug)]
pub(crate) struct Place {
    folder: OwnedFd,
    name: OsString,
    /// The path without links.
    pub(crate) real: PathBuf,
}

/// A regular file as it is now.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) file: File,
    pub(crate) stat: Stat,
    pub(crate) content: Vec<u8>,
}

impl Place {
    /// Resolves a path. The file need not exist, its folder must.
    pub(crate) fn find(path: &Path) -> Result<Self, PortError> {
        let failed = |error| trouble::io(format!("find {}", path.display()), error);
        if !path.is_absolute() {
            return Err(PortError::plain(
                format!("use {}: it is not absolute", path.display()),
                Trouble::Other,
            ));
        }
        let real = match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => resolve_missing(path)?,
            other => other.map_err(failed)?,
        };
        Self::open(real)
    }

    fn open(real: PathBuf) -> Result<Self, PortError> {
        let failed =
            |error: rustix::io::Errno| trouble::io(format!("open the folder of {}", real.display()), error);
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(PortError::plain(format!("use {}: it is a folder", real.display()), Trouble::Other));
        };
        let name = name.to_owned();
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut folder = rustix::fs::open("/", flags | OFlags::PATH, Mode::empty()).map_err(failed)?;
        for part in parent.components() {
            if let Component::Normal(part) = part {
                folder =
                    rustix::fs::openat(&folder, part, flags | OFlags::PATH, Mode::empty()).map_err(failed)?;
            }
        }
        Ok(Self { folder, name, real })
    }

    /// The file as it is now; `None` when there is none.
    pub(crate) fn look(&self) -> Result<Option<Found>, PortError> {
        self.look_at(self.name.as_os_str().as_bytes())
    }

    fn look_at(&self, name: &[u8]) -> Result<Option<Found>, PortError> {
        let failed = |error| trouble::io(format!("read {}", self.real.display()), error);
        // Opening a fifo or device could have effects, so it is looked at first.
        match rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(failed(error.into())),
            Ok(stat) => self.check_regular(&stat)?,
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(
            rustix::fs::openat(&self.folder, name, flags, Mode::empty())
                .map_err(|error| failed(error.into()))?,
        );
        let stat = rustix::fs::fstat(&file).map_err(|error| failed(error.into()))?;
        self.check_regular(&stat)?;
        let mut content = Vec::new();
        (&file).take(LARGEST + 1).read_to_end(&mut content).map_err(failed)?;
        if content.len() as u64 > LARGEST {
            return Err(PortError::plain(
                format!("read {}: it is too large", self.real.display()),
                Trouble::Other,
            ));
        }
        Ok(Some(Found { file, stat, content }))
    }

    fn check_regular(&self, stat: &Stat) -> Result<(), PortError> {
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            return Ok(());
        }
        Err(PortError::plain(
            format!("use {}: it is not a regular file", self.real.display()),
            Trouble::Changed,
        ))
    }
}

/// The real path of a file that does not exist.
fn resolve_missing(path: &Path) -> Result<PathBuf, PortError> {
    if path.symlink_metadata().is_ok() {
        let doing = format!("use {}: it is a link that leads nowhere", path.display());
        return Err(PortError::plain(doing, Trouble::Missing));
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(PortError::plain(format!("use {}: it names no file", path.display()), Trouble::Other));
    };
    let parent = parent
        .canonicalize()
        .map_err(|error| trouble::io(format!("find the folder {}", parent.display()), error))?;
    Ok(parent.join(name))
}
