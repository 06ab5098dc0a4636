//! An incident as lines with tones: what failed and why, the repair, its effects, what was shown, the difference.

use selfheal_core::incident::{Incident, Round};
use selfheal_core::redact::Redacted;
use selfheal_core::verification::Showed;
use serde_json::Value;

use super::colours::diff_lines;
use super::queue::Item;
use crate::clock::local_time;
use crate::terminal::{clean, reason, shown_path};
use crate::texts::Texts;

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Bold,
    Dim,
    Good,
    Bad,
    Doubt,
    Added,
    AddedBold,
    AddedText,
    Removed,
    RemovedBold,
    RemovedText,
    Text,
    Number,
}

/// A line of pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) pieces: Vec<(Tone, String)>,
    /// Columns in front of the rest of the line where it does not fit.
    pub(super) indent: usize,
}

impl Line {
    pub(super) fn toned(tone: Tone, text: &str) -> Self {
        Self { pieces: vec![(tone, text.to_owned())], indent: 0 }
    }

    pub(super) fn push(&mut self, tone: Tone, text: &str) {
        if !text.is_empty() {
            self.pieces.push((tone, text.to_owned()));
        }
    }

    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// Columns that labels have.
const LABEL: usize = 9;

/// The whole page of an item.
pub(super) fn page(item: &Item, texts: &Texts) -> Vec<Line> {
    let incident = &item.incident;
    let mut lines = Vec::new();
    if item.changed {
        lines.push(Line::toned(Tone::Bad, &texts.say("review-changed", &[])));
    }
    lines.extend(failure(incident, texts));
    if let Some(round) = incident.rounds.last() {
        lines.extend(repair(round, texts));
        lines.extend(effects(round, texts));
        lines.extend(checks(round, texts));
        lines.push(Line::default());
        lines.extend(diff_lines(round.diff.as_ref().map(Redacted::as_str).unwrap_or_default()));
    }
    lines
}

fn labelled(texts: &Texts, label: &str, tone: Tone, text: &str) -> Line {
    let label = texts.say(label, &[]);
    let room = LABEL.saturating_sub(width(&label));
    let mut line = Line::toned(Tone::Bold, &format!("{label}{}", " ".repeat(room.max(1))));
    line.push(tone, &clean(text));
    line.indent = LABEL;
    line
}

/// Columns of a label: those of other scripts take two each.
fn width(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

fn failure(incident: &Incident, texts: &Texts) -> Vec<Line> {
    let report: Value = incident
        .report
        .as_ref()
        .and_then(|text| serde_json::from_str(text.as_str()).ok())
        .unwrap_or_default();
    let text = |pointer: &str| report.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let plain = |label: &str, text: &str| labelled(texts, label, Tone::Plain, text);
    let when = format!("{}  {}", local_time(incident.opened), incident.cwd.display());
    let mut lines = vec![plain("label-job", incident.command.as_str()), plain("label-when", &when)];
    if let Some(line) = report.pointer("/location/line").filter(|_| !text("/location/file").is_empty()) {
        lines.push(plain("label-where", &format!("{}:{line}", text("/location/file"))));
    }
    let error = incident.note.as_ref().map(Redacted::as_str).unwrap_or_default();
    lines.push(labelled(texts, "label-error", Tone::Bad, error.lines().next().unwrap_or_default()));
    if let Some(cause) = crate::driver::first_cause(&report) {
        lines.push(plain("label-why", &reason(texts, &cause)));
    }
    for hold in &incident.holds {
        let why = texts.say(&format!("hold-{}", hold.word().replace('_', "-")), &[]);
        lines.push(labelled(texts, "label-held", Tone::Doubt, &why));
    }
    if let Some(until) = incident.answer_by {
        lines.push(labelled(texts, "label-until", Tone::Doubt, &local_time(until)));
    }
    for remark in &incident.remarks {
        lines.push(plain("label-note", remark.text.as_str()));
    }
    lines
}

fn repair(round: &Round, texts: &Texts) -> Vec<Line> {
    let source = round.source.as_ref().map(crate::driver_maker).unwrap_or_default();
    let risk = round.risk.map(|risk| texts.say(&format!("risk-{}", risk.word()), &[])).unwrap_or_default();
    let n = round.admission.as_ref().map_or(0, |judged| judged.changed_lines).to_string();
    let values = [("source", source.as_str()), ("risk", risk.as_str()), ("n", n.as_str())];
    let mut lines = vec![labelled(texts, "label-repair", Tone::Bold, &texts.say("story-repair", &values))];
    for sentence in &round.summary {
        lines.push(labelled(texts, "label-blank", Tone::Plain, sentence.as_str()));
    }
    for finding in round.admission.iter().flat_map(|judged| &judged.findings) {
        let text = format!("{}: {}", finding.rule, finding.why);
        lines.push(labelled(texts, "label-guard", Tone::Doubt, &text));
    }
    lines
}

/// What would be changed by applying it, and what the repaired job did in its box.
fn effects(round: &Round, texts: &Texts) -> Vec<Line> {
    let mut lines: Vec<Line> = round
        .files
        .iter()
        .map(|file| {
            let word = match (&file.before, &file.after) {
                (None, _) => "try-created",
                (_, None) => "try-deleted",
                _ => "try-changed",
            };
            let text = format!("{} {}", texts.say(word, &[]), shown_path(&file.path));
            labelled(texts, "label-changes", Tone::Plain, &text)
        })
        .collect();
    lines.extend(
        round.effects.iter().map(|effect| labelled(texts, "label-effect", Tone::Dim, effect.as_str())),
    );
    lines
}

fn checks(round: &Round, texts: &Texts) -> Vec<Line> {
    let Some(shown) = &round.verification else { return Vec::new() };
    let passed = shown.checks.iter().filter(|check| check.showed == Showed::Passed).count().to_string();
    let made = shown.checks.iter().filter(|check| check.showed != Showed::NotTested).count().to_string();
    let values = [("rung", shown.rung.as_str()), ("passed", passed.as_str()), ("n", made.as_str())];
    let mut lines = vec![labelled(texts, "label-proof", Tone::Bold, &texts.say("story-proof", &values))];
    for check in &shown.checks {
        let (mark, tone) = match check.showed {
            Showed::Passed => ("✓", Tone::Good),
            Showed::Failed => ("✗", Tone::Bad),
            Showed::Inconclusive => ("?", Tone::Doubt),
            Showed::NotTested => ("–", Tone::Dim),
        };
        let mut line = Line::toned(tone, &format!("{}{mark} ", " ".repeat(LABEL)));
        line.push(tone, &clean(&check.title));
        line.push(Tone::Dim, &format!(": {}", clean(&check.why)));
        line.indent = LABEL + 2;
        lines.push(line);
    }
    lines
}
