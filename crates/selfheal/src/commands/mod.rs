//! The commands, one file each.

pub mod allow;
pub mod approve;
pub mod audit;
pub mod bench;
pub mod check;
pub mod contract;
pub mod cron;
pub mod demo;
pub mod doctor;
pub mod env_diff;
pub mod explain;
pub mod export;
pub mod freeze;
pub mod gc;
pub mod generate;
pub mod incidents;
pub mod init;
pub mod knowledge;
pub mod label;
pub mod limits;
pub mod memory;
#[cfg(feature = "model")]
pub mod model;
pub mod note;
pub mod notify;
pub mod profile;
pub mod redo;
pub mod reject;
pub mod report;
pub mod rules;
pub mod run;
pub mod show;
pub mod stats;
pub mod survey;
pub mod task;
pub mod tick;
pub mod r#try;
pub mod undo;
#[cfg(feature = "model")]
pub mod write;

use std::io::Write;

use crate::command_error::CommandError;

/// Writes lines to standard output; a reader that went away is no error.
pub(crate) fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Writes one line to standard error.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// What a command ends with: an exit code, or why not.
pub type Ended = Result<i32, CommandError>;
