//! `selfheal task`: runs tasks of several steps, goes on with them, and tells how far they are.

use std::time::Duration;

use selfheal_core::task::{Stage, Task, order};
use serde_json::json;

use super::{Ended, print};
use crate::cli::{ApplyUpTo, ChangedArg, ModelArgs, TaskArgs, TaskCommand};
use crate::clock::local_time;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::tasks::index::{self, Summary};
use crate::tasks::keep::{self, RunFolder};
use crate::tasks::opening::{self, Changed, Resumption};
use crate::tasks::{self, Wishes, words};

/// Does what was asked.
///
/// # Errors
/// When it cannot be done.
pub fn run(context: &Context, args: &TaskArgs) -> Ended {
    match &args.command {
        TaskCommand::Run { file, anew, apply, model } => {
            let context = with_model(context, model)?;
            opening::begin(&context, tasks::read(&context.cwd.join(file))?, *anew, wishes(*apply, model))
        }
        TaskCommand::Resume { run, done, again, changed, apply, model } => {
            let context = with_model(context, model)?;
            let changed = match changed {
                Some(ChangedArg::GoOn) => Changed::GoOn,
                Some(ChangedArg::Stop) => Changed::Stop,
                None => Changed::AsSaid,
            };
            let said = Resumption { done: done.clone(), again: again.clone(), changed };
            opening::resume(&context, run.as_deref(), &said, wishes(*apply, model))
        }
        TaskCommand::Status { run, json } => status(context, run.as_deref(), *json),
        TaskCommand::Graph { file, dot } => {
            let file = tasks::read(&context.cwd.join(file))?;
            print(&if *dot { dot_of(&file.task) } else { lines_of(&file.task) });
            Ok(exit_code::OK)
        }
        TaskCommand::List { json } => list(context, *json),
        TaskCommand::Cancel { run } => cancel(context, run),
        TaskCommand::Validate { file } => {
            let read = tasks::read(&context.cwd.join(file))?;
            let (name, n) = (file.display().to_string(), read.task.steps.len().to_string());
            let values = [("file", name.as_str()), ("task", &read.task.id), ("n", &n)];
            print(&format!("{}\n", context.texts().say("task-valid", &values)));
            Ok(exit_code::OK)
        }
        TaskCommand::RunStep { order, model } => tasks::run_step(&with_model(context, model)?, order),
    }
}

fn with_model(context: &Context, model: &ModelArgs) -> Result<Context, CommandError> {
    context.with_model(model.model.as_deref(), model.model_url.as_deref())
}

fn wishes(apply: Option<ApplyUpTo>, model: &ModelArgs) -> Wishes {
    Wishes { apply: apply.map(|apply| apply.word().to_owned()), model: model.words() }
}

fn status(context: &Context, run: Option<&str>, json: bool) -> Ended {
    let (folder, state) = keep::find(context, run)?;
    if json {
        let text = std::fs::read_to_string(folder.state_file())
            .map_err(|error| CommandError::new("failed to read the state").because(&error))?;
        print(&text);
        return Ok(exit_code::OK);
    }
    print(&format!("{}\n", headline(&Summary::of(&state))));
    let texts = context.texts();
    // In the order in which they began; what did not begin comes last.
    let mut steps: Vec<_> = state.steps.iter().collect();
    steps.sort_by_key(|(_, step)| (step.began.is_none(), step.began));
    for (id, step) in steps {
        let result = step.result.as_ref();
        let took =
            result.map(|result| format!("  {} s", words::seconds(result.duration_ms))).unwrap_or_default();
        let why = result.and_then(|result| result.why.as_deref()).unwrap_or_default();
        let why = if why.is_empty() { String::new() } else { format!("  {}", crate::terminal::clean(why)) };
        let id = crate::terminal::clean(id);
        print(&format!("  {id:<20} {:<12}{took}{why}\n", words::step_word(step)));
        for note in result.iter().flat_map(|result| &result.notes) {
            print(&format!("    {}\n", crate::terminal::clean(note)));
        }
    }
    for issue in &state.known_issues {
        print(&format!("  ! {}\n", crate::terminal::clean(issue)));
    }
    if !matches!(state.stage, Stage::Succeeded) && !keep::is_worked_on(&state) {
        print(&format!("{}\n", texts.say("task-resume", &[("run", crate::drafts::short(&state.run))])));
    }
    Ok(exit_code::OK)
}

