//! One output stream of the job: read as it comes, kept at both ends, logged, passed on.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::event::PollFlags;
use selfheal_core::run::Capture;

use super::log::{Log, Side};
use super::pty::Unfold;
use super::sink::{Sink, Target};
use crate::capture::Keeper;

/// Reads of one stream before the other gets its turn.
const TURN: usize = 8;

/// What a turn of a stream brought to light.
#[derive(Default)]
pub(crate) struct Trouble {
    /// The log was given up.
    pub log: Option<io::Error>,
    /// What the stream was passed on to does not take any more.
    pub sink: Option<io::Error>,
}

/// One output stream of the job.
pub(crate) struct Stream {
    /// The job's end; gone at the end of the stream or when nobody reads us any more.
    source: Option<OwnedFd>,
    sink: Sink,
    /// Where it goes when the spool cannot take it: what the spool has comes first.
    after_spool: Option<(Sink, File)>,
    backlog: Option<Backlog>,
    spool_emptied: bool,
    /// What was read could not be written, and not because nobody reads it any more.
    lost: bool,
    paused: bool,
    buffer: Vec<u8>,
    /// The part of the buffer that is not written yet.
    from: usize,
    until: usize,
    keeper: Keeper,
    /// How many bytes were read.
    read: u64,
    /// What a terminal did to the ends of lines is taken back in what is kept.
    unfold: Option<Unfold>,
}

/// What a full spool holds, on its way to where it would have gone without a spool.
struct Backlog {
    file: File,
    at: u64,
}

impl Backlog {
    /// Passes on what goes now; whether all of it is gone.
    fn flush(&mut self, sink: &Sink) -> io::Result<bool> {
        let mut piece = vec![0; 64 << 10];
        loop {
            let count = self.file.read_at(&mut piece, self.at)?;
            match piece.get(..count).filter(|bytes| !bytes.is_empty()) {
                None => return Ok(true),
                Some(bytes) => match sink.write(bytes) {
                    Ok(written) => self.at += written as u64,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                    Err(error) => return Err(error),
                },
            }
        }
    }
}

impl Stream {
    /// A stream that is passed on.
    pub(crate) fn live(source: OwnedFd, sink: Sink, keep: usize, buffer: usize) -> Self {
        let keeper = Keeper::new(keep);
        let buffer = vec![0; buffer.max(4096)];
        Self {
            source: Some(source),
            sink,
            after_spool: None,
            backlog: None,
            spool_emptied: false,
            lost: false,
            paused: false,
            buffer,
            from: 0,
            until: 0,
            keeper,
            read: 0,
            unfold: None,
        }
    }

    /// The same stream, which comes from a terminal.
    pub(crate) fn unfolding(self) -> Self {
        Self { unfold: Some(Unfold::default()), ..self }
    }

    /// The same stream, kept in a file as long as that takes it.
    pub(crate) fn spooled(self, file: File) -> Self {
        // Without a second descriptor the stream goes on as it is.
        let Ok(spool) = file.try_clone() else { return Self { spool_emptied: true, ..self } };
        let spool = Sink::Direct(Target::Given(spool.into()));
        Self { after_spool: Some((self.sink, file)), sink: spool, ..self }
    }

    /// Whether a spool was given up.
    pub(crate) fn spool_emptied(&self) -> bool {
        self.spool_emptied
    }

    /// Whether part of it was lost although somebody may have wanted it.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Whether there is something to be written.
    pub(crate) fn is_pending(&self) -> bool {
        self.from < self.until || self.backlog.is_some()
    }

    /// Whether nothing more will come and everything was written.
    pub(crate) fn is_finished(&self) -> bool {
        self.reads().is_none() && !self.is_pending()
    }

    /// Reads no more from the job, but keeps its end open.
    pub(crate) fn pause(&mut self) {
        self.paused = true;
    }

    fn reads(&self) -> Option<&OwnedFd> {
        self.source.as_ref().filter(|_| !self.paused)
    }

    /// Drops what could not be written, and where it would have gone; goes on with the job's end alone.
    pub(crate) fn into_source(mut self) -> (Option<OwnedFd>, Capture) {
        if let Some(unfold) = &mut self.unfold {
            self.keeper.push(unfold.end());
        }
        (self.source.take(), self.keeper.finish())
    }

