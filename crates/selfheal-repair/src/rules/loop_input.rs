//! # A command in a read loop eats the list
//!
//! ## What it finds
//! `while read` takes names from a file or a pipe, and a command in the loop (`ssh`, `ffmpeg`, a script of the job's own) reads
//! the same input: only the first name is worked on. The job notices by its own check, and says so in its own words.
//!
//! ## Why it fails
//! Everything in a loop shares the loop's input. A command that reads its standard input to the end takes all other names.
//!
//! ## Fix
//! The commands that may read get `/dev/null` as their input.
//!
//! ## Example
//! ```sh
//! while read -r host; do
//!   ssh "$host" uptime >> report
//! done < hosts
//! ```
//! ```sh
//! while read -r host; do
//!   ssh "$host" uptime >> report < /dev/null
//! done < hosts
//! ```
//!
//! ## Safety
//! Only where the failing run went through the loop's body once although the list is longer. Commands with an input of their
//! own, and those behind a pipe, stay.

use std::ops::Range;
use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::trace::Step;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, LARGEST, ScriptFile};
use crate::shell::{Block, BlockKind, Command, Script, Values, splice, unquoted};

rule!(LoopInput, "loop_input", Safe, propose);

/// Commands that never read standard input when they are given what they work on.
const DEAF: &[&str] = &[
    "echo", "printf", "test", "[", "[[", ":", "true", "false", "cd", "local", "export", "shift", "continue",
    "break", "exit", "return", "mkdir", "rm", "cp", "mv", "ln", "touch", "chmod", "chown", "basename",
    "dirname", "date", "sleep", "set", "read", "ls", "stat", "find", "du", "df", "tar", "gzip", "wait",
    "kill", "eval", "case", "exec", "unset", "readonly", "declare", "let", "((",
];

fn propose(case: &Case) -> Vec<Candidate> {
    let own_check = case.faults().any(|fault| {
        matches!(fault, Fault::SilentExit { .. } | Fault::Mismatch { .. } | Fault::Other { .. })
    });
    let Some(file) = case.failing_file().filter(|file| own_check && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    script
        .blocks
        .iter()
        .filter(|block| block.kind == BlockKind::While)
        .find_map(|block| in_loop(case, &file, &script, block))
        .into_iter()
        .collect()
}

fn in_loop(case: &Case, file: &ScriptFile, script: &Script<'_>, block: &Block) -> Option<Candidate> {
    let head = |command: &&Command| block.span.start <= command.span.start && command.span.start < block.body;
    let read = script.commands.iter().filter(head).find(|command| script.name(command) == "read")?;
    let lines = names(case, file, script, block)?;
    let rounds = rounds(case, file, script.line_of(read.span.start))?;
    if lines < 2 || rounds != 1 || ended_inside(case, file, script, block) {
        return None;
    }
    let inside = |command: &&Command| block.body <= command.span.start && command.span.end <= block.span.end;
    let parts: Vec<(Range<usize>, String)> = script
        .commands
        .iter()
        .filter(inside)
        .filter(|command| may_read(script, command))
        .map(|command| (command.span.end..command.span.end, " < /dev/null".to_owned()))
        .collect();
    let (first, _) = parts.first()?;
    let number = script.line_of(first.start.saturating_sub(1));
    Draft::new(
        "loop_input",
        format!("line {number}: a command in the loop reads the loop's own input, and takes the names that are left"),
        "give the commands in the loop an input of their own",
    )
    .evidence(format!("the list has {lines} lines, and the loop ran once"))
    .rewrite(file, splice(&file.text, parts), format!("line {number}: < /dev/null"))
    .done()
}

/// How many lines the list has that a loop reads from a file.
fn names(case: &Case, file: &ScriptFile, script: &Script<'_>, block: &Block) -> Option<usize> {
    let values = Values::new(case, script, file.folder());
    let line_end =
        script.text.get(block.span.end..)?.find('\n').map_or(script.text.len(), |at| block.span.end + at);
    let behind = script
        .commands
        .iter()
        .filter(|command| block.span.end <= command.span.start && command.span.end <= line_end);
    let mut redirects = behind.flat_map(|command| &command.redirects);
    let (_, target) = redirects.find(|(operator, _)| script.get(operator) == "<")?;
    let path = values.word(script.get(target)).unwrap_or_else(|| unquoted(script.get(target)));
    let text = String::from_utf8(case.scene.read(&case.find(Path::new(&path))?, LARGEST)?).ok()?;
    Some(text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).count())
}

