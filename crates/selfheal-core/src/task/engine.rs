//! The one transition function of a task.

use super::graph::Names;
use super::{
    CleanupRecord, Decision, Reach, RetryClass, Stage, Step, StepOutcome, StepResult, StepStage, Task,
    TaskState,
};
use crate::ids::Timestamp;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A run begins.
    Begin,
    /// A run that was left, or that ended badly, goes on. Nothing of it works any more.
    Resume,
    /// A step ended.
    StepEnded {
        /// The step.
        step: String,
        /// How.
        result: Box<StepResult>,
    },
    /// What became of a step whose process is gone.
    Settled {
        /// The step.
        step: String,
        /// What was found.
        found: Found,
    },
    /// A person says what became of a step that was handed over.
    Decided {
        /// The step.
        step: String,
        /// What.
        verdict: Verdict,
    },
    /// A run that was left is not to go on: it is brought to its end as it stands.
    Close(Stage),
    /// The task was told to end.
    CancelAsked,
    /// The task's deadline hit.
    DeadlineHit,
    /// Cleaning up is over.
    CleanupEnded(Vec<CleanupRecord>),
}

/// What was found of a step whose process is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It did nothing that stays.
    NotBegun,
    /// It ended, and this is how.
    Ended(Box<StepResult>),
    /// It may have done something, and nobody knows how far it got.
    MayHaveRun,
}

/// What a person says of a step that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is done.
    Done,
    /// It is to be run again.
    Again,
}

/// What is to be done. The state that comes with it is stored before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Start a step.
    Start(String),
    /// End a step that runs.
    Stop(String),
    /// Find out what became of a step whose process is gone.
    Settle(String),
    /// Clean up; this is how the run ends.
    CleanUp(Stage),
    /// The run is over.
    Finish(Stage),
}

/// An event that cannot happen in this state: a bug of the program or a wrong name by a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(String);

/// The next state of a run and what to do in it.
///
/// # Errors
/// When the event cannot happen in this state.
pub fn step(
    task: &Task,
    state: &TaskState,
    event: Event,
    at: Timestamp,
) -> Result<(TaskState, Vec<Action>), Unfit> {
    let mut next = state.clone();
    next.updated = at;
    let engine = Engine { task, names: Names::of(task), state: &mut next, at };
    let actions = engine.take(event)?;
    next.sum_up();
    Ok((next, actions))
}

struct Engine<'a> {
    task: &'a Task,
    names: Names<'a>,
    state: &'a mut TaskState,
    at: Timestamp,
}

