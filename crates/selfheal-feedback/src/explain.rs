//! Explaining an output that somebody else's run left: outcome, report, and whether it was understood at all.
//!
//! The two streams may have been mixed into one. What the exit code means can depend on which of them spoke, so the lines
//! of the command's own complaints are told from what it was asked to print.

use std::ffi::OsString;

use selfheal_core::fault::Fault;
use selfheal_core::ids::{RunId, Timestamp};
use selfheal_core::outcome::Outcome;
use selfheal_core::report::{Confidence, Report};
use selfheal_core::run::{Capture, Ended, Run};

use crate::class::VAGUE;
use crate::parsers;
use crate::profiles::{InterpretInput, Profiles};

/// How many raw lines are marked.
const MARKED: usize = 6;

/// A run of which only the output and the exit code are known. Without a code it counts as failed.
#[must_use]
pub fn run_of(output: Vec<u8>, total: u64, code: Option<i32>) -> Run {
    Run {
        id: RunId::new("explained"),
        started: Timestamp(0),
        duration_ms: 0,
        ended: Ended::Exited(code.unwrap_or(1)),
        stdout: Capture::default(),
        stderr: Capture { head: output, tail: Vec::new(), total },
        peak_kib: None,
        left_running: Vec::new(),
        at_deadline: None,
    }
}

/// What a run with mixed streams means; `argv` is the command that its exit code is from.
#[must_use]
pub fn outcome(profiles: &Profiles, argv: &[OsString], run: &Run, script: Option<&str>) -> Outcome {
    let parted = parted(argv, run, script.is_some());
    profiles.interpret(&InterpretInput { argv, run: &parted, script, trace: None })
}

/// The same run with what is no complaint on standard output.
fn parted(argv: &[OsString], run: &Run, script: bool) -> Run {
    let words: Vec<String> = argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let inner = crate::inner::look_through_words(&words);
    let tool = inner.first().map(|word| crate::words::base(word).to_owned()).unwrap_or_default();
    let text = parsers::kept(&run.stderr);
    let complains = |line: &str| {
        let own = parsers::tool_before(line).is_some_and(|named| named == tool);
        let usage = line.to_lowercase().starts_with("usage:");
        own || usage || (script && understood(line))
    };
    let (mut stdout, mut stderr) = (String::new(), String::new());
    for line in text.split_inclusive('\n') {
        if complains(line) { &mut stderr } else { &mut stdout }.push_str(line);
    }
    let capture =
        |text: String| Capture { total: text.len() as u64, head: text.into_bytes(), tail: Vec::new() };
    Run { stdout: capture(stdout), stderr: capture(stderr), ..run.clone() }
}

fn understood(line: &str) -> bool {
    parsers::read_text(line).iter().any(|found| found.weight > VAGUE)
        || parsers::sounds_like_error(&line.to_lowercase())
}

/// Whether anything in an output looks like an error.
#[must_use]
pub fn looks_like_an_error(run: &Run) -> bool {
    !parsers::read_text(&parsers::kept(&run.stderr)).is_empty()
}

/// Whether a report says more than that something went wrong.
#[must_use]
pub fn is_understood(report: &Report) -> bool {
    report.confidence > Confidence::Low
}

/// Whether a report has nothing to say but that the command ended: then its logs may say more.
#[must_use]
pub fn says_little(report: &Report) -> bool {
    !is_understood(report) || matches!(report.fault(), Some(Fault::SilentExit { .. }) | None)
}

/// The raw lines that may say the most, in their order: numbered from 1 in what was kept of the output.
#[must_use]
pub fn marked_lines(run: &Run) -> Vec<(usize, String)> {
    let mut text = parsers::kept(&run.stderr);
    text.push_str(&parsers::kept(&run.stdout));
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line))
        .filter(|(_, line)| !line.trim().is_empty())
        .collect();
    let count = lines.len();
    let mut scored: Vec<(usize, usize, &str)> = lines
        .into_iter()
        .enumerate()
        .map(|(at, (number, line))| (score(line) + usize::from(at + 2 >= count), number, line))
        .collect();
    scored.sort_by_key(|(score, number, _)| (usize::MAX - score, usize::MAX - number));
    scored.truncate(MARKED);
    scored.sort_by_key(|(_, number, _)| *number);
    scored.into_iter().map(|(_, number, line)| (number, parsers::bounded(line))).collect()
}

/// How much a line sounds like what went wrong.
fn score(line: &str) -> usize {
    let line = parsers::cut(line, 400);
    let lower = line.to_lowercase();
    let error = parsers::sounds_like_error(&lower) && !lower.contains("warning");
    let names = line.contains(['/', ':', '\'', '"', '`']);
    usize::from(error) * 3 + usize::from(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn meaning(line: &str, code: i32, output: &str) -> Outcome {
        let run = run_of(output.into(), output.len() as u64, Some(code));
        outcome(&Profiles::builtin(), &argv(line), &run, None)
    }

    #[test]
    fn an_answer_is_told_from_a_complaint_in_mixed_output() {
        let negative = |line, code, output| matches!(meaning(line, code, output), Outcome::Negative { .. });
        assert!(negative("diff a b", 1, "1c1\n< error: one\n---\n> two\n"));
        assert!(negative("grep x f", 1, ""));
        assert!(!negative("grep x f", 2, "grep: f: No such file or directory\n"));
        assert!(!negative("diff a b", 2, "diff: b: No such file or directory\n"));
    }

    #[test]
    fn the_most_telling_raw_lines_are_marked() {
        let text = "start\nworking\nstage 4 aborted: quux 17\nclosing\nbye\n";
        let run = run_of(text.into(), 0, None);
        let lines = marked_lines(&run);
        assert!(lines.contains(&(3, "stage 4 aborted: quux 17".to_owned())));
        assert!(lines.len() <= MARKED);
    }
}
