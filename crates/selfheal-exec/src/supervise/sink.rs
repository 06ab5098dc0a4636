//! Where a job's output goes, written to without ever waiting for a slow reader: signals and deadlines must be served while
//! the reader of our standard output sleeps.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::termios::isatty;

use crate::unix;

/// What a pipe that is ready takes without blocking (`PIPE_BUF`).
const SAFE: usize = 4096;

/// A place to write to.
pub(crate) enum Sink {
    /// A regular file or a device that takes everything: written to directly.
    Direct(Target),
    /// A pipe or terminal that was opened once more for us alone, so that it may be non-blocking; the flag of the inherited
    /// one belongs to others too.
    Own(OwnedFd),
    /// What could not be opened again: small pieces, and only when the system says that there is room.
    Careful(Target),
    /// A file that takes so many bytes more; what comes then is dropped.
    Short(Target, Cell<u64>),
}

/// A descriptor of ours or one of the standard streams.
pub(crate) enum Target {
    /// A standard stream.
    Standard(RawFd),
    /// A file that was given.
    Given(OwnedFd),
}

impl AsFd for Target {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Standard(fd) => unix::standard(*fd),
            Self::Given(fd) => fd.as_fd(),
        }
    }
}

impl Sink {
    /// The sink for one of our own standard streams.
    pub(crate) fn standard(fd: RawFd) -> Self {
        let target = Target::Standard(fd);
        let Ok(facts) = rustix::fs::fstat(&target) else { return Self::Careful(target) };
        match FileType::from_raw_mode(facts.st_mode) {
            FileType::Fifo => reopen(fd).map_or(Self::Careful(target), Self::Own),
            FileType::CharacterDevice if isatty(&target) => {
                reopen(fd).map_or(Self::Careful(target), Self::Own)
            }
            FileType::Socket => Self::Careful(target),
            _ => Self::Direct(target),
        }
    }

    /// The same, with at most so many bytes for a regular file. Readers of anything else keep up, or close it.
    pub(crate) fn at_most(self, most: Option<u64>) -> Self {
        match (self, most) {
            (Self::Direct(target), Some(most)) if is_file(&target) => Self::Short(target, Cell::new(most)),
            (sink, _) => sink,
        }
    }

    /// The descriptor to wait for.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Direct(target) | Self::Careful(target) | Self::Short(target, _) => target.as_fd(),
            Self::Own(fd) => fd.as_fd(),
        }
    }

    /// Writes what goes in now. [`io::ErrorKind::WouldBlock`] when nothing does.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = match self {
            Self::Careful(target) if !has_room(target) => return Err(io::ErrorKind::WouldBlock.into()),
            Self::Careful(_) => bytes.get(..SAFE).unwrap_or(bytes),
            Self::Short(target, left) => return write_short(target, left, bytes),
            Self::Direct(_) | Self::Own(_) => bytes,
        };
        Ok(rustix::io::retry_on_intr(|| rustix::io::write(self.fd(), bytes))?)
    }
}

fn is_file(target: &Target) -> bool {
    rustix::fs::fstat(target)
        .is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile)
}

fn write_short(target: &Target, left: &Cell<u64>, bytes: &[u8]) -> io::Result<usize> {
    let room = usize::try_from(left.get()).unwrap_or(usize::MAX);
    let piece = bytes.get(..room).unwrap_or(bytes);
    if piece.is_empty() {
        return Ok(bytes.len());
    }
    let written = rustix::io::retry_on_intr(|| rustix::io::write(target, piece))?;
    left.set(left.get().saturating_sub(written as u64));
    Ok(written)
}

fn reopen(fd: RawFd) -> Option<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open(format!("/proc/self/fd/{fd}"), flags, Mode::empty()).ok()
}

fn has_room(target: &Target) -> bool {
    let mut fds = [PollFd::new(target, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0)
}