impl Engine<'_> {
    fn take(mut self, event: Event) -> Result<Vec<Action>, Unfit> {
        match event {
            Event::Begin => {
                self.state.started = self.at;
                Ok(self.go_on())
            }
            Event::Resume => self.resume(),
            Event::StepEnded { step, result } => {
                self.running(&step)?;
                self.end(&step, *result);
                Ok(self.go_on())
            }
            Event::Settled { step, found } => {
                self.running(&step)?;
                self.settle(&step, found);
                Ok(self.go_on())
            }
            Event::Decided { step, verdict } => self.decide(&step, verdict),
            Event::Close(why) => {
                self.state.stage = Stage::Running;
                self.state.stopping = Some(why);
                let left = self.all(StepStage::Running);
                Ok(if left.is_empty() {
                    self.go_on()
                } else {
                    left.into_iter().map(Action::Settle).collect()
                })
            }
            Event::CancelAsked => Ok(self.stop(Stage::Cancelled)),
            Event::DeadlineHit => Ok(self.stop(Stage::TimedOut)),
            Event::CleanupEnded(records) => {
                if self.state.stage != Stage::Cleaning {
                    return Err(Unfit("nothing is being cleaned up".to_owned()));
                }
                self.state.cleanups.extend(records);
                self.state.stage = self.verdict();
                self.state.owner = None;
                Ok(vec![Action::Finish(self.state.stage)])
            }
        }
    }

    fn running(&self, step: &str) -> Result<(), Unfit> {
        let running = self.state.steps.get(step).is_some_and(|step| step.stage == StepStage::Running);
        if running { Ok(()) } else { Err(Unfit(format!("step {step} does not run"))) }
    }

    /// A step ends, and the task takes back what it learnt.
    fn end(&mut self, id: &str, result: StepResult) {
        let at = self.at;
        let decided = result.decisions.iter().map(|what| Decision {
            at,
            step: Some(id.to_owned()),
            what: what.clone(),
        });
        self.state.decisions.extend(decided);
        for issue in &result.issues {
            if !self.state.known_issues.contains(issue) {
                self.state.known_issues.push(issue.clone());
            }
        }
        if let Some(step) = self.state.steps.get_mut(id) {
            step.stage = StepStage::Ended;
            step.ended = Some(at);
            step.result = Some(result);
        }
    }

    /// What a step that may have run is: handed over, unless it does no harm twice.
    fn settle(&mut self, id: &str, found: Found) {
        match found {
            Found::NotBegun => self.set(id, StepStage::Pending),
            // Whoever goes on wants what failed and may run again to do so; that nobody had taken its end in changes nothing.
            Found::Ended(result) if self.is_to_run_again(&result) => {
                self.end(id, *result);
                self.set(id, StepStage::Pending);
            }
            Found::Ended(result) => self.end(id, *result),
            Found::MayHaveRun if self.task.step(id).is_some_and(|step| step.idempotent) => {
                self.set(id, StepStage::Pending);
            }
            Found::MayHaveRun => {
                self.set(id, StepStage::HandedOver);
                let what = format!("step {id} may have done its work, all of it or a part; nobody knows");
                self.state.known_issues.push(what);
            }
        }
    }

    fn is_to_run_again(&self, result: &StepResult) -> bool {
        !result.outcome.is_good() && result.repeatable && self.state.stopping.is_none()
    }

    fn set(&mut self, id: &str, stage: StepStage) {
        if let Some(step) = self.state.steps.get_mut(id) {
            step.stage = stage;
        }
    }

    /// Everything that did not end well and may be run (again) is to be run. Steps that run are looked for.
    fn resume(mut self) -> Result<Vec<Action>, Unfit> {
        if self.state.stage == Stage::Succeeded {
            return Err(Unfit("it has succeeded: nothing is left to be done".to_owned()));
        }
        self.state.stage = Stage::Running;
        self.state.stopping = None;
        let mut settle = Vec::new();
        for (id, step) in &mut self.state.steps {
            let failed = step.result.as_ref().is_some_and(|result| !result.outcome.is_good());
            let repeatable = step.result.as_ref().is_some_and(|result| result.repeatable);
            match step.stage {
                StepStage::Running => settle.push(Action::Settle(id.clone())),
                StepStage::Blocked | StepStage::Skipped => step.stage = StepStage::Pending,
                StepStage::Ended if failed && repeatable => step.stage = StepStage::Pending,
                StepStage::Ended if failed => step.stage = StepStage::HandedOver,
                StepStage::Ended | StepStage::Pending | StepStage::HandedOver => {}
            }
        }
        if settle.is_empty() { Ok(self.go_on()) } else { Ok(settle) }
    }

    fn decide(self, id: &str, verdict: Verdict) -> Result<Vec<Action>, Unfit> {
        let Some(step) = self.state.steps.get_mut(id) else {
            return Err(Unfit(format!("there is no step {id}")));
        };
        let failed = step.outcome().is_some_and(|outcome| !outcome.is_good());
        if step.stage != StepStage::HandedOver && !failed {
            return Err(Unfit(format!("step {id} does not wait for a decision")));
        }
        let what = match verdict {
            Verdict::Done => "a person says that it is done",
            Verdict::Again => "a person says that it is to be run again",
        };
        match verdict {
            Verdict::Again => step.stage = StepStage::Pending,
            Verdict::Done => {
                let before = step.result.take();
                step.stage = StepStage::Ended;
                step.attempt = step.attempt.max(1);
                step.result = Some(done(before));
            }
        }
        let decision = Decision { at: self.at, step: Some(id.to_owned()), what: what.to_owned() };
        self.state.decisions.push(decision);
        Ok(Vec::new())
    }

    fn stop(mut self, why: Stage) -> Vec<Action> {
        if self.state.stage != Stage::Running {
            return Vec::new();
        }
        self.state.stopping.get_or_insert(why);
        let running = self.all(StepStage::Running);
        if running.is_empty() { self.go_on() } else { running.into_iter().map(Action::Stop).collect() }
    }

    fn all(&self, stage: StepStage) -> Vec<String> {
        let all = self.task.steps.iter().map(|step| &step.id);
        all.filter(|id| self.state.steps.get(*id).is_some_and(|step| step.stage == stage)).cloned().collect()
    }

    /// Starts what can be started; where nothing is left, the run comes to its end.
    fn go_on(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.state.stopping.is_none() {
            self.skip();
            let failed = self.something_failed();
            let free = self.task.concurrency.max(1).saturating_sub(self.all(StepStage::Running).len());
            let task = self.task;
            // What is started changes nothing for the others: it has not ended.
            let ready = task.steps.iter().filter(|step| self.may_start(step, failed)).take(free);
            for step in ready.collect::<Vec<_>>() {
                self.start(&step.id);
                actions.push(Action::Start(step.id.clone()));
            }
        }
        if actions.is_empty() && self.all(StepStage::Running).is_empty() && self.state.stage == Stage::Running
        {
            self.close();
            actions.push(Action::CleanUp(self.verdict()));
        }
        actions
    }

    fn start(&mut self, id: &str) {
        let at = self.at;
        if let Some(step) = self.state.steps.get_mut(id) {
            step.stage = StepStage::Running;
            step.attempt += 1;
            step.began = Some(at);
            step.ended = None;
            step.result = None;
        }
    }

    /// Conditions that do not hold skip their steps; that may decide the next one.
    fn skip(&mut self) {
        loop {
            let unwanted =
                |step: &&Step| self.is_pending(step) && self.needs_ended(step) && !self.condition_holds(step);
            let all: Vec<&Step> = self.task.steps.iter().filter(unwanted).collect();
            if all.is_empty() {
                return;
            }
            all.into_iter().for_each(|step| self.set(&step.id, StepStage::Skipped));
        }
    }

    fn is_pending(&self, step: &Step) -> bool {
        self.state.steps.get(&step.id).is_some_and(|step| step.stage == StepStage::Pending)
    }

    fn may_start(&self, step: &Step, something_failed: bool) -> bool {
        if !self.is_pending(step) || !self.needs_ended(step) || !self.condition_holds(step) {
            return false;
        }
        if let Some(first) = self.names.stands_in_for(&step.id) {
            return self.failed_itself(&first.id);
        }
        // After a failure nothing new begins but what was written for it.
        let for_failures = step.when.as_ref().is_some_and(super::When::speaks_of_failure);
        for_failures || (!something_failed && step.needs.iter().all(|need| self.is_good(need)))
    }

    fn condition_holds(&self, step: &Step) -> bool {
        step.when.as_ref().is_none_or(|when| when.holds(|id| self.seen(id)))
    }

    fn needs_ended(&self, step: &Step) -> bool {
        step.needs.iter().all(|need| self.seen(need).is_some())
    }

    /// How a step ended for those that need it, what stands in for it included.
    fn seen(&self, id: &str) -> Option<(StepOutcome, i32)> {
        let own = self.state.outcome(id)?;
        let code = self.state.steps.get(id)?.result.as_ref().map_or(0, |result| result.code);
        let stand_in = self.names.step(id).and_then(|step| step.fallback.as_deref());
        match stand_in {
            Some(stand_in) if own == StepOutcome::Failed => match self.state.steps.get(stand_in)?.stage {
                StepStage::Ended => {
                    let outcome = self.state.outcome(stand_in)?;
                    Some((outcome, if outcome.is_good() { 0 } else { code }))
                }
                StepStage::Skipped | StepStage::Blocked | StepStage::HandedOver => Some((own, code)),
                StepStage::Pending | StepStage::Running => None,
            },
            _ => Some((own, code)),
        }
    }

    fn is_good(&self, id: &str) -> bool {
        self.seen(id).is_some_and(|(outcome, _)| outcome.is_good())
    }

    fn failed_itself(&self, id: &str) -> bool {
        self.state.outcome(id) == Some(StepOutcome::Failed)
    }

    /// Whether a step failed and nothing can stand in for it any more, or a person must say what became of one.
    fn something_failed(&self) -> bool {
        self.task.steps.iter().any(|step| {
            let stage = self.state.steps.get(&step.id).map(|step| step.stage);
            let stands_in = self.names.stands_in_for(&step.id).is_some();
            stage == Some(StepStage::HandedOver)
                || (!stands_in && self.seen(&step.id).is_some_and(|(outcome, _)| !outcome.is_good()))
        })
    }

    /// What was not started is not going to be.
    fn close(&mut self) {
        for step in &self.task.steps {
            if !self.is_pending(step) {
                continue;
            }
            let unneeded =
                self.names.stands_in_for(&step.id).is_some_and(|first| !self.failed_itself(&first.id));
            let stage = if unneeded && self.state.stopping.is_none() {
                StepStage::Skipped
            } else {
                StepStage::Blocked
            };
            if let Some(step) = self.state.steps.get_mut(&step.id) {
                step.stage = stage;
            }
        }
        self.state.stage = Stage::Cleaning;
    }

    fn verdict(&self) -> Stage {
        let stages = || self.state.steps.values().map(|step| step.stage);
        if stages().any(|stage| stage == StepStage::HandedOver) {
            Stage::HandedOver
        } else if let Some(stopping) = self.state.stopping {
            stopping
        } else if self.something_failed() || stages().any(|stage| stage == StepStage::Blocked) {
            Stage::Failed
        } else {
            Stage::Succeeded
        }
    }
}

