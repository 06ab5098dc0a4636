//! # A date that the data writes in another way
//!
//! ## What it finds
//! A Python program reads a date or time with `strptime`, and the data writes it in another way: with parts of a second, or
//! all dates in another order.
//!
//! ## Why it fails
//! `strptime` takes exactly one form. Senders change it, or leave out the parts of a second only when they are zero.
//!
//! ## Fix
//! Parts of a second are accepted beside the old form, and offsets beside UTC: the time stays one in UTC. Where all the data has another form, that one is read.
//!
//! ## Example
//! ```python
//! when = datetime.strptime(event["at"], "%Y-%m-%dT%H:%M:%SZ")
//! ```
//! ```python
//! when = datetime.fromisoformat(event["at"].removesuffix("Z"))
//! ```
//!
//! ## Safety
//! Only when exactly one known form fits the value and, for a whole new form, all dates of that shape in the data; day and
//! month are never guessed. What is no date still fails. It changes what is read, so the risk is medium.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Argument, Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::python::{self, Part};
use crate::shell::splice;

rule!(DateFormat, "date_format", Unsafe, propose);

/// Ways to write a day, and what may follow as the time of day.
const DAYS: &[&str] = &[
    "%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %b %Y", "%d/%b/%Y",
    "%Y.%m.%d",
];
const TIMES: &[&str] = &["", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", "T%H:%M:%SZ", ":%H:%M:%S"];
const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// Words of the data that are looked at.
const MOST_WORDS: usize = 50_000;

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().find_map(|fault| match fault {
        Fault::BadValue { value: Some(value), message } => {
            let (_, format) = message.split_once("does not match format ")?;
            Some((value.clone(), format.trim_matches(['\'', '"']).to_owned()))
        }
        _ => None,
    });
    let Some((value, format)) = told else { return Vec::new() };
    let found = python::modules(case);
    found
        .iter()
        .find_map(|(file, module)| mended(case, (file, module), &value, &format))
        .into_iter()
        .collect()
}

fn mended(
    case: &Case,
    (file, module): (&ScriptFile, &Module),
    value: &str,
    format: &str,
) -> Option<Candidate> {
    let calls: Vec<Call> = module
        .calls()
        .into_iter()
        .filter(|call| call.callee.ends_with("strptime"))
        .filter(|call| call.arguments.get(1).is_some_and(|given| is_format(module, given, format)))
        .collect();
    let line = calls.first()?.line;
    let (parts, strategy): (Vec<Part>, String) = if is_with_fraction(format, value) {
        (
            calls.iter().filter_map(|call| with_fraction(call, format)).collect(),
            "accept parts of a second".to_owned(),
        )
    } else if is_iso(format) && has_offset(value) {
        let mut parts: Vec<Part> = calls.iter().filter_map(|call| in_utc(module, call)).collect();
        parts.extend(super::aware_times::import_zone(module).filter(|_| !parts.is_empty()));
        (parts, "read times with an offset as UTC".to_owned())
    } else {
        let new = other_form(&dates(case, module, value), value, format)?;
        let part = |call: &Call| {
            let given = call.arguments.get(1).filter(|given| given.string.is_some())?;
            Some((given.span.clone(), format!("\"{new}\"")))
        };
        (calls.iter().filter_map(part).collect(), format!("read the dates as {new}"))
    };
    parts.first()?;
    Draft::new(
        "date_format",
        format!("line {line} reads dates as {format}; the data has {}", crate::text::shortened(value, 40)),
        strategy.clone(),
    )
    .evidence(format!("{} is in the data", crate::text::shortened(value, 40)))
    .meaning()
    .rewrite(file, splice(&file.text, parts), format!("line {line}: {strategy}"))
    .done()
}

/// Whether an argument is a format, or the name that one is assigned to.
fn is_format(module: &Module, given: &Argument, format: &str) -> bool {
    let assigned = || {
        module.nodes("assignment").into_iter().any(|node| {
            let left = node.child_by_field_name("left").map(|left| module.text_of(left));
            let right = node.child_by_field_name("right").and_then(|right| module.string(right));
            left == Some(given.text.as_str()) && right.as_deref() == Some(format)
        })
    };
    given.string.as_deref().map_or_else(assigned, |string| string == format)
}

/// Whether a format is that of times in UTC as ISO 8601 writes them.
fn is_iso(format: &str) -> bool {
    matches!(format, "%Y-%m-%dT%H:%M:%SZ" | "%Y-%m-%d %H:%M:%SZ")
}

