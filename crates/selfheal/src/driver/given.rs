//! A repair that a person made by hand (`--proposal DIR`): read before the job runs, then judged and tried like any other.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use selfheal_core::diagnosis::{Basis, Diagnosis, What};
use selfheal_core::proposal::{FileChange, Proposal, Risk, Source};
use selfheal_core::scene::Scene;
use selfheal_core::verification::{Expect, Scenario};
use selfheal_repair::Candidate;

use super::Healer;
use crate::command_error::CommandError;

/// The most files that one proposal may have.
const MOST_FILES: usize = 100;
/// The largest file of a proposal, in bytes: what a script may be to be judged.
const LARGEST: u64 = 1 << 20;
/// How deep folders of a proposal may lie.
const DEEPEST: usize = 16;

/// The files of a given proposal, by paths relative to the job's folder.
#[derive(Clone, Debug, Default)]
pub struct Given {
    files: Vec<GivenFile>,
}

#[derive(Clone, Debug)]
struct GivenFile {
    path: PathBuf,
    content: Vec<u8>,
    mode: u32,
}

impl Given {
    /// Reads the files below a folder.
    ///
    /// # Errors
    /// When there is no such folder, it holds no file, or something in it that is no plain file of bounded size.
    pub fn read(folder: &Path) -> Result<Self, CommandError> {
        let mut given = Self::default();
        given.collect(folder, Path::new(""), 0)?;
        if given.files.is_empty() {
            return Err(CommandError::usage(format!("{}: the proposal has no files", folder.display()))
                .hint("put the changed files there, with the same paths as in the job's folder"));
        }
        given.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(given)
    }

    /// Files by their absolute paths, with contents and permission bits.
    #[must_use]
    pub fn of(files: Vec<(PathBuf, Vec<u8>, u32)>) -> Self {
        let file = |(path, content, mode)| GivenFile { path, content, mode };
        Self { files: files.into_iter().map(file).collect() }
    }

    fn collect(&mut self, top: &Path, below: &Path, depth: usize) -> Result<(), CommandError> {
        let folder = top.join(below);
        let fail = |error: std::io::Error| {
            CommandError::usage(format!("failed to read the proposal below {}", top.display()))
                .because(&error)
                .hint("--proposal takes a folder with the changed files")
        };
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let path = below.join(entry.file_name());
            let facts = entry.metadata().map_err(fail)?;
            if facts.is_dir() && depth < DEEPEST {
                self.collect(top, &path, depth + 1)?;
            } else if facts.is_file() && facts.size() <= LARGEST && self.files.len() < MOST_FILES {
                let content = fs::read(entry.path()).map_err(fail)?;
                self.files.push(GivenFile { path, content, mode: facts.permissions().mode() & 0o777 });
            } else {
                return Err(CommandError::usage(format!(
                    "{}: not a part of a proposal",
                    entry.path().display()
                ))
                .hint("a proposal has up to 100 plain files of up to 1 MiB each, no links"));
            }
        }
        Ok(())
    }

    fn changes(&self, cwd: &Path, scene: &dyn Scene) -> Vec<FileChange> {
        self.files.iter().filter_map(|file| file.change(cwd, scene)).collect()
    }
}

impl GivenFile {
    /// `None` where the machine has the same already.
    fn change(&self, cwd: &Path, scene: &dyn Scene) -> Option<FileChange> {
        let path = cwd.join(&self.path);
        let before = scene.read(&path, usize::try_from(LARGEST).unwrap_or(usize::MAX));
        let old_mode = scene.facts(&path).map(|facts| facts.mode & 0o777);
        // Copies of files often lose or gain bits by the umask; only whether a file can be executed is part of a repair.
        let mode = match old_mode {
            Some(old) if old & 0o111 == 0 && self.mode & 0o111 != 0 => Some(old | 0o100),
            Some(_) => None,
            None => Some(self.mode),
        };
        let same = before.as_deref() == Some(self.content.as_slice()) && mode.is_none();
        (!same).then(|| FileChange { path, before, after: Some(self.content.clone()), mode })
    }
}

impl Healer<'_> {
    /// The given proposal as the only candidate.
    pub(super) fn ask_given(&mut self) -> Vec<Candidate> {
        let Some(given) = self.permissions.given.clone() else { return Vec::new() };
        let changes = given.changes(&self.job.cwd, &self.scene);
        if changes.is_empty() {
            self.notes.push(self.tools.texts.say("note-proposal-changes-nothing", &[]));
            return Vec::new();
        }
        vec![Candidate { diagnosis: diagnosis(), proposal: proposal(changes), scenarios: self.borrowed() }]
    }

    /// Start states that the rules know for this failure, as far as they hold whatever the repair is: in which the job
    /// must still fail, or do what the original does.
    pub(super) fn borrowed(&self) -> Vec<Scenario> {
        let Some(report) = &self.report else { return Vec::new() };
        let script = self.script_file(&self.scene);
        let known = self.what_rules_know(report, script.as_ref(), self.trace.as_ref(), &self.scene);
        let mut scenarios: Vec<Scenario> = Vec::new();
        for scenario in known.into_iter().flat_map(|candidate| candidate.scenarios) {
            let fits = scenario.expect != Expect::Succeeds;
            if fits && !scenarios.iter().any(|other| other.name == scenario.name) {
                scenarios.push(scenario);
            }
        }
        scenarios
    }
}

fn diagnosis() -> Diagnosis {
    Diagnosis {
        root_cause: "A person found it, and gave the repaired files.".to_owned(),
        evidence: Vec::new(),
        change: What::Script,
        strategy: "The given files take the place of the job's.".to_owned(),
        verify: Vec::new(),
        basis: Basis::Project,
    }
}

/// What a person changed may change what is read or computed: nobody else can know.
fn proposal(changes: Vec<FileChange>) -> Proposal {
    let names = changes.iter().filter_map(|change| change.path.file_name());
    let summary = names.map(|name| format!("{} as it was given", name.to_string_lossy())).collect();
    Proposal {
        source: Source::Given,
        changes,
        summary,
        risk: Risk::Low,
        changes_meaning: true,
        rollback: "The files are put back as they were.".to_owned(),
        installs: Vec::new(),
    }
}
