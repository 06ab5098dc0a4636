//! Everything about a file but its content: permission bits, owner, times, extended attributes (ACLs are some of them).
//!
//! It is read and written through descriptors that stand for a path only (`O_PATH`), so that neither a file without the
//! read bit nor a link that takes a name's place can get in the way.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use rustix::fs::{AtFlags, Gid, Timespec, Timestamps, Uid, XattrFlags, chownat, utimensat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use crate::boxes::Raw;

/// Names and values of extended attributes.
pub(crate) type Attributes = BTreeMap<Raw, Raw>;

/// Everything about a file but its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meta {
    /// Permission bits, setuid and the like among them.
    pub bits: u32,
    pub uid: u32,
    pub gid: u32,
    /// When it was read last: seconds, nanoseconds.
    pub read: (i64, i64),
    /// When its content changed.
    pub changed: (i64, i64),
    pub attributes: Attributes,
}

impl Meta {
    /// Reads it from a descriptor that stands for a path.
    pub(crate) fn read(at: impl AsFd) -> io::Result<Self> {
        let place = place_of(&at);
        let facts = fs::File::from(at.as_fd().try_clone_to_owned()?).metadata()?;
        Ok(Self {
            bits: facts.mode() & 0o7777,
            uid: facts.uid(),
            gid: facts.gid(),
            read: (facts.atime(), facts.atime_nsec()),
            changed: (facts.mtime(), facts.mtime_nsec()),
            // The system has no way to read those of a link through a descriptor; programs set none.
            attributes: if facts.is_symlink() { Attributes::new() } else { attributes(&place)? },
        })
    }

    /// Gives all of it to what a descriptor stands for; times last, because the rest changes them.
    pub(crate) fn write(&self, at: impl AsFd, times: bool) -> io::Result<()> {
        let now = Facts::from(&fs::File::from(at.as_fd().try_clone_to_owned()?).metadata()?);
        let link = now.mode & 0o170_000 == 0o120_000;
        if (now.uid, now.gid) != (self.uid, self.gid) {
            let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
            chownat(&at, "", Some(uid), Some(gid), AtFlags::EMPTY_PATH)?;
        }
        if !link {
            fs::set_permissions(place_of(&at), fs::Permissions::from_mode(self.bits))?;
            self.write_attributes(&place_of(&at))?;
        }
        if times {
            let stamp = |time: (i64, i64)| Timespec { tv_sec: time.0, tv_nsec: time.1 };
            let times = Timestamps { last_access: stamp(self.read), last_modification: stamp(self.changed) };
            utimensat(&at, "", &times, AtFlags::EMPTY_PATH)?;
        }
        Ok(())
    }

    fn write_attributes(&self, place: &PathBuf) -> io::Result<()> {
        let now = attributes(place)?;
        for name in now.keys().filter(|name| !self.attributes.contains_key(*name)) {
            match rustix::fs::removexattr(place, OsStr::from_bytes(&name.0)) {
                Err(Errno::NODATA | Errno::NOTSUP) => {}
                // Security modules set labels of their own on new files and let nobody take them away.
                Err(Errno::PERM | Errno::ACCESS) if name.0.starts_with(b"security.") => {}
                other => other?,
            }
        }
        for (name, value) in self.attributes.iter().filter(|(name, value)| now.get(*name) != Some(value)) {
            rustix::fs::setxattr(place, name.word(), &value.0, XattrFlags::empty())?;
        }
        Ok(())
    }
}

/// A path that leads to what a descriptor stands for.
pub(crate) fn place_of(at: impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", at.as_fd().as_raw_fd()))
}

fn attributes(place: &PathBuf) -> io::Result<Attributes> {
    let list = match sized(|buffer| rustix::fs::listxattr(place, buffer)) {
        Err(Errno::NOTSUP | Errno::ACCESS) => return Ok(Attributes::new()),
        other => other?,
    };
    let mut found = Attributes::new();
    for name in list.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        match sized(|buffer| rustix::fs::getxattr(place, OsStr::from_bytes(name), buffer)) {
            // Listed, but not for us to read, or gone by now.
            Err(Errno::NODATA | Errno::NOTSUP | Errno::ACCESS | Errno::PERM) => {}
            value => {
                found.insert(Raw(name.to_vec()), Raw(value?));
            }
        }
    }
    Ok(found)
}

/// Calls with a larger buffer until the answer fits; the kernel's limit is 64 KiB.
fn sized(mut call: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    for size in [1 << 8, 1 << 16] {
        let mut buffer = vec![0; size];
        match call(&mut buffer) {
            Err(Errno::RANGE) => {}
            Err(error) => return Err(error),
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
        }
    }
    Err(Errno::RANGE)
}
