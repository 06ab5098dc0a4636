//! How long a server asks to wait before the next try (`Retry-After`, RFC 9110 section 10.2.3): in seconds, or as a date.

use selfheal_core::run::Run;

use crate::parsers::kept;

/// The header, in lower case.
const HEADER: &str = "retry-after";
/// Names of months in dates of HTTP.
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// Milliseconds of a second.
const SECOND: i64 = 1_000;

/// The longest wait that the output of a run asks for, in milliseconds from its end; none where it asks for none.
#[must_use]
pub fn retry_after_ms(run: &Run) -> Option<u64> {
    let ended = run.started.0.saturating_add(i64::try_from(run.duration_ms).unwrap_or(i64::MAX));
    [&run.stderr, &run.stdout]
        .into_iter()
        .flat_map(|capture| {
            let lower = kept(capture).to_lowercase();
            let waits: Vec<u64> = lower.lines().filter_map(|line| asked(line, ended)).collect();
            waits
        })
        .max()
}

fn asked(line: &str, now_ms: i64) -> Option<u64> {
    let (_, value) = line.split_once(HEADER)?;
    let value = value.trim_start_matches([':', '=', ' ', '"', '\'']);
    let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
    if !digits.is_empty() {
        return digits.parse::<u64>().ok().map(|seconds| seconds.saturating_mul(1_000));
    }
    u64::try_from(date_ms(value)?.saturating_sub(now_ms)).ok()
}

/// `wed, 21 oct 2026 07:28:00 gmt`, in milliseconds since 1970.
fn date_ms(text: &str) -> Option<i64> {
    let (_, rest) = text.split_once(", ")?;
    let mut words = rest.split_whitespace();
    let day: i64 = words.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let name = words.next()?;
    let month = i64::try_from(MONTHS.iter().position(|month| *month == name)?).ok()? + 1;
    let year: i64 = words.next()?.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut clock =
        words.next()?.split(':').map(|part| part.parse::<i64>().ok().filter(|part| (0..=60).contains(part)));
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(seconds * SECOND)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar (Howard Hinnant, `days_from_civil`).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_understood() {
        let now = date_ms("wed, 21 oct 2026 07:28:00 gmt").unwrap();
        assert_eq!(now, 1_792_567_680_000);
        assert_eq!(asked("< retry-after: 17", now), Some(17_000));
        assert_eq!(asked("retry-after: wed, 21 oct 2026 07:28:30 gmt", now), Some(30_000));
        assert_eq!(asked("retry-after: wed, 21 oct 2026 07:00:00 gmt", now), None, "it is over");
        for other in
            ["retry-after: soon", "retry-after:", "retry-after: x, 99 oct 2026 07:28:30 gmt", "retry: 5"]
        {
            assert_eq!(asked(other, now), None, "{other}");
        }
    }
}