/// Whether a value is such a time, with an offset and perhaps parts of a second.
fn has_offset(value: &str) -> bool {
    let Some((time, offset)) = value.rfind(['+', '-']).and_then(|at| value.split_at_checked(at)) else {
        return false;
    };
    let forms = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f"];
    forms.iter().any(|form| fits(form, time)) && fits("%H:%M", offset.get(1..).unwrap_or_default())
}

/// The call in a form that reads offsets, too, and gives the time in UTC without one, as before.
fn in_utc(module: &Module, call: &Call) -> Option<Part> {
    let value = call.arguments.first()?.text.as_str();
    let owner = call.callee.strip_suffix("strptime").filter(|owner| owner.ends_with("datetime."))?;
    let plain = value.chars().all(|c| crate::text::is_name(c) || "[]\"'.()".contains(c));
    let value = if plain { value.to_owned() } else { format!("({value})") };
    let zone = super::aware_times::timezone(module);
    let read = format!("{owner}fromisoformat({value}.replace(\"Z\", \"+00:00\"))");
    Some((call.span.clone(), format!("{read}.astimezone({zone}.utc).replace(tzinfo=None)")))
}

/// Whether a value has the form but for parts of a second.
fn is_with_fraction(format: &str, value: &str) -> bool {
    format.contains("%S") && !format.contains("%f") && fits(&format.replacen("%S", "%S.%f", 1), value)
}

/// The call with parts of a second accepted.
fn with_fraction(call: &Call, format: &str) -> Option<Part> {
    let value = call.arguments.first()?.text.as_str();
    let iso = matches!(
        format,
        "%Y-%m-%dT%H:%M:%SZ" | "%Y-%m-%dT%H:%M:%S" | "%Y-%m-%d %H:%M:%S" | "%Y-%m-%d %H:%M:%SZ"
    );
    let owner = call.callee.strip_suffix("strptime")?;
    if iso && owner.ends_with("datetime.") {
        let plain = value.chars().all(|c| crate::text::is_name(c) || "[]\"'.()".contains(c));
        let value = if plain { value.to_owned() } else { format!("({value})") };
        let cut = if format.ends_with('Z') { ".removesuffix(\"Z\")" } else { "" };
        return Some((call.span.clone(), format!("{owner}fromisoformat({value}{cut})")));
    }
    // Asked twice, so only what is there anyway.
    let again = value.chars().all(|c| crate::text::is_name(c) || "[]\"'.".contains(c));
    let longer = format.replacen("%S", "%S.%f", 1);
    let given = call.arguments.get(1)?.span.clone();
    again.then(|| (given, format!("\"{longer}\" if \".\" in {value} else \"{format}\"")))
}

/// What the data has of the same shape as a value.
fn dates(case: &Case, module: &Module, value: &str) -> Vec<String> {
    let shape = shape(value);
    let mut out = Vec::new();
    for path in python::data_files(case, module) {
        if path.extension() == Some(Path::new("py").as_os_str()) {
            continue;
        }
        let bytes = case.scene.read(&path, crate::case::LARGEST).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let apart = |c: char| matches!(c, ',' | ';' | '\t' | '"' | '\'' | '\n' | '\r' | '|' | '[' | ']');
        out.extend(
            text.split(apart)
                .take(MOST_WORDS)
                .map(str::trim)
                .filter(|word| self::shape(word) == shape)
                .map(str::to_owned),
        );
    }
    out
}

/// A text with every digit and every letter taken for any other.
fn shape(text: &str) -> String {
    let one = |c: char| match c {
        c if c.is_ascii_digit() => '0',
        c if c.is_alphabetic() => 'a',
        c => c,
    };
    text.chars().take(60).map(one).collect()
}

/// The one form that a value and all its like have; `None` when day and month cannot be told apart.
fn other_form(all: &[String], value: &str, old: &str) -> Option<String> {
    let every = |format: &String| fits(format, value) && all.iter().all(|other| fits(format, other));
    let forms = DAYS.iter().flat_map(|day| TIMES.iter().map(move |time| format!("{day}{time}")));
    let found: Vec<String> = forms.filter(|format| format != old).filter(every).collect();
    let [only] = found.as_slice() else { return None };
    // Where some of the data still has the old form, no one form is right.
    (!all.iter().any(|other| fits(old, other))).then(|| only.clone())
}

