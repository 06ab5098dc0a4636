//! The driver: gives the engine its hands.
//!
//! Theory of operation: [`Healer::heal`] feeds events to `selfheal_core::engine::step` and performs the actions that come
//! back, one file an action. The next state is stored, with ledger records, before the action is performed; so a process
//! that is killed leaves a state that names the last action that may have begun, and [`recover`] completes or takes it
//! back. Nothing is changed on the machine outside of `apply.rs`.

mod again;
mod allow;
mod apply;
mod changes;
mod circle;
mod decide;
mod derive;
mod environment;
mod examine;
mod given;
mod install;
#[cfg(feature = "model")]
mod known;
mod message;
mod parallel;
mod patched;
mod propose;
mod record;
pub mod recover;
mod remember;
mod rivals;
mod room;
mod scenario;
mod storm;
mod timing;
mod trial;
mod tried;
mod verify;
pub mod watch;

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::time::Instant;

use selfheal_core::effects::Effect;
use selfheal_core::engine::{Action, Decision, Event, Plan, State, step};
use selfheal_core::failpoint;
use selfheal_core::incident::Incident;
use selfheal_core::job::Job;
use selfheal_core::outcome::{Class, Outcome};
use selfheal_core::ports::{Boxes, Clock, Executor, Order};
use selfheal_core::redact::Redactor;
use selfheal_core::report::Report;
use selfheal_core::run::{Ended, Run};
use selfheal_core::settings::Policy;
use selfheal_core::trace::Trace;
use selfheal_core::usage::Usage;
use selfheal_exec::LiveScene;
use selfheal_feedback::profiles::Profiles;
use selfheal_repair::Candidate;
use selfheal_store::Store;

use crate::cli::Part;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::contract::{self, Contract};
use crate::document::RuleTime;
use crate::terminal::Progress;
use crate::texts::Texts;

#[cfg(feature = "model")]
mod fill;
#[cfg(feature = "model")]
pub mod model;

pub use again::{Again, try_again};
pub use apply::{apply_all, take_back_all};
pub use examine::text_of;
pub use given::Given;
pub(crate) use install::fact as package_fact;
pub(crate) use message::{first_cause, message};
pub use propose::Source;
pub(crate) use propose::maker;
pub(crate) use record::{CANCELLED, command_line, entry, run_record, was_good};
pub use remember::{imported, put_back_in, taken_back};
pub(crate) use tried::{best_guess, tries};

/// What a healer works with. Borrowed from the command that runs the job.
pub struct Tools<'a> {
    /// Who, where, with which settings.
    pub context: &'a Context,
    /// What is told to people.
    pub texts: &'a Texts,
    /// Where everything is recorded.
    pub store: &'a Store,
    /// Runs the job for real.
    pub executor: &'a dyn Executor,
    /// Tries it.
    pub boxes: &'a (dyn Boxes + Sync),
    /// What exit codes mean.
    pub profiles: &'a Profiles,
    /// Takes secrets out.
    pub redactor: &'a Redactor,
    /// The progress line.
    pub progress: &'a Progress,
    /// What is left out, to measure what it is worth.
    pub without: &'a [Part],
    /// What a good run of the job must have done.
    pub contract: &'a Contract,
    /// The task that the job is a step of.
    #[cfg(feature = "model")]
    pub task: Option<&'a crate::tasks::told::TaskPart>,
}

/// What is allowed for this job now.
#[derive(Clone, Debug)]
pub struct Permissions {
    /// What is applied unattended; `None` where nobody ever said.
    pub policy: Option<Policy>,
    /// Whether a person at the terminal can be asked.
    pub can_ask: bool,
    /// Whether output that was already passed on, or input that was consumed, forbids another real run.
    pub spent: Option<String>,
    /// A repair made by hand, which takes the place of every other source.
    pub given: Option<Given>,
}

