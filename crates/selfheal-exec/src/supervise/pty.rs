//! A terminal of its own for a job whose standard input and output are a terminal.
//!
//! Theory of operation: the supervisor leads a session of its own, whose terminal is a new one; so it is the parent that
//! job control asks for, and Ctrl-C, Ctrl-Z and `fg` act on the job as they would without us. The user's terminal is raw
//! meanwhile: keys go to the job's terminal, which gives them their meaning, and what the job writes comes back as a
//! terminal would show it. Standard error, where it is a terminal too, has one more, so that the two can be told apart.
//! The user's terminal is put back whenever the job stops or ends, and by the program when the supervisor is killed.
//!
//! Only the program is a member of the user's session. It passes on that the window changed (WINCH) and that it was
//! continued (CONT); whether it is in the foreground then, `/proc` tells.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getppid, kill_process_group};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};

use super::feed::readable;
use super::terminal::Terminal;
use crate::process::Stat;
use crate::unix;

/// Keys that are passed on at once.
const KEYS: usize = 4096;

/// The terminals of a job.
pub(crate) struct Pty {
    /// Our end of the one that is its standard input and output.
    main: OwnedFd,
    /// Our end of the one that is its standard error.
    errors: Option<OwnedFd>,
    /// How the user's terminal was.
    before: Termios,
    /// The program.
    program: u32,
    /// Keys that the job's terminal has not taken yet.
    keys: Vec<u8>,
    /// The user's terminal is ours: it is raw, and keys are read from it.
    ours: bool,
}

/// The job's ends, and ours of what it writes to.
pub(crate) struct Ends {
    /// Its standard input and output.
    pub main: OwnedFd,
    /// Its standard error, where that is a terminal.
    pub errors: Option<OwnedFd>,
    /// Where its standard output is read.
    pub from_main: OwnedFd,
    /// Where its standard error is read.
    pub from_errors: Option<OwnedFd>,
}

impl Pty {
    /// A terminal for the job, when standard input and output are one and we are in its foreground. The job's group gets
    /// its foreground by the terminal that is returned.
    pub(crate) fn open(outer: &Terminal) -> Option<(Self, Ends, Terminal)> {
        if !isatty(unix::standard(1)) {
            return None;
        }
        let before = tcgetattr(outer.fd()).ok()?;
        let (main, line) = pair(&before)?;
        let errors = isatty(unix::standard(2)).then(|| pair(&before)).flatten();
        let (errors, error_line) = errors.unzip();
        let ends = Ends {
            from_main: copy(&main)?,
            from_errors: errors.as_ref().map(copy).unwrap_or_default(),
            main: line,
            errors: error_line,
        };
        let terminal = Terminal::opened(copy(&main)?);
        let program = getppid()?.as_raw_nonzero().get().unsigned_abs();
        rustix::process::setsid().ok()?;
        rustix::process::ioctl_tiocsctty(&ends.main).ok()?;
        let mut pty = Self { main, errors, before, program, keys: Vec::new(), ours: false };
        pty.resize();
        pty.enter();
        Some((pty, ends, terminal))
    }

    /// Makes the user's terminal raw.
    fn enter(&mut self) {
        let mut raw = self.before.clone();
        raw.make_raw();
        self.ours = tcsetattr(unix::standard(0), OptionalActions::Drain, &raw).is_ok();
    }

    /// Puts the user's terminal back.
    pub(crate) fn leave(&mut self) {
        if std::mem::take(&mut self.ours) {
            let _ = tcsetattr(unix::standard(0), OptionalActions::Now, &self.before);
        }
    }

    /// The job's terminals get the size of the user's.
    pub(crate) fn resize(&self) {
        let Ok(size) = tcgetwinsize(unix::standard(1)) else { return };
        for terminal in std::iter::once(&self.main).chain(&self.errors) {
            let _ = tcsetwinsize(terminal, size);
        }
    }

