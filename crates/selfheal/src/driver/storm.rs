//! Several jobs that fail from one cause within a short time: something else is broken than the jobs, so healing stops for
//! that cause, and people are told once.

use selfheal_core::ids::{IncidentId, JobKey};
use selfheal_core::incident::Incident;
use selfheal_core::ports::{Clock, IncidentFilter, Journal, Message, Outbox};
use serde_json::{Value, json};

use super::Healer;
use super::record::entry;
use crate::command_error::CommandError;

/// How close together the failures are, in milliseconds.
const WITHIN_MS: i64 = 10 * 60_000;
/// Recent incidents that are looked at.
const MOST: usize = 200;
/// Commands that the message names.
const NAMED: usize = 10;

/// Faults that come from the machine, the network or what jobs share. What is wrong with one script is not among them.
const SHARED: [&str; 12] = [
    "network",
    "http_status",
    "no_space",
    "out_of_memory",
    "device_error",
    "command_not_found",
    "bad_interpreter",
    "missing_module",
    "permission_denied",
    "no_such_path",
    "no_such_object",
    "lock_held",
];
/// Those of them that are one cause whatever else they say.
const WHOLE: [&str; 3] = ["no_space", "out_of_memory", "device_error"];

/// What failures have in common that come from one cause, by the report of one of them.
fn cause_of(incident: &Incident) -> Option<Value> {
    let report: Value = serde_json::from_str(incident.report.as_ref()?.as_str()).ok()?;
    let fault = report.pointer("/faults/0")?;
    let kind = fault.get("fault")?.as_str()?;
    if !SHARED.contains(&kind) {
        return None;
    }
    // A relative path means another place for each job.
    let relative = |path: &Value| path.as_str().is_some_and(|path| !path.starts_with('/'));
    if fault.get("path").is_some_and(relative) {
        return None;
    }
    Some(if WHOLE.contains(&kind) { json!(kind) } else { fault.clone() })
}

impl Healer<'_> {
    /// Looks whether this is one of several failures from one cause; if so, the incident says so from then on. A person who
    /// asked for this run, or who is there, decides for himself.
    pub(super) fn look_for_storm(&mut self) -> Result<(), CommandError> {
        let jobs = self.tools.context.settings.limits.storm_jobs as usize;
        let asked = self.permissions.policy.is_some_and(|policy| policy.given_now)
            || self.permissions.given.is_some()
            || self.permissions.can_ask;
        let Some(cause) = cause_of(&self.incident).filter(|_| jobs > 0 && !asked) else { return Ok(()) };
        // One after the other, so that only one of them tells people.
        let _lock = crate::lock::lock_job(&self.tools.context.state, &JobKey::new("several jobs"))?;
        let alike = self.alike(&cause)?;
        let mut keys: Vec<&JobKey> = alike.iter().map(|incident| &incident.job).collect();
        keys.push(&self.incident.job);
        keys.sort();
        keys.dedup();
        if keys.len() < jobs {
            return Ok(());
        }
        let first = alike.iter().find_map(|incident| incident.one_of.clone());
        self.incident.one_of = Some(first.unwrap_or_else(|| self.incident.id.clone()));
        let details = json!({ "one_of": self.incident.one_of, "jobs": keys.len() });
        self.tools
            .store
            .store(&self.incident, &[entry(self.tools.context, &self.incident, "one_cause", details)?])?;
        if self.leads() {
            self.tell_storm(&alike, keys.len());
        }
        Ok(())
    }

    /// The recent incidents of other jobs with the same cause, the newest first.
    fn alike(&self, cause: &Value) -> Result<Vec<Incident>, CommandError> {
        let since = self.tools.context.clock.now().0 - WITHIN_MS;
        let filter = IncidentFilter { most: MOST, ..IncidentFilter::default() };
        let mut recent = self.tools.store.incidents(&filter)?;
        recent.retain(|incident| {
            incident.opened.0 >= since
                && incident.job != self.incident.job
                && cause_of(incident).as_ref() == Some(cause)
        });
        Ok(recent)
    }

    fn leads(&self) -> bool {
        self.incident.one_of.as_ref() == Some(&self.incident.id)
    }

    /// What people may know when healing stops, if it does.
    pub(super) fn storm_note(&self) -> Option<String> {
        let first: &IncidentId = self.incident.one_of.as_ref()?;
        Some(self.tools.texts.say("note-storm", &[("id", first.short())]))
    }

    fn tell_storm(&self, alike: &[Incident], jobs: usize) {
        let context = self.tools.context;
        let (texts, redactor) = (context.message_texts(), context.redactor());
        let count = jobs.to_string();
        let subject = texts.say("message-storm", &[("n", &count)]);
        let error = self.incident.note.as_ref().map(|note| note.as_str()).unwrap_or_default();
        let mut text = format!(
            "{subject}\n{}: {}\n",
            texts.say("label-error", &[]),
            error.lines().next().unwrap_or_default()
        );
        let all = std::iter::once(&self.incident).chain(alike);
        let mut commands: Vec<&str> = all.map(|incident| incident.command.as_str()).collect();
        commands.dedup();
        for command in commands.iter().take(NAMED) {
            text.push_str(&format!("  {command}\n"));
        }
        let values = [("id", self.incident.id.short())];
        text.push_str(&format!(
            "{}\n{}\n",
            texts.say("message-storm-why", &values),
            texts.say("message-show", &values)
        ));
        let message = Message {
            at: context.clock.now(),
            subject: redactor.text(&subject),
            text: redactor.text(&text),
            html: None,
            incident: Some(self.incident.id.clone()),
        };
        if let Err(error) = self.tools.store.put(&message) {
            tracing::error!(%error, "a message could not be put into the outbox");
        }
    }
}
