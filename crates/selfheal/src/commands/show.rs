//! `selfheal show`: one incident, whole.

use std::fmt::Write;

use selfheal_core::diagnosis::Diagnosis;
use selfheal_core::engine::State;
use selfheal_core::incident::{Incident, Round};
use selfheal_core::ports::Journal;
use selfheal_core::proposal::Source;
use selfheal_core::redact::Redacted;
use selfheal_core::verification::Showed;

use super::{Ended, print};
use crate::cli::ShowArgs;
use crate::clock::local_time;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::pace::Pace;
use crate::terminal::clean;

/// Prints an incident, or only its patch, or what was sent to a model for it.
///
/// # Errors
/// When there is no such incident.
pub fn run(context: &Context, args: &ShowArgs) -> Ended {
    let store = context.store()?;
    let incident = store.incident(&args.id)?;
    if args.patch {
        print(patch(&incident)?);
    } else if args.sent {
        print_sent(&store, &incident)?;
    } else if args.json {
        let text = serde_json::to_string_pretty(&incident)
            .map_err(|error| CommandError::new("failed to write JSON").because(&error))?;
        print(&format!("{text}\n"));
    } else {
        print(&whole(&incident, Pace::of(&store, &incident.job)));
        print(&usage(&store, &incident)?);
    }
    Ok(exit_code::OK)
}

fn patch(incident: &Incident) -> Result<&str, CommandError> {
    incident.rounds.last().and_then(|round| round.diff.as_ref()).map(Redacted::as_str).ok_or_else(|| {
        CommandError::new(format!("incident {} has no patch", incident.id.short()))
            .hint(format!("selfheal show {}", incident.id.short()))
    })
}

fn print_sent(store: &selfheal_store::Store, incident: &Incident) -> Result<(), CommandError> {
    let sent = store.sent(&incident.id)?;
    if sent.is_empty() {
        print("nothing was sent to a model\n");
    }
    for body in sent {
        print(&format!("{body}\n"));
    }
    Ok(())
}

/// The whole incident as text.
fn whole(incident: &Incident, pace: Option<Pace>) -> String {
    let mut out = String::new();
    let mut line = |label: &str, text: &str| {
        let _ = writeln!(out, "{label:<10} {}", clean(text));
    };
    line("incident", incident.id.as_str());
    line("command", incident.command.as_str());
    line("folder", &incident.cwd.display().to_string());
    line("opened", &local_time(incident.opened));
    line("status", super::incidents::standing(incident));
    line("state", incident.state.word());
    line("exit code", &incident.exit_code.to_string());
    if let Some(note) = &incident.note {
        line("error", note.as_str().lines().next().unwrap_or_default());
    }
    for hold in &incident.holds {
        line("held", hold.word());
    }
    if let Some(until) = incident.answer_by {
        line("answer by", &local_time(until));
    }
    if let Some(first) = &incident.one_of {
        line("one of", first.short());
    }
    for remark in &incident.remarks {
        line("note", &format!("{} {}", local_time(remark.at), remark.text));
    }
    out.push_str(&report(incident, pace));
    if matches!(incident.state, State::HandedOver | State::Refused) && !incident.rounds.is_empty() {
        out.push_str(&handed_over(incident));
    }
    for round in &incident.rounds {
        out.push_str(&one_round(round));
    }
    out
}

/// What was tried, what each try showed, and the best guess: for whoever takes over.
fn handed_over(incident: &Incident) -> String {
    let mut out = String::new();
    for tried in crate::driver::tries(incident) {
        let what = format!("{} ({}): {}", tried.what.trim_end_matches('.'), tried.by, tried.showed);
        let _ = writeln!(out, "{:<10} {}", "tried", clean(&what));
    }
    if let Some(guess) = crate::driver::best_guess(incident) {
        let _ = writeln!(out, "{:<10} {}", "best guess", clean(&guess));
    }
    out
}

/// What models took, a line each.
fn usage(store: &selfheal_store::Store, incident: &Incident) -> Result<String, CommandError> {
    let mut out = String::new();
    for (model, used) in store.usage_of(&incident.id)? {
        let calls = if used.calls == 1 { "1 call".to_owned() } else { format!("{} calls", used.calls) };
        let _ = writeln!(
            out,
            "{:<10} {}: {calls}, {} tokens read and {} written, {:.1} s, {} of money",
            "model",
            clean(&model),
            used.input_tokens,
            used.output_tokens,
            used.millis as f64 / 1_000.0,
            selfheal_core::usage::money(used.cost)
        );
    }
    Ok(out)
}

