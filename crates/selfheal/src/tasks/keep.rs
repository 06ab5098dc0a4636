//! What is kept of a run of a task: a folder with its state file, which is the truth, and a folder for each step.
//!
//! The state is checked, written beside the old one, flushed, and put in its place by one rename; so a crash leaves one or
//! the other. Only who holds the run's lock writes it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selfheal_core::incident::Owner;
use selfheal_core::task::{Stage, TaskState, VERSION};
use serde::Deserialize;

use super::index::{self, Listing, Summary};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::terminal::clean;

/// The largest state file that is read, in bytes.
const LARGEST: usize = 64 << 20;
/// So long the last of a process that is gone is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked whether it is gone.
const LOOK: Duration = Duration::from_millis(20);
/// Runs that are kept at least.
const MOST: usize = 200;
/// A run that has stored nothing for so long has ended before it began.
const UNBEGUN: Duration = Duration::from_secs(3_600);
/// The fewest characters of a run's end that name it.
const SHORTEST_END: usize = 4;

/// The folder of all that is kept of tasks.
#[must_use]
pub fn root(context: &Context) -> PathBuf {
    context.state.join("tasks")
}

/// What every form of a state file says first.
#[derive(Deserialize)]
struct Form {
    version: u32,
}

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

/// The right to write the state of a run. It ends with its process.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunFolder {
    /// Makes the folder of a new run.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(context: &Context, run: &str) -> Result<Self, CommandError> {
        let path = root(context).join("runs").join(run);
        private_folder(&path).map_err(|error| failed("make", &path, &error))?;
        Ok(Self { path })
    }

    /// The folder of a run that is there.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The state file.
    #[must_use]
    pub fn state_file(&self) -> PathBuf {
        self.path.join("state.json")
    }

    /// The folder of a step.
    #[must_use]
    pub fn step(&self, id: &str) -> PathBuf {
        self.path.join("steps").join(id)
    }

    /// Takes the right to write, once the process that had it is gone: what it had just started may hold it for a moment
    /// longer. `None` where it lives.
    ///
    /// # Errors
    /// When it cannot be taken for another reason.
    pub fn take_over(&self, state: &TaskState) -> Result<Option<RunLock>, CommandError> {
        if is_worked_on(state) {
            // Also where somebody removed the file of its lock.
            return Ok(None);
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let lock = self.lock()?;
            if lock.is_some() || Instant::now() >= until {
                return Ok(lock);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Takes the right to write; `None` where another process has it.
    ///
    /// # Errors
    /// When it cannot be taken for another reason.
    pub fn lock(&self) -> Result<Option<RunLock>, CommandError> {
        let path = self.path.join("lock");
        let failed = |error: &dyn std::error::Error| failed("lock", &path, error);
        let file = private_file(&path).map_err(|error| failed(&error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(RunLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(&error)),
        }
    }

    /// Reads the state.
    ///
    /// # Errors
    /// When there is none, or what is there is none.
    pub fn load(&self) -> Result<TaskState, CommandError> {
        let path = self.state_file();
        let damaged = |error: CommandError| {
            error.hint(format!(
                "nobody knows how far it got: look at {}, then selfheal task run FILE --anew",
                self.path.display()
            ))
        };
        let bytes = selfheal_exec::read_regular(&path, LARGEST)
            .ok_or_else(|| damaged(CommandError::new(format!("failed to read {}", path.display()))))?;
        if let Ok(Form { version }) = serde_json::from_slice::<Form>(&bytes)
            && version > VERSION
        {
            return Err(CommandError::new(format!("{} was written by a newer selfheal", path.display()))
                .hint("go on with that one"));
        }
        let state: TaskState =
            serde_json::from_slice(&bytes).map_err(|error| damaged(failed("understand", &path, &error)))?;
        let is_here = self.path.file_name().is_some_and(|name| name == state.run.as_str());
        let elsewhere = (!is_here).then(|| format!("it says that it is of run {}", clean(&state.run)));
        match state.check().first().or(elsewhere.as_ref()) {
            None => Ok(state),
            Some(wrong) => Err(damaged(CommandError::new(format!("{} is damaged: {wrong}", path.display())))),
        }
    }

    /// Stores the state, if it is one and nothing of the one before got lost.
    ///
    /// # Errors
    /// When it is none, or cannot be stored; the old one is in place then.
    pub fn store(&self, state: &TaskState, before: Option<&TaskState>) -> Result<(), CommandError> {
        let path = self.state_file();
        let mut wrong = state.check();
        wrong.extend(before.map(|before| state.lost_since(before)).unwrap_or_default());
        if let Some(wrong) = wrong.first() {
            return Err(CommandError::new(format!("the state of the task makes no sense: {wrong}")));
        }
        let mut text = serde_json::to_vec_pretty(state).map_err(|error| failed("write", &path, &error))?;
        text.push(b'\n');
        replace(&path, &text).map_err(|error| failed("write", &path, &error))
    }
}

fn failed(verb: &str, path: &Path, error: &dyn std::error::Error) -> CommandError {
    CommandError::new(format!("failed to {verb} {}", path.display())).because(error)
}

/// Forgets runs that were ended before anything of them was stored: nothing was begun then. Their folders for temporary
/// files go too.
pub fn sweep(unbegun: &[(String, RunFolder)], temp: &dyn Fn(&str) -> PathBuf) {
    for (run, folder) in unbegun {
        let made = fs::metadata(&folder.path).and_then(|facts| facts.modified()).ok();
        let age = made.and_then(|made| made.elapsed().ok());
        // One that is younger may be about to begin.
        if age.is_some_and(|age| age > UNBEGUN)
            && let Ok(Some(_lock)) = folder.lock()
        {
            // What cannot be removed stays for the next time.
            let _ = super::place::remove_temp(&temp(run), run);
            let _ = fs::remove_dir_all(&folder.path);
        }
    }
}

/// Makes a folder that only its owner may look into, with its parents.
///
/// # Errors
/// When it cannot be made.
pub fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).recursive(true).create(path)
}

/// Opens a file that only its owner may read, and makes it where it is missing.
///
/// # Errors
/// When it cannot be opened.
pub fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Puts content in the place of a file, so that a crash leaves the old or the new.
///
/// # Errors
/// When it cannot be written.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
}

