//! Go: panics with their goroutine, and the tool's own messages.

use selfheal_core::fault::Fault;

use super::{Block, Found, Line, Row, Spot, bounded, row};
use crate::template::last_quoted;

/// Reads a panic and the first goroutine below it.
pub fn block(lines: &[Line<'_>]) -> Block {
    let first = lines.first()?;
    let message = first.text.strip_prefix("panic: ").or_else(|| first.text.strip_prefix("fatal error: "))?;
    let end = lines.iter().skip(1).take(200).position(|line| line.text.starts_with("exit status "));
    let stack = lines.iter().skip(1).take(end.unwrap_or(200).min(200));
    let mut spots: Vec<Spot> = stack.filter_map(|line| frame(line.text)).collect();
    spots.retain(|spot| !spot.file.to_string_lossy().contains("/src/runtime/"));
    spots.truncate(8);
    let goroutine = lines.iter().take(8).any(|line| line.text.starts_with("goroutine "));
    goroutine.then_some(())?;
    let taken = end.map_or_else(|| lines.len().min(200), |end| end + 2);
    Some((vec![Found::new(fault(message, first), first).at(spots)], taken))
}

/// `\t/x/main.go:12 +0x1d`.
fn frame(text: &str) -> Option<Spot> {
    let place = text.strip_prefix('\t')?.split(" +0x").next()?;
    let (file, line) = place.rsplit_once(':')?;
    Some(Spot::new(file, line.parse().ok()?))
}

fn fault(message: &str, line: &Line<'_>) -> Fault {
    let message = message.trim_end_matches(" [recovered]");
    if message.contains("index out of range") || message.contains("slice bounds out of range") {
        return Fault::IndexOutOfRange { message: bounded(message) };
    }
    if message.contains("nil pointer dereference") || message.contains("interface conversion") {
        return Fault::WrongType { message: bounded(message) };
    }
    let inner = Line { rest: message, spot: None, ..line.clone() };
    super::by_tables(&inner)
        .or_else(|| super::errno::line(&inner))
        .map_or_else(|| Fault::Other { message: bounded(message) }, |found| found.fault)
}

/// Go's messages on single lines.
pub fn rows() -> Vec<Row> {
    vec![
        row("no required module provides package {name:w}", |h| {
            Some(Fault::MissingModule { name: h.get("name").trim_end_matches([';', ':']).to_owned() })
        }),
        row("^{file:w}:{line:n}:{col:n}: cannot find package {name:q}", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
        row("executable file not found in $PATH", |h| {
            let name = last_quoted(h.before)?;
            Some(Fault::CommandNotFound { name: name.to_owned() })
        }),
        row("^{file:w}:{line:n}:{col:n}: undefined: {name:w}", |h| {
            Some(Fault::UndefinedName { name: h.text("name") })
        }),
    ]
}
