//! Everything about a file but its content: permission bits, owner, times, extended attributes (ACLs are some of them).

use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{Gid, Mode, Stat, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;

/// The permission bits with setuid, setgid and sticky.
const PERMISSIONS: u32 = 0o7777;

/// When a file was read and changed last: seconds and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) read: (i64, i64),
    pub(crate) changed: (i64, i64),
}

/// Everything about a file but its content. What is `None` is left as the system makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) mode: u32,
    /// User and group.
    pub(crate) owner: Option<(u32, u32)>,
    pub(crate) times: Option<Times>,
    pub(crate) attributes: Option<BTreeMap<OsString, Vec<u8>>>,
}

impl Meta {
    /// Reads it from an open file. `stat` was taken before the content was read, which may change the time of reading.
    pub(crate) fn read(file: impl AsFd, stat: &Stat) -> Result<Self, Errno> {
        Ok(Self {
            mode: mode_of(stat),
            owner: Some((stat.st_uid, stat.st_gid)),
            times: Some(Times {
                read: (stat.st_atime, stat.st_atime_nsec as i64),
                changed: (stat.st_mtime, stat.st_mtime_nsec as i64),
            }),
            attributes: Some(attributes(file)?),
        })
    }

    /// Makes an open file have it. The owner comes first, because changing it drops setuid; the times come last.
    pub(crate) fn write(&self, file: impl AsFd) -> Result<(), Errno> {
        let now = rustix::fs::fstat(&file)?;
        if let Some((uid, gid)) = self.owner
            && (now.st_uid, now.st_gid) != (uid, gid)
        {
            rustix::fs::fchown(&file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
        }
        if let Some(wanted) = &self.attributes {
            write_attributes(&file, wanted)?;
        }
        if mode_of(&rustix::fs::fstat(&file)?) != self.mode {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(self.mode))?;
        }
        match &self.times {
            Some(times) => rustix::fs::futimens(&file, &times.stamps()),
            None => Ok(()),
        }
    }
}

impl Times {
    fn stamps(self) -> Timestamps {
        let spec = |(seconds, nanoseconds): (i64, i64)| Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
        Timestamps { last_access: spec(self.read), last_modification: spec(self.changed) }
    }
}

/// The permission bits of a file.
pub(crate) fn mode_of(stat: &Stat) -> u32 {
    stat.st_mode & PERMISSIONS
}

fn write_attributes(file: impl AsFd, wanted: &BTreeMap<OsString, Vec<u8>>) -> Result<(), Errno> {
    let now = attributes(&file)?;
    for (name, value) in wanted {
        if now.get(name) != Some(value) {
            rustix::fs::fsetxattr(&file, c_name(name)?, value, XattrFlags::empty())?;
        }
    }
    for name in now.keys().filter(|name| !wanted.contains_key(*name)) {
        rustix::fs::fremovexattr(&file, c_name(name)?)?;
    }
    Ok(())
}

fn c_name(name: &OsString) -> Result<CString, Errno> {
    CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)
}

/// The extended attributes that we may see; none where the file system has none.
fn attributes(file: impl AsFd) -> Result<BTreeMap<OsString, Vec<u8>>, Errno> {
    let names = match read_sized(|buffer| rustix::fs::flistxattr(&file, buffer)) {
        Err(Errno::NOTSUP) => return Ok(BTreeMap::new()),
        other => other?,
    };
    let mut found = BTreeMap::new();
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let c_name = CString::new(name).map_err(|_| Errno::INVAL)?;
        match read_sized(|buffer| rustix::fs::fgetxattr(&file, &c_name, buffer)) {
            // Removed in between, or not for us.
            Err(Errno::NODATA | Errno::PERM | Errno::ACCESS) => {}
            other => {
                found.insert(std::ffi::OsStr::from_bytes(name).to_owned(), other?);
            }
        }
    }
    Ok(found)
}

/// Calls with a larger buffer until the answer fits; the kernel's limit is 64 KiB.
fn read_sized(mut call: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    for size in [1 << 10, 1 << 16] {
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
