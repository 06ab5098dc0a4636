//! Tcl: the message, and below it `while executing`, the procedures and the file.

use selfheal_core::fault::Fault;

use super::{Block, Found, Line, Spot, bounded};
use crate::template::{last_quoted, unquote};

/// How many lines a trace may have.
const MOST: usize = 100;
/// What stands before the name of a procedure in the place of a file, until the file is looked through for it.
pub const PROCEDURE: &str = "proc ";

/// Reads a message with its trace.
pub fn block(lines: &[Line<'_>]) -> Block {
    let first = lines.first()?;
    let trace = |line: &Line<'_>| line.text == "    while executing" || line.text == "    while compiling";
    trace(lines.get(1)?).then_some(())?;
    let spots: Vec<Spot> =
        lines.iter().skip(1).take(MOST).filter_map(|line| spot(line.text.trim())).collect();
    let file = lines.iter().take(MOST).position(|line| line.text.trim_start().starts_with("(file \""))?;
    Some((vec![Found { tool: Some("tclsh".into()), ..Found::new(fault(first), first).at(spots) }], file + 1))
}

/// `(procedure "load" line 2)`, `(file "job.tcl" line 4)`.
fn spot(text: &str) -> Option<Spot> {
    let text = text.strip_prefix('(')?.strip_suffix(')')?;
    let (what, number) = text.rsplit_once(" line ")?;
    let (kind, name) = what.split_once(' ')?;
    let (name, number) = (unquote(name), number.parse().ok()?);
    match kind {
        "file" => Some(Spot::new(name, number)),
        "procedure" => {
            Some(Spot { function: Some(name.to_owned()), ..Spot::new(format!("{PROCEDURE}{name}"), number) })
        }
        _ => None,
    }
}

fn fault(line: &Line<'_>) -> Fault {
    let text = line.text.trim();
    let quoted = || last_quoted(text).unwrap_or_default().to_owned();
    if text.starts_with("invalid command name") {
        return Fault::CommandNotFound { name: quoted() };
    }
    if text.starts_with("can't read") {
        return Fault::UndefinedName { name: quoted() };
    }
    if text.starts_with("wrong # args") || text.starts_with("expected ") {
        return Fault::WrongType { message: bounded(text) };
    }
    super::errno::line(line).map_or_else(|| Fault::Other { message: bounded(text) }, |found| found.fault)
}
