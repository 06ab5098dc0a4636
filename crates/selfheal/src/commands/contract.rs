//! `selfheal contract`: what a job must have done, looked at on its own.

use std::fmt::Write;
use std::time::{Duration, SystemTime};

use selfheal_core::ids::{JobKey, RunId};
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::ports::{Journal, RunRecord};
use selfheal_core::run::{Capture, Ended as RunEnded, Run};
use selfheal_core::verification::{Check, Showed};
use selfheal_exec::Supervisor;

use super::run::unnamed_key;
use super::{Ended, print};
use crate::cli::{ContractArgs, ContractCommand};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::contract::{self, AfterReal, Shown};
use crate::driver::was_good;
use crate::exit_code;
use crate::normal;

/// Does what was asked.
///
/// # Errors
/// When there is no contract for the job.
pub fn run(context: &Context, args: &ContractArgs) -> Ended {
    match &args.command {
        ContractCommand::Check { job } => check(context, job),
        ContractCommand::Learn { job } => learn(context, job),
    }
}

/// Proposes a contract from what good runs left; nothing counts before somebody puts it into a settings file.
fn learn(context: &Context, name: &str) -> Ended {
    let job = job_of(context, name);
    let store = context.store()?;
    let runs = keys(context, &job).map(|key| store.good_runs(&key)).find(|runs| !runs.is_empty());
    let runs = runs.unwrap_or_default();
    let learned = normal::learn(name, &runs).ok_or_else(|| {
        CommandError::new(format!(
            "{name}: {} good runs are kept, and nothing that all of them left",
            runs.len()
        ))
        .hint("run it with selfheal run at least twice, with results in its folder")
    })?;
    print(&learned.text);
    Ok(exit_code::OK)
}

/// Looks at a contract without running the job: at files as they are, at times as the last good run had them.
fn check(context: &Context, name: &str) -> Ended {
    if let Some(warning) = context.warnings.first() {
        return Err(
            CommandError::usage(warning.clone()).hint("mend the file; until then nothing of it counts")
        );
    }
    let job = job_of(context, name);
    let whole = context.settings.contract_for(&job);
    if whole.is_empty() {
        return Err(CommandError::new(format!("{name}: there is no contract"))
            .hint("write [job.expect] into selfheal.toml in the job's folder; see docs/contracts.md"));
    }
    let last = last_good(context, &job);
    let run = last.as_ref().map_or_else(never, run_of);
    let began = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(run.started.0).unwrap_or(0));
    let after = AfterReal { cwd: &job.cwd, run: &run, began };
    let mut shown: Vec<Shown> = whole
        .checks
        .iter()
        .zip(whole.look(&after))
        .map(|(check, shown)| if needs_run(check, last.is_some()) { not_known(shown) } else { shown })
        .collect();
    shown.extend(whole.command.as_ref().map(|command| {
        let fails = contract::command_fails(command, &job, &Supervisor::of_self());
        Shown {
            what: format!("`{}` succeeds", command.join(" ")),
            showed: if fails.is_some() { Showed::Failed } else { Showed::Passed },
            why: fails.unwrap_or_else(|| "it holds".to_owned()),
        }
    }));
    print(&table(&shown));
    let broken = shown.iter().any(|shown| shown.showed == Showed::Failed);
    Ok(if broken { exit_code::UNFULFILLED } else { exit_code::OK })
}

/// A job by the name given with `--job`, or by its script.
fn job_of(context: &Context, name: &str) -> Job {
    let path = context.cwd.join(name);
    let script = path.is_file().then(|| std::fs::canonicalize(&path).unwrap_or(path));
    Job {
        key: JobKey::new(name),
        argv: Vec::new(),
        cwd: context.cwd.clone(),
        script,
        repeatable: Repeatable::Unstated,
    }
}

fn last_good(context: &Context, job: &Job) -> Option<RunRecord> {
    let store = context.store().ok()?;
    keys(context, job).filter_map(|key| store.runs(&key, 50).ok()).flatten().find(was_good)
}

/// The identities that a job may have: without a name that of its script here, else its name.
fn keys(context: &Context, job: &Job) -> impl Iterator<Item = JobKey> {
    let own = job.script.as_deref().map(|script| unnamed_key(context, script));
    own.into_iter().chain([job.key.clone()])
}

/// What is known of a recorded run.
fn run_of(record: &RunRecord) -> Run {
    Run {
        started: record.started,
        duration_ms: record.duration_ms,
        ended: RunEnded::Exited(record.exit_code),
        ..never()
    }
}

fn never() -> Run {
    Run {
        id: RunId::new("none"),
        started: selfheal_core::ids::Timestamp(0),
        duration_ms: 0,
        ended: RunEnded::Exited(0),
        stdout: Capture::default(),
        stderr: Capture::default(),
        peak_kib: None,
        left_running: Vec::new(),
        at_deadline: None,
    }
}

/// Whether an assertion is about something that only a run shows.
fn needs_run(check: &Check, recorded: bool) -> bool {
    match check {
        Check::StdoutContains { .. } | Check::StdoutMatches { .. } | Check::StderrLacks { .. } => true,
        Check::Newer { .. }
        | Check::MinDuration { .. }
        | Check::MaxDuration { .. }
        | Check::ExitCode { .. }
        | Check::Succeeded => !recorded,
        _ => false,
    }
}

fn not_known(shown: Shown) -> Shown {
    Shown { showed: Showed::NotTested, why: "only a run shows it".to_owned(), ..shown }
}

fn table(shown: &[Shown]) -> String {
    let mut out = String::new();
    for row in shown {
        let (mark, why) = match row.showed {
            Showed::Passed => ("✓", String::new()),
            Showed::Failed => ("✗", format!(": {}", row.why)),
            Showed::Inconclusive | Showed::NotTested => ("?", format!(": {}", row.why)),
        };
        let _ = writeln!(out, "{mark} {}{why}", crate::terminal::clean(&row.what));
    }
    out
}
