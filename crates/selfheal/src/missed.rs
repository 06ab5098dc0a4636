//! Missed runs: a wrapped job of cron was due by its schedule, and no run of it was recorded.
//!
//! Theory of operation: only jobs of this user that have a name and that nothing else in their line may keep from
//! starting are looked at. A due time counts when it lies behind the moment from which the line is known to stand there:
//! the table's own time stamp, else the first tick that saw it with this schedule. `missed.json` in the state folder
//! holds those moments, and of which due time people were told; losing it costs at most one message more.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeZone};
use selfheal_core::ids::{JobKey, Timestamp};
use selfheal_core::ports::{Clock, Journal, Message, Outbox, RunRecord};
use selfheal_store::Store;
use serde::{Deserialize, Serialize};

use crate::clock::local_time;
use crate::command_error::CommandError;
use crate::commands::cron::places::{self, CronJob, Source};
use crate::context::Context;
use crate::cron::Schedule;
use crate::terminal::clean;
use crate::texts::Texts;

/// How long after its time a run may begin: locks, random delays, a slow machine. In milliseconds.
const GRACE_MS: i64 = 10 * 60_000;
/// How much earlier than its minute a run may seem to begin, in milliseconds.
const SLACK_MS: i64 = 60_000;

/// A run that was due and not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// The table.
    pub place: String,
    /// The line, from 1.
    pub line: usize,
    /// The job's name.
    pub job: String,
    /// When it was due.
    pub due: Timestamp,
}

/// What is remembered from tick to tick, by job and schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Memory {
    /// When a tick saw it first.
    first_seen: BTreeMap<String, Timestamp>,
    /// The due time that people were told of, until the job runs again.
    told: BTreeMap<String, Timestamp>,
}

fn key(job: &CronJob) -> String {
    format!("{} {}", job.name, job.schedule)
}

/// Looks for missed runs; changes nothing. Without a record there are none.
#[must_use]
pub fn find(context: &Context, sources: &[Source]) -> Vec<Missed> {
    if !context.state.join("journal.db").exists() {
        return Vec::new();
    }
    let Ok(store) = context.store() else { return Vec::new() };
    look(context, &store, sources, &read(context)).into_iter().map(|(_, missed)| missed).collect()
}

/// Leaves one message for each missed run that nobody was told of yet; returns a line for each.
///
/// # Errors
/// When the store or the state folder cannot be written.
pub fn tell_once(context: &Context, texts: &Texts, store: &Store) -> Result<Vec<String>, CommandError> {
    let sources = places::all(context, None).sources;
    let jobs: Vec<CronJob> =
        sources.iter().flat_map(Source::jobs).filter(|job| counts(context, job)).collect();
    let before = read(context);
    let mut memory = before.clone();
    let keys: Vec<String> = jobs.iter().map(key).collect();
    memory.first_seen.retain(|key, _| keys.contains(key));
    for key in keys {
        memory.first_seen.entry(key).or_insert_with(|| context.clock.now());
    }
    let mut said = Vec::new();
    let found = look(context, store, &sources, &memory);
    // A job that ran again may be told of again.
    memory.told.retain(|told, _| found.iter().any(|(key, _)| key == told));
    for (key, missed) in found {
        if memory.told.contains_key(&key) {
            continue;
        }
        let values =
            [("job", clean(&missed.job)), ("when", local_time(missed.due)), ("place", clean(&missed.place))];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let subject = texts.say("message-missed", &values);
        let text = format!("{subject}\n{}\n", texts.say("message-missed-next", &values));
        let redactor = context.redactor();
        store.put(&Message {
            at: context.clock.now(),
            subject: redactor.text(&subject),
            text: redactor.text(&text),
            html: None,
            incident: None,
        })?;
        memory.told.insert(key, missed.due);
        said.push(subject);
    }
    if memory != before {
        write(context, &memory)?;
    }
    Ok(said)
}

/// Whether a job's runs would all be in this user's record.
fn counts(context: &Context, job: &CronJob) -> bool {
    job.wrapped.as_ref().is_some_and(|found| found.job.is_some())
        && !job.guarded
        && job.zone.is_none()
        && job.user == places::user_name(context.uid)
}

fn look(context: &Context, store: &Store, sources: &[Source], memory: &Memory) -> Vec<(String, Missed)> {
    // A frozen selfheal records nothing.
    if selfheal_store::frozen(&context.state) {
        return Vec::new();
    }
    let Some(now) = DateTime::from_timestamp_millis(context.clock.now().0 - GRACE_MS) else {
        return Vec::new();
    };
    let now = now.with_timezone(&chrono::Local);
    let mut out = Vec::new();
    for source in sources {
        for job in source.jobs().into_iter().filter(|job| counts(context, job)) {
            let known = source.modified.or_else(|| memory.first_seen.get(&key(&job)).copied());
            let (Some(known), Some(schedule)) = (known, Schedule::parse(&job.schedule)) else { continue };
            let Ok(runs) = store.runs(&JobKey::new(job.name.clone()), 1) else { continue };
            if let Some(due) = missed(&schedule, known, runs.first(), &now)
                && !is_running(&job.name)
            {
                out.push((key(&job), Missed { place: job.place, line: job.line, job: job.name, due }));
            }
        }
    }
    out
}

