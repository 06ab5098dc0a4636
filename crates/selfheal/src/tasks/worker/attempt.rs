//! One run of a step's command: in a box, with what it did put in place by the journal, or on the machine. Every mark is
//! on the disk before what it announces.

use std::io::Write;
use std::time::{Duration, Instant, UNIX_EPOCH};

use selfheal_core::outcome::{Class, Outcome};
use selfheal_core::ports::{BoxOrder, BoxedRun, Boxes, Clock, Executor, Order, PortError, Trouble};
use selfheal_core::run::{Ended, Run};
use selfheal_core::task::{Reach, StepOutcome, StepResult};
use selfheal_exec::told_to_end;
use selfheal_feedback::profiles::{InterpretInput, Profiles};

use super::{Seen, Worker};
use crate::contract::{self, After, AfterBoxed, AfterReal};
use crate::drafts;
use crate::tasks::files;
use crate::tasks::journal::Mark;
use crate::tasks::words;

/// Runs in a box that are repeated because a file was changed by somebody else meanwhile.
const CONFLICTS: u32 = 5;
/// Characters that are shown of the command of a process that was left running.
const SHOWN: usize = 100;
/// How often it is looked whether another process has put its files in place.
const LOOK: Duration = Duration::from_millis(20);

impl Executor for Worker<'_> {
    fn run(&self, order: &Order) -> Result<Run, PortError> {
        if order.id.as_str() == "contract" {
            // A check of what is in place, which is no part of the step's work.
            return self.supervisor.run(order);
        }
        if self.step().reach == Reach::Any || self.no_box.get() {
            return self.on_machine(order);
        }
        let mut conflicts = 0;
        loop {
            match self.in_box(order) {
                Ok(run) => return Ok(run),
                Err(NotDone::NoBox(error)) => return self.without_box(order, error),
                Err(NotDone::Conflict(_)) if conflicts < CONFLICTS => conflicts += 1,
                Err(NotDone::Conflict(error) | NotDone::Other(error)) => return Err(error),
            }
        }
    }
}

/// Why a run in a box came to nothing. Nothing was changed.
enum NotDone {
    NoBox(PortError),
    /// A file was changed by somebody else.
    Conflict(PortError),
    Other(PortError),
}

fn journal_failed(error: std::io::Error) -> PortError {
    PortError::new("write the journal of the step", error)
}

