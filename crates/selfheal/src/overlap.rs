//! `run --overlap`: what happens when the job runs already.
//!
//! Theory of operation: a run with `--overlap` holds an advisory lock on a file of its job, in the state folder, for its
//! whole life, healing included. The supervisor of the job holds it as well, so that it lasts until the job's process tree
//! is gone, and not longer, however selfheal ends. The file names the run that holds it; what it says counts only while
//! somebody holds the lock and that very process lives, so a name that a crash left there means nothing.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use selfheal_core::ids::JobKey;
use selfheal_core::incident::Owner;
use selfheal_exec::{end_process, owner_of_self};

use crate::cli::Overlap;
use crate::lock::job_file;

/// How often it is looked at first whether the other run has ended, and how rarely at last.
const LOOK: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));
/// When a run that was told to end and still goes on is told so once more: then it sets its job a grace.
const LOSES_PATIENCE: Duration = Duration::from_secs(5);
/// More than the name of an owner ever needs.
const LONGEST_NAME: u64 = 4096;

/// The right of a run to be the only one of its job. It ends with this process and the job's tree.
pub struct Alone {
    file: File,
}

impl Alone {
    /// The lock once more, for the supervisor of the job.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn share(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }
}

/// Whether a run may go on.
pub enum Entry {
    /// No other run of the job is left.
    Alone(Alone),
    /// Another one goes on, and this one gives way.
    GivesWay,
    /// Another one still went on when the time was up.
    TooLate,
}

/// Looks for another run of the job and does with it what was asked for, for at most `patience`.
///
/// # Errors
/// When the lock cannot be made or taken for another reason than that somebody has it.
pub fn enter(state: &Path, job: &JobKey, overlap: Overlap, patience: Duration) -> io::Result<Entry> {
    let mut file = job_file(&state.join("running"), job)?;
    let until = Instant::now().checked_add(patience);
    let mut told = None;
    let mut pause = LOOK.0;
    loop {
        match file.try_lock() {
            Ok(()) => {
                name_self(&mut file)?;
                return Ok(Entry::Alone(Alone { file }));
            }
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if overlap == Overlap::Skip => return Ok(Entry::GivesWay),
            Err(TryLockError::WouldBlock) => {}
        }
        if overlap == Overlap::Replace {
            end_owner(&mut file, &mut told);
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Ok(Entry::TooLate);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LOOK.1);
    }
}

fn name_self(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&serde_json::to_vec(&owner_of_self())?)
}

/// Tells the run that holds the lock to end, and once more when it takes long. It passes that on to its job and records it.
fn end_owner(file: &mut File, told: &mut Option<(Owner, Instant)>) {
    let mut text = Vec::new();
    let read = file.rewind().and_then(|()| file.take(LONGEST_NAME).read_to_end(&mut text));
    // A name that is just being written is read the next time.
    let Some(owner) = read.ok().and_then(|_| serde_json::from_slice::<Owner>(&text).ok()) else { return };
    let due = told.as_ref().is_none_or(|(told, at)| *told != owner || at.elapsed() >= LOSES_PATIENCE);
    if due && end_process(&owner) {
        *told = Some((owner, Instant::now()));
    }
}
