//! # A table with quoted fields is split at every separator
//!
//! ## What it finds
//! A Python program splits lines of a table with `split(",")`, and fails at a line in which a field holds the separator
//! within quotation marks.
//!
//! ## Why it fails
//! Whoever writes tables puts fields that hold the separator in quotation marks. `split` does not know of them.
//!
//! ## Fix
//! The line is read by the `csv` module, with the same separator.
//!
//! ## Example
//! ```python
//! name, town = line.strip().split(",")
//! ```
//! ```python
//! name, town = next(csv.reader([line.strip()]))
//! ```
//!
//! ## Safety
//! Only when a file that the program reads has such a line, and when that line, read so, has as many fields as the first
//! one. Lines with too few or too many fields still fail. It changes what is read, so the risk is medium.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::python::{self, Part};
use crate::shell::splice;

rule!(QuotedFields, "quoted_fields", Unsafe, propose);

/// Lines of a table that are looked at.
const MOST_LINES: usize = 20_000;

fn propose(case: &Case) -> Vec<Candidate> {
    let fits = case.faults().any(|fault| {
        matches!(fault, Fault::IndexOutOfRange { .. } | Fault::BadValue { .. } | Fault::Other { .. })
    });
    if !fits {
        return Vec::new();
    }
    python::modules(case).iter().find_map(|(file, module)| mended(case, file, module)).into_iter().collect()
}

fn mended(case: &Case, file: &ScriptFile, module: &Module) -> Option<Candidate> {
    let lines = python::failing_lines(case, &file.path);
    let all: Vec<(Call, char)> =
        module.calls().into_iter().filter_map(|call| Some((call.clone(), separator(&call)?))).collect();
    let here = all.iter().filter(|(call, _)| lines.contains(&call.line)).count();
    let chosen: Vec<&(Call, char)> = match (here, all.len()) {
        (0, 1) => all.iter().collect(),
        (0, _) => return None,
        _ => all.iter().filter(|(call, _)| lines.contains(&call.line)).collect(),
    };
    let (_, mark) = chosen.first()?;
    let (name, row) = python::data_files(case, module).iter().find_map(|path| {
        let bytes = case.scene.read(path, crate::case::LARGEST)?;
        let row = quoted_row(&String::from_utf8_lossy(&bytes), *mark)?;
        Some((path.file_name()?.to_string_lossy().into_owned(), row))
    })?;
    let mut parts: Vec<Part> =
        chosen.iter().filter_map(|(call, mark)| read_by_csv(&file.text, call, *mark)).collect();
    if parts.is_empty() {
        return None;
    }
    parts.extend(python::import(module, "csv"));
    let line = chosen.first().map_or(0, |(call, _)| call.line);
    Draft::new(
        "quoted_fields",
        format!("line {line}: a field of {name} holds {mark:?} in quotation marks, and is split there"),
        "read the line by the csv module",
    )
    .evidence(format!("line {row} of {name} has such a field"))
    .meaning()
    .rewrite(file, splice(&file.text, parts), format!("line {line}: quotation marks are understood"))
    .done()
}

/// The separator that a call splits at, if it is one of tables.
fn separator(call: &Call) -> Option<char> {
    let [only] = call.arguments.as_slice() else { return None };
    let mark = only.string.as_deref().filter(|_| call.callee.ends_with(".split"))?;
    [",", ";", "\t", "|"].contains(&mark).then(|| mark.chars().next())?
}

fn read_by_csv(text: &str, call: &Call, mark: char) -> Option<Part> {
    let argument = call.arguments.first()?.span.start;
    let head = text.get(call.span.start..argument)?;
    let receiver = head.get(..head.rfind(".split")?)?;
    let delimiter = match mark {
        ',' => String::new(),
        '\t' => ", delimiter=\"\\t\"".to_owned(),
        other => format!(", delimiter=\"{other}\""),
    };
    Some((call.span.clone(), format!("next(csv.reader([{receiver}]{delimiter}))")))
}

/// The number of the first line that has a separator within quotation marks, and with them as many fields as the first.
fn quoted_row(text: &str, mark: char) -> Option<usize> {
    let wanted = fields(text.lines().next()?, mark);
    let row = |(_, line): &(usize, &str)| {
        line.contains('"') && fields(line, mark) == wanted && line.matches(mark).count() + 1 > wanted
    };
    (1..)
        .zip(text.lines())
        .take(MOST_LINES)
        .skip(1)
        .find(row)
        .map(|(number, _)| number)
        .filter(|_| wanted > 1)
}

/// How many fields a line has when quotation marks count.
fn fields(line: &str, mark: char) -> usize {
    let mut quoted = false;
    let mut count = 1;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c == mark && !quoted => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const TEXT: &str =
        "for line in open('g.csv'):\n    name, town = line.strip().split(',')\n    print(name)\n";

    fn case(text: &str, data: &str) -> TestCase {
        let message = "too many values to unpack (expected 2)".to_owned();
        TestCase::new("x.py", text, TestScene::new().file("g.csv", data))
            .fault(Fault::IndexOutOfRange { message })
            .at(2)
    }

    #[test]
    fn reads_lines_with_quotation_marks() {
        assert_eq!(
            case(TEXT, "name,town\n\"Berg, O\",x\n").healed(&QuotedFields),
            "import csv\nfor line in open('g.csv'):\n    name, town = next(csv.reader([line.strip()]))\n    print(name)\n"
        );
        let other = TEXT.replace("','", "\";\"");
        assert!(
            case(&other, "a;b\n\"x;y\";1\n")
                .healed(&QuotedFields)
                .contains("csv.reader([line.strip()], delimiter=\";\")")
        );
    }

    #[test]
    fn leaves_lines_that_are_really_too_long_alone() {
        assert!(case(TEXT, "name,town\nBerg, O,x\n").silent(&QuotedFields));
        assert!(case(TEXT, "name,town\n\"Berg, O\",x,y\n").silent(&QuotedFields));
    }
}
