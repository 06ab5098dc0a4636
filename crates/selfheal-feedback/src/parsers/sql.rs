//! SQL clients and libraries: PostgreSQL, MySQL and MariaDB, SQLite.

use selfheal_core::fault::Fault;

use super::{Row, bounded, row};
use crate::template::unquote;

fn object(kind: &str, name: &str) -> Option<Fault> {
    let name = unquote(name.trim_end_matches(['.', ',', ';', ')']));
    (!name.is_empty()).then(|| Fault::NoSuchObject { kind: kind.to_owned(), name: bounded(name) })
}

fn syntax(near: &str, message: &str) -> Option<Fault> {
    Some(Fault::Syntax { near: Some(bounded(near)), message: bounded(message) })
}

/// The table.
pub fn rows() -> Vec<Row> {
    let mut rows = sqlite_rows();
    rows.extend(postgres_rows());
    rows.extend(mysql_rows());
    rows
}

fn sqlite_rows() -> Vec<Row> {
    sqlite_messages().into_iter().map(|row| row.of("sqlite3")).collect()
}

fn sqlite_messages() -> Vec<Row> {
    vec![
        row("no such table: {name:w}", |h| object("table", h.get("name"))),
        row("no such column: {name:w}", |h| object("column", h.get("name"))),
        row("no such function: {name:w}", |h| object("function", h.get("name"))),
        row("no such index: {name:w}", |h| object("index", h.get("name"))),
        row("has no column named {name:w}", |h| object("column", h.get("name"))),
        row("near {near:q}: syntax error", |h| syntax(h.get("near"), "syntax error")),
        row("unable to open database \"{path}\"", |h| Some(Fault::NoSuchPath { path: h.path("path") })),
        row("unable to open database file", |_| {
            Some(Fault::Other { message: "unable to open database file".into() })
        }),
        row("attempt to write a readonly database", |_| Some(Fault::PermissionDenied { path: None })),
        row("file is not a database", |_| {
            Some(Fault::BadValue { value: None, message: "file is not a database".into() })
        }),
        row("database disk image is malformed", |_| {
            Some(Fault::DeviceError { message: "database disk image is malformed".into() })
        }),
        row("UNIQUE constraint failed: {what}$", |h| {
            Some(Fault::Mismatch { message: format!("UNIQUE constraint failed: {}", h.get("what")) })
        }),
        row("NOT NULL constraint failed: {what}$", |h| {
            Some(Fault::BadValue {
                value: None,
                message: format!("NOT NULL constraint failed: {}", h.get("what")),
            })
        }),
        row("table {name:w} already exists", |h| Some(Fault::PathExists { path: h.path("name") })),
        row("has {columns:n} columns but {values:n} values were supplied", |h| {
            Some(Fault::IndexOutOfRange {
                message: format!("{} columns but {} values", h.get("columns"), h.get("values")),
            })
        }),
    ]
}

fn postgres_rows() -> Vec<Row> {
    vec![
        row("connection to server on socket {path:q} failed: No such file or directory", |_| {
            Some(Fault::Network { how: "refused".into(), host: Some("localhost".into()) })
        }),
        row("psql:{file}:{line:n}: ERROR:  relation {name:q} does not exist", |h| {
            object("table", h.get("name"))
        }),
        row("psql:{file}:{line:n}: ERROR:  column {name:q} does not exist", |h| {
            object("column", h.get("name"))
        }),
        row("psql:{file}:{line:n}: ERROR:  syntax error at or near {near:q}", |h| {
            syntax(h.get("near"), "syntax error")
        }),
        row("psql:{file}:{line:n}: ERROR:  {message}$", |h| {
            Some(Fault::Other { message: bounded(h.get("message")) })
        }),
        row("relation {name:q} does not exist", |h| object("table", h.get("name"))),
        row("column {name:q} does not exist", |h| object("column", h.get("name"))),
        row("column {name:w} does not exist", |h| object("column", h.get("name"))),
        row("function {name:w} does not exist", |h| object("function", h.get("name"))),
        row("schema {name:q} does not exist", |h| object("schema", h.get("name"))),
        row("database {name:q} does not exist", |h| object("database", h.get("name"))),
        row("role {name:q} does not exist", |h| object("role", h.get("name"))),
        row("syntax error at or near {near:q}", |h| syntax(h.get("near"), "syntax error")),
        row("password authentication failed for user", |_| Some(Fault::PermissionDenied { path: None })),
        row("permission denied for ", |_| Some(Fault::PermissionDenied { path: None })),
        row("no password supplied", |_| Some(Fault::NeedsTerminal)),
        row("duplicate key value violates unique constraint {name:q}", |h| {
            Some(Fault::Mismatch { message: format!("duplicate key: {}", h.get("name")) })
        }),
        row("sorry, too many clients already", |_| Some(Fault::LockHeld { path: None, pid: None })),
        row("remaining connection slots are reserved", |_| Some(Fault::LockHeld { path: None, pid: None })),
        row("the database system is starting up", |_| {
            Some(Fault::Network { how: "refused".into(), host: None })
        }),
        row("the database system is shutting down", |_| {
            Some(Fault::Network { how: "refused".into(), host: None })
        }),
        row("canceling statement due to statement timeout", |_| Some(Fault::TimedOut)),
        row("invalid input syntax for type {kind}: {value:q}", |h| {
            Some(Fault::BadValue {
                value: Some(h.text("value")),
                message: format!("not of type {}", h.get("kind")),
            })
        }),
        row("aborting because of server version mismatch", |_| {
            Some(Fault::Mismatch { message: "server version mismatch".into() })
        }),
    ]
}

fn mysql_rows() -> Vec<Row> {
    vec![
        row("Unknown server host {host:q}", |h| {
            Some(Fault::Network { how: "resolve".into(), host: Some(h.text("host")) })
        }),
        row("Can't connect to server on {host:q}", |h| {
            Some(Fault::Network { how: "refused".into(), host: Some(h.text("host")) })
        }),
        row("Can't connect to local server through socket", |_| {
            Some(Fault::Network { how: "refused".into(), host: Some("localhost".into()) })
        }),
        row("Table {name:q} doesn't exist", |h| object("table", h.get("name"))),
        row("Unknown column {name:q} in", |h| object("column", h.get("name"))),
        row("Unknown table {name:q}", |h| object("table", h.get("name"))),
        row("Unknown database {name:q}", |h| object("database", h.get("name"))),
        row("Access denied for user", |_| Some(Fault::PermissionDenied { path: None })),
        row("You have an error in your SQL syntax", |h| {
            syntax("", &format!("You have an error in your SQL syntax{}", h.after))
        }),
        row("Duplicate entry {name:q} for key", |h| {
            Some(Fault::Mismatch { message: format!("duplicate entry {}", h.get("name")) })
        }),
        row("Too many connections", |_| Some(Fault::LockHeld { path: None, pid: None })),
        row("unknown variable {option:q}", |h| {
            Some(Fault::UnknownOption { command: "mysql".into(), option: h.text("option") })
        }),
    ]
}
