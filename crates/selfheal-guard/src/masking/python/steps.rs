//! Steps of a Python program that are skipped, replaced by something made up, or no longer looked at; bars that moved.

use std::collections::BTreeSet;

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::python::Module;
use selfheal_syntax::tree::{Node, children, descendants};

use super::codes;
use super::handlers::{is_exit, is_idempotent, is_message, is_quiet, is_success_call, is_success_exit};
use super::{fresh, line, squeezed};
use crate::finding::at;
use crate::masking::dropped::judge;

/// Calls that run a command and raise when it fails.
const CHECKED: &[&str] = &["check_call", "check_output"];

/// Calls that run a command and say nothing when it fails, unless asked.
const UNCHECKED: &[&str] = &[
    "os.system",
    "os.popen",
    "subprocess.run",
    "subprocess.call",
    "subprocess.Popen",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "os.spawnvp",
    "commands.getoutput",
];

/// Pairs of operators of a condition under which something fails: the second holds for less than the first.
const NARROWER: &[(&str, &str)] = &[
    ("==", "<"),
    ("==", ">"),
    ("<=", "<"),
    (">=", ">"),
    ("!=", "<"),
    ("!=", ">"),
    ("or", "and"),
    ("<", "=="),
    (">", "=="),
    ("not in", "in"),
    ("==", "!="),
    ("!=", "=="),
    ("<", ">"),
    (">", "<"),
];

/// What became of steps and bars.
pub fn compare(old: &Module, new: &Module) -> Vec<Finding> {
    let mut out = conditional(old, new);
    out.extend(shadowed(old, new));
    out.extend(expected(old, new));
    out.extend(bars(old, new));
    out.extend(unchecked(old, new));
    out.extend(skipped_items(old, new));
    out.extend(codes(old, new));
    out.extend(not_waited_for(old, new));
    out
}

/// Fewer exit codes that say failure, in functions whose value is the exit code.
fn codes(old: &Module, new: &Module) -> Option<Finding> {
    let exiting = |module: &Module| -> String {
        let calls = module.nodes("call").into_iter().filter(|call| is_exit(module, *call));
        calls.map(|call| squeezed(module, call)).collect::<Vec<_>>().join(" ")
    };
    let (old_exits, new_exits) = (exiting(old), exiting(new));
    let count = |module: &Module, exits: &str| {
        let functions = module.nodes("function_definition").into_iter().filter(|node| {
            let name = node.child_by_field_name("name").map_or("", |name| module.text_of(name));
            name == "main" || exits.contains(&format!("{name}("))
        });
        let returns = functions.flat_map(descendants).filter(|node| node.kind() == "return_statement");
        returns
            .filter(|node| {
                node.named_child(0).is_some_and(|value| {
                    let text = squeezed(module, value);
                    text != "0" && text != "None" && text != "False"
                })
            })
            .count()
    };
    let lost = count(new, &new_exits) < count(old, &old_exits);
    let unasked = old_exits.contains("main(") && !new_exits.contains("main(");
    (lost || unasked).then(|| {
        let line = new.nodes("return_statement").first().map_or(1, |node| line(*node));
        at("masking/exit-removed", line, Weight::Refuse, "an exit code that says failure is gone")
    })
}

/// `await run()` became a task that nobody waits for.
fn not_waited_for(old: &Module, new: &Module) -> Option<Finding> {
    let waits = |module: &Module| module.nodes("await").len();
    let tasks = |module: &Module| {
        module.calls_of(".create_task").len()
            + module.calls_of(".ensure_future").len()
            + module.calls_of(".submit").len()
    };
    let threads = |module: &Module| module.text().matches("Thread(").count();
    // The result of a task carries its exception; where nobody asks for it, it is lost.
    let asks = |module: &Module| {
        [".result", ".gather", ".as_completed", ".exception", ".get"]
            .iter()
            .map(|name| module.calls_of(name).len())
            .sum::<usize>()
    };
    let started = |module: &Module| tasks(module) + module.calls_of(".apply_async").len();
    let unasked = started(new) > 0 && started(new) >= started(old) && asks(new) < asks(old);
    let more = unasked
        || tasks(new) > tasks(old) && waits(new) < waits(old)
        || threads(new) > threads(old) && !new.text().contains(".join(");
    more.then(|| {
        at("masking/background", 1, Weight::Refuse, "a step runs in the background and nothing waits for it")
    })
}

