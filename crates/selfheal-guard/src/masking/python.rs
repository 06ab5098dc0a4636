//! Masking in Python programs.

mod codes;
mod handlers;
mod loss;
mod steps;
mod weaker;

use std::collections::BTreeMap;

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::python::{Call, Module};
use selfheal_syntax::tree::{Node, children, descendants};

use crate::finding::{at, whole};
use handlers::{
    EXITS, handlers, is_constant, is_exit, is_idempotent, is_message, is_quiet, is_success_call,
    is_success_exit,
};

/// Keyword arguments that, when new, drop data or checks: name, value as written, what it means.
const LOOSE: &[(&str, &str, &str)] = &[
    ("errors", "ignore", "what cannot be decoded is dropped"),
    ("errors", "coerce", "values that do not fit become missing ones"),
    ("on_bad_lines", "skip", "lines that do not fit are dropped"),
    ("on_bad_lines", "warn", "lines that do not fit are dropped"),
    ("error_bad_lines", "False", "lines that do not fit are dropped"),
    ("verify", "False", "certificates are no longer checked"),
    ("check_hostname", "False", "host names are no longer checked"),
    ("ignore_errors", "True", "errors are ignored"),
    ("check", "False", "the status of a command is ignored"),
    ("strict", "False", "it is less strict than before"),
    ("return_exceptions", "True", "exceptions become values that nobody looks at"),
    ("raise_on_error", "False", "errors are ignored"),
    ("validate", "False", "a check is switched off"),
    ("ignore_missing", "True", "what is missing is passed over"),
    ("skip_on_error", "True", "errors are ignored"),
    ("raise_exception", "False", "errors are ignored"),
    ("stop_on_error", "False", "errors are ignored"),
    ("skipkeys", "True", "keys that do not fit are dropped"),
    ("errors", "replace", "what cannot be decoded is replaced"),
];

/// Calls and names that, when new, switch checks off.
const OFF: &[(&str, &str)] = &[
    ("_create_unverified_context", "certificates are no longer checked"),
    ("CERT_NONE", "certificates are no longer checked"),
    ("AutoAddPolicy", "host keys are no longer checked"),
    ("WarningPolicy", "host keys are no longer checked"),
    ("disable_warnings", "warnings are switched off"),
    ("excepthook", "what happens at an error is another"),
    ("set_exception_handler", "what happens at an error is another"),
    ("dropna", "rows with missing values are dropped"),
    ("drop_duplicates", "rows are dropped"),
    ("fillna", "missing values become made-up ones"),
    ("nan_to_num", "missing values become made-up ones"),
    ("ffill", "missing values become made-up ones"),
];

/// What in a change hides a failure.
pub fn compare(before: &str, after: &str) -> Vec<Finding> {
    let (Ok(old), Ok(new)) = (Module::parse(before), Module::parse(after)) else {
        return vec![whole("masking/unjudged", Weight::Hold, "the program is too large to be judged")];
    };
    let mut out = Vec::new();
    out.extend(handlers(&old, &new));
    out.extend(suppressed(&old, &new));
    out.extend(exits(&old, &new));
    out.extend(finals(&old, &new));
    out.extend(loosened(&old, &new));
    out.extend(checks(&old, &new));
    out.extend(emptied(&old, &new));
    out.extend(unreachable(&old, &new));
    out.extend(constants(&old, &new));
    out.extend(gone(&old, &new));
    out.extend(loss::compare(&old, &new));
    out.extend(steps::compare(&old, &new));
    out.extend(weaker::compare(&old, &new));
    out
}

fn line(node: Node<'_>) -> u32 {
    node.start_position().row as u32 + 1
}

/// The text of a node with all white space squeezed, to compare across indentation.
fn squeezed(module: &Module, node: Node<'_>) -> String {
    module.text_of(node).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The nodes of the new text whose text is not, or not as often, in the old one.
fn fresh<'a>(old: &Module, new: &'a Module, kind: &str) -> Vec<Node<'a>> {
    let mut had: BTreeMap<String, usize> = BTreeMap::new();
    for node in old.nodes(kind) {
        *had.entry(squeezed(old, node)).or_default() += 1;
    }
    let taken = |node: &Node<'_>| match had.get_mut(&squeezed(new, *node)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    new.nodes(kind).into_iter().filter(taken).collect()
}

