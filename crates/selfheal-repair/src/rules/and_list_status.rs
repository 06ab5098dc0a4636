//! # A function that ends in a condition
//!
//! ## What it finds
//! In a script with `set -e`, the last command of a function is `[ … ] && command`, and the job ends without a word when
//! the condition is false.
//!
//! ## Why it fails
//! `set -e` overlooks a false condition before `&&`, but the function then answers with its status 1, and the call of the
//! function is not overlooked.
//!
//! ## Fix
//! The list becomes an `if`, whose status is 0 when the condition is false.
//!
//! ## Example
//! ```sh
//! warn() {
//!   [ "$1" -gt 3 ] && echo "too many" >> "$mail"
//! }
//! ```
//! ```sh
//! warn() {
//!   if [ "$1" -gt 3 ]; then echo "too many" >> "$mail"; fi
//! }
//! ```
//!
//! ## Safety
//! Only functions whose answer nothing looks at: every call of them is a plain command. A command behind `&&` that fails
//! still ends the job.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, splice};

rule!(AndListStatus, "and_list_status", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let silent = case.faults().all(|fault| matches!(fault, Fault::SilentExit { code: 1 }));
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell() && silent) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    if !script.strict('e', "errexit") {
        return Vec::new();
    }
    let line = case.line_in(&file);
    let found: Vec<(&Command, &Command)> =
        script.commands.iter().filter_map(|test| list(&script, test)).collect();
    let hit = |(test, last): &&(&Command, &Command)| {
        let (first, last) = (script.line_of(test.span.start), script.line_of(last.span.end));
        let function = script.function_of(test).unwrap_or_default();
        line.is_none_or(|line| {
            (first <= line && line <= last) || script.calls(function).any(|call| script.covers(call, line))
        })
    };
    let Some((first, _)) = found.iter().find(hit) else { return Vec::new() };
    let number = script.line_of(first.span.start);
    let mut parts = Vec::new();
    for (test, last) in &found {
        let between = test.span.end..last.span.start;
        let then = if script.get(&between).contains('\n') { "; then\n" } else { "; then " };
        parts.push((test.span.start..test.span.start, "if ".to_owned()));
        parts.push((between, then.to_owned()));
        parts.push((last.span.end..last.span.end, "; fi".to_owned()));
    }
    let lines: Vec<String> = found.iter().map(|(t, _)| script.line_of(t.span.start).to_string()).collect();
    let draft = Draft::new(
        "and_list_status",
        format!("line {number}: the condition is false, and as the last command of its function it ends the strict script"),
        "ask with if, which does not fail when the condition is false",
    )
    .evidence("the condition ended with 1 and said nothing")
    .rewrite(&file, splice(&file.text, parts), format!("line {}: if for &&", lines.join(", ")));
    draft.done().into_iter().collect()
}

/// `[ … ] && command` at the end of a function whose answer nothing looks at: the test and the command.
fn list<'s>(script: &'s Script<'_>, test: &'s Command) -> Option<(&'s Command, &'s Command)> {
    let is_test =
        matches!(script.name(test).as_str(), "[" | "[[" | "test") || script.get(&test.span).starts_with("((");
    if !is_test || test.after != "&&" || !test.before.is_empty() && test.before != ";" {
        return None;
    }
    let next = script.commands.iter().filter(|other| other.span.start >= test.span.end);
    let last = next.min_by_key(|other| other.span.start)?;
    let gap: String = script
        .get(&(test.span.end..last.span.start))
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '\\')
        .collect();
    let alone =
        gap == "&&" && last.block == test.block && !matches!(last.after.as_str(), "&&" | "||" | "|" | "&");
    let function = script.function_of(test).filter(|_| alone && script.ends_function(last))?;
    let plain = |call: &Command| {
        let outer = script.function_of(call);
        !script.in_condition(call) && script.holder(call).is_none() && outer.is_none()
    };
    let mut calls = script.calls(function).peekable();
    (calls.peek().is_some() && calls.all(plain)).then_some((test, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, line: u32) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new()).fault(Fault::SilentExit { code: 1 }).at(line)
    }

    #[test]
    fn asks_with_if_at_the_end_of_a_function() {
        let text = "set -e\nwarn() {\n  local n=$1\n  [ \"$n\" -gt 3 ] && echo \"$n\" >> mail\n}\nwarn 1\n";
        let healed = text
            .replace("[ \"$n\"", "if [ \"$n\"")
            .replace("] && echo", "]; then echo")
            .replace("mail\n", "mail; fi\n");
        assert_eq!(case(text, 4).healed(&AndListStatus), healed);
        assert_eq!(case(text, 6).healed(&AndListStatus), healed);
        let text = "set -euo pipefail\ntidy() { [[ -n $1 ]] &&\n  rm -f tmp/x\n}\ntidy ''\n";
        assert_eq!(
            case(text, 2).healed(&AndListStatus),
            "set -euo pipefail\ntidy() { if [[ -n $1 ]]; then\nrm -f tmp/x; fi\n}\ntidy ''\n"
        );
    }

    #[test]
    fn leaves_answers_that_are_looked_at_alone() {
        let silent = |text: &str, line| case(text, line).silent(&AndListStatus);
        assert!(silent(
            "set -e\nbig() {\n  [ \"$1\" -gt 3 ] && echo big\n}\nif big 1; then x; fi\nbig 2\n",
            3
        ));
        assert!(silent("set -e\nbig() {\n  [ \"$1\" -gt 3 ] && echo big\n}\nbig 1 || exit 3\n", 3));
        assert!(silent("set -e\nbig() {\n  [ \"$1\" -gt 3 ] && echo big\n}\nx=$(big 1)\n", 3));
        assert!(silent("set -e\nbig() {\n  [ -d x ] && y || z\n}\nbig\n", 3));
        assert!(silent("set -e\n[ -f key ] && echo key\n", 2));
        assert!(silent("f() {\n  [ -f key ] && echo key\n}\nf\n", 2));
    }
}
