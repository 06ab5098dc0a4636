//! The poll loop of one supervised run, from the started job to the report.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use selfheal_core::ports::Order;
use selfheal_core::run::{Ended, LeftProcess, Moment};

use super::ending::{Ending, pass_on};
use super::feed::Feed;
use super::idle::Watch;
use super::log::{Log, Side};
use super::pty::Pty;
use super::stream::{Stream, Trouble};
use super::terminal::{self, Terminal};
use super::{Began, CANCEL, Link, moment, tree};
use crate::find;
use crate::unix::{self, ChildChange, Reaped};
use crate::wire::{self, End};

/// How long output is waited for that processes in the background may still write.
const DRAIN: Duration = Duration::from_millis(200);
/// How long it is waited for what was killed at the end.
const SWEEP: Duration = Duration::from_secs(2);
/// The same signal within this time is one: it was sent to the whole group, and by the program once more.
const SAME_SIGNAL: Duration = Duration::from_millis(200);

/// One supervised run.
pub(super) struct Session {
    job: Pid,
    streams: [Stream; 2],
    feed: Option<Feed>,
    pty: Option<Pty>,
    /// The program is to stop as the job did.
    stop_program: bool,
    log: Log,
    terminal: Option<Terminal>,
    deadline: Option<Instant>,
    deadline_ms: u64,
    grace: Duration,
    ending: Option<Ending>,
    /// How the job's process ended, once it has.
    ended: Option<Ended>,
    drain: Option<Drain>,
    /// When a tree that was ended by force has been read for long enough.
    last_call: Option<Instant>,
    peak_kib: u64,
    /// When the job last wrote something.
    heard: Instant,
    watch: Watch,
    at_deadline: Option<Box<Moment>>,
    signals: Vec<(i32, Instant)>,
    notes: Vec<String>,
    program_gone: bool,
}

/// What is still to be read when the job, or its whole tree, has ended.
struct Drain {
    ended_at: Instant,
    until: Instant,
    /// How far each stream must have been read: what was written when the job ended.
    must: [u64; 2],
}

impl Session {
    /// The session of a job that was started.
    pub(super) fn new(pid: u32, streams: [Stream; 2], log: Log, terminal: Option<Terminal>) -> Option<Self> {
        Some(Self {
            job: Pid::from_raw(i32::try_from(pid).ok()?)?,
            streams,
            watch: Watch::new(terminal.is_some()),
            feed: None,
            pty: None,
            stop_program: false,
            log,
            terminal,
            deadline: None,
            deadline_ms: 0,
            grace: Duration::ZERO,
            ending: None,
            ended: None,
            drain: None,
            last_call: None,
            peak_kib: 0,
            heard: Instant::now(),
            at_deadline: None,
            signals: Vec::new(),
            notes: Vec::new(),
            program_gone: false,
        })
    }

    /// The same with a feed for its standard input.
    pub(super) fn fed(mut self, feed: Option<Feed>) -> Self {
        self.feed = feed;
        self
    }

    /// The same with terminals of its own.
    pub(super) fn typed(mut self, pty: Option<Pty>) -> Self {
        self.pty = pty;
        self
    }

    /// Supervises to the end, reports, and stays where somebody must read on.
    pub(super) fn run(
        mut self,
        order: &Order,
        mut link: Link,
        began: Began,
        notes: Vec<String>,
    ) -> Option<()> {
        self.notes = notes;
        self.deadline_ms = order.deadline_ms;
        self.deadline = began.instant.checked_add(Duration::from_millis(order.deadline_ms));
        self.grace = Duration::from_millis(order.grace_ms);
        while !self.is_over(Instant::now()) {
            self.wait(&link);
            while let Some(signal) = unix::next_signal(&link.signals) {
                self.take_signal(signal);
            }
            self.turn_streams();
            self.feed.iter_mut().for_each(Feed::turn);
            if self.pty.as_mut().is_some_and(Pty::turn) {
                self.watch.alive(Instant::now());
            }
            self.tell_idle(&mut link);
            if std::mem::take(&mut self.stop_program) {
                // A program that is gone is noticed by the next wait.
                let _ = wire::send_stopped(&mut link.news);
            }
            self.check_limits(Instant::now());
        }
        self.terminal.iter().for_each(|terminal| terminal.take_back(self.job));
        self.pty = None;
        let swept = if link.alone { self.sweep() } else { Vec::new() };
        let (end, sources) = self.into_end(order, began);
        let end = End { swept, lacks: std::mem::take(&mut link.lacks), ..end };
        let stays = end.stays;
        wire::send_end(&mut link.news, end).ok()?;
        if stays {
            stay(link, sources);
        }
        Some(())
    }

