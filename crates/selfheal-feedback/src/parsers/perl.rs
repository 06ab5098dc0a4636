//! perl.

use selfheal_core::fault::Fault;

use super::{Row, bounded, row};
use crate::template::unquote;

/// The table. Texts from perldiag.
pub fn rows() -> Vec<Row> {
    vec![
        row("Can't locate {file:w} in @INC", |h| Some(Fault::MissingModule { name: module(h.get("file")) })),
        row("Can't locate object method {name:q} via package \"{owner}\"", |h| {
            Some(Fault::MissingName { owner: h.text("owner"), name: h.text("name") })
        }),
        row("Undefined subroutine &{name:w} called at {file} line {line:n}", |h| {
            Some(Fault::UndefinedName { name: h.text("name") })
        }),
        row("Global symbol {name:q} requires explicit package name {hint}at {file} line {line:n}", |h| {
            Some(Fault::UndefinedName { name: h.text("name") })
        }),
        row("Can't open perl script {path:q}: No such file", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("syntax error at {file} line {line:n}, near {near:q}", |h| {
            Some(Fault::Syntax {
                near: Some(bounded(unquote(h.get("near")))),
                message: "syntax error".into(),
            })
        }),
        row("syntax error at {file} line {line:n}", |_| {
            Some(Fault::Syntax { near: None, message: "syntax error".into() })
        }),
        row("Illegal division by zero at {file} line {line:n}", |_| {
            Some(Fault::BadValue { value: Some("0".into()), message: "Illegal division by zero".into() })
        }),
        row("Use of uninitialized value {what} at {file} line {line:n}", |h| {
            Some(Fault::BadValue { value: None, message: format!("uninitialized value {}", h.get("what")) })
        }),
        row("Can't call method {name:q} on an undefined value at {file} line {line:n}", |h| {
            Some(Fault::WrongType { message: format!("method {} on an undefined value", h.get("name")) })
        }),
        row("Can't use an undefined value as {what} at {file} line {line:n}", |h| {
            Some(Fault::WrongType { message: format!("undefined value as {}", h.get("what")) })
        }),
        row(
            "Can't use string ({value}) as {what} while \"strict refs\" in use at {file} line {line:n}",
            |h| Some(Fault::WrongType { message: format!("string as {}", h.get("what")) }),
        ),
        row("Can't locate {file:w} at {place} line {at:n}.", |h| {
            Some(Fault::NoSuchPath { path: h.path("file") })
        }),
        row("\"{name}\" is not exported by the {owner:w} module", |h| {
            Some(Fault::MissingName { owner: h.text("owner"), name: h.text("name") })
        }),
        row("Perl {wanted:w} required--this is only {here:w}", |h| {
            Some(Fault::Other {
                message: format!("Perl {} required, this is {}", h.get("wanted"), h.get("here")),
            })
        })
        .class(selfheal_core::outcome::Class::Environment),
        row("Missing right curly or square bracket at {file} line {line:n}", |_| {
            Some(Fault::Syntax { near: None, message: "Missing right curly or square bracket".into() })
        }),
        row("BEGIN failed--compilation aborted at {file} line {line:n}", |_| None),
    ]
}

/// `Text/CSV_XS.pm` is the module `Text::CSV_XS`.
fn module(file: &str) -> String {
    file.strip_suffix(".pm").map_or_else(|| file.to_owned(), |name| name.replace('/', "::"))
}
