//! # A process that is to be ended is gone already
//!
//! ## What it finds
//! A shell script ends the process whose number is in a file, the process does not live any more, and strict mode ends the script.
//!
//! ## Why it fails
//! The machine was restarted or the process ended by itself, and its file was left behind.
//!
//! ## Fix
//! The process is ended if it lives.
//!
//! ## Example
//! ```sh
//! kill "$(cat worker.pid)"
//! ```
//! ```sh
//! if kill -0 "$(cat worker.pid)" 2>/dev/null; then kill "$(cat worker.pid)"; fi
//! ```
//!
//! ## Safety
//! Only when the number of the message is that of no living process, and only for a `kill` that is a statement of its own. A living
//! process is ended as before, and a process that may not be ended still fails.

use std::path::Path;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Script, splice, unquoted};

rule!(GoneProcess, "gone_process", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let said = case.report.core_error.contains("No such process");
    let Some(file) = case.failing_file().filter(|file| said && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let pid = gone(&case.report.core_error).or_else(|| noted(case, &script));
    let Some(pid) = pid.filter(|pid| !case.scene.process_lives(*pid)) else { return Vec::new() };
    let line = case.line_in(&file);
    let kills = script.commands.iter().filter(|command| {
        script.name(command) == "kill" && line.is_none_or(|line| script.covers(command, line))
    });
    let found = kills.filter_map(|command| {
        let words = script.words(command);
        let targets: Vec<&str> =
            words.iter().skip(1).filter(|word| !word.starts_with('-')).copied().collect();
        let [target] = targets.as_slice() else { return None };
        let alone = command.before.is_empty()
            && matches!(command.after.as_str(), "" | ";")
            && command.redirects.is_empty();
        if !alone || words.contains(&"-0") || script.in_condition(command) {
            return None;
        }
        let span = command.span.clone();
        let line = script.line_of(span.start);
        let new = format!("if kill -0 {target} 2>/dev/null; then {}; fi", script.get(&span));
        Draft::new(
            "gone_process",
            format!("line {line}: process {pid} is gone already"),
            "end the process if it lives",
        )
        .evidence(format!("there is no process {pid}"))
        .rewrite(&file, splice(&file.text, vec![(span, new)]), format!("line {line}: only if it lives"))
        .done()
    });
    found.take(1).collect()
}

/// The number in the one file that the script prints with `cat` and that holds nothing else: dash does not say which process it was.
fn noted(case: &Case, script: &Script<'_>) -> Option<u32> {
    let files =
        script.commands.iter().filter(|command| script.name(command) == "cat" && command.words.len() == 2);
    let mut found = files.filter_map(|command| {
        let path = case.find(Path::new(&unquoted(script.get(command.words.get(1)?))))?;
        String::from_utf8(case.scene.read(&path, 64)?).ok()?.trim().parse().ok()
    });
    found.next().filter(|_| found.next().is_none())
}

/// The number of the process that a message says is gone: `kill: (4711) - No such process`.
fn gone(message: &str) -> Option<u32> {
    let before = message.split("No such process").next().filter(|before| before.len() < message.len())?;
    let (_, behind) = before.rsplit_once("kill:")?;
    behind.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str, scene: TestScene) -> TestCase {
        let mut case = TestCase::new("x.sh", &format!("set -e\n{line}\n"), scene).at(2);
        case.report.core_error = "x.sh: line 2: kill: (4711) - No such process".to_owned();
        case
    }

    #[test]
    fn ends_it_if_it_lives() {
        let healed = case("kill -TERM \"$(cat w.pid)\"", TestScene::new()).healed(&GoneProcess);
        assert!(
            healed.contains("if kill -0 \"$(cat w.pid)\" 2>/dev/null; then kill -TERM \"$(cat w.pid)\"; fi"),
            "{healed}"
        );
    }

    #[test]
    fn finds_the_number_that_dash_does_not_say() {
        let scene = TestScene::new().file("run/w.pid", "4711\n");
        let mut case = case("pid=$(cat run/w.pid)\nkill -TERM $pid", scene).at(3);
        case.report.core_error = "x.sh: 3: kill: No such process".to_owned();
        assert!(case.healed(&GoneProcess).contains("if kill -0 $pid 2>/dev/null; then kill -TERM $pid; fi"));
    }

    #[test]
    fn leaves_living_processes_and_questions_alone() {
        assert!(case("kill \"$(cat w.pid)\"", TestScene::new().lives(4711)).silent(&GoneProcess));
        assert!(case("kill -0 \"$(cat w.pid)\"", TestScene::new()).silent(&GoneProcess));
        assert!(case("kill 1 2", TestScene::new()).silent(&GoneProcess));
    }
}