    /// Ends what the job leaves behind, as process 1 of its own processes; gives what it was. What still lives after a while
    /// (it sleeps in the kernel) ends when this process does.
    fn sweep(&mut self) -> Vec<LeftProcess> {
        self.reap();
        let left = if tree::is_empty() { Vec::new() } else { tree::left_running() };
        let until = Instant::now() + SWEEP;
        while !tree::is_empty() && Instant::now() < until {
            tree::signal_all(Signal::KILL);
            std::thread::sleep(Duration::from_millis(1));
            self.reap();
        }
        left
    }

    fn wait(&mut self, link: &Link) {
        let mut fds = vec![PollFd::new(&link.signals, PollFlags::IN)];
        if !self.program_gone {
            // Only asked whether its other end is closed.
            fds.push(PollFd::new(&link.news, PollFlags::empty()));
        }
        let streams = self.streams.iter().filter_map(Stream::wait_for);
        let all = streams.chain(self.feed.as_ref().and_then(Feed::wait_for));
        let all = all.chain(self.pty.as_ref().and_then(Pty::wait_for));
        fds.extend(all.map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags)));
        let timeout = self.timeout(Instant::now());
        let _ = poll(&mut fds, timeout.as_ref());
        let closed = !self.program_gone && fds.get(1).is_some_and(|news| !news.revents().is_empty());
        drop(fds);
        if closed {
            self.program_went();
        }
    }

    /// Tells the program of a job that may wait for a person.
    fn tell_idle(&mut self, link: &mut Link) {
        if self.ended.is_some() || self.ending.is_some() || self.program_gone {
            return;
        }
        if let Some(idle) = self.watch.look(Instant::now(), self.terminal.as_ref(), &self.streams) {
            // A program that is gone is noticed by the next wait.
            let _ = wire::send_idle(&mut link.news, &idle);
        }
    }

    fn program_went(&mut self) {
        self.pty.iter_mut().for_each(Pty::leave);
        self.program_gone = true;
        if self.ended.is_some() {
            self.deadline = Some(Instant::now());
        } else if let Some(ending) = &mut self.ending {
            ending.ask_all();
        } else {
            self.ending = Some(Ending::orphaned(self.grace));
        }
    }

    fn timeout(&self, now: Instant) -> Option<Timespec> {
        let drain = self.drain.as_ref().map(|drain| drain.until).filter(|until| *until > now);
        let next = match &self.ending {
            Some(ending) => [self.last_call.or(ending.next()), self.deadline.filter(|_| ending.is_patient())],
            None => [self.deadline, drain],
        };
        let watch = (self.ended.is_none() && self.ending.is_none()).then(|| self.watch.next());
        let left = next.into_iter().chain([watch]).flatten().min()?.saturating_duration_since(now);
        // A little more, not less: the clock of poll is coarser.
        let left = left + Duration::from_micros(500);
        Some(Timespec { tv_sec: i64::try_from(left.as_secs()).ok()?, tv_nsec: left.subsec_nanos().into() })
    }

    fn take_signal(&mut self, signal: i32) {
        match signal {
            libc::SIGCHLD => self.reap(),
            libc::SIGTSTP => {
                let _ = kill_process_group(self.job, Signal::TSTP);
                unix::suspend(false);
                let _ = kill_process_group(self.job, Signal::CONT);
            }
            libc::SIGWINCH => self.pty.iter().for_each(Pty::resize),
            libc::SIGCONT => {
                if let (Some(pty), Some(terminal), None) = (&mut self.pty, &self.terminal, &self.ended) {
                    pty.program_continued(terminal, self.job);
                }
            }
            _ if self.ended.is_some() => {
                // Too late for the job: the program takes it for itself.
                self.deadline = Some(Instant::now());
            }
            _ => self.take_order(signal),
        }
    }

    fn take_order(&mut self, signal: i32) {
        let now = Instant::now();
        let again =
            |(old, at): &(i32, Instant)| *old == signal && now.saturating_duration_since(*at) < SAME_SIGNAL;
        if self.signals.iter().any(again) {
            return;
        }
        self.signals.push((signal, now));
        if CANCEL.contains(&signal) && self.ending.is_none() {
            self.ending = Some(Ending::cancel(signal, self.job, self.grace));
        } else {
            pass_on(signal, self.job);
            // Somebody has lost patience.
            let again = self.ending.iter_mut().filter(|_| CANCEL.contains(&signal));
            again.for_each(Ending::hurry);
        }
    }

    fn reap(&mut self) {
        while let Some(reaped) = unix::reap() {
            if reaped.pid == self.job.as_raw_nonzero().get() {
                self.job_changed(reaped);
            }
        }
    }

    fn job_changed(&mut self, reaped: Reaped) {
        let ended = match reaped.change {
            ChildChange::Stopped(signal) => return self.job_stopped(signal),
            // Keys reach the job directly: whoever pressed Ctrl-C wanted the run to end.
            ChildChange::Signaled(signal @ (libc::SIGINT | libc::SIGQUIT)) if self.terminal.is_some() => {
                Ended::Cancelled { signal, own: None }
            }
            ChildChange::Signaled(signal) => Ended::Signaled(signal),
            ChildChange::Exited(code) => Ended::Exited(code),
        };
        self.feed.iter_mut().for_each(Feed::end);
        self.peak_kib = reaped.peak_kib;
        self.ending.iter_mut().for_each(|ending| ending.job_ended(&ended));
        self.ended = Some(ended);
        self.begin_drain();
    }

    fn job_stopped(&mut self, signal: i32) {
        match (&mut self.pty, &self.terminal) {
            (Some(pty), Some(terminal)) => self.stop_program = pty.job_stopped(terminal, self.job, signal),
            _ => terminal::job_stopped(&mut self.terminal, self.job, signal),
        }
        if signal == libc::SIGTTIN || signal == libc::SIGTTOU {
            self.watch.at_once();
        }
    }

    fn begin_drain(&mut self) {
        let now = Instant::now();
        let must = self.streams.each_ref().map(|stream| stream.total() + stream.waiting());
        self.drain = Some(Drain { ended_at: now, until: now + DRAIN, must });
    }

    fn turn_streams(&mut self) {
        let before = self.total();
        self.move_streams();
        if self.total() > before {
            self.heard = Instant::now();
            self.watch.alive(self.heard);
        }
    }

    fn total(&self) -> u64 {
        self.streams.iter().map(Stream::total).sum()
    }

    fn move_streams(&mut self) {
        let [stdout, stderr] = &mut self.streams;
        for (name, side, stream) in [("output", Side::Out, stdout), ("error", Side::Err, stderr)] {
            let emptied = stream.spool_emptied();
            let trouble = stream.turn(side, &mut self.log);
            let full = !emptied && stream.spool_emptied();
            note(&mut self.notes, name, trouble, full);
        }
    }

    fn check_limits(&mut self, now: Instant) {
        if self.ended.is_some() || self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        if let Some(ending) = &mut self.ending {
            if ending.is_patient() {
                ending.ask_all();
            }
        } else {
            let silent = now.saturating_duration_since(self.heard).as_millis();
            self.at_deadline = Some(Box::new(moment::look(u64::try_from(silent).unwrap_or(u64::MAX))));
            self.ending = Some(Ending::deadline(self.deadline_ms, self.grace));
        }
    }

    fn is_over(&mut self, now: Instant) -> bool {
        let read = |streams: &[Stream; 2]| streams.iter().all(Stream::is_finished);
        if let Some(ending) = &mut self.ending {
            if self.last_call.is_none() && !ending.turn(now) {
                return false;
            }
            // Nobody writes any more: a short time for a slow reader, then what is left is lost.
            return now >= *self.last_call.get_or_insert(now + DRAIN) || read(&self.streams);
        }
        let Some(drain) = &self.drain else { return false };
        for (stream, must) in self.streams.iter_mut().zip(drain.must) {
            if now >= drain.until && stream.total() >= must {
                stream.pause();
            }
        }
        self.deadline.is_some_and(|deadline| now >= deadline) || read(&self.streams)
    }

    fn into_end(self, order: &Order, began: Began) -> (End, Vec<OwnedFd>) {
        let now = Instant::now();
        let ended_at = self.drain.as_ref().map_or(now, |drain| drain.ended_at);
        let (ended, until) = match (self.ending, self.ended) {
            (Some(ending), _) => (ending.ended, now),
            (None, Some(ended)) => (ended, ended_at),
            (None, None) => (Ended::NotStarted { reason: "the supervisor lost sight of it".to_owned() }, now),
        };
        let mut run = began.run(order, ended, until);
        run.at_deadline = self.at_deadline;
        run.peak_kib = (self.peak_kib > 0).then_some(self.peak_kib);
        run.left_running = if tree::is_empty() { Vec::new() } else { tree::left_running() };
        let spool_emptied = self.streams.iter().any(Stream::spool_emptied);
        let [stdout, stderr] = self.streams;
        let output_lost = stdout.is_lost();
        let (out_source, stdout) = stdout.into_source();
        let (err_source, stderr) = stderr.into_source();
        (run.stdout, run.stderr) = (stdout, stderr);
        let sources: Vec<OwnedFd> = [out_source, err_source].into_iter().flatten().collect();
        let stays = !sources.is_empty() && !run.left_running.is_empty();
        let signals = self.signals.iter().map(|(signal, _)| *signal).collect();
        let input_whole = self.feed.as_ref().is_none_or(Feed::is_whole);
        let end = End { spool_emptied, output_lost, input_whole, stays, signals, ..End::of(run, self.notes) };
        (end, sources)
    }
}