/// `with contextlib.suppress(…)`.
fn suppressed(old: &Module, new: &Module) -> Vec<Finding> {
    let mut out = Vec::new();
    for with in fresh(old, new, "with_statement") {
        let items = descendants(with).into_iter().filter(|node| node.kind() == "with_item");
        for item in items {
            let text = squeezed(new, item);
            if !text.contains("suppress(") {
                continue;
            }
            let broad = ["Exception)", "BaseException", "OSError)", "SystemExit"]
                .iter()
                .any(|name| text.contains(name))
                || text.ends_with("suppress()");
            let harmless = !broad
                && with.child_by_field_name("body").is_some_and(|body| {
                    children(body).into_iter().filter(Node::is_named).all(|s| {
                        s.named_child(0).is_some_and(|c| c.kind() == "call" && is_idempotent(new, c))
                    })
                });
            let weight = if harmless { Weight::Note } else { Weight::Refuse };
            out.push(at("masking/swallowed", line(item), weight, "exceptions are suppressed"));
        }
    }
    out
}

/// New ends that say success.
fn exits(old: &Module, new: &Module) -> Vec<Finding> {
    let calls = |module: &Module| {
        module
            .nodes("call")
            .into_iter()
            .filter(|call| is_exit(module, *call) && is_success_call(module, *call))
            .count()
    };
    let had = calls(old);
    let mut out: Vec<Finding> = Vec::new();
    if calls(new) > had {
        let all =
            new.nodes("call").into_iter().filter(|call| is_exit(new, *call) && is_success_call(new, *call));
        let fresh = fresh(old, new, "call");
        let is_fresh = |call: &Node<'_>| had == 0 || fresh.iter().any(|other| other.id() == call.id());
        out.extend(all.filter(is_fresh).map(|call| exit(new, call)));
    }
    for name in ["signal.signal", "atexit.register"] {
        let (before, after) = (old.calls_of(name).len(), new.calls_of(name));
        let ends = |call: &&Call| {
            call.arguments.iter().any(|argument| {
                argument.text.contains("exit")
                    || argument.text.contains("SystemExit(0)")
                    || argument.text.contains("SIG_IGN")
            })
        };
        if after.len() > before {
            out.extend(
                after.iter().filter(ends).map(|call| {
                    at("masking/exit-hook", call.line, Weight::Refuse, "a hook ends the program")
                }),
            );
        }
    }
    out
}

fn exit(module: &Module, call: Node<'_>) -> Finding {
    let hard = call
        .child_by_field_name("function")
        .is_some_and(|function| module.text_of(function).ends_with("_exit"));
    let mut at_node = call.parent();
    let mut guard = None;
    while let Some(node) = at_node {
        if node.kind() == "if_statement" {
            guard = Some(node);
            break;
        }
        at_node = node.parent();
    }
    let empty = guard.and_then(|node| node.child_by_field_name("condition")).is_some_and(|condition| {
        let text = squeezed(module, condition);
        text.starts_with("not ") || text.contains("len(") && text.contains("== 0")
    });
    let tells = guard.is_some_and(|node| {
        descendants(node).into_iter().any(|inner| inner.kind() == "call" && is_message(module, inner))
    });
    if !hard && empty && tells {
        return at(
            "masking/nothing-to-do",
            line(call),
            Weight::Medium,
            "it ends with success when there is no work",
        );
    }
    at("masking/exit-zero", line(call), Weight::Refuse, "it ends with success")
}

/// `return` in `finally`, which throws a running exception away.
fn finals(old: &Module, new: &Module) -> Vec<Finding> {
    let leaves = |module: &Module, clause: Node<'_>| {
        descendants(clause).into_iter().any(|node| {
            matches!(node.kind(), "return_statement" | "break_statement" | "continue_statement")
                || is_exit(module, node) && node.kind() == "call"
        })
    };
    let found = fresh(old, new, "finally_clause").into_iter().filter(|clause| leaves(new, *clause));
    found
        .map(|clause| {
            at(
                "masking/finally",
                line(clause),
                Weight::Refuse,
                "leaving in `finally` throws the exception away",
            )
        })
        .collect()
}

