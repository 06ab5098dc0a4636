//! Beginning a run and going on with one: what earlier runs left is found and named first.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use selfheal_core::ports::Clock;
use selfheal_core::task::{
    Decision, Event, OnChange, Stage, StepOutcome, StepStage, TaskState, Verdict, step,
};

use super::index::{self, Damaged};
use super::keep::{self, RunFolder, RunLock};
use super::locks;
use super::read::{TaskFile, digest, read};
use super::runner::{Runner, Wishes};
use super::worker::StepOrder;
use super::{files, place, words};
use crate::command_error::CommandError;
use crate::commands::tell;
use crate::context::Context;
use crate::exit_code;

/// What is to be done with a file that changed since a run began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// As the file says.
    AsSaid,
    /// Go on.
    GoOn,
    /// Leave the run as it is.
    Stop,
}

/// Begins a run.
///
/// # Errors
/// When it cannot be begun, or an earlier one waits for a decision.
pub fn begin(context: &Context, file: TaskFile, anew: bool, wishes: Wishes) -> Result<i32, CommandError> {
    for stale in locks::clear_stale(&keep::root(context).join("locks")) {
        tell(&format!("selfheal: {}", words::stale(&context.texts(), &stale)));
    }
    let all = index::all(context);
    let earlier = all.runs.iter().find(|(_, run)| run.file == file.path);
    let since = earlier.map(|(_, run)| run.run.as_str()).unwrap_or_default();
    if let Some(damaged) = all.damaged.iter().find(|run| run.run.as_str() > since && is_of(run, &file)) {
        told_of_damage(context, damaged, anew)?;
    }
    if let Some((folder, _)) = earlier {
        let (folder, state) = (folder.clone(), folder.load()?);
        let state = close_broken_off(context, &file, &folder, state, Stage::Failed)?;
        let open = state.steps.iter().find(|(_, step)| step.stage == StepStage::HandedOver);
        if let Some((id, _)) = open.filter(|_| !anew && state.stage == Stage::HandedOver) {
            let run = crate::drafts::short(&state.run);
            let what = format!("an earlier run {run} waits for a decision: step {id} may have done its work");
            return Err(CommandError { code: exit_code::HANDED_OVER, ..CommandError::new(what) }
                .hint(format!("look, then: selfheal task resume {run} --done {id} (or --again {id})"))
                .hint("or begin anew with --anew, which may do that work twice"));
        }
    }
    keep::prune(&all.runs);
    keep::sweep(&all.unbegun, &|run| place::temp(context, run));
    let run = context.clock.fresh_id();
    let folder =
        RunFolder::create(context, &run).map_err(|error| words::with_room(&context.texts(), error))?;
    let lock = taken(folder.lock()?)?;
    let state = TaskState::new(&file.task, run, file.path.clone(), file.digest.clone());
    Runner::new(context, file, (folder, lock), state, wishes).go(Event::Begin)
}

/// Whether a run whose state cannot be read was one of a task file: by what was known of it, or by what its steps were told.
fn is_of(damaged: &Damaged, file: &TaskFile) -> bool {
    if let Some(before) = &damaged.before {
        return before.file == file.path;
    }
    let steps = std::fs::read_dir(damaged.folder.path().join("steps")).into_iter().flatten().flatten();
    let orders = steps.filter_map(|step| StepOrder::read(&step.path().join("order.json")).ok());
    orders.into_iter().any(|order| order.context.task == file.task.id && order.folder == file.folder)
}

/// What a run did whose state cannot be read is not known, so its task begins anew only when that is wanted.
fn told_of_damage(context: &Context, damaged: &Damaged, anew: bool) -> Result<(), CommandError> {
    let run = crate::drafts::short(&damaged.run);
    let said = context.texts().say("task-damaged", &[("run", run), ("why", &damaged.why)]);
    if anew {
        tell(&format!("selfheal: {said}"));
        return Ok(());
    }
    let error = CommandError { code: exit_code::HANDED_OVER, ..CommandError::new(said) };
    let error = damaged.hints.iter().fold(error, |error, hint| error.hint(hint.clone()));
    Err(error.hint("each step's journal in that folder says how far it got; --anew may do that work twice"))
}

fn taken(lock: Option<RunLock>) -> Result<RunLock, CommandError> {
    lock.ok_or_else(|| {
        CommandError::new("another process works on this run")
            .hint("selfheal task status shows how far it is")
    })
}

/// Brings a run that was broken off to its end: its steps are looked for, its hooks run, what it left is named.
///
/// # Errors
/// When its state cannot be stored.
pub fn close_broken_off(
    context: &Context,
    file: &TaskFile,
    folder: &RunFolder,
    state: TaskState,
    why: Stage,
) -> Result<TaskState, CommandError> {
    if state.stage.is_final() {
        forget_temp(context, &state);
        return Ok(state);
    }
    let Some(_lock) = folder.take_over(&state)? else { return Ok(state) };
    let texts = context.texts();
    let run = crate::drafts::short(&state.run);
    let running: Vec<&str> = state
        .steps
        .iter()
        .filter(|(_, step)| step.stage == StepStage::Running)
        .map(|(id, _)| id.as_str())
        .collect();
    let steps = if running.is_empty() { "-".to_owned() } else { running.join(", ") };
    tell(&format!("selfheal: {}", texts.say("task-broken-off", &[("run", run), ("steps", &steps)])));
    for path in half_written(file, &state) {
        let shown = crate::terminal::shown_path(&path);
        tell(&format!("selfheal: {}", texts.say("task-half-written", &[("path", &shown)])));
    }
    let closed = closed(context, file, folder, state, why)?;
    forget_temp(context, &closed);
    Ok(closed)
}

