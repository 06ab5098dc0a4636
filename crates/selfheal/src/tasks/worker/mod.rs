//! The process of one step: takes the step's locks, runs it with its marks, heals it when it fails, and leaves the result
//! in the journal.

mod attempt;
mod healing;
mod script;
#[cfg(feature = "model")]
mod writing;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selfheal_core::ids::{JobKey, RunId};
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::outcome::Outcome;
use selfheal_core::ports::{Clock, Order, Passing};
use selfheal_core::task::{RetryClass, Step, StepOutcome, StepResult, TaskContext, Work};
use selfheal_core::verification::Check;
use selfheal_exec::{Apart, BoxConfig, BoxRunner, EndsInOrder, Supervisor, resolve_script, told_to_end};
use selfheal_feedback::profiles::Profiles;
use selfheal_store::Store;
use serde::{Deserialize, Serialize};

#[cfg(feature = "model")]
pub use self::script::command as script_command;

use super::journal::{Journal, Mark};
use super::locks::{self, Held, Hold, Holder};
use super::{files, keep, words};
use crate::cli::ApplyUpTo;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::contract::Contract;

/// Bytes kept of each end of each stream.
const KEEP: usize = 64 * 1024;

/// So much later than the runner a step ends itself at the task's deadline.
const RUNNER_FIRST: Duration = Duration::from_secs(5);

/// What the process of a step is told, in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepOrder {
    /// Who it works for.
    pub context: TaskContext,
    /// The step.
    pub step: Step,
    /// The folder of the task file, in which it runs.
    pub folder: PathBuf,
    /// The folder of this run alone.
    pub temp: PathBuf,
    /// Where its journal is.
    pub home: PathBuf,
    /// The folder of the run.
    pub run: PathBuf,
    /// Which start of the step this is.
    pub attempt: u32,
    /// What is left of the task's own time.
    pub left: Option<Duration>,
    /// `--apply`.
    pub apply: Option<String>,
    /// Variables that selfheal needs and the step must not have.
    pub hidden: Vec<String>,
    /// What it has for itself.
    pub apart: Apart,
}

impl StepOrder {
    /// Reads what a step was told.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(file: &Path) -> std::io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(file)?)?)
    }
}

/// Does one step.
///
/// # Errors
/// When it could not even be begun.
pub fn run(context: &Context, file: &Path) -> Result<i32, CommandError> {
    let fail = |error: &dyn std::error::Error| CommandError::new("failed to begin the step").because(error);
    let order = StepOrder::read(file).map_err(|error| fail(&error))?;
    let in_order = EndsInOrder::begin();
    let mut alive = keep::private_file(&order.home.join("alive")).map_err(|error| fail(&error))?;
    if alive.try_lock().is_err() {
        return Err(CommandError::new(format!("step {} still works from before", order.step.id)));
    }
    if !locks::is_allowed(&order.home, order.attempt) {
        return Err(CommandError::new(format!("step {} was given up before it began", order.step.id)));
    }
    locks::name_self(&mut alive).map_err(|error| fail(&error))?;
    let journal = Journal::open(&order.home).map_err(|error| fail(&error))?;
    journal.mark(&Mark::Taken { attempt: order.attempt }).map_err(|error| fail(&error))?;
    // The job's own supervisor holds it too, so that the step counts as alive as long as anything of it is.
    let held = alive.try_clone().map_err(|error| fail(&error))?;
    let (order, news) = match script_for(context, order) {
        Ok(ready) => ready,
        Err(result) => {
            journal.mark(&Mark::Ended { result }).map_err(|error| fail(&error))?;
            return Ok(crate::exit_code::OK);
        }
    };
    let job = match job_of(context, &order) {
        Ok(job) => job,
        Err(error) => {
            let result = Box::new(not_begun(context, &error));
            journal.mark(&Mark::Ended { result }).map_err(|error| fail(&error))?;
            return Ok(crate::exit_code::OK);
        }
    };
    crate::secrets::learn(&context.redactor(), &job);
    let most = context.settings.limits.step_output_bytes;
    let supervisor = Supervisor::of_self().with_held(held.into()).with_most_to_files(most);
    let supervisor = supervisor.with_apart(order.apart.clone());
    let worker = Worker::new(context, &order, job, journal, supervisor);
    worker.news.replace(news);
    let result = worker.worked().unwrap_or_else(|error| worker.gave_up(&error.one_line()));
    worker.journal.mark(&Mark::Ended { result: Box::new(result) }).map_err(|error| fail(&error))?;
    in_order.for_good();
    Ok(crate::exit_code::OK)
}

/// What a model said of the task: decisions, and issues.
type News = (Vec<String>, Vec<String>);

