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

/// A moment as people read it, in local time.
#[must_use]
pub fn local_time(at: Timestamp) -> String {
    chrono::DateTime::from_timestamp_millis(at.0)
        .map(|utc| utc.with_timezone(&chrono::Local).format("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}
