//! Learning from what came of repairs: proven ones are remembered, what is recalled is checked against what the machine is
//! now, and what worked and what did not is counted per class of failure and tool.

use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::incident::{Incident, Status};
use selfheal_core::ports::{
    Clock, Conditions, Count, Memory, PortError, Priors, Remembered, Tally, TallyKey,
};
use selfheal_core::proposal::Source;
use selfheal_core::report::Report;
use selfheal_repair::{Candidate, Case, ScriptFile, mended_causes};
use selfheal_store::Store;

use super::Healer;
use crate::cli::Part;

/// A count speaks once it has this many cases.
const SPEAKS: u32 = 3;

impl Healer<'_> {
    /// Remembers the repair that is in place and ran well, or counts a win for the entry that it came from. What cannot
    /// be remembered is no reason to fail.
    pub(super) fn remember(&self) {
        let (Some(kept), Some(report)) = (&self.chosen, &self.report) else { return };
        if self.leaves_out(Part::Memory)
            || self.incident.status != Status::Healed
            || self.incident.exit_code != 0
        {
            return;
        }
        note(settled(self.tools.store, report, &kept.candidate.proposal.source, Count::Win));
        if matches!(kept.candidate.proposal.source, Source::Memory { .. }) {
            return;
        }
        let Some(script) = &self.job.script else { return };
        // Only what changed the script alone fits the form of a memory.
        let [change] = kept.candidate.proposal.changes.as_slice() else { return };
        if change.path != *script {
            return;
        }
        let before = change.before.as_deref().unwrap_or_default();
        let file = ScriptFile::new(script.clone(), String::from_utf8_lossy(before).into_owned(), 0);
        let Some(edits) = selfheal_repair::lesson(&self.case(report, Some(&file)), change) else { return };
        // Memory is kept as it is: what holds a secret does not go in.
        let secret = |text: &String| self.tools.redactor.text(text).as_str() != text;
        if edits.iter().any(|(old, new)| secret(old) || secret(new)) {
            return;
        }
        // A repair that was taken back once and found again is the same one: what it lost stays with it.
        let known = self.tools.store.memories().unwrap_or_default().into_iter().find(|other| {
            other.signature == report.signature && other.script == *script && other.edits == edits
        });
        let (entry, wins, losses) = match known {
            Some(known) => (known.entry, known.wins.saturating_add(1), known.losses),
            None => (self.tools.context.clock.fresh_id(), 1, 0),
        };
        note(self.tools.store.remember(&Remembered {
            entry,
            signature: report.signature.clone(),
            script: script.clone(),
            edits,
            summary: self.tools.redactor.text(&kept.candidate.diagnosis.strategy).to_string(),
            wins,
            losses,
            conditions: Conditions {
                language: language(&file),
                tool: self.tool(),
                incident: Some(self.incident.id.clone()),
                learnt: self.tools.context.clock.now(),
                expired: None,
            },
        }));
    }

    /// What is remembered of a failure, as candidates. What no longer fits its own script, or was learnt with another
    /// version of the tool, expires.
    pub(super) fn remembered(&self, report: &Report, script: Option<&ScriptFile>) -> Vec<Candidate> {
        let Some(script) = script.filter(|_| !self.leaves_out(Part::Memory)) else { return Vec::new() };
        let entries = self.tools.store.recall(&report.signature, &script.path, &language(script));
        let entries = entries.unwrap_or_else(|error| {
            tracing::warn!(%error, "memory cannot be read");
            Vec::new()
        });
        let case = self.case(report, Some(script));
        let tool = self.tool();
        let (good, gone): (Vec<Remembered>, Vec<Remembered>) =
            entries.into_iter().partition(|entry| expiry(&case, entry, &tool).is_none());
        for entry in &gone {
            if let Some(why) = expiry(&case, entry, &tool) {
                note(self.tools.store.expire(&entry.entry, &why));
            }
        }
        selfheal_repair::recalled(&case, &good)
    }

    pub(super) fn case<'c>(&'c self, report: &'c Report, script: Option<&'c ScriptFile>) -> Case<'c> {
        Case {
            job: self.job,
            argv: &self.job.argv,
            report,
            script,
            trace: self.trace.as_ref(),
            scene: &self.scene,
        }
    }

    /// The interpreter with its version, as far as it is known.
    fn tool(&self) -> String {
        let facts = crate::environment::of_job(self.tools.context, self.job, &self.env());
        let program = facts.program.as_ref();
        program.and_then(|program| program.version.clone()).unwrap_or_default()
    }

    /// A repair that failed when it was tried counts against who made it.
    pub(super) fn note_failed(&self, candidate: &Candidate) {
        let Some(report) = self.report.as_ref().filter(|_| !self.leaves_out(Part::Memory)) else { return };
        note(settled(self.tools.store, report, &candidate.proposal.source, Count::Loss));
    }

    /// Candidates in the order of what worked before for this class and tool; those without a count stay where they are.
    pub(super) fn by_experience(&self, report: &Report, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
        let tallies = self.tallies(report);
        candidates.sort_by_key(|candidate| match &candidate.proposal.source {
            Source::Rules { names } => names.iter().map(|name| -standing(&tallies, "rule", name)).max(),
            _ => None,
        });
        candidates
    }

    /// The causes of a report in the order of what was true before.
    pub(super) fn order_causes(&self, report: &mut Report) {
        let tallies = self.tallies(report);
        report.causes.sort_by_key(|cause| -standing(&tallies, "cause", &cause.id));
    }

    fn tallies(&self, report: &Report) -> Vec<Tally> {
        if self.leaves_out(Part::Memory) {
            return Vec::new();
        }
        let (class, tool) = (report.class.word(), tool_of(report));
        let mut tallies = self.tools.store.tallies().unwrap_or_default();
        tallies.retain(|tally| tally.key.class == class && tally.key.tool == tool);
        tallies
    }
}

