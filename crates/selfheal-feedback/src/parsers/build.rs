//! make and compilers.

use selfheal_core::fault::Fault;

use super::{Row, bounded, row};
use crate::template::unquote;

fn syntax(message: &str) -> Option<Fault> {
    Some(Fault::Syntax { near: None, message: bounded(message) })
}

/// A step of a makefile that failed: says where, not why.
fn step(holes: &crate::template::Holes<'_>) -> Option<Fault> {
    let code = holes.get("code").parse().ok()?;
    Some(Fault::SilentExit { code })
}

/// The table. Texts of GNU make 4.3 and 4.4.
pub fn rows() -> Vec<Row> {
    vec![
        row("^{file}:{line:n}: *** missing separator", |_| syntax("missing separator")),
        row("^{file}:{line:n}: *** recipe commences before first target", |_| {
            syntax("recipe commences before first target")
        }),
        row("^{file}:{line:n}: *** {message}.  Stop.", |h| syntax(h.get("message"))),
        row("No rule to make target {target:q}, needed by", |h| {
            Some(Fault::NoSuchPath { path: h.path("target") })
        }),
        row("No rule to make target {target:q}", |h| {
            Some(Fault::NoSuchReference {
                name: unquote(h.get("target").trim_end_matches(['.', ','])).to_owned(),
            })
        }),
        row("*** No targets specified and no makefile found", |_| {
            Some(Fault::NoSuchPath { path: "Makefile".into() })
        }),
        row("make: {name:w}: No such file or directory", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("make: {name:w}: Permission denied", |h| Some(Fault::NotExecutable { path: h.path("name") })),
        row(": *** [{file}:{line:n}: {target:w}] Error {code:n}", step),
        row(": *** [{target:w}] Error {code:n}", step),
        row("fatal error: {file:w}: No such file or directory", |h| {
            Some(Fault::NoSuchPath { path: h.path("file") })
        }),
        row("error: {name:q} undeclared", |h| Some(Fault::UndefinedName { name: h.text("name") })),
        row("undefined reference to {name:q}", |h| Some(Fault::UndefinedName { name: h.text("name") })),
        row("ld: cannot find -l{name:w}", |h| {
            Some(Fault::MissingModule { name: h.get("name").trim_end_matches(':').to_owned() })
        }),
        row("error while loading shared libraries: {name:w}: ", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
        row("error: could not find {name:q} in ", |h| Some(Fault::NoSuchPath { path: h.path("name") })),
    ]
}
