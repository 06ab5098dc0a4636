//! A report in words: sections of lines, for every form.

use selfheal_core::engine::State;
use selfheal_core::incident::Incident;
use selfheal_core::usage::{Usage, money};

use super::gather::{Proof, Told, Week};
use crate::clock::local_time;
use crate::terminal::clean;
use crate::texts::Texts;

/// Lines of a section at most; the rest is counted.
const MOST: usize = 20;

/// A part of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// A line of a report. Texts are clean of what could act on a terminal; each form escapes for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A figure, and what it is of.
    Figure(String, String),
    /// A sentence.
    Text(String),
    /// One incident: identity, command, and the rest.
    Incident(String, String, String),
    /// Something to type.
    Command(String),
}

/// What became of an incident that was not healed, in one word.
#[must_use]
pub(super) fn standing(incident: &Incident) -> &'static str {
    match incident.state {
        State::RolledBack | State::Expired => incident.state.word(),
        _ => incident.status.word(),
    }
}

/// A report as sections; those that say nothing are left out.
#[must_use]
pub fn sections(week: &Week, texts: &Texts) -> Vec<Section> {
    let all = vec![
        overview(week, texts),
        incidents(texts, "report-waiting", &week.waiting, |_| String::new()),
        would(week, texts),
        models(week, texts),
        again(week, texts),
        remarks(week, texts),
    ];
    all.into_iter().filter(|section| !section.lines.is_empty()).collect()
}

/// The title of a report.
#[must_use]
pub fn title(week: &Week, texts: &Texts) -> String {
    let (since, until) = (local_time(week.since), local_time(week.until));
    texts.say("report-title", &[("host", &week.host), ("since", &since), ("until", &until)])
}

fn overview(week: &Week, texts: &Texts) -> Section {
    let mut lines = Vec::new();
    let mut figure = |id: &str, values: &[(&str, &str)], number: String| {
        lines.push(Line::Figure(texts.say(id, values), number));
    };
    figure("report-failures", &[], week.failures.to_string());
    for (tier, count) in &week.tiers {
        let word = texts.say(&format!("tier-{tier}"), &[]);
        figure("report-healed-by", &[("tier", &word)], count.to_string());
    }
    figure("report-retried", &[], week.retried.to_string());
    for (word, count) in &week.others {
        figure(&format!("report-was-{}", word.replace('_', "-")), &[], count.to_string());
    }
    if week.rounds.1 > 0 {
        figure("report-rounds", &[], format!("{:.1}", week.rounds.0 as f64 / week.rounds.1 as f64));
    }
    figure(
        "report-saved",
        &[],
        texts.say("report-hours", &[("hours", &format!("{:.1}", week.minutes as f64 / 60.0))]),
    );
    if week.tokens > 0 {
        figure("report-tokens", &[], week.tokens.to_string());
    }
    let cost = week.models.iter().fold(0u64, |sum, (_, used)| sum.saturating_add(used.cost));
    if cost > 0 {
        figure("report-cost", &[], money(cost));
    }
    if week.undelivered > 0 {
        figure("report-undelivered", &[], week.undelivered.to_string());
    }
    let (repair, retry) = (week.worth.0.to_string(), week.worth.1.to_string());
    lines.push(Line::Text(texts.say("report-saved-how", &[("repair", &repair), ("retry", &retry)])));
    Section { title: texts.say("report-overview", &[]), lines }
}

fn incidents(texts: &Texts, title: &str, all: &[Told], more: impl Fn(usize) -> String) -> Section {
    let mut lines: Vec<Line> = all
        .iter()
        .enumerate()
        .take(MOST)
        .map(|(at, told)| {
            let rest = format!("{}{}", clean(&told.error), more(at));
            Line::Incident(told.id.clone(), clean(&told.command), rest)
        })
        .collect();
    if all.len() > MOST {
        lines.push(Line::Text(texts.say("message-more", &[("n", &(all.len() - MOST).to_string())])));
    }
    Section { title: texts.say(title, &[]), lines }
}

/// What would have been applied, with its proof; then a line to allow each job.
fn would(week: &Week, texts: &Texts) -> Section {
    let told: Vec<Told> = week.would.iter().map(|(told, _)| told.clone()).collect();
    let proof = |at: usize| match week.would.get(at) {
        Some((_, proof)) => format!(" – {}", proof_words(proof, texts)),
        None => String::new(),
    };
    let mut section = incidents(texts, "report-would", &told, proof);
    let mut jobs: Vec<(&str, &str)> = Vec::new();
    for (_, proof) in &week.would {
        match jobs.iter_mut().find(|(job, _)| *job == proof.job) {
            // `medium` comes after `low` in the alphabet, too.
            Some((_, risk)) => *risk = (*risk).max(proof.risk.word()),
            None => jobs.push((&proof.job, proof.risk.word())),
        }
    }
    if !jobs.is_empty() {
        section.lines.push(Line::Text(texts.say("report-allow", &[])));
    }
    for (job, risk) in jobs.into_iter().take(MOST) {
        let word = crate::driver_command_line(&[clean(job).into()]);
        section.lines.push(Line::Command(format!("selfheal allow {word} --up-to {risk}")));
    }
    section
}

/// What each model took, and what that cost.
fn models(week: &Week, texts: &Texts) -> Section {
    let line = |(model, used): &(String, Usage)| {
        let (calls, tokens, cost) = (used.calls.to_string(), used.tokens().to_string(), money(used.cost));
        let values = [("n", calls.as_str()), ("tokens", tokens.as_str()), ("cost", cost.as_str())];
        Line::Figure(clean(model), texts.say("report-model", &values))
    };
    let mut lines: Vec<Line> = week.models.iter().take(MOST).map(line).collect();
    if week.models.iter().any(|(_, used)| used.tokens() > 0 && used.cost == 0) {
        lines.push(Line::Text(texts.say("report-no-price", &[])));
    }
    Section { title: texts.say("report-models", &[]), lines }
}

fn proof_words(proof: &Proof, texts: &Texts) -> String {
    let (passed, made) = (proof.passed.0.to_string(), proof.passed.1.to_string());
    let risk = texts.say(&format!("risk-{}", proof.risk.word()), &[]);
    let values = [
        ("passed", passed.as_str()),
        ("made", made.as_str()),
        ("risk", risk.as_str()),
        ("state", proof.state),
    ];
    texts.say("report-proof", &values)
}

fn again(week: &Week, texts: &Texts) -> Section {
    let told: Vec<Told> = week.again.iter().map(|(told, _)| told.clone()).collect();
    let times = |at: usize| {
        let count = week.again.get(at).map_or(0, |(_, count)| *count).to_string();
        format!(" – {}", texts.say("report-times", &[("n", &count)]))
    };
    incidents(texts, "report-again", &told, times)
}

fn remarks(week: &Week, texts: &Texts) -> Section {
    let line =
        |(told, text): &(Told, String)| Line::Incident(told.id.clone(), clean(&told.command), clean(text));
    Section {
        title: texts.say("report-notes", &[]),
        lines: week.remarks.iter().take(MOST).map(line).collect(),
    }
}