/// One line about a run.
fn headline(run: &Summary) -> String {
    let word = if run.is_broken_off() { "broken off" } else { run.stage.word() };
    let (id, at) = (crate::drafts::short(&run.run), local_time(run.started));
    let task = crate::terminal::clean(&run.task);
    format!("{id}  {at}  {word:<11} {task}  {}/{}", run.completed.len(), run.steps)
}

fn list(context: &Context, json: bool) -> Ended {
    let all = index::all(context);
    if json {
        let damaged = all.damaged.iter().map(|run| {
            json!({ "run": run.run, "stage": "damaged", "why": run.why, "state": run.folder.state_file() })
        });
        let rows: Vec<_> = all.runs.iter().map(|(folder, run)| row(folder, run)).chain(damaged).collect();
        print(&format!("{}\n", serde_json::to_string_pretty(&rows).unwrap_or_default()));
        return Ok(exit_code::OK);
    }
    if all.runs.is_empty() && all.damaged.is_empty() {
        print(&format!("{}\n", context.texts().say("task-none", &[])));
    }
    all.runs.iter().for_each(|(_, run)| print(&format!("{}\n", headline(run))));
    for run in &all.damaged {
        let values = [("run", crate::drafts::short(&run.run)), ("why", run.why.as_str())];
        print(&format!("{}\n", context.texts().say("task-damaged", &values)));
    }
    Ok(exit_code::OK)
}

fn row(folder: &RunFolder, run: &Summary) -> serde_json::Value {
    json!({
        "run": run.run, "task": run.task, "file": run.file, "stage": run.stage,
        "broken_off": run.is_broken_off(), "started": run.started, "updated": run.updated,
        "completed": run.completed, "pending": run.pending, "state": folder.state_file(),
    })
}

/// So long a run that was told to end is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

fn cancel(context: &Context, run: &str) -> Ended {
    let (folder, state) = keep::find(context, Some(run))?;
    let stage = state.stage.word();
    let values = [("run", crate::drafts::short(&state.run)), ("task", state.task.as_str()), ("stage", stage)];
    // One that goes on may still wait for its locks.
    if state.stage.is_final() && !keep::is_worked_on(&state) {
        print(&format!("{}\n", context.texts().say("task-cancel-over", &values)));
        return Ok(exit_code::OK);
    }
    let told = state.owner.as_ref().is_some_and(selfheal_exec::end_process);
    if !told {
        let file = tasks::read(&state.file)?;
        opening::end_steps(&folder, &state, PATIENCE);
        opening::close_broken_off(context, &file, &folder, state.clone(), Stage::Cancelled)?;
    }
    let id = if told { "task-cancel-told" } else { "task-cancel-closed" };
    print(&format!("{}\n", context.texts().say(id, &values)));
    Ok(exit_code::OK)
}

/// The steps in the order in which they run, one a line.
fn lines_of(task: &Task) -> String {
    let mut out = String::new();
    for step in order(task) {
        out.push_str(&step.id);
        if !step.needs.is_empty() {
            out.push_str(&format!("  after {}", step.needs.join(", ")));
        }
        if let Some(first) = task.stands_in_for(&step.id) {
            out.push_str(&format!("  if {} fails", first.id));
        }
        if step.when.is_some() {
            out.push_str("  on a condition");
        }
        out.push('\n');
    }
    out
}

/// The steps for Graphviz. Names hold nothing that would have to be quoted further.
fn dot_of(task: &Task) -> String {
    let mut out = format!("digraph \"{}\" {{\n", task.id);
    for step in order(task) {
        out.push_str(&format!("  \"{}\";\n", step.id));
        for need in &step.needs {
            out.push_str(&format!("  \"{need}\" -> \"{}\";\n", step.id));
        }
        if let Some(stand_in) = &step.fallback {
            out.push_str(&format!("  \"{}\" -> \"{stand_in}\" [style=dashed];\n", step.id));
        }
    }
    out + "}\n"
}
