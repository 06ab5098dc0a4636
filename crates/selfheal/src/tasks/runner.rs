//! The runner: feeds the engine what happens, stores the state, and performs the actions. One process at a time works on a
//! run; each step has a process of its own.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use selfheal_core::ids::Timestamp;
use selfheal_core::incident::Owner;
use selfheal_core::ports::{Clock, Entry, Ledger, Message, Outbox};
use selfheal_core::task::{
    Action, Event, Found, Lock, Stage, StepOutcome, StepResult, TaskContext, TaskState, step,
};
use selfheal_exec::{EndsInOrder, told_to_end};

use super::apart::Surroundings;
use super::cleaning::Cleaner;
use super::journal::Journal;
use super::keep::{self, RunFolder, RunLock};
use super::locks::{self, Held, Hold, Holder};
use super::read::{TaskFile, digest};
use super::settle::settle;
use super::view::View;
use super::worker::StepOrder;
use super::{place, words};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::terminal::shown_path;

/// How often signals and the deadline are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// So long after it was told to end, a step's process is told again: then what does not heed it is killed after its grace.
const AGAIN: Duration = Duration::from_secs(5);
/// So long after it was told first, it is ended by force.
const FORCE: Duration = Duration::from_secs(20);
/// So long what it ran is waited for then.
const LAST: Duration = Duration::from_secs(10);

/// What the command line says of a run.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// `--apply`.
    pub apply: Option<String>,
    /// Arguments that choose a model.
    pub model: Vec<String>,
}

/// Works on one run of a task.
pub struct Runner<'a> {
    context: &'a Context,
    file: TaskFile,
    folder: RunFolder,
    lock: RunLock,
    state: TaskState,
    stored: bool,
    wishes: Wishes,
    temp: PathBuf,
    held: Held,
    /// The end of the whole task by this process's own clock, which does not jump.
    until: Option<Instant>,
    children: BTreeMap<String, Running>,
    ends: (Sender<String>, Receiver<String>),
    view: View,
    told: bool,
    surroundings: Surroundings,
}

/// The process of a step.
struct Running {
    pid: u32,
    told: Option<Instant>,
    told_again: bool,
}

impl Running {
    fn told_since(&self, long: Duration) -> bool {
        self.told.is_some_and(|at| at.elapsed() > long)
    }
}

impl<'a> Runner<'a> {
    /// A runner for a run whose lock is held.
    #[must_use]
    pub fn new(
        context: &'a Context,
        file: TaskFile,
        (folder, lock): (RunFolder, RunLock),
        state: TaskState,
        wishes: Wishes,
    ) -> Self {
        let temp = place::temp(context, &state.run);
        let stored = folder.state_file().exists();
        let view = View::new(context);
        let (held, children, ends, told) = (Held::default(), BTreeMap::new(), channel(), false);
        Self {
            context,
            file,
            folder,
            lock,
            state,
            stored,
            wishes,
            temp,
            held,
            until: None,
            children,
            ends,
            view,
            told,
            surroundings: Surroundings::default(),
        }
    }

    /// Runs, or goes on with, the task. Gives the exit code.
    ///
    /// # Errors
    /// When the task cannot be begun, or its state cannot be stored.
    pub fn go(mut self, first: Event) -> Result<i32, CommandError> {
        let in_order = EndsInOrder::begin();
        if let Err(error) = self.made_ready(&first) {
            self.unmake();
            return Err(words::with_room(&self.context.texts(), error));
        }
        self.note_in_ledger("task_begun");
        let stage = match self.walk(first) {
            Ok(stage) => stage,
            Err(error) => return Err(self.broken_off(error)),
        };
        self.note_in_ledger("task_ended");
        in_order.for_good();
        let left = self.leave(stage);
        crate::drafts::prune(self.context, self.context.settings.store.days);
        let texts = self.context.texts();
        let output = |id: &str| {
            let file = self.folder.step(id).join("output");
            std::fs::metadata(&file).is_ok_and(|facts| facts.len() > 0).then_some(file)
        };
        self.view.end(&words::ending(&texts, &self.state, &left, &output));
        let told = self.context.message_texts();
        self.tell_people(stage, &words::ending(&told, &self.state, &left, &output));
        Ok(exit_of(stage))
    }

