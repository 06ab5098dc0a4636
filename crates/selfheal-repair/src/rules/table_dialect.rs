//! # A table with another separator, a byte order mark or decimal commas
//!
//! ## What it finds
//! A Python program reads a table with the `csv` module and misses a column or stumbles over a number; the file has another
//! separator, begins with a byte order mark, or writes numbers with a comma.
//!
//! ## Why it fails
//! Spreadsheets save tables as their system's settings say: with semicolons and decimal commas in much of Europe, with a
//! byte order mark on Windows. Then the whole head line is one column, or its first name begins with an invisible character.
//!
//! ## Fix
//! The separator that the file has is given to the reader, the mark is skipped (`utf-8-sig`, which reads files without one as
//! well), and the comma is taken for a decimal point where the number is read.
//!
//! ## Example
//! ```python
//! with open("prices.csv", encoding="utf-8") as source:
//!     rows = csv.DictReader(source)
//! ```
//! ```python
//! with open("prices.csv", encoding="utf-8-sig") as source:
//!     rows = csv.DictReader(source, delimiter=";")
//! ```
//!
//! ## Safety
//! Only when the file is there and its head line, read the new way, has the missing column. It changes what is read, so the
//! risk is medium.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::Module;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(TableDialect, "table_dialect", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let mut out = Vec::new();
    for fault in case.faults() {
        match fault {
            Fault::KeyMissing { key } => out.extend(columns(case, Some(key))),
            Fault::IndexOutOfRange { .. } => out.extend(columns(case, None)),
            Fault::BadValue { value, message } => {
                out.extend(numbers(case, value.as_deref().unwrap_or(message)))
            }
            Fault::Other { message } | Fault::Mismatch { message } => out.extend(numbers(case, message)),
            _ => {}
        }
    }
    out
}

