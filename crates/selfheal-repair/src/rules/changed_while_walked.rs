//! # A dictionary changes while it is walked through
//!
//! ## What it finds
//! A `for` loop over a dictionary or set whose body adds to it or removes from it: "dictionary changed size during iteration".
//!
//! ## Why it fails
//! Python 3 walks through the dictionary itself; Python 2 made a list of it first. It passes as long as nothing has to go.
//!
//! ## Fix
//! The loop walks through a list of what was there at its beginning.
//!
//! ## Example
//! ```python
//! for key, until in sessions.items():
//!     if until < now:
//!         del sessions[key]
//! ```
//! ```python
//! for key, until in list(sessions.items()):
//!     if until < now:
//!         del sessions[key]
//! ```
//!
//! ## Safety
//! The body stays as it is; every entry that was there at the beginning is looked at once.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::Module;
use selfheal_syntax::tree::Node;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(ChangedWhileWalked, "changed_while_walked", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| match fault {
        Fault::Other { message } | Fault::BadValue { message, .. } | Fault::WrongType { message } => {
            message.contains("changed size during iteration")
                || message.contains("keys changed during iteration")
        }
        _ => false,
    });
    if !told {
        return Vec::new();
    }
    for (file, module) in python::modules(case) {
        let lines = python::failing_lines(case, &file.path);
        let here = |node: &Node<'_>| lines.iter().any(|line| node.start_position().row + 1 == *line as usize);
        let loops = module.nodes("for_statement").into_iter().filter(here);
        let parts: Vec<Part> = loops.filter_map(|node| listed(&module, node)).collect();
        let Some((first, _)) = parts.first() else { continue };
        let line = python::line_of(&file.text, first.start);
        return Draft::new(
            "changed_while_walked",
            format!("line {line}: the loop changes what it walks through"),
            "walk through a list of what was there at the beginning",
        )
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: list(…)"))
        .done()
        .into_iter()
        .collect();
    }
    Vec::new()
}

/// What a loop walks through, as a list; `None` when it is one already, or when the body does not name it.
fn listed(module: &Module, node: Node<'_>) -> Option<Part> {
    let walked = node.child_by_field_name("right")?;
    let text = module.text_of(walked);
    let copies = ["list(", "tuple(", "sorted(", "set(", "dict("].iter().any(|head| text.starts_with(head));
    let base =
        [".items()", ".keys()", ".values()"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    let body = node.child_by_field_name("body").map(|body| module.text_of(body).to_owned())?;
    let named = base.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '"' | '\''));
    (!copies && named && body.contains(base)).then(|| (walked.byte_range(), format!("list({text})")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str) -> TestCase {
        let message = "RuntimeError: dictionary changed size during iteration".to_owned();
        TestCase::new("x.py", text, TestScene::new()).fault(Fault::Other { message }).at(1)
    }

    #[test]
    fn walks_through_a_list() {
        assert!(
            case("for k, v in d.items():\n    del d[k]\n")
                .healed(&ChangedWhileWalked)
                .starts_with("for k, v in list(d.items()):\n")
        );
        assert!(
            case("for k in self.open:\n    if k: self.open.pop(k)\n")
                .healed(&ChangedWhileWalked)
                .starts_with("for k in list(self.open):\n")
        );
    }

    #[test]
    fn leaves_lists_and_other_loops_alone() {
        assert!(case("for k in list(d):\n    del d[k]\n").silent(&ChangedWhileWalked));
        assert!(case("for k in d:\n    walk(k)\n").silent(&ChangedWhileWalked));
    }
}
