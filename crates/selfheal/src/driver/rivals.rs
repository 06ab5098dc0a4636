//! Several candidates of one maker: they are run in parallel boxes, of those that do the same things the smallest
//! that is verified wins, and a tie between repairs that do different things goes to a person.

use std::collections::VecDeque;

use selfheal_core::ports::BoxOrder;
use selfheal_core::proposal::Source;
use selfheal_core::verification::{Scenario, Verdict};

use super::scenario::differences;
use super::trial::{Attempt, verdict};
use super::{Healer, parallel};
use crate::command_error::CommandError;

impl Healer<'_> {
    /// Makes the first runs of candidates that the same maker offers for the same failure, at once. A single candidate is
    /// not run ahead: its run is made when it is its turn.
    pub(super) fn run_ahead(&mut self, attempts: Vec<Attempt>) -> VecDeque<Attempt> {
        let mut attempts: VecDeque<Attempt> = attempts.into();
        let same = attempts
            .iter()
            .take_while(|other| attempts.front().is_some_and(|first| rivals(first, other)))
            .count();
        let most = parallel::width();
        if same < 2 || most < 2 || !self.tools.boxes.rung().can_try() {
            return attempts;
        }
        let fetch = self.tools.contract.paths();
        let limit = self.tools.context.settings.limits.trial_ms;
        let orders: Vec<Option<BoxOrder>> = attempts
            .iter()
            .take(same.min(most))
            .map(|attempt| self.box_order(limit, &attempt.candidate.proposal.changes, &[], &fetch).ok())
            .collect();
        let runs = self.run_all(orders);
        for (attempt, run) in attempts.iter_mut().zip(runs) {
            attempt.ahead = run.map(Box::new);
        }
        attempts
    }

    /// The smallest verified repair among one that passed and what its maker offers besides.
    pub(super) fn smallest(
        &mut self,
        passed: Attempt,
        open: VecDeque<Attempt>,
    ) -> Result<Attempt, CommandError> {
        let mut best = passed;
        let others: Vec<Attempt> = open.into_iter().filter(|other| rivals(&best, other)).collect();
        for mut other in others {
            if size(&other) > size(&best) {
                continue;
            }
            // What the larger one was shown to do besides, the smaller one must do too: else it is smaller for doing less.
            adopt(&mut other.candidate.scenarios, &best.candidate.scenarios);
            let tried = self.tried(other)?;
            if verdict(&tried) != Verdict::Passed {
                continue;
            }
            // A smaller one that does other things may leave something out that no check asks for: the maker's own order
            // counts then.
            match (size(&tried) < size(&best), do_different_things(&best, &tried)) {
                (true, false) => best = tried,
                (false, true) => self.tie.set(true),
                (true, true) | (false, false) => {}
            }
        }
        Ok(best)
    }
}

/// Adds the scenarios that are not known yet.
fn adopt(scenarios: &mut Vec<Scenario>, more: &[Scenario]) {
    for scenario in more {
        if !scenarios.iter().any(|known| known.name == scenario.name) {
            scenarios.push(scenario.clone());
        }
    }
}

/// Whether two candidates are alternatives of one maker.
fn rivals(one: &Attempt, other: &Attempt) -> bool {
    match (&one.candidate.proposal.source, &other.candidate.proposal.source) {
        (Source::Rules { names: one }, Source::Rules { names: other }) => one == other,
        (Source::Model { name: one }, Source::Model { name: other }) => one == other,
        _ => false,
    }
}

fn size(attempt: &Attempt) -> u32 {
    attempt.admission.as_ref().map_or(u32::MAX, |judged| judged.changed_lines)
}

fn do_different_things(one: &Attempt, other: &Attempt) -> bool {
    match (&one.good, &other.good) {
        (Some(one), Some(other)) => {
            // The repaired files themselves are set up, and no effects.
            !differences(one, other).is_empty()
        }
        _ => false,
    }
}