    /// The job was stopped. Whether the program is to stop as well.
    pub(crate) fn job_stopped(&mut self, terminal: &Terminal, job: Pid, signal: i32) -> bool {
        // SIGSTOP was not meant for us: whoever sent it continues the job.
        if signal == libc::SIGSTOP {
            return false;
        }
        let wants_terminal = signal == libc::SIGTTIN || signal == libc::SIGTTOU;
        if wants_terminal && self.ours {
            terminal.give_to(job);
            let _ = kill_process_group(job, Signal::CONT);
            return false;
        }
        self.leave();
        terminal.take_back(job);
        true
    }

    /// The program was continued, by `fg` or `bg`.
    pub(crate) fn program_continued(&mut self, terminal: &Terminal, job: Pid) {
        let foreground = Stat::of(self.program).is_some_and(|stat| stat.is_foreground());
        if foreground && !self.ours {
            self.resize();
            self.enter();
        }
        if self.ours {
            terminal.give_to(job);
        }
        let _ = kill_process_group(job, Signal::CONT);
    }

    /// What to wait for: that the job's terminal takes keys, or that there are some.
    pub(crate) fn wait_for(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if !self.keys.is_empty() {
            return Some((self.main.as_fd(), PollFlags::OUT));
        }
        self.ours.then(|| (unix::standard(0), PollFlags::IN))
    }

    /// Passes keys on; whether somebody typed.
    pub(crate) fn turn(&mut self) -> bool {
        let before = self.keys.len();
        self.read_keys();
        let typed = self.keys.len() > before;
        self.pass_keys();
        typed
    }

    fn read_keys(&mut self) {
        if self.keys.is_empty() && self.ours && readable(unix::standard(0)) {
            let mut keys = [0; KEYS];
            match rustix::io::read(unix::standard(0), &mut keys) {
                Ok(count) if count > 0 => self.keys.extend_from_slice(keys.get(..count).unwrap_or_default()),
                Err(Errno::INTR | Errno::AGAIN) => {}
                // The terminal is gone, and nobody types any more.
                _ => self.ours = false,
            }
        }
    }

    fn pass_keys(&mut self) {
        if self.keys.is_empty() {
            return;
        }
        match rustix::io::write(&self.main, &self.keys) {
            Ok(count) => drop(self.keys.drain(..count.min(self.keys.len()))),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.keys.clear(),
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Our end of a new terminal that is set as another one, and the job's.
fn pair(like: &Termios) -> Option<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags).ok()?;
    unlockpt(&ours).ok()?;
    let line = ioctl_tiocgptpeer(&ours, flags).ok()?;
    tcsetattr(&line, OptionalActions::Now, like).ok()?;
    rustix::io::ioctl_fionbio(&ours, true).ok()?;
    Some((ours, line))
}

fn copy(fd: &OwnedFd) -> Option<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(fd, 3).ok()
}

/// Takes back what a terminal does to the ends of lines: what is kept and logged is what the job wrote.
#[derive(Debug, Default)]
pub(crate) struct Unfold {
    /// A carriage return came last.
    pending: bool,
}

impl Unfold {
    /// The next bytes, without the carriage returns that the terminal put in front of line ends.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() + 1);
        for byte in bytes {
            if std::mem::take(&mut self.pending) && *byte != b'\n' {
                out.push(b'\r');
            }
            match byte {
                b'\r' => self.pending = true,
                byte => out.push(*byte),
            }
        }
        out
    }

    /// What is still held back at the end.
    pub(crate) fn end(&mut self) -> &'static [u8] {
        if std::mem::take(&mut self.pending) { b"\r" } else { b"" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_returns_before_line_ends_are_taken_out_however_the_pieces_fall() {
        let shown = b"one\r\n10%\r20%\r\r\nlast\r";
        for size in 1..=shown.len() {
            let mut unfold = Unfold::default();
            let mut kept: Vec<u8> = shown.chunks(size).flat_map(|piece| unfold.next(piece)).collect();
            kept.extend_from_slice(unfold.end());
            assert_eq!(kept, b"one\n10%\r20%\r\nlast\r", "pieces of {size}");
        }
    }
}
