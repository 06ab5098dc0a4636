//! A job: what the user wants run, where, and what he said about it.

mod wrappers;

pub use wrappers::inner_command;

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::ids::JobKey;

/// What the user wants run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The identity of the job; never holds its arguments, which may be dates.
    pub key: JobKey,
    /// The command and its arguments, exactly as given.
    pub argv: Vec<OsString>,
    /// The folder that the command runs in, absolute.
    pub cwd: PathBuf,
    /// The script behind the command, if there is one: resolved and absolute.
    pub script: Option<PathBuf>,
    /// What the user declared about running it more than once.
    pub repeatable: Repeatable,
}

/// Whether a job may run again after a failure, as far as its owner said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeatable {
    /// Nobody said anything: evidence decides, and doubt means no.
    #[default]
    Unstated,
    /// The owner says that running it again is harmless.
    Declared,
    /// The owner says that it must not run again.
    Forbidden,
}
