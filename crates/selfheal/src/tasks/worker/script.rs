//! The command of a step. A script that the task file holds is a file in the folder of the run, where it can be looked at
//! and repaired.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use selfheal_core::task::{Step, Work};

use crate::command_error::CommandError;
use crate::tasks::keep;
use crate::tasks::read::digest;

/// The command of a step.
///
/// # Errors
/// When its script cannot be written.
pub fn argv(step: &Step, temp: &Path) -> Result<Vec<OsString>, CommandError> {
    match &step.work {
        Work::Command(words) => Ok(words.iter().map(OsString::from).collect()),
        Work::Script { language, text } => {
            let path = script_file(step, temp, language, text);
            // One that is there may have been repaired since.
            if !path.exists() {
                keep::replace(&path, text.as_bytes()).map_err(|error| {
                    CommandError::new(format!("failed to write {}", path.display())).because(&error)
                })?;
            }
            Ok(command(language, path))
        }
        Work::Need { .. } => Err(CommandError::new(format!("step {} has no script yet", step.id))),
    }
}

/// The command that runs a script of a language.
#[must_use]
pub fn command(language: &str, path: PathBuf) -> Vec<OsString> {
    let interpreter = if language == "python" { "python3" } else { language };
    vec![interpreter.into(), path.into()]
}

fn script_file(step: &Step, temp: &Path, language: &str, text: &str) -> PathBuf {
    let ending = if language == "python" { "py" } else { "sh" };
    let digest = digest(&text);
    temp.join(format!("{}-{}.{ending}", step.id, digest.get(..8).unwrap_or(&digest)))
}