/// Why an entry is not to be tried any more, if it is so.
fn expiry(case: &Case, entry: &Remembered, tool: &str) -> Option<String> {
    let learnt = &entry.conditions.tool;
    if !learnt.is_empty() && !tool.is_empty() && learnt != tool {
        return Some(format!("the tool changed: {learnt} became {tool}"));
    }
    let own = case.script.is_some_and(|script| script.path == entry.script);
    (own && !selfheal_repair::fits(case, entry)).then(|| "the script has changed".to_owned())
}

/// What a count says: 1 where it was always right, -1 where it was mostly wrong, 0 where nothing can be said.
fn standing(tallies: &[Tally], kind: &str, name: &str) -> i32 {
    let found = tallies.iter().find(|tally| tally.key.kind == kind && tally.key.name == name);
    match found.map(|tally| (tally.won, tally.lost)) {
        Some((won, 0)) if won >= SPEAKS => 1,
        Some((won, lost)) if won + lost >= SPEAKS && lost > won.saturating_mul(2) => -1,
        _ => 0,
    }
}

/// The command that failed, without its folder.
fn tool_of(report: &Report) -> String {
    let word = report.command.as_ref().and_then(|command| command.words.first());
    let name = word.map(|word| word.rsplit('/').next().unwrap_or(word)).unwrap_or_default();
    name.chars().filter(|c| !c.is_control()).take(40).collect()
}

/// Counts what came of a repair: for who made it, and for the causes that it mends.
fn settled(store: &Store, report: &Report, source: &Source, count: Count) -> Result<(), PortError> {
    let key = |kind: &str, name: &str| TallyKey {
        class: report.class.word().to_owned(),
        tool: tool_of(report),
        kind: kind.to_owned(),
        name: name.to_owned(),
    };
    match source {
        Source::Memory { entry } => {
            store.count(entry, count)?;
            store.tally(&key("memory", "remembered"), count)
        }
        Source::Model { name } => store.tally(&key("model", name), count),
        Source::Given => Ok(()),
        Source::Rules { names } => {
            for name in names {
                store.tally(&key("rule", name), count)?;
            }
            let mended: Vec<&str> = names.iter().flat_map(|name| mended_causes(name)).copied().collect();
            // A repair that failed says nothing about causes; one that worked speaks against those that it does not mend.
            for cause in report.causes.iter().filter(|_| count == Count::Win && !mended.is_empty()) {
                store.tally(&key("cause", &cause.id), mended.contains(&cause.id.as_str()).into())?;
            }
            Ok(())
        }
    }
}

/// A repair was taken back or rejected: that counts at once, against the entry that it came from, against what it taught, and
/// against its maker.
pub fn taken_back(store: &Store, incident: &Incident) {
    came_of(store, incident, Count::Loss);
}

/// A repair that was taken back was put in place again: what counted against it counts no more.
pub fn put_back_in(store: &Store, incident: &Incident) {
    came_of(store, incident, Count::LossUndone);
}

fn came_of(store: &Store, incident: &Incident, count: Count) {
    note(store.count_taught(&incident.id, count).map(|_| ()));
    let source = incident.rounds.last().and_then(|round| round.source.clone());
    let report = incident.report.as_ref().and_then(|text| serde_json::from_str::<Report>(text.as_str()).ok());
    if let (Some(source), Some(report)) = (source, report) {
        note(settled(store, &report, &source, count));
    }
}

fn note(done: Result<(), PortError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "what came of a repair could not be remembered");
    }
}

/// A fresh entry from another machine: what it won there is kept as one win, and it goes through admission and proof.
#[must_use]
pub fn imported(entry: Remembered, id: String, now: Timestamp) -> Remembered {
    let conditions =
        Conditions { incident: None::<IncidentId>, learnt: now, expired: None, ..entry.conditions };
    Remembered { entry: id, wins: 1, losses: 0, conditions, ..entry }
}

fn language(script: &ScriptFile) -> String {
    format!("{:?}", script.language).to_lowercase()
}
