//! A run while another run of the same job goes on.

use std::time::Duration;

use selfheal_core::ports::{Clock, Journal, Order, RunRecord};
use selfheal_exec::Supervisor;
use selfheal_store::Store;

use super::RunPlan;
use crate::command_error::CommandError;
use crate::commands::{Ended, tell};
use crate::document::RunDocument;
use crate::exit_code;
use crate::overlap::{self, Entry};

impl RunPlan<'_> {
    /// Runs the job unless another run of it is in the way.
    pub(super) fn run(
        &self,
        store: Option<&Store>,
        supervisor: Supervisor,
        document: &mut RunDocument,
    ) -> Ended {
        let order = self.order();
        let supervisor = self.told(supervisor, store);
        let Some(overlap) = self.args.overlap else {
            return self.run_order(store, order, supervisor, document);
        };
        let patience = Duration::from_millis(order.deadline_ms);
        let entered = overlap::enter(&self.context.state, &self.job.key, overlap, patience);
        let shared = entered.and_then(|entry| {
            let held = if let Entry::Alone(alone) = &entry { Some(alone.share()?) } else { None };
            Ok((entry, held))
        });
        match shared {
            Ok((Entry::GivesWay, _)) => Ok(self.not_run(store, &order, "skipped", document)),
            Ok((Entry::TooLate, _)) => Ok(self.not_run(store, &order, "failed", document)),
            // The entry is kept to the end: its lock is what keeps others away.
            Ok((_alone, held)) => {
                let supervisor = held.into_iter().fold(supervisor, Supervisor::with_held);
                self.run_order(store, order, supervisor, document)
            }
            Err(error) => {
                let error = CommandError::new("failed to look for another run of the job").because(&error);
                if self.args.strict {
                    return Err(error);
                }
                tell(&format!("selfheal: {}; it is not looked for", error.one_line()));
                self.run_order(store, order, supervisor, document)
            }
        }
    }

    /// Another run was in the way: says so, records it, and returns the exit code.
    fn not_run(
        &self,
        store: Option<&Store>,
        order: &Order,
        outcome: &str,
        document: &mut RunDocument,
    ) -> i32 {
        let id = if outcome == "skipped" { "overlap-skipped" } else { "overlap-too-late" };
        let command = self.context.redactor().text(&crate::driver_command_line(&self.job.argv));
        let note = self.context.texts().say(id, &[("command", command.as_str())]);
        tell(&format!("selfheal: {note}"));
        outcome.clone_into(&mut document.status);
        document.notes.push(note);
        let code = if outcome == "skipped" { exit_code::OK } else { exit_code::TOO_LATE };
        let record = RunRecord {
            id: order.id.clone(),
            job: self.job.key.clone(),
            started: self.context.clock.now(),
            duration_ms: 0,
            exit_code: code,
            outcome: outcome.to_owned(),
            facts: None,
        };
        if let Some(Err(error)) = store.map(|store| store.record_run(&record)) {
            tell(&format!("selfheal: {}", CommandError::from(error).one_line()));
        }
        code
    }
}