fn closed(
    context: &Context,
    file: &TaskFile,
    folder: &RunFolder,
    mut state: TaskState,
    why: Stage,
) -> Result<TaskState, CommandError> {
    use selfheal_core::task::{Action, Found};
    let mut queue = std::collections::VecDeque::from([Event::Close(why)]);
    let temp = place::temp(context, &state.run);
    while let Some(event) = queue.pop_front() {
        let (next, actions) = step(&file.task, &state, event, context.clock.now())
            .map_err(|error| CommandError::new(error.to_string()))?;
        folder.store(&next, Some(&state))?;
        state = next;
        for action in actions {
            match action {
                Action::Settle(id) => {
                    let attempt = state.steps.get(&id).map_or(0, |step| step.attempt);
                    let home = folder.step(&id);
                    let quiet = locks::forbid(&home, &|process| {
                        let values = [("step", id.as_str()), ("process", process)];
                        tell(&format!("selfheal: {}", context.texts().say("task-still-works", &values)));
                    });
                    let known = file.task.step(&id).filter(|_| quiet);
                    let found = known.map_or(Found::MayHaveRun, |step| {
                        super::settle::settle(context, step, &home, attempt)
                    });
                    queue.push_back(Event::Settled { step: id, found });
                }
                Action::CleanUp(stage) => {
                    let cleaner = super::cleaning::Cleaner {
                        task: &file.task,
                        folder: &file.folder,
                        run: folder,
                        temp: &temp,
                        env: context.env.clone().into_iter().collect(),
                    };
                    queue.push_back(Event::CleanupEnded(cleaner.clean(&state, stage)));
                }
                Action::Start(_) | Action::Stop(_) | Action::Finish(_) => {}
            }
        }
    }
    Ok(state)
}

/// The folder of an earlier run goes when a new one begins.
fn forget_temp(context: &Context, state: &TaskState) {
    let temp = place::temp(context, &state.run);
    let texts = context.texts();
    let said = match place::remove_temp(&temp, &state.run) {
        Ok(false) => return,
        Ok(true) => texts.say("task-temp-removed", &[("path", &crate::terminal::shown_path(&temp))]),
        Err(error) => {
            let values = [("run", crate::drafts::short(&state.run)), ("why", &error.to_string())];
            texts.say("task-temp-stays", &values)
        }
    };
    tell(&format!("selfheal: {said}"));
}

/// Outputs of steps that were broken off and that were written since they began.
fn half_written(file: &TaskFile, state: &TaskState) -> Vec<PathBuf> {
    let running = |id: &str| state.steps.get(id).filter(|step| step.stage == StepStage::Running);
    let steps = file.task.steps.iter().filter_map(|step| Some((step, running(&step.id)?.began?)));
    steps
        .flat_map(|(step, began)| {
            let named = step.outputs.iter().flat_map(|path| files::named(path));
            named.filter(move |path| {
                let modified = std::fs::metadata(path).and_then(|facts| facts.modified()).ok();
                let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
                since.is_some_and(|since| since.as_millis() >= u128::try_from(began.0).unwrap_or(0))
            })
        })
        .collect()
}

/// What a person says when a run is to go on.
#[derive(Clone, Debug)]
pub struct Resumption {
    /// Steps that are done.
    pub done: Vec<String>,
    /// Steps that are to be run again.
    pub again: Vec<String>,
    /// What is to be done with a changed file.
    pub changed: Changed,
}

/// Goes on with a run.
///
/// # Errors
/// When there is none, it is over, or its file changed and nobody wants to go on with that.
pub fn resume(
    context: &Context,
    name: Option<&str>,
    said: &Resumption,
    wishes: Wishes,
) -> Result<i32, CommandError> {
    let (folder, last) = keep::find(context, name)?;
    let lock = taken(folder.take_over(&last)?)?;
    // Only now nobody else writes it.
    let mut state = folder.load()?;
    let file = read(&state.file)?;
    if file.digest != state.digest {
        accept_change(context, &file, &mut state, said.changed)?;
    }
    let before = folder.load()?;
    for (verdict, ids) in [(Verdict::Done, &said.done), (Verdict::Again, &said.again)] {
        for id in ids {
            state = decided(context, &file, state, id, verdict)?;
        }
    }
    look_for_outputs(context, &file, &mut state);
    folder.store(&state, Some(&before)).map_err(|error| words::with_room(&context.texts(), error))?;
    if state.stage == Stage::Succeeded {
        return Err(CommandError::new("this run has succeeded: nothing is left to be done")
            .hint("selfheal task run FILE begins a new one"));
    }
    Runner::new(context, file, (folder, lock), state, wishes).go(Event::Resume)
}

