//! Contracts: what a job must have done when it ended, as the user wrote it down (`[job.expect]`). A run that ends with
//! exit code 0 and breaks its contract is a failure and is treated as one.

mod after;
mod check;
mod expect;

pub use after::{After, AfterBoxed, AfterReal};
pub use check::look;
pub use expect::ExpectOptions;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use selfheal_core::ids::RunId;
use selfheal_core::job::Job;
use selfheal_core::ports::{Executor, Order, Passing};
use selfheal_core::run::{Ended, Run};
use selfheal_core::verification::{Check, Showed};
use selfheal_store::GoodRun;

use crate::normal;

/// The end of a contract's command, in milliseconds.
const COMMAND_MS: u64 = 60_000;

/// What must hold after every good run of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contract {
    /// The assertions, in the order in which they were written.
    pub checks: Vec<Check>,
    /// A command that must succeed, with its arguments.
    pub command: Option<Vec<String>>,
    /// The good runs from which a run must not differ much, where that is a failure.
    pub earlier: Vec<GoodRun>,
}

/// What one assertion showed, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The assertion, in words.
    pub what: String,
    /// What it showed.
    pub showed: Showed,
    /// Why.
    pub why: String,
}

impl Contract {
    /// Whether there is nothing to hold.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.command.is_none() && self.earlier.is_empty()
    }

    /// The files that it looks into, as written, for those that are fetched from a box.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        self.checks.iter().filter_map(|check| check.path().map(PathBuf::from)).collect()
    }

    /// Looks at every assertion but the command.
    #[must_use]
    pub fn look(&self, after: &dyn After) -> Vec<Shown> {
        self.checks
            .iter()
            .map(|check| {
                let (showed, why) = look(check, after);
                Shown { what: check::in_words(check), showed, why }
            })
            .collect()
    }

    /// The first assertion that does not hold, in words.
    #[must_use]
    pub fn broken(&self, after: &dyn After) -> Option<String> {
        self.look(after).into_iter().find(|shown| shown.showed == Showed::Failed).map(|shown| shown.why)
    }
}

/// What a real run of a job did not do of its contract; `None` where all of it holds. The command runs only when everything
/// else holds.
#[must_use]
pub fn broken_by(contract: &Contract, job: &Job, run: &Run, executor: &dyn Executor) -> Option<String> {
    let began = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(run.started.0).unwrap_or(0));
    let after = AfterReal { cwd: &job.cwd, run, began };
    let unusual = || {
        let left = || normal::left_by(job, run);
        if contract.earlier.is_empty() { None } else { normal::unusual(&left(), &contract.earlier) }
    };
    contract
        .broken(&after)
        .or_else(unusual)
        .or_else(|| command_fails(contract.command.as_ref()?, job, executor))
}

/// Runs the user's own check; why it does not hold, where it does not. What it writes to standard output is not the job's and is not passed on.
pub fn command_fails(command: &[String], job: &Job, executor: &dyn Executor) -> Option<String> {
    let order = Order {
        id: RunId::new("contract"),
        argv: command.iter().map(OsString::from).collect(),
        cwd: job.cwd.clone(),
        env: BTreeMap::new(),
        deadline_ms: COMMAND_MS,
        grace_ms: 5_000,
        stdout: Passing::Spool,
        keep: 4 * 1024,
        log: None,
    };
    let shown = command.join(" ");
    match executor.run(&order) {
        Ok(run) if run.ended == Ended::Exited(0) => None,
        Ok(run) => Some(format!("`{shown}` ends with {}", run.ended.code())),
        Err(error) => Some(format!("`{shown}` could not be run: {error}")),
    }
}
