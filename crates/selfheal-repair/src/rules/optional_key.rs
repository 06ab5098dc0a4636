//! # A key that some records leave out
//!
//! ## What it finds
//! A Python program asks for a key that one record does not have while others do, in an expression that already says what
//! happens when there is nothing: `order["note"] or "-"`.
//!
//! ## Why it fails
//! Senders leave out keys that have no value. The program expects the key with an empty value.
//!
//! ## Fix
//! The key is asked for with `.get`, which gives nothing when it is not there.
//!
//! ## Example
//! ```python
//! note = order["note"] or "-"
//! ```
//! ```python
//! note = order.get("note") or "-"
//! ```
//!
//! ## Safety
//! Only where the program itself treats the empty value, and only where the data has the key in other records: a key that was
//! renamed, or one that the program needs, still fails. It changes what is read, so the risk is medium.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Module, Subscript};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(OptionalKey, "optional_key", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let key = case.faults().find_map(|fault| match fault {
        Fault::KeyMissing { key } => Some(key.clone()),
        _ => None,
    });
    let Some(key) = key else { return Vec::new() };
    for (file, module) in python::modules(case) {
        let lines = python::failing_lines(case, &file.path);
        let found = module.subscripts().into_iter().filter(|access| access.key == key && !access.stored);
        let here: Vec<Subscript> = found.filter(|access| lines.contains(&access.line)).collect();
        let known = super::renamed_key::data_keys(case, &module).contains(&key);
        if here.is_empty() || !known || !here.iter().all(|access| treats_nothing(&module, access)) {
            continue;
        }
        let line = here.first().map_or(0, |access| access.line);
        let parts: Vec<Part> = here.iter().filter_map(|access| got(&module, access)).collect();
        let draft = Draft::new(
            "optional_key",
            format!("line {line}: some records have no {key:?}; the program treats an empty one, but not a missing one"),
            "treat a missing key as an empty one",
        )
        .evidence(format!("other records have {key:?}"))
        .meaning()
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: a missing {key:?} is an empty one"));
        return draft.done().into_iter().collect();
    }
    Vec::new()
}

fn got(module: &Module, access: &Subscript) -> Option<Part> {
    let key = module.text().get(access.key_span.clone())?;
    Some((access.span.clone(), format!("{}.get({key})", access.object)))
}

/// Whether an access stands to the left of `or`, or is a condition.
fn treats_nothing(module: &Module, access: &Subscript) -> bool {
    let Some(mut node) = python::node_at(module, &access.span) else { return false };
    while let Some(parent) = node.parent() {
        match parent.kind() {
            "boolean_operator" => {
                let left = parent.child_by_field_name("left") == Some(node);
                let or = parent.child_by_field_name("operator").is_some_and(|o| module.text_of(o) == "or");
                return left && or;
            }
            "parenthesized_expression" => node = parent,
            "if_statement" | "elif_clause" => return parent.child_by_field_name("condition") == Some(node),
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str, data: &str) -> TestCase {
        let text = format!("import json\nfor p in json.load(open('p.json')):\n    {line}\n");
        TestCase::new("x.py", &text, TestScene::new().file("p.json", data))
            .fault(Fault::KeyMissing { key: "phone".into() })
            .at(3)
    }

    const DATA: &str = "[{\"id\": 1, \"phone\": \"1\"}, {\"id\": 2}]";

    #[test]
    fn a_missing_key_is_an_empty_one_where_that_is_treated() {
        assert!(
            case("x = p[\"phone\"] or '-'", DATA)
                .healed(&OptionalKey)
                .contains("x = p.get(\"phone\") or '-'")
        );
        let healed = case("if p['phone']: call(p['id'])", DATA).healed(&OptionalKey);
        assert!(healed.contains("if p.get('phone'): call(p['id'])"), "{healed}");
    }

    #[test]
    fn leaves_keys_that_the_program_needs_or_the_data_never_has_alone() {
        assert!(case("x = p['phone'].strip()", DATA).silent(&OptionalKey));
        assert!(case("x = y or p['phone']", DATA).silent(&OptionalKey));
        assert!(case("x = p['phone'] or '-'", "[{\"id\": 1}]").silent(&OptionalKey));
    }
}
