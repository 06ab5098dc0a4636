//! Ends that say success: new `exit 0` and `return 0`, and a last command whose status says nothing.

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::shell::{Command, CommandKind, ListOperator, Script, Statement, StatementKind};

use super::guards::{
    GuardKind, asks_for_empty_work, asks_for_loop_item, commands_in, guards, source_is_checked,
};
use super::handling::option_on;
use super::words::{is_fail_name, is_failing_code, is_forced_success, is_message, is_step, name_of};
use super::{Side, Sides};
use crate::finding::{at, whole};

/// New ends that say success.
pub fn compare(sides: &Sides) -> Vec<Finding> {
    let mut out: Vec<Finding> = Vec::new();
    for (index, command) in sides.new.script.commands().iter().enumerate() {
        if sides.origin.get(index) == Some(&None) && says_success(command) {
            out.extend(new_exit(sides, index, command));
        }
    }
    out.extend(final_status(sides));
    out.extend(forced(sides));
    out.extend(removed(sides));
    out.extend(overwritten(sides));
    out.extend(computed(sides));
    out
}

/// `rc=$?`, then a new `rc=0`, then `exit $rc`.
fn overwritten(sides: &Sides) -> Vec<Finding> {
    let script = &sides.new.script;
    let commands = script.commands().iter().zip(&sides.origin);
    let fresh =
        commands.filter(|(command, origin)| origin.is_none() && command.kind == CommandKind::Assignment);
    let zero = fresh.flat_map(|(command, _)| &command.assignments).filter(|assignment| {
        assignment.value.as_ref().and_then(|value| value.literal()).is_some_and(|text| text == "0")
    });
    let kept_before = |name: &str, offset: usize| {
        script.assignments().any(|other| {
            other.name == name
                && other.span.start < offset
                && other.value.as_ref().is_some_and(|value| value.literal().as_deref() != Some("0"))
        })
    };
    let ends_with = |name: &str, offset: usize| {
        script.commands().iter().any(|command| {
            (command.is("exit") || command.is("return"))
                && command.span.start > offset
                && command.words.iter().any(|word| word.uses(name))
        })
    };
    zero.filter(|a| kept_before(&a.name, a.span.start) && ends_with(&a.name, a.span.end))
        .map(|a| {
            at(
                "masking/status-overwritten",
                a.line,
                Weight::Refuse,
                format!("the status in `{}` is overwritten with success", a.name),
            )
        })
        .collect()
}

/// `exit $(( … ))` that is 0 for every status.
fn computed(sides: &Sides) -> Vec<Finding> {
    let commands = sides.new.script.commands().iter().zip(&sides.origin);
    let ends =
        commands.filter(|(command, origin)| origin.is_none() && (command.is("exit") || command.is("return")));
    let always_zero = |command: &Command| {
        let text = command
            .arguments()
            .first()
            .map(|word| word.text.trim_matches('"').to_owned())
            .unwrap_or_default();
        if text.starts_with("${") && text.ends_with("+0}") {
            return true;
        }
        let inner = text.strip_prefix("$((").and_then(|rest| rest.strip_suffix("))"));
        inner.is_some_and(|inner| {
            let (condition, branches) = inner.split_once(" ? ").map_or(("", inner), |(c, b)| (c, b));
            let zero = |text: &str| text.trim() == "0";
            let both =
                !condition.is_empty() && branches.split_once(':').is_some_and(|(a, b)| zero(a) && zero(b));
            let squeezed: String = inner.split_whitespace().collect();
            both || squeezed == "0"
                || squeezed.ends_with("*0")
                || squeezed.starts_with("0*")
                || squeezed.ends_with("&0")
        })
    };
    ends.filter(|(command, _)| always_zero(command))
        .map(|(command, _)| {
            at(
                "masking/exit-zero",
                command.lines.0,
                Weight::Refuse,
                "its exit code is computed to be success",
            )
        })
        .collect()
}

/// `exit 0`, `return 0`, and both without a number.
fn says_success(command: &Command) -> bool {
    let name = name_of(command);
    let code = command.arguments().first().map(|word| word.text.trim_matches(['"', '\'']).to_owned());
    match name.as_str() {
        "exit" => matches!(code.as_deref(), None | Some("0")),
        "return" => code.as_deref() == Some("0"),
        _ => false,
    }
}