    /// Takes what the task needs, and notes what it is about to do; nothing is begun.
    fn made_ready(&mut self, first: &Event) -> Result<(), CommandError> {
        self.lock_all()?;
        self.make_temp()?;
        let untouched = || self.state.steps.values().all(|step| step.attempt == 0);
        if *first == Event::Begin || (untouched() && !self.cleaner().has_noted()) {
            let noted = self.cleaner().remember();
            noted.map_err(|error| CommandError::new("failed to note what is there").because(&error))?;
        }
        self.surroundings = Surroundings::look(self.context, &self.file, &self.temp);
        for said in self.surroundings.said(&self.context.texts()) {
            self.view.say(&said);
        }
        self.state.owner = Some(selfheal_exec::owner_of_self());
        self.state.file.clone_from(&self.file.path);
        self.state.digest.clone_from(&self.file.digest);
        let end = self.file.task.timeout_ms.map(|ms| self.now().0.saturating_add_unsigned(ms));
        self.state.deadline = end.map(Timestamp);
        let left = self.file.task.timeout_ms.map(Duration::from_millis);
        self.until = left.and_then(|left| Instant::now().checked_add(left));
        Ok(())
    }

    fn make_temp(&self) -> Result<(), CommandError> {
        let made = place::make_temp(&self.temp, &self.state.run);
        let made = made.and_then(|()| match self.surroundings.has_own_temp() {
            true => place::own_temp(&self.temp).map(drop),
            false => Ok(()),
        });
        made.map_err(|error| {
            CommandError::new(format!("failed to make {}", self.temp.display())).because(&error)
        })
    }

    /// Where nothing was begun there is nothing to go on with.
    fn unmake(&self) {
        if !self.stored {
            let _ = place::remove_temp(&self.temp, &self.state.run);
            let _ = std::fs::remove_dir_all(self.folder.path());
        }
    }

    /// The state could not be stored, so nothing more is begun. What runs goes on to its end, and its journal tells how.
    fn broken_off(&mut self, error: CommandError) -> CommandError {
        let texts = self.context.texts();
        let running: Vec<String> = self.children.keys().cloned().collect();
        if !running.is_empty() {
            self.view.say(&error.one_line());
            self.view.say(&texts.say("task-lets-end", &[("steps", &running.join(", "))]));
            self.let_steps_end();
        }
        self.unmake();
        let error = words::with_room(&texts, error);
        if !self.stored {
            return error;
        }
        let run = crate::drafts::short(&self.state.run);
        error.hint(texts.say("task-kept", &[("task", &self.state.task), ("run", run)]))
    }

    fn let_steps_end(&mut self) {
        while !self.children.is_empty() {
            if !self.told && (told_to_end().is_some() || self.is_late()) {
                self.told = true;
                let all: Vec<String> = self.children.keys().cloned().collect();
                all.iter().for_each(|id| self.stop(id, Signal::TERM));
            }
            self.press();
            if let Ok(id) = self.ends.1.recv_timeout(LOOK) {
                self.children.remove(&id);
            }
        }
    }

    fn now(&self) -> Timestamp {
        self.context.clock.now()
    }

