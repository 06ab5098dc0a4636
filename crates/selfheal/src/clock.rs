//! The real clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::Clock;

/// The machine's clock and its source of fresh identifiers.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn wait_ms(&self, ms: u64) -> bool {
        std::thread::sleep(Duration::from_millis(ms));
        true
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
