//! The program's side of a job's standard input that is read again when the job runs again.

use std::fs::File;
use std::io;

use rustix::fs::{FileType, MemfdFlags, SeekFrom, fstat, seek};
use selfheal_core::ports::{PortError, Trouble};

use crate::unix;

/// Standard input, as it was before the first run.
#[derive(Debug, Default)]
pub(crate) enum Input {
    /// Nobody asked for it to be given again.
    #[default]
    AsItIs,
    /// A file, at this place.
    File {
        /// The place.
        at: u64,
    },
    /// A pipe, with what was read from it so far. It is kept in memory, since it may hold what must not lie on a disk.
    Pipe {
        /// What was read.
        kept: File,
        /// At most so many bytes are kept.
        limit: u64,
    },
    /// It was longer than may be kept.
    Gone,
}

impl Input {
    /// Looks at standard input before the first run. What is neither file nor pipe stays as it is.
    pub(crate) fn look(limit: u64) -> Self {
        Self::kind(limit).unwrap_or_default()
    }

    fn kind(limit: u64) -> io::Result<Self> {
        let input = unix::standard(0);
        Ok(match FileType::from_raw_mode(fstat(input)?.st_mode) {
            FileType::RegularFile => Self::File { at: seek(input, SeekFrom::Current(0))? },
            FileType::Fifo => {
                let kept = rustix::fs::memfd_create("selfheal-input", MemfdFlags::CLOEXEC)?;
                Self::Pipe { kept: kept.into(), limit }
            }
            _ => Self::AsItIs,
        })
    }

    /// Whether another run could be given the same.
    pub(crate) fn can_repeat(&self) -> bool {
        matches!(self, Self::File { .. } | Self::Pipe { .. })
    }

    /// Makes it ready for a run: the file that keeps it, and how much of it at most, where it is a pipe.
    pub(crate) fn prepare(&self) -> Result<Option<(File, u64)>, PortError> {
        match self {
            Self::AsItIs => Ok(None),
            Self::File { at } => seek(unix::standard(0), SeekFrom::Start(*at))
                .map(|_| None)
                .map_err(|error| PortError::new("go back in standard input", io::Error::from(error))),
            Self::Pipe { kept, limit } => kept
                .try_clone()
                .map(|kept| Some((kept, *limit)))
                .map_err(|error| PortError::new("keep standard input", error)),
            Self::Gone => Err(PortError::plain("give the job its input once more", Trouble::Changed)),
        }
    }

    /// Takes over what a run has made of it.
    pub(crate) fn ran(&mut self, whole: bool) {
        if !whole {
            *self = Self::Gone;
        }
    }
}
