//! The spool: a job's standard output, kept back in a file until it is known which run is the last.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// The standard output of one run, in a file that has no name. It is gone when this is dropped.
#[derive(Debug)]
pub struct Spool {
    file: File,
}

impl Spool {
    /// An empty spool in a folder.
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        match rustix::fs::open(folder, flags | OFlags::TMPFILE, mode) {
            Ok(file) => Ok(Self { file: file.into() }),
            // Not every file system has nameless files.
            Err(_) => Self::create_and_unlink(folder),
        }
    }

    fn create_and_unlink(folder: &Path) -> io::Result<Self> {
        let path =
            folder.join(format!(".selfheal-spool-{}-{:x}", std::process::id(), crate::process::ticket()));
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)?;
        rustix::fs::unlink(&path)?;
        Ok(Self { file: file.into() })
    }

    /// The file, for the supervisor.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// How many bytes are in it.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Whether nothing is in it.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Passes everything on, byte for byte, and ends the spool. Returns how many bytes it was.
    ///
    /// # Errors
    /// When it cannot be read or written. A reader that has gone away ([`io::ErrorKind::BrokenPipe`]) is such an error.
    pub fn emit(mut self, to: &mut impl Write) -> io::Result<u64> {
        self.file.rewind()?;
        let count = io::copy(&mut self.file, to)?;
        to.flush()?;
        Ok(count)
    }
}
