//! Complaints that the job survived: a later one may be what ended it.
//!
//! An output often holds more than one complaint. Where the text of the job shows that it went on after one of them
//! (`warm-cache || true`, a job in the background that nobody waits for), that complaint is no reason for the end, however
//! well it is understood.

use selfheal_core::report::Location;
use selfheal_syntax::shell::{Command, Consumer, ListOperator, Script};

use crate::locate;
use crate::parsers::Found;
use crate::report::ReportInput;
use crate::words::{base, is_shell};

/// What a complaint weighs that was survived: less than anything else.
pub const SURVIVED: u8 = 1;
/// The longest script that is looked at, in bytes.
const LONGEST: usize = 64 * 1024;
/// So many complaints are looked at.
const MOST: usize = 20;
/// Commands behind `||` that only say something, or nothing.
const HARMLESS: [&str; 6] = ["true", ":", "echo", "printf", "logger", "["];

/// Takes the weight from complaints that did not end the job.
pub fn weigh(input: &ReportInput<'_>, found: &mut [Found]) {
    if input.trace.is_some() {
        return;
    }
    let shell = input.script.filter(|(_, text)| text.len() <= LONGEST && is_shell(text));
    let Some(script) = shell.and_then(|(_, text)| Script::parse(text).ok()) else { return };
    for one in found.iter_mut().take(MOST).filter(|one| one.weight > crate::class::VAGUE) {
        // Its own words stand beside the place, so that a line can be found.
        let place = locate::place(input, Some(one)).location;
        if place.is_some_and(|place| is_survived(input, &script, one, &place)) {
            one.weight = SURVIVED;
        }
    }
}

/// Whether the commands that a complaint can be from were all allowed to fail.
fn is_survived(input: &ReportInput<'_>, script: &Script, found: &Found, place: &Location) -> bool {
    if place.remote.is_some() {
        return false;
    }
    let here = input.script.is_some_and(|(path, _)| path == place.file);
    let commands: Vec<&Command> = if here {
        let at: Vec<&Command> = script.commands_at(place.line).collect();
        let of_tool: Vec<&Command> =
            at.iter().copied().filter(|one| found.tool.as_deref().is_some_and(|tool| one.is(tool))).collect();
        if of_tool.is_empty() { at.into_iter().take(1).collect() } else { of_tool }
    } else {
        let name = place.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let names = |one: &&Command| {
            one.words.iter().filter_map(|word| word.literal()).any(|word| base(&word) == name)
        };
        script.commands().iter().filter(names).collect()
    };
    !commands.is_empty() && commands.iter().all(|one| may_fail(script, one))
}

/// Whether the script goes on after a command failed, by its text alone.
fn may_fail(script: &Script, command: &Command) -> bool {
    in_background(script, command) || before_harmless(script, command)
}

/// Started with `&` in a script that never asks how it ended.
fn in_background(script: &Script, command: &Command) -> bool {
    let asks = |one: &Command| one.is("wait") && !one.arguments().is_empty();
    command.context.background && !script.commands().iter().any(asks)
}

/// Left of `||`, with nothing right of it that could end the script.
fn before_harmless(script: &Script, command: &Command) -> bool {
    if !command.context.consumers.contains(&Consumer::Or) {
        return false;
    }
    let end = command.span.end;
    let line_end =
        script.text().get(end..).and_then(|rest| rest.find('\n')).map_or(script.text().len(), |at| end + at);
    let behind: Vec<&Command> =
        script.commands().iter().filter(|one| one.span.start >= end && one.span.start < line_end).collect();
    let right = behind.iter().any(|one| one.context.after == Some(ListOperator::Or));
    let harmless = |one: &&Command| {
        one.name().map_or(!one.assignments.is_empty(), |name| HARMLESS.contains(&name.as_str()))
    };
    right && behind.iter().all(harmless)
}