impl Worker<'_> {
    fn mark(&self, mark: &Mark) -> Result<(), PortError> {
        self.journal.mark(mark).map_err(journal_failed)
    }

    /// There is no box here, and nothing of the step was executed: it runs on the machine with its marks, unless only a box
    /// can hold it to what it may do.
    fn without_box(&self, order: &Order, error: PortError) -> Result<Run, PortError> {
        let why = crate::command_error::CommandError::from(error).one_line();
        if !self.step().paths.is_empty() {
            let what = format!(
                "hold the step to its `paths`, which takes a box; leave them out to run it on the machine: {why}"
            );
            return Err(PortError::plain(what, Trouble::Other));
        }
        let known = self.no_box.replace(true);
        if !known {
            let issue =
                self.context.texts().say("task-no-box", &[("step", self.step().id.as_str()), ("why", &why)]);
            self.issue(&issue);
        }
        self.on_machine(order)
    }

    fn on_machine(&self, order: &Order) -> Result<Run, PortError> {
        self.mark(&Mark::OnMachine)?;
        let run = self.supervisor.run(order).inspect_err(|error| {
            // Sight of it was lost after it was started.
            self.may_have_run.set(error.trouble != Trouble::Missing);
        })?;
        self.tell_apart(&run);
        let began = UNIX_EPOCH + Duration::from_millis(u64::try_from(run.started.0).unwrap_or(0));
        let after = AfterReal { cwd: &self.job.cwd, run: &run, began };
        let outcome = self.with_command_check(self.outcome(&run, &after), &run);
        if matches!(outcome, Outcome::Failed { .. }) && !matches!(run.ended, Ended::Cancelled { .. }) {
            self.mark(&Mark::Failed { code: run.ended.code() })?;
        }
        self.saw(&run, outcome, false, None);
        Ok(run)
    }

    /// What came of what the step should have had for itself: what it has not, what was ended with it, and where its failure
    /// may come from that.
    fn tell_apart(&self, run: &Run) {
        let texts = self.context.texts();
        for why in self.supervisor.take_lacks() {
            self.issue(&texts.say("task-not-apart", &[("why", &why)]));
        }
        let swept = self.supervisor.take_swept();
        if !swept.is_empty() {
            let all: Vec<String> = swept.into_iter().map(|left| left.command).collect();
            self.note(&texts.say("task-swept", &[("what", &crate::terminal::clean(&all.join(", ")))]));
        }
        if run.ended != Ended::Exited(0)
            && let Some(hint) = crate::tasks::apart::hint(&self.order.apart, &run.stderr.text())
        {
            self.note(&texts.say(hint, &[]));
        }
    }

    fn in_box(&self, order: &Order) -> Result<Run, NotDone> {
        let draft = self.context.clock.fresh_id();
        self.mark(&Mark::Boxed { draft: draft.clone() }).map_err(NotDone::Other)?;
        let boxed = self.steps.run(&self.box_order(order, &draft)).map_err(|error| match told_to_end() {
            Some(_) => NotDone::Other(error),
            None => NotDone::NoBox(error),
        })?;
        let run = Run { id: order.id.clone(), ..boxed.run.clone() };
        let outcome = self.outcome(&run, &AfterBoxed { cwd: &self.job.cwd, boxed: &boxed });
        let good = !matches!(outcome, Outcome::Failed { .. });
        let cancelled = told_to_end().is_some() || matches!(run.ended, Ended::Cancelled { .. });
        let doubt = self.doubt(&boxed).filter(|_| !cancelled);
        if !good || cancelled || doubt.is_some() {
            if boxed.no_draft.is_none() {
                self.forget(&draft);
            }
            let outcome = match &doubt {
                Some(why) => Outcome::Failed { class: Class::Environment, meaning: Some(why.clone()) },
                None => outcome,
            };
            self.saw(&run, outcome, true, doubt);
            return Ok(run);
        }
        let done = if boxed.effects.is_empty() {
            // There is nothing to put in place, and a repetition does no harm.
            self.forget(&draft);
            None
        } else {
            self.commit(&draft, &run, &outcome)?;
            Some(draft.as_str())
        };
        self.checked_in_place(done, &run, outcome).map_err(NotDone::Other)?;
        Ok(run)
    }

    /// Puts in place what a good run did.
    fn commit(&self, draft: &str, run: &Run, outcome: &Outcome) -> Result<(), NotDone> {
        let Some(store) = self.store() else {
            let what = "put in place what the step did: the store cannot be used";
            return Err(NotDone::Other(PortError::plain(what, Trouble::Other)));
        };
        let result = Box::new(self.good_result(run, outcome));
        self.mark(&Mark::Committing { draft: draft.to_owned(), result }).map_err(NotDone::Other)?;
        let until = Instant::now() + Duration::from_millis(self.time_left());
        loop {
            match drafts::put(self.context, store, draft, None) {
                Ok(_) => return Ok(()),
                Err(error) if error.trouble == Trouble::Locked && Instant::now() < until => {
                    std::thread::sleep(LOOK);
                }
                Err(error) => {
                    self.forget(draft);
                    return Err(match error.trouble {
                        Trouble::Changed => NotDone::Conflict(error),
                        _ => NotDone::Other(error),
                    });
                }
            }
        }
    }

    /// The command that must succeed after the step; where it does not, what was put in place is taken back.
    fn checked_in_place(&self, draft: Option<&str>, run: &Run, outcome: Outcome) -> Result<(), PortError> {
        let outcome = self.with_command_check(outcome, run);
        if let (Outcome::Failed { .. }, Some(draft)) = (&outcome, draft)
            && let Some(store) = self.store()
        {
            drafts::undo(self.context, store, draft)?;
            self.mark(&Mark::Undone { draft: draft.to_owned() })?;
        }
        self.saw(run, outcome, true, None);
        Ok(())
    }

    fn with_command_check(&self, outcome: Outcome, run: &Run) -> Outcome {
        let command = self.contract.command.as_ref();
        let Some(command) = command.filter(|_| outcome == Outcome::Succeeded) else { return outcome };
        match contract::command_fails(command, &self.job, &self.supervisor) {
            Some(why) => {
                tracing::info!(code = run.ended.code(), "the check of a step failed");
                Outcome::Failed { class: Class::Logic, meaning: Some(why) }
            }
            None => outcome,
        }
    }

    fn saw(&self, run: &Run, outcome: Outcome, boxed: bool, hopeless: Option<String>) {
        self.tell_of_rest(run);
        let (code, duration_ms) = (run.ended.code(), run.duration_ms);
        self.last.replace(Some(Seen { outcome, boxed, hopeless, code, duration_ms }));
    }

    /// What did not go to the output file, whose end is added; and what still runs.
    fn tell_of_rest(&self, run: &Run) {
        let texts = self.context.texts();
        let most = self.context.settings.limits.step_output_bytes;
        for stream in [&run.stdout, &run.stderr].into_iter().filter(|stream| stream.total > most) {
            let (bytes, kept) = (stream.total.to_string(), most.to_string());
            let cut = texts.say("task-output-cut", &[("bytes", &bytes), ("kept", &kept)]);
            self.note(&cut);
            crate::commands::tell(&format!("\nselfheal: {cut}\n[…]"));
            // Its bytes as they are, as before them.
            let _ = std::io::stderr().lock().write_all(&stream.tail);
        }
        for left in &run.left_running {
            let command: String = left.command.chars().take(SHOWN).collect();
            let values = [("command", command.as_str()), ("process", &left.pid.to_string())];
            self.note(&texts.say("task-left-running", &values));
        }
    }

    pub(super) fn outcome(&self, run: &Run, after: &dyn After) -> Outcome {
        if run.ended == Ended::Exited(0) {
            return match self.contract.broken(after) {
                Some(why) => Outcome::Failed { class: Class::Logic, meaning: Some(why) },
                None => Outcome::Succeeded,
            };
        }
        let script = crate::driver::text_of(self.job.script.as_deref());
        let input = InterpretInput { argv: &self.job.argv, run, script: script.as_deref(), trace: None };
        self.profiles().interpret(&input)
    }

    pub(super) fn profiles(&self) -> &Profiles {
        self.profiles.get_or_init(|| crate::profiles::load(self.context).0)
    }

    /// Why what a run in a box did cannot be put in place, whatever its exit code says.
    fn doubt(&self, boxed: &BoxedRun) -> Option<String> {
        let texts = self.context.texts();
        if boxed.network_tries > 0 {
            return Some(texts.say("task-network", &[]));
        }
        let step = self.step();
        let outside = boxed.effects.iter().map(|effect| &effect.path).find(|path| {
            let own = [self.order.temp.clone()];
            let allowed = [&step.paths[..], &step.outputs[..], &own[..]];
            // A folder on the way to an allowed place must be made first.
            let leads_there = allowed.iter().any(|roots| roots.iter().any(|root| root.starts_with(path)));
            !leads_there && !allowed.iter().any(|roots| files::is_below(path, roots))
        });
        if let Some(path) = outside.filter(|_| !step.paths.is_empty()) {
            return Some(texts.say("task-outside", &[("path", &crate::terminal::shown_path(path))]));
        }
        let why = boxed.no_draft.as_ref().or(boxed.inconclusive.as_ref());
        let late = matches!(boxed.run.ended, Ended::TimedOut { .. });
        let id = |why: &str| if words::is_full(why) { "task-box-full" } else { "task-doubt" };
        why.filter(|_| !late).map(|why| texts.say(id(why), &[("why", why)]))
    }

    fn forget(&self, draft: &str) {
        if let Err(error) = drafts::all(self.context).throw_away(draft) {
            tracing::warn!(%error, "a draft could not be thrown away");
        }
    }

    /// The result of a good run, as far as it is known before its files are in place.
    pub(super) fn good_result(&self, run: &Run, outcome: &Outcome) -> StepResult {
        let negative = matches!(outcome, Outcome::Negative { .. });
        let word = if negative { StepOutcome::Negative } else { StepOutcome::Succeeded };
        StepResult {
            duration_ms: run.duration_ms,
            notes: self.notes.borrow().clone(),
            decisions: self.news.borrow().0.clone(),
            issues: self.news.borrow().1.clone(),
            ..StepResult::plain(word, run.ended.code())
        }
    }

    fn box_order(&self, order: &Order, draft: &str) -> BoxOrder {
        let live = drafts::live_order(self.context, self.job.script.clone(), order, draft);
        BoxOrder { fetch: self.contract.paths(), ..live }
    }
}
