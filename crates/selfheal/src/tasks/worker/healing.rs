//! A step that fails: tried again where that is wanted, and healed like any job.

use std::path::Path;

use selfheal_core::ids::JobKey;
use selfheal_core::incident::Status;
use selfheal_core::outcome::Outcome;
use selfheal_core::ports::{Clock, Executor, Journal as _, Order};
use selfheal_core::redact::Redacted;
use selfheal_core::report::Report;
use selfheal_core::run::{Ended, Run};
use selfheal_core::settings::Policy;
use selfheal_core::task::{Healing, RetryClass, StepOutcome, StepResult, Work};
use selfheal_exec::told_to_end;
use selfheal_store::Store;

use super::{Seen, Worker};
use crate::command_error::CommandError;
use crate::driver::{Failure, Healed, Healer, Permissions, Tools};
#[cfg(feature = "model")]
use crate::tasks::told::{TaskPart, TaskView};
use crate::tasks::words;
use crate::terminal::{Plain, Progress, Story};

/// Waits before a step is tried again whose failures pass by themselves, in seconds.
const WAITS: [u64; 5] = [1, 2, 4, 8, 8];
/// Characters of a sentence that the state keeps.
const LONGEST: usize = 500;

impl Worker<'_> {
    /// Runs the step, again where it should be, and heals it.
    pub(super) fn tried(&self) -> Result<StepResult, CommandError> {
        let order = self.run_order();
        let mut run = self.run(&order)?;
        for seconds in WAITS {
            let transient = self.step().retry == RetryClass::Transient && self.may_repeat();
            if !transient || !self.failed() || !self.context.clock.wait_ms(seconds * 1_000) {
                break;
            }
            run = self.run(&Order { deadline_ms: self.time_left(), ..order.clone() })?;
        }
        self.record(&run);
        let seen = self.last.borrow().clone();
        let Some(seen) = seen.filter(|_| self.failed() && !ended_from_outside(&run)) else {
            return Ok(self.result(&run, None));
        };
        let hopeless = seen.hopeless.is_some() || selfheal_store::frozen(&self.context.state);
        match self.store().filter(|_| !hopeless) {
            Some(store) => Ok(self.healed(store, order, run)),
            None => Ok(self.result(&run, None)),
        }
    }

    fn failed(&self) -> bool {
        self.last.borrow().as_ref().is_some_and(|seen| matches!(seen.outcome, Outcome::Failed { .. }))
    }

    fn may_repeat(&self) -> bool {
        self.last.borrow().as_ref().is_none_or(|seen| self.step().may_repeat(seen.boxed))
    }

    fn record(&self, run: &Run) {
        let Some(seen) = self.last.borrow().clone() else { return };
        let Some(store) = self.store() else { return };
        let record = crate::driver_run_record(&self.job, run, &seen.outcome, None);
        if let Err(error) = store.record_run(&record) {
            self.note(&CommandError::from(error).one_line());
        }
    }

    fn healed(&self, store: &Store, order: Order, run: Run) -> StepResult {
        crate::logging::start(&self.context.state, self.context.redactor());
        let (texts, redactor) = (self.context.texts(), self.context.redactor());
        let progress = Progress::new(false);
        #[cfg(feature = "model")]
        let task = self.task_part();
        let tools = Tools {
            context: self.context,
            texts: &texts,
            store,
            executor: self,
            boxes: &self.boxes,
            profiles: self.profiles(),
            redactor: &redactor,
            progress: &progress,
            without: &[],
            contract: &self.contract,
            #[cfg(feature = "model")]
            task: task.as_ref(),
        };
        let first = run.clone();
        let failure = Failure { job: &self.job, order, run, logs: crate::evidence::Logs::default() };
        // A fault of selfheal must not change what became of the step; not even a panic.
        let healed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Healer::new(tools, failure, self.permissions(store)).heal()
        }));
        #[cfg(feature = "model")]
        if let Some(task) = task {
            let (decisions, issues) = task.news.take();
            let mut news = self.news.borrow_mut();
            news.0.extend(decisions);
            news.1.extend(issues);
        }
        match healed {
            Ok(Ok(healed)) => {
                if healed.incident.status == Status::Healed && matches!(self.step().work, Work::Script { .. })
                {
                    let id = crate::drafts::short(healed.incident.id.as_str());
                    let values = [("step", self.step().id.as_str()), ("id", id)];
                    self.issue(&texts.say("task-repair-in-copy", &values));
                }
                Story::new(self.context, &texts).tell(&healed);
                self.result(&healed.run, Some(&healed))
            }
            Ok(Err(error)) => {
                self.note(&error.one_line());
                self.result(&first, None)
            }
            Err(_) => {
                self.note("an internal fault while healing; please report it");
                self.result(&first, None)
            }
        }
    }

    /// What models are told of the task; without its state file they are asked about the step alone.
    #[cfg(feature = "model")]
    fn task_part(&self) -> Option<TaskPart> {
        let whole = &self.order.context;
        let view = TaskView::read(&whole.state, &whole.step, &self.context.redactor());
        view.map_err(|error| self.note(&format!("failed to read the state of the task: {error}")))
            .ok()
            .map(TaskPart::new)
    }

    fn permissions(&self, store: &Store) -> Permissions {
        let allowed = |name: String| store.allowed(&JobKey::new(name)).ok().flatten();
        let script = self.job.script.as_ref().map(|path| path.display().to_string());
        let task = format!("task/{}", self.order.context.task);
        let names = [Some(self.job.key.as_str().to_owned()), Some(task), script];
        let level = names.into_iter().flatten().find_map(allowed);
        let policy = match (self.apply(), level) {
            (Some(apply), _) => Some(Policy::apply_up_to(apply.risk())),
            (None, Some(level)) => Some(Policy { given_now: false, ..Policy::apply_up_to(level.limit()) }),
            (None, None) => self.context.settings.policy,
        };
        Permissions { policy, can_ask: false, spent: None, given: None }
    }

    /// What became of the step, by its last run.
    fn result(&self, run: &Run, healed: Option<&Healed>) -> StepResult {
        let seen = self.last.borrow().clone();
        let Some(seen) = seen else { return self.gave_up("nothing of it was run") };
        let base = match &seen.outcome {
            outcome @ (Outcome::Succeeded | Outcome::Negative { .. }) => self.good_result(run, outcome),
            Outcome::Failed { meaning, .. } => self.bad_result(run, &seen, meaning.as_deref(), healed),
        };
        let mut notes = self.notes.take();
        notes.extend(healed.iter().flat_map(|healed| healed.notes.iter().map(|note| self.safe(note))));
        StepResult { duration_ms: seen.duration_ms, healing: healed.map(healing), notes, ..base }
    }

    fn bad_result(
        &self,
        run: &Run,
        seen: &Seen,
        meaning: Option<&str>,
        healed: Option<&Healed>,
    ) -> StepResult {
        let cancelled = ended_from_outside(run);
        let outcome = if cancelled { StepOutcome::Cancelled } else { StepOutcome::Failed };
        let report = healed.and_then(|healed| healed.report.as_ref());
        let why = match (&run.ended, report, meaning) {
            _ if cancelled => self.context.texts().say("task-told-to-end", &[]),
            (Ended::TimedOut { after_ms }, ..) => {
                let seconds = (after_ms / 1_000).to_string();
                self.context.texts().say("task-step-late", &[("seconds", &seconds)])
            }
            (Ended::Exited(0), _, Some(meaning)) => meaning.to_owned(),
            (_, Some(report), _) => report.core_error.clone(),
            (_, None, Some(meaning)) if seen.hopeless.is_some() => meaning.to_owned(),
            (_, None, _) => self.last_words(run),
        };
        let (reason, to_do) = report.map(|report| self.in_words(report)).unwrap_or_default();
        let to_do =
            to_do.or_else(|| words::is_full(&why).then(|| self.context.texts().say("task-make-room", &[])));
        StepResult {
            // Where nothing could be started, nothing was done.
            repeatable: never_began(&run.ended) || self.step().is_harmless(seen.boxed),
            why: Some(self.safe(&why)),
            reason,
            to_do,
            ..StepResult::plain(outcome, run.ended.code())
        }
    }

    /// The probable reason and what to do, by the report.
    fn in_words(&self, report: &Report) -> (Option<String>, Option<String>) {
        let (texts, redactor) = (self.context.texts(), self.context.redactor());
        let cwd: &Path = &self.job.cwd;
        let plain = Plain { texts: &texts, redactor: &redactor, cwd };
        let first = report.causes.first();
        let facts = plain.facts(report);
        let with_facts = |cause: String| match facts.is_empty() {
            true => cause,
            false => format!("{cause} ({})", facts.join("; ")),
        };
        let reason = first.map(|cause| self.safe(&with_facts(plain.cause(cause))));
        (reason, first.map(|cause| self.safe(&plain.advice(cause))))
    }

    /// The last line that a run wrote to standard error, or its exit code.
    fn last_words(&self, run: &Run) -> String {
        let text = run.stderr.text();
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        match last {
            Some(line) => line.to_owned(),
            None => {
                let code = run.ended.code().to_string();
                self.context.texts().say("task-ended-with", &[("code", &code)])
            }
        }
    }

    fn safe(&self, text: &str) -> String {
        let text = self.context.redactor().text(text);
        crate::terminal::clean(&text.as_str().replace('\n', " ")).chars().take(LONGEST).collect()
    }
}

fn healing(healed: &Healed) -> Healing {
    let round = healed.incident.rounds.last();
    let done = matches!(healed.incident.status, Status::Healed | Status::Held | Status::Retried);
    let summary = round.map(|round| round.summary.iter().map(Redacted::as_str).map(str::to_owned).collect());
    Healing {
        incident: healed.incident.id.as_str().to_owned(),
        status: healed.incident.status.word().to_owned(),
        summary: summary.filter(|_| done).unwrap_or_default(),
    }
}

fn never_began(ended: &Ended) -> bool {
    matches!(
        ended,
        Ended::NotFound
            | Ended::NotExecutable { .. }
            | Ended::InterpreterMissing { .. }
            | Ended::NotStarted { .. }
    )
}

/// Whether a run ended because somebody told it to.
fn ended_from_outside(run: &Run) -> bool {
    told_to_end().is_some() || matches!(run.ended, Ended::Cancelled { .. })
}
