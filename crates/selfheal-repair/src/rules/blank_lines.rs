//! # A blank line in the input
//!
//! ## What it finds
//! A Python program reads a file line by line, takes a part of each line, and stops at a line that has none because it is blank.
//!
//! ## Why it fails
//! Editors and exports leave blank lines, most of all at the end. Splitting one gives too few parts.
//!
//! ## Fix
//! Blank lines are passed over.
//!
//! ## Example
//! ```python
//! for line in source:
//!     name, value = line.split(":")
//! ```
//! ```python
//! for line in source:
//!     if not line.strip():
//!         continue
//!     name, value = line.split(":")
//! ```
//!
//! ## Safety
//! Only when a probe saw that the line at the point of failure holds nothing but blanks. A line that has words, but too few of
//! them, still fails the job.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::Module;
use selfheal_syntax::tree::{Node, children};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(BlankLines, "blank_lines", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let few = case.faults().any(|fault| match fault {
        Fault::IndexOutOfRange { .. } => true,
        Fault::BadValue { value: Some(value), .. } => value.replace("\\n", "").trim().is_empty(),
        _ => false,
    });
    if !few {
        return Vec::new();
    }
    for (file, module) in python::modules(case) {
        let lines = python::failing_lines(case, &file.path);
        let found = module.nodes("for_statement").into_iter().filter(|node| {
            let (first, last) = (node.start_byte(), node.end_byte());
            let (first, last) = (python::line_of(&file.text, first), python::line_of(&file.text, last));
            lines.iter().any(|line| first < *line && *line <= last)
        });
        // The innermost loop over lines.
        let Some((name, part)) = found.filter_map(|node| skip(case, &module, node)).next_back() else {
            continue;
        };
        let line = python::line_of(&file.text, part.0.start);
        let draft = Draft::new(
            "blank_lines",
            format!("line {line}: the input has a blank line, which has no parts"),
            "pass over blank lines",
        )
        .evidence(format!("{name} held only blanks when the program stopped"))
        .meaning()
        .rewrite(
            &file,
            splice(&file.text, vec![part]),
            format!("line {line}: pass over blank lines"),
        );
        return draft.done().into_iter().collect();
    }
    Vec::new()
}

/// The name of a loop's line and the edit that passes over a blank one, when a probe saw that it was blank.
fn skip(case: &Case, module: &Module, node: Node<'_>) -> Option<(String, Part)> {
    let names = module.text_of(node.child_by_field_name("left")?);
    let source = module.text_of(node.child_by_field_name("right")?);
    let numbered = source.starts_with("enumerate(");
    let name = if numbered { names.rsplit(',').next()?.trim() } else { names.trim() };
    if !name.chars().all(crate::text::is_name) || name.is_empty() {
        return None;
    }
    let value = case.trace?.value(name)?.trim();
    // As Python shows it: `'\\n'`.
    let inner = value.strip_prefix(['\'', '"'])?.strip_suffix(['\'', '"'])?;
    if !inner.replace("\\n", "").replace("\\r", "").replace("\\t", "").trim().is_empty() {
        return None;
    }
    let body = node.child_by_field_name("body")?;
    let first = children(body).into_iter().find(Node::is_named)?;
    let start = python::line_start(module.text(), first.start_byte());
    let indent = module.text().get(start..first.start_byte()).filter(|lead| lead.trim().is_empty())?;
    let step = if indent.contains('\t') { "\t" } else { "    " };
    let lines = format!("{indent}if not {name}.strip():\n{indent}{step}continue\n");
    Some((name.to_owned(), (start..start, lines)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use selfheal_core::trace::{Frame, Trace};

    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, value: &str) -> TestCase {
        let values = BTreeMap::from([("line".to_owned(), value.to_owned())]);
        let trace = Trace { frames: vec![Frame { values, ..Frame::default() }], ..Trace::default() };
        TestCase::new("x.py", text, TestScene::new())
            .fault(Fault::IndexOutOfRange { message: "list index out of range".into() })
            .at(2)
            .trace(trace)
    }

    #[test]
    fn passes_over_blank_lines() {
        let text = "for n, line in enumerate(f, 1):\n    book[n] = line.split(':')[1]\n";
        assert_eq!(
            case(text, "'\\n'").healed(&BlankLines),
            "for n, line in enumerate(f, 1):\n    if not line.strip():\n        continue\n    book[n] = line.split(':')[1]\n"
        );
        assert!(
            case("for line in open('x'):\n    a = line.split()[1]\n", "''")
                .healed(&BlankLines)
                .contains("continue")
        );
    }

    #[test]
    fn leaves_lines_with_words_alone() {
        let text = "for line in f:\n    a = line.split(':')[1]\n";
        assert!(case(text, "'al\\n'").silent(&BlankLines));
        assert!(case("for other in f:\n    a = other.split(':')[1]\n", "''").silent(&BlankLines));
    }
}
