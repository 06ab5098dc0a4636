//! What runs of tasks there are, in short. The state files are the truth; the store holds an index of them, so that many are
//! listed without reading each. A row counts only while the file is the one that it was made of; what is missing or behind is
//! made from the files.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use selfheal_core::ids::Timestamp;
use selfheal_core::incident::Owner;
use selfheal_core::task::{Stage, TaskState};
use selfheal_store::IndexedTask;
use serde::{Deserialize, Serialize};

use super::keep::{self, RunFolder};
use crate::context::Context;

/// A run in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Its identity.
    pub run: String,
    /// The task.
    pub task: String,
    /// The task file.
    pub file: PathBuf,
    /// Where it stands.
    pub stage: Stage,
    /// When it began.
    pub started: Timestamp,
    /// When its state was stored last.
    pub updated: Timestamp,
    /// The process that works on it.
    pub owner: Option<Owner>,
    /// The steps that ended well.
    pub completed: Vec<String>,
    /// The steps that are not ended.
    pub pending: Vec<String>,
    /// How many steps there are.
    pub steps: usize,
    /// The incidents that its steps tell of.
    pub incidents: Vec<String>,
}

impl Summary {
    /// Of a state.
    #[must_use]
    pub fn of(state: &TaskState) -> Self {
        let healed = state.steps.values().filter_map(|step| step.result.as_ref()?.healing.as_ref());
        Self {
            run: state.run.clone(),
            task: state.task.clone(),
            file: state.file.clone(),
            stage: state.stage,
            started: state.started,
            updated: state.updated,
            owner: state.owner.clone(),
            completed: state.completed.clone(),
            pending: state.pending.clone(),
            steps: state.steps.len(),
            incidents: healed.map(|healing| healing.incident.clone()).collect(),
        }
    }

    /// Whether it was broken off: nobody works on it, and it is not over.
    #[must_use]
    pub fn is_broken_off(&self) -> bool {
        keep::broken_off(self.stage, self.owner.as_ref())
    }
}

/// A run whose state file cannot be used.
#[derive(Clone, Debug)]
pub struct Damaged {
    /// Its identity.
    pub run: String,
    /// Where it is.
    pub folder: RunFolder,
    /// What is wrong.
    pub why: String,
    /// What to do.
    pub hints: Vec<String>,
    /// What was known of it before, where something was.
    pub before: Option<Summary>,
}

/// The runs that there are.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Those whose state can be read, the newest first.
    pub runs: Vec<(RunFolder, Summary)>,
    /// The others.
    pub damaged: Vec<Damaged>,
    /// Folders of runs that have stored nothing yet: nothing of them was begun.
    pub unbegun: Vec<(String, RunFolder)>,
}

/// Looks for all runs.
#[must_use]
pub fn all(context: &Context) -> Listing {
    let entries = fs::read_dir(keep::root(context).join("runs")).into_iter().flatten().flatten();
    let folders: Vec<(String, RunFolder)> = entries
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, RunFolder::at(entry.path()))))
        .collect();
    if folders.is_empty() {
        return Listing::default();
    }
    // Without the store every file is read.
    let store = context.store().ok();
    let mut known = store.as_ref().and_then(|store| store.indexed_tasks().ok()).unwrap_or_default();
    let (mut listing, mut fresh) = (Listing::default(), Vec::new());
    for (run, folder) in folders {
        // Before the first state is stored nothing was begun.
        let Some(stamp) = stamp(&folder) else {
            listing.unbegun.push((run, folder));
            continue;
        };
        let row = known.remove(&run);
        let before = row.as_ref().and_then(|row| serde_json::from_str::<Summary>(row.body.as_str()).ok());
        let current = before.as_ref().filter(|_| row.as_ref().is_some_and(|row| row.stamp == stamp));
        if let Some(summary) = current {
            listing.runs.push((folder, summary.clone()));
            continue;
        }
        match folder.load() {
            Ok(state) => {
                let summary = Summary::of(&state);
                fresh.extend(row_of(context, &summary, stamp).map(|row| (run, row)));
                listing.runs.push((folder, summary));
            }
            Err(error) => {
                let (why, hints) = (error.one_line(), error.hints);
                listing.damaged.push(Damaged { run, folder, why, hints, before });
            }
        }
    }
    let gone: Vec<String> = known.into_keys().collect();
    if let Some(store) = store.filter(|_| !fresh.is_empty() || !gone.is_empty())
        && let Err(error) = store.index_tasks(&fresh, &gone)
    {
        tracing::debug!(%error, "the index of tasks was not brought up to date");
    }
    listing.runs.sort_by(|(_, one), (_, other)| (other.started, &other.run).cmp(&(one.started, &one.run)));
    listing
}

/// What tells a state file from the one that stood there before: each is a new file.
fn stamp(folder: &RunFolder) -> Option<String> {
    let facts = fs::symlink_metadata(folder.state_file()).ok()?;
    Some(format!("{}-{}-{}.{:09}", facts.ino(), facts.len(), facts.ctime(), facts.ctime_nsec()))
}

/// The row of a run; none where something in it looks like a secret, so that its file is read each time.
fn row_of(context: &Context, summary: &Summary, stamp: String) -> Option<IndexedTask> {
    let body = context.redactor().json(summary).ok()?;
    let same = serde_json::from_str::<Summary>(body.as_str()).is_ok_and(|read| read == *summary);
    same.then_some(IndexedTask { stamp, body })
}
