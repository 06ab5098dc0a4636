//! Settings as the engine sees them: resolved, without layers or provenance.

use serde::{Deserialize, Serialize};

use crate::proposal::Risk;
use crate::usage::Caps;

/// What happens unattended with a verified repair of one risk. Never is one applied because nobody answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Answer {
    /// Put it in.
    Apply,
    /// Leave it ready for a person.
    Park,
    /// Leave it ready for a person for so many milliseconds; then it expires.
    Wait(u64),
    /// Drop it.
    Deny,
}

/// The units of `wait 2h`, in milliseconds.
const UNITS: [(&str, u64); 4] = [("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
/// The longest wait, in milliseconds: thirty days.
const LONGEST_WAIT_MS: u64 = 30 * 86_400_000;

/// A text that is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is none of: apply, park, deny, wait 2h (a number with s, m, h or d; at most 30d)")]
pub struct NoAnswer(String);

impl TryFrom<String> for Answer {
    type Error = NoAnswer;

    fn try_from(text: String) -> Result<Self, NoAnswer> {
        match text.as_str() {
            "apply" => Ok(Self::Apply),
            "park" => Ok(Self::Park),
            "deny" => Ok(Self::Deny),
            other => other.strip_prefix("wait ").and_then(wait_of).map(Self::Wait).ok_or(NoAnswer(text)),
        }
    }
}

/// A length of time such as `90m`.
fn wait_of(text: &str) -> Option<u64> {
    let text = text.trim();
    let (unit, factor) = UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
    let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
    number.checked_mul(*factor).filter(|ms| (1..=LONGEST_WAIT_MS).contains(ms))
}

impl From<Answer> for String {
    fn from(answer: Answer) -> Self {
        answer.to_string()
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Apply => f.write_str("apply"),
            Self::Park => f.write_str("park"),
            Self::Deny => f.write_str("deny"),
            Self::Wait(ms) => {
                let whole = UNITS.iter().rev().find(|(_, factor)| ms % factor == 0);
                let (unit, factor) = whole.unwrap_or(&("s", 1_000));
                write!(f, "wait {}{unit}", ms.div_ceil(*factor))
            }
        }
    }
}

/// What is allowed unattended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// For repairs of low risk.
    pub low: Answer,
    /// For repairs of medium risk.
    pub medium: Answer,
    /// For repairs of high risk; [`Answer::Apply`] is treated as [`Answer::Park`], whoever set it.
    pub high: Answer,
    /// Whether it was given on the command line (`--apply`): sets aside the holds that come from circumstance, and
    /// does not count against the daily limit.
    pub given_now: bool,
}

impl Policy {
    /// Where nobody ever said anything: propose, notify, change nothing.
    pub const PARK: Self =
        Self { low: Answer::Park, medium: Answer::Park, high: Answer::Park, given_now: false };

    /// The policy of `--apply none|low|medium`.
    #[must_use]
    pub fn apply_up_to(limit: Option<Risk>) -> Self {
        let answer = |risk| if Some(risk) <= limit { Answer::Apply } else { Answer::Park };
        Self { low: answer(Risk::Low), medium: answer(Risk::Medium), high: Answer::Park, given_now: true }
    }

    /// What it says for a risk.
    #[must_use]
    pub fn answer(&self, risk: Risk) -> Answer {
        match risk {
            Risk::Low => self.low,
            Risk::Medium => self.medium,
            Risk::High if self.high == Answer::Apply => Answer::Park,
            Risk::High => self.high,
        }
    }
}

/// Every hard stop. Durations in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Rounds per incident.
    pub rounds: u32,
    /// Retries of transient failures.
    pub transient_retries: u32,
    /// Retries of unknown failures.
    pub unknown_retries: u32,
    /// All the waiting of one incident's retries together.
    pub retry_total_ms: u64,
    /// One boxed run.
    pub trial_ms: u64,
    /// All the trial work of one incident.
    pub incident_ms: u64,
    /// Bytes that the trials of one incident may write together; the driver takes less where little is free.
    pub trial_bytes: u64,
    /// Bytes of each stream of a task's step that go to its file.
    pub step_output_bytes: u64,
    /// Changed lines above which the risk is at least medium.
    pub small_change_lines: u32,
    /// Applies by policy alone, per machine and day.
    pub applies_per_day: u32,
    /// Jobs that fail from one cause within ten minutes and stop healing for it; 0 is never.
    pub storm_jobs: u32,
    /// Incidents in a row of one job with the same end that open its circuit breaker.
    pub breaker: u32,
    /// How long a repair is watched at least.
    pub watch_ms: u64,
    /// Good runs of the job that a watch needs besides.
    pub watch_runs: u32,
    /// What models may take for one incident.
    pub model_incident: Caps,
    /// What models may take on this machine in one day.
    pub model_day: Caps,
    /// SIGTERM to SIGKILL.
    pub grace_ms: u64,
    /// A wrapped job without a deadline of its own is ended after this.
    pub cap_ms: u64,
}

impl Limits {
    /// The usual hard stops.
    pub const DEFAULT: Self = Self {
        rounds: 3,
        transient_retries: 5,
        unknown_retries: 3,
        retry_total_ms: 120_000,
        trial_ms: 60_000,
        incident_ms: 600_000,
        trial_bytes: u64::MAX,
        step_output_bytes: 16 << 20,
        small_change_lines: 10,
        applies_per_day: 3,
        storm_jobs: 3,
        breaker: 3,
        watch_ms: 24 * 3_600_000,
        watch_runs: 3,
        model_incident: Caps {
            calls: Some(12),
            tokens: Some(60_000),
            cost: Some(1_000_000),
            millis: Some(600_000),
        },
        model_day: Caps {
            calls: Some(200),
            tokens: Some(600_000),
            cost: Some(5_000_000),
            millis: Some(2 * 3_600_000),
        },
        grace_ms: 5_000,
        cap_ms: 24 * 3_600_000,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_written_as_they_are_read() {
        let read = |text: &str| Answer::try_from(text.to_owned());
        for text in ["apply", "park", "deny", "wait 2h", "wait 90m", "wait 1d", "wait 5s"] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        assert_eq!(read("wait  120 m").unwrap(), Answer::Wait(7_200_000));
        for text in [
            "",
            "yes",
            "wait",
            "wait h",
            "wait 2",
            "wait 0h",
            "wait 31d",
            "wait 99999999999999999999h",
            "Wait 2h",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn apply_low_does_not_apply_medium_and_nothing_applies_high() {
        let low = Policy::apply_up_to(Some(Risk::Low));
        assert_eq!(low.answer(Risk::Low), Answer::Apply);
        assert_eq!(low.answer(Risk::Medium), Answer::Park);
        assert_eq!(Policy::apply_up_to(None).answer(Risk::Low), Answer::Park);
        let all = Policy { high: Answer::Apply, ..Policy::apply_up_to(Some(Risk::High)) };
        assert_eq!(all.answer(Risk::High), Answer::Park);
    }
}
