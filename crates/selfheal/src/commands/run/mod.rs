//! `selfheal run`: runs a job, and heals it if it fails. Whatever goes wrong inside selfheal, the job runs and its exit
//! code is kept, unless `--strict` was given. This is the way of one run; each part of it has a file.

mod breaker;
mod healing;
mod identity;
mod judging;
mod order;
mod overlapping;
mod permissions;
mod transacted;
mod waiting;

use std::sync::{Arc, OnceLock};

use selfheal_core::failpoint;
use selfheal_core::incident::Status;
use selfheal_core::job::Job;
use selfheal_core::outcome::Outcome;
use selfheal_core::ports::{Executor, Order, Trouble};
use selfheal_core::redact::Redacted;
use selfheal_core::run::{Ended as RunEnded, LeftProcess, Run};
use selfheal_exec::{EndsInOrder, Supervisor, exec_bare};
use selfheal_feedback::profiles::Profiles;
use selfheal_store::Store;

pub(crate) use self::identity::unnamed_key;
use super::{Ended, tell};
use crate::cli::RunArgs;
use crate::command_error::CommandError;
use crate::config::Unusual;
use crate::context::Context;
use crate::contract::Contract;
use crate::document::{self, RunDocument};
use crate::driver::{CANCELLED, Failure, Given};
use crate::evidence::Logs;
use crate::exit_code;
use crate::normal;
use crate::not_started;
use crate::terminal;

/// Processes left in the background that a note names.
const MOST_NAMED: usize = 5;

/// Runs a job.
///
/// # Errors
/// Only with `--strict`, or when the command line itself is wrong.
pub fn run(context: &Context, args: &RunArgs) -> Ended {
    check(args)?;
    // An error of a command is 1, which would be taken for the job's own code.
    run_checked(context, args).map_err(|error| match error.code {
        exit_code::ERROR => CommandError { code: exit_code::NOT_STARTED, ..error },
        _ => error,
    })
}

fn run_checked(context: &Context, args: &RunArgs) -> Ended {
    let given = args.proposal.as_ref().map(|folder| Given::read(&context.cwd.join(folder))).transpose()?;
    let supervisor = Supervisor::of_self();
    if args.overlap.is_none() && args.transaction.is_none() {
        // It gets ready while the store is opened.
        supervisor.prepare();
    }
    let mut plan = RunPlan { given, ..RunPlan::new(context, args) };
    let store = match plan.open_store() {
        Ok(store) => store,
        Err(error) if args.strict || args.transaction.is_some() => return Err(error),
        Err(error) => {
            tell(&format!("selfheal: {}; the job runs bare", error.one_line()));
            None
        }
    };
    if let (true, Some(first)) = (args.strict, context.warnings.first()) {
        return Err(CommandError::usage(first.clone()).hint("mend the file, or run without --strict"));
    }
    for warning in &context.warnings {
        tell(&format!("selfheal: {warning}; it does not count for this run"));
    }
    if let Some(store) = &store {
        plan.demand_the_usual(store);
    }
    let mut document = plan.empty_document();
    let code = plan.run(store.as_ref(), supervisor, &mut document)?;
    document.exit_code = code;
    if let Some(Err(error)) = args.json.as_ref().map(|file| document.write(file, &context.redactor())) {
        if args.strict {
            return Err(error);
        }
        tell(&format!("selfheal: {}", error.one_line()));
    }
    if let Some(store) = store.as_ref().filter(|_| plan.told.get()) {
        crate::notify::at_end(context, store);
        if let Err(error) = crate::anchor::give(context, store, crate::notify::time_at_end(context)) {
            tracing::warn!(error = error.one_line(), "the ledger's head is not kept yet");
        }
    }
    if let Some(signal) = plan.keys.get() {
        drop(store);
        selfheal_exec::end_by_keys(signal);
    }
    Ok(code)
}