/// Works on one incident.
pub struct Healer<'a> {
    tools: Tools<'a>,
    job: &'a Job,
    order: Order,
    permissions: Permissions,
    scene: LiveScene<'a>,
    incident: Incident,
    /// The last real run.
    run: Run,
    /// The logs that the job names, as they were before the first run.
    logs: crate::evidence::Logs,
    report: Option<Report>,
    trace: Option<Trace>,
    /// What the original did in a box up to its failure.
    effects: Option<Vec<Effect>>,
    /// Whether the job may run again; known after the first examination.
    repeatable: Option<selfheal_feedback::repeat::Repeatability>,
    sources: VecDeque<Source>,
    attempts: Vec<trial::Attempt>,
    chosen: Option<trial::Attempt>,
    /// Whether another repair of the same size works too, and does other things.
    tie: std::cell::Cell<bool>,
    started: Instant,
    trials: u32,
    /// Bytes that trials may still write.
    room: u64,
    /// What models may still take.
    #[cfg(feature = "model")]
    budget: std::sync::Arc<selfheal_model::Budget>,
    /// The server of a model file, once it was needed.
    #[cfg(feature = "model")]
    server: model::Server,
    /// Where on the ladder of models it stands.
    #[cfg(feature = "model")]
    step: usize,
    /// The round in which a model was asked last, and how many rounds of this model failed.
    #[cfg(feature = "model")]
    asked_in: u32,
    #[cfg(feature = "model")]
    failed_rounds: u32,
    /// Letters and digits that the job cannot know, the same in all questions: servers keep what questions have in common.
    #[cfg(feature = "model")]
    nonce: String,
    /// Short questions so far.
    #[cfg(feature = "model")]
    short_calls: std::cell::Cell<u32>,
    /// Whether a model was asked already to choose among changes that are made for it.
    #[cfg(feature = "model")]
    chose: bool,
    /// What models proposed so far.
    #[cfg(feature = "model")]
    tried_changes: Vec<Vec<selfheal_core::proposal::FileChange>>,
    notes: Vec<String>,
    /// The passages of documents that the last question to a model held.
    known: Vec<selfheal_core::knowledge::Piece>,
    /// The rule that took the longest.
    slowest: std::cell::RefCell<Option<RuleTime>>,
}

/// What became of an incident.
pub struct Healed {
    /// The incident as it was stored last.
    pub incident: Incident,
    /// The report on the failure.
    pub report: Option<Report>,
    /// The last real run.
    pub run: Run,
    /// What a person should know besides.
    pub notes: Vec<String>,
    /// What models took.
    pub usage: Usage,
    /// The rule that took the longest.
    pub slowest_rule: Option<RuleTime>,
}

/// What a job's first run left for a healer to start from.
pub struct Failure<'a> {
    /// The job.
    pub job: &'a Job,
    /// How it was run.
    pub order: Order,
    /// The run that failed.
    pub run: Run,
    /// The logs that the job names, as they were before it.
    pub logs: crate::evidence::Logs,
}

impl<'a> Healer<'a> {
    /// Begins an incident.
    #[must_use]
    pub fn new(tools: Tools<'a>, failure: Failure<'a>, permissions: Permissions) -> Self {
        let incident = record::opened(&tools, &failure);
        let env: BTreeMap<OsString, OsString> = record::job_env(tools.context, &failure.order);
        let scene = LiveScene::new(failure.job.cwd.clone(), env, Some(tools.boxes))
            .with_network(tools.context.settings.run.look_at_hosts);
        let room = room::of(&tools);
        let sources = propose::sources(tools.context, permissions.given.is_some());
        #[cfg(feature = "model")]
        let budget = model::budget(tools.context, tools.context.clock.now().0);
        #[cfg(feature = "model")]
        let nonce = tools.context.clock.fresh_id().replace('-', "");
        Self {
            tools,
            job: failure.job,
            order: failure.order,
            permissions,
            scene,
            incident,
            run: failure.run,
            logs: failure.logs,
            report: None,
            trace: None,
            effects: None,
            repeatable: None,
            sources,
            attempts: Vec::new(),
            chosen: None,
            tie: std::cell::Cell::new(false),
            started: Instant::now(),
            trials: 0,
            room,
            #[cfg(feature = "model")]
            budget: std::sync::Arc::new(budget),
            #[cfg(feature = "model")]
            server: model::Server::default(),
            #[cfg(feature = "model")]
            step: 0,
            #[cfg(feature = "model")]
            asked_in: 0,
            #[cfg(feature = "model")]
            failed_rounds: 0,
            #[cfg(feature = "model")]
            nonce,
            #[cfg(feature = "model")]
            short_calls: std::cell::Cell::default(),
            #[cfg(feature = "model")]
            chose: false,
            #[cfg(feature = "model")]
            tried_changes: Vec::new(),
            notes: Vec::new(),
            known: Vec::new(),
            slowest: std::cell::RefCell::new(None),
        }
    }

