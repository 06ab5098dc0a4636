//! What a run was worth: its outcome, how it compares with earlier ones, and its record.

use selfheal_core::outcome::{Class, Outcome};
use selfheal_core::ports::{Journal, Trouble};
use selfheal_core::run::{Ended as RunEnded, Run};
use selfheal_exec::Supervisor;
use selfheal_feedback::profiles::{InterpretInput, Profiles};
use selfheal_store::Store;

use super::RunPlan;
use super::order::surroundings;
use crate::command_error::CommandError;
use crate::commands::tell;
use crate::config::Unusual;
use crate::contract;
use crate::document::RunDocument;
use crate::exit_code;
use crate::normal;

impl RunPlan<'_> {
    /// What exit codes mean. The user's tables are read at the first run that did not end with 0.
    pub(super) fn profiles(&self) -> &Profiles {
        self.profiles.get_or_init(|| {
            let (profiles, complaints) = crate::profiles::load(self.context);
            for complaint in complaints {
                tell(&format!("selfheal: {complaint}"));
            }
            profiles.with_answers(self.args.answer.iter().copied().map(i32::from).collect())
        })
    }

    pub(super) fn outcome(&self, run: &Run, executor: &Supervisor) -> Outcome {
        if run.ended == RunEnded::Exited(0) {
            if self.contract.is_empty() {
                return Outcome::Succeeded;
            }
            return match contract::broken_by(&self.contract, &self.job, run, executor) {
                Some(why) => Outcome::Failed { class: Class::Logic, meaning: Some(why) },
                None => Outcome::Succeeded,
            };
        }
        let script = crate::driver::text_of(self.job.script.as_deref());
        let input = InterpretInput { argv: &self.job.argv, run, script: script.as_deref(), trace: None };
        self.profiles().interpret(&input)
    }

    /// Compares what a good run left with the good runs before it, and keeps what it read and left for later.
    pub(super) fn compare_with_earlier(&self, store: &Store, run: &Run, document: &mut RunDocument) {
        if self.context.settings.run.unusual == Unusual::Ignore || !normal::is_watched(&self.job) {
            return;
        }
        let left = normal::left_by(&self.job, run);
        if let Some(what) = normal::unusual(&left, &store.good_runs(&self.job.key)) {
            let what = crate::terminal::clean(&what);
            let why = self.context.texts().say("note-unusual", &[("what", &what)]);
            tell(&format!("selfheal: {why}"));
            document.notes.push(why);
        } else if let Err(error) = normal::keep(store, &self.job, run, &left) {
            tell(&format!("selfheal: {}", CommandError::from(error).one_line()));
        }
    }

    /// Records a run. Whether anything can be recorded: where nothing can, nothing is healed either.
    pub(super) fn record(&self, store: &Store, run: &Run, outcome: &Outcome, output_lost: bool) -> bool {
        let facts = match run.left_running.is_empty() {
            true => self.facts.get_or_init(|| surroundings(self.context, &self.job, &[])).clone(),
            false => surroundings(self.context, &self.job, &run.left_running),
        };
        let mut record = crate::driver_run_record(&self.job, run, outcome, facts);
        if output_lost {
            "failed".clone_into(&mut record.outcome);
            record.exit_code = exit_code::OUTPUT_LOST;
        }
        let Err(error) = store.record_run(&record) else { return true };
        let writable = !matches!(error.trouble, Trouble::NoRoom | Trouble::Corrupt);
        tell(&format!("selfheal: {}", CommandError::from(error).one_line()));
        writable
    }
}
