//! A machine in memory, and short ways to make cases of it, for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::ids::{JobKey, Signature};
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::outcome::Class;
use selfheal_core::report::{Confidence, Location, Report};
use selfheal_core::scene::{Kind, PathFacts, Scene, absolute};
use selfheal_core::trace::Trace;

use crate::candidate::Candidate;
use crate::case::{Case, ScriptFile};
use crate::rules::Rule;

/// A machine in memory: files and folders below `/srv/job`, commands, variables.
#[derive(Default)]
pub(crate) struct TestScene {
    files: BTreeMap<PathBuf, (Vec<u8>, u32)>,
    folders: BTreeSet<PathBuf>,
    commands: BTreeMap<String, Vec<PathBuf>>,
    vars: BTreeMap<String, String>,
    living: BTreeSet<u32>,
    unmounted: BTreeSet<PathBuf>,
    answers: BTreeMap<String, String>,
    cwd: PathBuf,
}

/// The folder of all jobs in tests.
pub(crate) const HOME: &str = "/srv/job";

impl TestScene {
    pub(crate) fn new() -> Self {
        Self { cwd: PathBuf::from(HOME), ..Self::default() }.folder(HOME)
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        self.raw(path, text.as_bytes(), 0o644)
    }

    pub(crate) fn raw(mut self, path: &str, bytes: &[u8], mode: u32) -> Self {
        let path = absolute(&self.cwd, Path::new(path));
        self.parents(&path);
        self.files.insert(path, (bytes.to_vec(), mode));
        self
    }

    pub(crate) fn folder(mut self, path: &str) -> Self {
        let path = absolute(&self.cwd, Path::new(path));
        self.parents(&path);
        self.folders.insert(path);
        self
    }

    fn parents(&mut self, path: &Path) {
        self.folders.extend(path.ancestors().skip(1).map(Path::to_path_buf));
    }

    pub(crate) fn command(mut self, name: &str, path: &str) -> Self {
        self.commands.entry(name.to_owned()).or_default().push(PathBuf::from(path));
        self
    }

    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn lives(mut self, pid: u32) -> Self {
        self.living.insert(pid);
        self
    }

    pub(crate) fn unmounted(mut self, path: &str) -> Self {
        self.unmounted.insert(PathBuf::from(path));
        self
    }

    pub(crate) fn answer(mut self, argv: &str, text: &str) -> Self {
        self.answers.insert(argv.to_owned(), text.to_owned());
        self
    }
}

impl Scene for TestScene {
    fn cwd(&self) -> &Path {
        &self.cwd
    }

    fn facts(&self, path: &Path) -> Option<PathFacts> {
        let path = absolute(&self.cwd, path);
        let (kind, len, mode) = match self.files.get(&path) {
            Some((bytes, mode)) => (Kind::File, bytes.len() as u64, *mode),
            None if self.folders.contains(&path) => (Kind::Directory, 4096, 0o755),
            None => return None,
        };
        Some(PathFacts { kind, len, mode, uid: 1000, gid: 1000, modified_ms: 0 })
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        let (bytes, _) = self.files.get(&absolute(&self.cwd, path))?;
        Some(bytes.iter().take(limit).copied().collect())
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let folder = absolute(&self.cwd, folder);
        let all: BTreeSet<&PathBuf> = self.files.keys().chain(&self.folders).collect();
        all.into_iter()
            .filter(|path| path.parent() == Some(&folder))
            .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
            .collect()
    }

    fn which(&self, command: &str) -> Vec<PathBuf> {
        self.commands.get(command).cloned().unwrap_or_default()
    }

    fn var(&self, name: &str) -> Option<String> {
        self.vars.get(name).cloned()
    }

    fn process_lives(&self, pid: u32) -> bool {
        self.living.contains(&pid)
    }

    fn missing_mount(&self, path: &Path) -> bool {
        self.unmounted.iter().any(|mount| path.starts_with(mount))
    }

    fn ask(&self, argv: &[&str]) -> Option<String> {
        self.answers.get(&argv.join(" ")).cloned()
    }
}

/// A failing job in memory.
pub(crate) struct TestCase {
    pub(crate) scene: TestScene,
    pub(crate) report: Report,
    pub(crate) trace: Option<Trace>,
    job: Job,
    script: ScriptFile,
}

impl TestCase {
    /// A job whose script lies in the folder of all jobs.
    pub(crate) fn new(script: &str, text: &str, scene: TestScene) -> Self {
        let path = absolute(Path::new(HOME), Path::new(script));
        let scene = scene.raw(script, text.as_bytes(), 0o644);
        let argv: Vec<OsString> = vec!["bash".into(), script.into()];
        Self {
            job: Job {
                key: JobKey::new("test"),
                argv,
                cwd: PathBuf::from(HOME),
                script: Some(path.clone()),
                repeatable: Repeatable::Unstated,
            },
            script: ScriptFile::new(path, text.to_owned(), 0o644),
            scene,
            trace: None,
            report: Report {
                status: "exit code 1".to_owned(),
                class: Class::Unknown,
                core_error: String::new(),
                faults: Vec::new(),
                location: None,
                command: None,
                snippet: Vec::new(),
                causes: Vec::new(),
                context: Vec::new(),
                confidence: Confidence::Medium,
                signature: Signature::new("test"),
            },
        }
    }

    pub(crate) fn fault(mut self, fault: Fault) -> Self {
        self.report.faults.push(fault);
        self
    }

    pub(crate) fn at(self, line: u32) -> Self {
        let path = self.script.path.clone();
        self.at_file(path.to_str().unwrap(), line)
    }

    pub(crate) fn at_file(mut self, file: &str, line: u32) -> Self {
        let file = absolute(Path::new(HOME), Path::new(file));
        self.report.location = Some(Location { file, line, column: None, function: None, remote: None });
        self
    }

    pub(crate) fn argv(mut self, argv: &[&str]) -> Self {
        self.job.argv = argv.iter().map(OsString::from).collect();
        self
    }

    pub(crate) fn trace(mut self, trace: Trace) -> Self {
        self.trace = Some(trace);
        self
    }

    pub(crate) fn case(&self) -> Case<'_> {
        Case {
            job: &self.job,
            argv: &self.job.argv,
            report: &self.report,
            script: Some(&self.script),
            trace: self.trace.as_ref(),
            scene: &self.scene,
        }
    }

    /// What one rule proposes.
    pub(crate) fn ask(&self, rule: &dyn Rule) -> Vec<Candidate> {
        rule.propose(&self.case())
    }

    /// The script as the rule's best proposal leaves it; panics without one.
    pub(crate) fn healed(&self, rule: &dyn Rule) -> String {
        let candidates = self.ask(rule);
        let best = candidates.first().expect("a candidate");
        let change = best.proposal.changes.iter().find(|change| change.path == self.script.path);
        let change = change.or(best.proposal.changes.first()).expect("a change");
        String::from_utf8(change.after.clone().unwrap()).unwrap()
    }

    /// Whether the rule proposes something: for repairs that change no text.
    pub(crate) fn heals(&self, rule: &dyn Rule) -> bool {
        !self.ask(rule).is_empty()
    }

    /// Whether the rule has nothing to say.
    pub(crate) fn silent(&self, rule: &dyn Rule) -> bool {
        self.ask(rule).is_empty()
    }
}

/// The path of a fault.
pub(crate) fn no_such(path: &str) -> Fault {
    Fault::NoSuchPath { path: PathBuf::from(path) }
}
