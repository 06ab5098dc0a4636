//! What program and supervisor tell each other, over one pair of sockets: the plan, once, and the news as frames.
//!
//! The plan is its length as four bytes, little endian, with which the descriptors come that it names, and JSON. A frame
//! is one byte for its kind and, but for the first, the length of what follows and JSON. The captured bytes follow the
//! last frame as they are: as JSON they would be four times as long.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use selfheal_core::ports::Order;
use selfheal_core::run::{Capture, Idle, LeftProcess, Run};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::apart::Apart;

/// No frame is longer than this; more is damage.
const MOST: u32 = 16 << 20;
const STARTING: u8 = b'B';
const STARTED: u8 = b'S';
const STOPPED: u8 = b'T';
const IDLE: u8 = b'I';
const ENDED: u8 = b'E';

/// What the supervisor is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// The run.
    pub order: Order,
    /// Bytes that the supervisor reads at once.
    pub buffer: usize,
    /// Which descriptors come with it, in this order.
    pub passed: Vec<Passed>,
    /// At most so many bytes of standard input are kept.
    pub input_limit: u64,
    /// At most so many bytes of each stream are passed on to a file.
    pub most: Option<u64>,
    /// What the job has for itself.
    pub apart: Apart,
}

/// What a descriptor that comes with the plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Passed {
    /// The file of the spool.
    Spool,
    /// The file that keeps standard input for another run.
    Input,
    /// What is held as long as the run lasts.
    Held,
}

/// No plan has more descriptors.
const MOST_PASSED: usize = 3;

/// Sends a plan, and the descriptors that it names.
pub(crate) fn send_plan(to: &mut File, plan: &Plan, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let body = serde_json::to_vec(plan)?;
    let length = u32::try_from(body.len()).map_err(|_| io::ErrorKind::InvalidData)?.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_PASSED))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !rights.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let sent = rustix::io::retry_on_intr(|| {
        sendmsg(&*to, &[IoSlice::new(&length)], &mut rights, SendFlags::NOSIGNAL)
    })?;
    to.write_all(length.get(sent..).unwrap_or_default())?;
    to.write_all(&body)
}

/// The plan, and the descriptors that came with it. Waits until it is sent; an error when nobody will send one any more.
pub(crate) fn receive_plan(from: &mut File) -> io::Result<(Plan, Vec<OwnedFd>)> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_PASSED))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let got = rustix::io::retry_on_intr(|| {
        recvmsg(&*from, &mut [IoSliceMut::new(&mut length)], &mut rights, RecvFlags::CMSG_CLOEXEC)
    })?;
    if got.bytes == 0 || got.flags.contains(ReturnFlags::CTRUNC) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let fds = rights.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    let fds = fds.flatten().collect();
    from.read_exact(length.get_mut(got.bytes..).unwrap_or_default())?;
    let plan = serde_json::from_slice(&exactly(from, u32::from_le_bytes(length))?)?;
    Ok((plan, fds))
}

/// What the supervisor says at the end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct End {
    /// The run; its captures are empty here and follow as bytes.
    pub run: Run,
    /// The lengths of head and tail of standard output, then of standard error.
    pub lengths: [u32; 4],
    /// What went wrong without stopping the job, one sentence each.
    pub notes: Vec<String>,
    /// The spool could not take everything: all of it was passed on to standard output.
    pub spool_emptied: bool,
    /// Part of standard output could not be passed on, by no fault of its reader.
    pub output_lost: bool,
    /// The job was not started because we had not what it takes; the program may be able to.
    pub could_not: bool,
    /// What the job was to have for itself and has not, and why.
    pub lacks: Vec<String>,
    /// What it left behind was ended with it.
    pub swept: Vec<LeftProcess>,
    /// Another run could be given the same standard input.
    pub input_whole: bool,
    /// The signals that were received.
    pub signals: Vec<i32>,
    /// The supervisor stays and reads for processes that were left running.
    pub stays: bool,
}