fn loosened(old: &Module, new: &Module) -> Vec<Finding> {
    let mut out = Vec::new();
    let (before, after) = (old.calls(), new.calls());
    let count = |calls: &[Call], name: &str, value: &str| {
        let is =
            |text: &str| text.trim_matches(['"', '\'']) == value || name == "verify" && text.contains(value);
        let given =
            calls.iter().filter(|call| call.keyword(name).is_some_and(|argument| is(&argument.text))).count();
        let positional = calls
            .iter()
            .filter(|call| {
                name == "errors"
                    && call.arguments.get(1).is_some_and(|a| is(&a.text))
                    && call.callee.ends_with("code")
            })
            .count();
        given + positional
    };
    for (name, value, why) in LOOSE {
        if count(&after, name, value) > count(&before, name, value) {
            let weight = if *value == "replace" { Weight::Medium } else { Weight::Refuse };
            let place = after
                .iter()
                .find(|call| call.keyword(name).is_some_and(|a| a.text.trim_matches(['"', '\'']) == *value));
            out.push(at("masking/data-dropped", place.map_or(1, |call| call.line), weight, *why));
        }
    }
    // `session.verify = False`
    for node in fresh(old, new, "assignment") {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            continue;
        };
        let attribute = left.child_by_field_name("attribute").map_or("", |name| new.text_of(name));
        let value = new.text_of(right).trim_matches(['"', '\'']);
        let row = LOOSE.iter().find(|(name, loose, _)| *name == attribute && *loose == value);
        out.extend(row.map(|(_, _, why)| at("masking/check-off", line(node), Weight::Refuse, *why)));
    }
    for (name, why) in OFF {
        let uses = |module: &Module| {
            module
                .nodes("identifier")
                .into_iter()
                .filter(|node| module.text_of(*node) == *name)
                .map(line)
                .collect::<Vec<_>>()
        };
        let (had, has) = (uses(old), uses(new));
        if has.len() > had.len() {
            out.push(at("masking/check-off", has.first().copied().unwrap_or(1), Weight::Refuse, *why));
        }
    }
    let checked = |calls: &[Call]| {
        let checking = |call: &&Call| {
            call.keyword("check").is_some_and(|a| a.text == "True")
                || ["subprocess.check_call", "subprocess.check_output", "check_call", "check_output"]
                    .contains(&call.resolved.as_str())
        };
        calls.iter().filter(checking).count()
    };
    let runs = |calls: &[Call]| {
        calls
            .iter()
            .filter(|call| call.resolved.starts_with("subprocess.") || call.resolved == "os.system")
            .count()
    };
    if checked(&after) < checked(&before)
        && runs(&after) + 1 > runs(&before)
        && !looks_at_returncode(old, new)
    {
        out.push(whole(
            "masking/status-ignored",
            Weight::Refuse,
            "the status of a command is no longer looked at",
        ));
    }
    let warns = |calls: &[Call]| {
        calls
            .iter()
            .filter(|c| {
                c.resolved == "warnings.filterwarnings"
                    || c.resolved == "warnings.simplefilter"
                    || c.resolved == "logging.disable"
            })
            .count()
    };
    if warns(&after) > warns(&before) {
        out.push(whole("masking/silenced", Weight::Medium, "warnings are switched off"));
    }
    out
}

fn looks_at_returncode(old: &Module, new: &Module) -> bool {
    codes::used(new) > codes::used(old)
        || new.calls_of(".check_returncode").len() > old.calls_of(".check_returncode").len()
}

