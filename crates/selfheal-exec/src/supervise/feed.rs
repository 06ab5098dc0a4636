//! The job's standard input, where it is a pipe and another run may have to read the same again.
//!
//! Theory of operation: the job reads from a pipe of ours that holds a single page. While that is empty, the front of the
//! caller's pipe is lent to it with `tee(2)`, which takes nothing away. Only when the job has taken what was lent, the
//! same bytes are taken from the caller's pipe and kept. So the job gets everything as soon as it would have without us,
//! and what it does not read stays where it is, for whoever reads the caller's pipe next (`while read line; do selfheal
//! run …; done`). What an earlier run has read comes from what was kept, and then it goes on in the same way. Beyond the
//! limit nothing is kept, and the input is passed on in larger pieces.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice, tee};

use crate::unix;

/// One page on every machine: the system makes it at least that.
const PAGE: usize = 4096;
/// What the job's pipe holds when nothing is kept any more.
const WIDE: usize = 256 << 10;
/// Pieces that are moved before others get their turn.
const TURN: usize = 64;

/// What earlier runs and this one have read.
pub(crate) struct Kept {
    file: File,
    length: u64,
    limit: u64,
    whole: bool,
}

impl Kept {
    /// What a file holds, to which at most so many bytes go.
    pub(crate) fn new(file: File, limit: u64) -> Option<Self> {
        let length = file.metadata().ok()?.len();
        Some(Self { file, length, limit, whole: true })
    }

    fn add(&mut self, bytes: &[u8]) {
        let fits = self.length.saturating_add(bytes.len() as u64) <= self.limit;
        self.whole = self.whole && fits && self.file.write_all_at(bytes, self.length).is_ok();
        self.length += bytes.len() as u64;
    }

    /// A piece from a place on.
    fn read(&self, at: u64, piece: &mut [u8]) -> usize {
        let left = usize::try_from(self.length.saturating_sub(at)).unwrap_or(usize::MAX);
        let most = left.min(piece.len());
        piece.get_mut(..most).and_then(|piece| self.file.read_at(piece, at).ok()).unwrap_or(0)
    }
}

/// Feeds the job.
pub(crate) struct Feed {
    from: OwnedFd,
    /// The job's pipe; gone when the input has ended or nobody reads it.
    to: Option<OwnedFd>,
    kept: Kept,
    /// How much of what earlier runs have read was given to this one; `None` when it was all of it.
    replayed: Option<u64>,
    /// How many bytes of the front of the caller's pipe the job was lent.
    lent: usize,
}

impl Feed {
    /// A feed from our standard input, and the end of the pipe that the job reads.
    pub(crate) fn new(kept: Kept) -> Option<(Self, OwnedFd)> {
        let from = rustix::io::fcntl_dupfd_cloexec(unix::standard(0), 3).ok()?;
        Self::between(from, kept)
    }

    fn between(from: OwnedFd, kept: Kept) -> Option<(Self, OwnedFd)> {
        let (read, to) = pipe_with(PipeFlags::CLOEXEC).ok()?;
        rustix::io::ioctl_fionbio(&to, true).ok()?;
        fcntl_setpipe_size(&to, PAGE).ok()?;
        let replayed = (kept.length > 0).then_some(0);
        Some((Self { from, to: Some(to), kept, replayed, lent: 0 }, read))
    }

    /// Whether another run could be given the same.
    pub(crate) fn is_whole(&self) -> bool {
        self.kept.whole
    }

    /// What to wait for: that the job has taken what it has, or that there is more.
    pub(crate) fn wait_for(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let to = self.to.as_ref()?;
        // What was given for good need not be taken before more is passed on.
        let unread = self.kept.whole && waiting(to) > 0;
        let more = !self.kept.whole && waiting(&self.from) > 0;
        let job_is_next = self.replayed.is_some() || self.lent > 0 || unread || more;
        Some(match job_is_next {
            true => (to.as_fd(), PollFlags::OUT),
            false => (self.from.as_fd(), PollFlags::IN),
        })
    }

