//! What is checked after a run in a box: assertions, and the difference between two runs.

use std::path::{Path, PathBuf};

use selfheal_core::effects::Change;
use selfheal_core::ports::BoxedRun;
use selfheal_core::scene::absolute;
use selfheal_core::verification::Check;

/// The file that a check looks into, so that its content is fetched from the box.
pub(super) fn looks_into(check: &Check) -> Option<PathBuf> {
    match check {
        Check::Exists { path }
        | Check::Missing { path }
        | Check::MinLines { path, .. }
        | Check::FileContains { path, .. } => Some(path.clone()),
        Check::Succeeded | Check::StdoutContains { .. } | Check::StderrLacks { .. } => None,
    }
}

/// Whether every check holds after a boxed run; the first that does not, in words.
pub(super) fn checks_hold(cwd: &Path, checks: &[Check], run: &BoxedRun) -> Result<(), String> {
    checks.iter().try_for_each(|check| holds(cwd, check, run))
}

fn holds(cwd: &Path, check: &Check, run: &BoxedRun) -> Result<(), String> {
    let (good, why) = match check {
        Check::Succeeded => (run.run.ended.code() == 0, "it fails".to_owned()),
        Check::Exists { path } => (exists(cwd, path, run), format!("{} is not there", path.display())),
        Check::Missing { path } => (!exists(cwd, path, run), format!("{} is there", path.display())),
        Check::MinLines { path, lines } => {
            let count =
                content(cwd, path, run).map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count());
            (count >= *lines as usize, format!("{} has only {count} lines", path.display()))
        }
        Check::FileContains { path, text } => {
            let held =
                content(cwd, path, run).is_some_and(|data| String::from_utf8_lossy(data).contains(text));
            (held, format!("{} lacks a text", path.display()))
        }
        Check::StdoutContains { text } => {
            (run.run.stdout.text().contains(text), "the output lacks a text".to_owned())
        }
        Check::StderrLacks { text } => {
            (!run.run.stderr.text().contains(text), "the error output has a text it must not have".to_owned())
        }
    };
    if good { Ok(()) } else { Err(why) }
}

fn content<'a>(cwd: &Path, path: &Path, run: &'a BoxedRun) -> Option<&'a Vec<u8>> {
    run.fetched.get(path).or_else(|| run.fetched.get(&absolute(cwd, path)))
}

/// By what the run did; else by what is on the machine, which the box showed unchanged.
fn exists(cwd: &Path, path: &Path, run: &BoxedRun) -> bool {
    if content(cwd, path, run).is_some() {
        return true;
    }
    let path = absolute(cwd, path);
    match run.effects.iter().find(|effect| effect.path == path) {
        Some(effect) => effect.change != Change::Deleted,
        None => path.exists(),
    }
}

/// What a second run did otherwise than a first one, in words. Sizes and contents count, times do not.
pub(super) fn differences(first: &BoxedRun, second: &BoxedRun) -> Vec<String> {
    let mut found = Vec::new();
    for effect in &first.effects {
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
    for effect in &second.effects {
        if !first.effects.iter().any(|other| other.path == effect.path) {
            found.push(format!("{} is {} now", effect.path.display(), word(effect.change)));
        }
    }
    if first.run.stdout != second.run.stdout {
        found.push("standard output".to_owned());
    }
    found
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