fn new_exit(sides: &Sides, index: usize, command: &Command) -> Option<Finding> {
    let script = &sides.new.script;
    let line = command.lines.0;
    let all = guards(script, index);
    let Some(guard) = all.last() else { return unguarded(sides, index, command) };
    if guard.kind == GuardKind::Case && in_default_branch(script, command) {
        return Some(at(
            "masking/exit-zero",
            line,
            Weight::Refuse,
            "it ends with success whatever the value is",
        ));
    }
    let mut asked = guard.condition.iter().filter_map(|at| script.commands().get(*at));
    if (command.is("return") || asked.any(is_step)) && fails_at_the_end(script, command) {
        return Some(at("masking/retry", line, Weight::Note, "it ends with success once a try succeeded"));
    }
    if guard.kind == GuardKind::Case {
        return Some(at(
            "masking/exit-zero",
            line,
            Weight::Note,
            "a new branch ends the script with success",
        ));
    }
    let tests: Vec<&Command> = guard.condition.iter().filter_map(|at| script.commands().get(*at)).collect();
    let tells = commands_near(script, command).any(is_message);
    if tests.iter().any(|test| asks_for_empty_work(test, script)) {
        let checked = source_is_checked(script, command.span.start);
        let weight = if checked && tells { Weight::Note } else { Weight::Medium };
        let missing = if tells { "" } else { ", without a message" };
        return Some(at(
            "masking/nothing-to-do",
            line,
            weight,
            format!("it ends with success when there is no work{missing}"),
        ));
    }
    if command.is("return") && tests.iter().any(|test| asks_for_loop_item(test, script)) {
        return Some(at(
            "masking/nothing-to-do",
            line,
            Weight::Medium,
            "it skips the rest when an item is missing",
        ));
    }
    if tests.iter().any(|test| matches!(name_of(test).as_str(), "flock" | "pgrep" | "lockfile")) {
        return Some(at(
            "masking/lock-held",
            line,
            Weight::Medium,
            "it ends with success when another run is active",
        ));
    }
    let bare = command.arguments().is_empty();
    // A bare `exit` right behind `||` keeps the status of what failed.
    if bare && guard.kind == GuardKind::Or && !tells {
        return None;
    }
    Some(at(
        "masking/exit-zero",
        line,
        Weight::Refuse,
        "it ends with success under a condition that is no empty list of work",
    ))
}

/// Whether a command stands in a branch of `case` for every value: `*)`, `0|*)`.
fn in_default_branch(script: &Script, command: &Command) -> bool {
    let head: String =
        script.text().get(..command.span.start).unwrap_or_default().chars().rev().take(400).collect();
    let head: String = head.chars().rev().collect();
    let branch = head.rsplit(";;").next().unwrap_or_default();
    let pattern = branch.rsplit_once(')').map_or("", |(pattern, _)| pattern);
    let pattern = pattern.rsplit([' ', '\n', '\t', '(']).next().unwrap_or_default();
    pattern.split('|').any(|one| one.trim() == "*")
}

/// Whether the function that a command stands in ends in a failure: `for i in 1 2 3; do "$@" && return 0; done; return 1`.
fn fails_at_the_end(script: &Script, command: &Command) -> bool {
    let function = command.context.function.as_deref();
    if command.context.loops.is_empty() || command.is("exit") != function.is_none() {
        return false;
    }
    // Only a try that succeeded comes here: behind `&&` or in the branch of an `if`.
    let tried = command.context.after == Some(ListOperator::And) || command.context.branch;
    let mut inside = script.commands().iter().filter(|other| other.context.function.as_deref() == function);
    inside.next_back().is_some_and(|last| match function {
        Some(_) => says_failure(last) || is_step(last) && !is_message(last),
        None => {
            tried && says_failure(last) && !last.context.conditional() && last.span.start > command.span.end
        }
    })
}

fn unguarded(sides: &Sides, index: usize, command: &Command) -> Option<Finding> {
    let script = &sides.new.script;
    let later = script.commands().iter().enumerate().skip(index + 1);
    let blocks = later.clone().any(|(at, other)| {
        is_step(other)
            && other.context.function == command.context.function
            && sides.origin.get(at).copied().flatten().is_some()
    });
    if blocks {
        return Some(at(
            "masking/exit-zero",
            command.lines.0,
            Weight::Refuse,
            "it ends with success before the work is done",
        ));
    }
    let strict = option_on(script, "errexit", command.span.start);
    let bare = command.arguments().is_empty();
    (!strict && !bare)
        .then(|| at("masking/exit-zero", command.lines.0, Weight::Refuse, "its last command forces success"))
}