    /// What the task holds for its whole life: its locks and its outputs; what its steps use it shares with other tasks.
    fn lock_all(&mut self) -> Result<(), CommandError> {
        let task = &self.file.task;
        let mut wanted: Vec<(Lock, Hold)> =
            task.locks.iter().map(|lock| (lock.clone(), Hold::Task)).collect();
        let outputs = task.steps.iter().flat_map(|step| &step.outputs);
        wanted.extend(outputs.map(|path| (Lock::File(path.clone()), Hold::Task)));
        let used = task.steps.iter().flat_map(|step| &step.locks);
        wanted.extend(used.map(|lock| (lock.clone(), Hold::Shared)));
        if wanted.is_empty() {
            return Ok(());
        }
        let me = Holder {
            what: String::new(),
            owner: selfheal_exec::owner_of_self(),
            task: task.id.clone(),
            step: None,
            since: self.now(),
            run: self.folder.path().to_owned(),
        };
        let texts = self.context.texts();
        let view = &self.view;
        let mut waits = |busy: &locks::Busy| {
            view.say(&words::waits(&texts, busy));
            self.store_as_waiting(&me.owner);
        };
        let patience = Duration::from_millis(task.timeout_ms.unwrap_or(self.context.settings.limits.cap_ms));
        let folder = keep::root(self.context).join("locks");
        let held = locks::hold(&folder, &wanted, &me, patience, &mut waits).map_err(|error| {
            let what = format!("failed to take the locks of the task in {}", folder.display());
            CommandError::new(what).because(&error)
        })?;
        match held {
            Ok(held) => {
                held.stale.iter().for_each(|stale| self.view.say(&words::stale(&texts, stale)));
                self.held = held;
                Ok(())
            }
            Err(busy) if told_to_end().is_some() => Err(CommandError {
                code: exit_code::CANCELLED,
                ..CommandError::new(texts.say("task-waited-in-vain", &[("why", &words::busy(&texts, &busy))]))
            }),
            Err(busy) => Err(CommandError {
                code: exit_code::TOO_LATE,
                ..CommandError::new(words::busy(&texts, &busy))
            }
            .hint("run it when that has ended; selfheal task list shows what runs")),
        }
    }

    /// A run that waits for its locks can be seen, and cancelled.
    fn store_as_waiting(&self, owner: &Owner) {
        let now = self.now();
        let started = if self.stored { self.state.started } else { now };
        let state = TaskState { owner: Some(owner.clone()), started, updated: now, ..self.state.clone() };
        if let Err(error) = self.folder.store(&state, self.stored.then_some(&self.state)) {
            tracing::debug!(error = error.one_line(), "a run that waits is not to be seen");
        }
    }

    fn walk(&mut self, first: Event) -> Result<Stage, CommandError> {
        let mut queue = VecDeque::new();
        let mut event = Some(first);
        loop {
            if let Some(event) = event.take() {
                queue.extend(self.take(event)?);
            }
            match queue.pop_front() {
                Some(Action::Finish(stage)) => return Ok(stage),
                Some(action) => event = self.perform(action)?,
                None => event = Some(self.wait()),
            }
        }
    }

    /// The state is stored before anything is done.
    fn take(&mut self, event: Event) -> Result<Vec<Action>, CommandError> {
        let (mut next, actions) = step(&self.file.task, &self.state, event, self.now())
            .map_err(|error| CommandError::new(error.to_string()))?;
        for action in &actions {
            if let (Action::Start(id), task) = (action, &self.file.task)
                && let (Some(state), Some(step)) = (next.steps.get_mut(id), task.step(id))
            {
                state.digest = digest(step);
                state.isolation = Some(self.surroundings.of(step).1);
                self.make_journal(id)?;
            }
        }
        if self.stored && !self.folder.path().exists() {
            self.make_folder_again(&mut next)?;
        }
        self.folder.store(&next, self.stored.then_some(&self.state))?;
        self.stored = true;
        self.view.changed(&self.context.texts(), &self.state, &next);
        self.state = next;
        Ok(actions)
    }

    /// It is there before the step counts as running: where it is missing later, somebody took it away.
    fn make_journal(&self, id: &str) -> Result<(), CommandError> {
        let home = self.folder.step(id);
        let made = keep::private_folder(&home).and_then(|()| Journal::open(&home).map(drop));
        made.map_err(|error| {
            CommandError::new(format!("failed to make the journal of step {id} in {}", home.display()))
                .because(&error)
        })
    }