    /// Moves what can be moved now.
    pub(crate) fn turn(&mut self) {
        for _ in 0..TURN {
            if !self.step() {
                return;
            }
        }
    }

    /// Accounts for what the job has taken, and gives it no more.
    pub(crate) fn end(&mut self) {
        self.settle();
        self.to = None;
    }

    /// Moves one piece; whether there may be more to move.
    fn step(&mut self) -> bool {
        let Some(to) = &self.to else { return false };
        if nobody_reads(to) {
            self.end();
            return false;
        }
        match self.replayed {
            Some(at) => self.replay(at),
            None if self.lent > 0 => waiting(to) == 0 && self.settle(),
            // What was kept for this run is still to be read.
            None if self.kept.whole && waiting(to) > 0 => false,
            None if self.kept.whole => self.lend(),
            None => self.pass(),
        }
    }

    fn replay(&mut self, at: u64) -> bool {
        let mut piece = [0; PAGE];
        let count = self.kept.read(at, &mut piece);
        let Some(bytes) = piece.get(..count).filter(|bytes| !bytes.is_empty()) else {
            self.replayed = None;
            return true;
        };
        let Some(to) = &self.to else { return false };
        match rustix::io::retry_on_intr(|| rustix::io::write(to, bytes)) {
            Ok(written) => {
                self.replayed = Some(at + written as u64);
                true
            }
            Err(_) => false,
        }
    }

    /// Lends the job what stands at the front of the caller's pipe.
    fn lend(&mut self) -> bool {
        let Some(to) = &self.to else { return false };
        let lent = rustix::io::retry_on_intr(|| tee(&self.from, to, WIDE, SpliceFlags::NONBLOCK));
        self.given(lent, |feed, count| feed.lent = count)
    }

    /// Passes on for good.
    fn pass(&mut self) -> bool {
        let Some(to) = &self.to else { return false };
        let passed =
            rustix::io::retry_on_intr(|| splice(&self.from, None, to, None, WIDE, SpliceFlags::NONBLOCK));
        self.given(passed, |_, _| {})
    }

    fn given(&mut self, given: rustix::io::Result<usize>, note: impl FnOnce(&mut Self, usize)) -> bool {
        match given {
            // The end: the job sees it too.
            Ok(0) => self.to = None,
            Ok(count) => {
                note(self, count);
                return true;
            }
            Err(Errno::AGAIN) => {}
            Err(_) => self.to = None,
        }
        false
    }

    /// Takes from the caller's pipe what the job has taken of what it was lent.
    fn settle(&mut self) -> bool {
        let left = self.to.as_ref().map_or(0, waiting);
        let mut taken = self.lent.saturating_sub(left);
        self.lent = 0;
        let mut piece = [0; PAGE];
        while taken > 0 && readable(&self.from) {
            let most = taken.min(PAGE);
            let read = piece.get_mut(..most).and_then(|piece| rustix::io::read(&self.from, piece).ok());
            let Some(bytes) = read.and_then(|count| piece.get(..count)).filter(|bytes| !bytes.is_empty())
            else {
                break;
            };
            taken -= bytes.len();
            self.kept.add(bytes);
        }
        if let (false, Some(to)) = (self.kept.whole, &self.to) {
            // A refusal only costs speed.
            let _ = fcntl_setpipe_size(to, WIDE);
        }
        true
    }
}

/// How many bytes wait in a pipe.
fn waiting(pipe: &OwnedFd) -> usize {
    rustix::io::ioctl_fionread(pipe).ok().and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
}

