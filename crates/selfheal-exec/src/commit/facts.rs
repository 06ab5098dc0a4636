//! What a path is at a moment: enough to tell later whether somebody else changed it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The bits of a mode that say what kind of thing it is.
const KIND: u32 = 0o170_000;

/// What a path is at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The inode. Devices are not compared: their numbers change when the machine is started anew.
    pub ino: u64,
    /// Kind and permission bits.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// How many names the file has.
    pub links: u64,
    pub len: u64,
    /// When the content changed: seconds, nanoseconds.
    pub changed: (i64, i64),
    /// When anything changed.
    pub touched: (i64, i64),
}

impl Facts {
    /// The facts of a path, links not followed; `None` where there is nothing.
    pub(crate) fn of(path: &Path) -> io::Result<Option<Self>> {
        match fs::symlink_metadata(path) {
            Ok(facts) => Ok(Some(Self::from(&facts))),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.mode & KIND == 0o040_000
    }

    pub(crate) fn is_file(&self) -> bool {
        self.mode & KIND == 0o100_000
    }

    /// Whether nobody touched it since. Of a folder only what belongs to it alone: entries come and go.
    pub(crate) fn untouched(&self, now: &Self) -> bool {
        self.unchanged(now) && (self.is_folder() || self.touched == now.touched)
    }

    /// The same for a thing that was moved since, which counts as touching it.
    pub(crate) fn unchanged(&self, now: &Self) -> bool {
        let same = self.ino == now.ino && self.mode == now.mode && self.uid == now.uid && self.gid == now.gid;
        same && (self.is_folder() || (self.len == now.len && self.changed == now.changed))
    }
}

impl From<&Metadata> for Facts {
    fn from(facts: &Metadata) -> Self {
        Self {
            ino: facts.ino(),
            mode: facts.mode(),
            uid: facts.uid(),
            gid: facts.gid(),
            links: facts.nlink(),
            len: facts.len(),
            changed: (facts.mtime(), facts.mtime_nsec()),
            touched: (facts.ctime(), facts.ctime_nsec()),
        }
    }
}

/// Whether an error says that there is nothing at a path.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
