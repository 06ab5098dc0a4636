//! What the tests share.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selfheal_core::ids::RunId;
use selfheal_core::ports::{Executor, Order, Passing};
use selfheal_core::run::Run;
use selfheal_exec::Supervisor;

/// The program that plays selfheal.
pub const HELPER: &str = env!("CARGO_BIN_EXE_exec-helper");

/// A supervisor of the helper program.
pub fn supervisor() -> Supervisor {
    Supervisor::new(HELPER)
}

/// An order for a command in a folder. Its standard output is kept back, so that it is not in the way of the tests' own.
pub fn order(cwd: &Path, argv: &[&str]) -> Order {
    Order {
        id: RunId::new("00000000-0000-7000-8000-000000000001"),
        argv: argv.iter().map(OsString::from).collect(),
        cwd: cwd.to_owned(),
        env: BTreeMap::new(),
        deadline_ms: 300_000,
        grace_ms: 60_000,
        stdout: Passing::Spool,
        keep: 4096,
        log: None,
    }
}

/// An order for a shell line.
pub fn shell(cwd: &Path, line: &str) -> Order {
    order(cwd, &["sh", "-c", line])
}

/// Runs an order that can be supervised.
pub fn run(order: &Order) -> Run {
    supervisor().run(order).unwrap()
}

/// A folder that is removed at the end of a test.
pub fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

/// Waits until something is there, for a time that no healthy machine needs.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < Duration::from_secs(120), "{what} did not come");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// The process number in a file that a job writes.
pub fn pid_in(file: &Path) -> u32 {
    wait_for("the process number", || std::fs::read_to_string(file).ok()?.trim().parse().ok())
}

/// Whether a process does anything any more.
pub fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

/// The program, told to run a command in a folder: `result` says what came of it.
pub struct Program {
    command: std::process::Command,
    cwd: PathBuf,
}

impl Program {
    /// The program with a deadline and a grace in milliseconds.
    pub fn new(cwd: &Path, deadline: u32, grace: u32, argv: &[&str]) -> Self {
        let mut command = std::process::Command::new(HELPER);
        Self::fill(&mut command, cwd, [deadline, grace], "run", argv);
        Self { command, cwd: cwd.to_owned() }
    }

    /// The same, started by other words.
    pub fn below(words: &[&str], cwd: &Path, argv: &[&str]) -> Self {
        Self::below_as("run", words, cwd, argv)
    }

    /// The same, with `bare` for `run`.
    pub fn below_as(word: &str, words: &[&str], cwd: &Path, argv: &[&str]) -> Self {
        let mut command = std::process::Command::new(words.first().unwrap());
        command.args(words.get(1..).unwrap()).arg(HELPER);
        Self::fill(&mut command, cwd, [300_000, 60_000], word, argv);
        Self { command, cwd: cwd.to_owned() }
    }

    /// Another program in the same folder.
    pub fn other(words: &[&str], cwd: &Path) -> Self {
        let mut command = std::process::Command::new(words.first().unwrap());
        command.args(words.get(1..).unwrap()).current_dir(cwd);
        Self { command, cwd: cwd.to_owned() }
    }

    fn fill(command: &mut std::process::Command, cwd: &Path, times: [u32; 2], word: &str, argv: &[&str]) {
        command.arg(word).arg(cwd.join("result")).args(times.map(|time| time.to_string()));
        command.args(argv).current_dir(cwd);
    }

    /// How it is started.
    pub fn command(&mut self) -> &mut std::process::Command {
        &mut self.command
    }

    /// Starts it.
    pub fn start(&mut self) -> std::process::Child {
        self.command.spawn().unwrap()
    }

    /// The run that it made.
    pub fn result(&self) -> Run {
        serde_json::from_slice(&std::fs::read(self.cwd.join("result")).unwrap()).unwrap()
    }
}

/// Sends a signal by name.
pub fn kill(signal: &str, pid: u32) {
    let status = std::process::Command::new("kill").arg(format!("-{signal}")).arg(pid.to_string()).status();
    assert!(status.unwrap().success());
}