/// The order with its script: one that is written from a need is looked for, or written now. Where there is none that may be
/// run, the result of the step.
fn script_for(context: &Context, order: StepOrder) -> Result<(StepOrder, News), Box<StepResult>> {
    let Work::Need { need, language } = order.step.work.clone() else { return Ok((order, News::default())) };
    #[cfg(feature = "model")]
    return writing::script_for(context, order, &need, &language);
    #[cfg(not(feature = "model"))]
    {
        let _ = (context, need, language);
        let why = Some("this selfheal was built without model support".to_owned());
        let plain = StepResult::plain(StepOutcome::Failed, crate::exit_code::NOT_STARTED);
        Err(Box::new(StepResult { why, repeatable: true, ..plain }))
    }
}

/// The result where a step could not even be made ready: nothing of it was run.
fn not_begun(context: &Context, error: &CommandError) -> StepResult {
    let why = error.one_line();
    let to_do = words::is_full(&why).then(|| context.texts().say("task-make-room", &[]));
    let why = Some(context.redactor().text(&why).as_str().to_owned());
    let plain = StepResult::plain(StepOutcome::Failed, crate::exit_code::NOT_STARTED);
    StepResult { why, to_do, repeatable: true, ..plain }
}

fn job_of(context: &Context, order: &StepOrder) -> Result<Job, CommandError> {
    let step = &order.step;
    let argv = script::argv(step, &order.temp)?;
    let path = context.env.get(OsStr::new("PATH")).map(OsString::as_os_str);
    let script = resolve_script(&argv, &order.folder, path);
    let repeatable = match step.retry {
        RetryClass::None => Repeatable::Forbidden,
        _ if step.may_repeat(true) => Repeatable::Declared,
        _ => Repeatable::Unstated,
    };
    let key = JobKey::new(format!("task/{}/{}", order.context.task, step.id));
    Ok(Job { key, argv, cwd: order.folder.clone(), script, repeatable })
}

/// What the last run of the step's command was.
#[derive(Clone, Debug)]
struct Seen {
    outcome: Outcome,
    /// Whether it ran in a box.
    boxed: bool,
    /// Why no repair of the command can help, where that is so.
    hopeless: Option<String>,
    code: i32,
    duration_ms: u64,
}

/// The process of one step.
struct Worker<'a> {
    context: &'a Context,
    order: &'a StepOrder,
    job: Job,
    contract: Contract,
    began: Instant,
    journal: Journal,
    supervisor: Supervisor,
    /// Boxes for trials.
    boxes: BoxRunner,
    /// Boxes whose effects can be put in place.
    steps: BoxRunner,
    store: OnceCell<Option<Store>>,
    profiles: OnceCell<Profiles>,
    last: RefCell<Option<Seen>>,
    /// There is no box here.
    no_box: Cell<bool>,
    /// It was started on the machine, and nobody knows how that ended.
    may_have_run: Cell<bool>,
    notes: RefCell<Vec<String>>,
    news: RefCell<News>,
}

impl<'a> Worker<'a> {
    fn new(
        context: &'a Context,
        order: &'a StepOrder,
        job: Job,
        journal: Journal,
        supervisor: Supervisor,
    ) -> Self {
        let outputs = order.step.outputs.iter();
        let exist = outputs.map(|path| Check::Exists { path: path.clone() });
        let checks = exist.chain(order.step.checks.iter().cloned()).collect();
        let boxes = BoxConfig { seen_at: order.apart.seen_at.clone(), ..crate::boxes::config(context) };
        Self {
            context,
            order,
            job,
            contract: Contract { checks, command: order.step.check_command.clone(), earlier: Vec::new() },
            began: Instant::now(),
            journal,
            supervisor,
            boxes: BoxRunner::new(boxes.clone()),
            steps: BoxRunner::new(BoxConfig {
                lowest: Some("overlay".to_owned()),
                most_to_files: Some(context.settings.limits.step_output_bytes),
                ..boxes
            }),
            store: OnceCell::new(),
            profiles: OnceCell::new(),
            last: RefCell::default(),
            no_box: Cell::new(false),
            may_have_run: Cell::new(false),
            notes: RefCell::default(),
            news: RefCell::default(),
        }
    }

