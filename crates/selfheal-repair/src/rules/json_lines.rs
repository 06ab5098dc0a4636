//! # A JSON file became one object a line
//!
//! ## What it finds
//! A Python program reads a file as one JSON document, and it holds one document a line: "Extra data: line 2 column 1".
//!
//! ## Why it fails
//! Whoever writes the file has changed from one array to JSON Lines.
//!
//! ## Fix
//! Every line is read for itself, into a list.
//!
//! ## Example
//! ```python
//! rows = json.load(f)
//! ```
//! ```python
//! rows = [json.loads(line) for line in f if line.strip()]
//! ```
//!
//! ## Safety
//! Only where every line of a file of the job is a whole JSON value. A broken line still fails. It changes what is read, so
//! the risk is medium.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, LARGEST};
use crate::python::{self, Part};
use crate::shell::splice;

rule!(JsonLines, "json_lines", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| match fault {
        Fault::BadValue { message, .. } | Fault::Syntax { message, .. } | Fault::Other { message } => {
            message.contains("Extra data")
        }
        _ => false,
    });
    if !told {
        return Vec::new();
    }
    for (file, module) in python::modules(case) {
        let lines = python::failing_lines(case, &file.path);
        let calls = module.calls().into_iter().filter(|call| lines.contains(&call.line));
        let parts: Vec<Part> = calls.filter_map(|call| by_line(&module, &call)).collect();
        let data = python::data_files(case, &module)
            .into_iter()
            .find(|path| case.scene.read(path, LARGEST).is_some_and(|bytes| one_a_line(&bytes)));
        let (Some((first, _)), Some(data)) = (parts.first(), data) else { continue };
        let line = python::line_of(&file.text, first.start);
        return Draft::new(
            "json_lines",
            format!("{} holds one JSON value a line, and is read as one document", data.display()),
            "read every line for itself",
        )
        .meaning()
        .evidence("every line of it is a whole JSON value")
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: reads every line"))
        .done()
        .into_iter()
        .collect();
    }
    Vec::new()
}

fn one_a_line(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.len() > 1
        && lines.iter().all(|line| {
            line.trim_start().starts_with(['{', '['])
                && serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok()
        })
}

/// A call that reads one document, as one that reads a list of them.
fn by_line(module: &Module, call: &Call) -> Option<Part> {
    let loads = module
        .text()
        .get(call.span.clone())?
        .split('(')
        .next()?
        .replace("load", "loads")
        .replace("loadss", "loads");
    let [argument] = call.arguments.as_slice() else { return None };
    if !call.keywords.is_empty() {
        return None;
    }
    let lines = match call.resolved.as_str() {
        "json.load" => argument.text.clone(),
        "json.loads" => match argument.text.strip_suffix(".read()") {
            Some(file) => file.to_owned(),
            None => format!("{}.splitlines()", argument.text),
        },
        _ => return None,
    };
    // `from json import load` does not bring `loads` along.
    call.callee
        .contains('.')
        .then(|| (call.span.clone(), format!("[{loads}(line) for line in {lines} if line.strip()]")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str, data: &str) -> TestCase {
        TestCase::new(
            "x.py",
            &format!("import json\n{line} # feed.json\nF = 'feed.json'\n"),
            TestScene::new().file("feed.json", data),
        )
        .fault(Fault::BadValue { value: None, message: "Extra data: line 2 column 1 (char 9)".into() })
        .at(2)
    }

    const DATA: &str = "{\"a\": 1}\n{\"a\": 2}\n";

    #[test]
    fn reads_every_line() {
        assert!(
            case("rows = json.load(f)", DATA)
                .healed(&JsonLines)
                .contains("rows = [json.loads(line) for line in f if line.strip()]")
        );
        assert!(
            case("rows = json.loads(p.read_text())", DATA)
                .healed(&JsonLines)
                .contains("[json.loads(line) for line in p.read_text().splitlines() if line.strip()]")
        );
    }

    #[test]
    fn leaves_broken_documents_alone() {
        assert!(case("rows = json.load(f)", "{\"a\": 1}\n}\n").silent(&JsonLines));
        assert!(case("rows = json.load(f)", "[1]\n").silent(&JsonLines));
    }
}
