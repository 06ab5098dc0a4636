//! What becomes of an error in JavaScript: `catch`, `.catch(…)`, `.then(…, …)`, callbacks.

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::tree::{Node, children, descendants};

use super::{Program, above, fresh, line};
use crate::finding::at;

/// Names of functions that hand an error on.
const HANDS_ON: &[&str] = &[
    "reject",
    "next",
    "done",
    "cb",
    "callback",
    "fail",
    "die",
    "abort",
    "fatal",
    "bail",
    "panic",
    "onError",
    "onFatal",
    "raise",
    "exitWithError",
];

/// Names of functions that only say something, or only wait.
const MESSAGES: &[&str] = &[
    "log",
    "warn",
    "error",
    "info",
    "debug",
    "trace",
    "print",
    "captureException",
    "captureMessage",
    "write",
    "sleep",
    "delay",
    "setTimeout",
    "notify",
];

/// New handlers after which nothing fails.
pub fn compare(old: &Program, new: &Program) -> Vec<Finding> {
    let mut out = Vec::new();
    for clause in fresh(old, new, "catch_clause") {
        let Some(body) = clause.child_by_field_name("body") else { continue };
        out.extend(judge(new, clause, body));
    }
    for call in fresh(old, new, "call_expression") {
        match (new.method(call), new.arguments(call).as_slice()) {
            ("catch", [handler, ..]) | ("then", [_, handler]) if old_handler(old, new, *handler) => {}
            ("catch", []) => {
                out.push(at(
                    "masking/swallowed",
                    line(call),
                    Weight::Refuse,
                    "a rejected promise is forgotten",
                ));
            }
            ("catch", [handler]) | ("then", [_, handler]) => out.extend(handler_finding(new, call, *handler)),
            ("allSettled", _) if !new.text.contains("rejected") || old.text.contains("allSettled") => {
                out.push(at(
                    "masking/swallowed",
                    line(call),
                    Weight::Refuse,
                    "rejected promises are passed over",
                ));
            }
            _ => {}
        }
    }
    out.extend(callbacks(old, new));
    out.extend(finals(old, new));
    out
}

fn old_handler(old: &Program, new: &Program, handler: Node<'_>) -> bool {
    handler.kind() != "identifier" && handler.child_count() > 0 && {
        let text = new.squeezed(handler);
        let calls = old.nodes("call_expression").into_iter().filter(|call| old.method(*call) == "catch");
        calls
            .into_iter()
            .any(|call| old.arguments(call).first().is_some_and(|one| old.squeezed(*one) == text))
    }
}

fn handler_finding(new: &Program, call: Node<'_>, handler: Node<'_>) -> Option<Finding> {
    match handler.kind() {
        "arrow_function" | "function_expression" => {
            let body = handler.child_by_field_name("body")?;
            judge(new, call, body)
        }
        _ => {
            let name = new.text_of(handler);
            let last = name.rsplit('.').next().unwrap_or(name);
            let fails = HANDS_ON.contains(&last) || defined_failing(new, last);
            let why = "a rejected promise is forgotten or only printed";
            (!fails).then(|| at("masking/swallowed", line(call), Weight::Refuse, why))
        }
    }
}

/// Whether a function of this name, defined here, fails.
fn defined_failing(new: &Program, name: &str) -> bool {
    let named = |node: &Node<'_>| node.child_by_field_name("name").is_some_and(|n| new.text_of(n) == name);
    let all = new.nodes("function_declaration").into_iter().chain(new.nodes("variable_declarator"));
    all.filter(named).any(|node| any_fails(new, node))
}

/// The finding for a handler by its body.
fn judge(new: &Program, place: Node<'_>, body: Node<'_>) -> Option<Finding> {
    if any_fails(new, body) || counted(new, body) {
        return None;
    }
    let retried = tried_again(new, place);
    if is_quiet_block(new, body) && !retried {
        return Some(at(
            "masking/swallowed",
            line(place),
            Weight::Refuse,
            "an error is caught and forgotten",
        ));
    }
    if ends_well(new, body) {
        return Some(at(
            "masking/exit-zero",
            line(place),
            Weight::Refuse,
            "an error ends the program with success",
        ));
    }
    Some(at("masking/fallback", line(place), Weight::Medium, "an error is handled by another way"))
}

/// Whether the handler stands in a loop behind which, or in which, something fails.
fn tried_again(new: &Program, place: Node<'_>) -> bool {
    let Some(one) = above(place, &["for_statement", "while_statement", "do_statement"]) else { return false };
    let mut next = one.next_named_sibling();
    while let Some(node) = next {
        if any_fails(new, node) {
            return true;
        }
        next = node.next_named_sibling();
    }
    false
}

/// Whether a handler counts or collects failures in a name that decides something elsewhere.
fn counted(new: &Program, body: Node<'_>) -> bool {
    let names: Vec<&str> = descendants(body)
        .into_iter()
        .filter_map(|node| match node.kind() {
            "update_expression" => node.child_by_field_name("argument"),
            "augmented_assignment_expression" | "assignment_expression" => node.child_by_field_name("left"),
            "call_expression" if matches!(new.method(node), "push" | "add" | "set") => {
                node.child_by_field_name("function")?.child_by_field_name("object")
            }
            _ => None,
        })
        .map(|node| new.text_of(node))
        .collect();
    let conditions = new.nodes("if_statement").into_iter();
    conditions.filter(|node| any_fails(new, *node)).any(|node| {
        node.child_by_field_name("condition").is_some_and(|condition| {
            descendants(condition).into_iter().any(|inner| names.contains(&new.text_of(inner)))
        })
    })
}