/// The statements of a module that call something, by text.
fn statements(module: &Module, root: Node<'_>) -> Vec<String> {
    let all = descendants(root).into_iter().filter(|node| {
        matches!(node.kind(), "expression_statement" | "return_statement")
            && descendants(*node).iter().any(|inner| inner.kind() == "call")
    });
    all.map(|node| squeezed(module, node)).collect()
}

/// Whether something in a node fails on purpose.
fn any_fails(module: &Module, node: Node<'_>) -> bool {
    descendants(node).into_iter().any(|inner| match inner.kind() {
        "raise_statement" => !is_success_exit(module, inner),
        "assert_statement" => true,
        "call" => is_exit(module, inner) && !is_success_call(module, inner),
        _ => false,
    })
}

/// Steps that were there and run only under a new condition, with nothing failing otherwise.
fn conditional(old: &Module, new: &Module) -> Vec<Finding> {
    let had = statements(old, old.root());
    let mut out = Vec::new();
    for node in fresh(old, new, "if_statement") {
        let (Some(condition), Some(body)) =
            (node.child_by_field_name("condition"), node.child_by_field_name("consequence"))
        else {
            continue;
        };
        let inside: Vec<String> =
            statements(new, body).into_iter().filter(|call| had.contains(call)).collect();
        let known = old.nodes("if_statement").into_iter().any(|other| {
            let same = |name: &str| {
                other.child_by_field_name(name).map(|part| squeezed(old, part))
                    == node.child_by_field_name(name).map(|part| squeezed(new, part))
            };
            same("consequence") || same("condition")
        });
        let mut cursor = node.walk();
        let fails =
            node.children_by_field_name("alternative", &mut cursor).any(|other| any_fails(new, other));
        let removal = descendants(body)
            .into_iter()
            .filter(|n| n.kind() == "call" && !is_message(new, *n))
            .all(|call| is_idempotent(new, call));
        let main = squeezed(new, condition).contains("__name__");
        if inside.is_empty() || known || fails || removal || main {
            continue;
        }
        let asked: BTreeSet<&str> = descendants(condition)
            .into_iter()
            .filter(|n| matches!(n.kind(), "identifier" | "string"))
            .map(|n| new.text_of(n))
            .filter(|name| !matches!(*name, "os" | "path" | "not" | "len" | "isinstance"))
            .collect();
        let about_it = inside.iter().any(|call| asked.iter().any(|name| mentions(call, name)));
        let text = squeezed(new, condition);
        let probe = [
            "exists",
            "isfile",
            "isdir",
            "ismount",
            "environ",
            "getenv",
            "access(",
            "hasattr",
            "find_spec",
            "which(",
            ".ok",
            "ping",
            "is_alive",
            "connected",
            "returncode == 0",
        ]
        .iter()
        .any(|word| text.contains(word));
        let work = text.contains("len(")
            || asked.len() == 1 && !probe && !text.contains("is not None") && !text.contains('(');
        let weight = if (about_it || probe) && !work { Weight::Refuse } else { Weight::Medium };
        out.push(at(
            "masking/skipped-step",
            line(node),
            weight,
            "a step runs only under a condition now, and nothing fails otherwise",
        ));
    }
    out
}

