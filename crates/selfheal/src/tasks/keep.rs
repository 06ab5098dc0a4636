//! What is kept of a run of a task: a folder with its state file, which is the truth, and a folder for each step.
//!
//! The state is checked, written beside the old one, flushed, and put in its place by one rename; so a crash leaves one or
//! the other. Only who holds the run's lock writes it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selfheal_core::task::{Stage, TaskState};

use crate::command_error::CommandError;
use crate::context::Context;

/// The largest state file that is read, in bytes.
const LARGEST: usize = 64 << 20;
/// So long the last of a process that is gone is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked whether it is gone.
const LOOK: Duration = Duration::from_millis(20);
/// Runs that are kept at least.
const MOST: usize = 200;
/// The fewest characters of a run's end that name it.
const SHORTEST_END: usize = 4;

/// The folder of all that is kept of tasks.
#[must_use]
pub fn root(context: &Context) -> PathBuf {
    context.state.join("tasks")
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
        let until = Instant::now() + PATIENCE;
        loop {
            let lock = self.lock()?;
            if lock.is_some() || is_worked_on(state) || Instant::now() >= until {
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
        let bytes = selfheal_exec::read_regular(&path, LARGEST)
            .ok_or_else(|| CommandError::new(format!("failed to read {}", path.display())))?;
        let state: TaskState =
            serde_json::from_slice(&bytes).map_err(|error| failed("understand", &path, &error))?;
        match state.check().first() {
            None => Ok(state),
            Some(wrong) => Err(CommandError::new(format!("{} is damaged: {wrong}", path.display()))),
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

/// All runs with their states, the newest first. One that cannot be read is left out.
#[must_use]
pub fn list(context: &Context) -> Vec<(RunFolder, TaskState)> {
    let entries = fs::read_dir(root(context).join("runs")).into_iter().flatten().flatten();
    let folders = entries.map(|entry| RunFolder { path: entry.path() });
    let mut all: Vec<_> =
        folders.filter_map(|folder| folder.load().ok().map(|state| (folder, state))).collect();
    all.sort_by(|(_, one), (_, other)| (other.started, &other.run).cmp(&(one.started, &one.run)));
    all
}

/// A run by its identity, by the end of it that people type, or by its task's name: then the newest one of it. With no
/// name the newest of all.
///
/// # Errors
/// When there is none, or several fit.
pub fn find(context: &Context, name: Option<&str>) -> Result<(RunFolder, TaskState), CommandError> {
    let mut all = list(context);
    let hint = "selfheal task list shows what there is";
    let Some(name) = name else {
        return all
            .into_iter()
            .next()
            .ok_or_else(|| CommandError::new("no task was run yet").hint("selfheal task run FILE"));
    };
    let by_run =
        |state: &TaskState| state.run == name || (name.len() >= SHORTEST_END && state.run.ends_with(name));
    let fits: Vec<usize> =
        all.iter().enumerate().filter(|(_, (_, state))| by_run(state)).map(|(at, _)| at).collect();
    let at = match fits.as_slice() {
        [only] => Some(*only),
        [] => all.iter().position(|(_, state)| state.task == name),
        _ => return Err(CommandError::new(format!("several runs end with {name}")).hint(hint)),
    };
    match at {
        Some(at) => Ok(all.swap_remove(at)),
        None => Err(CommandError::new(format!("there is no run {name}")).hint(hint)),
    }
}

/// Forgets the oldest runs that are over and wait for nobody, beyond [`MOST`].
pub fn prune(context: &Context) {
    let old = list(context).into_iter().skip(MOST);
    for (folder, _) in old.filter(|(_, state)| state.stage.is_final() && state.stage != Stage::HandedOver) {
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
    matches!(state.stage, Stage::Running | Stage::Cleaning) && !is_worked_on(state)
}
