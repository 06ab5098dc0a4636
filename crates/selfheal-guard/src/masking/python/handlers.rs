//! What a handler makes of an exception: fails after all, ends well, stays quiet, or goes another way.

use std::collections::BTreeSet;

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::python::Module;
use selfheal_syntax::tree::{Node, children, descendants};

use super::{fresh, line, squeezed};
use crate::finding::at;

/// Exceptions that catch nearly everything.
const BROAD: &[&str] =
    &["", "Exception", "BaseException", "SystemExit", "KeyboardInterrupt", "StandardError", "object"];

/// Calls after which one expected exception may be passed over, because what they want is already so.
const IDEMPOTENT: &[&str] = &[
    "remove",
    "unlink",
    "rmdir",
    "removedirs",
    "mkdir",
    "makedirs",
    "rmtree",
    "close",
    "kill",
    "symlink",
    "chmod",
    "terminate",
    "touch",
    "import_module",
];

/// Calls that end the program; with 0, nothing or `None` as the first argument they say success.
pub(super) const EXITS: &[&str] = &["sys.exit", "exit", "quit", "os._exit", "SystemExit"];

pub(super) fn handlers(old: &Module, new: &Module) -> Vec<Finding> {
    fresh(old, new, "except_clause").into_iter().filter_map(|node| handler(new, node)).collect()
}

fn handler(module: &Module, node: Node<'_>) -> Option<Finding> {
    let caught = caught(module, node);
    let broad = caught.iter().any(|name| BROAD.contains(&name.as_str())) || caught.is_empty();
    let body = children(node).into_iter().find(|child| child.kind() == "block")?;
    let at_line = line(node);
    if fails(module, body) {
        return None;
    }
    if ends_well(module, body) {
        return Some(at(
            "masking/exit-zero",
            at_line,
            Weight::Refuse,
            "an exception ends the program with success",
        ));
    }
    if made_up(module, body) {
        let why = "a value that nobody worked out takes the place of one that failed";
        return Some(at("masking/default", at_line, Weight::Refuse, why));
    }
    let kept = keeps(module, body);
    let quiet = children(body)
        .into_iter()
        .filter(Node::is_named)
        .all(|statement| is_quiet(module, statement) || !kept && only_collects(module, statement));
    if !quiet {
        // Kept in a list that is looked at, or a real other way.
        let weight = if broad { Weight::High } else { Weight::Medium };
        return Some(at(
            "masking/fallback",
            at_line,
            if kept { Weight::Medium } else { weight },
            "an exception is handled by another way",
        ));
    }
    if broad {
        return Some(at(
            "masking/swallowed",
            at_line,
            Weight::Refuse,
            "nearly every exception is caught and forgotten",
        ));
    }
    let harmless = node.parent().is_some_and(|try_| only_idempotent(module, try_));
    if harmless {
        return Some(at(
            "masking/expected-exception",
            at_line,
            Weight::Note,
            "one expected exception is passed over",
        ));
    }
    let names = caught.join(", ");
    Some(at("masking/swallowed", at_line, Weight::Refuse, format!("{names} is caught and forgotten")))
}

/// Calls whose result has nothing to do with what failed: clocks and dice.
const UNRELATED: &[&str] = &[
    "now",
    "utcnow",
    "today",
    "time.time",
    "monotonic",
    "uuid1",
    "uuid4",
    "random",
    "randint",
    "choice",
    "token_hex",
];

/// Whether what the `try` gives a name is replaced by the time of day or by chance.
fn made_up(module: &Module, handler: Node<'_>) -> bool {
    let Some(tried) = handler.parent().and_then(|clause| clause.parent()) else { return false };
    let given = |root: Node<'_>| -> Vec<(String, String)> {
        let all = descendants(root).into_iter().filter(|node| node.kind() == "assignment");
        let pair = |node: Node<'_>| {
            let (left, right) = (node.child_by_field_name("left")?, node.child_by_field_name("right")?);
            let function = right.child_by_field_name("function").map_or("", |name| module.text_of(name));
            Some((module.text_of(left).to_owned(), function.to_owned()))
        };
        all.filter_map(pair).collect()
    };
    let Some(body) = tried.child_by_field_name("body") else { return false };
    let worked_out = given(body);
    let unrelated =
        |call: &str| UNRELATED.iter().any(|name| call == *name || call.rsplit('.').next() == Some(name));
    given(handler).into_iter().any(|(name, call)| {
        unrelated(&call) && worked_out.iter().any(|(own, before)| *own == name && !unrelated(before))
    })
}

