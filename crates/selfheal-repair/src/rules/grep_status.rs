//! # grep or diff answers 1, and the strict job ends
//!
//! ## What it finds
//! In a script with `set -e`, a count or list made by `grep`, or a difference saved by `diff`, is empty, and the job ends
//! there without a word.
//!
//! ## Why it fails
//! `grep` answers 1 when it finds nothing, `diff` answers 1 when it finds something. Neither is an error; errors are 2 and
//! above. Under `set -e`, in an assignment or (with `pipefail`) in a pipeline, 1 ends the script.
//!
//! ## Fix
//! Exactly the status 1 of that command is accepted; every other one still ends the script.
//!
//! ## Example
//! ```sh
//! errors=$(grep -c ERROR "$log")
//! ```
//! ```sh
//! errors=$(grep -c ERROR "$log" || [ $? -eq 1 ])
//! ```
//!
//! ## Safety
//! A missing or unreadable file still fails the job (status 2). Counts (`-c`, or counted by `wc`) are mended with low risk;
//! for lists, where nothing found may well be wrong, the repair counts as one that changes meaning. A `grep -q`, whose only
//! use is its status, is never touched.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{BlockKind, Command, Script, splice, unquoted};

rule!(GrepStatus, "grep_status", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let silent = case.faults().all(|fault| matches!(fault, Fault::SilentExit { code: 1 }));
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell() && silent) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    if !script.strict('e', "errexit") {
        return Vec::new();
    }
    let line = case.line_in(&file).filter(|line| script.commands.iter().any(|c| script.covers(c, *line)));
    let found: Vec<&Command> = script.commands.iter().filter(|command| answers(&script, command)).collect();
    // A probe of a simple shell gives the line that called the function, or the first one.
    let at_call = |command: &&Command, line: u32| {
        let function = script.function_of(command).filter(|_| script.ends_function(command));
        function.is_some_and(|name| line == 1 || script.calls(name).any(|call| covers(&script, call, line)))
    };
    let usable = |command: &&Command| counts(&script, command) || empty_is_fine(&script, command);
    let by_line =
        |command: &&Command| line.is_none_or(|line| covers(&script, command, line) || at_call(command, line));
    // A simple shell says `n=0 ended with code 1`, and gives the line of the command before.
    let by_name = |command: &&Command| {
        assigned(&case.report.core_error).is_none_or(|name| sets(&script, command, name))
    };
    let best = found.iter().copied().find(|command| usable(command) && by_name(command) && by_line(command));
    let named = |command: &&Command| {
        assigned(&case.report.core_error).is_some() && usable(command) && by_name(command)
    };
    let Some(first) = best.or_else(|| found.iter().copied().find(named)) else { return Vec::new() };
    let same: Vec<&Command> = found
        .into_iter()
        .filter(|command| std::ptr::eq(*command, first) || counts(&script, command))
        .collect();
    let parts = same.iter().map(|command| accepted(&script, command)).collect();
    let name = script.name(first);
    let number = script.line_of(first.span.start);
    let lines: Vec<String> = same.iter().map(|c| script.line_of(c.span.start).to_string()).collect();
    let mut draft = Draft::new(
        "grep_status",
        format!("line {number}: {name} answers 1, which is no error of {name} but ends the strict script"),
        format!("accept the answer 1 of {name}, and nothing else"),
    )
    .evidence("the command ended with 1 and said nothing");
    if !counts(&script, first) {
        draft = draft.meaning();
    }
    let draft =
        draft.rewrite(&file, splice(&file.text, parts), format!("line {}: 1 is an answer", lines.join(", ")));
    draft.done().into_iter().collect()
}

/// The variable whose assignment is what failed, in the words of a report: `n` of `n=0 ended with code 1`.
fn assigned(core_error: &str) -> Option<&str> {
    let (name, _) = core_error.split_once('=')?;
    (!name.is_empty() && name.chars().all(crate::text::is_name)).then_some(name)
}

/// Whether a variable gets what a command prints, from the command itself or from the function that ends with it.
fn sets(script: &Script<'_>, command: &Command, name: &str) -> bool {
    let holds = |command: &Command| {
        script.holder(command).filter(|holder| holder.words.is_empty()).is_some_and(|holder| {
            holder.assigns.iter().any(|span| script.get(span).split('=').next() == Some(name))
        })
    };
    let function = script.function_of(command).filter(|_| script.ends_function(command));
    holds(command) || function.is_some_and(|function| script.calls(function).any(holds))
}

fn covers(script: &Script<'_>, command: &Command, line: u32) -> bool {
    let start = script.line_of(script.statement(command));
    start <= line && line <= script.line_of(command.span.end).max(start)
}

