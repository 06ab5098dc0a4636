//! # A default argument that calls share
//!
//! ## What it finds
//! A Python function has a list, dictionary or set as default argument and changes it, or a program makes one list for all with
//! `dict.fromkeys(names, [])` or `[[]] * n`, and the job fails because results do not agree with a control.
//!
//! ## Why it fails
//! Python makes the default once, when the function is defined. What one call puts into it, the next one finds there. In the same
//! way all keys of the dictionary and all places of the list have the very same list.
//!
//! ## Fix
//! The default is `None`, and each call makes its own. A comprehension makes a list for every key and every place.
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
use selfheal_syntax::python::{Call, Module};
use selfheal_syntax::tree::{Node, children};

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
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
        if parts.is_empty()
            && let Some(candidate) = one_for_all(&file, &module)
        {
            return vec![candidate];
        }
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

/// The repair for a list, dictionary or set that is made once for all keys of a dictionary or all places of a list.
fn one_for_all(file: &ScriptFile, module: &Module) -> Option<Candidate> {
    let changed = |name: &str| {
        let inside = format!("{name}[");
        let in_place = |line: &str| {
            line.contains("][") || CHANGING.iter().any(|method| line.contains(&format!(".{method}(")))
        };
        module.text().lines().any(|line| line.contains(&inside) && in_place(line))
    };
    let calls = module.calls().into_iter().filter_map(|call| own_for_each_key(module, &call));
    let products = module.nodes("binary_operator").into_iter().filter_map(|n| own_for_each_place(module, n));
    let parts: Vec<Part> =
        calls.chain(products).filter(|(span, _)| assigned_name(module, span).is_some_and(changed)).collect();
    let line = python::line_of(&file.text, parts.first()?.0.start);
    Draft::new(
        "shared_default",
        format!("line {line}: one and the same object is put into all places, so what is put into one is in all of them"),
        "make an object of its own for each place",
    )
    .evidence("the program changes what is in one of the places")
    .meaning()
    .rewrite(file, splice(&file.text, parts), format!("line {line}: an object of its own for each place"))
    .done()
}

/// The name that a value is assigned to, where it is the whole value.
fn assigned_name<'m>(module: &'m Module, span: &std::ops::Range<usize>) -> Option<&'m str> {
    let value = module.root().descendant_for_byte_range(span.start, span.end)?;
    let whole = value.byte_range() == *span;
    let holder = value.parent().filter(|holder| whole && holder.kind() == "assignment")?;
    let left = holder.child_by_field_name("left").filter(|left| left.kind() == "identifier")?;
    Some(module.text_of(left))
}

/// `dict.fromkeys(names, [])` with a list of its own for each name.
fn own_for_each_key(module: &Module, call: &Call) -> Option<Part> {
    let [keys, value] = call.arguments.as_slice() else { return None };
    let node = python::node_at(module, &value.span)?;
    let fits = call.callee == "dict.fromkeys" && call.keywords.is_empty() && is_fresh(module, node);
    let plain = crate::text::whole_words(&value.text, "key").next().is_none();
    (fits && plain).then(|| (call.span.clone(), format!("{{key: {} for key in {}}}", value.text, keys.text)))
}

/// `[[]] * n` with a list of its own for each place.
fn own_for_each_place(module: &Module, node: Node<'_>) -> Option<Part> {
    let operator = module.text_of(node.child_by_field_name("operator")?);
    let (left, right) = (node.child_by_field_name("left")?, node.child_by_field_name("right")?);
    let (list, count) = if left.kind() == "list" { (left, right) } else { (right, left) };
    let items: Vec<Node<'_>> = children(list).into_iter().filter(Node::is_named).collect();
    let [item] = items.as_slice() else { return None };
    let row = item.kind() == "binary_operator"
        && item.child_by_field_name("left").is_some_and(|inner| inner.kind() == "list");
    let fits = operator == "*" && list.kind() == "list" && count.kind() != "list";
    let count = module.text_of(count);
    let count = count.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(count);
    (fits && (row || is_fresh(module, *item)))
        .then(|| (node.byte_range(), format!("[{} for _ in range({count})]", module.text_of(*item))))
}

/// Whether an expression makes a list, dictionary or set.
fn is_fresh(module: &Module, value: Node<'_>) -> bool {
    matches!(value.kind(), "list" | "dictionary" | "set")
        || matches!(module.text_of(value), "list()" | "dict()" | "set()")
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
        if is_fresh(module, value) && changes(module, body, module.text_of(name)) {
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

    #[test]
    fn every_key_and_place_gets_its_own() {
        let ask = |text: &str| {
            TestCase::new("x.py", text, TestScene::new())
                .fault(Fault::Mismatch { message: "9 in all, 3 expected".into() })
                .ask(&SharedDefault)
                .first()
                .and_then(|found| found.proposal.changes.first()?.after.clone())
                .map(|after| String::from_utf8(after).unwrap())
        };
        let keys = "seats = dict.fromkeys(HALLS, [])\nseats[hall].append(guest)\n";
        let healed = ask(keys).unwrap();
        assert!(healed.starts_with("seats = {key: [] for key in HALLS}\n"), "{healed}");
        let places =
            "days = [[]] * (last + 1)\ngrid = 7 * [[0] * width]\ndays[n].append(1)\ngrid[y][x] = 1\n";
        let healed = ask(places).unwrap();
        assert!(healed.starts_with("days = [[] for _ in range(last + 1)]\n"), "{healed}");
        assert!(healed.contains("grid = [[0] * width for _ in range(7)]\n"), "{healed}");
        // What is only read or replaced as a whole is nobody's fault.
        for text in [
            "seats = dict.fromkeys(HALLS, 0)\nseats[hall] += 1\n",
            "seats = dict.fromkeys(HALLS, [])\nseats[hall] = [guest]\n",
            "row = [0] * 7\nrow[2] = 1\n",
            "print(dict.fromkeys(HALLS, []))\n",
        ] {
            assert!(ask(text).is_none(), "{text}");
        }
    }
}
