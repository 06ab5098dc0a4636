//! Drafts: what boxed runs did to files, kept aside, put in place, taken back.
//!
//! `export` makes a draft while a box still stands. [`Drafts::commit`] puts it in place and [`Drafts::undo`] takes it back;
//! both are lists of `steps` that `work` carries out under a journal. One process at a time changes files (a lock), and
//! [`Drafts::recover`], which every command of the program calls first, ends what a crash left. A path never is
//! anything but the old or the new, except a file with several names, which is rewritten in place.

mod at;
mod copy;
mod draft;
mod error;
mod export;
mod facts;
mod look;
mod meta;
mod steps;
mod work;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use draft::{Draft, Entry, Remark, Standing};
pub use error::{CommitError, Conflict, Why};

pub(crate) use export::{Export, moment, now};

use facts::Facts;
use look::Known;
use work::{Journal, Phase, Work};

/// What is under way, beside the drafts.
const JOURNAL: &str = "journal.json";

/// Held by whoever changes files.
const LOCK: &str = "lock";

/// So long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is not finished by then never will be.
const UNFINISHED: Duration = Duration::from_secs(24 * 3600);

/// The fewest characters of a draft's end that name it.
const SHORTEST_END: usize = 4;

/// The drafts in a folder.
#[derive(Clone, Debug)]
pub struct Drafts {
    root: PathBuf,
}

/// What was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The draft.
    pub id: String,
    /// How many paths were changed; what lies in a folder that went as a whole is not counted.
    pub paths: usize,
    /// Whether it was taken back and not put in place.
    pub back: bool,
}

/// How what a crash left half done was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// It was done to its end.
    Ended(Changed),
    /// Every file is as it was before; the draft.
    AsBefore(String),
}

impl Drafts {
    /// The drafts in a folder, which need not exist.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where a draft lies, or would lie.
    #[must_use]
    pub fn folder(&self, id: &str) -> PathBuf {
        self.root.join(id)
    }