/// How often the body of a loop ran: the reads that gave something and were not told to be comments.
fn rounds(case: &Case, file: &ScriptFile, line: u32) -> Option<usize> {
    let steps = &case.trace?.steps;
    let own = |file_of: &Path| file_of == file.path || file_of.file_name() == file.path.file_name();
    let reads = steps.iter().filter(|step| {
        own(&step.file) && step.line == line && step.words.first().is_some_and(|word| word == "read")
    });
    // The last read finds the end; comments at the beginning of the list are read too.
    let reads = reads.count().checked_sub(1)?;
    let skipped = steps
        .iter()
        .filter(|step| own(&step.file) && step.words.first().is_some_and(|word| word == "continue"))
        .count();
    reads.checked_sub(skipped)
}

/// Whether the body ran after the last read: then the job ended inside of the loop, and not because the list was empty.
fn ended_inside(case: &Case, file: &ScriptFile, script: &Script<'_>, block: &Block) -> bool {
    let body = script.commands.iter().find(|command| command.span.start >= block.body);
    let first = body.map_or(0, |command| script.line_of(command.span.start));
    let (head, last) = (script.line_of(block.span.start), script.line_of(block.span.end));
    let steps = case.trace.map_or(&[][..], |trace| &trace.steps);
    let own = |step: &&Step| step.file == file.path || step.file.file_name() == file.path.file_name();
    let in_loop = |step: &&Step| own(step) && step.line >= head && step.line <= last;
    let Some(step) = steps.iter().rev().find(in_loop) else { return false };
    first > head && step.line >= first && step.words.first().is_none_or(|word| word != "read")
}

fn may_read(script: &Script<'_>, command: &Command) -> bool {
    let name = script.name(command);
    let piped = command.before.starts_with('|') && command.before != "||";
    let fed = command.redirects.iter().any(|(operator, _)| script.get(operator).starts_with('<'));
    let substituted = script.around(command.block).any(|(_, block)| block.kind == BlockKind::Substitution);
    !name.is_empty()
        && !DEAF.contains(&name.as_str())
        && !piped
        && !fed
        && !substituted
        && script.calls(&name).all(|_| !is_function(script, &name))
}

fn is_function(script: &Script<'_>, wanted: &str) -> bool {
    script.blocks.iter().any(|block| matches!(&block.kind, BlockKind::Function { name } if name == wanted))
}

#[cfg(test)]
mod tests {
    use selfheal_core::trace::Trace;

    use super::*;
    use crate::testing::{HOME, TestCase, TestScene};

    fn case(text: &str, reads: usize) -> TestCase {
        let step = |line: u32, word: &str| Step {
            file: format!("{HOME}/x.sh").into(),
            line,
            words: vec![word.into()],
            status: Some(0),
        };
        let steps = (0..reads).map(|_| step(1, "read")).collect();
        TestCase::new("x.sh", text, TestScene::new().file("hosts", "a\nb\nc\n"))
            .fault(Fault::SilentExit { code: 1 })
            .trace(Trace { steps, ..Trace::default() })
            .at(4)
    }

    #[test]
    fn gives_the_commands_an_input_of_their_own() {
        let text = "while read -r h; do\n  ssh \"$h\" uptime >> out\n  echo $h\ndone < hosts\n[ -s all ] || exit 1\n";
        assert!(case(text, 2).healed(&LoopInput).contains("uptime >> out < /dev/null\n  echo $h\n"));
        let own = "while read h; do ./bin/push $h || exit 2; done < hosts\nexit 1\n";
        assert!(case(own, 2).healed(&LoopInput).contains("./bin/push $h < /dev/null || exit 2"));
    }

    #[test]
    fn a_job_that_says_itself_that_names_are_missing_is_one_too() {
        let text = "while read -r h; do\n  ./bin/push \"$h\" >> out\ndone < hosts\necho '1 of 3 took it' >&2\nexit 1\n";
        let mut says = case(text, 2);
        says.report.faults = vec![Fault::Other { message: "1 of 3 took it".into() }];
        assert!(says.healed(&LoopInput).contains("./bin/push \"$h\" >> out < /dev/null"));
    }

    #[test]
    fn leaves_a_loop_alone_in_whose_body_the_job_ended() {
        let text = "while read -r h; do\n  ./push \"$h\"\n  [ -s \"$h\" ] || exit 4\ndone < hosts\n";
        let mut ended = case(text, 2);
        if let Some(trace) = &mut ended.trace {
            let file = format!("{HOME}/x.sh").into();
            trace.steps.push(Step { file, line: 3, words: vec!["exit".into(), "4".into()], status: None });
        }
        assert!(ended.silent(&LoopInput));
    }

    #[test]
    fn leaves_loops_that_went_through_their_list_alone() {
        let text = "while read -r h; do\n  ssh \"$h\" uptime\ndone < hosts\nexit 1\n";
        assert!(case(text, 4).silent(&LoopInput));
        assert!(case(&text.replace("uptime", "uptime < x"), 2).silent(&LoopInput));
        assert!(case("while read -r h; do\n  echo \"$h\"\ndone < hosts\nexit 1\n", 2).silent(&LoopInput));
    }
}