/// Whether a text has a form of `strptime`. Knows the marks of the tables above and `%f`.
fn fits(format: &str, text: &str) -> bool {
    let mut rest = text;
    let mut marks = format.chars();
    while let Some(mark) = marks.next() {
        let left = if mark == '%' {
            marks.next().and_then(|kind| field(kind, rest))
        } else {
            rest.strip_prefix(mark)
        };
        match left {
            Some(left) => rest = left,
            None => return false,
        }
    }
    rest.is_empty()
}

/// The text behind one field.
fn field(kind: char, text: &str) -> Option<&str> {
    let (most, range) = match kind {
        'Y' => (4, 1000..=9999),
        'm' => (2, 1..=12),
        'd' => (2, 1..=31),
        'H' => (2, 0..=23),
        'M' => (2, 0..=59),
        'S' => (2, 0..=61),
        'f' => (6, 0..=999_999),
        'b' => {
            let name = text.get(..3)?.to_lowercase();
            return MONTHS.contains(&name.as_str()).then(|| text.get(3..))?;
        }
        _ => return None,
    };
    let digits = text.chars().take(most).take_while(char::is_ascii_digit).count();
    let whole = digits == most || kind == 'f' && digits > 0;
    let number: u32 = text.get(..digits)?.parse().ok()?;
    (whole && range.contains(&number)).then(|| text.get(digits..))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str, value: &str, format: &str, data: &str) -> TestCase {
        let text = format!("from datetime import datetime\nrows = open('d.csv')\n{line}\n");
        let message = format!("time data does not match format {format}");
        TestCase::new("x.py", &text, TestScene::new().file("d.csv", data))
            .fault(Fault::BadValue { value: Some(value.into()), message })
            .at(3)
    }

    #[test]
    fn accepts_parts_of_a_second() {
        let iso = case(
            "w = datetime.strptime(e['at'], '%Y-%m-%dT%H:%M:%SZ')",
            "2024-05-02T08:00:00.25Z",
            "%Y-%m-%dT%H:%M:%SZ",
            "",
        );
        assert!(iso.healed(&DateFormat).contains("w = datetime.fromisoformat(e['at'].removesuffix(\"Z\"))"));
        let own = case(
            "w = datetime.strptime(t, '%d/%b/%Y:%H:%M:%S')",
            "02/May/2024:08:00:00.123",
            "%d/%b/%Y:%H:%M:%S",
            "",
        );
        assert!(
            own.healed(&DateFormat)
                .contains("strptime(t, \"%d/%b/%Y:%H:%M:%S.%f\" if \".\" in t else \"%d/%b/%Y:%H:%M:%S\")")
        );
    }

    #[test]
    fn times_with_an_offset_stay_in_utc() {
        let format = "%Y-%m-%dT%H:%M:%SZ";
        let of =
            |value: &str| case("F = '%Y-%m-%dT%H:%M:%SZ'; w = datetime.strptime(t, F)", value, format, "");
        let healed = of("2024-05-02T09:30:00.250+02:00").healed(&DateFormat);
        let read = "datetime.fromisoformat(t.replace(\"Z\", \"+00:00\")).astimezone(timezone.utc).replace(tzinfo=None)";
        assert!(healed.contains(read) && healed.contains("import datetime, timezone\n"), "{healed}");
        for other in ["2024-05-02T09:30:00.250+2", "2024-05-02+02:00", "2024-05-02T09:30:00", "-", ""] {
            assert!(of(other).silent(&DateFormat), "{other}");
        }
    }

    #[test]
    fn reads_all_dates_in_their_new_form() {
        let of =
            |value: &str, data: &str| case("w = datetime.strptime(t, '%Y-%m-%d')", value, "%Y-%m-%d", data);
        assert!(
            of("02.05.2024", "d;n\n02.05.2024;1\n").healed(&DateFormat).contains("strptime(t, \"%d.%m.%Y\")")
        );
        assert!(
            of("02/05/2024", "02/05/2024,1\n31/05/2024,2\n").healed(&DateFormat).contains("\"%d/%m/%Y\"")
        );
    }

    #[test]
    fn never_guesses_day_and_month_or_mixes_forms() {
        let of =
            |value: &str, data: &str| case("w = datetime.strptime(t, '%Y-%m-%d')", value, "%Y-%m-%d", data);
        assert!(of("02/05/2024", "02/05/2024,1\n03/06/2024,2\n").silent(&DateFormat));
        assert!(of("yesterday", "yesterday\n").silent(&DateFormat));
        assert!(of("2024-13-01", "2024-13-01\n2024-01-01\n").silent(&DateFormat));
    }
}