/// The names of the exceptions that a clause catches; empty for a bare one.
fn caught(module: &Module, node: Node<'_>) -> Vec<String> {
    let value = children(node)
        .into_iter()
        .find(|child| child.is_named() && child.kind() != "block" && child.kind() != "comment");
    let Some(value) = value else { return Vec::new() };
    let text = module.text_of(value);
    let text = text.split(" as ").next().unwrap_or(text);
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
        .filter(|name| !name.is_empty())
        .map(|name| name.rsplit('.').next().unwrap_or(name).to_owned())
        .collect()
}

/// Whether a block raises, or ends the program with a failure, somewhere.
fn fails(module: &Module, block: Node<'_>) -> bool {
    descendants(block).into_iter().any(|node| match node.kind() {
        "raise_statement" => !is_success_exit(module, node),
        "call" => is_exit(module, node) && !is_success_call(module, node),
        "return_statement" => {
            returned(module, node).is_some_and(|text| text.parse::<i64>().is_ok_and(|code| code > 0))
                && !in_value_function(module, node)
        }
        _ => false,
    })
}

/// Whether a `return 1` is the value of something other than a main function.
fn in_value_function(module: &Module, node: Node<'_>) -> bool {
    let mut at = node.parent();
    while let Some(parent) = at {
        if parent.kind() == "function_definition" {
            let name = parent.child_by_field_name("name").map_or("", |name| module.text_of(name));
            return !(name == "main" || name == "run" || name.ends_with("_main"));
        }
        at = parent.parent();
    }
    false
}

fn returned(module: &Module, node: Node<'_>) -> Option<String> {
    node.named_child(0).map(|value| module.text_of(value).to_owned())
}

/// Whether a block ends the program with success.
fn ends_well(module: &Module, block: Node<'_>) -> bool {
    descendants(block).into_iter().any(|node| match node.kind() {
        "raise_statement" => is_success_exit(module, node),
        "call" => is_exit(module, node) && is_success_call(module, node),
        _ => false,
    })
}

pub(super) fn is_exit(module: &Module, call: Node<'_>) -> bool {
    call.child_by_field_name("function").is_some_and(|function| {
        let name = module.text_of(function);
        EXITS.contains(&name) || name == "_exit"
    })
}

pub(super) fn is_success_call(module: &Module, call: Node<'_>) -> bool {
    let list = call.child_by_field_name("arguments");
    let first = list.and_then(|list| list.named_child(0)).map(|node| module.text_of(node).to_owned());
    matches!(first.as_deref(), None | Some("0" | "None" | "False" | "os.EX_OK"))
}

pub(super) fn is_success_exit(module: &Module, raise: Node<'_>) -> bool {
    let text = squeezed(module, raise);
    let call = children(raise).into_iter().find(|child| child.kind() == "call");
    call.is_some_and(|call| is_exit(module, call) && is_success_call(module, call))
        || text == "raise SystemExit"
}

/// Whether a statement only says something, goes on, or gives a constant.
pub(super) fn is_quiet(module: &Module, node: Node<'_>) -> bool {
    match node.kind() {
        "pass_statement" | "continue_statement" | "break_statement" | "comment" => true,
        "return_statement" => node.named_child(0).is_none_or(|value| is_constant(module, value)),
        "expression_statement" => node.named_child(0).is_none_or(|inner| match inner.kind() {
            "call" => is_message(module, inner) || takes_back(module, inner),
            "assignment" => {
                inner.child_by_field_name("right").is_some_and(|right| is_constant(module, right))
            }
            "ellipsis" | "string" => true,
            _ => false,
        }),
        _ => false,
    }
}

/// `connection.rollback()`: what was begun is taken back, which repairs nothing.
fn takes_back(module: &Module, call: Node<'_>) -> bool {
    let function = call.child_by_field_name("function");
    let method = function.and_then(|function| function.child_by_field_name("attribute"));
    method.is_some_and(|method| matches!(module.text_of(method), "rollback" | "close"))
}

