//! What is checked after a run in a box: assertions, and the difference between two runs.

use std::path::Path;

use selfheal_core::effects::Change;
use selfheal_core::ports::BoxedRun;
use selfheal_core::verification::{Check, Showed};

use crate::contract::{self, AfterBoxed};

/// Whether every check holds after a boxed run; the first that does not, in words.
pub(super) fn checks_hold(cwd: &Path, checks: &[Check], run: &BoxedRun) -> Result<(), String> {
    let after = AfterBoxed { cwd, boxed: run };
    let mut shown = checks.iter().map(|check| contract::look(check, &after));
    match shown.find(|(showed, _)| *showed != Showed::Passed) {
        Some((_, why)) => Err(why),
        None => Ok(()),
    }
}

/// What a second run did otherwise than a first one, in words. Sizes and contents count, times do not.
pub(super) fn differences(first: &BoxedRun, second: &BoxedRun) -> Vec<String> {
    let mut found = Vec::new();
    for effect in first.effects.iter().filter(|effect| !is_named_by_time(&effect.path)) {
        match second.effects.iter().find(|other| other.path == effect.path) {
            None => {
                found.push(format!("{} was {}, and is not now", effect.path.display(), word(effect.change)))
            }
            Some(other) if other.content != effect.content || other.change != effect.change => {
                found.push(format!("{} has another content", effect.path.display()));
            }
            Some(_) => {}
        }
    }
    for effect in second.effects.iter().filter(|effect| !is_named_by_time(&effect.path)) {
        if !first.effects.iter().any(|other| other.path == effect.path) {
            found.push(format!("{} is {} now", effect.path.display(), word(effect.change)));
        }
    }
    if first.run.stdout != second.run.stdout {
        found.push("standard output".to_owned());
    }
    found
}

/// What git keeps by hashes that hold the time of a commit: no two runs have the same.
fn is_named_by_time(path: &Path) -> bool {
    let mut parts = path.components().map(|part| part.as_os_str());
    parts.any(|part| part == ".git")
        && parts
            .next()
            .is_some_and(|part| part == "objects" || part == "logs" || part == "refs" || part == "index")
}

fn word(change: Change) -> &'static str {
    match change {
        Change::Created => "created",
        Change::CreatedFolder => "created as a folder",
        Change::Changed => "changed",
        Change::Appended => "appended to",
        Change::Attributes => "given other attributes",
        Change::Deleted => "deleted",
    }
}
