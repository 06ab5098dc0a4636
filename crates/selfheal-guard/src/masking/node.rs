//! Masking in JavaScript programs, by their tree: handlers, promises, ends, checks, steps.

mod handlers;

use std::collections::BTreeMap;

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::tree::{self, Grammar, Node, Tree, children, descendants};

use crate::finding::{at, whole};

/// One side of a change.
pub(super) struct Program {
    text: String,
    tree: Tree,
}

impl Program {
    fn parse(text: &str) -> Option<Self> {
        let tree = tree::parse(Grammar::JavaScript, text).ok()?;
        Some(Self { text: text.to_owned(), tree })
    }

    /// Every node of one kind, in the order of the text.
    fn nodes(&self, kind: &str) -> Vec<Node<'_>> {
        let all = descendants(self.tree.root_node()).into_iter();
        all.filter(|node| node.is_named() && node.kind() == kind).collect()
    }

    fn text_of(&self, node: Node<'_>) -> &str {
        tree::text_of(&self.text, node)
    }

    /// What a call calls: `process.exit`.
    fn callee(&self, call: Node<'_>) -> &str {
        call.child_by_field_name("function").map_or("", |function| self.text_of(function))
    }

    /// The last part of what a call calls: `exit`.
    fn method(&self, call: Node<'_>) -> &str {
        let callee = self.callee(call);
        callee.rsplit('.').next().unwrap_or(callee)
    }

    fn arguments<'a>(&'a self, call: Node<'a>) -> Vec<Node<'a>> {
        let list = call.child_by_field_name("arguments");
        list.map(|list| {
            children(list).into_iter().filter(|n| n.is_named() && n.kind() != "comment").collect()
        })
        .unwrap_or_default()
    }

    fn squeezed(&self, node: Node<'_>) -> String {
        self.text_of(node).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Ways of asking for less than before, by the matcher of an `expect` or `assert`.
const VAGUE: &[&str] = &[
    "toBeDefined",
    "toBeTruthy",
    "toBeFalsy",
    "toBeInstanceOf",
    "anything",
    "ok",
    "isOk",
    "exists",
    "isDefined",
    "doesNotThrow",
    "toMatchSnapshot",
    "notStrictEqual",
    "notEqual",
];

/// Members that tell how a step ended.
const STATUS: &[&str] = &["status", "exitCode", "signal", "ok", "statusCode", "code", "error", "returncode"];

/// What in a change hides a failure; nothing where the text is no program (a `package.json`).
pub fn compare(before: &str, after: &str) -> Vec<Finding> {
    if before.trim_start().starts_with('{') {
        return Vec::new();
    }
    let (Some(old), Some(new)) = (Program::parse(before), Program::parse(after)) else {
        return vec![whole("masking/unjudged", Weight::Hold, "the program is too large to be judged")];
    };
    let mut out = handlers::compare(&old, &new);
    out.extend(exits(&old, &new));
    out.extend(unreachable(&old, &new));
    out.extend(checks(&old, &new));
    out.extend(conditional(&old, &new));
    out.extend(constants(&old, &new));
    out.extend(emptied(&old, &new));
    out.extend(gone(&old, &new));
    out
}

fn line(node: Node<'_>) -> u32 {
    node.start_position().row as u32 + 1
}

/// The nodes of the new text whose text is not, or not as often, in the old one.
pub(super) fn fresh<'a>(old: &Program, new: &'a Program, kind: &str) -> Vec<Node<'a>> {
    let mut had: BTreeMap<String, usize> = BTreeMap::new();
    for node in old.nodes(kind) {
        *had.entry(old.squeezed(node)).or_default() += 1;
    }
    let is_new = |node: &Node<'_>| match had.get_mut(&new.squeezed(*node)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    new.nodes(kind).into_iter().filter(is_new).collect()
}

/// The nearest node above of one of some kinds.
fn above<'a>(node: Node<'a>, kinds: &[&str]) -> Option<Node<'a>> {
    let mut next = node.parent();
    while let Some(node) = next {
        if kinds.contains(&node.kind()) {
            return Some(node);
        }
        next = node.parent();
    }
    None
}

