//! `selfheal run`: runs a job, and heals it if it fails. Whatever goes wrong inside selfheal, the job runs and its exit
//! code is kept, unless `--strict` was given.

mod transacted;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use selfheal_core::ids::{JobKey, RunId};
use selfheal_core::incident::{Incident, Status};
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::outcome::{Class, Outcome};
use selfheal_core::ports::{
    Clock, Executor, IncidentFilter, Journal, LogOrder, Order, Passing, RunRecord, Trouble,
};
use selfheal_core::redact::Redacted;
use selfheal_core::run::{Ended as RunEnded, Idle, Run};
use selfheal_core::settings::Policy;
use selfheal_exec::{Supervisor, exec_bare, resolve_script};
use selfheal_feedback::profiles::{InterpretInput, Profiles};
use selfheal_feedback::{Wait, waits_for_a_person};
use selfheal_store::Store;

use super::{Ended, tell};
use crate::cli::{RunArgs, StdoutArg};
use crate::command_error::CommandError;
use crate::config::Unusual;
use crate::context::Context;
use crate::contract::{self, Contract};
use crate::document::{self, RunDocument};
use crate::driver::{Failure, Given, Healed, Healer, Permissions, Tools, watch};
use crate::exit_code;
use crate::normal;
use crate::not_started;
use crate::overlap::{self, Entry};
use crate::pace;
use crate::secrets;
use crate::terminal::{Progress, Story};

/// Bytes kept of each end of each stream.
const KEEP: usize = 64 * 1024;

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
}

