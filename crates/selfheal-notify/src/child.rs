//! Runs a child process for a limited time and keeps the beginning of what it complains about.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// Bytes kept of standard error.
const KEPT: usize = 2 << 10;
/// Characters of it that are told.
const TOLD: usize = 300;
/// Between two looks at the child.
const PAUSE: Duration = Duration::from_millis(10);
/// How long to wait for the end of standard error after the child's: something that it started may hold it open.
const DRAIN: Duration = Duration::from_millis(200);

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It took too long.
    Killed,
}

/// Runs a command whose standard error is piped; tells how it ended and what it said.
pub(crate) fn run(command: &mut Command, limit: Duration) -> io::Result<(Ended, String)> {
    // A group of its own, so that what it starts can be ended with it.
    let mut child = command.process_group(0).spawn()?;
    let complaint = child.stderr.take().map(Complaint::listen);
    let ended = match wait(&mut child, limit)? {
        Some(status) => ended(status),
        None => {
            kill(&mut child)?;
            Ended::Killed
        }
    };
    Ok((ended, complaint.map(Complaint::told).unwrap_or_default()))
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    }
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            None if start.elapsed() < limit => std::thread::sleep(PAUSE),
            status => return Ok(status),
        }
    }
}

/// Ends the child and what it started. It is not reaped yet, so its number still is its own.
fn kill(child: &mut Child) -> io::Result<()> {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        rustix::process::kill_process_group(group, Signal::KILL)?;
    }
    // One that hangs in the kernel cannot be waited for; its end is then left to the system.
    wait(child, Duration::from_secs(1)).map(|_| ())
}

/// The beginning of what a child writes to standard error, kept by a thread that reads on to its end.
struct Complaint {
    kept: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

impl Complaint {
    fn listen(mut stderr: ChildStderr) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (tell, ended) = mpsc::channel();
        let shared = Arc::clone(&kept);
        std::thread::spawn(move || {
            let mut buffer = [0; 1 << 12];
            while let Ok(length @ 1..) = stderr.read(&mut buffer) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let room = KEPT.saturating_sub(kept.len()).min(length);
                kept.extend_from_slice(buffer.get(..room).unwrap_or(&[]));
            }
            // Nobody may be listening any more.
            let _ = tell.send(());
        });
        Self { kept, ended }
    }

    /// The first line that says something, ready to follow another text.
    fn told(self) -> String {
        let _ = self.ended.recv_timeout(DRAIN);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        first_line(&kept)
    }
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let Some(line) = line else {
        return String::new();
    };
    // A terminal must not obey what a program says.
    let clean = line.chars().filter(|letter| !letter.is_control()).take(TOLD);
    std::iter::once(": ".to_owned()).chain(clean.map(String::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_told_without_control_characters() {
        assert_eq!(first_line(b""), "");
        assert_eq!(first_line(b"\n  \n"), "");
        assert_eq!(first_line(b"\n \x1b[31mno route\x07\nmore\n"), ": [31mno route");
        assert_eq!(first_line(&[b'x'; 2_000]).len(), TOLD + 2);
        assert_eq!(first_line(b"\xff"), ": \u{fffd}");
    }
}
