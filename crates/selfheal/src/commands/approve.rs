//! `selfheal approve`: puts repairs in that waited for a decision.

use selfheal_core::engine::{Action, Event, Plan, State, step};
use selfheal_core::incident::Incident;
use selfheal_core::ports::{Clock, Journal, Trouble};
use selfheal_store::Store;
use serde_json::json;

use super::{Ended, print};
use crate::cli::DecideArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::driver::{apply_all, watch};
use crate::driver_entry as entry;
use crate::exit_code;
use crate::lock::JobLock;

/// Applies each of them; stops at the first that cannot be.
///
/// # Errors
/// When an incident does not wait for a decision, or its files are not what they were.
pub fn run(context: &Context, args: &DecideArgs) -> Ended {
    let store = context.store()?;
    // All are looked up first, so that a typing error in the last one changes nothing.
    let incidents = open_all(context, &store, &args.ids)?;
    for incident in incidents {
        let incident = approve(context, &store, &incident)?;
        print(&format!("{}\n", context.texts().say("approved", &[("id", incident.id.short())])));
    }
    Ok(exit_code::OK)
}

/// The incidents that some words mean, each once however often it was named.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_all(
    context: &Context,
    store: &Store,
    ids: &[String],
) -> Result<Vec<Incident>, CommandError> {
    let mut all: Vec<Incident> = Vec::new();
    for id in ids {
        let incident = open(context, store, id)?;
        if all.iter().all(|known| known.id != incident.id) {
            all.push(incident);
        }
    }
    Ok(all)
}

/// An incident that waits for a decision. One whose time is over expires by this.
///
/// # Errors
/// When there is none, or it does not wait (any more).
pub(crate) fn open(context: &Context, store: &Store, id: &str) -> Result<Incident, CommandError> {
    let incident = waiting(store, id)?;
    if incident.answer_by.is_some_and(|until| context.clock.now() > until) {
        let said = watch::expire(context, store, &incident.id)?.unwrap_or_default();
        return Err(CommandError::new(said).hint("run the job again for a fresh repair"));
    }
    Ok(incident)
}

fn waiting(store: &Store, id: &str) -> Result<Incident, CommandError> {
    let incident = store.incident(id)?;
    if incident.state != State::Held {
        let what = format!(
            "incident {} does not wait for a decision: it is {}",
            incident.id.short(),
            incident.state.word()
        );
        return Err(CommandError::new(what).hint("selfheal incidents --held"));
    }
    Ok(incident)
}

/// The right to decide on an incident, and the incident as it is now: somebody may have decided while the right was
/// waited for.
///
/// # Errors
/// When it does not wait any more, or another selfheal holds the right for too long.
pub(crate) fn taken(
    context: &Context,
    store: &Store,
    incident: &Incident,
) -> Result<(JobLock, Incident), CommandError> {
    let lock = crate::lock::lock_job(&context.state, &incident.job)?;
    Ok((lock, waiting(store, incident.id.as_str())?))
}

/// Puts a repair in that waited for a decision; the incident as it is then.
///
/// # Errors
/// When it does not wait any more, has no repair, or its files are not what they were; nothing is changed then.
pub(crate) fn approve(
    context: &Context,
    store: &Store,
    incident: &Incident,
) -> Result<Incident, CommandError> {
    let (_lock, mut incident) = taken(context, store, incident)?;
    let files = incident.rounds.last().map(|round| round.files.clone()).unwrap_or_default();
    if files.is_empty() {
        return Err(CommandError::new(format!("incident {} has no repair to apply", incident.id.short())));
    }
    let decider = Decider::new(context, store);
    decider.go(&mut incident, Event::Approved, "approved")?;
    match apply_all(store, &incident.id, &files) {
        Ok(()) => decider.go(&mut incident, Event::ApplyDone, "applied").map(|()| incident),
        Err(error) => {
            let changed = error.trouble == Trouble::Changed;
            let event = if changed { Event::FileChanged } else { Event::ApplyFailed };
            decider.go(&mut incident, event, "not_applied")?;
            let failed = CommandError::from(error);
            Err(if changed {
                failed
                    .hint("the file was changed since the repair was made: run the job again for a fresh one")
            } else {
                failed
            })
        }
    }
}

/// Takes an incident a step on by a person's word, and stores it with its ledger record.
pub(crate) struct Decider<'a> {
    context: &'a Context,
    store: &'a Store,
    plan: Plan,
}

impl<'a> Decider<'a> {
    /// For the incidents of a store.
    pub(crate) fn new(context: &'a Context, store: &'a Store) -> Self {
        Self { context, store, plan: Plan { limits: context.settings.limits, may_rerun: false } }
    }

    /// Takes the step of an event; `kind` is the ledger's word for it.
    pub(crate) fn go(&self, incident: &mut Incident, event: Event, kind: &str) -> Result<(), CommandError> {
        self.go_because(incident, event, kind, None)
    }

    /// The same with what the person said for a reason.
    pub(crate) fn go_because(
        &self,
        incident: &mut Incident,
        event: Event,
        kind: &str,
        reason: Option<&str>,
    ) -> Result<(), CommandError> {
        let working = matches!(event, Event::Approved | Event::UndoBegun | Event::Redone);
        let (state, actions) =
            step(&self.plan, &incident.state, event).map_err(|error| CommandError::new(error.to_string()))?;
        for action in &actions {
            if let Action::Finish(status) = action {
                incident.status = *status;
            }
        }
        incident.owner = working.then(selfheal_exec::owner_of_self);
        incident.state = state;
        incident.updated = self.context.clock.now();
        let files = incident.rounds.last().map(|round| &round.files);
        let details = json!({
            "by": "person",
            "uid": self.context.uid,
            "files": files,
            "status": incident.status.word(),
            "reason": reason,
        });
        Ok(self.store.store(incident, &[entry(self.context, incident, kind, details)?])?)
    }
}
