//! The message about an incident, in plain words: what failed, where, why, what the repair does, what was shown of it,
//! and the one line to decide.

use selfheal_core::engine::State;
use selfheal_core::incident::{Incident, Round, Status};
use selfheal_core::ports::{Clock, Message};
use selfheal_core::redact::Redacted;
use selfheal_core::report::Cause;
use selfheal_core::verification::Showed;
use serde_json::Value;

use crate::clock::local_time;
use crate::context::Context;
use crate::terminal::{hint, reason};
use crate::texts::Texts;

/// Sentences of a repair that are told.
const SENTENCES: usize = 4;

/// The message about an incident.
#[must_use]
pub fn message(context: &Context, incident: &Incident) -> Message {
    let (texts, redactor) = (context.message_texts(), context.redactor());
    let values = [("command", incident.command.as_str()), ("id", incident.id.short())];
    let kind = match incident.state {
        State::RolledBack => incident.state.word(),
        _ => incident.status.word(),
    };
    let subject = texts.say(&format!("message-{kind}"), &values);
    let mut lines = vec![subject.clone()];
    lines.extend(failure(&texts, incident));
    match incident.rounds.last() {
        Some(_) if left_to_a_person(&incident.state) => lines.extend(handed_over(&texts, incident)),
        Some(round) => lines.extend(repair(&texts, round)),
        None => {}
    }
    for hold in &incident.holds {
        let why = texts.say(&format!("hold-{}", hold.word().replace('_', "-")), &[]);
        lines.push(labelled(&texts, "label-held", &why));
    }
    lines.extend(next(&texts, incident));
    let text = lines.iter().map(|line| line.replace('\n', " ") + "\n").collect::<String>();
    Message {
        at: context.clock.now(),
        subject: redactor.text(&subject.replace('\n', " ")),
        text: redactor.text(&text),
        html: None,
        incident: Some(incident.id.clone()),
    }
}

fn labelled(texts: &Texts, label: &str, text: &str) -> String {
    format!("{}: {}", texts.say(label, &[]), text.trim())
}

fn failure(texts: &Texts, incident: &Incident) -> Vec<String> {
    let report: Value = incident
        .report
        .as_ref()
        .and_then(|text| serde_json::from_str(text.as_str()).ok())
        .unwrap_or_default();
    let text = |pointer: &str| report.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let mut lines = Vec::new();
    if let (file @ [_, ..], Some(line)) =
        (text("/location/file").as_bytes(), report.pointer("/location/line"))
    {
        let place = format!("{}:{line}  {}", String::from_utf8_lossy(file), text("/command/source").trim());
        lines.push(labelled(texts, "label-where", &place));
    }
    let note = incident.note.as_ref().map(Redacted::as_str).unwrap_or_default();
    if !note.is_empty() {
        lines.push(labelled(texts, "label-error", note.lines().next().unwrap_or_default()));
    }
    if let Some(cause) = first_cause(&report) {
        lines.push(labelled(texts, "label-why", &reason(texts, &cause)));
    }
    let open = !matches!(incident.status, Status::Healed | Status::Held);
    let facts: Vec<(String, String)> = report
        .get("context")
        .filter(|_| open)
        .and_then(|facts| serde_json::from_value(facts.clone()).ok())
        .unwrap_or_default();
    if let Some((why, command)) = hint(texts, &facts) {
        lines.push(labelled(texts, "label-hint", &why));
        lines.push(labelled(texts, "label-hint", &command));
    }
    lines
}

/// Whether an incident ended without a repair: then all tries are told, not the last one as if it were an offer.
fn left_to_a_person(state: &State) -> bool {
    matches!(state, State::HandedOver | State::Refused)
}

/// What was tried, what each try showed, and the best guess.
fn handed_over(texts: &Texts, incident: &Incident) -> Vec<String> {
    let tried = super::tries(incident).into_iter().map(|tried| {
        labelled(
            texts,
            "label-tried",
            &format!("{} ({}): {}", tried.what.trim_end_matches('.'), tried.by, tried.showed),
        )
    });
    let guess = super::best_guess(incident).map(|guess| labelled(texts, "label-guess", &guess));
    tried.chain(guess).collect()
}

/// The cause that a stored report names first.
#[must_use]
pub fn first_cause(report: &Value) -> Option<Cause> {
    serde_json::from_value(report.pointer("/causes/0")?.clone()).ok()
}

fn repair(texts: &Texts, round: &Round) -> Vec<String> {
    let mut lines: Vec<String> = round
        .summary
        .iter()
        .take(SENTENCES)
        .map(|sentence| labelled(texts, "label-repair", sentence.as_str()))
        .collect();
    let risk = round.risk.map(|risk| texts.say(&format!("risk-{}", risk.word()), &[]));
    if let Some(risk) = risk {
        lines.push(labelled(texts, "label-risk", &risk));
    }
    if let Some(shown) = &round.verification {
        let count = |wanted: &[Showed]| {
            shown.checks.iter().filter(|check| wanted.contains(&check.showed)).count().to_string()
        };
        let made = count(&[Showed::Passed, Showed::Failed, Showed::Inconclusive]);
        let passed = count(&[Showed::Passed]);
        let values = [("rung", shown.rung.as_str()), ("passed", passed.as_str()), ("n", made.as_str())];
        lines.push(labelled(texts, "label-proof", &texts.say("story-proof", &values)));
    }
    lines
}

/// What to do now. The line to approve comes last, by itself.
fn next(texts: &Texts, incident: &Incident) -> Vec<String> {
    let until = incident.answer_by.map(local_time).unwrap_or_default();
    let values = [("id", incident.id.short()), ("until", until.as_str())];
    let say = |id: &str| texts.say(id, &values);
    match (&incident.state, incident.answer_by) {
        (State::Held, Some(_)) => vec![say("message-look"), say("message-approve-until")],
        (State::Held, None) => vec![say("message-look"), say("message-approve")],
        _ => vec![say("message-show")],
    }
}
