//! What people read of tasks.

use std::path::PathBuf;

use selfheal_core::task::{Stage, StepOutcome, StepStage, StepState, TaskState};

use super::locks::{Busy, Holder};
use crate::clock::local_time;
use crate::command_error::CommandError;
use crate::terminal::{clean, shown_path};
use crate::texts::Texts;

/// What is waited for.
#[must_use]
pub fn waits(texts: &Texts, busy: &Busy) -> String {
    held(texts, "task-waits", busy)
}

/// What was waited for in vain.
#[must_use]
pub fn busy(texts: &Texts, busy: &Busy) -> String {
    held(texts, "task-busy", busy)
}

fn held(texts: &Texts, id: &str, busy: &Busy) -> String {
    let (who, since) = match &busy.holder {
        Some(holder) => (clean(&holder.name()), local_time(holder.since)),
        None => (texts.say("task-somebody", &[]), "?".to_owned()),
    };
    texts.say(id, &[("what", &clean(&busy.what)), ("who", &who), ("since", &since)])
}

/// A lock whose holder is gone.
#[must_use]
pub fn stale(texts: &Texts, holder: &Holder) -> String {
    let (who, since) = (clean(&holder.name()), local_time(holder.since));
    texts.say("task-stale-lock", &[("what", &clean(&holder.what)), ("who", &who), ("since", &since)])
}

/// Whether a reason speaks of a disk without room, in the words of the system or of the store.
#[must_use]
pub fn is_full(why: &str) -> bool {
    ["No space left on device", "disk is full", "Disk quota exceeded"].iter().any(|words| why.contains(words))
}

/// The same error with what to do where there was no room.
#[must_use]
pub fn with_room(texts: &Texts, error: CommandError) -> CommandError {
    let full = is_full(&error.one_line());
    if full { error.hint(texts.say("task-make-room", &[])) } else { error }
}

/// How long something took.
#[must_use]
pub fn seconds(ms: u64) -> String {
    format!("{:.1}", f64::from(u32::try_from(ms).unwrap_or(u32::MAX)) / 1_000.0)
}

/// Where a step stands, in a word.
#[must_use]
pub fn step_word(step: &StepState) -> &'static str {
    match step.stage {
        StepStage::Pending => "pending",
        StepStage::Running => "running",
        StepStage::Skipped => "skipped",
        StepStage::Blocked => "blocked",
        StepStage::HandedOver => "handed_over",
        StepStage::Ended => step.outcome().map_or("ended", StepOutcome::word),
    }
}

/// One line about a step that has ended, or that is not going to be run.
#[must_use]
pub fn step_line(texts: &Texts, id: &str, step: &StepState) -> String {
    let result = step.result.as_ref();
    let took = seconds(result.map_or(0, |result| result.duration_ms));
    let code = result.map_or(0, |result| result.code).to_string();
    let why = clean(result.and_then(|result| result.why.as_deref()).unwrap_or_default());
    let why = match why.trim().is_empty() {
        true => texts.say("task-ended-with", &[("code", &code)]),
        false => why,
    };
    let values = [("step", id), ("seconds", took.as_str()), ("code", code.as_str()), ("why", why.as_str())];
    let line = texts.say(&format!("task-step-{}", step_word(step).replace('_', "-")), &values);
    let healed = result
        .and_then(|result| result.healing.as_ref())
        .filter(|_| step.outcome().is_some_and(StepOutcome::is_good));
    match healed {
        Some(healing) => {
            let end = crate::drafts::short(&healing.incident);
            let summary = clean(&healing.summary.join("; "));
            // What a second run alone mended has no repair to tell of.
            let said = if summary.trim().is_empty() { "task-step-again" } else { "task-step-healed" };
            format!("{line} {}", texts.say(said, &[("id", end), ("summary", &summary)]))
        }
        None => line,
    }
}

/// The end of a run in plain words: which step, probable reason, what to do, what is left behind, how to resume.
#[must_use]
pub fn ending(
    texts: &Texts,
    state: &TaskState,
    left: &[PathBuf],
    output: &dyn Fn(&str) -> Option<PathBuf>,
) -> Vec<String> {
    let took = u64::try_from(state.updated.0.saturating_sub(state.started.0)).unwrap_or(0);
    let (run, task) = (crate::drafts::short(&state.run), state.task.as_str());
    let took = seconds(took);
    let values = [("task", task), ("run", run), ("seconds", took.as_str())];
    let mut lines = vec![texts.say(&format!("task-end-{}", state.stage.word().replace('_', "-")), &values)];
    for record in &state.cleanups {
        if let Some(why) = &record.failed {
            let values = [("what", clean(&record.what)), ("why", clean(why))];
            let values: Vec<(&str, &str)> =
                values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            lines.push(texts.say("task-cleanup-failed", &values));
        }
    }
    if state.stage == Stage::Succeeded {
        return lines;
    }
    for (id, step) in state.steps.iter().filter(|(_, step)| is_trouble(step)) {
        lines.extend(trouble(texts, id, step, run));
        lines.extend(output(id).map(|file| texts.say("task-output", &[("path", &shown_path(&file))])));
    }
    for path in left {
        lines.push(texts.say("task-left", &[("path", &shown_path(path))]));
    }
    lines.push(texts.say("task-resume", &[("run", run)]));
    lines
}

fn is_trouble(step: &StepState) -> bool {
    step.stage == StepStage::HandedOver || step.outcome().is_some_and(|outcome| !outcome.is_good())
}

fn trouble(texts: &Texts, id: &str, step: &StepState, run: &str) -> Vec<String> {
    let mut lines = vec![texts.say("task-which", &[("step", id)])];
    if let Some(result) = &step.result {
        let said = [("task-what", &result.why), ("task-reason", &result.reason), ("task-do", &result.to_do)];
        for (label, text) in said {
            if let Some(text) = text.as_deref().filter(|text| !text.is_empty()) {
                lines.push(texts.say(label, &[("text", &clean(text))]));
            }
        }
        if let Some(healing) = result.healing.as_ref().filter(|healing| healing.status == "held") {
            lines.push(texts.say("task-approve", &[("id", crate::drafts::short(&healing.incident))]));
        }
    }
    let repeatable = step.result.as_ref().is_some_and(|result| result.repeatable);
    if step.stage == StepStage::HandedOver || !repeatable {
        lines.push(texts.say("task-decide", &[("step", id), ("run", run)]));
    }
    lines
}