/// The commands in the same block: those within the lines around.
fn commands_near<'a>(script: &'a Script, command: &'a Command) -> impl Iterator<Item = &'a Command> {
    let all = script.commands().iter();
    all.filter(move |other| other.span.end <= command.span.start && other.lines.0 + 3 >= command.lines.0)
}

/// What gives the script its exit status.
enum Provider {
    /// Nothing that could fail.
    Trivial(u32),
    /// Something that can.
    Real,
    /// There is none.
    Nothing,
}

fn provider(side: &Side) -> Provider {
    let mut statements =
        side.script.body().iter().rev().filter(|s| !matches!(s.kind, StatementKind::Function { .. }));
    let Some(mut last) = statements.next() else { return Provider::Nothing };
    if passes_status_on(&side.script, last) {
        match statements.next() {
            Some(before) => last = before,
            None => return Provider::Nothing,
        }
    }
    while let StatementKind::Group(body) | StatementKind::Subshell(body) = &last.kind {
        match body.last() {
            Some(inner) => last = inner,
            None => break,
        }
    }
    let commands = commands_in(&side.script, std::slice::from_ref(last));
    let only: Vec<&Command> = commands.iter().filter_map(|at| side.script.commands().get(*at)).collect();
    let trivial = |command: &&Command| {
        (is_message(command) && !is_step(command))
            || is_forced_success(command)
            || (name_of(command) == "exit" && says_success(command))
    };
    match &last.kind {
        StatementKind::Command(_) if only.iter().all(trivial) => Provider::Trivial(last.lines.0),
        _ => Provider::Real,
    }
}

/// `exit $?` and a bare `exit`.
fn passes_status_on(script: &Script, statement: &Statement) -> bool {
    let StatementKind::Command(index) = statement.kind else { return false };
    script.commands().get(index).is_some_and(|command| {
        command.is("exit")
            && command.arguments().first().is_none_or(|word| word.text.trim_matches('"') == "$?")
    })
}

fn final_status(sides: &Sides) -> Option<Finding> {
    let strict = option_on(&sides.new.script, "errexit", usize::MAX) || sides.old.script.has_error();
    match (provider(&sides.old), provider(&sides.new)) {
        (Provider::Real, Provider::Trivial(line)) if !strict => Some(at(
            "masking/final-status",
            line,
            Weight::Refuse,
            "the status of the script is now that of a command that cannot fail",
        )),
        _ => None,
    }
}

/// Fewer failing ends than before, unless the script as a whole became strict.
fn removed(sides: &Sides) -> Option<Finding> {
    let ends = |side: &Side| {
        let all = side.script.commands().iter().zip(&side.reached);
        all.filter(|(command, reached)| **reached && says_failure(command)).count()
    };
    let strict = |side: &Side| option_on(&side.script, "errexit", usize::MAX);
    let why = "an end that says failure is gone";
    (ends(&sides.new) < ends(&sides.old) && (strict(&sides.old) || !strict(&sides.new)))
        .then(|| whole("masking/exit-removed", Weight::Refuse, why))
}

/// `exit 1`, `return "$rc"`, `die`.
fn says_failure(command: &Command) -> bool {
    let name = name_of(command);
    let code = command.arguments().first().map(|word| word.text.trim_matches(['"', '\'']).to_owned());
    let fails = code.is_some_and(|code| is_failing_code(&code) || code.starts_with('$'));
    (matches!(name.as_str(), "exit" | "return") && fails) || (is_fail_name(&name) && name != "false")
}

/// New commands that do nothing but succeed, standing on their own.
fn forced(sides: &Sides) -> Vec<Finding> {
    let script = &sides.new.script;
    let new = script.commands().iter().enumerate().filter(|(at, _)| sides.origin.get(*at) == Some(&None));
    let alone = new.filter(|(_, command)| {
        let context = &command.context;
        is_forced_success(command)
            && context.after.is_none()
            && context.consumers.is_empty()
            && !context.branch
            && context.loops.is_empty()
            && command.redirects.is_empty()
    });
    alone
        .map(|(_, command)| {
            at(
                "masking/forced-success",
                command.lines.0,
                Weight::Medium,
                "a new command does nothing but succeed",
            )
        })
        .collect()
}