fn mentions(text: &str, name: &str) -> bool {
    if name.starts_with(['"', '\'']) {
        return text.contains(name);
    }
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

/// `client.publish = lambda …`, `def load(…): pass`: something that the program calls is given another meaning.
fn shadowed(old: &Module, new: &Module) -> Vec<Finding> {
    let called: BTreeSet<String> = old.calls().into_iter().map(|call| call.callee).collect();
    let defined: BTreeSet<String> = old.definitions().into_iter().map(|def| def.name).collect();
    let mut out = Vec::new();
    let mut say = |node: Node<'_>, name: &str| {
        let why = format!("`{name}` is given another meaning");
        out.push(at("masking/shadowed", line(node), Weight::Refuse, why));
    };
    for node in fresh(old, new, "assignment") {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            continue;
        };
        let name = new.text_of(left);
        let stub = matches!(right.kind(), "lambda" | "identifier" | "call" | "none" | "attribute");
        let mock = new.text_of(right).contains("Mock") || right.kind() == "lambda" || name.contains('.');
        if stub && mock && called.contains(name) {
            say(node, name);
        }
    }
    let bound: BTreeSet<String> = old.imports().iter().map(|import| import.binds().to_owned()).collect();
    for node in fresh(old, new, "function_definition") {
        let name = node.child_by_field_name("name").map_or("", |name| new.text_of(name));
        let method = node.parent().and_then(|p| p.parent()).is_some_and(|p| p.kind() == "class_definition");
        // A name that Python has no more may be defined again; what does nothing takes the place of a step.
        let quiet = node.child_by_field_name("body").is_some_and(|body| {
            children(body).into_iter().filter(Node::is_named).all(|statement| is_quiet(new, statement))
        });
        if called.contains(name) && !defined.contains(name) && !method && (quiet || bound.contains(name)) {
            say(node, name);
        }
    }
    out
}

/// A name that a check compares with is newly computed from what is checked, or set by hand.
fn expected(old: &Module, new: &Module) -> Vec<Finding> {
    let mut checks: Vec<Node<'_>> = new.nodes("assert_statement");
    checks.extend(new.nodes("call").into_iter().filter(|call| {
        let name = call.child_by_field_name("function").map_or("", |function| new.text_of(function));
        name.rsplit('.').next().unwrap_or(name).starts_with("assert")
    }));
    checks.extend(
        new.nodes("if_statement")
            .into_iter()
            .filter(|node| any_fails(new, *node))
            .filter_map(|n| n.child_by_field_name("condition")),
    );
    let mut out = Vec::new();
    for node in fresh(old, new, "assignment") {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            continue;
        };
        let (name, value) = (new.text_of(left), squeezed(new, right));
        let was = old
            .nodes("assignment")
            .into_iter()
            .any(|other| other.child_by_field_name("left").is_some_and(|left| old.text_of(left) == name));
        let same = checks.iter().any(|check| {
            let text = squeezed(new, *check);
            mentions(&text, name) && value.len() > 2 && text.replacen(name, "", 1).contains(&value)
        });
        if same && (!was || value.contains('(')) {
            out.push(at(
                "masking/expectation-made",
                line(node),
                Weight::Refuse,
                format!("`{name}` is set to what a check wants"),
            ));
        }
    }
    out
}

/// Checks whose number is another, or that ask for less.
fn bars(old: &Module, new: &Module) -> Vec<Finding> {
    let conditions = |module: &Module| -> Vec<(String, Vec<String>, Vec<String>, u32)> {
        let all = module.nodes("if_statement").into_iter().filter(|node| {
            node.child_by_field_name("consequence").is_some_and(|body| any_fails(module, body))
        });
        all.filter_map(|node| {
            let condition = node.child_by_field_name("condition")?;
            let (mut numbers, mut signs) = (Vec::new(), Vec::new());
            for inner in descendants(condition) {
                match inner.kind() {
                    "integer" | "float" => numbers.push(module.text_of(inner).to_owned()),
                    "<" | ">" | "<=" | ">=" | "==" | "!=" | "and" | "or" | "not" | "in" | "not in" | "is"
                    | "is not" => signs.push(inner.kind().to_owned()),
                    _ => {}
                }
            }
            let names: Vec<&str> = descendants(condition)
                .into_iter()
                .filter(|n| n.kind() == "identifier")
                .map(|n| module.text_of(n))
                .collect();
            Some((names.join(" "), numbers, signs, line(node)))
        })
        .collect()
    };
    let had = conditions(old);
    let mut out = Vec::new();
    for (names, numbers, signs, at_line) in conditions(new) {
        let Some((_, old_numbers, old_signs, _)) = had.iter().find(|(other, ..)| *other == names) else {
            // `if not a or not b` became `if not a and not b`, or a part of the condition is gone.
            let part = had.iter().find(|(other, _, signs, _)| {
                other.split(' ').collect::<BTreeSet<_>>().is_superset(&names.split(' ').collect())
                    && signs.iter().any(|s| s == "or")
            });
            if part.is_some_and(|(.., other_signs, _)| !names.is_empty() && signs.len() < other_signs.len())
                && !had.iter().any(|(other, ..)| *other == names)
            {
                out.push(at(
                    "masking/check-weakened",
                    at_line,
                    Weight::Refuse,
                    "a check asks for less than before",
                ));
            }
            continue;
        };
        if had.iter().any(|(n, b, s, _)| *n == names && *b == numbers && *s == signs) {
            continue;
        }
        if *old_numbers != numbers && old_numbers.len() == numbers.len() {
            out.push(at(
                "masking/check-weakened",
                at_line,
                Weight::Refuse,
                "the number of a check is another",
            ));
        } else if *old_signs != signs {
            let narrower = old_signs
                .iter()
                .zip(&signs)
                .any(|(old, new)| NARROWER.contains(&(old.as_str(), new.as_str())));
            let weight = if narrower { Weight::Refuse } else { Weight::High };
            out.push(at("masking/check-changed", at_line, weight, "a check compares in another way"));
        }
    }
    out
}

