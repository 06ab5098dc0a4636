//! One execution of a command, with all that was captured of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::ids::{RunId, Timestamp};

/// One execution of a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Its identity.
    pub id: RunId,
    /// When the command was started.
    pub started: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// How it ended.
    pub ended: Ended,
    /// What it wrote to standard output.
    pub stdout: Capture,
    /// What it wrote to standard error.
    pub stderr: Capture,
    /// The largest resident set of a process of the run, in KiB, where the kernel told it.
    pub peak_kib: Option<u64>,
    /// Processes that the job left running on purpose after a normal end.
    pub left_running: Vec<LeftProcess>,
    /// What was going on when its deadline hit, if it did.
    #[serde(default)]
    pub at_deadline: Option<Box<Moment>>,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It returned this exit code.
    Exited(i32),
    /// It was ended by this signal.
    Signaled(i32),
    /// Its deadline hit and selfheal ended it.
    TimedOut {
        /// The deadline, in milliseconds.
        after_ms: u64,
    },
    /// selfheal was told to stop (TERM, INT, HUP) and passed it on.
    Cancelled {
        /// The signal that selfheal received.
        signal: i32,
        /// The exit code with which the job itself answered it; `None` when a signal ended the job.
        #[serde(default)]
        own: Option<i32>,
    },
    /// The command was not found.
    NotFound,
    /// The command was found, but what its first line names to run it is not there.
    InterpreterMissing {
        /// The interpreter, as the first line names it.
        interpreter: String,
    },
    /// The command was found but cannot be executed.
    NotExecutable {
        /// The system's word for why.
        reason: String,
    },
    /// selfheal could not start it for another reason (unreadable cwd, no processes left).
    NotStarted {
        /// The system's word for why.
        reason: String,
    },
}

impl Ended {
    /// Whether a process of the command began at all.
    #[must_use]
    pub fn began(&self) -> bool {
        match self {
            Self::Exited(_) | Self::Signaled(_) | Self::TimedOut { .. } | Self::Cancelled { .. } => true,
            Self::NotStarted { .. }
            | Self::NotExecutable { .. }
            | Self::NotFound
            | Self::InterpreterMissing { .. } => false,
        }
    }

    /// The exit code by the conventions of `env` and `timeout`: 124 deadline, 125 not started, 126 not executable,
    /// 127 the command or its interpreter not found, 128+n for a signal.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Self::Exited(code) => *code,
            Self::Cancelled { own: Some(code), .. } => *code,
            Self::Signaled(signal) | Self::Cancelled { signal, .. } => 128 + signal,
            Self::TimedOut { .. } => 124,
            Self::NotStarted { .. } => 125,
            Self::NotExecutable { .. } => 126,
            Self::NotFound | Self::InterpreterMissing { .. } => 127,
        }
    }
}

/// The bounded memory of one stream: its beginning and its end, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes, empty while everything fits into `head`. Does not overlap `head`.
    pub tail: Vec<u8>,
    /// How many bytes the stream had in all.
    pub total: u64,
}

impl Capture {
    /// The text that was kept, lossy where it is not UTF-8, with a line that says what was left out.
    #[must_use]
    pub fn text(&self) -> String {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.total > kept {
            text.push_str(&format!("\n[… {} bytes left out …]\n", self.total - kept));
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }

    /// The last `count` characters of the text.
    #[must_use]
    pub fn last_chars(&self, count: usize) -> String {
        let text = self.text();
        let skip = text.chars().count().saturating_sub(count);
        text.chars().skip(skip).collect()
    }
}

/// A process that outlived its job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftProcess {
    /// Its process number.
    pub pid: u32,
    /// Its command line, words joined by blanks, lossy.
    pub command: String,
}

/// What was going on in a job's process tree at one moment. Bounded; not redacted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// The processes, parents before their children.
    pub processes: Vec<SeenProcess>,
    /// How many processes there were besides.
    pub more: u64,
    /// How long the job had written nothing, in milliseconds.
    pub silent_ms: u64,
}

impl Moment {
    /// The process that waited for a terminal, if one did.
    #[must_use]
    pub fn waits_for_terminal(&self) -> Option<&SeenProcess> {
        self.processes.iter().find(|process| process.waits_for_terminal())
    }
}

/// What a job that has written nothing for a while is doing. Bounded; not redacted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idle {
    /// What is going on.
    pub moment: Moment,
    /// The last that it wrote to standard output.
    pub stdout: Vec<u8>,
    /// The last that it wrote to standard error.
    pub stderr: Vec<u8>,
}

/// A process as it was seen at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenProcess {
    /// Its process number.
    pub pid: u32,
    /// The number of its parent.
    pub parent: u32,
    /// Its command line, words joined by blanks, lossy.
    pub command: String,
    /// Whether a signal had stopped it.
    pub stopped: bool,
    /// What it waited for, where the system tells.
    pub waits: Option<Waiting>,
    /// The files and devices that it had open, each once, `/dev/null` left out.
    pub files: Vec<PathBuf>,
}

impl SeenProcess {
    /// Whether it waited for somebody to type: it read from a terminal, or the system had stopped it because it wanted to.
    #[must_use]
    pub fn waits_for_terminal(&self) -> bool {
        let reads = self.waits.as_ref().is_some_and(|waits| waits.act == Act::Read && is_terminal(&waits.on));
        reads || (self.stopped && self.files.iter().any(|file| is_terminal(file)))
    }
}

fn is_terminal(path: &Path) -> bool {
    path.starts_with("/dev/pts") || path.to_str().is_some_and(|path| path.starts_with("/dev/tty"))
}

/// What a process was waiting for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// What it was about to do.
    pub act: Act,
    /// On what: a path, or the system's name for what has none (`socket:[4711]`).
    pub on: PathBuf,
}

/// What a process can wait to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Lock.
    Lock,
    /// Connect to a server.
    Connect,
}

impl Act {
    /// As a verb.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Lock => "lock",
            Self::Connect => "connect",
        }
    }
}

/// What is known about where a run took place. [`crate::facts::RecordedFacts`] is what is kept of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The program that runs the job's script, or the job itself.
    pub program: Option<Program>,
    /// The folder.
    pub cwd: PathBuf,
    /// The user's number.
    pub uid: u32,
    /// The file mode creation mask.
    pub umask: u32,
    /// Whether standard output was a terminal.
    pub tty: bool,
    /// The limits of the process by name: soft and hard.
    pub limits: BTreeMap<String, String>,
    /// The environment that the job got. Not redacted: redact before storing.
    pub env: BTreeMap<String, String>,
}

/// The program that runs a job's script: an interpreter, or the command itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its name: `python3`.
    pub name: String,
    /// The file behind the name, links resolved, where it was found.
    pub path: Option<PathBuf>,
    /// Its inode.
    pub inode: u64,
    /// When it was changed last, in seconds since 1970.
    pub modified_s: i64,
    /// What it says of its version, where it was ever asked.
    #[serde(default)]
    pub version: Option<String>,
}
