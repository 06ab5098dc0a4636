//! PowerShell and Windows messages: understood where they arrive, not run.

use selfheal_core::fault::Fault;

use super::{Row, bounded, row};

/// The table.
pub fn rows() -> Vec<Row> {
    vec![
        row("The term {name:q} is not recognized as", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("{name:q} is not recognized as an internal or external command", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("Cannot find path {path:q} because it does not exist", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("Could not find a part of the path {path:q}", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("Could not find file {path:q}", |h| {
            Some(Fault::NoSuchPath {
                path: crate::template::unquote(h.get("path").trim_end_matches('.')).into(),
            })
        }),
        row("Access to the path {path:q} is denied", |h| {
            Some(Fault::PermissionDenied { path: Some(h.path("path")) })
        }),
        row("cannot be loaded because running scripts is disabled on this system", |_| {
            Some(Fault::PermissionDenied { path: None })
        }),
        row("A parameter cannot be found that matches parameter name {option:q}", |h| {
            Some(Fault::UnknownOption {
                command: String::new(),
                option: format!("-{}", crate::template::unquote(h.get("option").trim_end_matches('.'))),
            })
        }),
        row("The system cannot find the path specified", |_| {
            Some(Fault::Other { message: "The system cannot find the path specified".into() })
        }),
        row("because it is being used by another process", |h| {
            let path = crate::template::last_quoted(h.before.trim_end());
            Some(Fault::LockHeld { path: path.map(Into::into), pid: None })
        }),
        row("There is not enough space on the disk", |_| Some(Fault::NoSpace { path: None })),
        row("ParserError: {file:w}:{line:n}", |_| {
            Some(Fault::Syntax { near: None, message: "ParserError".into() })
        }),
        row("The specified module {name:q} was not loaded", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
        row("You cannot call a method on a null-valued expression", |h| {
            Some(Fault::WrongType { message: bounded(&format!("null-valued expression{}", h.after)) })
        }),
    ]
}
