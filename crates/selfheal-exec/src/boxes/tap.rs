//! Reads a box's output streams at once, keeping a bounded beginning and end of each.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;

use super::wire::{Kept, Raw};

/// One stream and what was kept of it.
pub(crate) struct Tap {
    from: Option<OwnedFd>,
    to: Option<OwnedFd>,
    /// How many bytes more it takes.
    room: u64,
    keep: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Tap {
    /// Keeps so many bytes of each end of a stream.
    pub(crate) fn new(from: OwnedFd, keep: usize) -> Self {
        Self { from: Some(from), to: None, room: 0, keep, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    /// Passes the stream on too; to a file at most so many bytes.
    pub(crate) fn passing(self, to: OwnedFd, most: Option<u64>) -> Self {
        let is_file = rustix::fs::fstat(&to)
            .is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile);
        Self { to: Some(to), room: most.filter(|_| is_file).unwrap_or(u64::MAX), ..self }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.keep.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.keep);
        self.tail.drain(..over);
    }

    fn read(&mut self, buffer: &mut [u8]) {
        let Some(from) = &self.from else { return };
        match rustix::io::read(from, &mut *buffer) {
            Ok(0) => self.from = None,
            Ok(count) => {
                let bytes = buffer.get(..count).unwrap_or(&[]);
                let room = usize::try_from(self.room).unwrap_or(usize::MAX);
                let piece = bytes.get(..room).unwrap_or(bytes);
                self.room = self.room.saturating_sub(piece.len() as u64);
                if self.to.as_ref().is_some_and(|to| pass(to, piece).is_err()) {
                    // Nobody reads any more: the job learns it as it would without a box.
                    self.from = None;
                }
                self.take(bytes);
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => self.from = None,
        }
    }

    /// What was kept.
    pub(crate) fn into_kept(self) -> Kept {
        Kept { head: Raw(self.head), tail: Raw(self.tail.into()), total: self.total }
    }
}

/// Writes all of it, and waits for a reader who does not keep up.
fn pass(to: &OwnedFd, mut bytes: &[u8]) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                poll(&mut [PollFd::from_borrowed_fd(to.as_fd(), PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// How reading ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drained {
    /// Every stream ended.
    All,
    /// The moment came first.
    Late,
    /// The look said so.
    Stopped,
}

/// How often a look is taken.
const LOOKS: Duration = Duration::from_millis(100);

/// Reads all streams until each has ended or a moment comes.
pub(crate) fn drain(taps: &mut [Tap], until: Option<Instant>) -> Drained {
    drain_watched(taps, until, &mut || true)
}

/// The same, taking a look now and then; it stops when that is false.
pub(crate) fn drain_watched(
    taps: &mut [Tap],
    until: Option<Instant>,
    look: &mut dyn FnMut() -> bool,
) -> Drained {
    let mut next_look = Instant::now() + LOOKS;
    let mut buffer = vec![0_u8; 64 * 1024];
    loop {
        let open: Vec<usize> =
            taps.iter().enumerate().filter(|(_, tap)| tap.from.is_some()).map(|(at, _)| at).collect();
        if open.is_empty() {
            return Drained::All;
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Drained::Late;
        }
        let now = Instant::now();
        if next_look <= now {
            if !look() {
                return Drained::Stopped;
            }
            next_look = Instant::now() + LOOKS;
        }
        let left = Some(left.unwrap_or(LOOKS).min(next_look.saturating_duration_since(now)));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        for at in ready(taps, &open, timeout.as_ref()) {
            if let Some(tap) = taps.get_mut(at) {
                tap.read(&mut buffer);
            }
        }
    }
}

/// Which of the open streams have something to read.
fn ready(taps: &[Tap], open: &[usize], timeout: Option<&Timespec>) -> Vec<usize> {
    let streams = open.iter().filter_map(|at| taps.get(*at)?.from.as_ref());
    let mut polled: Vec<PollFd<'_>> =
        streams.map(|from| PollFd::from_borrowed_fd(from.as_fd(), PollFlags::IN)).collect();
    match poll(&mut polled, timeout) {
        Ok(_) => {
            let hits = open.iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
            hits.map(|(at, _)| *at).collect()
        }
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_both_ends_without_overlap() {
        let (reader, _writer) = rustix::pipe::pipe().unwrap();
        let mut tap = Tap::new(reader, 4);
        for piece in [&b"ab"[..], b"cdefgh", b"", b"ij"] {
            tap.take(piece);
        }
        let kept = tap.into_kept();
        assert_eq!(
            (kept.head.0.as_slice(), kept.tail.0.as_slice(), kept.total),
            (&b"abcd"[..], &b"ghij"[..], 10)
        );
    }
}