/// A run by its identity, by the end of it that people type, or by its task's name: then the newest one of it. With no
/// name the newest of all.
///
/// # Errors
/// When there is none, several fit, or its state cannot be used.
pub fn find(context: &Context, name: Option<&str>) -> Result<(RunFolder, TaskState), CommandError> {
    let folder = find_folder(&index::all(context), name)?;
    let state = folder.load()?;
    Ok((folder, state))
}

fn find_folder(all: &Listing, name: Option<&str>) -> Result<RunFolder, CommandError> {
    let hint = "selfheal task list shows what there is";
    let Some(name) = name else {
        let newest = all.runs.first().map(|(folder, _)| folder);
        let newest = newest.or_else(|| all.damaged.last().map(|damaged| &damaged.folder)).cloned();
        return newest.ok_or_else(|| CommandError::new("no task was run yet").hint("selfheal task run FILE"));
    };
    let runs = all.runs.iter().map(|(folder, summary)| (summary.run.as_str(), folder));
    let damaged = all.damaged.iter().map(|damaged| (damaged.run.as_str(), &damaged.folder));
    let fits: Vec<&RunFolder> = runs
        .chain(damaged)
        .filter(|(run, _)| *run == name || (name.len() >= SHORTEST_END && run.ends_with(name)))
        .map(|(_, folder)| folder)
        .collect();
    match fits.as_slice() {
        [only] => Ok((*only).clone()),
        [] => {
            let newest = all.runs.iter().find(|(_, summary)| summary.task == name);
            let is_of = |run: &&index::Damaged| run.before.as_ref().is_some_and(|run| run.task == name);
            newest
                .map(|(folder, _)| folder.clone())
                .or_else(|| all.damaged.iter().rfind(is_of).map(|run| run.folder.clone()))
                .ok_or_else(|| CommandError::new(format!("there is no run {name}")).hint(hint))
        }
        _ => Err(CommandError::new(format!("several runs end with {name}")).hint(hint)),
    }
}

/// Forgets the oldest runs that are over and wait for nobody, beyond [`MOST`].
pub fn prune(runs: &[(RunFolder, Summary)]) {
    let old = runs.iter().skip(MOST);
    for (folder, _) in old.filter(|(_, run)| run.stage.is_final() && run.stage != Stage::HandedOver) {
        // What cannot be removed stays for the next time.
        if let Ok(Some(_lock)) = folder.lock() {
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

/// Whether a process that still lives works on a run.
#[must_use]
pub fn is_worked_on(state: &TaskState) -> bool {
    state.owner.as_ref().is_some_and(super::lives)
}

/// Whether a run was broken off: nobody works on it, and it is not over.
#[must_use]
pub fn is_broken_off(state: &TaskState) -> bool {
    broken_off(state.stage, state.owner.as_ref())
}

/// The same by what says so.
#[must_use]
pub fn broken_off(stage: Stage, owner: Option<&Owner>) -> bool {
    matches!(stage, Stage::Running | Stage::Cleaning) && !owner.is_some_and(super::lives)
}
