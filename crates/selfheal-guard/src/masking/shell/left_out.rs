//! Items of a loop that are newly left out by their name.

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::shell::{Command, CommandKind, Statement, StatementKind};

use super::Sides;
use super::words::{plain, plain_text};
use crate::finding::at;

/// A new `continue` behind a comparison of an item with a name: just what fails may be left out. Ends of names alone
/// (`*.tmp`) say a kind of file, not an item.
pub fn compare(sides: &Sides) -> Vec<Finding> {
    let mut out = Vec::new();
    visit(sides, sides.new.script.body(), &mut out, 0);
    out
}

fn visit(sides: &Sides, statements: &[Statement], out: &mut Vec<Finding>, depth: u32) {
    if depth > 64 {
        return;
    }
    for statement in statements {
        match &statement.kind {
            StatementKind::Case { items, .. } => {
                for (patterns, body) in items {
                    let names = patterns
                        .iter()
                        .any(|pattern| is_name(&plain_text(pattern)) || refuses_signs(pattern));
                    skips(sides, statement, names, body, out);
                    visit(sides, body, out, depth + 1);
                }
            }
            StatementKind::List { left, right, .. } => {
                let names = compares(sides, left) || asks_for_a_field(sides, left);
                skips(sides, statement, names, std::slice::from_ref(right), out);
            }
            StatementKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    let names =
                        condition.iter().any(|test| compares(sides, test) || asks_for_a_field(sides, test));
                    skips(sides, statement, names, body, out);
                    visit(sides, body, out, depth + 1);
                }
                visit(sides, otherwise.as_deref().unwrap_or_default(), out, depth + 1);
            }
            StatementKind::Loop { body, .. }
            | StatementKind::Function { body, .. }
            | StatementKind::Subshell(body)
            | StatementKind::Group(body) => visit(sides, body, out, depth + 1),
            _ => {}
        }
    }
}

/// Tells of a branch that only goes on with the next item.
fn skips(sides: &Sides, whole: &Statement, names: bool, body: &[Statement], out: &mut Vec<Finding>) {
    let [only] = body else { return };
    let StatementKind::Command(index) = only.kind else { return };
    let goes_on = sides.new.script.commands().get(index).is_some_and(|command| command.is("continue"));
    let text = sides.new.script.slice(&whole.span);
    if names && goes_on && !sides.old.script.text().contains(text) {
        let why = "an item of the work is left out by its name";
        out.push(at("masking/item-left-out", whole.lines.0, Weight::Refuse, why));
    }
}

/// Whether a test compares a variable of a loop with a name.
fn compares(sides: &Sides, statement: &Statement) -> bool {
    let StatementKind::Command(index) = statement.kind else { return false };
    let Some(test) = sides.new.script.commands().get(index) else { return false };
    let is_test = matches!(test.kind, CommandKind::Test { .. }) || test.is("test");
    let words: Vec<String> = test.words.iter().map(plain).collect();
    let sign = words.iter().position(|word| matches!(word.as_str(), "=" | "==" | "=~"));
    is_test
        && uses_item(sides, test)
        && sign.and_then(|sign| words.get(sign + 1)).is_some_and(|word| is_name(word))
}

/// Whether a test asks whether a field of a row is there: the second or a later name of the `read` of its loop. A row
/// without it does not fit; one without the first is a blank line.
fn asks_for_a_field(sides: &Sides, statement: &Statement) -> bool {
    let StatementKind::Command(index) = statement.kind else { return false };
    let script = &sides.new.script;
    let Some(test) = script.commands().get(index) else { return false };
    let words: Vec<String> = test.words.iter().map(plain).filter(|word| word != "test").collect();
    let [sign, value] = words.as_slice() else { return false };
    let field = matches!(sign.as_str(), "-n" | "-z").then(|| value.strip_prefix('$')).flatten();
    let Some(field) = field else { return false };
    let loops = test.context.loops.iter().filter_map(|at| script.loops().get(*at));
    let mut reads = loops.flat_map(|one| {
        let inside = script.commands().iter().filter(|command| command.is("read"));
        inside.filter(|command| one.span.contains(&command.span.start))
    });
    reads.any(|read| {
        let names = read.arguments().iter().map(plain).filter(|word| !word.starts_with('-'));
        names.skip(1).any(|name| name == field)
    })
}

fn uses_item(sides: &Sides, test: &Command) -> bool {
    let loops = test.context.loops.iter().filter_map(|index| sides.new.script.loops().get(*index));
    let names: Vec<&str> = loops.filter_map(|one| one.variable.as_deref()).collect();
    test.words.iter().flat_map(|word| word.expansions()).any(|e| names.contains(&e.name.as_str()))
}

/// Whether a pattern is about the signs of a value: `*[!0-9]*`.
fn refuses_signs(pattern: &str) -> bool {
    pattern.contains("[!") || pattern.contains("[^")
}

/// Whether a pattern names an item, and not only an end or the beginning of a comment.
fn is_name(pattern: &str) -> bool {
    let end = pattern.strip_prefix('*').is_some_and(|end| end.starts_with('.') || end.starts_with('~'));
    let letters = pattern.chars().filter(|c| c.is_alphanumeric()).count();
    !end && letters > 2 && !pattern.starts_with(['#', '.', '$'])
}
