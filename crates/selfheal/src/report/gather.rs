//! The figures of a report.

use std::collections::BTreeMap;

use selfheal_core::engine::State;
use selfheal_core::ids::Timestamp;
use selfheal_core::incident::{Incident, Status};
use selfheal_core::ports::Clock;
use selfheal_core::proposal::Risk;
use selfheal_core::usage::Usage;
use selfheal_core::verification::{Showed, Verdict};
use selfheal_store::Store;

use crate::clock::local_time;
use crate::command_error::CommandError;
use crate::context::Context;

/// The most incidents that a report counts.
const MOST: usize = 50_000;
/// Minutes of a person for a repair, when nothing is said.
const REPAIR_MINUTES: u64 = 30;
/// Minutes of a person for a failure that passed by a retry, when nothing is said.
const RETRY_MINUTES: u64 = 10;
/// Failures alike that are worth a real fix.
const OFTEN: usize = 2;

/// What happened in some days.
#[derive(Clone, Debug, Default)]
pub struct Week {
    /// The machine.
    pub host: String,
    /// From when.
    pub since: Timestamp,
    /// Until when.
    pub until: Timestamp,
    /// Failures in all.
    pub failures: usize,
    /// How many were repaired, by who made the repair.
    pub tiers: BTreeMap<String, usize>,
    /// How many passed by a retry.
    pub retried: usize,
    /// How many were not healed, by what became of them.
    pub others: BTreeMap<&'static str, usize>,
    /// Rounds of the repairs that were applied, and how many repairs.
    pub rounds: (usize, usize),
    /// Minutes saved: an estimate.
    pub minutes: u64,
    /// The minutes taken for a repair and for a retry.
    pub worth: (u64, u64),
    /// Tokens of models.
    pub tokens: u64,
    /// What each model took, in the order in which they were asked first.
    pub models: Vec<(String, Usage)>,
    /// Each day: healed, waiting, not healed.
    pub days: Vec<(String, [usize; 3])>,
    /// What waits for a decision now.
    pub waiting: Vec<Told>,
    /// What came again and again, with how often.
    pub again: Vec<(Told, usize)>,
    /// What would have been applied had it been allowed, with its proof and its job.
    pub would: Vec<(Told, Proof)>,
    /// What people wrote down.
    pub remarks: Vec<(Told, String)>,
    /// Messages that a channel never took.
    pub undelivered: u64,
}

/// What a report tells of one incident.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Its short identity.
    pub id: String,
    /// The command.
    pub command: String,
    /// The error, in one line.
    pub error: String,
}

/// What was shown of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Its risk.
    pub risk: Risk,
    /// Checks that passed, and that were made.
    pub passed: (usize, usize),
    /// What a person decided: the word of the state.
    pub state: &'static str,
    /// What `selfheal allow` takes.
    pub job: String,
}

/// Counts.
///
/// # Errors
/// When the store cannot be read.
pub fn gather(context: &Context, store: &Store, since: Timestamp) -> Result<Week, CommandError> {
    let until = context.clock.now();
    let incidents = store.incidents_since(since, MOST)?;
    let options = context.settings.report;
    let worth = (
        options.minutes_per_repair.unwrap_or(REPAIR_MINUTES),
        options.minutes_per_retry.unwrap_or(RETRY_MINUTES),
    );
    let mut week = Week { host: crate::notify::host(), since, until, worth, ..Week::default() };
    week.days = days(since, until).into_iter().map(|day| (day, [0; 3])).collect();
    for incident in &incidents {
        count(&mut week, incident);
    }
    week.minutes = week.rounds.1 as u64 * worth.0 + week.retried as u64 * worth.1;
    week.models = store.usage_by_model(since.0)?;
    let counted: u64 = week.models.iter().map(|(_, used)| used.tokens()).sum();
    week.tokens = week.tokens.max(counted);
    week.again = again(&incidents);
    week.undelivered = store.undelivered(since)?.iter().map(|one| one.messages).sum();
    Ok(week)
}

/// The days of a span of time, as people write them.
fn days(since: Timestamp, until: Timestamp) -> Vec<String> {
    const DAY_MS: usize = 86_400_000;
    let mut days: Vec<String> =
        (since.0..=until.0).step_by(DAY_MS).chain([until.0]).map(|at| day_of(Timestamp(at))).collect();
    days.dedup();
    days
}

