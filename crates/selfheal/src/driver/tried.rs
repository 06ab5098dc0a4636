//! What was tried in an incident and what each try showed, in lines for the person who takes over; and the best guess at the
//! cause, so that nobody begins at nothing.

use selfheal_core::diagnosis::Diagnosis;
use selfheal_core::incident::{Incident, Round};
use selfheal_core::verification::{Showed, Verdict};
use serde_json::Value;

/// A try: what was to be changed, by whom, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Who made it.
    pub by: String,
    /// What was to be changed.
    pub what: String,
    /// What it showed.
    pub showed: String,
}

/// The tries of an incident, in their order.
#[must_use]
pub fn tries(incident: &Incident) -> Vec<Tried> {
    incident.rounds.iter().filter_map(of_round).collect()
}

fn of_round(round: &Round) -> Option<Tried> {
    let by = round.source.as_ref().map(super::maker).unwrap_or_default();
    let what = diagnosis(round).map(|diagnosis| diagnosis.strategy);
    let what = what.or_else(|| round.summary.first().map(|line| line.as_str().to_owned()))?;
    Some(Tried { by, what, showed: why_failed(round) })
}

/// Why a round did not work: the guard's reason, else the first check that did not hold.
pub fn why_failed(round: &Round) -> String {
    let refused = round.admission.as_ref().filter(|judged| judged.refused).and_then(|judged| {
        judged.findings.iter().max_by_key(|finding| finding.weight).map(|finding| finding.why.clone())
    });
    let shown = |wanted: Showed| {
        let checks = round.verification.iter().flat_map(|shown| &shown.checks);
        checks
            .filter(|check| check.showed == wanted)
            .map(|check| format!("{}: {}", check.title, check.why))
            .next()
    };
    refused
        .or_else(|| shown(Showed::Failed))
        .or_else(|| shown(Showed::Inconclusive))
        .unwrap_or_else(|| "it could not be shown to work".to_owned())
}

/// The likeliest cause: that of the last diagnosis whose repair was not shown to be wrong, else the report's first.
#[must_use]
pub fn best_guess(incident: &Incident) -> Option<String> {
    let stands = |round: &&Round| {
        let verdict = round.verification.as_ref().map(|shown| shown.verdict);
        verdict != Some(Verdict::Failed) && !round.admission.as_ref().is_some_and(|judged| judged.refused)
    };
    let report: Value = serde_json::from_str(incident.report.as_ref()?.as_str()).unwrap_or_default();
    let cause = report.pointer("/causes/0/text").and_then(Value::as_str).map(str::to_owned);
    let last = incident.rounds.iter().rev().find(stands).and_then(diagnosis).map(|found| found.root_cause);
    let any = || incident.rounds.last().and_then(diagnosis).map(|found| found.root_cause);
    last.or(cause).or_else(any)
}

fn diagnosis(round: &Round) -> Option<Diagnosis> {
    serde_json::from_str(round.diagnosis.as_ref()?.as_str()).ok()
}