impl<'a> RunPlan<'a> {
    fn new(context: &'a Context, args: &'a RunArgs) -> Self {
        let job = job_of(context, args);
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

    fn order(&self) -> Order {
        let limits = &self.context.settings.limits;
        Order {
            id: RunId::new(self.context.clock.fresh_id()),
            argv: self.job.argv.clone(),
            cwd: self.job.cwd.clone(),
            env: BTreeMap::new(),
            deadline_ms: self.args.deadline.map_or(limits.cap_ms, |seconds| seconds.saturating_mul(1_000)),
            grace_ms: limits.grace_ms,
            stdout: match self.args.stdout {
                StdoutArg::Live => Passing::Live,
                StdoutArg::Final => Passing::Spool,
            },
            keep: KEEP,
            log: self.args.log.as_ref().map(|file| LogOrder {
                path: self.context.cwd.join(file),
                stamps: self.args.log_stamps,
                size: self.context.settings.run.log_bytes,
                keep: self.context.settings.run.log_keep,
            }),
        }
    }

    /// Runs the job unless another run of it is in the way.
    fn run(&self, store: Option<&Store>, supervisor: Supervisor, document: &mut RunDocument) -> Ended {
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

    /// Keeps standard input only where there is some: a job without any costs nothing. What is to be recorded of a run is
    /// looked at while it goes on.
    fn told(&self, supervisor: Supervisor, store: Option<&Store>) -> Supervisor {
        let supervisor = match self.input_holds_data {
            true => supervisor.with_input_limit(self.context.settings.run.input_bytes),
            false => supervisor,
        };
        let context = Arc::new(self.context.clone());
        let (here, waits) = (Arc::clone(&context), Arc::clone(&self.waits));
        let supervisor = supervisor.with_on_idle(move |idle| tell_wait(&here, idle, &waits));
        if store.is_none() {
            return supervisor;
        }
        let (job, facts, here) = (self.job.clone(), Arc::clone(&self.facts), Arc::clone(&context));
        let supervisor = supervisor.with_on_start(move |_| {
            facts.get_or_init(|| surroundings(&here, &job));
        });
        pace::told(supervisor, context, &self.job)
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
        if let Some(store) = store {
            super::tick::before_run(self.context, store);
        }
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
        let outcome = self.outcome(&run, &supervisor);
        let output_lost = supervisor.output_lost() && outcome == Outcome::Succeeded;
        if let Some(store) = store {
            if outcome == Outcome::Succeeded && !output_lost {
                self.compare_with_earlier(store, &run, document);
            }
            self.record(store, &run, &outcome, output_lost);
        }
        if self.given.is_some() && !matches!(outcome, Outcome::Failed { .. }) {
            let note = self.context.texts().say("note-proposal-not-needed", &[]);
            tell(&format!("selfheal: {note}"));
            document.notes.push(note);
        }
        let code = match &outcome {
            Outcome::Succeeded if output_lost => output_is_lost(document),
            Outcome::Succeeded => self.ended(document, Status::Succeeded, &run),
            Outcome::Negative { .. } => self.ended(document, Status::Negative, &run),
            Outcome::Failed { .. } => match store {
                Some(store) if !matches!(run.ended, RunEnded::Cancelled { .. }) => {
                    let failure = Failure { job: &self.job, order, run };
                    self.heal(store, (&supervisor, supervisor.can_repeat_input()), failure, document)
                }
                _ => self.ended(document, Status::Failed, &run),
            },
        };
        document.notes.extend(self.waits.get().cloned());
        if let Some(spool) = supervisor.take_spool() {
            let emitted = spool.emit(&mut std::io::stdout().lock());
            // A reader that went away is no fault of the job.
            let lost = emitted.err().filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe);
            if let Some(error) = lost {
                tell(&format!("selfheal: standard output could not be passed on: {error}"));
                return Ok(if code == exit_code::OK { output_is_lost(document) } else { code });
            }
        }
        Ok(code)
    }

    fn ended(&self, document: &mut RunDocument, status: Status, run: &Run) -> i32 {
        document.status = status.word().to_owned();
        match run.ended {
            // A job that was told to end may do so with any code.
            RunEnded::Cancelled { .. } => run.ended.code(),
            _ => exit_code::of_run(status, run.ended.code(), self.args.exit_status),
        }
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

    /// What exit codes mean. The user's tables are read at the first run that did not end with 0.
    fn profiles(&self) -> &Profiles {
        self.profiles.get_or_init(|| {
            let (profiles, complaints) = crate::profiles::load(self.context);
            for complaint in complaints {
                tell(&format!("selfheal: {complaint}"));
            }
            profiles.with_answers(self.args.answer.iter().copied().map(i32::from).collect())
        })
    }

    fn outcome(&self, run: &Run, executor: &Supervisor) -> Outcome {
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
    fn compare_with_earlier(&self, store: &Store, run: &Run, document: &mut RunDocument) {
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

    fn record(&self, store: &Store, run: &Run, outcome: &Outcome, output_lost: bool) {
        let facts = self.facts.get_or_init(|| surroundings(self.context, &self.job)).clone();
        let mut record = crate::driver_run_record(&self.job, run, outcome, facts);
        if output_lost {
            "failed".clone_into(&mut record.outcome);
            record.exit_code = exit_code::OUTPUT_LOST;
        }
        if let Err(error) = store.record_run(&record) {
            tell(&format!("selfheal: {}", CommandError::from(error).one_line()));
        }
    }

    /// Heals, tells the story, and returns the exit code.
    fn heal(
        &self,
        store: &Store,
        (executor, input_again): (&dyn Executor, bool),
        failure: Failure<'_>,
        document: &mut RunDocument,
    ) -> i32 {
        crate::logging::start(&self.context.state, self.context.redactor());
        let texts = self.context.texts();
        let own = failure.run.ended.code();
        if let Some(note) = self.already_waiting(store, &texts).filter(|_| self.given.is_none()) {
            tell(&format!("selfheal: {note}"));
            document.status = Status::Held.word().to_owned();
            document.notes.push(note);
            return exit_code::of_run(Status::Held, own, self.args.exit_status);
        }
        let redactor = self.context.redactor();
        secrets::learn(&redactor, failure.job);
        let progress = Progress::new(self.context.terminal.error);
        let boxes = crate::boxes::runner(self.context);
        let tools = Tools {
            context: self.context,
            texts: &texts,
            store,
            executor,
            boxes: &boxes,
            profiles: self.profiles(),
            redactor: &redactor,
            progress: &progress,
            without: &self.args.without,
            contract: &self.contract,
        };
        let permissions = self.permissions(store, &failure.run, input_again);
        // A fault of selfheal must not change what the job's own exit code says; not even a panic.
        let healed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Healer::new(tools, failure, permissions).heal()
        }));
        progress.clear();
        match healed {
            Ok(Ok(mut healed)) => {
                self.after(store, &mut healed, &texts);
                self.conclude(&healed, &texts, document)
            }
            Ok(Err(error)) => self.broken(&error.one_line(), own, document),
            Err(_) => self.broken("an internal fault while healing; please report it", own, document),
        }
    }

    fn broken(&self, what: &str, own: i32, document: &mut RunDocument) -> i32 {
        tell(&format!("selfheal: {what}; the job's own exit code {own} is kept"));
        document.status = Status::Error.word().to_owned();
        document.notes.push(what.to_owned());
        own
    }

    /// A repair that was watched and did not last is put back.
    fn after(&self, store: &Store, healed: &mut Healed, texts: &crate::texts::Texts) {
        if healed.incident.status == Status::Healed {
            return;
        }
        match watch::failed_again(self.context, store, &healed.incident) {
            Ok(Some(earlier)) => {
                healed.notes.push(texts.say("note-failed-again", &[("id", earlier.id.short())]));
            }
            Ok(None) => {}
            Err(error) => healed.notes.push(error.one_line()),
        }
    }

    fn conclude(&self, healed: &Healed, texts: &crate::texts::Texts, document: &mut RunDocument) -> i32 {
        document.fill(&healed.incident);
        document.notes.clone_from(&healed.notes);
        document.tokens = healed.tokens;
        document.slowest_rule.clone_from(&healed.slowest_rule);
        document.duration_ms = healed.run.duration_ms;
        // A job that never began has had its error and hint; without more to say, that is all.
        let told = not_started::told(self.context, &self.job, &healed.run.ended).is_some();
        if !(told && healed.notes.is_empty() && healed.incident.rounds.is_empty()) {
            Story::new(self.context, texts).tell(healed);
        }
        exit_code::of_run(healed.incident.status, healed.incident.exit_code, self.args.exit_status)
    }

    /// A job that fails every minute must not make a new repair every minute.
    fn already_waiting(&self, store: &Store, texts: &crate::texts::Texts) -> Option<String> {
        let filter = IncidentFilter { job: Some(self.job.key.clone()), states: Vec::new(), most: 10 };
        let earlier = store.incidents(&filter).ok()?;
        let held = earlier.iter().find(|incident| still_waits(store, incident));
        if let Some(held) = held.filter(|_| self.args.apply.is_none()) {
            return Some(texts.say("note-waiting", &[("id", held.id.short())]));
        }
        let limit = self.context.settings.limits.breaker as usize;
        let runs = store.runs(&self.job.key, limit.saturating_mul(4)).ok()?;
        let open = breaker_is_open(&earlier, &runs, limit);
        open.then(|| texts.say("note-breaker", &[("n", &limit.to_string())]))
    }

    fn permissions(&self, store: &Store, run: &Run, input_again: bool) -> Permissions {
        let terminal = &self.context.terminal;
        let policy = match self.args.apply {
            Some(limit) => Some(Policy::apply_up_to(limit.risk())),
            None => self.allowed(store).or(self.context.settings.policy),
        };
        Permissions {
            policy,
            can_ask: terminal.input && terminal.error,
            spent: self.spent(run, input_again),
            given: self.given.clone(),
        }
    }

    /// What `selfheal allow` said of this job.
    fn allowed(&self, store: &Store) -> Option<Policy> {
        let names = [
            Some(self.job.key.as_str().to_owned()),
            self.job.script.as_ref().map(|p| p.display().to_string()),
        ];
        let level =
            names.into_iter().flatten().find_map(|name| store.allowed(&JobKey::new(name)).ok().flatten())?;
        Some(Policy { given_now: false, ..Policy::apply_up_to(level.limit()) })
    }

    /// Why output that was already passed on, or input that was consumed, forbids another run.
    fn spent(&self, run: &Run, input_again: bool) -> Option<String> {
        let texts = self.context.texts();
        let passed_on =
            run.stdout.total > 0 && !self.context.terminal.output && self.args.stdout == StdoutArg::Live;
        let consumed = (self.input_holds_data && !input_again) || names_a_pipe(&self.job);
        if passed_on {
            Some(texts.say("note-spent-output", &[]))
        } else if consumed {
            Some(texts.say("note-spent-input", &[]))
        } else {
            None
        }
    }
}

/// A run whose output went nowhere is not a good one, whatever the job says.
fn output_is_lost(document: &mut RunDocument) -> i32 {
    Status::Error.word().clone_into(&mut document.status);
    document.notes.push("standard output could not be passed on".to_owned());
    exit_code::OUTPUT_LOST
}

/// Tells, once, that a job waits for a person.
fn tell_wait(context: &Context, idle: &Idle, told: &OnceLock<String>) {
    let Some(wait) = waits_for_a_person(idle).filter(|_| told.get().is_none()) else { return };
    let clean =
        |text: Option<String>| context.redactor().text(&crate::terminal::clean(&text.unwrap_or_default()));
    let id = match &wait {
        Wait { process: Some(_), asked: Some(_) } => "waits-answer",
        Wait { process: Some(_), asked: None } => "waits-terminal",
        Wait { process: None, .. } => "waits-question",
    };
    let (process, asked) = (clean(wait.process), clean(wait.asked));
    let line = context.texts().say(id, &[("process", process.as_str()), ("asked", asked.as_str())]);
    // The terminal of a person is raw while a job runs at it, and the question stands in its last line.
    match context.terminal.error {
        true => tell(&format!("\r\nselfheal: {line}\r")),
        false => tell(&format!("selfheal: {line}")),
    }
    // Nobody else sets it: there is one supervisor.
    let _ = told.set(line);
}

/// What is recorded of where a job runs.
fn surroundings(context: &Context, job: &Job) -> Option<Redacted> {
    context.redactor().json(&crate::environment::of_job(context, job, &context.env)).ok()
}

/// Whether a word of a command is a pipe (`bash <(…)`, a fifo): what came through it is gone, and whoever asks for it
/// again waits for ever.
fn names_a_pipe(job: &Job) -> bool {
    let facts = |word: &OsString| std::fs::metadata(job.cwd.join(word)).ok();
    job.argv.iter().filter_map(facts).any(|facts| facts.file_type().is_fifo())
}

/// A held repair that could still be approved: its files are what they were.
fn still_waits(store: &Store, incident: &Incident) -> bool {
    use selfheal_core::engine::State;
    use selfheal_core::ports::{Snapshots, Standing};
    incident.state == State::Held
        && incident.rounds.last().is_some_and(|round| {
            !round.files.is_empty()
                && round.files.iter().all(|file| matches!(store.state_of(file), Ok(Standing::Before)))
        })
}

/// Whether the newest incidents all ended in the same bad way with no good run since the last of them.
fn breaker_is_open(earlier: &[Incident], runs: &[selfheal_core::ports::RunRecord], limit: usize) -> bool {
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

fn job_of(context: &Context, args: &RunArgs) -> Job {
    let script = resolve_script(
        &args.command,
        &context.cwd,
        context.env.get(OsStr::new("PATH")).map(OsString::as_os_str),
    );
    let key = match &args.job {
        Some(name) => JobKey::new(name.clone()),
        None => default_key(context, args, script.as_deref()),
    };
    let repeatable = match (args.repeatable, args.once) {
        (true, _) => Repeatable::Declared,
        (_, true) => Repeatable::Forbidden,
        // A run that failed changed nothing.
        _ if args.transaction.is_some() => Repeatable::Declared,
        _ => Repeatable::Unstated,
    };
    Job { key, argv: args.command.clone(), cwd: context.cwd.clone(), script, repeatable }
}

/// User, script and folder; for a command without a script its name. Never the arguments: they may hold dates.
fn default_key(context: &Context, args: &RunArgs, script: Option<&Path>) -> JobKey {
    let program = args.command.first().map(PathBuf::from).unwrap_or_default();
    unnamed_key(context, script.unwrap_or(&program))
}

/// The identity of a job without a name, by its script or program.
pub(crate) fn unnamed_key(context: &Context, what: &Path) -> JobKey {
    let bytes = what.as_os_str().as_bytes();
    JobKey::new(format!("{}:{}@{}", context.uid, String::from_utf8_lossy(bytes), context.cwd.display()))
}
