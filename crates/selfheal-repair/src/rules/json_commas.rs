//! # A comma too many or too few in a JSON file
//!
//! ## What it finds
//! A JSON file that the program reads has no comma between two entries, or one behind the last.
//!
//! ## Why it fails
//! Somebody edited the file by hand: a line was added or taken away at the end of a list, and the comma before it not.
//!
//! ## Fix
//! The comma is put where it belongs, or taken away.
//!
//! ## Example
//! ```json
//! { "rows": 8
//!   "floor": 2 }
//! ```
//! ```json
//! { "rows": 8,
//!   "floor": 2 }
//! ```
//!
//! ## Safety
//! Only a file that is JSON with that one comma, and that the job names. No value is changed. What a person keeps by hand is
//! changed by one character, so the risk is medium.

use std::path::PathBuf;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::python;

rule!(JsonCommas, "json_commas", Unsafe, propose);

/// The largest file that is looked at, in bytes.
const MOST: usize = 1 << 18;

fn propose(case: &Case) -> Vec<Candidate> {
    let plain =
        |text: &str| text.contains("JSON") || text.contains("delimiter") || text.contains("parse error");
    let bad = case.faults().any(|fault| match fault {
        Fault::BadValue { message, .. } | Fault::Syntax { message, .. } | Fault::Other { message } => {
            plain(message) || message.contains("property name") || message.contains("Expecting value")
        }
        _ => false,
    }) && !matches!(case.faults().next(), Some(Fault::KeyMissing { .. }));
    if !bad && !plain(&case.report.core_error) {
        return Vec::new();
    }
    let found: Vec<Candidate> = files(case).iter().filter_map(mended).collect();
    // Two broken files: nobody knows which one stopped the job.
    if found.len() == 1 { found } else { Vec::new() }
}

/// The JSON files that the job names.
fn files(case: &Case) -> Vec<ScriptFile> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for (_, module) in python::modules(case) {
        paths.extend(python::data_files(case, &module));
    }
    let argv = case.argv.iter().map(|word| word.to_string_lossy().into_owned());
    let words = case.files().into_iter().flat_map(|file| {
        let apart = |c: char| c.is_whitespace() || "\"'`()<>;=,|&".contains(c);
        file.text
            .split(apart)
            .filter(|word| word.ends_with(".json"))
            .map(str::to_owned)
            .take(50)
            .collect::<Vec<_>>()
    });
    paths.extend(argv.chain(words).filter_map(|word| case.find(std::path::Path::new(&word))));
    paths.sort();
    paths.dedup();
    let files = paths.into_iter().filter_map(|path| case.file(&path));
    files.filter(|file| file.language == Language::Other && file.text.len() <= MOST).take(20).collect()
}

fn mended(file: &ScriptFile) -> Option<Candidate> {
    let valid = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    let text = file.text.as_str();
    let start = text.trim_start();
    if !start.starts_with(['{', '[']) || valid(text) {
        return None;
    }
    let error = serde_json::from_str::<serde_json::Value>(text).err()?;
    let line_start: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = (line_start + error.column().saturating_sub(1)).min(text.len());
    let before = text.get(..at)?.trim_end();
    let with = format!("{before},{}", text.get(before.len()..)?);
    let without = before
        .strip_suffix(',')
        .map(|kept| format!("{kept}{}", text.get(before.len()..).unwrap_or_default()));
    let (after, what) = match (valid(&with), without.filter(|text| valid(text))) {
        (true, _) => (with, "a comma is missing"),
        (false, Some(without)) => (without, "there is a comma behind the last entry"),
        (false, None) => return None,
    };
    let line = text.get(..before.len())?.matches('\n').count() + 1;
    let name = file.path.file_name()?.to_string_lossy().into_owned();
    let mut draft = Draft::new("json_commas", format!("{name}, line {line}: {what}"), "put the commas right")
        .evidence(format!("with that one change {name} is valid JSON"))
        .rewrite(file, after, format!("{name}, line {line}: {what}"));
    draft.raise(selfheal_core::proposal::Risk::Medium);
    draft.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(data: &str) -> TestCase {
        let message = "Expecting ',' delimiter: line 3 column 3 (char 20)";
        TestCase::new(
            "x.py",
            "import json\nr = json.load(open('r.json'))\n",
            TestScene::new().file("r.json", data),
        )
        .fault(Fault::BadValue { value: None, message: message.into() })
        .at(2)
    }

    #[test]
    fn puts_commas_right() {
        assert_eq!(
            case("{\n  \"a\": 2\n  \"b\": [1]\n}\n").healed(&JsonCommas),
            "{\n  \"a\": 2,\n  \"b\": [1]\n}\n"
        );
        assert_eq!(
            case("{\"a\": [1, 2,\n ],\n \"b\": 1}").healed(&JsonCommas),
            "{\"a\": [1, 2\n ],\n \"b\": 1}"
        );
    }

    #[test]
    fn leaves_what_needs_more_alone() {
        assert!(case("{\"a\": 1 \"b\": 2 \"c\": 3}").silent(&JsonCommas));
        assert!(case("{\"a\": }").silent(&JsonCommas));
        assert!(case("{\"a\": 1}").silent(&JsonCommas));
        assert!(case("{\"a\": [1").silent(&JsonCommas));
    }
}