    /// Goes the whole way of the incident.
    ///
    /// # Errors
    /// When something selfheal itself needs failed; the incident is then as it was stored last, and nothing was changed
    /// that is not recorded.
    pub fn heal(mut self) -> Result<Healed, CommandError> {
        let mut state = State::Running;
        let mut event = Some(Event::RunFailed);
        let mut queue: VecDeque<Action> = VecDeque::new();
        loop {
            if let Some(happened) = event.take() {
                let plan = self.plan();
                let (next, actions) =
                    step(&plan, &state, happened).map_err(|error| CommandError::new(error.to_string()))?;
                state = next;
                queue = actions.into();
                self.remember_end(&queue);
                self.persist(&state)?;
            }
            let Some(action) = queue.pop_front() else { break };
            event = self.perform_unless_told_to_end(action, &state)?;
        }
        self.tools.progress.clear();
        self.remember();
        #[cfg(feature = "model")]
        let usage = self.budget.spent();
        #[cfg(not(feature = "model"))]
        let usage = Usage::default();
        Ok(Healed {
            incident: self.incident,
            report: self.report,
            run: self.run,
            notes: self.notes,
            usage,
            slowest_rule: self.slowest.into_inner(),
        })
    }

    /// Whether selfheal was told to end, or the job was when it ran again.
    fn was_told_to_end(&self) -> bool {
        selfheal_exec::told_to_end().is_some() || matches!(self.run.ended, Ended::Cancelled { .. })
    }

    fn perform_unless_told_to_end(
        &mut self,
        action: Action,
        state: &State,
    ) -> Result<Option<Event>, CommandError> {
        if action.begins_something() && self.was_told_to_end() {
            self.note_told_to_end();
            return Ok(Some(Event::ToldToEnd));
        }
        match self.perform(action) {
            // It failed because what it ran was told to end as well.
            Err(_) if state.is_before_a_change() && self.was_told_to_end() => {
                self.note_told_to_end();
                Ok(Some(Event::ToldToEnd))
            }
            performed => performed,
        }
    }

    fn note_told_to_end(&mut self) {
        let signal = selfheal_exec::told_to_end().unwrap_or_else(|| self.run.ended.code() - 128);
        self.notes.push(self.tools.texts.say("note-told-to-end", &[("signal", &signal.to_string())]));
    }

    fn plan(&self) -> Plan {
        Plan { limits: self.tools.context.settings.limits, may_rerun: self.may_rerun() }
    }

    fn may_rerun(&self) -> bool {
        self.repeatable.as_ref().is_some_and(|judged| judged.may) && self.permissions.spent.is_none()
    }

    /// The status of an ending is part of what is stored with it.
    fn remember_end(&mut self, queue: &VecDeque<Action>) {
        for action in queue {
            if let Action::Finish(status) = action {
                self.incident.status = *status;
            }
        }
    }

    fn perform(&mut self, action: Action) -> Result<Option<Event>, CommandError> {
        failpoint::hit(phase_of(&action));
        match action {
            Action::Wait(ms) => {
                self.say("progress-wait", &[("seconds", &ms.div_ceil(1000).to_string())]);
                self.tools.context.clock.wait_ms(ms);
                Ok(None)
            }
            Action::Run => self.run_again().map(Some),
            Action::Report => {
                let event = self.examine()?;
                self.look_for_storm()?;
                Ok(Some(event))
            }
            Action::Diagnose(round) => self.diagnose(round).map(Some),
            Action::Propose => Ok(Some(Event::ProposingEnded { candidates: self.attempts.len() })),
            Action::Admit => self.admit().map(Some),
            Action::Verify => self.verify_attempts().map(Some),
            Action::Decide => self.decide().map(|decision| Some(Event::Decided(decision))),
            Action::Apply => self.apply().map(Some),
            Action::TakeBack => self.take_back().map(|()| Some(Event::TakenBack)),
            Action::Recover => recover::recover(self.tools.store, &mut self.incident).map(|_| None),
            Action::Rerun => self.rerun().map(Some),
            Action::Notify => {
                // Of several failures from one cause people are told once.
                if self.incident.one_of.is_none() {
                    self.notify();
                }
                Ok(None)
            }
            Action::Finish(status) => {
                self.note_what_is_left(status);
                Ok(None)
            }
        }
    }

