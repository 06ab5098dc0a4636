//! `selfheal reject`: drops repairs that waited for a decision.

use selfheal_core::engine::Event;
use selfheal_core::incident::{Incident, Remark};
use selfheal_core::ports::Clock;
use selfheal_store::Store;

use super::approve::{Decider, open_all, taken};
use super::{Ended, print};
use crate::cli::RejectArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;

/// Rejects each of them.
///
/// # Errors
/// When an incident does not wait for a decision.
pub fn run(context: &Context, args: &RejectArgs) -> Ended {
    let store = context.store()?;
    let incidents = open_all(context, &store, &args.ids)?;
    for incident in incidents {
        let incident = reject(context, &store, &incident, args.reason.as_deref())?;
        print(&format!("{}\n", context.texts().say("rejected", &[("id", incident.id.short())])));
    }
    Ok(exit_code::OK)
}

/// Drops a repair; the incident as it is then. The reason stays with the incident.
///
/// # Errors
/// When it does not wait any more, or cannot be stored.
pub(crate) fn reject(
    context: &Context,
    store: &Store,
    incident: &Incident,
    reason: Option<&str>,
) -> Result<Incident, CommandError> {
    let (_lock, mut incident) = taken(context, store, incident)?;
    crate::driver::taken_back(store, &incident);
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    if let Some(reason) = reason {
        let text = context.redactor().text(reason);
        incident.remarks.push(Remark { at: context.clock.now(), uid: context.uid, text });
    }
    Decider::new(context, store).go_because(&mut incident, Event::Rejected, "rejected", reason)?;
    Ok(incident)
}