/// Whether something in a node fails on purpose.
pub fn any_fails(program: &Program, node: Node<'_>) -> bool {
    descendants(node).into_iter().any(|inner| inner.kind() == "throw_statement" || is_failing(program, inner))
}

/// `process.exit(1)`, `process.exitCode = 1`, `reject(e)`, `next(e)`.
pub fn is_failing(program: &Program, node: Node<'_>) -> bool {
    match node.kind() {
        "call_expression" => {
            let arguments = program.arguments(node);
            let first = arguments.first().map(|first| program.text_of(*first));
            if program.callee(node).ends_with("process.exit") {
                return first.is_some_and(|code| code != "0");
            }
            HANDS_ON.contains(&program.method(node))
                && first.is_some_and(|first| !matches!(first, "null" | "undefined" | "false"))
        }
        "assignment_expression" => {
            let text = program.squeezed(node);
            text.starts_with("process.exitCode =") && !text.ends_with("= 0")
        }
        _ => false,
    }
}

fn ends_well(program: &Program, body: Node<'_>) -> bool {
    descendants(body).into_iter().any(|node| {
        node.kind() == "call_expression"
            && program.callee(node).ends_with("process.exit")
            && !is_failing(program, node)
    })
}

/// Whether a call only says something.
pub fn is_message(program: &Program, call: Node<'_>) -> bool {
    MESSAGES.contains(&program.method(call))
}

/// Whether a block, or the expression of an arrow function, only says something, goes on, or gives a constant.
pub fn is_quiet_block(program: &Program, body: Node<'_>) -> bool {
    if body.kind() != "statement_block" {
        return is_quiet_value(program, body);
    }
    children(body).into_iter().filter(|node| node.is_named()).all(|statement| match statement.kind() {
        "comment" | "continue_statement" | "break_statement" | "empty_statement" => true,
        "return_statement" => statement.named_child(0).is_none_or(|value| is_quiet_value(program, value)),
        "expression_statement" => statement.named_child(0).is_none_or(|inner| match inner.kind() {
            "assignment_expression" => {
                inner.child_by_field_name("right").is_some_and(|right| is_constant(program, right))
            }
            _ => is_quiet_value(program, inner),
        }),
        "if_statement" => {
            let body = statement.child_by_field_name("consequence");
            body.is_some_and(|body| is_quiet_block(program, body))
                && statement.child_by_field_name("alternative").is_none()
        }
        _ => false,
    })
}

fn is_quiet_value(program: &Program, node: Node<'_>) -> bool {
    match node.kind() {
        "call_expression" => is_message(program, node),
        "await_expression" | "parenthesized_expression" | "unary_expression" => {
            node.named_child(0).is_some_and(|inner| is_quiet_value(program, inner))
        }
        _ => is_constant(program, node),
    }
}

/// Whether an expression is a constant: a literal, or a collection of such.
pub fn is_constant(program: &Program, node: Node<'_>) -> bool {
    match node.kind() {
        "number" | "string" | "true" | "false" | "null" | "undefined" => true,
        "identifier" => program.text_of(node) == "undefined",
        "template_string" => !children(node).iter().any(|child| child.kind() == "template_substitution"),
        "array" | "object" | "parenthesized_expression" | "unary_expression" => {
            children(node).into_iter().filter(|child| child.is_named()).all(|child| match child.kind() {
                "pair" => child.child_by_field_name("value").is_some_and(|value| is_constant(program, value)),
                _ => is_constant(program, child),
            })
        }
        "new_expression" => {
            let empty =
                node.child_by_field_name("arguments").is_none_or(|list| list.named_child_count() == 0);
            let name = node.child_by_field_name("constructor").map_or("", |name| program.text_of(name));
            empty && matches!(name, "Map" | "Set" | "Array" | "Object")
        }
        _ => false,
    }
}

/// `if (err) return;` where the error was handed on before.
fn callbacks(old: &Program, new: &Program) -> Vec<Finding> {
    let mut out = Vec::new();
    for node in fresh(old, new, "if_statement") {
        let condition = node.child_by_field_name("condition").map(|c| new.squeezed(c)).unwrap_or_default();
        let error = matches!(condition.trim_matches(['(', ')']), "err" | "error" | "e");
        let body = node.child_by_field_name("consequence");
        let quiet = body.is_some_and(|body| match body.kind() {
            "statement_block" => is_quiet_block(new, body),
            "return_statement" => body.named_child(0).is_none_or(|value| is_quiet_value(new, value)),
            _ => false,
        });
        if error && quiet {
            out.push(at("masking/swallowed", line(node), Weight::Refuse, "an error is only passed over"));
        }
    }
    out
}

/// `return` in `finally`, which throws a running error away.
fn finals(old: &Program, new: &Program) -> Vec<Finding> {
    let leaves = |clause: &Node<'_>| {
        descendants(*clause)
            .into_iter()
            .any(|node| matches!(node.kind(), "return_statement" | "break_statement" | "continue_statement"))
    };
    let all = fresh(old, new, "finally_clause").into_iter().filter(leaves);
    all.map(|clause| {
        at("masking/finally", line(clause), Weight::Refuse, "leaving in `finally` throws the error away")
    })
    .collect()
}