/// The result of a step of which a person says that it is done.
fn done(before: Option<StepResult>) -> StepResult {
    let empty = StepResult::plain(StepOutcome::Succeeded, 0);
    StepResult { outcome: StepOutcome::Succeeded, code: 0, why: None, ..before.unwrap_or(empty) }
}

impl Step {
    /// Whether a run of it that failed or was broken off may be repeated without being asked: files come in place as a
    /// whole or not at all, and for the rest the user has said so.
    #[must_use]
    pub fn may_repeat(&self, boxed: bool) -> bool {
        self.retry != RetryClass::None && self.is_harmless(boxed)
    }

    /// Whether it does no harm when it runs again, by a person's wish too: it says so itself, or nothing of it was in place.
    #[must_use]
    pub fn is_harmless(&self, boxed: bool) -> bool {
        self.idempotent || (boxed && self.reach == Reach::Files)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::task::{When, order};

    fn task(steps: &[(&str, &[&str])]) -> Task {
        let step = |(id, needs): &(&str, &[&str])| Step {
            id: (*id).to_owned(),
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            ..Step::default()
        };
        let steps = steps.iter().map(step).collect();
        Task { id: "t".to_owned(), steps, concurrency: 2, ..Task::default() }
    }

    fn change<'a>(task: &'a mut Task, id: &str) -> &'a mut Step {
        task.steps.iter_mut().find(|step| step.id == id).unwrap()
    }

    fn ended(step: &str, outcome: StepOutcome) -> Event {
        let code = i32::from(!outcome.is_good());
        let result = StepResult { outcome, code, repeatable: true, ..done(None) };
        Event::StepEnded { step: step.to_owned(), result: Box::new(result) }
    }

    /// Runs a task whose steps end as told, and gives the order of what was started and the end.
    fn walk(task: &Task, how: &dyn Fn(&str) -> StepOutcome) -> (Vec<String>, TaskState) {
        let mut state = TaskState::new(task, "r".into(), "/t".into(), "d".into());
        let (mut event, mut queue, mut started) = (Some(Event::Begin), Vec::new(), Vec::new());
        loop {
            if let Some(event) = event.take() {
                let (next, actions) = step(task, &state, event, Timestamp(1)).unwrap();
                assert_eq!(next.check(), Vec::<String>::new());
                assert_eq!(next.lost_since(&state), Vec::<String>::new());
                state = next;
                queue.extend(actions);
            }
            if queue.is_empty() {
                return (started, state);
            }
            event = match queue.remove(0) {
                Action::Start(id) => {
                    started.push(id.clone());
                    Some(ended(&id, how(&id)))
                }
                Action::CleanUp(_) => Some(Event::CleanupEnded(Vec::new())),
                _ => None,
            };
        }
    }

    fn all_well(_: &str) -> StepOutcome {
        StepOutcome::Succeeded
    }

    #[test]
    fn steps_run_after_what_they_need_and_no_more_at_once_than_allowed() {
        let mut task = task(&[("c", &["a", "b"]), ("a", &[]), ("b", &[]), ("d", &[])]);
        let fresh = TaskState::new(&task, "r".into(), "/t".into(), "d".into());
        let (_, actions) = step(&task, &fresh, Event::Begin, Timestamp(1)).unwrap();
        assert_eq!(actions, [Action::Start("a".into()), Action::Start("b".into())]);
        task.concurrency = 1;
        let (started, state) = walk(&task, &all_well);
        assert_eq!(started, ["a", "b", "c", "d"]);
        assert_eq!((state.stage, state.completed.len()), (Stage::Succeeded, 4));
    }

    #[test]
    fn a_negative_answer_is_no_failure_and_chooses_the_way() {
        let mut task =
            task(&[("grep", &[]), ("mail", &["grep"]), ("rest", &["grep"]), ("end", &["mail", "rest"])]);
        let needs = ["grep".to_owned()];
        change(&mut task, "mail").when = Some(When::parse("outcome == succeeded", &needs).unwrap());
        change(&mut task, "rest").when = Some(When::parse("outcome == negative", &needs).unwrap());
        let negative = |id: &str| if id == "grep" { StepOutcome::Negative } else { StepOutcome::Succeeded };
        let (started, state) = walk(&task, &negative);
        assert_eq!(started, ["grep", "rest", "end"]);
        assert_eq!(state.stage, Stage::Succeeded);
        assert_eq!(state.outcome("mail"), Some(StepOutcome::Skipped));
    }

    #[test]
    fn a_stand_in_runs_only_after_a_failure_and_saves_the_task() {
        let mut task = task(&[("fetch", &[]), ("cache", &[]), ("use", &["fetch"])]);
        change(&mut task, "fetch").fallback = Some("cache".to_owned());
        let (started, state) = walk(&task, &all_well);
        assert_eq!((started.join(" "), state.stage), ("fetch use".to_owned(), Stage::Succeeded));
        let fails = |id: &str| if id == "fetch" { StepOutcome::Failed } else { StepOutcome::Succeeded };
        let (started, state) = walk(&task, &fails);
        assert_eq!((started.join(" "), state.stage), ("fetch cache use".to_owned(), Stage::Succeeded));
        let (started, state) = walk(&task, &|_| StepOutcome::Failed);
        assert_eq!((started.join(" "), state.stage), ("fetch cache".to_owned(), Stage::Failed));
    }

    #[test]
    fn after_a_failure_only_what_was_written_for_it_runs() {
        let mut task = task(&[("work", &[]), ("next", &["work"]), ("tell", &["work"])]);
        let needs = ["work".to_owned()];
        change(&mut task, "tell").when = Some(When::parse("outcome == failed", &needs).unwrap());
        let fails = |id: &str| if id == "work" { StepOutcome::Failed } else { StepOutcome::Succeeded };
        let (started, state) = walk(&task, &fails);
        assert_eq!((started.join(" "), state.stage), ("work tell".to_owned(), Stage::Failed));
        let (started, _) = walk(&task, &all_well);
        assert_eq!(started, ["work", "next"]);
    }

    #[test]
    fn a_step_that_may_have_run_is_never_started_by_itself() {
        let task = task(&[("send", &[]), ("next", &["send"])]);
        let fresh = TaskState::new(&task, "r".into(), "/t".into(), "d".into());
        let now = Timestamp(1);
        let (running, _) = step(&task, &fresh, Event::Begin, now).unwrap();
        let (left, actions) = step(&task, &running, Event::Resume, now).unwrap();
        assert_eq!(actions, [Action::Settle("send".into())]);
        let found = Event::Settled { step: "send".into(), found: Found::MayHaveRun };
        let (state, actions) = step(&task, &left, found, now).unwrap();
        assert_eq!(actions, [Action::CleanUp(Stage::HandedOver)]);
        let (state, actions) = step(&task, &state, Event::CleanupEnded(Vec::new()), now).unwrap();
        assert_eq!(actions, [Action::Finish(Stage::HandedOver)]);
        let (again, actions) = step(&task, &state, Event::Resume, now).unwrap();
        assert_eq!(actions, [Action::CleanUp(Stage::HandedOver)], "nobody has decided");
        assert_eq!(again.outcome("send"), None);
        let decided = Event::Decided { step: "send".into(), verdict: Verdict::Done };
        let (state, _) = step(&task, &state, decided, now).unwrap();
        let (state, actions) = step(&task, &state, Event::Resume, now).unwrap();
        assert_eq!(actions, [Action::Start("next".into())]);
        assert_eq!(state.decisions.len(), 1);
    }

    #[test]
    fn a_cancelled_task_stops_what_runs_and_starts_nothing() {
        let task = task(&[("a", &[]), ("b", &["a"])]);
        let fresh = TaskState::new(&task, "r".into(), "/t".into(), "d".into());
        let now = Timestamp(1);
        let (state, _) = step(&task, &fresh, Event::Begin, now).unwrap();
        let (state, actions) = step(&task, &state, Event::CancelAsked, now).unwrap();
        assert_eq!(actions, [Action::Stop("a".into())]);
        let (state, actions) = step(&task, &state, ended("a", StepOutcome::Succeeded), now).unwrap();
        assert_eq!(actions, [Action::CleanUp(Stage::Cancelled)]);
        let (state, _) = step(&task, &state, Event::CleanupEnded(Vec::new()), now).unwrap();
        assert_eq!((state.stage, state.completed.join(" ")), (Stage::Cancelled, "a".to_owned()));
        let (_, actions) = step(&task, &state, Event::Resume, now).unwrap();
        assert_eq!(actions, [Action::Start("b".into())]);
    }

    fn any_task() -> impl Strategy<Value = Task> {
        let steps = prop::collection::vec((any::<u16>(), any::<bool>(), any::<bool>()), 1..7);
        (steps, 1_usize..4).prop_map(|(steps, concurrency)| {
            let ids: Vec<String> = (0..steps.len()).map(|n| format!("s{n}")).collect();
            let mut all = Vec::new();
            for (n, (bits, idempotent, fallback)) in steps.iter().enumerate() {
                let needs: Vec<String> = ids
                    .iter()
                    .take(n)
                    .enumerate()
                    .filter(|(m, _)| bits & (1 << m) != 0)
                    .map(|(_, id)| id.clone())
                    .collect();
                let when = match needs.as_slice() {
                    [one] if bits & 0x100 != 0 => {
                        Some(When::parse("outcome != succeeded", std::slice::from_ref(one)).unwrap())
                    }
                    _ => None,
                };
                let fallback = ids.get(n + 1).filter(|_| *fallback && bits & 0x200 != 0).cloned();
                all.push(Step {
                    id: format!("s{n}"),
                    needs,
                    idempotent: *idempotent,
                    when,
                    fallback,
                    ..Step::default()
                });
            }
            // What stands in is needed by nobody, as the check of files demands.
            let stand_ins: Vec<String> = all.iter().filter_map(|step| step.fallback.clone()).collect();
            for step in &mut all {
                step.needs.retain(|need| !stand_ins.contains(need));
                if step.needs.len() != 1 {
                    step.when = None;
                }
            }
            Task { id: "t".into(), steps: all, concurrency, ..Task::default() }
        })
    }

    proptest! {
        /// Killed at any moment and resumed, every task comes to an end, and no step that must not run twice is begun again
        /// after a beginning of which nobody knows the end.
        #[test]
        fn no_crash_begins_twice_what_must_not_run_twice(
            task in any_task(),
            choices in prop::collection::vec(any::<u8>(), 80),
        ) {
            prop_assume!(order(&task).len() == task.steps.len());
            let mut choices = choices.into_iter();
            let mut one_in = |n: u8| choices.next().unwrap_or(1).is_multiple_of(n);
            let mut state = TaskState::new(&task, "r".into(), "/t".into(), "d".into());
            let mut open: BTreeSet<String> = BTreeSet::new();
            let (mut queue, mut event) = (Vec::new(), Some(Event::Begin));
            for _ in 0..400 {
                if let Some(event) = event.take() {
                    let (next, actions) = step(&task, &state, event, Timestamp(1)).unwrap();
                    prop_assert_eq!(next.check(), Vec::<String>::new());
                    prop_assert_eq!(next.lost_since(&state), Vec::<String>::new());
                    state = next;
                    queue.extend(actions);
                }
                if queue.is_empty() {
                    break;
                }
                let action = queue.remove(0);
                if one_in(8) && !state.stage.is_final() {
                    queue.clear();
                    event = Some(Event::Resume);
                    continue;
                }
                event = match action {
                    Action::Start(id) => {
                        let first = open.insert(id.clone());
                        prop_assert!(first || task.step(&id).unwrap().idempotent, "{id} began twice");
                        if one_in(4) {
                            queue.clear();
                            Some(Event::Resume)
                        } else {
                            open.remove(&id);
                            let outcome = if one_in(5) { StepOutcome::Failed } else { StepOutcome::Succeeded };
                            Some(ended(&id, outcome))
                        }
                    }
                    Action::Settle(id) => {
                        let found = if open.contains(&id) { Found::MayHaveRun } else { Found::NotBegun };
                        Some(Event::Settled { step: id, found })
                    }
                    Action::CleanUp(_) => Some(Event::CleanupEnded(Vec::new())),
                    Action::Stop(_) | Action::Finish(_) => None,
                };
            }
            prop_assert!(state.stage.is_final(), "{:?}", state);
            for id in &open {
                let idempotent = task.step(id).unwrap().idempotent;
                prop_assert!(idempotent || state.steps[id].stage == StepStage::HandedOver, "{id}: {state:?}");
            }
        }
    }
}