fn columns(case: &Case, key: Option<&str>) -> Option<Candidate> {
    let (file, module) = python::modules(case).into_iter().find(|(_, module)| !readers(module).is_empty())?;
    for path in python::data_files(case, &module) {
        let Some(bytes) = case.scene.read(&path, crate::case::LARGEST) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let marked = text.starts_with('\u{feff}');
        let head = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
        let separator = separator(head);
        let fields: Vec<&str> = head.split(separator).map(|field| field.trim().trim_matches('"')).collect();
        let given = given_separator(&module).unwrap_or(',');
        let has = key.is_none_or(|key| fields.contains(&key));
        if !has || fields.len() < 2 || (separator == given && !marked) {
            continue;
        }
        let mut parts: Vec<Part> = Vec::new();
        if separator != given {
            parts.extend(with_separator(&module, separator));
        }
        if marked {
            parts.extend(without_mark(&module));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mark = if marked { ", and begins with a byte order mark" } else { "" };
        return Draft::new(
            "table_dialect",
            format!("{name} separates its columns with {separator:?}{mark}"),
            "read the table the way it is written",
        )
        .evidence(format!("read so, the head line of {name} has {} columns", fields.len()))
        .meaning()
        .rewrite(&file, splice(&file.text, parts), format!("columns are separated with {separator:?}{mark}"))
        .done();
    }
    None
}

fn separator(head: &str) -> char {
    let count = |c: &char| head.matches(*c).count();
    [',', ';', '\t', '|'].into_iter().rev().max_by_key(|c| count(c)).unwrap_or(',')
}

fn readers(module: &Module) -> Vec<selfheal_syntax::python::Call> {
    let is_reader = |name: &str| matches!(name, "csv.reader" | "csv.DictReader");
    module.calls().into_iter().filter(|call| is_reader(&call.resolved)).collect()
}

fn given_separator(module: &Module) -> Option<char> {
    readers(module).first().and_then(|call| call.keyword("delimiter")?.string.as_ref()?.chars().next())
}

fn with_separator(module: &Module, separator: char) -> Vec<Part> {
    let quoted = if separator == '\t' { "\"\\t\"".to_owned() } else { format!("\"{separator}\"") };
    let edit = |call: selfheal_syntax::python::Call| match call.keyword("delimiter") {
        Some(given) => Some((given.span.clone(), quoted.clone())),
        None => python::add_argument(module, &call.span, &format!("delimiter={quoted}")),
    };
    readers(module).into_iter().filter_map(edit).collect()
}

/// Reading `open` calls skip a byte order mark.
fn without_mark(module: &Module) -> Vec<Part> {
    let mut parts = Vec::new();
    for call in module.calls().into_iter().filter(|call| call.resolved == "open") {
        let mode =
            call.keyword("mode").or_else(|| call.arguments.get(1)).and_then(|mode| mode.string.clone());
        if mode.is_some_and(|mode| mode.contains(['w', 'a', 'x', 'b'])) {
            continue;
        }
        match call.keyword("encoding") {
            Some(encoding) => {
                let utf8 = encoding
                    .string
                    .as_ref()
                    .is_some_and(|name| matches!(name.to_lowercase().as_str(), "utf-8" | "utf8"));
                parts.extend(utf8.then(|| (encoding.span.clone(), "\"utf-8-sig\"".to_owned())));
            }
            None => parts.extend(python::add_argument(module, &call.span, "encoding=\"utf-8-sig\"")),
        }
    }
    parts
}

/// A number with a decimal comma in a message or value: `12,50`. Three digits behind it may be thousands, and a guess
/// would be wrong by a factor of a thousand.
fn has_decimal_comma(text: &str) -> bool {
    text.match_indices(',').any(|(at, _)| {
        let before = text.get(..at).and_then(|part| part.chars().next_back());
        let rest = text.get(at + 1..).unwrap_or_default();
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        before.is_some_and(|c| c.is_ascii_digit()) && digits > 0 && digits != 3
    })
}

fn numbers(case: &Case, message: &str) -> Option<Candidate> {
    if !has_decimal_comma(message) {
        return None;
    }
    let (file, module) = python::modules(case).into_iter().next()?;
    let mut parts: Vec<Part> = Vec::new();
    for call in module.calls() {
        let Some(argument) =
            call.arguments.first().filter(|argument| !argument.text.contains(".replace(\",\""))
        else {
            continue;
        };
        let converts =
            matches!(call.resolved.as_str(), "float" | "decimal.Decimal") && argument.string.is_none();
        let splits = argument.string.as_deref() == Some(".")
            && matches!(
                call.callee.rsplit('.').next(),
                Some("partition" | "rpartition" | "split" | "rsplit")
            );
        if converts {
            parts.push((argument.span.end..argument.span.end, ".replace(\",\", \".\")".to_owned()));
        } else if splits {
            let dot = call.span.start + call.callee.rfind('.')?;
            let exact =
                file.text.get(call.span.clone()).is_some_and(|source| source.starts_with(&call.callee));
            parts.extend(exact.then(|| (dot..dot, ".replace(\",\", \".\")".to_owned())));
        }
    }
    let (first, _) = parts.first()?;
    let line = python::line_of(&file.text, first.start);
    Draft::new(
        "table_dialect",
        format!("line {line} reads a number that is written with a decimal comma"),
        "take the comma for the decimal point",
    )
    .evidence(crate::text::shortened(message, 80))
    .meaning()
    .rewrite(&file, splice(&file.text, parts), format!("line {line}: the comma is a decimal point"))
    .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const TEXT: &str = "import csv\nwith open(\"p.csv\", newline=\"\", encoding=\"utf-8\") as f:\n    for row in csv.DictReader(f):\n        x(row[\"sku\"])\n";

    #[test]
    fn reads_the_table_as_it_is_written() {
        let case = TestCase::new(
            "x.py",
            TEXT,
            TestScene::new().file("p.csv", "\u{feff}sku;name;price\nA;\"b, c\";1,5\n"),
        )
        .fault(Fault::KeyMissing { key: "sku".into() });
        let healed = case.healed(&TableDialect);
        assert!(
            healed.contains("csv.DictReader(f, delimiter=\";\")")
                && healed.contains("encoding=\"utf-8-sig\""),
            "{healed}"
        );
    }

    #[test]
    fn thousands_are_no_decimals() {
        assert!(has_decimal_comma("could not convert string to float: '12,50'"));
        assert!(!has_decimal_comma("could not convert string to float: '3,250'"));
    }

    #[test]
    fn reads_decimal_commas() {
        let text = "def cents(t):\n    e, _, r = t.strip().partition(\".\")\n    return float(t)\n";
        let case = TestCase::new("x.py", text, TestScene::new())
            .fault(Fault::BadValue { value: None, message: "not a price: '12,50'".into() });
        assert_eq!(
            case.healed(&TableDialect),
            "def cents(t):\n    e, _, r = t.strip().replace(\",\", \".\").partition(\".\")\n    return float(t.replace(\",\", \".\"))\n"
        );
    }

    #[test]
    fn leaves_tables_without_the_column_alone() {
        let case = TestCase::new("x.py", TEXT, TestScene::new().file("p.csv", "id;name\n1;b\n"))
            .fault(Fault::KeyMissing { key: "sku".into() });
        assert!(case.silent(&TableDialect));
    }
}