    /// Runs the job again, unchanged, and says what came of it.
    fn run_again(&mut self) -> Result<Event, CommandError> {
        self.tools.progress.clear();
        self.order.id = selfheal_core::ids::RunId::new(self.tools.context.clock.fresh_id());
        self.run = self.tools.executor.run(&self.order)?;
        let outcome = self.outcome(&self.run);
        record::run(&self.tools, self.job, &self.env(), &self.run, &outcome);
        self.incident.exit_code = self.run.ended.code();
        if matches!(self.run.ended, Ended::Cancelled { .. }) {
            return Ok(Event::ToldToEnd);
        }
        Ok(match outcome {
            Outcome::Failed { .. } => Event::RunFailed,
            Outcome::Succeeded | Outcome::Negative { .. } => Event::RunSucceeded,
        })
    }

    /// Runs the repaired job for real. The state that says so is stored first.
    fn rerun(&mut self) -> Result<Event, CommandError> {
        let owner = selfheal_exec::owner_of_self();
        self.persist(&State::Rerunning { pid: owner.pid, boot_id: owner.boot_id })?;
        self.run_again()
    }

    /// What a real run means, its contract included.
    fn outcome(&self, run: &Run) -> Outcome {
        match self.interpret(run) {
            Outcome::Succeeded => match self.broken_by(run) {
                Some(why) => Outcome::Failed { class: Class::Logic, meaning: Some(why) },
                None => Outcome::Succeeded,
            },
            other => other,
        }
    }

    /// What a real run that ended well did not do of its contract.
    fn broken_by(&self, run: &Run) -> Option<String> {
        let ended_well = run.ended == Ended::Exited(0) && !self.tools.contract.is_empty();
        ended_well
            .then(|| contract::broken_by(self.tools.contract, self.job, run, self.tools.executor))
            .flatten()
    }

    fn interpret(&self, run: &Run) -> Outcome {
        let script = examine::text_of(self.job.script.as_deref());
        self.tools.profiles.interpret(&selfheal_feedback::profiles::InterpretInput {
            argv: &self.job.argv,
            run,
            script: script.as_deref(),
            trace: None,
        })
    }

    fn say(&self, id: &str, values: &[(&str, &str)]) {
        let text = self.tools.texts.say(id, values);
        self.tools.progress.say(self.tools.redactor.text(&text).to_string());
    }

    fn time_left_ms(&self) -> u64 {
        let spent = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.tools.context.settings.limits.incident_ms.saturating_sub(spent)
    }
}

/// The part of the way that an action belongs to, as failpoints name it.
fn phase_of(action: &Action) -> &'static str {
    match action {
        Action::Run | Action::Wait(_) => "run.again",
        Action::Apply => "apply.begin",
        Action::TakeBack => "undo.begin",
        Action::Rerun => "rerun.begin",
        Action::Report | Action::Diagnose(_) | Action::Propose | Action::Admit | Action::Verify => {
            "heal.step"
        }
        Action::Decide | Action::Recover | Action::Notify | Action::Finish(_) => "heal.end",
    }
}

/// The decision of a policy that was denied, held or granted, in the words of the ledger.
pub(crate) fn decision_word(decision: Decision) -> &'static str {
    match decision {
        Decision::Apply => "apply",
        Decision::Hold => "hold",
        Decision::Deny => "deny",
    }
}

/// A candidate's text for people, one line.
pub(crate) fn one_line(candidate: &Candidate) -> String {
    candidate.diagnosis.strategy.clone()
}
