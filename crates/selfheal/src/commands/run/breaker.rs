//! A job that fails again and again must not be healed again and again.

use selfheal_core::engine::State;
use selfheal_core::incident::{Incident, Status};
use selfheal_core::ports::{Clock, IncidentFilter, Journal, RunRecord, Snapshots, Standing};
use selfheal_store::Store;

use super::RunPlan;
use crate::texts::Texts;

impl RunPlan<'_> {
    /// A job that fails every minute must not make a new repair every minute.
    ///
    /// Says so, and whether a repair waits for a limited time.
    pub(super) fn already_waiting(&self, store: &Store, texts: &Texts) -> Option<(String, bool)> {
        let filter = IncidentFilter { job: Some(self.job.key.clone()), states: Vec::new(), most: 10 };
        let earlier = store.incidents(&filter).ok()?;
        let now = self.context.clock.now();
        let in_time = |incident: &&Incident| incident.answer_by.is_none_or(|until| now <= until);
        let held = earlier.iter().filter(in_time).find(|incident| still_waits(store, incident));
        if let Some(held) = held.filter(|_| self.args.apply.is_none()) {
            return Some((texts.say("note-waiting", &[("id", held.id.short())]), held.answer_by.is_some()));
        }
        let limit = self.context.settings.limits.breaker as usize;
        let runs = store.runs(&self.job.key, limit.saturating_mul(4)).ok()?;
        let open = breaker_is_open(&earlier, &runs, limit);
        open.then(|| (texts.say("note-breaker", &[("n", &limit.to_string())]), false))
    }
}

/// A held repair that could still be approved: its files are what they were.
fn still_waits(store: &Store, incident: &Incident) -> bool {
    incident.state == State::Held
        && incident.rounds.last().is_some_and(|round| {
            !round.files.is_empty()
                && round.files.iter().all(|file| matches!(store.state_of(file), Ok(Standing::Before)))
        })
}

/// Whether the newest incidents all ended in the same bad way with no good run since the last of them.
fn breaker_is_open(earlier: &[Incident], runs: &[RunRecord], limit: usize) -> bool {
    let Some(newest) = earlier.first() else { return false };
    let same = earlier
        .iter()
        .take_while(|incident| {
            incident.signature.is_some()
                && incident.signature == newest.signature
                && incident.status == newest.status
                && matches!(incident.status, Status::Failed | Status::Limit | Status::Refused)
        })
        .count();
    let oldest = earlier.get(same.saturating_sub(1)).map(|incident| incident.opened);
    let good_since = runs.iter().any(|run| crate::driver::was_good(run) && Some(run.started) > oldest);
    same >= limit && !good_since
}