/// Assertions, status checks and raises that are gone or weaker; tests that are skipped.
fn checks(old: &Module, new: &Module) -> Vec<Finding> {
    let mut out = Vec::new();
    let asserts = |module: &Module| {
        module.nodes("assert_statement").into_iter().map(|node| squeezed(module, node)).collect::<Vec<_>>()
    };
    let (had, has) = (asserts(old), asserts(new));
    if has.len() < had.len() {
        out.push(whole("masking/check-removed", Weight::Refuse, "an assertion is gone"));
    } else if had.iter().any(|text| !has.contains(text)) {
        let compares =
            |text: &str| ["==", "!=", "<", ">"].iter().filter(|sign| text.contains(**sign)).count();
        let (lost, fresh) = (
            had.iter().filter(|text| !has.contains(text)).map(|text| compares(text)).sum::<usize>(),
            has.iter().filter(|text| !had.contains(text)).map(|text| compares(text)).sum::<usize>(),
        );
        let equal = |all: &[String]| all.iter().map(|text| text.matches("==").count()).sum::<usize>();
        let vacuous = has.iter().any(|text| !had.contains(text) && is_vacuous(text))
            || fresh < lost
            || equal(&has) < equal(&had)
            || weaker::asks_for_less(&had, &has);
        let weight = if vacuous { Weight::Refuse } else { Weight::High };
        out.push(whole("masking/check-changed", weight, "an assertion is another"));
    }
    for method in [".raise_for_status", ".check_returncode"] {
        if new.calls_of(method).len() < old.calls_of(method).len() {
            out.push(whole(
                "masking/check-removed",
                Weight::Refuse,
                format!("a call of `{}` is gone", method.trim_start_matches('.')),
            ));
        }
    }
    let raises = |module: &Module| {
        module.nodes("raise_statement").into_iter().filter(|node| !is_success_exit(module, *node)).count()
    };
    if raises(new) < raises(old) {
        out.push(whole("masking/check-removed", Weight::Refuse, "an exception is no longer raised"));
    }
    let failing = |module: &Module| {
        module
            .nodes("call")
            .into_iter()
            .filter(|call| is_exit(module, *call) && !is_success_call(module, *call))
            .count()
    };
    if failing(new) + raises(new) < failing(old) + raises(old) {
        out.push(whole("masking/exit-removed", Weight::Refuse, "a failing exit is gone"));
    }
    for node in fresh(old, new, "decorator") {
        let text = squeezed(new, node);
        if ["skip", "xfail", "expectedFailure", "unittest.skip"].iter().any(|word| text.contains(word)) {
            out.push(at("masking/test-skipped", line(node), Weight::Refuse, "a test is left out"));
        }
    }
    for name in ["pytest.skip", "pytest.xfail", ".skipTest", "pytest.importorskip"] {
        if new.calls_of(name).len() > old.calls_of(name).len() {
            out.push(whole("masking/test-skipped", Weight::Refuse, "a test is left out"));
        }
    }
    out
}

fn is_vacuous(text: &str) -> bool {
    let condition = text.trim_start_matches("assert").trim();
    let message = [", \"", ", '", ", f\"", ", f'"].iter().filter_map(|quote| condition.find(quote)).min();
    let condition = message.and_then(|at| condition.get(..at)).unwrap_or(condition);
    condition.starts_with("True")
        || condition == "1"
        || condition.contains(" or True")
        || condition.starts_with('(') && condition.contains(',')
        || same_sides(condition)
        || [">= 0", "> -1", ">= -1", "!= -1", "or 1", "is not ..."].iter().any(|end| condition.ends_with(end))
        || condition.ends_with("is not None")
}

/// `total == total`: both sides of a comparison are the same.
fn same_sides(condition: &str) -> bool {
    ["==", "<=", ">=", " is "].iter().any(|sign| {
        condition
            .split_once(sign)
            .is_some_and(|(left, right)| left.trim() == right.split(',').next().unwrap_or_default().trim())
    })
}

/// Functions whose body is nothing now.
fn emptied(old: &Module, new: &Module) -> Vec<Finding> {
    let bodies = |module: &Module| -> BTreeMap<String, (bool, u32)> {
        let functions = module.nodes("function_definition").into_iter();
        functions
            .filter_map(|node| {
                let name = module.text_of(node.child_by_field_name("name")?).to_owned();
                let body = node.child_by_field_name("body")?;
                let empty = children(body).into_iter().filter(Node::is_named).all(|s| is_quiet(module, s));
                Some((name, (empty, line(node))))
            })
            .collect()
    };
    let (had, has) = (bodies(old), bodies(new));
    let emptied = had
        .iter()
        .filter(|(_, (empty, _))| !empty)
        .filter_map(|(name, _)| has.get(name).filter(|(empty, _)| *empty).map(|(_, line)| (name, *line)));
    emptied
        .map(|(name, line)| at("masking/emptied", line, Weight::Refuse, format!("`{name}` does nothing now")))
        .collect()
}