pub(super) fn is_message(module: &Module, call: Node<'_>) -> bool {
    let name = call.child_by_field_name("function").map_or("", |function| module.text_of(function));
    let last = name.rsplit('.').next().unwrap_or(name);
    let speaks = [
        "print",
        "debug",
        "info",
        "warning",
        "warn",
        "error",
        "exception",
        "critical",
        "log",
        "print_exc",
        "sleep",
        "write",
        "echo",
        "secho",
    ];
    speaks.contains(&last)
}

pub(super) fn is_constant(module: &Module, node: Node<'_>) -> bool {
    match node.kind() {
        "integer" | "float" | "true" | "false" | "none" => true,
        "string" | "concatenated_string" => module.string(node).is_some(),
        "unary_operator" | "parenthesized_expression" => {
            node.named_child(0).is_some_and(|inner| is_constant(module, inner))
        }
        "list" | "dictionary" | "tuple" | "set" => {
            children(node).into_iter().filter(Node::is_named).all(|child| match child.kind() {
                "pair" => child.child_by_field_name("value").is_some_and(|value| is_constant(module, value)),
                _ => is_constant(module, child),
            })
        }
        "call" => {
            let name = node.child_by_field_name("function").map_or("", |function| module.text_of(function));
            let empty =
                node.child_by_field_name("arguments").is_some_and(|list| list.named_child_count() == 0);
            empty
                && matches!(
                    name,
                    "dict"
                        | "list"
                        | "set"
                        | "tuple"
                        | "str"
                        | "int"
                        | "float"
                        | "pd.DataFrame"
                        | "DataFrame"
                )
        }
        _ => false,
    }
}

/// Whether a block keeps what happened in a name that is looked at elsewhere.
fn keeps(module: &Module, block: Node<'_>) -> bool {
    let names: BTreeSet<&str> = descendants(block)
        .into_iter()
        .filter_map(|node| match node.kind() {
            "call" => {
                let function = node.child_by_field_name("function")?;
                let method = function.child_by_field_name("attribute").map(|name| module.text_of(name))?;
                matches!(method, "append" | "add" | "extend" | "put")
                    .then(|| function.child_by_field_name("object"))
                    .flatten()
            }
            "augmented_assignment" | "assignment" => node.child_by_field_name("left"),
            _ => None,
        })
        .map(|name| module.text_of(name))
        .collect();
    let conditions =
        module.nodes("if_statement").into_iter().filter_map(|node| node.child_by_field_name("condition"));
    let raises = module.nodes("raise_statement").into_iter();
    let exits = module.nodes("call").into_iter().filter(|call| is_exit(module, *call));
    let deciding: Vec<Node<'_>> = conditions.chain(raises).chain(exits).collect();
    deciding.into_iter().any(|node| {
        descendants(node)
            .into_iter()
            .any(|inner| inner.kind() == "identifier" && names.contains(module.text_of(inner)))
    })
}

/// Whether a statement only puts something aside: `errors.append(e)`, `bad += 1`.
fn only_collects(module: &Module, statement: Node<'_>) -> bool {
    statement.named_child(0).is_some_and(|inner| match inner.kind() {
        "augmented_assignment" => true,
        "call" => {
            let name = inner.child_by_field_name("function").map_or("", |function| module.text_of(function));
            ["append", "add", "extend", "put"].contains(&name.rsplit('.').next().unwrap_or(name))
                && name.contains('.')
        }
        _ => false,
    })
}

/// Whether everything in the `try` body is a call whose wish may already be fulfilled, or an import.
fn only_idempotent(module: &Module, try_: Node<'_>) -> bool {
    let Some(body) = try_.child_by_field_name("body") else { return false };
    children(body).into_iter().filter(Node::is_named).all(|statement| {
        let import = matches!(statement.kind(), "import_statement" | "import_from_statement" | "comment");
        import
            || statement
                .named_child(0)
                .is_some_and(|inner| inner.kind() == "call" && is_idempotent(module, inner))
    })
}

pub(super) fn is_idempotent(module: &Module, call: Node<'_>) -> bool {
    let name = call.child_by_field_name("function").map_or("", |function| module.text_of(function));
    IDEMPOTENT.contains(&name.rsplit('.').next().unwrap_or(name))
}