fn decided(
    context: &Context,
    file: &TaskFile,
    state: TaskState,
    id: &str,
    verdict: Verdict,
) -> Result<TaskState, CommandError> {
    let event = Event::Decided { step: id.to_owned(), verdict };
    let broken_off = keep::is_broken_off(&state);
    let decided = step(&file.task, &state, event, context.clock.now());
    // What is to be run again is not over.
    let open = |state: TaskState| match state.stage.is_final() && !state.pending.is_empty() {
        true => TaskState { stage: Stage::Running, ..state },
        false => state,
    };
    decided.map(|(next, _)| open(next)).map_err(|error| {
        let hint = if broken_off { "go on without it first" } else { "selfheal task status shows the steps" };
        CommandError::usage(error.to_string()).hint(hint)
    })
}

/// Says what changed, and goes on only where that is wanted.
fn accept_change(
    context: &Context,
    file: &TaskFile,
    state: &mut TaskState,
    changed: Changed,
) -> Result<(), CommandError> {
    let texts = context.texts();
    let mut what = Vec::new();
    for one in &file.task.steps {
        match state.steps.get(&one.id) {
            None => what.push(texts.say("task-changed-new", &[("step", &one.id)])),
            Some(old) if !old.digest.is_empty() && old.digest != digest(one) => {
                what.push(texts.say("task-changed-step", &[("step", &one.id)]));
                if old.outcome().is_some_and(StepOutcome::is_good) {
                    let issue = texts.say("task-changed-ended", &[("step", &one.id)]);
                    tell(&format!("selfheal: {issue}"));
                    state.known_issues.push(issue);
                }
            }
            Some(_) => {}
        }
    }
    let gone: Vec<String> = state.steps.keys().filter(|id| file.task.step(id).is_none()).cloned().collect();
    what.extend(gone.iter().map(|id| texts.say("task-changed-gone", &[("step", id)])));
    let what = if what.is_empty() { "-".to_owned() } else { what.join(", ") };
    let said = texts.say("task-changed", &[("what", &what)]);
    tell(&format!("selfheal: {said}"));
    let go_on = match (changed, file.task.on_change) {
        (Changed::GoOn, _) | (Changed::AsSaid, OnChange::GoOn) => true,
        (Changed::Stop, _) | (Changed::AsSaid, OnChange::Stop) => false,
        (Changed::AsSaid, OnChange::Ask) => asked(context, &texts.say("task-changed-ask", &[])),
    };
    if !go_on {
        return Err(
            CommandError::new(said).hint("selfheal task resume RUN --changed go-on takes the new file")
        );
    }
    for id in gone {
        // What has ended stays known.
        let ended = state.steps.get(&id).is_some_and(|step| step.outcome().is_some());
        if !ended {
            state.steps.remove(&id);
        }
    }
    for one in &file.task.steps {
        state.steps.entry(one.id.clone()).or_default();
        if state.stage.is_final()
            && state.steps.get(&one.id).is_some_and(|step| step.stage == StepStage::Pending)
        {
            state.stage = Stage::Running;
        }
    }
    state.sum_up();
    let at = context.clock.now();
    state.decisions.push(Decision { at, step: None, what: said });
    Ok(())
}

fn asked(context: &Context, question: &str) -> bool {
    if !(context.terminal.input && context.terminal.error) {
        return false;
    }
    let _ = write!(std::io::stderr().lock(), "selfheal: {question} [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "是")
}

/// A result that is gone is made again, where the step may run twice; else it is said.
fn look_for_outputs(context: &Context, file: &TaskFile, state: &mut TaskState) {
    let texts = context.texts();
    for one in &file.task.steps {
        let Some(old) = state.steps.get_mut(&one.id) else { continue };
        let wrote = old.outcome() == Some(StepOutcome::Succeeded)
            && old.result.as_ref().is_some_and(|result| !result.output.is_empty());
        let Some(missing) = files::missing(&one.outputs).filter(|_| wrote) else { continue };
        let path = crate::terminal::shown_path(missing);
        let issue = texts.say("task-output-missing", &[("path", &path), ("step", &one.id)]);
        tell(&format!("selfheal: {issue}"));
        state.known_issues.push(issue);
        if one.idempotent && state.stage != Stage::Succeeded {
            old.stage = StepStage::Pending;
            state.stage = Stage::Running;
        }
    }
    state.sum_up();
}

/// Tells the steps of a run whose runner is gone to end, and waits for that.
pub fn end_steps(folder: &RunFolder, state: &TaskState, patience: std::time::Duration) {
    let until = std::time::Instant::now() + patience;
    let running = state.steps.iter().filter(|(_, step)| step.stage == StepStage::Running);
    for home in running.map(|(id, _)| folder.step(id)) {
        if let Some(owner) = locks::worker_of(&home) {
            let _ = selfheal_exec::end_process(&owner);
        }
        while locks::works(&home) && std::time::Instant::now() < until {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}