/// `process.exit()`, `process.exit(0)`, `process.exitCode = 0`: what is new and says success.
fn exits(old: &Program, new: &Program) -> Vec<Finding> {
    let mut out = Vec::new();
    for call in fresh(old, new, "call_expression") {
        let zero = new.arguments(call).first().is_none_or(|first| new.text_of(*first) == "0");
        if new.callee(call).ends_with("process.exit") && zero {
            out.push(exit(new, call));
        }
        let hook = new.callee(call) == "process.on" || new.callee(call) == "process.once";
        if hook && !handlers::any_fails(new, call) {
            out.push(at(
                "masking/exit-hook",
                line(call),
                Weight::Refuse,
                "unhandled errors no longer end the program",
            ));
        }
    }
    for node in fresh(old, new, "assignment_expression") {
        if new.squeezed(node) == "process.exitCode = 0" {
            out.push(at("masking/exit-zero", line(node), Weight::Refuse, "the program ends with success"));
        }
    }
    for node in fresh(old, new, "ternary_expression") {
        let branch = |name: &str| node.child_by_field_name(name).map(|inner| new.squeezed(inner));
        let same = branch("consequence") == branch("alternative");
        if same {
            out.push(at(
                "masking/check-weakened",
                line(node),
                Weight::Refuse,
                "a choice gives the same either way",
            ));
        }
    }
    out
}

fn exit(new: &Program, call: Node<'_>) -> Finding {
    let guard = above(call, &["if_statement"]);
    let condition = guard.and_then(|guard| guard.child_by_field_name("condition"));
    let empty = condition.is_some_and(|condition| {
        let text = new.squeezed(condition);
        text.contains(".length === 0")
            || text.contains(".length == 0")
            || text.contains(".length < 1")
            || (text.starts_with("(!") && text.contains(".length"))
            || text.contains(".size === 0")
    });
    let tells = guard.is_some_and(|guard| {
        descendants(guard).into_iter().any(|n| n.kind() == "call_expression" && handlers::is_message(new, n))
    });
    if empty && tells {
        let why = "it ends with success when there is no work";
        return at("masking/nothing-to-do", line(call), Weight::Medium, why);
    }
    at("masking/exit-zero", line(call), Weight::Refuse, "the program ends with success")
}

/// Statements that nothing reaches: behind a new end, or under a condition that never holds.
fn unreachable(old: &Program, new: &Program) -> Vec<Finding> {
    let mut out = Vec::new();
    let why = "code can no longer be reached";
    for kind in ["return_statement", "throw_statement", "continue_statement", "break_statement"] {
        for node in fresh(old, new, kind) {
            let next = node.next_named_sibling();
            let dead = next.is_some_and(|next| !matches!(next.kind(), "comment" | "function_declaration"));
            if dead && node.parent().is_some_and(|parent| parent.kind() != "switch_case") {
                out.push(at("masking/unreachable", line(node), Weight::Refuse, why));
            }
        }
    }
    for kind in ["if_statement", "while_statement"] {
        for node in fresh(old, new, kind) {
            let condition =
                node.child_by_field_name("condition").map(|c| new.squeezed(c)).unwrap_or_default();
            let plain = condition.trim_matches(['(', ')', ' ']);
            let never = matches!(plain, "false" | "0" | "null" | "undefined" | "!true" | "''" | "\"\"")
                || plain.ends_with("&& false")
                || plain.starts_with("false &&");
            if never {
                out.push(at("masking/unreachable", line(node), Weight::Refuse, why));
            }
        }
    }
    out
}

