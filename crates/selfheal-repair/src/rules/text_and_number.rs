//! # A number is joined to text
//!
//! ## What it finds
//! Python joins text and a number with `+`: "can only concatenate str (not "int") to str".
//!
//! ## Why it fails
//! Python does not turn numbers into text by itself. It shows only in the branch that joins them.
//!
//! ## Fix
//! The numbers of that expression are turned into text with `str`.
//!
//! ## Example
//! ```python
//! text += "failed: " + bad + "\n"
//! ```
//! ```python
//! text += "failed: " + str(bad) + "\n"
//! ```
//!
//! ## Safety
//! Only operands of an expression that holds text as written, and only names that held a number when it failed, or calls
//! that give numbers (`len`, `sum`, `int`). A sum of numbers from text (`"5" + 1`) is left to a person.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::Module;
use selfheal_syntax::tree::{Node, children};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(TextAndNumber, "text_and_number", Safe, propose);

/// Functions that give numbers.
const NUMBERS: &[&str] = &["len", "sum", "int", "float", "round", "abs", "time.time"];

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| match fault {
        Fault::WrongType { message } => {
            let joined = message.contains("can only concatenate str")
                || message.contains("must be str, not")
                || message.contains("to str");
            joined && (message.contains("int") || message.contains("float"))
        }
        _ => false,
    });
    if !told {
        return Vec::new();
    }
    for (file, module) in python::modules(case) {
        let lines = python::failing_lines(case, &file.path);
        let parts: Vec<Part> = module
            .nodes("binary_operator")
            .into_iter()
            .filter(|node| outermost(*node) && lines.iter().any(|line| covers(*node, *line)))
            .flat_map(|node| numbers(case, &module, node))
            .collect();
        let Some((first, _)) = parts.first() else { continue };
        let line = python::line_of(&file.text, first.start);
        return Draft::new(
            "text_and_number",
            format!("line {line}: text and a number are joined with +"),
            "turn the number into text",
        )
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: str(…)"))
        .done()
        .into_iter()
        .collect();
    }
    Vec::new()
}

fn outermost(node: Node<'_>) -> bool {
    node.parent().is_none_or(|parent| parent.kind() != "binary_operator")
}

fn covers(node: Node<'_>, line: u32) -> bool {
    let row = line.saturating_sub(1) as usize;
    node.start_position().row <= row && row <= node.end_position().row
}

/// The operands of a chain of `+` that are numbers, where text stands in it as written.
fn numbers(case: &Case, module: &Module, node: Node<'_>) -> Vec<Part> {
    let mut operands = Vec::new();
    collect(module, node, &mut operands);
    let written = |node: &Node<'_>| matches!(node.kind(), "string" | "concatenated_string");
    let part_of_text = operands.iter().any(written);
    if !part_of_text {
        return Vec::new();
    }
    let number = |node: &Node<'_>| {
        let text = module.text_of(*node);
        match node.kind() {
            "integer" | "float" => true,
            "identifier" => case
                .trace
                .and_then(|trace| trace.value(text))
                .is_some_and(|value| value.parse::<f64>().is_ok()),
            "parenthesized_expression" => is_calculated(module, *node),
            "call" => text.split_once('(').is_some_and(|(name, _)| NUMBERS.contains(&name)),
            _ => false,
        }
    };
    operands
        .iter()
        .filter(|node| number(node))
        .map(|node| (node.byte_range(), in_str(module.text_of(*node))))
        .collect()
}

fn in_str(text: &str) -> String {
    if text.starts_with('(') { format!("str{text}") } else { format!("str({text})") }
}

/// Whether an expression in brackets can only be a number: a difference, a product or a quotient of no text.
fn is_calculated(module: &Module, node: Node<'_>) -> bool {
    let inner = node.child(1).filter(|inner| inner.kind() == "binary_operator");
    let operator = inner.and_then(|inner| inner.child_by_field_name("operator"));
    operator.is_some_and(|op| matches!(module.text_of(op), "-" | "/" | "//" | "**"))
}

fn collect<'t>(module: &Module, node: Node<'t>, out: &mut Vec<Node<'t>>) {
    let plus = node.kind() == "binary_operator"
        && node.child_by_field_name("operator").is_some_and(|op| module.text_of(op) == "+");
    if !plus {
        out.push(node);
        return;
    }
    for side in children(node).into_iter().filter(|child| child.is_named() && out_of_comment(*child)) {
        collect(module, side, out);
    }
}

fn out_of_comment(node: Node<'_>) -> bool {
    node.kind() != "comment"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use selfheal_core::trace::{Frame, Trace};

    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str) -> TestCase {
        let values =
            BTreeMap::from([("bad".to_owned(), "3".to_owned()), ("name".to_owned(), "'web'".to_owned())]);
        TestCase::new("x.py", &format!("{line}\n"), TestScene::new())
            .fault(Fault::WrongType { message: "can only concatenate str (not \"int\") to str".into() })
            .trace(Trace { frames: vec![Frame { values, ..Frame::default() }], ..Trace::default() })
            .at(1)
    }

    #[test]
    fn turns_numbers_into_text() {
        assert_eq!(
            case("t += \"failed: \" + bad + \" of \" + name").healed(&TextAndNumber),
            "t += \"failed: \" + str(bad) + \" of \" + name\n"
        );
        assert_eq!(
            case("t = 'over by ' + (used - limit)").healed(&TextAndNumber),
            "t = 'over by ' + str(used - limit)\n"
        );
        assert_eq!(
            case("print('rows: ' + len(rows) + \"\\n\")").healed(&TextAndNumber),
            "print('rows: ' + str(len(rows)) + \"\\n\")\n"
        );
    }

    #[test]
    fn leaves_sums_alone() {
        assert!(case("t = name + bad").silent(&TextAndNumber));
        assert!(case("t = 'a' * bad").silent(&TextAndNumber));
    }
}
