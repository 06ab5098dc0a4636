//! Units that names say: `duration_seconds`, `priceCents`, `size-kb`.
//!
//! A name that gets another unit with its new spelling stands for another number: what was read in minutes comes in seconds.
//! The factors are those of the SI brochure (2019) and of the currencies' own hundredths.

/// What is measured, and how many of the smallest unit of this table one of it is.
const UNITS: &[(&str, &str, u64)] = &[
    ("ms", "time", 1),
    ("millis", "time", 1),
    ("milliseconds", "time", 1),
    ("sec", "time", 1_000),
    ("secs", "time", 1_000),
    ("second", "time", 1_000),
    ("seconds", "time", 1_000),
    ("min", "time", 60_000),
    ("mins", "time", 60_000),
    ("minute", "time", 60_000),
    ("minutes", "time", 60_000),
    ("hour", "time", 3_600_000),
    ("hours", "time", 3_600_000),
    ("day", "time", 86_400_000),
    ("days", "time", 86_400_000),
    ("cent", "money", 1),
    ("cents", "money", 1),
    ("ct", "money", 1),
    ("pence", "money", 1),
    ("rappen", "money", 1),
    ("euro", "money", 100),
    ("euros", "money", 100),
    ("eur", "money", 100),
    ("dollar", "money", 100),
    ("dollars", "money", 100),
    ("usd", "money", 100),
    ("pound", "money", 100),
    ("pounds", "money", 100),
    ("gbp", "money", 100),
    ("franc", "money", 100),
    ("francs", "money", 100),
    ("chf", "money", 100),
    ("mm", "length", 1),
    ("millimeters", "length", 1),
    ("millimetres", "length", 1),
    ("cm", "length", 10),
    ("centimeters", "length", 10),
    ("centimetres", "length", 10),
    ("meters", "length", 1_000),
    ("metres", "length", 1_000),
    ("km", "length", 1_000_000),
    ("mg", "mass", 1),
    ("gram", "mass", 1_000),
    ("grams", "mass", 1_000),
    ("kg", "mass", 1_000_000),
    ("wh", "energy", 1),
    ("kwh", "energy", 1_000),
    ("mwh", "energy", 1_000_000),
    ("watt", "power", 1),
    ("watts", "power", 1),
    ("kw", "power", 1_000),
    ("bytes", "bytes", 0),
    ("kb", "bytes", 0),
    ("kib", "bytes", 0),
    ("mb", "bytes", 0),
    ("mib", "bytes", 0),
    ("gb", "bytes", 0),
    ("celsius", "degrees", 0),
    ("fahrenheit", "degrees", 0),
    ("kelvin", "degrees", 0),
];

/// The words for whole money: `euro`.
pub(crate) fn currencies() -> impl Iterator<Item = &'static str> {
    of_money(100)
}

/// The words for its hundredths: `cents`.
pub(crate) fn hundredths() -> impl Iterator<Item = &'static str> {
    of_money(1)
}

fn of_money(size: u64) -> impl Iterator<Item = &'static str> {
    UNITS.iter().filter(move |(_, kind, own)| *kind == "money" && *own == size).map(|(word, ..)| *word)
}

/// What a new name means for the number behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Both names say the same unit, or neither says one.
    None,
    /// The number has to be divided by so much to be what it was.
    Divided(u64),
    /// The number has to be taken so many times to be what it was.
    Times(u64),
    /// Another unit whose factor is not known, or another kind of number.
    Unknown,
}

/// What it means for the number when a name becomes another one. A unit that only the new name says may always have been the
/// one that was meant; then nothing changes.
pub(crate) fn change(old: &str, new: &str) -> Change {
    let (Some((old, had)), Some((new, has))) = (unit(old), unit(new)) else { return Change::None };
    if old == new {
        return Change::None;
    }
    if had.0 != has.0 || had.1 == 0 || has.1 == 0 {
        return Change::Unknown;
    }
    match (had.1, has.1) {
        (old, new) if old == new => Change::None,
        (old, new) if old > new && old % new == 0 => Change::Divided(old / new),
        (old, new) if new % old == 0 => Change::Times(new / old),
        _ => Change::Unknown,
    }
}

/// The same, of two names that differ in their units alone: `wait_minutes` and `waitSeconds`.
pub(crate) fn renamed(old: &str, new: &str) -> Change {
    let (had, has) = (words(old), words(new));
    let same = had.len() == has.len() && had.iter().rev().skip(1).eq(has.iter().rev().skip(1));
    if same { change(old, new) } else { Change::None }
}

type Measure = (&'static str, u64);

/// The unit that the last word of a name is, with what it measures.
fn unit(name: &str) -> Option<(&'static str, Measure)> {
    let words = words(name);
    let last = words.last().filter(|_| words.len() > 1)?;
    UNITS.iter().find(|(word, ..)| word == last).map(|(word, kind, size)| (*word, (*kind, *size)))
}

/// The words of a name, in small letters: `durationMinutes` and `duration_minutes` have the same. `energyWh` has two.
fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_uppercase() && !before.is_uppercase() || !before.is_alphanumeric();
        if c.is_alphanumeric() {
            match out.last_mut().filter(|_| !begins) {
                Some(word) => word.extend(c.to_lowercase()),
                None => out.push(c.to_lowercase().collect()),
            }
        }
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_unit_changes_the_number() {
        assert_eq!(change("durationMinutes", "duration_seconds"), Change::Divided(60));
        assert_eq!(change("wait_ms", "wait_seconds"), Change::Times(1_000));
        assert_eq!(change("price-euro", "price-cents"), Change::Divided(100));
        assert_eq!(change("energyWh", "energy_wh"), Change::None);
        assert_eq!(change("load_sec", "load_seconds"), Change::None);
        assert_eq!(change("timeout", "timeout_seconds"), Change::None);
        assert_eq!(change("size_kb", "size_bytes"), Change::Unknown);
        assert_eq!(change("run_minutes", "run_km"), Change::Unknown);
        assert_eq!(change("minutes", "seconds"), Change::None);
    }

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words("durationMinutes"), ["duration", "minutes"]);
        assert_eq!(words("HTTP_timeout-ms"), ["http", "timeout", "ms"]);
    }
}
