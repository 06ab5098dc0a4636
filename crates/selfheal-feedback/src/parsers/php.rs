//! PHP.

use selfheal_core::fault::Fault;

use super::{Block, Found, Line, Row, Spot, bounded, row};

/// How many lines an exception with its traces may have.
const MOST: usize = 400;

/// An uncaught exception with what came before it: `Next X: message in FILE:LINE` is what ended the program.
pub fn block(lines: &[Line<'_>]) -> Block {
    let first = lines.first().filter(|line| line.text.contains("Uncaught "))?;
    let thrown = |line: &Line<'_>| line.text.trim_start().starts_with("thrown in ");
    let taken = lines.iter().take(MOST).position(thrown)? + 1;
    let mut links = vec![link(first.rest, first)?];
    for line in lines.get(1..taken)? {
        if let Some(next) = line.text.strip_prefix("Next ") {
            links.push(link(&format!("PHP Fatal error:  Uncaught {next}"), line)?);
        }
    }
    let mut last = links.pop().filter(|_| !links.is_empty())?;
    if let Some(cause) = links.last().filter(|_| matches!(last.fault, Fault::Other { .. })) {
        last.fault = cause.fault.clone();
        last.weight = last.weight.max(cause.weight);
    }
    last.text = last.text.replacen("Next ", "Uncaught ", 1);
    links.iter_mut().for_each(|link| link.weight = link.weight.min(last.weight.saturating_sub(10)));
    links.insert(0, last);
    Some((links, taken))
}

/// One exception of a chain: `… Uncaught X: message in FILE:LINE`.
fn link(rest: &str, line: &Line<'_>) -> Option<Found> {
    let inner = Line { rest, ..line.clone() };
    let (words, place) = rest.rsplit_once(" in ")?;
    let (file, number) = place.trim_end_matches(':').rsplit_once(':')?;
    let known = super::by_tables(&inner);
    let found = known.unwrap_or_else(|| Found::new(Fault::Other { message: bounded(words) }, &inner));
    Some(found.at(vec![Spot::new(file, number.parse().ok()?)]))
}

/// The table.
pub fn rows() -> Vec<Row> {
    vec![
        row("PHP Parse error:  {message} in {file:w} on line {line:n}", |h| {
            Some(Fault::Syntax { near: None, message: bounded(h.get("message")) })
        }),
        row("Parse error: {message} in {file:w} on line {line:n}", |h| {
            Some(Fault::Syntax { near: None, message: bounded(h.get("message")) })
        }),
        row("Call to undefined function {name:w} in {file:w}:{line:n}", |h| {
            Some(Fault::UndefinedName { name: h.get("name").trim_end_matches("()").to_owned() })
        }),
        row("Call to undefined method {name:w} in {file:w}:{line:n}", |h| {
            let (owner, name) = h.get("name").split_once("::")?;
            Some(Fault::MissingName { owner: owner.into(), name: name.trim_end_matches("()").into() })
        }),
        row("Class {name:q} not found in {file:w}:{line:n}", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
        row("Failed to open stream: No such file or directory in {file:w} on line {line:n}", |h| {
            let path = h.before.rsplit('(').next()?.split(')').next()?;
            Some(Fault::NoSuchPath { path: path.into() })
        }),
        row("Undefined array key {key:q} in {file:w} on line {line:n}", |h| {
            Some(Fault::KeyMissing { key: h.text("key") })
        }),
        row("Undefined index: {key:w} in {file:w} on line {line:n}", |h| {
            Some(Fault::KeyMissing { key: h.text("key") })
        }),
        row("Undefined variable {name:w} in {file:w} on line {line:n}", |h| {
            Some(Fault::UndefinedName { name: h.text("name") })
        }),
        row("Allowed memory size of {size} in {file:w} on line {line:n}", |_| Some(Fault::OutOfMemory)),
        row("Uncaught Error: Undefined constant {name:q} in {file:w}:{line:n}", |h| {
            Some(Fault::UndefinedName { name: h.text("name") })
        }),
        row("Uncaught DivisionByZeroError: {message} in {file:w}:{line:n}", |h| {
            Some(Fault::BadValue { value: Some("0".into()), message: bounded(h.get("message")) })
        }),
        row("Uncaught Error: {message} on null in {file:w}:{line:n}", |h| {
            Some(Fault::WrongType { message: bounded(&format!("{} on null", h.get("message"))) })
        }),
        row("Uncaught ValueError: {message} in {file:w}:{line:n}", |h| {
            Some(Fault::BadValue { value: None, message: bounded(h.get("message")) })
        }),
        row("Uncaught JsonException: {message} in {file:w}:{line:n}", |h| {
            Some(Fault::BadValue { value: None, message: bounded(h.get("message")) })
        }),
        row("Uncaught TypeError: {message}, called in {file:w} on line {line:n}", |h| {
            Some(Fault::WrongType { message: bounded(h.get("message")) })
        }),
        row("Uncaught TypeError: {message} in {file:w}:{line:n}", |h| {
            Some(Fault::WrongType { message: bounded(h.get("message")) })
        }),
        row("PHP Fatal error:  {message} in {file:w} on line {line:n}", |h| {
            Some(Fault::Other { message: bounded(h.get("message")) })
        }),
        row("Could not open input file: {path:w}", |h| Some(Fault::NoSuchPath { path: h.path("path") })),
    ]
}