    /// All drafts, the newest first. One that cannot be read is left out.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Draft>, CommitError> {
        let mut drafts: Vec<Draft> =
            self.names()?.iter().filter_map(|name| Draft::load(&self.folder(name)).ok()).collect();
        drafts.sort_by(|one, other| (other.made, &other.id).cmp(&(one.made, &one.id)));
        Ok(drafts)
    }

    fn names(&self) -> Result<Vec<String>, CommitError> {
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(CommitError::io(format_args!("read {}", self.root.display())))?,
        };
        let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        Ok(folders.filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    /// One draft, by its identity or by the end of it that people type.
    ///
    /// # Errors
    /// When there is none, several fit, or it cannot be read.
    pub fn find(&self, id: &str) -> Result<Draft, CommitError> {
        let missing = || CommitError::Missing(id.to_owned());
        let whole = self.folder(id);
        if !id.contains('/') && whole.join(draft::FILE).is_file() {
            return Draft::load(&whole).map_err(CommitError::io(format_args!("read what try {id} left")));
        }
        let names = self.names()?;
        let mut fits =
            names.iter().filter(|name| *name == id || (id.len() >= SHORTEST_END && name.ends_with(id)));
        let name = fits.next().ok_or_else(missing)?;
        if fits.next().is_some() {
            return Err(missing());
        }
        Draft::load(&self.folder(name)).map_err(CommitError::io(format_args!("read what try {name} left")))
    }

    /// The new content of an entry that is kept as a file, for people to compare.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_new(&self, draft: &Draft, number: usize) -> Result<File, CommitError> {
        let path = self.folder(&draft.id).join(draft::SLOTS).join(number.to_string());
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
        options.open(&path).map_err(CommitError::io(format_args!("read {}", path.display())))
    }

    /// Puts a draft in place: all of it, or only what is at or below some paths.
    ///
    /// # Errors
    /// [`CommitError::Conflicts`] when a file is not what the job started from; nothing was changed then.
    pub fn commit(&self, id: &str, only: Option<&[PathBuf]>) -> Result<Changed, CommitError> {
        self.find(id)?;
        let _lock = self.lock()?;
        self.end_journal()?;
        let mut draft = self.find(id)?;
        if draft.state == Standing::Committed {
            return Err(CommitError::State { id: id.to_owned(), state: draft.state.word() });
        }
        let steps = steps::forward(&draft, only);
        self.carry_out(&mut draft, false, steps)
    }

    /// Takes back all that was put in place of a draft.
    ///
    /// # Errors
    /// [`CommitError::Conflicts`] when somebody changed a file since; nothing was changed then.
    pub fn undo(&self, id: &str) -> Result<Changed, CommitError> {
        self.find(id)?;
        let _lock = self.lock()?;
        self.end_journal()?;
        let mut draft = self.find(id)?;
        if draft.state != Standing::Committed {
            return Err(CommitError::State { id: id.to_owned(), state: draft.state.word() });
        }
        let steps = steps::backward(&draft);
        self.carry_out(&mut draft, true, steps)
    }

    /// Throws a draft away; one that is in place can then not be taken back any more.
    ///
    /// # Errors
    /// When there is none, or it cannot be removed.
    pub fn throw_away(&self, id: &str) -> Result<Draft, CommitError> {
        self.find(id)?;
        let _lock = self.lock()?;
        self.end_journal()?;
        let draft = self.find(id)?;
        let folder = self.folder(&draft.id);
        at::remove_folder(&folder).map_err(CommitError::io(format_args!("remove {}", folder.display())))?;
        Ok(draft)
    }

    /// Removes drafts that were made before a moment (milliseconds since 1970), those beyond so many, and what a try that was killed left
    /// unfinished. What cannot be removed stays for the next time.
    pub fn prune(&self, before: i64, most: usize) {
        let Ok(Some(_lock)) = self.try_lock() else { return };
        if self.journal().exists() {
            return;
        }
        let drafts = self.list().unwrap_or_default();
        let old = drafts.iter().enumerate().filter(|(n, draft)| draft.made < before || *n >= most);
        for (_, draft) in old {
            let _ = at::remove_folder(&self.folder(&draft.id));
        }
        for name in self.names().unwrap_or_default() {
            let folder = self.folder(&name);
            let unfinished = fs::symlink_metadata(folder.join(draft::FILE)).is_err();
            let age = fs::symlink_metadata(&folder).and_then(|facts| facts.modified()).ok();
            let age = age.and_then(|time| time.elapsed().ok());
            if unfinished && age.is_some_and(|age| age > UNFINISHED) {
                let _ = at::remove_folder(&folder);
            }
        }
    }

    /// Ends what a crash left half done: all of it is put in place, or all is as it was. `None` when there was nothing, or
    /// the process that does it still lives.
    ///
    /// # Errors
    /// When it could be neither ended nor taken back.
    pub fn recover(&self) -> Result<Option<Recovered>, CommitError> {
        if !self.journal().exists() {
            return Ok(None);
        }
        match self.try_lock()? {
            Some(_lock) => self.end_journal(),
            None => Ok(None),
        }
    }

    fn journal(&self) -> PathBuf {
        self.root.join(JOURNAL)
    }

    fn carry_out(
        &self,
        draft: &mut Draft,
        backwards: bool,
        steps: Vec<steps::Step>,
    ) -> Result<Changed, CommitError> {
        let known = if backwards { known_after(draft) } else { known_before(draft) };
        let journal = Journal { draft: draft.id.clone(), backwards, phase: Phase::Preparing, steps };
        let (file, folder) = (self.journal(), self.folder(&draft.id));
        let mut work = Work::new(&file, &folder, journal, &known)?;
        work.look()?;
        if let Err(error) = work.prepare() {
            work.clean();
            self.forget_journal()?;
            return Err(error);
        }
        self.apply(work, draft)
    }

    /// From the commit point on.
    fn apply(&self, mut work: Work<'_>, draft: &mut Draft) -> Result<Changed, CommitError> {
        if let Err(error) = work.apply() {
            work.clean();
            self.forget_journal()?;
            return Err(error);
        }
        let (back, paths) = (work.journal.backwards, work.journal.steps.len());
        let outcome = work.outcome();
        if back {
            draft.state = Standing::Undone;
            renew_bases(draft, &outcome);
            draft.done.clear();
        } else {
            draft.state = Standing::Committed;
            draft.done = outcome;
        }
        let folder = self.folder(&draft.id);
        if let Err(error) = draft.save(&folder) {
            let because = CommitError::io(format_args!("write in {}", folder.display()))(error);
            let error = work.revert(because);
            work.clean();
            self.forget_journal()?;
            return Err(error);
        }
        work.clean();
        self.forget_journal()?;
        Ok(Changed { id: draft.id.clone(), paths, back })
    }

    fn forget_journal(&self) -> Result<(), CommitError> {
        match fs::remove_file(self.journal()) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(CommitError::io(format_args!("remove {}", self.journal().display()))(error))
            }
            _ => Ok(()),
        }
    }

    /// The caller holds the lock.
    fn end_journal(&self) -> Result<Option<Recovered>, CommitError> {
        let file = self.journal();
        let text = match fs::read(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(CommitError::io(format_args!("read {}", file.display())))?,
        };
        let doing = format!("read {}", file.display());
        let journal: Journal =
            serde_json::from_slice(&text).map_err(io::Error::from).map_err(CommitError::io(doing))?;
        let Ok(mut draft) = self.find(&journal.draft) else {
            // What it is about was removed by hand: nothing is left to be done.
            return self.forget_journal().map(|()| None);
        };
        let id = draft.id.clone();
        let folder = self.folder(&draft.id);
        let wanted = if journal.backwards { Standing::Undone } else { Standing::Committed };
        let known = if journal.backwards { Known::new() } else { known_before(&draft) };
        let (phase, ended) = (journal.phase, draft.state == wanted);
        let mut work = Work::new(&file, &folder, journal, &known)?;
        if phase == Phase::Applying && !ended {
            return match self.apply(work, &mut draft) {
                // Somebody changed a file meanwhile, so all the others are as they were.
                Err(CommitError::Conflicts(_)) => Ok(Some(Recovered::AsBefore(id))),
                other => other.map(|changed| Some(Recovered::Ended(changed))),
            };
        }
        work.clean();
        self.forget_journal()?;
        Ok((!ended).then_some(Recovered::AsBefore(id)))
    }

    fn lock(&self) -> Result<File, CommitError> {
        let began = Instant::now();
        loop {
            if let Some(lock) = self.try_lock()? {
                return Ok(lock);
            }
            if began.elapsed() > PATIENCE {
                return Err(CommitError::Busy);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn try_lock(&self) -> Result<Option<File>, CommitError> {
        let path = self.root.join(LOCK);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = match options.open(&path) {
            // Without the folder there is nothing to be kept from.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(CommitError::Missing("any".to_owned()));
            }
            other => other.map_err(CommitError::io(format_args!("open {}", path.display())))?,
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(CommitError::io(format_args!("lock {}", path.display()))(error))
            }
        }
    }
}

/// What every path was before the job; what changed while it ran is not known.
fn known_before(draft: &Draft) -> Known {
    let entries = draft.entries.iter().filter(|entry| !entry.disturbed);
    entries.filter_map(|entry| Some((entry.path.clone(), entry.base.clone()?))).collect()
}

/// What every path was after the commit.
fn known_after(draft: &Draft) -> Known {
    draft.done.iter().filter_map(|(step, now)| Some((step.path.clone(), now.clone()?))).collect()
}

/// After an undoing the draft may be put in place again: what it starts from is what is there now.
fn renew_bases(draft: &mut Draft, outcome: &[(steps::Step, Option<Facts>)]) {
    let paths: BTreeSet<&Path> = outcome.iter().map(|(step, _)| step.path.as_path()).collect();
    for entry in &mut draft.entries {
        if entry.path.ancestors().any(|path| paths.contains(path)) {
            entry.base = Facts::of(&entry.path).ok().flatten();
        }
    }
}
