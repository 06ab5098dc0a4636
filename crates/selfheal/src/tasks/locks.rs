//! Locks on what only one task or step may use: files, ports, names.
//!
//! Theory of operation: a lock is an advisory one on a file of its own, so it dies with its process; the file says who
//! holds it and since when. What is wanted at once is taken in one order, all or nothing, and nobody waits while he holds
//! anything of the same kind; so no two can wait for each other. A thing has two files. A task holds the *gate* of what it
//! holds for its whole life, and, shared with others, the gates of what its steps will hold; so no step ever waits for what
//! another task holds for its whole life. A step holds the *use* while it runs.

use std::collections::{BTreeMap, hash_map::DefaultHasher};
use std::fs::{File, TryLockError};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selfheal_core::ids::Timestamp;
use selfheal_core::incident::Owner;
use selfheal_core::task::Lock;
use serde::{Deserialize, Serialize};

use super::keep::{private_file, private_folder};

/// How often it is looked whether something is free, at first and at last.
const LOOK: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(100));
/// The longest description of a holder, in bytes.
const LONGEST: u64 = 16 * 1024;

/// For how long a thing is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// While a task runs.
    Task,
    /// While a task runs, by any number of tasks: their steps will use it.
    Shared,
    /// While a step runs.
    Step,
}

/// Who holds something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// What is held.
    pub what: String,
    /// The process.
    pub owner: Owner,
    /// The task.
    pub task: String,
    /// The step, if one holds it.
    pub step: Option<String>,
    /// Since when.
    pub since: Timestamp,
    /// The folder of the run.
    pub run: PathBuf,
}

impl Holder {
    /// For people: what, by whom.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.step {
            Some(step) => format!("task {}, step {step}, process {}", self.task, self.owner.pid),
            None => format!("task {}, process {}", self.task, self.owner.pid),
        }
    }
}

/// What is held; dropping it gives it back.
#[derive(Debug, Default)]
pub struct Held {
    files: Vec<(File, bool)>,
    /// Holders that are gone and had not given back what they held.
    pub stale: Vec<Holder>,
}

impl Drop for Held {
    fn drop(&mut self) {
        for (file, named) in &self.files {
            if *named {
                // The lock itself goes with the file, so a name that stays does no harm.
                let _ = file.set_len(0);
            }
            let _ = give_back(file);
        }
    }
}

/// Not by closing alone: a process that is being started just now has the descriptor too, until its program begins.
fn give_back(file: &File) -> io::Result<()> {
    file.unlock()
}

/// Somebody else holds one of the things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Busy {
    /// What.
    pub what: String,
    /// By whom, where that is known.
    pub holder: Option<Box<Holder>>,
}

/// Takes all of these, or waits until it can, for at most so long. `waits` is told once what is waited for.
///
/// # Errors
/// When the files cannot be used; `Ok(Err)` when somebody still holds one of the things at the end.
pub fn hold(
    folder: &Path,
    wanted: &[(Lock, Hold)],
    holder: &Holder,
    patience: Duration,
    waits: &mut dyn FnMut(&Busy),
) -> io::Result<Result<Held, Busy>> {
    private_folder(folder)?;
    let mut strongest: BTreeMap<(Lock, bool), Hold> = BTreeMap::new();
    for (lock, hold) in wanted {
        let place = strongest.entry((lock.clone(), *hold == Hold::Step)).or_insert(*hold);
        *place = (*place).min(*hold);
    }
    let until = Instant::now().checked_add(patience);
    let (mut pause, mut told) = (LOOK.0, false);
    loop {
        let busy = match attempt(folder, &strongest, holder)? {
            Ok(held) => return Ok(Ok(held)),
            Err(busy) => busy,
        };
        if until.is_some_and(|until| Instant::now() >= until) || selfheal_exec::told_to_end().is_some() {
            return Ok(Err(busy));
        }
        if !told {
            told = true;
            waits(&busy);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LOOK.1);
    }
}

fn attempt(
    folder: &Path,
    wanted: &BTreeMap<(Lock, bool), Hold>,
    holder: &Holder,
) -> io::Result<Result<Held, Busy>> {
    let mut held = Held::default();
    for ((lock, _), hold) in wanted {
        let what = lock.to_string();
        let mut file = private_file(&folder.join(file_name(&what, *hold)))?;
        let taken = if *hold == Hold::Shared { file.try_lock_shared() } else { file.try_lock() };
        let before = read_holder(&mut file);
        match taken {
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => return Ok(Err(Busy { what, holder: before.map(Box::new) })),
            Ok(()) => {}
        }
        if let Some(before) = before.filter(|before| !super::lives(&before.owner)) {
            // Its process is gone. A step that it had started may still be at work.
            if has_working_steps(&before.run) {
                return Ok(Err(Busy { what, holder: Some(Box::new(before)) }));
            }
            held.stale.push(before);
        }
        let named = *hold != Hold::Shared;
        if named {
            write_holder(&mut file, &Holder { what, ..holder.clone() })?;
        }
        held.files.push((file, named));
    }
    Ok(Ok(held))
}

fn file_name(what: &str, hold: Hold) -> String {
    // Two things whose names hash alike are held together; nothing worse.
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    let kind = if hold == Hold::Step { "use" } else { "gate" };
    format!("{:016x}.{kind}", hasher.finish())
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = Vec::new();
    file.rewind().ok()?;
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn write_holder(file: &mut File, holder: &Holder) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&serde_json::to_vec(holder)?)
}

