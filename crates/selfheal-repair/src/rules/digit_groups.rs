//! # A number with its digits in groups
//!
//! ## What it finds
//! A Python program reads a number that is written in groups of three digits: `3,250.50`, `1,204,500`, `12.345,60`.
//!
//! ## Why it fails
//! Spreadsheets and reports write large numbers in groups. `float` and `int` do not read them.
//!
//! ## Fix
//! The marks between groups are taken out where the number is read; a decimal comma becomes a point.
//!
//! ## Example
//! ```python
//! total += float(row["gross"])
//! ```
//! ```python
//! total += float(row["gross"].replace(",", ""))
//! ```
//!
//! ## Safety
//! Only when the number can be read in one way: it has a mark for groups and another for decimals, or several groups. One
//! mark with three digits behind it may be either, and is left to a person. It changes what is read, so the risk is medium.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::python::{self, Part};
use crate::shell::splice;

rule!(DigitGroups, "digit_groups", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let value = case.faults().find_map(|fault| match fault {
        Fault::BadValue { value: Some(value), .. } => Some(value.clone()),
        _ => None,
    });
    let Some(value) = value else { return Vec::new() };
    let Some(reading) = reading(value.trim()) else { return Vec::new() };
    let found = python::modules(case);
    found.iter().find_map(|(file, module)| read(case, file, module, &value, reading)).into_iter().collect()
}

fn read(case: &Case, file: &ScriptFile, module: &Module, value: &str, reading: &str) -> Option<Candidate> {
    let lines = python::failing_lines(case, &file.path);
    let parts: Vec<Part> = module
        .calls()
        .into_iter()
        .filter(|call| lines.contains(&call.line))
        .filter_map(|call| without_groups(&call, reading))
        .collect();
    let line = parts.first().map(|(span, _)| python::line_of(&file.text, span.start))?;
    Draft::new(
        "digit_groups",
        format!(
            "line {line} reads a number whose digits are in groups: {}",
            crate::text::shortened(value, 40)
        ),
        "take the marks between groups out where the number is read",
    )
    .evidence(format!("{} can be read in one way only", crate::text::shortened(value, 40)))
    .meaning()
    .rewrite(file, splice(&file.text, parts), format!("line {line}: without the marks between groups"))
    .done()
}

fn without_groups(call: &Call, reading: &str) -> Option<Part> {
    let [argument] = call.arguments.as_slice() else { return None };
    let converts = matches!(call.resolved.as_str(), "float" | "int" | "decimal.Decimal" | "Decimal");
    if !converts || argument.string.is_some() || argument.text.contains(".replace(\"") {
        return None;
    }
    let simple = argument.text.chars().all(|c| crate::text::is_name(c) || "[]\"'.() ".contains(c));
    let text = if simple { argument.text.clone() } else { format!("({})", argument.text) };
    Some((argument.span.clone(), format!("{text}{reading}")))
}

/// What makes a number of a text whose digits are in groups; `None` where it can be read in two ways.
fn reading(value: &str) -> Option<&'static str> {
    let number = value.trim_start_matches(['-', '+']);
    if grouped(number, ',', '.') {
        return Some(".replace(\",\", \"\")");
    }
    grouped(number, '.', ',').then_some(".replace(\".\", \"\").replace(\",\", \".\")")
}

/// Whether a number has groups of three digits and either decimals or more than one mark between groups.
fn grouped(number: &str, group: char, point: char) -> bool {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let (whole, decimals) =
        number.split_once(point).map_or((number, None), |(whole, rest)| (whole, Some(rest)));
    let mut groups = whole.split(group);
    let first = groups.next().is_some_and(|first| digits(first) && first.len() <= 3);
    let rest: Vec<&str> = groups.collect();
    first
        && rest.iter().all(|group| digits(group) && group.len() == 3)
        && decimals.is_none_or(digits)
        && (rest.len() > 1 || (rest.len() == 1 && decimals.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, value: &str) -> TestCase {
        let fault = Fault::BadValue { value: Some(value.into()), message: "could not convert".into() };
        TestCase::new("x.py", text, TestScene::new()).fault(fault).at(1)
    }

    #[test]
    fn reads_numbers_in_groups() {
        assert_eq!(
            case("t += float(r[\"g\"])\n", "3,250.50").healed(&DigitGroups),
            "t += float(r[\"g\"].replace(\",\", \"\"))\n"
        );
        assert_eq!(
            case("n = int(a)\n", "1,204,500").healed(&DigitGroups),
            "n = int(a.replace(\",\", \"\"))\n"
        );
        assert_eq!(
            case("n = float(a + b)\n", "-12.345,60").healed(&DigitGroups),
            "n = float((a + b).replace(\".\", \"\").replace(\",\", \".\"))\n"
        );
    }

    #[test]
    fn leaves_what_can_be_read_in_two_ways_alone() {
        for value in ["3,250", "12,5", "1.234", "1,23,456.0", "n/a", "1,,000.5", ""] {
            assert!(case("t += float(r['g'])\n", value).silent(&DigitGroups), "{value}");
        }
        assert!(case("x = y\nt += float(r['g'])\n", "3,250.50").silent(&DigitGroups));
    }
}
