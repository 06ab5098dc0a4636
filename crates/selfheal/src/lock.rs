//! One selfheal at a time changes the files of a job. The lock dies with its process.

use std::fs::{File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use selfheal_core::ids::JobKey;

use crate::command_error::CommandError;

/// How long another selfheal is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked whether the lock is free.
const LOOK: Duration = Duration::from_millis(20);

/// The right to change the files of one job, until it is dropped.
pub struct JobLock {
    _file: File,
}

/// The file in a folder that stands for a job, opened for reading and writing; both are made where they are missing.
///
/// # Errors
/// When they cannot be made.
pub fn job_file(folder: &Path, job: &JobKey) -> io::Result<File> {
    std::fs::create_dir_all(folder)?;
    // Two jobs whose names hash alike wait for each other; nothing worse.
    let mut hasher = DefaultHasher::new();
    job.as_str().hash(&mut hasher);
    let path = folder.join(format!("{:016x}", hasher.finish()));
    File::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}

/// Waits, not for ever, until this process is the only one that changes files of a job.
///
/// # Errors
/// When another process does not end in time, or the state directory cannot be written.
pub fn lock_job(state: &Path, job: &JobKey) -> Result<JobLock, CommandError> {
    let fail = |error: &dyn std::error::Error| CommandError::new("failed to lock the job").because(error);
    let file = job_file(&state.join("locks"), job).map_err(|error| fail(&error))?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(JobLock { _file: file }),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(LOOK),
            Err(TryLockError::WouldBlock) => {
                return Err(CommandError::new("another selfheal is changing files of this job")
                    .hint("wait for it to end; `selfheal incidents` shows what it works on"));
            }
            Err(TryLockError::Error(error)) => return Err(fail(&error)),
        }
    }
}
