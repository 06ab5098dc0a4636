//! `selfheal cron list`: every job that cron would start, and whether selfheal stands in front of it.

use serde_json::json;

use super::super::{Ended, print, tell};
use super::places::{self, CronJob};
use crate::cli::CronListArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::terminal::clean;

/// Prints a line a job.
///
/// # Errors
/// When the list cannot be written as JSON.
pub fn run(context: &Context, args: &CronListArgs) -> Ended {
    let found = places::all(context, args.root.as_deref());
    if args.json {
        let jobs: Vec<_> =
            found.sources.iter().flat_map(places::Source::jobs).map(|job| document(&job, context)).collect();
        let text = serde_json::to_string_pretty(&jobs)
            .map_err(|error| CommandError::new("failed to write JSON").because(&error))?;
        print(&format!("{text}\n"));
        return Ok(exit_code::OK);
    }
    let texts = context.texts();
    let mut count = 0;
    for source in &found.sources {
        let jobs = source.jobs();
        if jobs.is_empty() && source.unknown_lines().is_empty() {
            continue;
        }
        print(&format!("{}\n", clean(&source.label)));
        count += jobs.len();
        for job in &jobs {
            let word = if job.wrapped.is_some() { "cron-wrapped" } else { "cron-bare" };
            print(&line(job, &texts.say(word, &[])));
        }
        for line in source.unknown_lines() {
            print(&format!("{line:>5}  {}\n", texts.say("cron-unknown-line", &[])));
        }
    }
    if count == 0 {
        print(&format!("{}\n", texts.say("cron-none", &[])));
    }
    for what in &found.unreadable {
        tell(&format!("selfheal: {}", clean(what)));
    }
    Ok(exit_code::OK)
}

fn line(job: &CronJob, word: &str) -> String {
    format!(
        "{:>5}  {word}  {}  {}  {}  {}\n",
        job.line,
        clean(&job.schedule),
        clean(&job.user),
        clean(&job.name),
        clean(&job.command)
    )
}

fn document(job: &CronJob, context: &Context) -> serde_json::Value {
    json!({
        "place": job.place,
        "line": job.line,
        "schedule": job.schedule,
        "user": job.user,
        "name": job.name,
        "command": context.redactor().text(&job.command),
        "wrapped": job.wrapped.is_some(),
    })
}
