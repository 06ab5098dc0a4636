//! PHP.

use selfheal_core::fault::Fault;

use super::{Row, bounded, row};

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
