//! Data formats: JSON (jq and others), YAML, TOML, XML, CSV.

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Class;

use super::{Row, bounded, row};

fn bad(message: &str) -> Option<Fault> {
    Some(Fault::BadValue { value: None, message: bounded(message) })
}

fn wrong_type(message: &str) -> Option<Fault> {
    Some(Fault::WrongType { message: bounded(message) })
}

/// The table.
pub fn rows() -> Vec<Row> {
    vec![
        row("^jq: error: {name:w} is not defined at {file}, line {at:n}", |h| {
            Some(Fault::UndefinedName { name: h.get("name").split('/').next()?.to_owned() })
        }),
        row("^jq: error: syntax error, {message}$", |h| {
            Some(Fault::Syntax { near: None, message: bounded(h.get("message")) })
        }),
        row("^jq: error: Could not open file {file}: No such file or directory", |h| {
            Some(Fault::NoSuchPath { path: h.path("file") })
        }),
        // What was to be gone through is not in the data any more.
        row("^jq: error (at {place}): Cannot iterate over null", |_| wrong_type("Cannot iterate over null"))
            .class(Class::Dependency),
        row("^jq: error (at {place}): Cannot index {what}$", |h| {
            wrong_type(&format!("Cannot index {}", h.get("what")))
        }),
        row("^jq: error (at {place}): {message}$", |h| wrong_type(h.get("message"))),
        row("^jq: parse error: {message}$", |h| bad(&format!("parse error: {}", h.get("message")))),
        row("^parse error: {message}$", |h| bad(&format!("parse error: {}", h.get("message")))).of("jq"),
        row("in \"{file}\", line {line:n}, column {col:n}", |_| bad("YAML: not well-formed here")),
        row("yaml: line {at:n}: {message}$", |h| bad(&format!("yaml: {}", h.get("message")))),
        row("did not find expected {what}$", |h| bad(&format!("did not find expected {}", h.get("what")))),
        row("TOML parse error at line {at:n}, column {col:n}", |h| {
            bad(&format!("TOML parse error at line {}", h.get("at")))
        }),
        row("^{file:w}:{line:n}: parser error : {message}$", |h| bad(h.get("message"))),
        row("Expecting property name enclosed in double quotes", |_| {
            bad("Expecting property name enclosed in double quotes")
        }),
        row("delimiter: line {at:n} column {col:n} (char", |h| {
            bad(&format!("{}delimiter: line {}", h.before, h.get("at")))
        }),
        row("Expecting value: line {at:n}", |h| {
            bad(&format!("Expecting value: line {}{}", h.get("at"), h.after))
        }),
        row("Unexpected token {token} in JSON at position {at:n}", |h| {
            Some(Fault::BadValue { value: Some(h.text("token")), message: "unexpected token in JSON".into() })
        }),
        row("in JSON at position {at:n}", |h| {
            bad(&format!("{}in JSON at position {}", h.before, h.get("at")))
        }),
        row("Unexpected end of JSON input", |_| bad("Unexpected end of JSON input")),
        row("invalid character {char:q} looking for beginning of value", |h| {
            Some(Fault::BadValue { value: Some(h.text("char")), message: "invalid JSON".into() })
        }),
    ]
}
