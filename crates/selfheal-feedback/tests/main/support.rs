//! Runs, jobs and machines for the tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use selfheal_core::ids::{JobKey, RunId, Timestamp};
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::report::Report;
use selfheal_core::run::{Capture, Ended, Run};
use selfheal_core::scene::{Kind, PathFacts, Scene};
use selfheal_feedback::report::{ReportInput, report};

/// A capture of a whole text.
pub fn capture(bytes: &[u8]) -> Capture {
    Capture { head: bytes.to_vec(), tail: Vec::new(), total: bytes.len() as u64 }
}

/// A run that ended with a code.
pub fn run(code: i32, stdout: &[u8], stderr: &[u8]) -> Run {
    Run {
        id: RunId::new("test"),
        started: Timestamp(0),
        duration_ms: 1,
        ended: Ended::Exited(code),
        stdout: capture(stdout),
        stderr: capture(stderr),
        peak_kib: None,
        left_running: Vec::new(),
        at_deadline: None,
    }
}

/// A job with a command line, its words separated by blanks.
pub fn job(line: &str, cwd: &Path) -> Job {
    Job {
        key: JobKey::new("test"),
        argv: line.split(' ').map(OsString::from).collect(),
        cwd: cwd.to_path_buf(),
        script: None,
        repeatable: Repeatable::Unstated,
    }
}

/// Runs a command in a folder, in the C locale.
pub fn really_run(argv: &[OsString], folder: &Path) -> Run {
    let (program, arguments) = argv.split_first().unwrap();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    run(output.status.code().unwrap(), &output.stdout, &output.stderr)
}

/// The report on a run of a script in a folder of this machine.
pub fn report_on(job: &Job, run: &Run, script: Option<(&Path, &str)>) -> Report {
    let scene = RealScene(job.cwd.clone());
    report(&ReportInput {
        job,
        argv: &job.argv,
        run,
        script,
        trace: None,
        scene: &scene,
        stdin: None,
        profiles: None,
    })
}

/// This machine, with a PATH of the usual folders, where only this process lives. Modes and owners are made up, so that
/// they are the same for every user.
pub struct RealScene(pub PathBuf);

impl Scene for RealScene {
    fn cwd(&self) -> &Path {
        &self.0
    }

    fn facts(&self, path: &Path) -> Option<PathFacts> {
        let meta = std::fs::metadata(self.0.join(path)).ok()?;
        let kind = if meta.is_dir() { Kind::Directory } else { Kind::File };
        Some(PathFacts { kind, len: meta.len(), mode: 0o644, uid: 1_000, gid: 1_000, modified_ms: 0 })
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        let mut bytes = std::fs::read(self.0.join(path)).ok()?;
        bytes.truncate(limit);
        Some(bytes)
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.0.join(folder)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn which(&self, command: &str) -> Vec<PathBuf> {
        let places = ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(command));
        places.filter(|path| path.is_file()).collect()
    }

    fn var(&self, _name: &str) -> Option<String> {
        None
    }

    fn process_lives(&self, pid: u32) -> bool {
        pid == std::process::id()
    }

    fn missing_mount(&self, _path: &Path) -> bool {
        false
    }

    fn ask(&self, _argv: &[&str]) -> Option<String> {
        None
    }
}
