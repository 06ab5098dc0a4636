//! A throw-away folder as the machine, and jobs in it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use selfheal_core::fault::Fault;
use selfheal_core::ids::{JobKey, Signature};
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::outcome::Class;
use selfheal_core::report::{Confidence, Location, Report};
use selfheal_core::scene::{Kind, PathFacts, Scene};
use selfheal_repair::{Candidate, Case, Options, ScriptFile, candidates};

/// The real files of a folder.
pub struct Files(pub PathBuf);

impl Scene for Files {
    fn cwd(&self) -> &Path {
        &self.0
    }

    fn facts(&self, path: &Path) -> Option<PathFacts> {
        let data = fs::metadata(self.0.join(path)).ok()?;
        let kind = if data.is_dir() { Kind::Directory } else { Kind::File };
        let modified = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_millis() as i64;
        let mode = data.permissions().mode() & 0o7777;
        Some(PathFacts { kind, len: data.len(), mode, uid: 0, gid: 0, modified_ms: modified })
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        let mut bytes = fs::read(self.0.join(path)).ok()?;
        bytes.truncate(limit);
        Some(bytes)
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn which(&self, command: &str) -> Vec<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .map(|folder| folder.join(command))
            .filter(|place| place.is_file())
            .collect()
    }

    fn var(&self, _name: &str) -> Option<String> {
        None
    }

    fn process_lives(&self, _pid: u32) -> bool {
        false
    }

    fn missing_mount(&self, _path: &Path) -> bool {
        false
    }

    fn ask(&self, _argv: &[&str]) -> Option<String> {
        None
    }
}

/// A job in a folder of its own.
pub struct TestJob {
    folder: tempfile::TempDir,
    argv: Vec<String>,
}

impl TestJob {
    pub fn new(script: &str, text: &str, argv: &[&str]) -> Self {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        let job = Self { folder: tempfile::tempdir().unwrap(), argv };
        job.write(script, text);
        job
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    pub fn folder(&self, name: &str) {
        fs::create_dir_all(self.path(name)).unwrap();
    }

    pub fn remove(&self, name: &str) {
        let _ = fs::remove_dir_all(self.path(name)).or_else(|_| fs::remove_file(self.path(name)));
    }

    /// Runs the job: its exit code and what it printed.
    pub fn run(&self) -> (i32, String) {
        let (program, rest) = self.argv.split_first().unwrap();
        let output = Command::new(program).args(rest).current_dir(self.folder.path()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
    }

    /// Proposes for a fault at a line of the script, and puts the best proposal in place.
    pub fn heal(&self, script: &str, line: u32, fault: Fault) -> Candidate {
        let argv: Vec<OsString> = self.argv.iter().map(OsString::from).collect();
        let path = self.path(script);
        let file = ScriptFile::new(path.clone(), fs::read_to_string(&path).unwrap(), 0o644);
        let job = Job {
            key: JobKey::new("test"),
            argv: argv.clone(),
            cwd: self.folder.path().to_path_buf(),
            script: Some(path.clone()),
            repeatable: Repeatable::Unstated,
        };
        let report = report(fault, path, line);
        let scene = Files(self.folder.path().to_path_buf());
        let case =
            Case { job: &job, argv: &argv, report: &report, script: Some(&file), trace: None, scene: &scene };
        let best = candidates(&case, &Options::default()).into_iter().next().expect("a candidate");
        for change in &best.proposal.changes {
            fs::write(&change.path, change.after.as_deref().unwrap()).unwrap();
            if let Some(mode) = change.mode {
                fs::set_permissions(&change.path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
        best
    }
}

/// A report that knows one fault and a line.
pub fn report(fault: Fault, file: PathBuf, line: u32) -> Report {
    Report {
        status: "exit code 1".to_owned(),
        class: Class::Unknown,
        core_error: String::new(),
        faults: vec![fault],
        location: Some(Location { file, line, column: None, function: None, remote: None }),
        command: None,
        snippet: Vec::new(),
        causes: Vec::new(),
        context: Vec::new(),
        confidence: Confidence::Medium,
        signature: Signature::new("test"),
    }
}
