//! Recording: incidents, runs and ledger entries, redacted.

use std::collections::BTreeMap;
use std::ffi::OsString;

use selfheal_core::engine::State;
use selfheal_core::ids::{IncidentId, RunId};
use selfheal_core::incident::{Incident, Status};
use selfheal_core::job::Job;
use selfheal_core::outcome::Outcome;
use selfheal_core::ports::{Clock, Entry, Journal, Order, Outbox, RunRecord};
use selfheal_core::redact::Redacted;
use selfheal_core::run::{Ended, Run};
use serde_json::json;

use super::{Failure, Healer, Tools};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::environment;

/// A fresh incident for a failure.
pub(super) fn opened(tools: &Tools<'_>, failure: &Failure<'_>) -> Incident {
    let now = tools.context.clock.now();
    Incident {
        id: IncidentId::new(tools.context.clock.fresh_id()),
        job: failure.job.key.clone(),
        command: tools.redactor.text(&command_line(&failure.job.argv)),
        cwd: failure.job.cwd.clone(),
        opened: failure.run.started,
        updated: now,
        state: State::Running,
        status: Status::Failed,
        exit_code: failure.run.ended.code(),
        signature: None,
        report: None,
        rounds: Vec::new(),
        holds: Vec::new(),
        note: None,
        owner: Some(selfheal_exec::owner_of_self()),
        answer_by: None,
        remarks: Vec::new(),
        one_of: None,
        tokens: 0,
    }
}

/// The environment that the job got.
pub(super) fn job_env(context: &Context, order: &Order) -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<OsString, OsString> = context
        .env
        .iter()
        .filter(|(name, _)| !name.to_string_lossy().starts_with("SELFHEAL_"))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (name, value) in &order.env {
        match value {
            Some(value) => env.insert(name.clone(), value.clone()),
            None => env.remove(name),
        };
    }
    env
}

/// A command line as people type it.
#[must_use]
pub fn command_line(argv: &[OsString]) -> String {
    argv.iter().map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Records one run. A run that cannot be recorded is no reason to stop: the incident will tell.
pub(super) fn run(
    tools: &Tools<'_>,
    job: &Job,
    env: &BTreeMap<OsString, OsString>,
    run: &Run,
    outcome: &Outcome,
) {
    let facts = environment::of_job(tools.context, job, env);
    let record = run_record(job, run, outcome, tools.redactor.json(&facts).ok());
    if let Err(error) = tools.store.record_run(&record) {
        tracing::warn!(%error, "a run could not be recorded");
    }
}

/// The word for a run that was told to end from outside.
pub const CANCELLED: &str = "cancelled";

/// What is kept of one run.
#[must_use]
pub fn run_record(job: &Job, run: &Run, outcome: &Outcome, facts: Option<Redacted>) -> RunRecord {
    let word = match outcome {
        // Whatever a job answers that was told to end, it did not do its work.
        _ if matches!(run.ended, Ended::Cancelled { .. }) => CANCELLED,
        Outcome::Succeeded => "succeeded",
        Outcome::Negative { .. } => "negative",
        Outcome::Failed { .. } => "failed",
    };
    RunRecord {
        id: RunId::new(run.id.as_str()),
        job: job.key.clone(),
        started: run.started,
        duration_ms: run.duration_ms,
        exit_code: run.ended.code(),
        outcome: word.to_owned(),
        facts,
    }
}

/// Whether a run did what it should, or gave an answer. One that was skipped shows nothing.
#[must_use]
pub fn was_good(run: &RunRecord) -> bool {
    matches!(run.outcome.as_str(), "succeeded" | "negative")
}

/// One ledger entry about an incident.
///
/// # Errors
/// When the details cannot be written as JSON.
pub fn entry(
    context: &Context,
    incident: &Incident,
    kind: &str,
    details: serde_json::Value,
) -> Result<Entry, CommandError> {
    let body = context
        .redactor()
        .json(&details)
        .map_err(|error| CommandError::new("failed to write a ledger record").because(&error))?;
    Ok(Entry { at: context.clock.now(), kind: kind.to_owned(), incident: Some(incident.id.clone()), body })
}

impl Healer<'_> {
    /// Stores where the incident stands now, before the next action is performed.
    pub(super) fn persist(&mut self, state: &State) -> Result<(), CommandError> {
        self.incident.state = state.clone();
        self.incident.updated = self.tools.context.clock.now();
        #[cfg(feature = "model")]
        {
            self.incident.tokens = self.budget.spent().tokens();
        }
        if state.is_final() || matches!(state, State::Held | State::Watching) {
            self.incident.owner = None;
        }
        let details = self.ledger_details(state);
        let entry = entry(self.tools.context, &self.incident, state.word(), details)?;
        tracing::info!(incident = self.incident.id.short(), state = state.word(), "stored");
        Ok(self.tools.store.store(&self.incident, &[entry])?)
    }

    fn ledger_details(&self, state: &State) -> serde_json::Value {
        let mut details = json!({
            "command": self.incident.command,
            "exit_code": self.incident.exit_code,
            "status": self.incident.status.word(),
        });
        let files = self.incident.rounds.last().map(|round| &round.files);
        if let (
            Some(map),
            State::Applying | State::Applied | State::Held | State::TakingBack { .. } | State::RolledBack,
        ) = (details.as_object_mut(), state)
        {
            map.insert("files".to_owned(), json!(files));
            map.insert("holds".to_owned(), json!(self.incident.holds));
            map.insert("risk".to_owned(), json!(self.incident.rounds.last().and_then(|round| round.risk)));
        }
        details
    }

    /// Leaves a message for a person in the outbox.
    pub(super) fn notify(&mut self) {
        let message = super::message(self.tools.context, &self.incident);
        if let Err(error) = self.tools.store.put(&message) {
            tracing::error!(%error, "a message could not be put into the outbox");
        }
    }
}
