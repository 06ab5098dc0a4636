//! Whether a job may run again: the second permission beside the failure's class.
//!
//! The owner's word counts first. Without it there must be evidence that nothing before the failing step does harm
//! when it happens twice: what a probe saw, what the run did to files, or the script's text; `once.toml` holds the
//! commands and words. Doubt means no.

mod calls;
mod made;
mod shell;
mod source;
mod sql;
mod started;
mod table;
mod untouched;

use selfheal_core::effects::{Change, Effect};
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::run::{Ended, Run};
use selfheal_core::scene::Scene;
use selfheal_core::trace::Trace;

use crate::inner::look_through;
use crate::words::{commands, is_shell, logical_lines};
use made::Made;
use shell::Reader;
pub(crate) use shell::line_of;
use table::{Verdict, judge};

/// What is known about a run whose job may have to run again.
#[derive(Clone, Copy)]
pub struct RepeatInput<'a> {
    /// The job, with what its owner said.
    pub job: &'a Job,
    /// What a probe saw of a run that ended the same way.
    pub trace: Option<&'a Trace>,
    /// What a boxed run that ended the same way did to files.
    pub effects: Option<&'a [Effect]>,
    /// The text of the script behind the command.
    pub script: Option<&'a str>,
    /// The line of the script that failed, if it is known: what stands behind it did not run.
    pub failed_line: Option<u32>,
    /// The run that failed.
    pub run: &'a Run,
    /// The machine, for what a script starts or uses.
    pub scene: Option<&'a dyn Scene>,
}

/// Whether a job may run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeatability {
    /// Whether it may.
    pub may: bool,
    /// Why, in one sentence.
    pub why: String,
}

impl Repeatability {
    fn yes(why: impl Into<String>) -> Self {
        Self { may: true, why: why.into() }
    }

    fn no(why: impl Into<String>) -> Self {
        Self { may: false, why: why.into() }
    }
}

/// Judges whether a job may run again.
#[must_use]
pub fn repeatable(input: &RepeatInput<'_>) -> Repeatability {
    match input.job.repeatable {
        Repeatable::Declared => {
            return Repeatability::yes("its owner says that running it again is harmless");
        }
        Repeatable::Forbidden => return Repeatability::no("its owner says that it must not run again"),
        Repeatable::Unstated => {}
    }
    if matches!(
        input.run.ended,
        Ended::NotFound
            | Ended::InterpreterMissing { .. }
            | Ended::NotExecutable { .. }
            | Ended::NotStarted { .. }
    ) {
        return Repeatability::yes("it was never started");
    }
    if let Some(refusal) = input.effects.and_then(|effects| by_effects(effects, input)) {
        return refusal;
    }
    by_command(input)
        .or_else(|| {
            let trace = input.trace.filter(|trace| trace.complete && !trace.steps.is_empty())?;
            Some(by_trace(trace, input))
        })
        .or_else(|| input.script.map(|script| by_text(script, input)))
        .unwrap_or_else(|| {
            Repeatability::no("nothing is known about what it does, and its owner said nothing")
        })
}

/// The command itself, where it is a known one and no script, or a line for a shell.
fn by_command(input: &RepeatInput<'_>) -> Option<Repeatability> {
    let inner = look_through(&input.job.argv);
    let name = inner.words.first().map(|word| crate::words::base(word).to_owned())?;
    let all: Vec<String> = input.job.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match judge(&all) {
        Verdict::Once(why) | Verdict::Files(why) => return Some(Repeatability::no(format!("{name} {why}"))),
        Verdict::Again => {
            return Some(Repeatability::yes(format!(
                "{name} only reads, or does the same when it runs twice"
            )));
        }
        Verdict::Unknown => {}
    }
    let line = shell::line_of(&inner.words)?;
    let hit = in_shell(line, u32::MAX).or_else(|| reader(input).doubt(line, u32::MAX));
    Some(hit.map_or_else(
        || Repeatability::yes("its line holds nothing that must not happen twice"),
        Repeatability::no,
    ))
}

fn reader<'a>(input: &RepeatInput<'a>) -> Reader<'a> {
    Reader::new(input.scene, input.job.script.as_deref())
}

