//! Masking in Python programs.

use std::collections::{BTreeMap, BTreeSet};

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::python::{Call, Module};
use selfheal_syntax::tree::{Node, children, descendants};

use crate::finding::{at, whole};

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
const EXITS: &[&str] = &["sys.exit", "exit", "quit", "os._exit", "SystemExit"];

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
    ("skip_on_error", "True", "errors are ignored"),
    ("raise_exception", "False", "errors are ignored"),
    ("stop_on_error", "False", "errors are ignored"),
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

fn handlers(old: &Module, new: &Module) -> Vec<Finding> {
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
    let quiet =
        children(body).into_iter().filter(Node::is_named).all(|statement| is_quiet(module, statement));
    if !quiet {
        // Kept in a list that is looked at, or a real other way.
        let weight = if broad { Weight::High } else { Weight::Medium };
        let kept = keeps(module, body);
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

fn is_exit(module: &Module, call: Node<'_>) -> bool {
    call.child_by_field_name("function").is_some_and(|function| {
        let name = module.text_of(function);
        EXITS.contains(&name) || name == "_exit"
    })
}

fn is_success_call(module: &Module, call: Node<'_>) -> bool {
    let list = call.child_by_field_name("arguments");
    let first = list.and_then(|list| list.named_child(0)).map(|node| module.text_of(node).to_owned());
    matches!(first.as_deref(), None | Some("0" | "None" | "False" | "os.EX_OK"))
}

fn is_success_exit(module: &Module, raise: Node<'_>) -> bool {
    let text = squeezed(module, raise);
    let call = children(raise).into_iter().find(|child| child.kind() == "call");
    call.is_some_and(|call| is_exit(module, call) && is_success_call(module, call))
        || text == "raise SystemExit"
}

/// Whether a statement only says something, goes on, or gives a constant.
fn is_quiet(module: &Module, node: Node<'_>) -> bool {
    match node.kind() {
        "pass_statement" | "continue_statement" | "break_statement" | "comment" => true,
        "return_statement" => node.named_child(0).is_none_or(|value| is_constant(module, value)),
        "expression_statement" => node.named_child(0).is_none_or(|inner| match inner.kind() {
            "call" => is_message(module, inner),
            "assignment" => {
                inner.child_by_field_name("right").is_some_and(|right| is_constant(module, right))
            }
            "ellipsis" | "string" => true,
            _ => false,
        }),
        _ => false,
    }
}

fn is_message(module: &Module, call: Node<'_>) -> bool {
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

fn is_constant(module: &Module, node: Node<'_>) -> bool {
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

fn is_idempotent(module: &Module, call: Node<'_>) -> bool {
    let name = call.child_by_field_name("function").map_or("", |function| module.text_of(function));
    IDEMPOTENT.contains(&name.rsplit('.').next().unwrap_or(name))
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
        let is = |text: &str| text.trim_matches(['"', '\'']) == value;
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
    let uses = |module: &Module| {
        module
            .nodes("attribute")
            .into_iter()
            .filter(|node| module.text_of(*node).ends_with(".returncode"))
            .count()
    };
    uses(new) > uses(old) || new.calls_of(".check_returncode").len() > old.calls_of(".check_returncode").len()
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
        let vacuous = has.iter().any(|text| !had.contains(text) && is_vacuous(text));
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
    condition.starts_with("True")
        || condition == "1"
        || condition.contains(" or True")
        || condition.starts_with('(') && condition.contains(',')
        || condition.ends_with(">= 0")
        || condition.ends_with("is not None")
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
    let fallback = |node: &Node<'_>| {
        node.child_count() > 0 && children(*node).last().is_some_and(|last| is_constant(new, *last))
    };
    for node in fresh(old, new, "conditional_expression").into_iter().filter(fallback) {
        out.push(at("masking/default", line(node), Weight::Medium, "a constant takes the place of a value"));
    }
    for call in new.calls_of(".get").iter().filter(|call| call.arguments.len() == 2) {
        if !old
            .calls_of(".get")
            .iter()
            .any(|other| other.callee == call.callee && other.arguments == call.arguments)
            && old.calls_of(".get").len() < new.calls_of(".get").len()
        {
            out.push(at(
                "masking/default",
                call.line,
                Weight::Medium,
                "a default takes the place of a missing key",
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
    let lost: usize =
        had.iter().map(|(name, count)| count.saturating_sub(has.get(name).copied().unwrap_or(0))).sum();
    let fresh: usize =
        has.iter().map(|(name, count)| count.saturating_sub(had.get(name).copied().unwrap_or(0))).sum();
    let statements =
        |module: &Module| module.nodes("expression_statement").len() + module.nodes("return_statement").len();
    if lost > 0 && fresh == 0 && statements(new) < statements(old) {
        let name = had
            .iter()
            .find(|(name, count)| has.get(*name).copied().unwrap_or(0) < **count)
            .map_or("", |(name, _)| name);
        return vec![whole("masking/step-deleted", Weight::Refuse, format!("the call of `{name}` is gone"))];
    }
    Vec::new()
}
