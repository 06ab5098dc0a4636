//! `selfheal incidents`: the list of what failed.

use selfheal_core::engine::State;
use selfheal_core::ids::JobKey;
use selfheal_core::incident::Incident;
use selfheal_core::ports::{IncidentFilter, Journal};

use super::{Ended, print};
use crate::cli::IncidentsArgs;
use crate::clock::local_time;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::terminal::clean;

/// Prints a line an incident, the newest first.
///
/// # Errors
/// When the store cannot be read.
pub fn run(context: &Context, args: &IncidentsArgs) -> Ended {
    let store = context.store()?;
    let states = if args.held { vec!["held"] } else { Vec::new() };
    let filter = IncidentFilter { job: args.job.clone().map(JobKey::new), states, most: args.most };
    let incidents = store.incidents(&filter)?;
    if args.json {
        let text = serde_json::to_string_pretty(&incidents)
            .map_err(|error| CommandError::new("failed to write JSON").because(&error))?;
        print(&format!("{text}\n"));
        return Ok(exit_code::OK);
    }
    if incidents.is_empty() {
        print(&format!("{}\n", context.texts().say("no-incidents", &[])));
    }
    for incident in &incidents {
        let note = incident
            .note
            .as_ref()
            .map(|note| note.as_str().lines().next().unwrap_or_default())
            .unwrap_or_default();
        print(&format!(
            "{}  {}  {:<11} {}  {}\n",
            incident.id.short(),
            local_time(incident.opened),
            standing(incident),
            clean(incident.command.as_str()),
            clean(note),
        ));
    }
    for line in super::doctor::undelivered(context) {
        super::tell(&format!("selfheal: {line}"));
    }
    Ok(exit_code::OK)
}

/// What became of an incident, as people ask: a repair that was taken back is not in place, whatever it ended as.
pub(crate) fn standing(incident: &Incident) -> &'static str {
    match incident.state {
        State::RolledBack => incident.state.word(),
        _ => incident.status.word(),
    }
}