fn seen(pipe: impl AsFd, wanted: PollFlags) -> PollFlags {
    let mut fds = [PollFd::new(&pipe, wanted)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let _ = poll(&mut fds, Some(&now));
    fds.first().map(PollFd::revents).unwrap_or(PollFlags::empty())
}

fn nobody_reads(to: &OwnedFd) -> bool {
    seen(to, PollFlags::empty()).contains(PollFlags::ERR)
}

/// Whether a descriptor can be read without waiting.
pub(super) fn readable(from: impl AsFd) -> bool {
    seen(from, PollFlags::IN).contains(PollFlags::IN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeReader, PipeWriter, Read, Write};

    /// A caller that writes, what is kept, and a feed between.
    fn feed(limit: u64) -> (PipeWriter, PipeReader, File, Feed, File) {
        let (read, write) = std::io::pipe().unwrap();
        let file = tempfile::tempfile().unwrap();
        let kept = Kept::new(file.try_clone().unwrap(), limit).unwrap();
        let (feed, job) = Feed::between(read.try_clone().unwrap().into(), kept).unwrap();
        (write, read, file, feed, job.into())
    }

    fn content(file: &File) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(file.metadata().unwrap().len()).unwrap()];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    fn exactly(job: &mut File, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        job.read_exact(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_the_job_does_not_read_stays_with_the_caller() {
        let (mut caller, mut next, file, mut feed, mut job) = feed(100);
        caller.write_all(b"one\ntwo\nthree\n").unwrap();
        drop(caller);
        feed.turn();
        assert_eq!(exactly(&mut job, 4), b"one\n");
        feed.turn();
        feed.end();
        assert_eq!(content(&file), b"one\n");
        assert!(feed.is_whole());
        let mut rest = String::new();
        next.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "two\nthree\n");
    }

    #[test]
    fn what_comes_later_is_given_later_and_the_end_is_the_end() {
        let (mut caller, _next, file, mut feed, mut job) = feed(100);
        for part in ["early ", "late"] {
            caller.write_all(part.as_bytes()).unwrap();
            feed.turn();
            assert_eq!(exactly(&mut job, part.len()), part.as_bytes());
            feed.turn();
        }
        drop(caller);
        feed.turn();
        assert_eq!(job.read(&mut [0; 10]).unwrap(), 0);
        assert!(feed.wait_for().is_none());
        assert_eq!(content(&file), b"early late");
    }

    #[test]
    fn another_run_gets_what_was_read_and_then_the_rest() {
        let (mut caller, next, file, mut feed, mut job) = feed(100);
        caller.write_all(b"first second").unwrap();
        drop(caller);
        feed.turn();
        assert_eq!(exactly(&mut job, 6), b"first ");
        feed.end();
        let kept = Kept::new(file.try_clone().unwrap(), 100).unwrap();
        let (mut feed, job) = Feed::between(next.into(), kept).unwrap();
        let reader = std::thread::spawn(move || {
            let mut all = String::new();
            File::from(job).read_to_string(&mut all).unwrap();
            all
        });
        while let Some((fd, flags)) = feed.wait_for() {
            let mut fds = [PollFd::from_borrowed_fd(fd, flags)];
            poll(&mut fds, None).unwrap();
            feed.turn();
        }
        assert_eq!(reader.join().unwrap(), "first second");
        assert_eq!(content(&file), b"first second");
    }

    #[test]
    fn beyond_the_limit_everything_is_passed_on_and_nothing_can_be_given_again() {
        let (mut caller, _next, file, mut feed, job) = feed(10_000);
        let writer = std::thread::spawn(move || {
            let bytes: Vec<u8> = (0..=255).cycle().take(3 << 20).collect();
            caller.write_all(&bytes).unwrap();
            bytes
        });
        let reader = std::thread::spawn(move || {
            let (mut all, mut job) = (Vec::new(), job);
            job.read_to_end(&mut all).unwrap();
            all
        });
        while let Some((fd, flags)) = feed.wait_for() {
            let mut fds = [PollFd::from_borrowed_fd(fd, flags)];
            poll(&mut fds, None).unwrap();
            feed.turn();
        }
        assert!(writer.join().unwrap() == reader.join().unwrap());
        assert!(!feed.is_whole() && content(&file).len() <= 10_000);
    }

    #[test]
    fn a_job_that_reads_nothing_holds_nothing_up() {
        let (mut caller, _next, file, mut feed, job) = feed(100);
        caller.write_all(b"unread").unwrap();
        feed.turn();
        drop(job);
        feed.turn();
        assert!(feed.wait_for().is_none() && feed.is_whole());
        assert_eq!(content(&file), b"");
    }
}