fn day_of(at: Timestamp) -> String {
    local_time(at).split(' ').next().unwrap_or_default().to_owned()
}

fn count(week: &mut Week, incident: &Incident) {
    week.failures += 1;
    week.tokens = week.tokens.saturating_add(incident.tokens);
    let healed = matches!(incident.state, State::Watching | State::Confirmed | State::Applied);
    let retried = incident.status == Status::Retried;
    let waits = incident.state == State::Held;
    if retried {
        week.retried += 1;
    } else if healed && incident.status == Status::Healed {
        let tier = incident.rounds.last().and_then(|round| round.source.as_ref());
        *week.tiers.entry(tier.map_or("given", |source| source.tier()).to_owned()).or_default() += 1;
        week.rounds.0 += incident.rounds.len();
        week.rounds.1 += 1;
    } else {
        *week.others.entry(super::sections::standing(incident)).or_default() += 1;
    }
    let kind = if retried || healed {
        0
    } else if waits {
        1
    } else {
        2
    };
    let day = day_of(incident.opened);
    if let Some(count) =
        week.days.iter_mut().find(|(name, _)| *name == day).and_then(|(_, all)| all.get_mut(kind))
    {
        *count += 1;
    }
    if waits {
        week.waiting.push(told(incident));
    }
    week.would.extend(proof(incident).map(|proof| (told(incident), proof)));
    let remarks = incident.remarks.iter().map(|remark| (told(incident), remark.text.as_str().to_owned()));
    week.remarks.extend(remarks);
}

fn told(incident: &Incident) -> Told {
    let error = incident.note.as_ref().map(|note| note.as_str()).unwrap_or_default();
    Told {
        id: incident.id.short().to_owned(),
        command: incident.command.as_str().to_owned(),
        error: error.lines().next().unwrap_or_default().to_owned(),
    }
}

/// The proof of a repair that only lacked somebody's word: nothing held it but the policy.
fn proof(incident: &Incident) -> Option<Proof> {
    let round = incident.rounds.last()?;
    let shown = round.verification.as_ref().filter(|shown| shown.verdict == Verdict::Passed)?;
    let risk = round.risk.filter(|risk| *risk != Risk::High)?;
    let waited = matches!(incident.status, Status::Held)
        || matches!(incident.state, State::Held | State::Expired | State::Refused);
    let decided = incident.state == State::Refused;
    if !waited || decided || !incident.holds.is_empty() {
        return None;
    }
    let count =
        |wanted: &dyn Fn(Showed) -> bool| shown.checks.iter().filter(|check| wanted(check.showed)).count();
    Some(Proof {
        risk,
        passed: (count(&|showed| showed == Showed::Passed), count(&|showed| showed != Showed::NotTested)),
        state: incident.state.word(),
        job: job_of(incident),
    })
}

/// What `selfheal allow` takes for the job of an incident: its name, or its script.
fn job_of(incident: &Incident) -> String {
    let key = incident.job.as_str();
    let script =
        key.split_once(':').filter(|(uid, _)| !uid.is_empty() && uid.bytes().all(|b| b.is_ascii_digit()));
    let script = script.and_then(|(_, rest)| rest.rsplit_once('@')).map(|(script, _)| script);
    script.filter(|script| script.starts_with('/')).unwrap_or(key).to_owned()
}

/// Failures of one job that are alike, by how often they came.
fn again(incidents: &[Incident]) -> Vec<(Told, usize)> {
    let mut alike: BTreeMap<(&str, &str), (Told, usize)> = BTreeMap::new();
    for incident in incidents {
        let Some(signature) = &incident.signature else { continue };
        // The newest comes first, and is the one that is told.
        let entry =
            alike.entry((incident.job.as_str(), signature.as_str())).or_insert_with(|| (told(incident), 0));
        entry.1 += 1;
    }
    let mut often: Vec<(Told, usize)> = alike.into_values().filter(|(_, count)| *count >= OFTEN).collect();
    often.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.id.cmp(&other.0.id)));
    often
}
