//! The real clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::Clock;

/// How often a wait looks whether it was told to end.
const LOOK: Duration = Duration::from_millis(50);

/// The machine's clock and its source of fresh identifiers.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn wait_ms(&self, ms: u64) -> bool {
        let until = Instant::now() + Duration::from_millis(ms);
        while selfheal_exec::told_to_end().is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(LOOK));
        }
        false
    }

    fn fresh_id(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

/// The moment that `text` means: a time ago (`30m`, `12h`, `7d`, `2w`), or a day or moment (`2026-11-30`,
/// `2026-11-30T18:00:00Z`); a day begins at midnight here.
#[must_use]
pub fn since(text: &str, now: Timestamp) -> Option<Timestamp> {
    if let Some(ago) = ago_ms(text) {
        return Some(Timestamp(now.0.saturating_sub(ago)));
    }
    if let Ok(moment) = chrono::DateTime::parse_from_rfc3339(text) {
        return Some(Timestamp(moment.timestamp_millis()));
    }
    let day = text.parse::<chrono::NaiveDate>().ok()?.and_hms_opt(0, 0, 0)?;
    Some(Timestamp(day.and_local_timezone(chrono::Local).earliest()?.timestamp_millis()))
}

fn ago_ms(text: &str) -> Option<i64> {
    let at = text.len().checked_sub(1).filter(|at| text.is_char_boundary(*at))?;
    let (number, unit) = text.split_at(at);
    let minutes = match unit {
        "m" => 1,
        "h" => 60,
        "d" => 24 * 60,
        "w" => 7 * 24 * 60,
        _ => return None,
    };
    number.parse::<u32>().ok().map(|number| i64::from(number) * minutes * 60_000)
}

/// A moment as people read it, in local time.
#[must_use]
pub fn local_time(at: Timestamp) -> String {
    chrono::DateTime::from_timestamp_millis(at.0)
        .map(|utc| utc.with_timezone(&chrono::Local).format("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_ago_or_a_date() {
        let now = Timestamp(1_800_000_000_000);
        assert_eq!(since("90m", now), Some(Timestamp(now.0 - 5_400_000)));
        assert_eq!(since("7d", now), Some(Timestamp(now.0 - 7 * 86_400_000)));
        assert_eq!(since("2026-11-30T18:00:00Z", now), Some(Timestamp(1_796_061_600_000)));
        assert!(since("2026-11-30", now).is_some_and(|day| (day.0 - 1_796_000_000_000).abs() < 86_400_000));
        for wrong in ["", "d", "-1d", "7y", "yesterday", "9999999999d", "7·"] {
            assert_eq!(since(wrong, now), None, "{wrong}");
        }
    }
}