fn unreachable(old: &Module, new: &Module) -> Vec<Finding> {
    let mut out = Vec::new();
    let never = ["False", "0", "None", "not True", "\"\"", "[]"];
    for kind in ["if_statement", "while_statement"] {
        for node in fresh(old, new, kind) {
            let condition = node
                .child_by_field_name("condition")
                .map_or(String::new(), |condition| squeezed(new, condition));
            if never.contains(&condition.as_str())
                || condition.ends_with(" and False")
                || condition == "__debug__ is None"
            {
                out.push(at(
                    "masking/unreachable",
                    line(node),
                    Weight::Refuse,
                    "code can no longer be reached",
                ));
            }
        }
    }
    for node in fresh(old, new, "conditional_expression") {
        let text = squeezed(new, node);
        if text.contains(" if False else ") || text.contains(" if 0 else ") {
            out.push(at("masking/unreachable", line(node), Weight::Refuse, "code can no longer be reached"));
        }
    }
    for node in fresh(old, new, "return_statement") {
        let rest = node.next_named_sibling().is_some_and(|next| next.kind() != "comment");
        if rest {
            out.push(at("masking/unreachable", line(node), Weight::Refuse, "code can no longer be reached"));
        }
    }
    out
}

/// Names that were computed and are constants now; conditional defaults.
fn constants(old: &Module, new: &Module) -> Vec<Finding> {
    let assigned = |module: &Module| -> BTreeMap<String, Vec<(bool, u32)>> {
        let mut out: BTreeMap<String, Vec<(bool, u32)>> = BTreeMap::new();
        for node in module.nodes("assignment") {
            let (Some(left), Some(right)) =
                (node.child_by_field_name("left"), node.child_by_field_name("right"))
            else {
                continue;
            };
            out.entry(module.text_of(left).to_owned())
                .or_default()
                .push((is_constant(module, right), line(node)));
        }
        out
    };
    let (had, has) = (assigned(old), assigned(new));
    let mut out = Vec::new();
    for (name, values) in &had {
        let computed = values.iter().any(|(constant, _)| !constant);
        let Some(now) = has.get(name).filter(|_| computed) else { continue };
        if now.iter().all(|(constant, _)| *constant) {
            let line = now.first().map_or(1, |(_, line)| *line);
            out.push(at(
                "masking/constant",
                line,
                Weight::Refuse,
                format!("`{name}` was computed and is a constant now"),
            ));
        }
    }
    out
}

/// Calls that are gone with nothing new in their place.
fn gone(old: &Module, new: &Module) -> Vec<Finding> {
    let names = |module: &Module| {
        let mut out: BTreeMap<String, usize> = BTreeMap::new();
        for call in module
            .calls()
            .into_iter()
            .filter(|call| !call.callee.ends_with("print") && !EXITS.contains(&call.callee.as_str()))
        {
            *out.entry(call.resolved).or_default() += 1;
        }
        out
    };
    let (had, has) = (names(old), names(new));
    // `{key: [] for key in names}` makes the dictionary that `dict.fromkeys(names, [])` made.
    let built = |module: &Module| module.nodes("dictionary_comprehension").len();
    let rebuilt = built(new).saturating_sub(built(old));
    let left = |name: &str| {
        let again = if name == "dict.fromkeys" { rebuilt } else { 0 };
        has.get(name).copied().unwrap_or(0) + again
    };
    let lost: usize = had.iter().map(|(name, count)| count.saturating_sub(left(name))).sum();
    let fresh: usize =
        has.iter().map(|(name, count)| count.saturating_sub(had.get(name).copied().unwrap_or(0))).sum();
    let calls_in = |module: &Module, kind: &str| {
        let all = module.nodes(kind).into_iter();
        all.filter(|node| descendants(*node).iter().any(|inner| inner.kind() == "call")).count()
    };
    let statements =
        |module: &Module| calls_in(module, "expression_statement") + calls_in(module, "return_statement");
    if lost > 0 && fresh == 0 && statements(new) < statements(old) {
        let name = had.iter().find(|(name, count)| left(name) < **count).map_or("", |(name, _)| name);
        return vec![whole("masking/step-deleted", Weight::Refuse, format!("the call of `{name}` is gone"))];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comprehension_stands_for_fromkeys_and_for_nothing_else() {
        let lost = |old: &str, new: &str| {
            gone(&Module::parse(old).unwrap(), &Module::parse(new).unwrap())
                .into_iter()
                .map(|finding| finding.why)
                .collect::<Vec<_>>()
        };
        let old = "seats = dict.fromkeys(halls, [])\nsend(seats)\n";
        assert!(lost(old, "seats = {key: [] for key in halls}\nsend(seats)\n").is_empty());
        assert_eq!(lost(old, "seats = {}\nsend(seats)\n"), ["the call of `dict.fromkeys` is gone"]);
        assert_eq!(lost(old, "seats = {key: [] for key in halls}\n"), ["the call of `send` is gone"]);
    }
}