/// Notes what went wrong with a stream, as far as people should know. A reader that went away is an everyday thing.
fn note(notes: &mut Vec<String>, name: &str, trouble: Trouble, spool_full: bool) {
    if let Some(error) = trouble.log {
        notes.push(format!("the log is not written to its end: {}", find::reason(&error)));
    }
    match trouble.sink {
        Some(error) if spool_full => notes.push(format!(
            "standard {name} could not be kept back and was passed on at once: {}",
            find::reason(&error)
        )),
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            notes.push(format!("standard {name} could not be passed on: {}", find::reason(&error)));
        }
        _ => {}
    }
}

/// Reads, for processes that were left running, what nobody wants, until they close it or we are told to stop. Nothing of
/// the caller's is held: a reader of our output sees its end.
fn stay(link: Link, mut sources: Vec<OwnedFd>) {
    let Link { news, signals, held, .. } = link;
    drop((news, held));
    let _ = rustix::process::setsid();
    if detach().is_err() {
        return;
    }
    let mut sink = vec![0; 64 << 10];
    while !sources.is_empty() {
        let mut fds = vec![PollFd::new(&signals, PollFlags::IN)];
        fds.extend(sources.iter().map(|source| PollFd::new(source, PollFlags::IN)));
        let _ = poll(&mut fds, None);
        while let Some(signal) = unix::next_signal(&signals) {
            match signal {
                libc::SIGCHLD => while unix::reap().is_some() {},
                _ => return,
            }
        }
        sources.retain(|source| {
            let read = rustix::io::read(source, sink.as_mut_slice());
            read.is_ok_and(|count| count > 0) || matches!(read, Err(Errno::AGAIN | Errno::INTR))
        });
    }
}

fn detach() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}
