//! When a crontab line is due, to the minute, as crontab(5) says.

use chrono::{DateTime, Datelike, Duration, NaiveDateTime, TimeZone, Timelike};

/// How far back a due time is looked for: a year and a day. What is due on 29 February only is not followed further.
const LOOK_BACK_DAYS: i64 = 366;

/// The five fields as sets of numbers, a bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    minute: u64,
    hour: u64,
    day: u64,
    month: u64,
    weekday: u64,
    /// Both day fields are restricted: one of them is enough.
    either_day: bool,
}

/// A field: its lowest and highest number, and the names that stand for numbers.
struct Field {
    low: u32,
    high: u32,
    names: &'static [&'static str],
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const MINUTE: Field = Field { low: 0, high: 59, names: &[] };
const HOUR: Field = Field { low: 0, high: 23, names: &[] };
const DAY: Field = Field { low: 1, high: 31, names: &[] };
const MONTH: Field = Field { low: 1, high: 12, names: &MONTHS };
/// 7 is Sunday too.
const WEEKDAY: Field = Field { low: 0, high: 7, names: &WEEKDAYS };

/// Nicknames and what they stand for. Source: crontab(5).
const NICKNAMES: [(&str, &str); 8] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
    ("@every_minute", "* * * * *"),
];

impl Schedule {
    /// Reads the schedule of a line. `None` for `@reboot` and for what is not understood (`~`, `#`, `L`).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('-').unwrap_or(text);
        let known = NICKNAMES.iter().find(|(name, _)| text.eq_ignore_ascii_case(name));
        let fields: Vec<&str> = known.map_or(text, |(_, fields)| fields).split_whitespace().collect();
        let &[minute, hour, day, month, weekday] = fields.as_slice() else { return None };
        let days = WEEKDAY.read(weekday)?;
        Some(Self {
            minute: MINUTE.read(minute)?,
            hour: HOUR.read(hour)?,
            day: DAY.read(day)?,
            month: MONTH.read(month)?,
            weekday: days | (days >> 7),
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        })
    }

    /// Whether it is due in this minute.
    #[must_use]
    pub fn is_due(&self, at: &NaiveDateTime) -> bool {
        has(self.minute, at.minute()) && has(self.hour, at.hour()) && self.is_day(at)
    }

    fn is_day(&self, at: &NaiveDateTime) -> bool {
        let day = has(self.day, at.day());
        let weekday = has(self.weekday, at.weekday().num_days_from_sunday());
        has(self.month, at.month()) && if self.either_day { day || weekday } else { day && weekday }
    }

    /// The last time that it was due, not later than a moment. Local times that a clock change leaves out do not
    /// count: crons differ in what they do then.
    #[must_use]
    pub fn last_due<Zone: TimeZone>(&self, until: &DateTime<Zone>) -> Option<DateTime<Zone>> {
        let zone = until.timezone();
        let end = until.naive_local();
        (0..=LOOK_BACK_DAYS)
            .filter_map(|back| end.date().checked_sub_signed(Duration::days(back)))
            .filter_map(|date| date.and_hms_opt(0, 0, 0))
            .filter(|midnight| self.is_day(midnight))
            .flat_map(|midnight| (0..24 * 60).rev().map(move |minute| midnight + Duration::minutes(minute)))
            .filter(|at| *at <= end && self.is_due(at))
            .find_map(|at| zone.from_local_datetime(&at).single())
    }
}

fn has(set: u64, number: u32) -> bool {
    set.checked_shr(number).is_some_and(|rest| rest & 1 == 1)
}

impl Field {
    /// A list of ranges: `1-5,10,*/15`.
    fn read(&self, text: &str) -> Option<u64> {
        text.split(',').try_fold(0, |set, part| Some(set | self.range(part)?))
    }

    fn range(&self, part: &str) -> Option<u64> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, step.parse().ok().filter(|step| *step > 0)?),
            None => (part, 1),
        };
        let (low, high) = match (range, range.split_once('-')) {
            ("*", _) => (self.low, self.high),
            (_, Some((low, high))) => (self.number(low)?, self.number(high)?),
            // `5/10` counts from 5 to the end.
            (one, None) if part.contains('/') => (self.number(one)?, self.high),
            (one, None) => (self.number(one)?, self.number(one)?),
        };
        (low <= high).then(|| (low..=high).step_by(step).fold(0, |set, number| set | (1_u64 << number)))
    }

    fn number(&self, text: &str) -> Option<u32> {
        let named =
            self.names.iter().zip(self.first_name()..).find(|(name, _)| text.eq_ignore_ascii_case(name));
        let number = named.map_or_else(|| text.parse().ok(), |(_, number)| Some(number))?;
        (self.low..=self.high).contains(&number).then_some(number)
    }

    fn first_name(&self) -> u32 {
        self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{NaiveDate, Utc};

    fn at(day: u32, hour: u32, minute: u32) -> NaiveDateTime {
        // January 2024 began on a Monday.
        NaiveDate::from_ymd_opt(2024, 1, day).unwrap().and_hms_opt(hour, minute, 0).unwrap()
    }

    fn last(text: &str) -> Option<String> {
        let now = Utc.from_utc_datetime(&at(17, 12, 34));
        Schedule::parse(text)?.last_due(&now).map(|at| at.format("%Y-%m-%d %H:%M").to_string())
    }

    #[test]
    fn the_last_due_time() {
        for (schedule, wanted) in [
            ("* * * * *", "2024-01-17 12:34"),
            ("15 2 * * *", "2024-01-17 02:15"),
            ("45 14 * * *", "2024-01-16 14:45"),
            ("*/15 * * * *", "2024-01-17 12:30"),
            ("5/20 8-10 * * *", "2024-01-17 10:45"),
            ("0 0 1,15 * *", "2024-01-15 00:00"),
            ("0 6 * * sun", "2024-01-14 06:00"),
            ("0 6 * * 7", "2024-01-14 06:00"),
            ("0 6 * * MON-FRI", "2024-01-17 06:00"),
            ("0 0 13 * 5", "2024-01-13 00:00"),
            ("0 0 */2 * 1", "2024-01-15 00:00"),
            ("0 0 31 12 *", "2023-12-31 00:00"),
            ("@daily", "2024-01-17 00:00"),
            ("@hourly", "2024-01-17 12:00"),
            ("@yearly", "2024-01-01 00:00"),
            ("-0 3 * * *", "2024-01-17 03:00"),
        ] {
            assert_eq!(last(schedule).as_deref(), Some(wanted), "{schedule}");
        }
    }

    #[test]
    fn what_is_no_time_of_the_clock_is_never_due() {
        for schedule in ["@reboot", "60 * * * *", "* * * *", "*/0 * * * *", "5-1 * * * *", "0~59 * * * *", ""]
        {
            assert_eq!(Schedule::parse(schedule), None, "{schedule}");
        }
        assert_eq!(last("0 0 30 2 *"), None);
    }
}