/// Whether a step of a run still works though its runner is gone.
fn has_working_steps(run: &Path) -> bool {
    let steps = std::fs::read_dir(run.join("steps")).into_iter().flatten().flatten();
    steps.map(|entry| entry.path()).any(|step| works(&step))
}

/// Whether the process of a step works, by the folder of the step.
#[must_use]
pub fn works(step: &Path) -> bool {
    let Ok(file) = File::open(step.join("alive")) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Writes this process into a file that it has locked.
///
/// # Errors
/// When it cannot be written.
pub fn name_self(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&serde_json::to_vec(&selfheal_exec::owner_of_self())?)
}

/// Allows the process of one start of a step to work; whether it could be, since no other one works. A process that is late,
/// because it was started by a runner that is gone, is not allowed any more.
///
/// # Errors
/// When that cannot be written.
pub fn allow(step: &Path, attempt: u32) -> io::Result<bool> {
    let alive = private_file(&step.join("alive"))?;
    match alive.try_lock() {
        Ok(()) => std::fs::write(step.join("allowed"), attempt.to_string()).map(|()| true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Waits until no process of a step works, and lets none begin any more; whether that is certain. `told` gets the process
/// that is waited for.
pub fn forbid(step: &Path, told: &dyn Fn(&str)) -> bool {
    if !step.exists() {
        return true;
    }
    let mut said = false;
    loop {
        match allow(step, 0) {
            Ok(true) => return true,
            Ok(false) if selfheal_exec::told_to_end().is_none() => {}
            _ => return false,
        }
        if !said {
            said = true;
            told(&worker_of(step).map_or(0, |owner| owner.pid).to_string());
        }
        std::thread::sleep(LOOK.1);
    }
}

/// Whether a start of a step is the one that may work. Its process holds the lock that says that it is alive.
#[must_use]
pub fn is_allowed(step: &Path, attempt: u32) -> bool {
    std::fs::read_to_string(step.join("allowed")).is_ok_and(|text| text == attempt.to_string())
}

/// The process of a step that works, by the folder of the step.
#[must_use]
pub fn worker_of(step: &Path) -> Option<Owner> {
    let text = std::fs::read(step.join("alive")).ok().filter(|_| works(step))?;
    serde_json::from_slice(&text).ok()
}

/// Names on locks whose holders are gone; the names are taken off.
#[must_use]
pub fn clear_stale(folder: &Path) -> Vec<Holder> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut stale = Vec::new();
    for entry in entries {
        let Ok(mut file) = private_file(&entry.path()) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        let gone = read_holder(&mut file).filter(|holder| !super::lives(&holder.owner));
        if let Some(holder) = gone.filter(|holder| !has_working_steps(&holder.run)) {
            let _ = file.set_len(0);
            stale.push(holder);
        }
        let _ = give_back(&file);
    }
    stale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(pid: u32) -> Holder {
        let owner = Owner { pid, ..selfheal_exec::owner_of_self() };
        let (task, run) = ("t".to_owned(), PathBuf::from("/nowhere"));
        Holder { what: String::new(), owner, task, step: None, since: Timestamp(0), run }
    }

    fn take(folder: &Path, wanted: &[(Lock, Hold)]) -> Result<Held, Busy> {
        let me = holder(std::process::id());
        hold(folder, wanted, &me, Duration::ZERO, &mut |_| {}).unwrap()
    }

    #[test]
    fn one_at_a_time_and_the_holder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let a = (Lock::Name("a".into()), Hold::Task);
        let b = (Lock::Port(80), Hold::Task);
        let held = take(folder.path(), &[a.clone(), b.clone()]).unwrap();
        let busy = take(folder.path(), std::slice::from_ref(&b)).unwrap_err();
        assert_eq!((busy.what.as_str(), busy.holder.unwrap().task.as_str()), ("port:80", "t"));
        drop(held);
        assert!(take(folder.path(), &[a, b]).unwrap().stale.is_empty());
    }

    #[test]
    fn what_steps_use_is_shared_among_tasks_and_not_with_one_that_holds_it_for_its_life() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::Name("a".into());
        let shared = (lock.clone(), Hold::Shared);
        let one = take(folder.path(), std::slice::from_ref(&shared)).unwrap();
        let two = take(folder.path(), std::slice::from_ref(&shared)).unwrap();
        assert!(take(folder.path(), &[(lock.clone(), Hold::Task)]).is_err());
        let step = take(folder.path(), &[(lock.clone(), Hold::Step)]).unwrap();
        assert!(take(folder.path(), &[(lock.clone(), Hold::Step)]).is_err());
        drop((one, two, step));
        assert!(take(folder.path(), &[(lock, Hold::Task), shared]).is_ok());
    }

    #[test]
    fn a_holder_that_is_gone_is_named_and_does_not_hold() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = [(Lock::Name("a".into()), Hold::Task)];
        let gone = holder(u32::MAX - 1);
        let held = hold(folder.path(), &wanted, &gone, Duration::ZERO, &mut |_| {}).unwrap().unwrap();
        // Killed: the name stays.
        let file = folder.path().join(file_name("name:a", Hold::Task));
        let name = std::fs::read(&file).unwrap();
        drop(held);
        std::fs::write(&file, name).unwrap();
        assert_eq!(take(folder.path(), &wanted).unwrap().stale.len(), 1);
        std::fs::write(&file, serde_json::to_vec(&gone).unwrap()).unwrap();
        assert_eq!(clear_stale(folder.path()).len(), 1);
        assert!(clear_stale(folder.path()).is_empty());
    }
}