/// Whether a command is a `grep` or `diff` whose output is used and whose status is not looked at.
fn answers(script: &Script<'_>, command: &Command) -> bool {
    let name = script.name(command);
    let words = script.words(command);
    let quiet = words.iter().any(|word| {
        matches!(*word, "-q" | "--quiet" | "--silent")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains('q'))
    });
    let grep = matches!(name.as_str(), "grep" | "egrep" | "fgrep" | "zgrep");
    let diff = name == "diff" && saved_for_later(script, command);
    if !(grep || diff) || quiet || script.in_condition(command) {
        return false;
    }
    let substitution = script.around(command.block).find(|(_, block)| block.kind == BlockKind::Substitution);
    let used = !command.redirects.is_empty()
        || command.after == "|"
        || substitution.is_some()
        || gives_output(script, command);
    // In `if x=$(grep …)` the status is looked at.
    let statement = substitution.and_then(|(_, block)| {
        script
            .commands
            .iter()
            .find(|other| other.span.start < block.span.start && block.span.end <= other.span.end)
    });
    used && statement.is_none_or(|other| !script.in_condition(other))
}

/// Whether a command is the last one of a function that is called only for its output: in substitutions whose status
/// nothing looks at.
fn gives_output(script: &Script<'_>, command: &Command) -> bool {
    let plain = !matches!(command.before.as_str(), "&&" | "||");
    let function = script.function_of(command).filter(|_| plain && script.ends_function(command));
    let Some(function) = function else { return false };
    let for_output = |call: &Command| {
        !script.in_condition(call)
            && script.holder(call).is_some_and(|holder| {
                holder.words.is_empty() && !holder.assigns.is_empty() && !script.in_condition(holder)
            })
    };
    let mut calls = script.calls(function).peekable();
    calls.peek().is_some() && calls.all(for_output)
}

/// The file that a command's output, or that of the pipe behind it, is saved in.
fn saved_in<'s>(script: &Script<'s>, command: &Command) -> Option<&'s str> {
    let mut last = command;
    while last.after == "|" {
        last = script.commands.iter().find(|other| other.span.start > last.span.end)?;
    }
    let target = last.redirects.iter().find(|(operator, _)| matches!(script.get(operator), ">" | ">>"));
    target.map(|(_, target)| script.get(target))
}

/// Whether a saved difference is read by a later command: one that nothing reads is a gate, and its status is the point.
fn saved_for_later(script: &Script<'_>, command: &Command) -> bool {
    let Some(file) = saved_in(script, command).map(unquoted) else { return false };
    let later = script.commands.iter().filter(|other| other.span.start > command.span.end);
    later
        .filter(|other| !PUBLISHES.contains(&script.name(other).as_str()))
        .any(|other| names_file(script, other, &file))
}

/// Commands that put a file where others use it.
const PUBLISHES: &[&str] = &["mv", "cp", "install", "ln", "rsync", "scp"];

fn names_file(script: &Script<'_>, command: &Command, file: &str) -> bool {
    let words = command.words.iter().skip(1).chain(command.redirects.iter().map(|(_, target)| target));
    words.into_iter().any(|span| unquoted(script.get(span)) == file)
}

/// Whether the script can do with a list that is empty: a variable is asked for it, has a default or is gone through; a
/// file is not put where others use it.
fn empty_is_fine(script: &Script<'_>, command: &Command) -> bool {
    if let Some(file) = saved_in(script, command).map(unquoted) {
        let later = script.commands.iter().filter(|other| other.span.start > command.span.end);
        return !later
            .filter(|other| PUBLISHES.contains(&script.name(other).as_str()))
            .any(|other| names_file(script, other, &file));
    }
    let Some(holder) = script.holder(command) else { return true };
    let assigned = script.assignments().find(|(_, _, other)| std::ptr::eq(*other, holder));
    let Some((name, ..)) = assigned else { return true };
    let behind = script.text.get(holder.span.end..).unwrap_or_default();
    let braced = [":-", ":+", "-", "+"].iter().any(|how| behind.contains(&format!("${{{name}{how}")));
    let asked = script.commands.iter().filter(|other| other.span.start > holder.span.end).any(|other| {
        let test = matches!(script.name(other).as_str(), "[" | "[[" | "test");
        test && script.words(other).iter().any(|word| crate::shell::variables(word).iter().any(|v| v == name))
    });
    let gone_through = script.blocks.iter().any(|block| match &block.kind {
        BlockKind::For { items, .. } => {
            items.iter().any(|item| crate::shell::variables(script.get(item)).iter().any(|v| v == name))
        }
        _ => false,
    });
    braced || asked || gone_through || behind.contains(&format!("<<< \"${name}\""))
}

/// Whether nothing found is plainly a number: `-c`, or counted behind a pipe; and a saved difference.
fn counts(script: &Script<'_>, command: &Command) -> bool {
    let counted = script
        .words(command)
        .iter()
        .any(|w| *w == "--count" || (w.starts_with('-') && !w.starts_with("--") && w.contains('c')));
    let next = script.commands.iter().find(|other| other.span.start > command.span.end);
    let piped = command.after == "|" && next.is_some_and(|other| script.name(other) == "wc");
    counted || piped || script.name(command) == "diff"
}