/// The last due time until a moment, if no run is there for it: none that began then or later, and none that was still
/// going on then (a lock keeps the next one out).
fn missed<Zone: TimeZone>(
    schedule: &Schedule,
    known: Timestamp,
    last: Option<&RunRecord>,
    until: &DateTime<Zone>,
) -> Option<Timestamp> {
    let due = schedule.last_due(until)?.timestamp_millis();
    let ended =
        |run: &RunRecord| run.started.0.saturating_add(i64::try_from(run.duration_ms).unwrap_or(i64::MAX));
    let there = last.is_some_and(|run| ended(run) >= due - SLACK_MS);
    (due > known.0 && !there).then_some(Timestamp(due))
}

/// Whether a run of the job goes on: its record is written when it ends.
fn is_running(name: &str) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    processes
        .flatten()
        .any(|process| std::fs::read(process.path().join("cmdline")).is_ok_and(|line| is_run_of(&line, name)))
}

fn is_run_of(line: &[u8], name: &str) -> bool {
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    let joined = format!("--job={name}");
    words.get(1) == Some(&b"run".as_slice())
        && (words.contains(&joined.as_bytes())
            || words.windows(2).any(|pair| pair == [b"--job".as_slice(), name.as_bytes()]))
}

fn read(context: &Context) -> Memory {
    let text = std::fs::read_to_string(context.state.join("missed.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn write(context: &Context, memory: &Memory) -> Result<(), CommandError> {
    let failed = |error: &dyn std::error::Error| {
        CommandError::new(format!("failed to write in {}", context.state.display())).because(error)
    };
    let text = serde_json::to_vec_pretty(memory).map_err(|error| failed(&error))?;
    let mut file = tempfile::NamedTempFile::new_in(&context.state).map_err(|error| failed(&error))?;
    std::io::Write::write_all(&mut file, &text).map_err(|error| failed(&error))?;
    file.persist(context.state.join("missed.json")).map_err(|error| failed(&error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::Utc;
    use selfheal_core::ids::RunId;

    const HOUR: i64 = 3_600_000;
    /// 2024-01-17 00:00 UTC.
    const DAY: i64 = 1_705_449_600_000;

    fn run(started: i64, duration: i64) -> RunRecord {
        RunRecord {
            id: RunId::new("r"),
            job: JobKey::new("j"),
            started: Timestamp(started),
            duration_ms: u64::try_from(duration).unwrap(),
            exit_code: 0,
            outcome: "succeeded".into(),
            facts: None,
        }
    }

    fn found(known: i64, last: Option<&RunRecord>, now: i64) -> Option<i64> {
        let schedule = Schedule::parse("0 2 * * *").unwrap();
        let now = Utc.timestamp_millis_opt(now).unwrap();
        missed(&schedule, Timestamp(known), last, &now).map(|due| due.0 - DAY)
    }

    #[test]
    fn a_run_is_missed_when_none_began_or_went_on_then() {
        let yesterday = DAY - 22 * HOUR;
        assert_eq!(found(DAY - 48 * HOUR, None, DAY + 5 * HOUR), Some(2 * HOUR));
        assert_eq!(found(DAY - 48 * HOUR, Some(&run(yesterday, 1_000)), DAY + 5 * HOUR), Some(2 * HOUR));
        assert_eq!(found(DAY - 48 * HOUR, Some(&run(yesterday, 1_000)), DAY + HOUR), None);
        assert_eq!(found(DAY - 48 * HOUR, Some(&run(DAY + 2 * HOUR + 300, 1)), DAY + 5 * HOUR), None);
        assert_eq!(found(DAY - 48 * HOUR, Some(&run(yesterday, 25 * HOUR)), DAY + 5 * HOUR), None);
        assert_eq!(found(DAY + 3 * HOUR, None, DAY + 5 * HOUR), None, "the line is newer");
    }

    #[test]
    fn a_run_that_goes_on_is_known_by_its_words() {
        assert!(is_run_of(b"/usr/bin/selfheal\0run\0--job\0a\0--\0x\0", "a"));
        assert!(is_run_of(b"selfheal\0run\0--job=a\0--\0sh\0", "a"));
        assert!(!is_run_of(b"selfheal\0run\0--job\0ab\0--\0x\0", "a"));
        assert!(!is_run_of(b"grep\0--job\0a\0", "a"));
    }
}
