//! Which calls are made again, and after how long.

use std::time::Duration;

/// The first wait; it doubles from call to call.
const FIRST: Duration = Duration::from_millis(500);
/// The longest wait that we choose ourselves.
const LONGEST: Duration = Duration::from_secs(8);

/// Whether a status may be another one if the same call is made a little later.
pub(crate) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 429) || (500..=599).contains(&status) && status != 501
}

/// How long to wait before repetition `number` (from 1); what the server asked for counts if it is longer. `None` when
/// the wait does not fit into the time that is left.
pub(crate) fn wait(number: u32, asked: Option<Duration>, left: Duration) -> Option<Duration> {
    let own = FIRST.saturating_mul(1 << number.saturating_sub(1).min(10)).min(LONGEST);
    let wait = asked.unwrap_or_default().max(own);
    (wait < left).then_some(wait)
}

/// `Retry-After` in seconds. Its other form, a date, would need a clock that agrees with the server's; it counts as
/// absent.
pub(crate) fn retry_after(header: Option<&str>) -> Option<Duration> {
    header?.trim().parse::<u32>().ok().map(|seconds| Duration::from_secs(u64::from(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_longer_each_time_and_as_long_as_the_server_asks_but_never_past_the_end() {
        let minute = Duration::from_secs(60);
        let own: Vec<_> = (1..=6).filter_map(|number| wait(number, None, minute)).collect();
        assert_eq!(own, [500, 1_000, 2_000, 4_000, 8_000, 8_000].map(Duration::from_millis));
        assert_eq!(wait(1, retry_after(Some(" 3 ")), minute), Some(Duration::from_secs(3)));
        assert_eq!(wait(1, retry_after(Some("90")), minute), None);
        assert_eq!(retry_after(Some("Wed, 21 Oct 2015 07:28:00 GMT")), None);
    }

    #[test]
    fn repeats_only_what_can_pass() {
        let again: Vec<u16> = [400, 401, 404, 408, 422, 429, 500, 501, 503, 529, 600]
            .into_iter()
            .filter(|s| is_passing(*s))
            .collect();
        assert_eq!(again, [408, 429, 500, 503, 529]);
    }
}
