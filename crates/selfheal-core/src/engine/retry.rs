//! The retry table of the design: how long to wait before which retry, by class.

use super::Finding;
use crate::outcome::Class;
use crate::settings::Limits;

/// The waits before retries of transient failures, in milliseconds; the last one repeats.
const TRANSIENT_MS: [u64; 5] = [1_000, 2_000, 4_000, 8_000, 8_000];
/// The wait before retries of unknown failures, in milliseconds.
const UNKNOWN_MS: u64 = 5_000;

/// How long to wait before the next retry; `None` when there is none. `attempt` is how many were made, `waited_ms` how
/// long was waited for them. What a server asks for (`Retry-After`) counts when it is longer, and ends it when it does
/// not fit into the total.
#[must_use]
pub fn wait_before_retry(finding: &Finding, limits: &Limits, attempt: u32, waited_ms: u64) -> Option<u64> {
    if !finding.repeatable {
        return None;
    }
    let (most, wait) = match finding.class {
        Class::Transient => {
            let at = (attempt as usize).min(TRANSIENT_MS.len() - 1);
            (limits.transient_retries, TRANSIENT_MS.get(at).copied().unwrap_or(8_000))
        }
        Class::Unknown if !finding.located => (limits.unknown_retries, UNKNOWN_MS),
        Class::Unknown | Class::Resource | Class::Environment | Class::Logic | Class::Dependency => (0, 0),
    };
    let wait = wait.max(finding.retry_after_ms.unwrap_or(0));
    (attempt < most && waited_ms + wait <= limits.retry_total_ms).then_some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(class: Class) -> Finding {
        Finding { class, located: false, repeatable: true, retry_after_ms: None }
    }

    #[test]
    fn transient_failures_wait_longer_each_time_and_end() {
        let limits = Limits::default();
        let waits: Vec<_> = (0..6)
            .map(|attempt| wait_before_retry(&finding(Class::Transient), &limits, attempt, 0))
            .collect();
        assert_eq!(waits, [Some(1_000), Some(2_000), Some(4_000), Some(8_000), Some(8_000), None]);
    }

    #[test]
    fn nothing_is_retried_without_both_permissions() {
        let limits = Limits::default();
        for class in [Class::Resource, Class::Logic, Class::Environment, Class::Dependency] {
            assert_eq!(wait_before_retry(&finding(class), &limits, 0, 0), None, "{class:?}");
        }
        let once = Finding { repeatable: false, ..finding(Class::Transient) };
        assert_eq!(wait_before_retry(&once, &limits, 0, 0), None);
        let located = Finding { located: true, ..finding(Class::Unknown) };
        assert_eq!(wait_before_retry(&located, &limits, 0, 0), None);
    }

    #[test]
    fn retry_after_is_respected_up_to_the_total() {
        let limits = Limits::default();
        let asked = Finding { retry_after_ms: Some(30_000), ..finding(Class::Transient) };
        assert_eq!(wait_before_retry(&asked, &limits, 0, 0), Some(30_000));
        assert_eq!(wait_before_retry(&asked, &limits, 3, 100_000), None);
    }
}
