//! make and compilers.

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Class;

use super::{Block, Found, Line, Row, Spot, bounded, row};
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
        row("make[{level:n}]: {name:w}: No such file or directory", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("make: *** {path}: No such file or directory.  Stop.", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("make[{level:n}]: *** {path}: No such file or directory.  Stop.", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("make: {name:w}: Permission denied", |h| Some(Fault::NotExecutable { path: h.path("name") })),
        row(": *** [{file}:{line:n}: {target:w}] Error {code:n}", step),
        row(": *** [{target:w}] Error {code:n}", step),
        // A header belongs to a package with the headers of a library.
        row("^{file:w}:{line:n}:{col:n}: fatal error: {name:w}: No such file or directory", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
        row("fatal error: {file:w}: No such file or directory", |h| {
            Some(Fault::MissingModule { name: h.text("file") })
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

/// CMake's errors: the place in the first line, the message indented below it.
pub fn cmake_block(lines: &[Line<'_>]) -> Block {
    let first = lines.first()?;
    let place = first.text.strip_prefix("CMake Error at ")?;
    let (place, _) = place.split_once(" (")?;
    let (file, line) = place.rsplit_once(':')?;
    let spot = Spot::new(file, line.parse().ok()?);
    let below = || {
        lines.iter().skip(1).take(60).take_while(|line| line.text.is_empty() || line.text.starts_with("  "))
    };
    let mut said = below().filter(|line| !line.text.trim().is_empty());
    let message = said.next()?;
    let joined = below().take(8).map(|line| line.text.trim()).collect::<Vec<_>>().join(" ");
    let package = joined.split_once("package configuration file provided by \"").map(|(_, rest)| rest);
    let found = match package.and_then(|rest| rest.split('"').next()) {
        Some(name) => Found::new(Fault::MissingModule { name: bounded(name) }, message),
        None if joined.contains(" or higher is required") => Found::plain(Class::Dependency, message),
        None => Found::plain(Class::Logic, message),
    };
    let text = bounded(joined.split(". ").next().unwrap_or(&joined));
    Some((vec![Found { text, tool: Some("cmake".into()), ..found.at(vec![spot]) }], 1 + below().count()))
}