/// Steps that a probe saw, up to the failing one.
fn by_trace(trace: &Trace, input: &RepeatInput<'_>) -> Repeatability {
    let script = input.script.unwrap_or_default();
    let end = trace.failing.map_or(trace.steps.len(), |at| at + 1);
    let made = Made::by(script);
    let lines: Vec<&str> = script.lines().collect();
    let reader = reader(input);
    let hit = trace.steps.iter().take(end).find_map(|step| match judge(&step.words) {
        // A program's frame is a line of its text, not a command.
        _ if step.status.is_none()
            && step.words.len() == 1
            && step.words.iter().any(|word| word.contains(' ')) =>
        {
            table::in_source(&step.words.concat()).map(|why| format!("line {} {why}", step.line))
        }
        // What it did to files was looked at in a box, and nothing was lost.
        Verdict::Files(_) if input.effects.is_some() => None,
        // The words of a step have their values; the script's own words say what it made itself.
        Verdict::Once(_) | Verdict::Files(_)
            if lines.get((step.line as usize).wrapping_sub(1)).is_some_and(|line| made.covers_line(line)) =>
        {
            None
        }
        Verdict::Once(why) | Verdict::Files(why) => {
            Some(format!("line {} ran `{}`, which {why}", step.line, short(&step.words)))
        }
        Verdict::Unknown if step.status.is_some() || step.words.len() > 1 => {
            reader.doubt_about(&step.words, script).map(|why| format!("line {} {why}", step.line))
        }
        Verdict::Again | Verdict::Unknown => appends(&lines, &made, step.line).filter(|_| {
            let effects = input.effects.unwrap_or_default();
            input.effects.is_none() || !untouched::by(script, step.line, &input.job.cwd, effects)
        }),
    });
    // The frames of a program are not all that it did before.
    let hit = hit.or_else(|| {
        let program = input.script.filter(|script| !is_shell(script))?;
        let line = trace.failing_step().map(|step| step.line);
        program_text(&reader, program, line)
    });
    hit.map_or_else(
        || Repeatability::yes("a probe saw no step that must not happen twice"),
        Repeatability::no,
    )
}

/// A probe does not see redirections: the line's own text does.
fn appends(lines: &[&str], made: &Made, number: u32) -> Option<String> {
    let line = lines.get((number as usize).wrapping_sub(1))?;
    let appends =
        commands(line).into_iter().any(|words| words.iter().any(|word| word == ">>") && !made.covers(&words));
    appends.then(|| format!("line {number} ran `{}`, which appends to a file", shown(line.trim())))
}

/// What a boxed run did to files: appending twice doubles, and what is gone cannot be worked on again.
fn by_effects(effects: &[Effect], input: &RepeatInput<'_>) -> Option<Repeatability> {
    // What tools keep for themselves may grow and shrink.
    let kept = |path: &std::path::Path| {
        path.components().any(|part| {
            [".git", ".cache", "__pycache__", ".terraform"].iter().any(|name| part.as_os_str() == *name)
        })
    };
    let own = |effect: &&Effect| {
        !kept(&effect.path) && (!effect.path.starts_with("/tmp") || effect.path.starts_with(&input.job.cwd))
    };
    let hit = effects
        .iter()
        .filter(own)
        .find(|effect| matches!(effect.change, Change::Appended | Change::Deleted))?;
    let did = if hit.change == Change::Appended { "appended to" } else { "removed" };
    Some(Repeatability::no(format!("the run {did} {}", hit.path.display())))
}

/// The text of the script up to the line that failed.
fn by_text(script: &str, input: &RepeatInput<'_>) -> Repeatability {
    let reader = reader(input);
    let hit = if is_shell(script) {
        let end = end_of(script, input.failed_line);
        let recipes = reader.is_makefile().then(|| shell::recipes(script));
        let (text, end) = recipes.as_deref().map_or((script, end), |recipes| (recipes, u32::MAX));
        in_shell(text, end).or_else(|| reader.doubt(text, end))
    } else {
        program_text(&reader, script, input.failed_line)
    };
    hit.map_or_else(
        || Repeatability::yes("its text holds nothing that must not happen twice"),
        Repeatability::no,
    )
}

/// The last line that can have run. Functions that are called later may stand anywhere, so with them the whole text
/// counts.
fn end_of(script: &str, failed_line: Option<u32>) -> u32 {
    let jumps = script.lines().any(|line| {
        let line = line.trim();
        line.ends_with("() {")
            || line.starts_with("function ")
            || line.starts_with("def ")
            || line.contains("trap ")
    });
    match failed_line.filter(|_| !jumps) {
        Some(line) if is_shell(script) => shell::end_of_loops(script, line),
        Some(line) if !source::in_a_loop(script, line) => line,
        _ => u32::MAX,
    }
}

fn program_text(reader: &Reader<'_>, script: &str, failed_line: Option<u32>) -> Option<String> {
    let end = end_of(script, failed_line);
    let started = calls::Started::by(script);
    let (text, commands) =
        started.as_ref().map_or((script, &[][..]), |started| (started.rest.as_str(), &started.commands));
    in_other(text, end)
        .or_else(|| reader.doubt_of_program(text, end))
        .or_else(|| reader.doubt_of_started(commands, end))
}

fn in_shell(script: &str, end: u32) -> Option<String> {
    let made = Made::by(script);
    logical_lines(script).into_iter().take_while(|(number, _)| *number <= end).find_map(|(number, line)| {
        commands(&line).iter().filter(|words| !made.covers(words)).find_map(|words| match judge(words) {
            Verdict::Once(why) | Verdict::Files(why) => {
                Some(format!("line {number} has `{}`, which {why}", short(words)))
            }
            Verdict::Again | Verdict::Unknown => None,
        })
    })
}

fn in_other(script: &str, end: u32) -> Option<String> {
    let lines = (1_u32..).zip(script.lines()).take_while(|(number, _)| *number <= end);
    lines.filter_map(|(number, line)| table::in_source(line).map(|why| format!("line {number} {why}"))).next()
}

fn short(words: &[String]) -> String {
    shown(&words.join(" "))
}

fn shown(text: &str) -> String {
    crate::parsers::cut(text, 80).to_owned()
}