fn report(incident: &Incident, pace: Option<Pace>) -> String {
    let mut out = String::new();
    let value = incident
        .report
        .as_ref()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(text.as_str()).ok());
    let Some(value) = value else { return out };
    let text = |pointer: &str| value.pointer(pointer).and_then(serde_json::Value::as_str).map(clean);
    let file = text("/location/file").filter(|file| !file.is_empty());
    if let (Some(file), Some(line)) = (file, value.pointer("/location/line")) {
        let _ = writeln!(out, "{:<10} {file}:{line}", "where");
    }
    if let Some(class) = text("/class") {
        let _ = writeln!(out, "{:<10} {class}", "class");
    }
    for cause in value.pointer("/causes").and_then(serde_json::Value::as_array).into_iter().flatten() {
        let cause = cause.get("text").and_then(serde_json::Value::as_str).unwrap_or_default();
        let _ = writeln!(out, "{:<10} {}", "cause", clean(cause));
    }
    out.push_str(&missing_package(&value));
    out.push_str(&at_deadline(&value));
    let timed_out = text("/faults/0/fault").is_some_and(|fault| fault == "timed_out");
    if let Some(pace) = pace.filter(|_| timed_out) {
        let (runs, longest) = (pace.runs, pace.longest.as_secs_f64());
        let _ = writeln!(
            out,
            "{:<10} the longest of {runs} good runs took {longest:.1} s: --deadline {} would let it pass",
            "suggestion",
            pace.suggestion()
        );
    }
    out
}

/// The package that would bring what is missing, and the command: those facts of the report.
fn missing_package(report: &serde_json::Value) -> String {
    let facts: Vec<(String, String)> = report
        .get("context")
        .and_then(|facts| serde_json::from_value(facts.clone()).ok())
        .unwrap_or_default();
    let of_package = facts
        .iter()
        .filter(|(name, _)| name.starts_with("package") && name != crate::driver_package_fact::SETTING);
    of_package
        .map(|(name, text)| {
            let label = name.strip_prefix("package ").unwrap_or(name);
            format!("{:<10} {}: {}\n", "package", clean(label), clean(text))
        })
        .collect()
}

/// What was going on when the deadline hit, and what stands in logs: those facts of the report.
fn at_deadline(report: &serde_json::Value) -> String {
    let context = report.pointer("/context").and_then(serde_json::Value::as_array);
    let facts = context
        .into_iter()
        .flatten()
        .filter_map(|fact| Some((fact.get(0)?.as_str()?, fact.get(1)?.as_str()?)));
    facts
        .filter_map(|(name, text)| match name.strip_prefix("at the deadline, ") {
            Some(name) => Some(("deadline", name, text)),
            None => Some(("log", name.strip_prefix("log ")?, text)),
        })
        .map(|(label, name, text)| {
            format!("{label:<10} {}: {}\n", clean(name), clean(&text.replace('\n', " | ")))
        })
        .collect()
}

fn one_round(round: &Round) -> String {
    let mut out = format!("\nround {}", round.number);
    if let Some(source) = &round.source {
        let _ = write!(out, ", by {} ({})", clean(&crate::driver_maker(source)), source.tier());
    }
    if let Some(risk) = round.risk {
        let _ = write!(out, ", risk {}", risk.word());
    }
    out.push('\n');
    for line in &round.summary {
        let _ = writeln!(out, "  {}", clean(line.as_str()));
    }
    out.push_str(&knowledge(round));
    for finding in round.admission.iter().flat_map(|judged| &judged.findings) {
        let _ = writeln!(out, "  guard: {}: {}", finding.rule, clean(&finding.why));
    }
    if let Some(shown) = &round.verification {
        let _ = writeln!(out, "  proof in a box ({}):", shown.rung);
        for check in &shown.checks {
            let _ = writeln!(
                out,
                "    {:<12} {}: {}",
                showed(check.showed),
                clean(&check.title),
                clean(&check.why)
            );
        }
    }
    if let Some(diff) = &round.diff {
        for line in diff.as_str().lines() {
            let _ = writeln!(out, "  {}", clean(line));
        }
    }
    out
}

/// The passages that the question to a model held, and what the diagnosis rests on.
fn knowledge(round: &Round) -> String {
    let diagnosis: Option<Diagnosis> =
        round.diagnosis.as_ref().and_then(|text| serde_json::from_str(text.as_str()).ok());
    let by_model = matches!(round.source, Some(Source::Model { .. }));
    let mut out = String::new();
    if let Some(diagnosis) = diagnosis.filter(|_| by_model) {
        let _ = writeln!(out, "  rests on: {} knowledge", diagnosis.basis.word());
    }
    for piece in &round.knowledge {
        let lines = match (piece.first_line, piece.last_line) {
            (0, _) => String::new(),
            (first, last) => format!(":{first}-{last}"),
        };
        let rests = if piece.rests_on { "the repair uses it" } else { "shown" };
        let (path, heading) = (clean(piece.path.as_str()), clean(piece.heading.as_str()));
        let _ = writeln!(out, "    {rests:<18} {path}{lines} ({}) {heading}", piece.kind.word());
    }
    out
}

fn showed(showed: Showed) -> &'static str {
    match showed {
        Showed::Passed => "passed",
        Showed::Failed => "failed",
        Showed::Inconclusive => "inconclusive",
        Showed::NotTested => "not tested",
    }
}
