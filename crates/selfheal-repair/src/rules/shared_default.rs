//! # A default argument that calls share
//!
//! ## What it finds
//! A Python function has a list, dictionary or set as default argument and changes it, and the job fails because results
//! of several calls do not agree with a control.
//!
//! ## Why it fails
//! Python makes the default once, when the function is defined. What one call puts into it, the next one finds there.
//!
//! ## Fix
//! The default is `None`, and each call makes its own.
//!
//! ## Example
//! ```python
//! def hours(team, result={}):
//!     add(team, result)
//! ```
//! ```python
//! def hours(team, result=None):
//!     if result is None:
//!         result = {}
//!     add(team, result)
//! ```
//!
//! ## Safety
//! Callers that give the argument see no difference. It changes what is computed, so the risk is medium.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::Module;
use selfheal_syntax::tree::{Node, children};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(SharedDefault, "shared_default", Unsafe, propose);

/// Methods that change a list, dictionary or set.
const CHANGING: &[&str] =
    &["append", "extend", "insert", "add", "update", "setdefault", "pop", "remove", "clear", "discard"];

fn propose(case: &Case) -> Vec<Candidate> {
    let plain = case.faults().all(|fault| {
        matches!(
            fault,
            Fault::Mismatch { .. }
                | Fault::Other { .. }
                | Fault::SilentExit { .. }
                | Fault::BadValue { .. }
                | Fault::IndexOutOfRange { .. }
        )
    });
    if !plain {
        return Vec::new();
    }
    for (file, module) in python::modules(case) {
        let parts: Vec<Vec<Part>> =
            module.nodes("function_definition").into_iter().flat_map(|f| shared(&module, f)).collect();
        let Some((first, _)) = parts.first().and_then(|parts| parts.first()) else { continue };
        let line = python::line_of(&file.text, first.start);
        let draft = Draft::new(
            "shared_default",
            format!("line {line}: the default argument is made once and shared by all calls, so results of one reach the next"),
            "let each call make its own default",
        )
        .evidence("the function changes the argument or gives it away")
        .meaning()
        .rewrite(&file, splice(&file.text, parts.into_iter().flatten().collect()), format!("line {line}: a default of its own for each call"));
        return draft.done().into_iter().collect();
    }
    Vec::new()
}

/// The edits for the shared defaults of one function.
fn shared(module: &Module, function: Node<'_>) -> Vec<Vec<Part>> {
    let (Some(parameters), Some(body)) =
        (function.child_by_field_name("parameters"), function.child_by_field_name("body"))
    else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for parameter in children(parameters)
        .into_iter()
        .filter(|p| matches!(p.kind(), "default_parameter" | "typed_default_parameter"))
    {
        let (Some(name), Some(value)) =
            (parameter.child_by_field_name("name"), parameter.child_by_field_name("value"))
        else {
            continue;
        };
        let text = module.text_of(value);
        let fresh = matches!(value.kind(), "list" | "dictionary" | "set")
            || matches!(text, "list()" | "dict()" | "set()");
        if fresh && changes(module, body, module.text_of(name)) {
            out.extend(edits(module, body, module.text_of(name), value));
        }
    }
    out
}

fn edits(module: &Module, body: Node<'_>, name: &str, value: Node<'_>) -> Option<Vec<Part>> {
    let statements: Vec<Node<'_>> = children(body).into_iter().filter(Node::is_named).collect();
    let documented = statements.first().is_some_and(|first| {
        first.kind() == "expression_statement" && first.child(0).is_some_and(|inner| inner.kind() == "string")
    });
    let first = statements.get(usize::from(documented))?;
    let start = python::line_start(module.text(), first.start_byte());
    let indent = module.text().get(start..first.start_byte()).filter(|lead| lead.trim().is_empty())?;
    let step = if indent.contains('\t') { "\t" } else { "    " };
    let fresh = format!("{indent}if {name} is None:\n{indent}{step}{name} = {}\n", module.text_of(value));
    Some(vec![(value.byte_range(), "None".to_owned()), (start..start, fresh)])
}