/// A command whose failure raised is run in a way that nobody looks at.
fn unchecked(old: &Module, new: &Module) -> Option<Finding> {
    let raising = |module: &Module| {
        module
            .calls()
            .into_iter()
            .filter(|call| {
                let last = call.callee.rsplit('.').next().unwrap_or_default();
                CHECKED.contains(&last) || call.keyword("check").is_some_and(|value| value.text == "True")
            })
            .count()
    };
    let silent = |module: &Module| -> Vec<u32> {
        let calls = module.calls().into_iter();
        calls
            .filter(|call| {
                UNCHECKED.contains(&call.resolved.as_str())
                    && call.keyword("check").is_none_or(|value| value.text != "True")
            })
            .map(|call| call.line)
            .collect()
    };
    let looks = |module: &Module| {
        codes::used(module)
            + module.calls_of(".check_returncode").len()
            + module.text().matches("waitstatus").count()
    };
    let (had, has) = (silent(old), silent(new));
    (raising(new) < raising(old) && has.len() > had.len() && looks(new) <= looks(old)).then(|| {
        at(
            "masking/status-ignored",
            has.last().copied().unwrap_or(1),
            Weight::Refuse,
            "the status of a command is no longer looked at",
        )
    })
}

/// Items of a loop that are newly passed over: `if not row: continue` in front of old steps, filters in comprehensions.
fn skipped_items(old: &Module, new: &Module) -> Vec<Finding> {
    let mut out = Vec::new();
    for clause in fresh(old, new, "if_clause") {
        let why = "items are passed over that were taken before";
        let text = squeezed(new, clause);
        let weight = judge(text.trim_start_matches("if "));
        out.extend(weight.map(|weight| at("masking/data-dropped", line(clause), weight, why)));
    }
    for node in fresh(old, new, "if_statement") {
        let body = node.child_by_field_name("consequence");
        let only_skips = body.is_some_and(|body| {
            let all: Vec<Node<'_>> = children(body).into_iter().filter(Node::is_named).collect();
            matches!(all.as_slice(), [one] if one.kind() == "continue_statement")
        });
        let condition = node.child_by_field_name("condition").map(|c| squeezed(new, c)).unwrap_or_default();
        let bad = judge(&condition) == Some(Weight::Refuse);
        let item = condition.rsplit_once("== ").is_some_and(|(_, value)| value.parse::<i64>().is_ok())
            && condition.contains(['[', '.'])
            || [" in {", " in (", " in ["].iter().any(|list| condition.contains(list))
                && !condition.contains("not in");
        if only_skips && (bad || item) {
            let why = "items that do not fit are passed over without a word";
            out.push(at("masking/data-dropped", line(node), Weight::Refuse, why));
        }
    }
    out
}
