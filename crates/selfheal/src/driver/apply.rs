//! Changing files: the only place that does. Every file is snapshotted first; the incident that names them was stored
//! before (state `applying`), so that a crash at any point can be completed or taken back.

use std::path::Path;

use selfheal_core::engine::Event;
use selfheal_core::failpoint;
use selfheal_core::ids::IncidentId;
use selfheal_core::incident::StoredChange;
use selfheal_core::ports::{Ledger, PortError, Snapshots, Trouble};

use super::Healer;
use super::record::entry;
use crate::command_error::CommandError;

impl Healer<'_> {
    /// Puts the chosen repair in.
    pub(super) fn apply(&mut self) -> Result<Event, CommandError> {
        let files = self.files();
        let _lock = crate::lock::lock_job(&self.tools.context.state, &self.job.key)?;
        match apply_all(self.tools.store, &self.incident.id, &files) {
            Ok(()) => {
                self.note_applied()?;
                self.note_why_not_rerun();
                Ok(Event::ApplyDone)
            }
            Err(error) if error.trouble == Trouble::Changed => {
                self.notes.push(self.tools.texts.say("note-file-changed", &[]));
                Ok(Event::FileChanged)
            }
            Err(error) => {
                tracing::error!(%error, "a repair could not be put in");
                self.notes.push(CommandError::from(error).one_line());
                Ok(Event::ApplyFailed)
            }
        }
    }

    /// A person wants to know why the job was not run again.
    pub(super) fn note_why_not_rerun(&mut self) {
        let judged = self.repeatable.as_ref().filter(|judged| !judged.may);
        let why = judged.map(|judged| self.tools.texts.say("note-not-repeatable", &[("why", &judged.why)]));
        self.notes.extend(self.permissions.spent.clone().or(why));
    }

    /// The ledger says on whose word a repair was applied; the daily limit counts those by policy alone.
    fn note_applied(&self) -> Result<(), CommandError> {
        let by = match self.permissions.policy {
            None => "person",
            Some(policy) if policy.given_now => "command line",
            Some(_) => "policy",
        };
        let entry = entry(self.tools.context, &self.incident, "applied", serde_json::json!({ "by": by }))?;
        Ok(self.tools.store.append(&[entry])?)
    }

    /// Puts the files back, because the repaired job failed for real.
    pub(super) fn take_back(&mut self) -> Result<(), CommandError> {
        take_back_all(self.tools.store, &self.incident.id, &self.files())?;
        super::taken_back(self.tools.store, &self.incident);
        self.notes.push(self.tools.texts.say("note-taken-back", &[]));
        Ok(())
    }

    fn files(&self) -> Vec<StoredChange> {
        self.incident.rounds.last().map(|round| round.files.clone()).unwrap_or_default()
    }
}

/// Snapshots all files, then changes them. When one cannot be changed, those before it are put back.
///
/// # Errors
/// When a file is not what it was when the repair was made ([`Trouble::Changed`]), or cannot be saved or written; all
/// files are as before then.
pub fn apply_all(store: &dyn Snapshots, id: &IncidentId, files: &[StoredChange]) -> Result<(), PortError> {
    let paths: Vec<&Path> = files.iter().map(|file| file.path.as_path()).collect();
    let made = files.iter().try_for_each(|file| store.make_folders(file));
    if let Err(error) = made.and_then(|()| store.take_all(id, &paths)) {
        files.iter().rev().for_each(|file| store.clear_folders(file));
        return Err(error);
    }
    files.iter().for_each(|_| failpoint::hit("apply.taken"));
    for (done, file) in files.iter().enumerate() {
        if let Err(error) = store.apply(id, file) {
            take_back_all(store, id, files.get(..done).unwrap_or_default())?;
            files.iter().rev().for_each(|file| store.clear_folders(file));
            return Err(error);
        }
        failpoint::hit("apply.file");
    }
    Ok(())
}

/// Puts all files back, the last one first.
///
/// # Errors
/// When one was changed by somebody since; those before it are back then.
pub fn take_back_all(
    store: &dyn Snapshots,
    id: &IncidentId,
    files: &[StoredChange],
) -> Result<(), PortError> {
    files.iter().rev().try_for_each(|file| {
        store.put_back(id, file)?;
        store.clear_folders(file);
        failpoint::hit("undo.file");
        Ok(())
    })
}
