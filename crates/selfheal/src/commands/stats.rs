//! `selfheal stats`: what became of incidents, who repaired them, and what was right how often.

use std::collections::BTreeMap;

use selfheal_core::incident::{Incident, Status};
use selfheal_core::ports::{IncidentFilter, Journal, Priors, Tally};
use serde_json::json;

use super::incidents::standing;
use super::{Ended, print};
use crate::cli::StatsArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::terminal::clean;

/// Incidents that are looked at.
const MOST: usize = 10_000;

/// Prints the counts.
///
/// # Errors
/// When the store cannot be read.
pub fn run(context: &Context, args: &StatsArgs) -> Ended {
    let store = context.store()?;
    let incidents = store.incidents(&IncidentFilter { job: None, states: Vec::new(), most: MOST })?;
    let tallies = store.tallies()?;
    let ends = counted(incidents.iter().map(|incident| standing(incident).to_owned()));
    let makers = counted(incidents.iter().filter_map(maker));
    if args.json {
        let document = json!({ "incidents": ends, "repaired_by": makers, "counts": tallies });
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| CommandError::new("failed to write JSON").because(&error))?;
        print(&format!("{text}\n"));
        return Ok(exit_code::OK);
    }
    let texts = context.texts();
    if incidents.is_empty() && tallies.is_empty() {
        print(&format!("{}\n", texts.say("stats-none", &[])));
        return Ok(exit_code::OK);
    }
    print(&format!("{}\n", texts.say("stats-incidents", &[("list", &listed(&ends))])));
    if !makers.is_empty() {
        print(&format!("{}\n", texts.say("stats-makers", &[("list", &listed(&makers))])));
    }
    if !tallies.is_empty() {
        print(&format!("{}\n", texts.say("stats-counts", &[])));
    }
    for tally in &tallies {
        print(&line(tally));
    }
    Ok(exit_code::OK)
}

/// Who made the repair that healed an incident.
fn maker(incident: &Incident) -> Option<String> {
    let round = incident.rounds.last().filter(|_| incident.status == Status::Healed)?;
    round.source.as_ref().map(|source| source.tier().to_owned())
}

fn counted(words: impl Iterator<Item = String>) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

fn listed(counts: &BTreeMap<String, u32>) -> String {
    counts.iter().map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(", ")
}

fn line(tally: &Tally) -> String {
    let key = &tally.key;
    format!(
        "  {:<12} {:<12} {:<7} {:<28} +{} -{}\n",
        key.class,
        clean(&key.tool),
        key.kind,
        clean(&key.name),
        tally.won,
        tally.lost
    )
}