impl End {
    /// The end of a run in which nothing else happened.
    pub(crate) fn of(run: Run, notes: Vec<String>) -> Self {
        Self {
            run,
            lengths: [0; 4],
            notes,
            spool_emptied: false,
            output_lost: false,
            could_not: false,
            lacks: Vec::new(),
            swept: Vec::new(),
            input_whole: true,
            signals: Vec::new(),
            stays: false,
        }
    }
}

/// One piece of news.
#[derive(Debug)]
pub(crate) enum News {
    /// The job is about to be started: from now on it may have been.
    Starting,
    /// The job was started.
    Started(u32),
    /// It has written nothing for a while, and may wait for a person.
    Idle(Box<Idle>),
    /// It was stopped at its terminal, and the program is to stop too.
    Stopped,
    /// It ended, with everything that was captured.
    Ended(Box<End>),
}

/// Says that the job is about to be started.
pub(crate) fn send_starting(to: &mut impl Write) -> io::Result<()> {
    to.write_all(&[STARTING])
}

/// Says that the job was started.
pub(crate) fn send_started(to: &mut impl Write, pid: u32) -> io::Result<()> {
    send(to, STARTED, &pid)
}

/// Says what a job does that writes nothing.
pub(crate) fn send_idle(to: &mut impl Write, idle: &Idle) -> io::Result<()> {
    send(to, IDLE, idle)
}

/// Says that the job was stopped at its terminal.
pub(crate) fn send_stopped(to: &mut impl Write) -> io::Result<()> {
    to.write_all(&[STOPPED])
}

/// Says how it ended.
pub(crate) fn send_end(to: &mut impl Write, mut end: End) -> io::Result<()> {
    let stdout = std::mem::take(&mut end.run.stdout);
    let stderr = std::mem::take(&mut end.run.stderr);
    end.run.stdout.total = stdout.total;
    end.run.stderr.total = stderr.total;
    let parts = [stdout.head, stdout.tail, stderr.head, stderr.tail];
    end.lengths = [0, 1, 2, 3].map(|at: usize| parts.get(at).map_or(0, |part| part.len() as u32));
    send(to, ENDED, &end)?;
    parts.iter().try_for_each(|part| to.write_all(part))
}

fn send(to: &mut impl Write, kind: u8, what: &impl Serialize) -> io::Result<()> {
    let body = serde_json::to_vec(what)?;
    let length = u32::try_from(body.len()).map_err(|_| io::ErrorKind::InvalidData)?;
    let mut frame = vec![kind];
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(&body);
    to.write_all(&frame)
}

/// The next news.
pub(crate) fn receive(from: &mut impl Read) -> io::Result<News> {
    let mut kind = [0];
    from.read_exact(&mut kind)?;
    match kind {
        [STARTING] => Ok(News::Starting),
        [STARTED] => Ok(News::Started(body(from)?)),
        [STOPPED] => Ok(News::Stopped),
        [IDLE] => Ok(News::Idle(Box::new(body(from)?))),
        [ENDED] => receive_end(from).map(|end| News::Ended(Box::new(end))),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn receive_end(from: &mut impl Read) -> io::Result<End> {
    let mut end: End = body(from)?;
    let [stdout_head, stdout_tail, stderr_head, stderr_tail] = end.lengths;
    fill(from, &mut end.run.stdout, stdout_head, stdout_tail)?;
    fill(from, &mut end.run.stderr, stderr_head, stderr_tail)?;
    Ok(end)
}

fn fill(from: &mut impl Read, capture: &mut Capture, head: u32, tail: u32) -> io::Result<()> {
    capture.head = exactly(from, head)?;
    capture.tail = exactly(from, tail)?;
    Ok(())
}

fn body<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    Ok(serde_json::from_slice(&exactly(from, u32::from_le_bytes(length))?)?)
}

fn exactly(from: &mut impl Read, length: u32) -> io::Result<Vec<u8>> {
    if length > MOST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}
