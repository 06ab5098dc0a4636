//! # A value that JSON has no form for
//!
//! ## What it finds
//! A Python program writes JSON, and one of the values is a `Decimal`, a date, a time, a path, a UUID or a set.
//!
//! ## Why it fails
//! JSON knows numbers, texts, lists and objects. Anything else needs to be told how it is written.
//!
//! ## Fix
//! The writer is told: such values are written as their text, sets as sorted lists.
//!
//! ## Example
//! ```python
//! json.dump({"total": total}, out)
//! ```
//! ```python
//! json.dump({"total": total}, out, default=str)
//! ```
//!
//! ## Safety
//! Whoever reads the file gets a text, exact to the last digit, and not a number; so the risk is medium. A value of any other kind
//! still fails.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(JsonValues, "json_values", Unsafe, propose);

/// Kinds of values and what writes them.
const KINDS: &[(&str, &str)] = &[
    ("Decimal", "str"),
    ("Fraction", "str"),
    ("date", "str"),
    ("datetime", "datetime.isoformat"),
    ("time", "str"),
    ("timedelta", "str"),
    ("UUID", "str"),
    ("PosixPath", "str"),
    ("PurePosixPath", "str"),
    ("set", "sorted"),
    ("frozenset", "sorted"),
];

fn propose(case: &Case) -> Vec<Candidate> {
    let message = case
        .faults()
        .filter_map(|fault| match fault {
            Fault::WrongType { message } | Fault::Other { message } => Some(message.as_str()),
            _ => None,
        })
        .chain([case.report.core_error.as_str()])
        .find(|message| message.contains("is not JSON serializable"));
    let kind = message.and_then(|message| {
        let name = message.split("Object of type ").nth(1)?.split_whitespace().next()?;
        KINDS.iter().find(|(kind, _)| *kind == name)
    });
    let Some((kind, writer)) = kind else { return Vec::new() };
    let writer = if *writer == "datetime.isoformat" { "str" } else { writer };
    let modules = python::modules(case);
    let found = modules.iter().filter_map(|(file, module)| {
        let lines = python::failing_lines(case, &file.path);
        let calls: Vec<_> =
            ["json.dump", "json.dumps"].iter().flat_map(|name| module.calls_of(name)).collect();
        let here: Vec<_> = calls
            .iter()
            .filter(|call| call.keyword("default").is_none() && call.keyword("cls").is_none())
            .filter(|call| lines.iter().any(|line| covers(&file.text, call, *line)))
            .collect();
        let parts: Vec<Part> = here
            .iter()
            .filter_map(|call| python::add_argument(module, &call.span, &format!("default={writer}")))
            .collect();
        let line = here.first()?.line;
        Draft::new(
            "json_values",
            format!("line {line}: JSON has no form for a {kind}"),
            format!("write a {kind} with {writer}"),
        )
        .evidence(crate::text::shortened(message.unwrap_or_default(), 120))
        .meaning()
        .rewrite(file, splice(&file.text, parts), format!("line {line}: default={writer}"))
        .done()
    });
    found.take(1).collect()
}

fn covers(text: &str, call: &selfheal_syntax::python::Call, line: u32) -> bool {
    let lines = text.get(call.span.clone()).unwrap_or_default().matches('\n').count() as u32;
    (call.line..=call.line + lines).contains(&line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str, kind: &str) -> TestCase {
        TestCase::new("x.py", &format!("import json\n{line}\n"), TestScene::new())
            .fault(Fault::WrongType { message: format!("Object of type {kind} is not JSON serializable") })
            .at(2)
    }

    #[test]
    fn tells_the_writer() {
        assert!(
            case("json.dump(x, out, indent=1)", "Decimal")
                .healed(&JsonValues)
                .contains("indent=1, default=str)")
        );
        assert!(
            case("print(json.dumps(x))", "set").healed(&JsonValues).contains("json.dumps(x, default=sorted)")
        );
    }

    #[test]
    fn leaves_other_kinds_and_writers_that_are_told_alone() {
        assert!(case("json.dump(x, out)", "Customer").silent(&JsonValues));
        assert!(case("json.dump(x, out, default=list)", "Decimal").silent(&JsonValues));
        assert!(case("dump(x, out)", "Decimal").silent(&JsonValues));
    }
}