    /// How many bytes wait in the pipe.
    pub(crate) fn waiting(&self) -> u64 {
        self.source.as_ref().and_then(|source| rustix::io::ioctl_fionread(source).ok()).unwrap_or(0)
    }

    /// How many bytes were read so far.
    pub(crate) fn total(&self) -> u64 {
        self.read
    }

    /// At most so many of the last bytes that were read.
    pub(crate) fn last(&self, count: usize) -> Vec<u8> {
        self.keeper.last(count)
    }

    /// What to wait for: room while something is pending, else more.
    pub(crate) fn wait_for(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if self.is_pending() {
            return Some((self.sink.fd(), PollFlags::OUT));
        }
        self.reads().map(|source| (source.as_fd(), PollFlags::IN))
    }

    /// Moves what can be moved now.
    pub(crate) fn turn(&mut self, side: Side, log: &mut Log) -> Trouble {
        let mut trouble = Trouble::default();
        for _ in 0..TURN {
            if !self.write(&mut trouble) || !self.read(side, log, &mut trouble) {
                break;
            }
        }
        self.write(&mut trouble);
        trouble
    }

    /// Writes what is pending; whether all of it is gone.
    fn write(&mut self, trouble: &mut Trouble) -> bool {
        while self.is_pending() {
            match self.write_some() {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => self.sink_failed(error, trouble),
            }
        }
        true
    }

    /// Writes once; whether anything went.
    fn write_some(&mut self) -> io::Result<bool> {
        if let Some(backlog) = &mut self.backlog {
            if !backlog.flush(&self.sink)? {
                return Ok(false);
            }
            self.backlog = None;
        }
        let bytes = self.buffer.get(self.from..self.until).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(true);
        }
        match self.sink.write(bytes) {
            Ok(count) => self.from += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// A full spool is emptied to where the stream would have gone. For all else the job's end is closed, so that the job
    /// meets the broken pipe itself, as it would have without us.
    fn sink_failed(&mut self, error: io::Error, trouble: &mut Trouble) {
        let gone = error.kind() == io::ErrorKind::BrokenPipe;
        trouble.sink = Some(error);
        match self.after_spool.take() {
            Some((sink, file)) => {
                self.sink = sink;
                self.backlog = Some(Backlog { file, at: 0 });
                self.spool_emptied = true;
            }
            None => {
                self.lost = !gone;
                self.source = None;
                self.backlog = None;
                self.from = self.until;
            }
        }
    }

    /// Reads once; whether there may be more.
    fn read(&mut self, side: Side, log: &mut Log, trouble: &mut Trouble) -> bool {
        let Some(source) = self.source.as_ref().filter(|_| !self.paused) else { return false };
        match rustix::io::retry_on_intr(|| rustix::io::read(source, self.buffer.as_mut_slice())) {
            Ok(0) => self.source = None,
            Ok(count) => {
                (self.from, self.until) = (0, count);
                self.read += count as u64;
                let bytes = self.buffer.get(..count).unwrap_or_default();
                let unfolded = self.unfold.as_mut().map(|unfold| unfold.next(bytes));
                let bytes = unfolded.as_deref().unwrap_or(bytes);
                self.keeper.push(bytes);
                trouble.log = trouble.log.take().or(log.append(side, bytes));
                return true;
            }
            Err(rustix::io::Errno::AGAIN) => {}
            Err(_) => self.source = None,
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};

    #[test]
    fn what_a_full_spool_holds_comes_before_the_rest() {
        let mut spool = tempfile::tempfile().unwrap();
        spool.write_all(b"early ").unwrap();
        // Read-only, so that every write to it fails as on a full disk.
        let full = File::open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&spool))).unwrap();
        let mut live = tempfile::tempfile().unwrap();
        let (source, mut job) = std::io::pipe().unwrap();
        let sink = Sink::Direct(Target::Given(live.try_clone().unwrap().into()));
        let mut stream = Stream::live(source.into(), sink, 100, 4096).spooled(full);
        job.write_all(b"and late").unwrap();
        drop(job);
        let trouble = stream.turn(Side::Out, &mut Log::none());
        assert!(trouble.sink.is_some() && stream.spool_emptied() && stream.is_finished());
        let mut text = String::new();
        live.rewind().unwrap();
        live.read_to_string(&mut text).unwrap();
        assert_eq!(text, "early and late");
        assert_eq!(stream.into_source().1.head, b"and late");
    }
}