/// What can be wrong with the command line beyond what its grammar says.
fn check(args: &RunArgs) -> Result<(), CommandError> {
    if args.command.first().is_none_or(|word| word.is_empty()) {
        return Err(CommandError::usage("the command is empty").hint("selfheal run -- COMMAND [ARGUMENT …]"));
    }
    if args.job.as_ref().is_some_and(|name| name.trim().is_empty()) {
        return Err(CommandError::usage("the job's name is empty").hint("leave --job out, or give it a name"));
    }
    if args.deadline == Some(0) {
        return Err(CommandError::usage("a deadline of 0 seconds would end the job before it starts")
            .hint("give --deadline at least 1"));
    }
    Ok(())
}

/// Everything that is fixed before the job starts.
struct RunPlan<'a> {
    context: &'a Context,
    args: &'a RunArgs,
    job: Job,
    /// A repair made by hand.
    given: Option<Given>,
    /// Whether standard input held data before the job could read it.
    input_holds_data: bool,
    /// What exit codes mean, once one must be known.
    profiles: std::cell::OnceCell<Profiles>,
    /// What a good run must have done.
    contract: Contract,
    /// Where the job runs, as it is recorded; looked at while it runs.
    facts: Arc<OnceLock<Option<Redacted>>>,
    /// What people were told the job waits for.
    waits: Arc<OnceLock<String>>,
    /// The signal of the keys that ended the job.
    keys: std::cell::Cell<Option<i32>>,
    /// Whether there may be a message about this run.
    told: std::cell::Cell<bool>,
}

impl<'a> RunPlan<'a> {
    fn new(context: &'a Context, args: &'a RunArgs) -> Self {
        let job = identity::job_of(context, args);
        Self {
            context,
            args,
            contract: context.settings.contract_for(&job),
            job,
            given: None,
            input_holds_data: selfheal_exec::input_holds_data(),
            profiles: std::cell::OnceCell::new(),
            facts: Arc::default(),
            waits: Arc::default(),
            keys: std::cell::Cell::default(),
            told: std::cell::Cell::default(),
        }
    }

    /// Where a run that is unlike the good ones before it is a failure, that is a part of the contract.
    fn demand_the_usual(&mut self, store: &Store) {
        if self.context.settings.run.unusual == Unusual::Fail && normal::is_watched(&self.job) {
            self.contract.earlier = store.good_runs(&self.job.key);
        }
    }

    /// `None` while frozen: then every run is bare.
    fn open_store(&self) -> Result<Option<Store>, CommandError> {
        if selfheal_store::frozen(&self.context.state) {
            return Ok(None);
        }
        if self.context.is_lost() {
            return Err(CommandError::new("the current folder was removed or cannot be reached")
                .hint("start it in a folder that is there"));
        }
        self.context.store().map(Some)
    }

    fn empty_document(&self) -> RunDocument {
        let command = crate::driver_command_line(&self.job.argv);
        let command = self.context.redactor().text(&command).as_str().to_owned();
        RunDocument { version: document::VERSION, command, ..RunDocument::default() }
    }