    /// Somebody removed the folder of the run, a step perhaps. What is known goes on; of what runs nobody will know how it
    /// ended.
    fn make_folder_again(&mut self, next: &mut TaskState) -> Result<(), CommandError> {
        let path = self.folder.path();
        keep::private_folder(path).map_err(|error| {
            CommandError::new(format!("failed to make {}", path.display())).because(&error)
        })?;
        let lock = self.folder.lock()?;
        self.lock = lock.ok_or_else(|| CommandError::new("another process works on this run"))?;
        let issue =
            self.context.texts().say("task-folder-gone", &[("path", &shown_path(self.folder.path()))]);
        self.view.say(&issue);
        next.known_issues.push(issue);
        Ok(())
    }

    fn perform(&mut self, action: Action) -> Result<Option<Event>, CommandError> {
        match action {
            Action::Start(id) => match self.start(&id) {
                Ok(()) => Ok(None),
                Err(error) => {
                    let why = error.one_line();
                    let room = words::is_full(&why).then(|| self.context.texts().say("task-make-room", &[]));
                    let to_do = room.or_else(|| error.hints.first().cloned());
                    let plain = StepResult::plain(StepOutcome::Failed, exit_code::NOT_STARTED);
                    let result = StepResult { why: Some(why), to_do, repeatable: true, ..plain };
                    Ok(Some(Event::StepEnded { step: id, result: Box::new(result) }))
                }
            },
            Action::Stop(id) => {
                self.stop(&id, Signal::TERM);
                Ok(None)
            }
            Action::Settle(id) => Ok(Some(self.settled(&id))),
            Action::CleanUp(stage) => Ok(Some(Event::CleanupEnded(self.cleaner().clean(&self.state, stage)))),
            Action::Finish(_) => Ok(None),
        }
    }