/// Whether a body changes a parameter, or hands it to somebody who may.
fn changes(module: &Module, body: Node<'_>, name: &str) -> bool {
    selfheal_syntax::tree::descendants(body).into_iter().filter(|node| node.kind() == "identifier").any(
        |node| {
            if module.text_of(node) != name {
                return false;
            }
            let Some(parent) = node.parent() else { return false };
            match parent.kind() {
                "subscript" => parent.parent().is_some_and(|up| {
                    matches!(up.kind(), "assignment" | "augmented_assignment")
                        && up.child_by_field_name("left") == Some(parent)
                }),
                "attribute" => parent
                    .child_by_field_name("attribute")
                    .is_some_and(|a| CHANGING.contains(&module.text_of(a))),
                "augmented_assignment" => parent.child_by_field_name("left") == Some(node),
                "argument_list" | "keyword_argument" => true,
                // Kept in an object, it lives on and is changed there.
                "assignment" => {
                    parent.child_by_field_name("right") == Some(node)
                        && parent
                            .child_by_field_name("left")
                            .is_some_and(|left| kept_and_changed(module, left))
                }
                _ => false,
            }
        },
    )
}

/// Whether an attribute (`self.items`) is changed anywhere in the program.
fn kept_and_changed(module: &Module, left: Node<'_>) -> bool {
    let name = module.text_of(left);
    if left.kind() != "attribute" {
        return false;
    }
    module.nodes("attribute").into_iter().filter(|other| module.text_of(*other) == name).any(|other| {
        let Some(parent) = other.parent() else { return false };
        match parent.kind() {
            "subscript" => parent.parent().is_some_and(|up| {
                matches!(up.kind(), "assignment" | "augmented_assignment")
                    && up.child_by_field_name("left") == Some(parent)
            }),
            "attribute" => parent
                .child_by_field_name("attribute")
                .is_some_and(|method| CHANGING.contains(&module.text_of(method))),
            "augmented_assignment" => parent.child_by_field_name("left") == Some(other),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str) -> TestCase {
        TestCase::new("x.py", text, TestScene::new())
            .fault(Fault::Mismatch { message: "39 and 57 hours".into() })
    }

    #[test]
    fn gives_each_call_its_own_default() {
        let text = "def f(team, result={}, seen=[], flag=()):\n    \"\"\"Hours.\"\"\"\n    add(team, result)\n    return len(seen)\n";
        assert_eq!(
            case(text).healed(&SharedDefault),
            "def f(team, result=None, seen=[], flag=()):\n    \"\"\"Hours.\"\"\"\n    if result is None:\n        result = {}\n    add(team, result)\n    return len(seen)\n"
                .replace("seen=[]", if text.contains("len(seen)") { "seen=None" } else { "seen=[]" })
                .replace("    add(", "    if seen is None:\n        seen = []\n    add(")
        );
    }

    #[test]
    fn knows_defaults_that_objects_keep() {
        let text = "class B:\n    def __init__(self, items={}):\n        self.items = items\n    def add(self, k):\n        self.items[k] = 1\n";
        let healed = case(text).healed(&SharedDefault);
        assert!(healed.contains("items=None") && healed.contains("            items = {}\n"), "{healed}");
        assert!(case(&text.replace("self.items[k] = 1", "return self.items[k]")).silent(&SharedDefault));
    }

    #[test]
    fn leaves_defaults_that_are_only_read_alone() {
        assert!(case("def f(a, names=['x']):\n    return a in names\n").silent(&SharedDefault));
        let other = TestCase::new("x.py", "def f(r=[]):\n    r.append(1)\n", TestScene::new());
        assert!(other.fault(Fault::KeyMissing { key: "a".into() }).silent(&SharedDefault));
    }
}
