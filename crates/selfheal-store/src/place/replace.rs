//! Replacing, creating and removing a file in one step each, and rewriting one that has several names.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use selfheal_core::failpoint;
use selfheal_core::ids::{ContentHash, IncidentId};
use selfheal_core::ports::{PortError, Trouble};

use super::{Found, Meta, Place};
use crate::files::sha256;
use crate::objects::hash_of;
use crate::trouble;

/// What a file is to become.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) content: &'a [u8],
    pub(crate) meta: Meta,
}

/// How replacing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replaced {
    /// It is done.
    Done,
    /// A new file could not be given the owner or the attributes of the old one: it must be rewritten in place.
    NotOurs,
}

impl Place {
    /// Replaces a file that has one name, if its content still is `expected`.
    pub(crate) fn exchange(
        &self,
        incident: &IncidentId,
        expected: &ContentHash,
        wanted: &Wanted<'_>,
    ) -> Result<Replaced, PortError> {
        let fresh = self.fresh_name(incident);
        match self.prepare(&fresh, wanted)? {
            Replaced::Done => {}
            Replaced::NotOurs => return Ok(Replaced::NotOurs),
        }
        let ours = hash_of(wanted.content);
        failpoint::hit("file.prepared");
        self.swap(&fresh, expected, &ours).inspect_err(|_| self.forget_ours(&fresh, &ours))?;
        failpoint::hit("file.swapped");
        self.forget(&fresh);
        self.sync_folder()?;
        Ok(Replaced::Done)
    }