    fn step(&self) -> &'a Step {
        &self.order.step
    }

    fn note(&self, text: &str) {
        self.notes.borrow_mut().push(self.context.redactor().text(text).as_str().to_owned());
    }

    /// Something that a person should know of the run: it is said, and stays with the state.
    fn issue(&self, text: &str) {
        self.news.borrow_mut().1.push(self.context.redactor().text(text).as_str().to_owned());
    }

    /// The store; none where it cannot be had: then nothing is healed or put in place.
    fn store(&self) -> Option<&Store> {
        let open = || self.context.store().map_err(|error| self.note(&error.one_line())).ok();
        self.store.get_or_init(open).as_ref()
    }

    /// The result where nothing was run, or nobody knows how it ended.
    fn gave_up(&self, why: &str) -> StepResult {
        let last = self.last.borrow().clone();
        let outcome = if told_to_end().is_some() { StepOutcome::Cancelled } else { StepOutcome::Failed };
        let repeatable = last.as_ref().is_none_or(|seen| self.step().is_harmless(seen.boxed))
            && (!self.may_have_run.get() || self.step().is_harmless(false));
        let code = last.map_or(crate::exit_code::NOT_STARTED, |seen| seen.code);
        let told = self.context.texts().say("task-told-to-end", &[]);
        let why = if outcome == StepOutcome::Cancelled { &told } else { why };
        let to_do = words::is_full(why).then(|| self.context.texts().say("task-make-room", &[]));
        let why = Some(self.context.redactor().text(why).as_str().to_owned());
        let (decisions, issues) = self.news.take();
        let duration_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let plain = StepResult::plain(outcome, code);
        StepResult {
            duration_ms,
            why,
            to_do,
            repeatable,
            notes: self.notes.take(),
            decisions,
            issues,
            ..plain
        }
    }

    fn worked(&self) -> Result<StepResult, CommandError> {
        let _held = match self.locked()? {
            Ok(held) => held,
            Err(why) => return Ok(self.gave_up(&why)),
        };
        if let Some(missing) = files::missing(&self.step().inputs) {
            let shown = crate::terminal::shown_path(missing);
            let why = self.context.texts().say("task-input-missing", &[("path", &shown)]);
            return Ok(self.gave_up(&why));
        }
        let input = files::summaries(&self.step().inputs);
        let result = self.tried()?;
        let good = result.outcome.is_good();
        let output = if good { files::summaries(&self.step().outputs) } else { Vec::new() };
        let (decisions, issues) = self.news.take();
        Ok(StepResult { input, output, decisions, issues, ..result })
    }

    /// Takes the step's locks; why not, where somebody else holds one to the end.
    fn locked(&self) -> Result<Result<Held, String>, CommandError> {
        let wanted: Vec<_> = self.step().locks.iter().map(|lock| (lock.clone(), Hold::Step)).collect();
        if wanted.is_empty() {
            return Ok(Ok(Held::default()));
        }
        let context = &self.order.context;
        let me = Holder {
            what: String::new(),
            owner: selfheal_exec::owner_of_self(),
            task: context.task.clone(),
            step: Some(context.step.clone()),
            since: self.context.clock.now(),
            run: self.order.run.clone(),
        };
        let texts = self.context.texts();
        let folder = keep::root(self.context).join("locks");
        let patience = Duration::from_millis(self.time_left());
        let mut waits = |busy: &locks::Busy| self.note(&super::words::waits(&texts, busy));
        let held = locks::hold(&folder, &wanted, &me, patience, &mut waits)
            .map_err(|error| CommandError::new("failed to take the locks of the step").because(&error))?;
        let held = match held {
            Ok(held) => held,
            Err(busy) => return Ok(Err(super::words::busy(&texts, &busy))),
        };
        for stale in &held.stale {
            self.note(&super::words::stale(&texts, stale));
        }
        Ok(Ok(held))
    }

    /// What is left for the step, by its own limit and the task's, in milliseconds. The task's deadline is the runner's to
    /// keep; here it counts, a little later, for a step whose runner is gone.
    fn time_left(&self) -> u64 {
        let left = self.order.left.map(|left| (left + RUNNER_FIRST).saturating_sub(self.began.elapsed()));
        let left = left.map_or(u64::MAX, |left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1));
        self.step().timeout_ms.min(left)
    }

    fn run_order(&self) -> Order {
        let hidden = self.order.hidden.iter().map(|name| (OsString::from(name), None));
        Order {
            id: RunId::new(self.context.clock.fresh_id()),
            argv: self.job.argv.clone(),
            cwd: self.job.cwd.clone(),
            env: hidden.collect::<BTreeMap<_, _>>(),
            deadline_ms: self.time_left(),
            grace_ms: self.context.settings.limits.grace_ms,
            stdout: Passing::Live,
            keep: KEEP,
            log: None,
        }
    }

    fn apply(&self) -> Option<ApplyUpTo> {
        let all = [ApplyUpTo::None, ApplyUpTo::Low, ApplyUpTo::Medium];
        let word = self.order.apply.as_deref()?;
        all.into_iter().find(|apply| apply.word() == word)
    }
}