fn accepted(script: &Script<'_>, command: &Command) -> (std::ops::Range<usize>, String) {
    let source = script.get(&command.span);
    let alone =
        !matches!(command.after.as_str(), "|" | "|&") && !matches!(command.before.as_str(), "|" | "|&");
    let new =
        if alone { format!("{source} || [ $? -eq 1 ]") } else { format!("{{ {source} || [ $? -eq 1 ]; }}") };
    (command.span.clone(), new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, line: u32) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new()).fault(Fault::SilentExit { code: 1 }).at(line)
    }

    #[test]
    fn finds_the_count_by_the_variable_where_a_shell_gives_no_line() {
        let text = "#!/bin/sh\nset -e\nfor l in logs/*; do\n  m=$(grep -c WARN \"$l\")\n  n=$(grep -c ERROR \"$l\")\n  echo \"$n\"\ndone > r\n";
        let mut case =
            TestCase::new("x.sh", text, TestScene::new()).fault(Fault::SilentExit { code: 1 }).at(1);
        case.report.core_error = "n=0 ended with code 1".to_owned();
        assert!(case.healed(&GrepStatus).contains("n=$(grep -c ERROR \"$l\" || [ $? -eq 1 ])"));
    }

    #[test]
    fn a_variable_tells_more_than_the_line_of_the_command_before() {
        let text =
            "#!/bin/sh\nset -e\nfor l in logs/*; do\n  n=$(grep -c ERROR \"$l\")\n  echo \"$n\"\ndone > r\n";
        let at = |text: &str, line: u32, error: &str| {
            let mut case = case(text, line);
            case.report.core_error = error.to_owned();
            case
        };
        let healed = at(text, 5, "n=0 ended with code 1").healed(&GrepStatus);
        assert_eq!(healed, text.replace("\"$l\")", "\"$l\" || [ $? -eq 1 ])"));
        let text = "set -eu\ncount() {\n  grep -c \"$1\" list\n}\nlow=$(count x)\n";
        let healed = at(text, 3, "low=0 ended with code 1").healed(&GrepStatus);
        assert_eq!(healed, text.replace("list\n", "list || [ $? -eq 1 ]\n"));
        let other = "set -e\nn=$(grep -c x f)\nv=$(probe)\necho \"$n$v\"\n";
        assert!(at(other, 2, "v=3 ended with code 1").silent(&GrepStatus));
    }

    #[test]
    fn accepts_a_count_of_zero() {
        let text = "set -e\nwhile read -r s; do\n  n=$(grep -c ' E ' \"$s.log\")\ndone < list\n";
        let healed = case(text, 3).healed(&GrepStatus);
        assert_eq!(healed, text.replace("\"$s.log\")", "\"$s.log\" || [ $? -eq 1 ])"));
        let text = "set -eo pipefail\nn=$(grep E log | wc -l)\ndiff a b > changes\nwc -l < changes\n";
        let healed = case(text, 2).healed(&GrepStatus);
        assert_eq!(
            healed,
            "set -eo pipefail\nn=$({ grep E log || [ $? -eq 1 ]; } | wc -l)\ndiff a b > changes || [ $? -eq 1 ]\nwc -l < changes\n"
        );
    }

    #[test]
    fn a_list_counts_as_a_change_of_meaning() {
        let candidates = case("set -e\ngrep -v '^#' in > out\n", 2).ask(&GrepStatus);
        assert!(candidates[0].proposal.changes_meaning);
    }

    #[test]
    fn accepts_the_answer_of_a_function_that_is_called_for_its_output() {
        let text = "set -eu\ncount() {\n  grep -c \"$1\" list\n}\na=$(count x)\nb=$(count y)\n";
        let healed = text.replace("list\n", "list || [ $? -eq 1 ]\n");
        assert_eq!(case(text, 1).healed(&GrepStatus), healed);
        assert_eq!(case(text, 5).healed(&GrepStatus), healed);
        assert!(case(&text.replace("b=$(count y)", "if count y; then :; fi"), 5).silent(&GrepStatus));
        assert!(case(&text.replace("b=$(count y)", "b=$(count y) || exit 3"), 5).silent(&GrepStatus));
    }

    #[test]
    fn gates_lookups_and_what_is_published_stay_strict() {
        assert!(case("set -e\ndiff good new > d\ncp new out\n", 2).silent(&GrepStatus));
        assert!(case("set -e\ngrep -v '^#' rules > active\nmv active live\n", 2).silent(&GrepStatus));
        assert!(
            case("set -e\nwho=$(grep '^to: ' f | cut -d' ' -f2)\necho \"to $who\"\n", 2).silent(&GrepStatus)
        );
        assert!(
            !case("set -eo pipefail\nall=$(grep x f)\nfor one in $all; do echo $one; done\n", 2)
                .silent(&GrepStatus)
        );
        assert!(
            !case("set -eo pipefail\nall=$(grep x f)\n[ -n \"$all\" ] && echo yes\n", 2).silent(&GrepStatus)
        );
    }

    #[test]
    fn leaves_looked_at_answers_alone() {
        assert!(
            case("set -e\nif grep -c x y > z; then :; fi\ngrep -q x y\nn=$(grep x y) || exit 3\n", 3)
                .silent(&GrepStatus)
        );
        assert!(case("n=$(grep -c x y)\n", 1).silent(&GrepStatus));
    }
}
