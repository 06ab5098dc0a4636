//! # A calculation whose result zero ends the job
//!
//! ## What it finds
//! In a script with `set -e`, `((count++))`, `((sum += n))`, `let n--` or `x=$(expr …)` stands as a command, and the job
//! ends there without a word.
//!
//! ## Why it fails
//! `((…))`, `let` and `expr` answer with status 1 when the value is zero. `count++` from zero has the value zero.
//!
//! ## Fix
//! The calculation becomes an assignment, whose status is always 0.
//!
//! ## Example
//! ```sh
//! ((count++))
//! ```
//! ```sh
//! count=$((count + 1))
//! ```
//!
//! ## Safety
//! Calculations in conditions stay. What is calculated is the same.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, splice, substitution, unquoted};

rule!(ArithmeticStatus, "arithmetic_status", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let silent = case.faults().all(|fault| matches!(fault, Fault::SilentExit { code: 1 }));
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell() && silent) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    if !script.strict('e', "errexit") {
        return Vec::new();
    }
    let found: Vec<(&Command, String)> = script
        .commands
        .iter()
        .filter(|command| !script.in_condition(command))
        .filter_map(|command| Some((command, better(&script, command)?)))
        .collect();
    let line = case.line_in(&file);
    let here = found.iter().find(|(command, _)| line.is_none_or(|line| script.covers(command, line)));
    let Some((first, _)) = here else { return Vec::new() };
    let cause = format!(
        "line {}: {} has the value 0, which counts as a failure and ends the script",
        script.line_of(first.span.start),
        script.get(&first.span)
    );
    let lines: Vec<String> = found.iter().map(|(c, _)| script.line_of(c.span.start).to_string()).collect();
    let parts = found.iter().map(|(command, new)| (command.span.clone(), new.clone())).collect();
    let draft = Draft::new("arithmetic_status", cause, "assign the result, which never fails")
        .evidence("the command ended with 1 and said nothing")
        .rewrite(&file, splice(&file.text, parts), format!("lines {}: assignments", lines.join(", ")));
    draft.done().into_iter().collect()
}

/// The same calculation as an assignment.
fn better(script: &Script<'_>, command: &Command) -> Option<String> {
    let source = script.get(&command.span);
    if let Some(inner) = source.strip_prefix("((").and_then(|rest| rest.strip_suffix("))")) {
        return assignment(inner.trim());
    }
    if script.name(command) == "let" {
        let [_, expression] = script.words(command).try_into().ok()?;
        return assignment(&unquoted(expression));
    }
    // x=$(expr $a - 1)
    let [assign] = command.assigns.as_slice() else { return None };
    let (name, value) = script.get(assign).split_once('=').filter(|_| command.words.is_empty())?;
    let inner = substitution(value)?.strip_prefix("expr ")?;
    let words: Vec<String> = inner.split_whitespace().map(|word| unquoted(word).replace('\\', "")).collect();
    let known = |word: &String| {
        let bare = word.trim_start_matches('$').trim_matches(['{', '}']);
        matches!(word.as_str(), "+" | "-" | "*" | "/" | "%") || bare.chars().all(crate::text::is_name)
    };
    words.iter().all(known).then(|| format!("{name}=$(({}))", words.join(" ")))
}

fn assignment(expression: &str) -> Option<String> {
    let name_len = expression.find(|c: char| !crate::text::is_name(c)).unwrap_or(expression.len());
    let (name, rest) = expression.split_at(name_len);
    let plain = |text: &str| {
        !text.contains(['=', ',', '<', '>', '?', '&', '|']) && !text.contains("++") && !text.contains("--")
    };
    if let Some(name) = expression.strip_prefix("++").or_else(|| expression.strip_prefix("--")) {
        let sign = expression.get(..1)?;
        return name.chars().all(crate::text::is_name).then(|| format!("{name}=$(({name} {sign} 1))"));
    }
    if name.is_empty() {
        return None;
    }
    match rest.trim() {
        "++" => Some(format!("{name}=$(({name} + 1))")),
        "--" => Some(format!("{name}=$(({name} - 1))")),
        rest => {
            let step = ["+=", "-=", "*=", "/=", "%="]
                .iter()
                .find_map(|op| Some((op, rest.strip_prefix(op)?.trim())));
            if let Some((operator, value)) = step {
                let single = value.chars().all(|c| crate::text::is_name(c) || c == '$');
                let value = if single { value.to_owned() } else { format!("({value})") };
                let sign = operator.get(..1)?;
                return plain(&value).then(|| format!("{name}=$(({name} {sign} {value}))"));
            }
            let value = rest.strip_prefix('=').filter(|value| !value.starts_with('='))?.trim();
            plain(value).then(|| format!("{name}=$(({value}))"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, line: u32) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new()).fault(Fault::SilentExit { code: 1 }).at(line)
    }

    #[test]
    fn turns_counters_into_assignments() {
        let text = "set -euo pipefail\nn=0\nfor x in a b; do\n  ((n++)) # one more\n  [ $x = b ] && (( m += 2*n ))\ndone\nlet k--\n";
        let healed = case(text, 4).healed(&ArithmeticStatus);
        assert_eq!(
            healed,
            "set -euo pipefail\nn=0\nfor x in a b; do\n  n=$((n + 1)) # one more\n  [ $x = b ] && m=$((m + (2*n)))\ndone\nk=$((k - 1))\n"
        );
    }

    #[test]
    fn turns_expr_into_arithmetic() {
        assert_eq!(
            case("set -e\nleft=$(expr $total - 3)\n", 2).healed(&ArithmeticStatus),
            "set -e\nleft=$(($total - 3))\n"
        );
    }

    #[test]
    fn leaves_conditions_and_lenient_scripts_alone() {
        assert!(
            case("set -e\nif ((n++)); then :; fi\nwhile ((n--)); do :; done\n((n > 3)) && x\n", 2)
                .silent(&ArithmeticStatus)
        );
        assert!(case("((n++))\n", 1).silent(&ArithmeticStatus));
        assert!(case("set -e\n((n++))\nfalse\n", 3).silent(&ArithmeticStatus));
    }
}
