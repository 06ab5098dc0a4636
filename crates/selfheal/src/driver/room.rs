//! The room that the trials of one incident have: a tenth of the free disk, less where the settings say so, and where boxes
//! are copies on the disk a GiB stays free.

use selfheal_core::effects::Change;
use selfheal_core::ports::{BoxOrder, BoxedRun};
use selfheal_core::run::Ended;

use super::trial::MOST_TRIALS;
use super::{Healer, Tools, parallel};

/// The part of the free disk, and what stays free of it.
const PART: u64 = 10;
const STAYS_FREE: u64 = 1 << 30;
/// With less than this nothing is tried.
const LEAST: u64 = 64 << 10;

/// The room at the beginning of an incident.
pub(super) fn of(tools: &Tools) -> u64 {
    let most = tools.context.settings.limits.trial_bytes;
    let Ok(facts) = rustix::fs::statvfs(&tools.context.state) else { return most };
    let free = facts.f_bavail.saturating_mul(facts.f_frsize);
    let copies = tools.boxes.rung().name == "copy";
    let spare = if copies { free.saturating_sub(STAYS_FREE) } else { free };
    most.min(free / PART).min(spare)
}

impl Healer<'_> {
    /// Whether another trial has room.
    pub(super) fn has_room(&self) -> bool {
        self.room >= LEAST
    }

    /// Counts what a boxed run wrote, and ends trials after one that ran into its time limit.
    pub(super) fn count(&mut self, boxed: &BoxedRun) {
        let wrote = |change: Change| matches!(change, Change::Created | Change::Changed | Change::Appended);
        let bytes: u64 =
            boxed.effects.iter().filter(|effect| wrote(effect.change)).map(|effect| effect.len).sum();
        self.room = self.room.saturating_sub(bytes);
        if matches!(boxed.run.ended, Ended::TimedOut { .. }) {
            // What ran into its limit once would do so in every further trial, and the job waits meanwhile.
            self.trials = MOST_TRIALS;
        }
    }

    /// Runs orders at once; together they get the room that is left.
    pub(super) fn run_all(&mut self, mut orders: Vec<Option<BoxOrder>>) -> Vec<Option<BoxedRun>> {
        let share = self.room / parallel::width().max(1) as u64;
        for order in orders.iter_mut().flatten() {
            order.limits.most_room = Some(share);
        }
        let runs = parallel::run_all(self.tools.boxes, &orders);
        for run in runs.iter().flatten() {
            self.count(run);
        }
        runs
    }
}