/// Everything that can fail on purpose: throws, assertions, failing exits, looks at a status.
fn checks(old: &Program, new: &Program) -> Vec<Finding> {
    let mut out = Vec::new();
    let fewer = |count: &dyn Fn(&Program) -> usize| count(new) < count(old);
    let fails = |program: &Program| {
        program.nodes("throw_statement").len()
            + program
                .nodes("call_expression")
                .into_iter()
                .filter(|c| handlers::is_failing(program, *c))
                .count()
            + program
                .nodes("assignment_expression")
                .into_iter()
                .filter(|n| handlers::is_failing(program, *n))
                .count()
    };
    if fewer(&fails) {
        out.push(whole("masking/check-removed", Weight::Refuse, "an error is no longer raised"));
    }
    let asserts = |program: &Program| -> Vec<String> {
        let calls = program.nodes("call_expression").into_iter();
        calls.filter(|call| is_assert(program, *call)).map(|call| program.squeezed(call)).collect()
    };
    let (had, has) = (asserts(old), asserts(new));
    if has.len() < had.len() {
        out.push(whole("masking/check-removed", Weight::Refuse, "an assertion is gone"));
    } else if had.iter().any(|text| !has.contains(text)) {
        let vague = fresh(old, new, "call_expression")
            .into_iter()
            .any(|call| VAGUE.contains(&new.method(call)) || new.text_of(call).contains("expect.any"));
        let weight = if vague { Weight::Refuse } else { Weight::High };
        out.push(whole("masking/check-changed", weight, "an assertion is another"));
    }
    let looks = |program: &Program| {
        let conditions = ["if_statement", "ternary_expression", "while_statement", "binary_expression"];
        let members = program.nodes("member_expression").into_iter();
        members
            .filter(|node| {
                let name = node.child_by_field_name("property").map_or("", |name| program.text_of(name));
                STATUS.contains(&name) && above(*node, &conditions).is_some()
            })
            .count()
    };
    let runs = |program: &Program, names: &[&str]| {
        let calls = program.nodes("call_expression").into_iter();
        calls.filter(|call| names.contains(&program.method(*call))).count()
    };
    let (raising, silent) = (["execSync", "execFileSync"], ["spawnSync", "spawn", "exec", "execFile"]);
    let unchecked = runs(new, &raising) < runs(old, &raising) && runs(new, &silent) > runs(old, &silent);
    if unchecked && looks(new) <= looks(old) {
        let why = "the status of a command is no longer looked at";
        out.push(whole("masking/status-ignored", Weight::Refuse, why));
    }
    if fewer(&looks) {
        out.push(whole(
            "masking/status-ignored",
            Weight::Refuse,
            "the status of a step is no longer looked at",
        ));
    }
    out
}

fn is_assert(program: &Program, call: Node<'_>) -> bool {
    let callee = program.callee(call);
    callee.starts_with("assert") || (callee.starts_with("expect(") && callee.contains(")."))
}

/// Steps that were there and run only under a new condition, with nothing failing otherwise.
fn conditional(old: &Program, new: &Program) -> Vec<Finding> {
    let calls = |program: &Program, node: Node<'_>| -> Vec<String> {
        let all = descendants(node).into_iter().filter(|n| n.kind() == "expression_statement");
        all.map(|statement| program.squeezed(statement)).filter(|text| text.contains('(')).collect()
    };
    let had = calls(old, old.tree.root_node());
    let mut out = Vec::new();
    for node in fresh(old, new, "if_statement") {
        let (Some(condition), Some(body)) =
            (node.child_by_field_name("condition"), node.child_by_field_name("consequence"))
        else {
            continue;
        };
        let inside: Vec<String> = calls(new, body).into_iter().filter(|call| had.contains(call)).collect();
        let known = old.nodes("if_statement").into_iter().any(|other| {
            let same = |name: &str| {
                other.child_by_field_name(name).map(|part| old.squeezed(part))
                    == node.child_by_field_name(name).map(|part| new.squeezed(part))
            };
            same("consequence") || same("condition")
        });
        let fails =
            node.child_by_field_name("alternative").is_some_and(|other| handlers::any_fails(new, other));
        if inside.is_empty() || known || fails {
            continue;
        }
        let asked: Vec<&str> = descendants(condition)
            .into_iter()
            .filter(|n| n.kind() == "identifier" || n.kind() == "property_identifier")
            .map(|n| new.text_of(n))
            .collect();
        let about_it = inside.iter().any(|call| {
            call.split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word.len() > 1 && asked.contains(&word))
        });
        let environment = asked.contains(&"env") || asked.contains(&"existsSync");
        let list = new.text_of(condition).contains(".length");
        let weight = if (about_it || environment) && !list { Weight::Refuse } else { Weight::Medium };
        out.push(at(
            "masking/skipped-step",
            line(node),
            weight,
            "a step runs only under a condition now, and nothing fails otherwise",
        ));
    }
    out
}