    fn swap(&self, fresh: &str, expected: &ContentHash, ours: &ContentHash) -> Result<(), PortError> {
        let failed = |error| self.failed("replace", error);
        match self.rename(fresh, &self.name, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            // A file system without exchange: the moment between looking and renaming stays open.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                self.expect_content(&self.look()?, expected)?;
                return rustix::fs::renameat(&self.folder, fresh, &self.folder, &self.name).map_err(failed);
            }
            Err(Errno::NOENT) => return Err(self.changed()),
            Err(error) => return Err(failed(error)),
        }
        let out = self.look_at(fresh.as_bytes());
        if out.as_ref().is_ok_and(|out| self.expect_content(out, expected).is_ok()) {
            return Ok(());
        }
        // Somebody was faster. His file goes back; if ours was replaced once more meanwhile, that one is newer still.
        self.rename(fresh, &self.name, RenameFlags::EXCHANGE).map_err(failed)?;
        if self.look_at(fresh.as_bytes())?.is_none_or(|out| hash_of(&out.content) != *ours) {
            self.rename(fresh, &self.name, RenameFlags::EXCHANGE).map_err(failed)?;
        }
        Err(self.changed())
    }

    /// Creates a file that does not exist.
    pub(crate) fn create(&self, incident: &IncidentId, wanted: &Wanted<'_>) -> Result<(), PortError> {
        let fresh = self.fresh_name(incident);
        if self.prepare(&fresh, wanted)? == Replaced::NotOurs {
            let doing = format!("give {} the owner and attributes that it had", self.real.display());
            return Err(PortError::plain(doing, Trouble::NoRoom));
        }
        let created = match self.rename(&fresh, &self.name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::linkat(&self.folder, &fresh, &self.folder, &self.name, AtFlags::empty())
            }
            other => other,
        };
        self.forget(&fresh);
        match created {
            Ok(()) => self.sync_folder(),
            Err(Errno::EXIST) => Err(self.changed()),
            Err(error) => Err(self.failed("create", error)),
        }
    }

    /// Removes a file, if its content still is `expected`.
    pub(crate) fn remove(&self, incident: &IncidentId, expected: &ContentHash) -> Result<(), PortError> {
        let failed = |error| self.failed("remove", error);
        let fresh = self.fresh_name(incident);
        self.forget(&fresh);
        rustix::fs::renameat(&self.folder, &self.name, &self.folder, &fresh).map_err(failed)?;
        let out = self.look_at(fresh.as_bytes());
        if !out.as_ref().is_ok_and(|out| self.expect_content(out, expected).is_ok()) {
            // A file that somebody created under the name meanwhile is newer than the one that came out.
            match self.rename(&fresh, &self.name, RenameFlags::NOREPLACE) {
                Ok(()) | Err(Errno::EXIST) => return Err(self.changed()),
                Err(error) => return Err(failed(error)),
            }
        }
        rustix::fs::unlinkat(&self.folder, &fresh, AtFlags::empty()).map_err(failed)?;
        self.sync_folder()
    }

    /// Rewrites a file through the inode that it has. Not atomic: the caller notes it down before.
    pub(crate) fn rewrite(&self, found: &Found, wanted: &Wanted<'_>) -> Result<(), PortError> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let failed = |error: io::Error| trouble::io(format!("rewrite {}", self.real.display()), error);
        let file = rustix::fs::openat(&self.folder, &self.name, flags, Mode::empty())
            .map(File::from)
            .map_err(|error| failed(error.into()))?;
        let stat = rustix::fs::fstat(&file).map_err(|error| failed(error.into()))?;
        if (stat.st_dev, stat.st_ino) != (found.stat.st_dev, found.stat.st_ino) {
            return Err(self.changed());
        }
        // From the first byte on, so that a crash leaves the beginning of the new and the end of the old content.
        file.write_all_at(wanted.content, 0).map_err(failed)?;
        failpoint::hit("file.rewriting");
        file.set_len(wanted.content.len() as u64).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        // Only the owner may set times; whoever may just write the file gets as far as this.
        wanted.meta.write(&file).map_err(|error| {
            self.failed("restore the times and attributes (the content is in place) of", error)
        })?;
        file.sync_all().map_err(failed)
    }

    /// Changes everything but the content.
    pub(crate) fn touch_up(&self, found: &Found, meta: &Meta) -> Result<(), PortError> {
        meta.write(&found.file).map_err(|error| self.failed("change the attributes of", error))?;
        found.file.sync_all().map_err(|error| trouble::io(format!("flush {}", self.real.display()), error))
    }

    /// Removes what a crashed attempt may have left.
    pub(crate) fn clean(&self, incident: &IncidentId) {
        self.forget(&self.fresh_name(incident));
    }

    /// The one temporary name of an incident's work on a file.
    fn fresh_name(&self, incident: &IncidentId) -> String {
        let key = format!("{incident}\n{}", self.real.display());
        let hash = sha256(key.as_bytes());
        format!(".selfheal-{}", hash.get(..16).unwrap_or(&hash))
    }

    fn prepare(&self, fresh: &str, wanted: &Wanted<'_>) -> Result<Replaced, PortError> {
        self.forget(fresh);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.folder, fresh, flags, Mode::from_raw_mode(0o600))
            .map(File::from)
            .map_err(|error| trouble::io(format!("write in the folder of {}", self.real.display()), error))?;
        self.fill(file, wanted).inspect_err(|_| self.forget(fresh)).inspect(|replaced| {
            if *replaced == Replaced::NotOurs {
                self.forget(fresh);
            }
        })
    }

    fn fill(&self, mut file: File, wanted: &Wanted<'_>) -> Result<Replaced, PortError> {
        let failed = |error| trouble::io(format!("write a new {}", self.real.display()), error);
        file.write_all(wanted.content).map_err(failed)?;
        match wanted.meta.write(&file) {
            Err(Errno::PERM | Errno::ACCESS | Errno::NOTSUP | Errno::INVAL) => return Ok(Replaced::NotOurs),
            other => other.map_err(|error| failed(error.into()))?,
        }
        file.sync_all().map_err(failed)?;
        Ok(Replaced::Done)
    }

    fn rename(&self, from: &str, to: &std::ffi::OsStr, flags: RenameFlags) -> Result<(), Errno> {
        rustix::fs::renameat_with(&self.folder, from, &self.folder, to, flags)
    }

    fn forget(&self, fresh: &str) {
        // Usually there is none; one that cannot be removed shows when it is to be created.
        let _ = rustix::fs::unlinkat(&self.folder, fresh, AtFlags::empty());
    }

    /// After a failed exchange the temporary name may hold somebody else's file.
    fn forget_ours(&self, fresh: &str, ours: &ContentHash) {
        if let Ok(Some(found)) = self.look_at(fresh.as_bytes())
            && hash_of(&found.content) == *ours
        {
            self.forget(fresh);
        }
    }

    fn sync_folder(&self) -> Result<(), PortError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.folder, ".", flags, Mode::empty()) {
            Ok(folder) => {
                rustix::fs::fsync(folder).map_err(|error| self.failed("flush the folder of", error))
            }
            // One may be allowed to write in a folder that one cannot list.
            Err(Errno::ACCESS) => Ok(()),
            Err(error) => Err(self.failed("flush the folder of", error)),
        }
    }

    fn expect_content(&self, found: &Option<Found>, expected: &ContentHash) -> Result<(), PortError> {
        match found {
            Some(found) if hash_of(&found.content) == *expected => Ok(()),
            _ => Err(self.changed()),
        }
    }

    /// The error that says that somebody changed the file.
    pub(crate) fn changed(&self) -> PortError {
        let doing = format!("change {}: it is not what it was", self.real.display());
        PortError::plain(doing, Trouble::Changed)
    }

    fn failed(&self, verb: &str, error: Errno) -> PortError {
        trouble::io(format!("{verb} {}", self.real.display()), error)
    }
}
