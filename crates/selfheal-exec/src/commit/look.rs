//! The three-way look before anything is changed: what the job started from, what it made, and what is there now.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::at::At;
use super::copy;
use super::error::{CommitError, Conflict, Why};
use super::facts::{Facts, is_absence};
use super::steps::{Deed, Kind, Step};

/// So many conflicts are named.
const MOST_NAMED: usize = 20;

/// What every path was, for the look into folders that go as a whole.
pub(crate) type Known = BTreeMap<PathBuf, Facts>;

/// What the look at one step showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Showed {
    /// It can be done.
    Ready,
    /// Somebody did the same already.
    Done,
    /// It must not be done.
    Conflict(Why),
}

/// Collects conflicts.
#[derive(Debug, Default)]
pub(crate) struct Conflicts(Vec<Conflict>);

impl Conflicts {
    pub(crate) fn add(&mut self, path: &Path, why: Why) {
        if self.0.len() < MOST_NAMED {
            self.0.push(Conflict { path: path.to_path_buf(), why });
        }
    }

    pub(crate) fn into_result(self) -> Result<(), CommitError> {
        if self.0.is_empty() { Ok(()) } else { Err(CommitError::Conflicts(self.0)) }
    }
}

/// Looks at one step. `at` is its path, `comes` what would be put there.
pub(crate) fn step(step: &Step, at: &At, comes: &At, known: &Known) -> io::Result<Showed> {
    let now = match at.facts() {
        Err(error) if is_unreachable(&error) => return Ok(Showed::Conflict(Why::Unreachable)),
        other => other?,
    };
    Ok(match (&step.expect, &now) {
        (None, None) => Showed::Ready,
        (Some(_), None) if step.is(Kind::Out) => Showed::Done,
        (Some(_), None) => Showed::Conflict(Why::Gone),
        (Some(expect), Some(now)) if expect.untouched(now) => {
            if now.is_folder() && matches!(step.deed, Deed::Move(_)) {
                return inside(&at.path(), &step.path, known);
            }
            Showed::Ready
        }
        (expect, Some(now)) => {
            if is_same(step, now, at, comes)? {
                Showed::Done
            } else {
                Showed::Conflict(if expect.is_some() { Why::Changed } else { Why::Appeared })
            }
        }
    })
}

/// Whether what is there is what would be put there.
fn is_same(step: &Step, now: &Facts, at: &At, comes: &At) -> io::Result<bool> {
    if !matches!(step.deed, Deed::Move(Kind::In | Kind::Swap)) {
        return Ok(false);
    }
    let Some(wanted) = comes.facts()? else { return Ok(false) };
    let bits = step.last.as_ref().map_or(wanted.mode & 0o7777, |meta| meta.bits);
    let alike = (now.mode, now.uid, now.gid) == ((wanted.mode & !0o7777) | bits, wanted.uid, wanted.gid);
    Ok(alike && (now.is_folder() || (now.is_file() && copy::same(at, comes)?)))
}

/// Whether a folder that goes as a whole holds nothing but what was known.
pub(crate) fn inside(folder: &Path, shown: &Path, known: &Known) -> io::Result<Showed> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, shown) = (entry.path(), shown.join(entry.file_name()));
        let Some(now) = Facts::of(&path)? else { continue };
        match known.get(&shown) {
            None => return Ok(Showed::Conflict(Why::Appeared)),
            Some(base) if !base.untouched(&now) => return Ok(Showed::Conflict(Why::Changed)),
            Some(_) if now.is_folder() => match inside(&path, &shown, known)? {
                Showed::Ready => {}
                other => return Ok(other),
            },
            Some(_) => {}
        }
    }
    Ok(Showed::Ready)
}

/// Whether an error says that the way to a path is another one now.
pub(crate) fn is_unreachable(error: &io::Error) -> bool {
    is_absence(error) || Errno::from_io_error(error) == Some(Errno::LOOP)
}