    fn run_order(
        &self,
        store: Option<&Store>,
        order: Order,
        supervisor: Supervisor,
        document: &mut RunDocument,
    ) -> Ended {
        if let Some(what) = self.args.transaction {
            return self.run_transaction(store, order, (&supervisor, what), document);
        }
        let in_order = EndsInOrder::begin();
        if let Some(store) = store {
            super::tick::before_run(self.context, store);
        }
        failpoint::hit("run.begin");
        let logs = store.map(|_| Logs::before(&self.job, &self.context.env)).unwrap_or_default();
        let run = match supervisor.run(&order) {
            Ok(run) => run,
            Err(error) if self.args.strict => return Err(error.into()),
            Err(error) if error.trouble == Trouble::Missing => {
                return self.run_without_supervision(&order, error.into());
            }
            Err(error) => return Err(error.into()),
        };
        for note in supervisor.take_notes() {
            tell(&format!("selfheal: {note}"));
        }
        self.keys.set(supervisor.keys());
        document.job_exit_code = run.ended.code();
        document.duration_ms = run.duration_ms;
        self.tell_not_started(&run.ended);
        failpoint::hit("run.ended");
        let outcome = self.outcome(&run, &supervisor);
        let output_lost = supervisor.output_lost() && outcome == Outcome::Succeeded;
        let mut recorded = true;
        if let Some(store) = store {
            if outcome == Outcome::Succeeded && !output_lost {
                self.compare_with_earlier(store, &run, document);
            }
            recorded = self.record(store, &run, &outcome, output_lost);
            failpoint::hit("run.recorded");
        }
        let left = self.left_running(&run);
        if self.given.is_some() && !matches!(outcome, Outcome::Failed { .. }) {
            let note = self.context.texts().say("note-proposal-not-needed", &[]);
            tell(&format!("selfheal: {note}"));
            document.notes.push(note);
        }
        let code = match &outcome {
            Outcome::Succeeded if output_lost => output_is_lost(document),
            Outcome::Succeeded => self.ended(document, Status::Succeeded, &run),
            Outcome::Negative { .. } => self.ended(document, Status::Negative, &run),
            // What cannot be recorded is not begun.
            Outcome::Failed { .. } => match store.filter(|_| recorded) {
                Some(store) if !matches!(run.ended, RunEnded::Cancelled { .. }) => {
                    let failure = Failure { job: &self.job, order, run, logs };
                    self.heal(store, (&supervisor, supervisor.can_repeat_input()), failure, document)
                }
                _ => self.ended(document, Status::Failed, &run),
            },
        };
        document.notes.extend(self.waits.get().cloned());
        document.notes.extend(left);
        if let Some(spool) = supervisor.take_spool() {
            // Whoever reads it may never do so: then a signal is what ends it.
            drop(in_order);
            let emitted = spool.emit(&mut std::io::stdout().lock());
            // A reader that went away is no fault of the job.
            let lost = emitted.err().filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe);
            if let Some(error) = lost {
                tell(&format!("selfheal: standard output could not be passed on: {error}"));
                return Ok(if code == exit_code::OK { output_is_lost(document) } else { code });
            }
        } else {
            in_order.for_good();
        }
        Ok(code)
    }

    /// What the job left in the background, in a sentence: no reason to say anything to whoever reads its output.
    fn left_running(&self, run: &Run) -> Option<String> {
        let named = |process: &LeftProcess| format!("{} ({})", process.command, process.pid);
        let shown: Vec<String> = run.left_running.iter().take(MOST_NAMED).map(named).collect();
        let what = self.context.redactor().text(&terminal::clean(&shown.join(", ")));
        let more = run.left_running.len().saturating_sub(MOST_NAMED).to_string();
        let values = [("what", what.as_str()), ("more", more.as_str())];
        let id =
            if run.left_running.len() > MOST_NAMED { "note-left-running-more" } else { "note-left-running" };
        (!shown.is_empty()).then(|| self.context.texts().say(id, &values))
    }

    fn ended(&self, document: &mut RunDocument, status: Status, run: &Run) -> i32 {
        if matches!(run.ended, RunEnded::Cancelled { .. }) {
            // A job that was told to end may do so with any code.
            CANCELLED.clone_into(&mut document.status);
            return run.ended.code();
        }
        document.status = status.word().to_owned();
        exit_code::of_run(status, run.ended.code(), self.args.exit_status)
    }

    /// The last resort: selfheal's own supervision is broken, so the job takes its place.
    fn run_without_supervision(&self, order: &Order, error: CommandError) -> Ended {
        tell(&format!("selfheal: {}; the job runs bare", error.one_line()));
        let ended = exec_bare(order);
        self.tell_not_started(&ended);
        Ok(ended.code())
    }

    /// A command that could not be started gets a clear word from selfheal, since it can say nothing itself.
    fn tell_not_started(&self, ended: &RunEnded) {
        if let Some(text) = not_started::told(self.context, &self.job, ended) {
            tell(&text);
        }
    }
}

/// A run whose output went nowhere is not a good one, whatever the job says.
fn output_is_lost(document: &mut RunDocument) -> i32 {
    Status::Error.word().clone_into(&mut document.status);
    document.notes.push("standard output could not be passed on".to_owned());
    exit_code::OUTPUT_LOST
}