    fn cleaner(&self) -> Cleaner<'_> {
        let base = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"];
        let kept = base.iter().filter_map(|name| {
            Some((name.into(), self.context.env.get(std::ffi::OsStr::new(name))?.clone()))
        });
        let own = [
            ("TMPDIR".into(), self.temp.clone().into()),
            ("TASK_ID".into(), self.state.task.clone().into()),
            ("TASK_RUN".into(), self.state.run.clone().into()),
        ];
        Cleaner {
            task: &self.file.task,
            folder: &self.file.folder,
            run: &self.folder,
            temp: &self.temp,
            env: kept.chain(own).collect(),
        }
    }

    fn start(&mut self, id: &str) -> Result<(), CommandError> {
        let fail = |error: &dyn std::error::Error| {
            CommandError::new(format!("failed to start step {id}")).because(error)
        };
        let (Some(step), Some(state)) = (self.file.task.step(id), self.state.steps.get(id)) else {
            return Err(CommandError::new(format!("there is no step {id}")));
        };
        if !self.file.folder.is_dir() {
            let path = shown_path(&self.file.folder);
            return Err(CommandError::new(self.context.texts().say("task-no-folder", &[("path", &path)]))
                .hint(self.context.texts().say("task-put-it-back", &[])));
        }
        // A step may have removed it.
        self.make_temp()?;
        let home = self.folder.step(id);
        if !locks::allow(&home, state.attempt).map_err(|error| fail(&error))? {
            return Err(CommandError::new(format!("step {id} still works from before")));
        }
        let whole = TaskContext {
            task: self.state.task.clone(),
            run: self.state.run.clone(),
            step: id.to_owned(),
            stage: self.state.stage,
            state: self.folder.state_file(),
            roots: vec![self.file.folder.clone(), self.temp.clone()],
            deadline: self.state.deadline,
            retries: state.attempt.saturating_sub(1),
        };
        let (env, hidden) = place::environment(self.context, step, (&self.file.pass, &self.temp), &whole);
        let order = StepOrder {
            context: whole,
            step: step.clone(),
            folder: self.file.folder.clone(),
            temp: self.temp.clone(),
            home: home.clone(),
            run: self.folder.path().to_owned(),
            attempt: state.attempt,
            left: self.until.map(|end| end.saturating_duration_since(Instant::now())),
            apply: self.wishes.apply.clone(),
            hidden,
            apart: self.surroundings.of(step).0,
        };
        let file = home.join("order.json");
        let text = serde_json::to_vec(&order).map_err(|error| fail(&error))?;
        std::fs::write(&file, text).map_err(|error| fail(&error))?;
        let log = File::options()
            .create(true)
            .append(true)
            .open(home.join("output"))
            .map_err(|error| fail(&error))?;
        let mut command = Command::new(&self.context.program);
        command.args(["task", "run-step"]).args(&self.wishes.model).arg(&file).env_clear().envs(env);
        command.current_dir(&self.file.folder).stdin(Stdio::null());
        command.stdout(log.try_clone().map_err(|error| fail(&error))?).stderr(log);
        let child = command.spawn().map_err(|error| fail(&error))?;
        self.children.insert(id.to_owned(), Running { pid: child.id(), told: None, told_again: false });
        self.tell_of_end(id, child);
        Ok(())
    }

    fn tell_of_end(&self, id: &str, mut child: Child) {
        let (end, id) = (self.ends.0.clone(), id.to_owned());
        std::thread::spawn(move || {
            // Whatever it says: the journal is asked how the step ended.
            let _ = child.wait();
            let _ = end.send(id);
        });
    }

    fn stop(&mut self, id: &str, signal: Signal) {
        if let Some(running) = self.children.get_mut(id) {
            let pid = i32::try_from(running.pid).ok().and_then(Pid::from_raw);
            pid.map(|pid| kill_process(pid, signal));
            running.told = running.told.or_else(|| Some(Instant::now()));
        }
    }

    /// Tells again what does not heed that it was told to end, and ends by force what does not heed that either.
    fn press(&mut self) {
        let due = |running: &Running| match running.told_again {
            false => running.told_since(AGAIN).then_some(Signal::TERM),
            true => running.told_since(FORCE).then_some(Signal::KILL),
        };
        let all = self.children.iter().filter_map(|(id, running)| Some((id.clone(), due(running)?)));
        for (id, signal) in all.collect::<Vec<_>>() {
            self.stop(&id, signal);
            self.children.entry(id).and_modify(|running| running.told_again = true);
        }
    }

    /// Waits until something happens.
    fn wait(&mut self) -> Event {
        loop {
            if self.state.stopping.is_none() && !self.told && told_to_end().is_some() {
                self.told = true;
                return Event::CancelAsked;
            }
            if self.is_late() {
                return Event::DeadlineHit;
            }
            self.press();
            match self.ends.1.recv_timeout(LOOK) {
                // What ended after the deadline did so because of it.
                Ok(id) if self.is_late() => {
                    let _ = self.ends.0.send(id);
                    return Event::DeadlineHit;
                }
                Ok(id) => return self.ended(&id),
                Err(RecvTimeoutError::Timeout) => self.view.tick(&self.state, self.now()),
                // There is always a sender: this runner.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK),
            }
        }
    }

    fn is_late(&self) -> bool {
        self.state.stopping.is_none() && self.until.is_some_and(|end| Instant::now() >= end)
    }

    /// How a step whose process has ended did so, by its journal.
    fn ended(&mut self, id: &str) -> Event {
        let forced = self.children.remove(id).is_some_and(|running| running.told_since(FORCE));
        let (step, home) = (id.to_owned(), self.folder.step(id));
        let until = Instant::now() + LAST;
        // What a process that was ended by force ran is ended by its supervisor a little later.
        while forced && locks::works(&home) && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        match self.found(id) {
            Found::Ended(result) => Event::StepEnded { step, result },
            Found::MayHaveRun if self.state.stopping.is_none() && !self.is_idempotent(id) => {
                Event::Settled { step, found: Found::MayHaveRun }
            }
            found => {
                let stopped = self.state.stopping.is_some();
                let outcome = if stopped { StepOutcome::Cancelled } else { StepOutcome::Failed };
                let why = Some(self.context.texts().say("task-step-died", &[]));
                let repeatable = found == Found::NotBegun || self.is_idempotent(id);
                let plain = StepResult::plain(outcome, exit_code::NOT_STARTED);
                Event::StepEnded { step, result: Box::new(StepResult { why, repeatable, ..plain }) }
            }
        }
    }

    fn is_idempotent(&self, id: &str) -> bool {
        self.file.task.step(id).is_some_and(|step| step.idempotent)
    }

    fn found(&self, id: &str) -> Found {
        let attempt = self.state.steps.get(id).map_or(0, |step| step.attempt);
        match self.file.task.step(id) {
            Some(step) => settle(self.context, step, &self.folder.step(id), attempt),
            None => Found::MayHaveRun,
        }
    }

    /// What became of a step of a run that was broken off. One that still works is waited for.
    fn settled(&self, id: &str) -> Event {
        let texts = self.context.texts();
        let told = |process: &str| {
            self.view.say(&texts.say("task-still-works", &[("step", id), ("process", process)]));
        };
        let found = match locks::forbid(&self.folder.step(id), &told) {
            true => self.found(id),
            false => Found::MayHaveRun,
        };
        Event::Settled { step: id.to_owned(), found }
    }

    /// The database is an index of what the state file says.
    fn note_in_ledger(&self, kind: &str) {
        let details = serde_json::json!({
            "task": self.state.task,
            "run": self.state.run,
            "stage": self.state.stage.word(),
            "completed": self.state.completed,
            "state": self.folder.state_file(),
        });
        let noted = self.context.store().and_then(|store| {
            let body = self.context.redactor().json(&details);
            let body =
                body.map_err(|error| CommandError::new("failed to write a ledger record").because(&error))?;
            Ok(store.append(&[Entry { at: self.now(), kind: kind.to_owned(), incident: None, body }])?)
        });
        if let Err(error) = noted {
            self.view.say(&error.one_line());
        }
    }

    /// A message where a person must act and no incident tells so; and what steps left to be told goes out.
    fn tell_people(&self, stage: Stage, lines: &[String]) {
        if matches!(stage, Stage::Succeeded | Stage::Cancelled) {
            return;
        }
        let Ok(store) = self.context.store() else { return };
        let incidents = self.state.steps.values().any(|step| {
            step.result.as_ref().is_some_and(|result| !result.outcome.is_good() && result.healing.is_some())
        });
        if !incidents {
            let redactor = self.context.redactor();
            let message = Message {
                at: self.now(),
                subject: redactor.text(&format!("selfheal: {}", lines.first().map_or("", String::as_str))),
                text: redactor.text(&(lines.join("\n") + "\n")),
                html: None,
                incident: None,
            };
            if let Err(error) = store.put(&message) {
                self.view.say(&CommandError::from(error).one_line());
            }
        }
        crate::notify::at_end(self.context, &store);
    }

    /// What stays behind at the end. The run's own folder is removed when everything is done.
    fn leave(&self, stage: Stage) -> Vec<PathBuf> {
        if stage != Stage::Succeeded {
            let begun = self.file.task.steps.iter().filter(|step| {
                let state = self.state.steps.get(&step.id);
                state.is_some_and(|state| {
                    state.attempt > 0 && !state.outcome().is_some_and(StepOutcome::is_good)
                })
            });
            let outputs = begun.flat_map(|step| &step.outputs).flat_map(|path| super::files::named(path));
            return outputs.chain([self.temp.clone()]).collect();
        }
        if let Err(error) = place::remove_temp(&self.temp, &self.state.run) {
            let values = [("run", crate::drafts::short(&self.state.run)), ("why", &error.to_string())];
            self.view.say(&self.context.texts().say("task-temp-stays", &values));
        }
        Vec::new()
    }
}

/// The exit code of a run.
#[must_use]
pub fn exit_of(stage: Stage) -> i32 {
    match stage {
        Stage::Succeeded => exit_code::OK,
        Stage::HandedOver => exit_code::HANDED_OVER,
        Stage::Cancelled => exit_code::CANCELLED,
        Stage::TimedOut => exit_code::TOO_LATE,
        Stage::Failed | Stage::Running | Stage::Cleaning => exit_code::ERROR,
    }
}
