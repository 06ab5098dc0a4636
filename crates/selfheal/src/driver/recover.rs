//! Recovering incidents whose process is gone: done by `tick`, the first act of every command.

use std::cell::LazyCell;

use selfheal_core::engine::{Action, Event, Plan, State, step};
use selfheal_core::incident::{Incident, Status};
use selfheal_core::ports::{Journal, Snapshots, Standing};
use serde_json::json;

use super::apply::take_back_all;
use super::record::entry;
use crate::command_error::CommandError;
use crate::context::Context;
use selfheal_store::Store;

/// Recovers every incident whose process is gone; says what was done, a sentence each.
///
/// # Errors
/// When the store cannot be read or written.
pub fn recover_all(context: &Context, store: &Store) -> Result<Vec<String>, CommandError> {
    // Every run asks, and hardly ever is there anything to be said.
    let texts = LazyCell::new(|| context.texts());
    let mut said = Vec::new();
    for found in store.owned_incidents()? {
        if !is_left(&found) {
            continue;
        }
        // Somebody else may be recovering it, or has done so, and people may have gone on with it.
        let _lock = crate::lock::lock_job(&context.state, &found.job)?;
        let mut incident = store.incident(found.id.as_str())?;
        if !is_left(&incident) {
            continue;
        }
        let was = incident.state.word();
        settle(context, store, &mut incident)?;
        let values = [("id", incident.id.short()), ("was", was), ("now", incident.state.word())];
        said.push(texts.say("recovered", &values));
    }
    Ok(said)
}

/// Whether the process that worked on an incident is gone.
fn is_left(incident: &Incident) -> bool {
    incident.owner.as_ref().is_some_and(|owner| {
        selfheal_exec::boot_id().as_deref() != Some(owner.boot_id.as_str())
            || !selfheal_exec::process_lives(owner.pid, owner.start_ticks)
    })
}

/// A repair could not be taken back, not or not wholly: it is nobody's work any more, and can be taken back again when what was
/// in the way is gone.
///
/// # Errors
/// When it cannot be stored; then the next start settles it.
pub fn not_taken_back(context: &Context, store: &Store, incident: &mut Incident) -> Result<(), CommandError> {
    incident.state = State::HandedOver;
    incident.status = Status::HandedOver;
    incident.owner = None;
    let details = json!({ "by": "person", "uid": context.uid, "status": incident.status.word() });
    Ok(store.store(incident, &[entry(context, incident, "not_taken_back", details)?])?)
}

fn settle(context: &Context, store: &Store, incident: &mut Incident) -> Result<(), CommandError> {
    let plan = Plan { limits: context.settings.limits, may_rerun: false };
    let (mut state, actions) = step(&plan, &incident.state, Event::FoundDead)
        .map_err(|error| CommandError::new(error.to_string()))?;
    let mut tell = actions.contains(&Action::Notify);
    if actions.contains(&Action::Recover) {
        let files = incident.rounds.last().map(|round| round.files.clone()).unwrap_or_default();
        files.iter().try_for_each(|file| store.tidy(&incident.id, file))?;
        let failed = incident.state == State::TakingBack { failed: true };
        state = recover(store, incident)?;
        tell |= failed || state == State::HandedOver;
    }
    for action in &actions {
        if let Action::Finish(status) = action {
            incident.status = *status;
        }
    }
    incident.state = state;
    incident.owner = None;
    let details = json!({ "recovered": true, "status": incident.status.word() });
    store.store(incident, &[entry(context, incident, "recovered", details)?])?;
    if tell {
        use selfheal_core::ports::Outbox;
        store.put(&super::message(context, incident))?;
    }
    Ok(())
}

/// Completes or takes back what a dead process left half done. A repair that was being put in: all files changed means it
/// was done, all unchanged that it had not begun, anything else is put back from the snapshots. One that was being taken
/// back is taken back.
///
/// # Errors
/// When the files can be neither read nor put back.
pub fn recover(store: &Store, incident: &mut Incident) -> Result<State, CommandError> {
    let files = incident.rounds.last().map(|round| round.files.clone()).unwrap_or_default();
    let standing = files.iter().map(|file| store.state_of(file)).collect::<Result<Vec<_>, _>>()?;
    let back = match incident.state {
        State::TakingBack { failed } => Some(failed),
        _ => None,
    };
    if back.is_none() && standing.iter().all(|at| *at == Standing::After) {
        incident.status = Status::Healed;
        return Ok(State::Watching);
    }
    if standing.contains(&Standing::Other) {
        incident.status = Status::HandedOver;
        return Ok(State::HandedOver);
    }
    let begun: Vec<_> = files
        .iter()
        .zip(&standing)
        .filter(|(_, at)| matches!(at, Standing::After | Standing::Torn))
        .map(|(file, _)| file.clone())
        .collect();
    take_back_all(store, &incident.id, &begun)?;
    // The folders of those that were not begun may have been made already.
    files.iter().rev().for_each(|file| store.clear_folders(file));
    let Some(failed) = back else {
        // Nothing of it is in place: the repair is as ready as it was before it was begun.
        incident.status = Status::Held;
        return Ok(State::Held);
    };
    super::taken_back(store, incident);
    if failed {
        incident.status = Status::HandedOver;
    }
    Ok(State::RolledBack)
}
