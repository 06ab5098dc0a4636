//! Job control: who is in the foreground of the terminal.
//!
//! Theory of operation: the job has a process group of its own. When standard input is a terminal and our own group is in
//! its foreground, the job's group gets the foreground before it starts, so that keys (Ctrl-C, Ctrl-Z) reach the job alone,
//! and we take it back when the job stops or ends. A job without a terminal at standard input that opens one by itself
//! (`ssh` asking for a password) is stopped by the system; it is handed the foreground then and continued.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, getpgrp, kill_process_group};
use rustix::termios::{isatty, tcgetpgrp, tcsetpgrp};

use crate::unix;

/// The terminal that a job was started from.
pub(crate) struct Terminal {
    /// `None` is standard input.
    opened: Option<OwnedFd>,
}

impl Terminal {
    /// The terminal at standard input, when we are in its foreground.
    pub(crate) fn at_stdin() -> Option<Self> {
        let terminal = Self { opened: None };
        (isatty(terminal.fd()) && terminal.ours()).then_some(terminal)
    }

    /// A terminal that was opened; our own session's.
    pub(super) fn opened(terminal: OwnedFd) -> Self {
        Self { opened: Some(terminal) }
    }

    /// The terminal of the session, when we are in its foreground.
    fn of_session() -> Option<Self> {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::open("/dev/tty", flags, Mode::empty()).ok()?;
        let terminal = Self { opened: Some(opened) };
        terminal.ours().then_some(terminal)
    }

    /// Its descriptor.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.opened.as_ref().map_or(unix::standard(0), AsFd::as_fd)
    }

    fn ours(&self) -> bool {
        tcgetpgrp(self.fd()).is_ok_and(|group| group == getpgrp())
    }

    /// Puts a group into its foreground.
    pub(super) fn give_to(&self, group: Pid) {
        // SIGTTOU is blocked in the supervisor, so this works from the background too.
        let _ = tcsetpgrp(self.fd(), group);
    }

    /// Takes the foreground back from a job that could not be started.
    pub(crate) fn reclaim(&self) {
        self.give_to(getpgrp());
    }

    /// Takes the foreground back from a job that stopped or ended.
    pub(crate) fn take_back(&self, job: Pid) {
        if tcgetpgrp(self.fd()).is_ok_and(|group| group == job) {
            self.give_to(getpgrp());
        }
    }
}

/// A job was stopped by a signal: does what a shell expects, and continues the job when that is due.
pub(crate) fn job_stopped(terminal: &mut Option<Terminal>, job: Pid, signal: i32) {
    let wants_terminal = signal == libc::SIGTTIN || signal == libc::SIGTTOU;
    if wants_terminal && terminal.is_none() {
        *terminal = Terminal::of_session();
    }
    let Some(terminal) = terminal else { return };
    if !(wants_terminal && terminal.ours()) {
        // SIGSTOP was not meant for us: whoever sent it continues the job.
        if signal == libc::SIGSTOP {
            return;
        }
        terminal.take_back(job);
        unix::suspend(true);
    }
    if terminal.ours() {
        terminal.give_to(job);
    }
    let _ = kill_process_group(job, Signal::CONT);
}
