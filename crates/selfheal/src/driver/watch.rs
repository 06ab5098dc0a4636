//! The watch after a repair: a job that fails again in the same way gets its file back; one that stays good for a day
//! and three runs (`[limits] watch`, `watch-runs`) is confirmed.

use selfheal_core::engine::{Event, Plan, State, step};
use selfheal_core::ids::{IncidentId, JobKey, Signature, Timestamp};
use selfheal_core::incident::{Incident, Status};
use selfheal_core::ports::{Clock, IncidentFilter, Journal, Snapshots, Standing, Trouble};
use serde_json::json;

use super::apply::take_back_all;
use super::record::entry;
use crate::command_error::CommandError;
use crate::context::Context;
use selfheal_store::Store;

/// Open decisions that are looked at.
const MOST_HELD: usize = 1_000;

/// The incidents of a job, or of all jobs, whose repair is being watched.
fn watched(store: &Store, job: Option<JobKey>) -> Result<Vec<Incident>, CommandError> {
    Ok(store.incidents(&IncidentFilter { job, states: vec!["watching"], most: 100 })?)
}

/// Confirms the repairs that stayed good long enough.
///
/// # Errors
/// When the store cannot be read or written.
pub fn confirm_due(context: &Context, store: &Store) -> Result<usize, CommandError> {
    let now = context.clock.now();
    let limits = context.settings.limits;
    let (least, runs) = (i64::try_from(limits.watch_ms).unwrap_or(i64::MAX), limits.watch_runs as usize);
    let mut confirmed = 0;
    for found in watched(store, None)? {
        // A repair that is being taken back just now is not confirmed over that.
        let _lock = crate::lock::lock_job(&context.state, &found.job)?;
        let mut incident = store.incident(found.id.as_str())?;
        if incident.state != State::Watching
            || now.0 - incident.updated.0 < least
            || good_runs_since(store, &incident.job, incident.updated)? < runs
        {
            continue;
        }
        incident.state = State::Confirmed;
        store.store(&incident, &[entry(context, &incident, "confirmed", json!({ "good_runs": runs }))?])?;
        confirmed += 1;
    }
    Ok(confirmed)
}

/// Ends the decisions that are not open any more: nobody answered in time, or a file is not what it was. A line for each.
///
/// # Errors
/// When the store cannot be read or written.
pub fn expire_due(context: &Context, store: &Store) -> Result<Vec<String>, CommandError> {
    let held = store.incidents(&IncidentFilter { job: None, states: vec!["held"], most: MOST_HELD })?;
    let mut said = Vec::new();
    for incident in held {
        if closed(context, store, &incident).is_some() {
            said.extend(expire(context, store, &incident.id)?);
        }
    }
    Ok(said)
}

/// Why a decision is not open any more, if it is not.
fn closed(context: &Context, store: &Store, incident: &Incident) -> Option<Event> {
    if incident.answer_by.is_some_and(|until| context.clock.now() > until) {
        return Some(Event::NobodyAnswered);
    }
    let files = incident.rounds.last().map(|round| round.files.as_slice()).unwrap_or_default();
    let changed =
        files.iter().any(|file| matches!(store.state_of(file), Ok(Standing::After | Standing::Other)));
    changed.then_some(Event::FileChanged)
}

/// Ends a decision that is not open any more; says so in a line. Looks again once it is the only one that decides.
///
/// # Errors
/// When the store cannot be read or written.
pub fn expire(context: &Context, store: &Store, id: &IncidentId) -> Result<Option<String>, CommandError> {
    let job = store.incident(id.as_str())?.job;
    let _lock = crate::lock::lock_job(&context.state, &job)?;
    let mut incident = store.incident(id.as_str())?;
    let event = Some(State::Held)
        .filter(|held| *held == incident.state)
        .and_then(|_| closed(context, store, &incident));
    let Some(event) = event else { return Ok(None) };
    let why = if event == Event::NobodyAnswered { "expired-unanswered" } else { "expired-changed" };
    let plan = Plan { limits: context.settings.limits, may_rerun: false };
    let (state, _) =
        step(&plan, &incident.state, event).map_err(|error| CommandError::new(error.to_string()))?;
    incident.state = state;
    incident.status = Status::HandedOver;
    incident.updated = context.clock.now();
    store.store(&incident, &[entry(context, &incident, "expired", json!({ "why": why }))?])?;
    Ok(Some(context.texts().say(why, &[("id", incident.id.short())])))
}

fn good_runs_since(store: &Store, job: &JobKey, since: Timestamp) -> Result<usize, CommandError> {
    let runs = store.runs(job, 50)?;
    Ok(runs.iter().filter(|run| run.started >= since && super::was_good(run)).count())
}

/// Whether a failure is that of a job that ended well and broke its contract.
fn breaks_contract(signature: &Signature) -> bool {
    signature.as_str().starts_with(super::examine::CONTRACT)
}

/// Takes a watched repair back when its job failed again with the same signature, or breaks its contract; says which
/// incident it was.
///
/// # Errors
/// When the store cannot be read or written, or the files cannot be put back.
pub fn failed_again(
    context: &Context,
    store: &Store,
    fresh: &Incident,
) -> Result<Option<Incident>, CommandError> {
    let Some(signature) = &fresh.signature else { return Ok(None) };
    let watching = watched(store, Some(fresh.job.clone()))?;
    if watching.is_empty() {
        return Ok(None);
    }
    // Other runs of the job may fail at the same time: one of them takes the repair back.
    let _lock = crate::lock::lock_job(&context.state, &fresh.job)?;
    for found in watching {
        let mut incident = store.incident(found.id.as_str())?;
        if incident.state != State::Watching {
            continue;
        }
        // A run that began before the repair was in place says nothing about it.
        let same = incident.signature.as_ref() == Some(signature) || breaks_contract(signature);
        if !same || fresh.opened < incident.updated {
            continue;
        }
        if roll_back(context, store, &mut incident, fresh)? {
            return Ok(Some(incident));
        }
        return Ok(None);
    }
    Ok(None)
}

/// Takes a repair back; whether that could be. What is about to happen is stored first, so that a crash is completed.
fn roll_back(
    context: &Context,
    store: &Store,
    incident: &mut Incident,
    fresh: &Incident,
) -> Result<bool, CommandError> {
    let files = incident.rounds.last().map(|round| round.files.clone()).unwrap_or_default();
    for file in &files {
        if store.state_of(file)? == Standing::Other {
            // Somebody changed the file since: it is theirs now.
            return Ok(false);
        }
    }
    let details = json!({ "failed_again_in": fresh.id.as_str() });
    incident.state = State::TakingBack { failed: true };
    incident.owner = Some(selfheal_exec::owner_of_self());
    store.store(incident, &[entry(context, incident, "taking_back", details.clone())?])?;
    let taken = take_back_all(store, &incident.id, &files);
    incident.owner = None;
    match &taken {
        Ok(()) => {
            super::taken_back(store, incident);
            incident.state = State::RolledBack;
        }
        Err(_) => incident.state = State::HandedOver,
    }
    incident.status = Status::HandedOver;
    store.store(incident, &[entry(context, incident, incident.state.word(), details)?])?;
    match taken {
        Ok(()) => Ok(true),
        Err(error) if error.trouble == Trouble::Changed => Ok(false),
        Err(error) => Err(error.into()),
    }
}