/// Names that were computed and are constants now.
fn constants(old: &Program, new: &Program) -> Vec<Finding> {
    let assigned = |program: &Program| -> BTreeMap<String, Vec<(bool, u32)>> {
        let mut out: BTreeMap<String, Vec<(bool, u32)>> = BTreeMap::new();
        for (kind, name, value) in
            [("variable_declarator", "name", "value"), ("assignment_expression", "left", "right")]
        {
            for node in program.nodes(kind) {
                let (Some(left), Some(right)) =
                    (node.child_by_field_name(name), node.child_by_field_name(value))
                else {
                    continue;
                };
                let constant = handlers::is_constant(program, right);
                out.entry(program.text_of(left).to_owned()).or_default().push((constant, line(node)));
            }
        }
        out
    };
    let (had, has) = (assigned(old), assigned(new));
    let mut out = Vec::new();
    for (name, values) in had.iter().filter(|(_, values)| values.iter().any(|(constant, _)| !constant)) {
        let Some(now) = has.get(name).filter(|now| now.iter().all(|(constant, _)| *constant)) else {
            continue;
        };
        let at_line = now.first().map_or(1, |(_, line)| *line);
        if values.len() <= now.len() {
            let why = format!("`{name}` was computed and is a constant now");
            out.push(at("masking/constant", at_line, Weight::Refuse, why));
        }
    }
    out
}

/// Functions whose body does nothing now.
fn emptied(old: &Program, new: &Program) -> Vec<Finding> {
    let bodies = |program: &Program| -> BTreeMap<String, (bool, u32)> {
        let all = program.nodes("function_declaration").into_iter().chain(program.nodes("method_definition"));
        all.filter_map(|node| {
            let name = program.text_of(node.child_by_field_name("name")?).to_owned();
            let quiet = handlers::is_quiet_block(program, node.child_by_field_name("body")?);
            Some((name, (quiet, line(node))))
        })
        .collect()
    };
    let (had, has) = (bodies(old), bodies(new));
    let lost = had.iter().filter(|(_, (quiet, _))| !quiet);
    lost.filter_map(|(name, _)| has.get(name).filter(|(quiet, _)| *quiet).map(|(_, line)| (name, *line)))
        .map(|(name, line)| at("masking/emptied", line, Weight::Refuse, format!("`{name}` does nothing now")))
        .collect()
}

/// Calls that are gone with nothing new in their place.
fn gone(old: &Program, new: &Program) -> Option<Finding> {
    let names = |program: &Program| -> BTreeMap<String, usize> {
        let mut out = BTreeMap::new();
        let calls = program.nodes("call_expression").into_iter();
        for call in calls.filter(|call| {
            !handlers::is_message(program, *call)
                && !is_assert(program, *call)
                && program.method(*call) != "require"
        }) {
            *out.entry(program.method(call).to_owned()).or_default() += 1;
        }
        out
    };
    let (had, has) = (names(old), names(new));
    let count = |all: &BTreeMap<String, usize>, name: &str| all.get(name).copied().unwrap_or(0);
    let lost = had.iter().find(|(name, n)| count(&has, name) < **n)?;
    let more = has.iter().any(|(name, n)| count(&had, name) < *n);
    let why = format!("the call of `{}` is gone", lost.0);
    (!more).then(|| whole("masking/step-deleted", Weight::Refuse, why))
}
