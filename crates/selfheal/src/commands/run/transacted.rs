//! The way of a run that must be a transaction.

use std::cell::RefCell;

use selfheal_core::incident::Status;
use selfheal_core::outcome::Outcome;
use selfheal_core::ports::Order;
use selfheal_core::run::{Ended as RunEnded, Run};
use selfheal_exec::Supervisor;
use selfheal_store::Store;

use super::RunPlan;
use crate::cli::TransactionArg;
use crate::command_error::CommandError;
use crate::commands::{Ended, tell, tick};
use crate::document::RunDocument;
use crate::driver::Failure;
use crate::evidence::Logs;
use crate::exit_code;
use crate::transaction::{Refusal, Transaction, Wanted};

impl RunPlan<'_> {
    /// Runs the job as a transaction, and heals it in transactions. Where one cannot be had, nothing is run.
    pub(super) fn run_transaction(
        &self,
        store: Option<&Store>,
        order: Order,
        (supervisor, what): (&Supervisor, TransactionArg),
        document: &mut RunDocument,
    ) -> Ended {
        let Some(store) = store else {
            return Err(no_box(CommandError::new("there is no transaction without the store")));
        };
        tick::before_run(self.context, store);
        // A contract is about what is in place, so it is looked at then.
        let seen: RefCell<Option<Outcome>> = RefCell::default();
        let good = |run: &Run| {
            let outcome = self.outcome(run, supervisor);
            let good = !matches!(outcome, Outcome::Failed { .. });
            seen.replace(Some(outcome));
            good
        };
        let worth = |run: &Run| run.ended == RunEnded::Exited(0) || good(run);
        let wanted = Wanted { before: &worth, after: &good };
        let transaction = Transaction::new(self.context, store, what, &self.job, wanted);
        let logs = Logs::before(&self.job, &self.context.env);
        let run = match transaction.attempt(&order) {
            Ok(run) => run,
            Err(Refusal::NoBox(error)) => return Err(no_box(error.into())),
            Err(Refusal::Refused(why)) => return Ok(self.refused(&why, document)),
        };
        document.job_exit_code = run.ended.code();
        document.duration_ms = run.duration_ms;
        self.tell_not_started(&run.ended);
        let outcome = seen.take().unwrap_or_else(|| self.outcome(&run, supervisor));
        let recorded = self.record(store, &run, &outcome, false);
        let code = match &outcome {
            Outcome::Succeeded => self.ended(document, Status::Succeeded, &run),
            Outcome::Negative { .. } => self.ended(document, Status::Negative, &run),
            // What cannot be recorded is not begun.
            Outcome::Failed { .. } if !recorded => self.ended(document, Status::Failed, &run),
            Outcome::Failed { .. } => {
                let failure = Failure { job: &self.job, order, run, logs };
                self.heal(store, (&transaction, false), failure, document)
            }
        };
        document.notes.extend(transaction.take_said());
        Ok(code)
    }

    fn refused(&self, why: &str, document: &mut RunDocument) -> i32 {
        let note = self.context.texts().say("transaction-refused", &[("why", why)]);
        tell(&format!("selfheal: {note}"));
        document.status = Status::Refused.word().to_owned();
        document.notes.push(note);
        exit_code::NOT_IN_PLACE
    }
}

fn no_box(error: CommandError) -> CommandError {
    CommandError { code: exit_code::NO_BOX, ..error }
        .hint("nothing was run: a transaction was asked for; `selfheal doctor` tells what a box needs")
}
