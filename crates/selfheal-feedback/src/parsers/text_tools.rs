//! The classic text tools: sort, join, comm, awk, sed, date, tar, gzip, checksums, find.

use selfheal_core::fault::Fault;

use super::{Row, bounded, row};

fn syntax(message: &str) -> Option<Fault> {
    Some(Fault::Syntax { near: None, message: bounded(message) })
}

fn mismatch(message: &str) -> Option<Fault> {
    Some(Fault::Mismatch { message: bounded(message) })
}

fn bad(value: &str, message: &str) -> Option<Fault> {
    Some(Fault::BadValue { value: Some(bounded(value)), message: message.to_owned() })
}

/// gawk shows the line of the program first, and then below a mark what is wrong with it.
fn awk(message: &str) -> Option<Fault> {
    let message = message.trim_start();
    let says = message.strip_prefix("^ ").or_else(|| {
        ["fatal: ", "error: ", "syntax error"].iter().any(|word| message.starts_with(word)).then_some(message)
    });
    says.and_then(syntax)
}

/// The table.
pub fn rows() -> Vec<Row> {
    let mut rows = order_rows();
    rows.extend(program_rows());
    rows.extend(archive_rows());
    rows
}

fn order_rows() -> Vec<Row> {
    vec![
        row("^comm: file {number:n} is not in sorted order", |_| Some(Fault::NotSorted { path: None })),
        row("^join: {file}:{line:n}: is not sorted: ", |h| {
            Some(Fault::NotSorted { path: Some(h.path("file")) })
        }),
        row("sort: {file}:{line:n}: disorder: ", |h| Some(Fault::NotSorted { path: Some(h.path("file")) })),
        row("input is not in sorted order", |_| Some(Fault::NotSorted { path: None })),
        row("is not sorted", |_| Some(Fault::NotSorted { path: None })),
        row("not in sorted order", |_| Some(Fault::NotSorted { path: None })),
        row("^cd: can't cd to {path}$", |h| Some(Fault::NoSuchPath { path: h.path("path") })),
        row("^date: invalid date {value:q}", |h| bad(h.get("value"), "invalid date")),
        row("^sleep: invalid time interval {value:q}", |h| bad(h.get("value"), "invalid time interval")),
        row("invalid number of {what}: {value:q}", |h| bad(h.get("value"), "invalid number")),
        row("^Runtime error (func={function}, adr={at:n}): {message}$", |h| bad("", h.get("message")))
            .of("bc"),
        row("^Could not open file or uri for loading {what} from {path:w}$", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        })
        .of("openssl"),
        row("^expr: non-integer argument", |_| bad("", "non-integer argument")),
        row("^expr: syntax error", |_| bad("", "expr: syntax error")),
        row("^seq: invalid floating point argument: {value:q}", |h| bad(h.get("value"), "invalid number")),
        row("^{tool:w}: missing operand", |h| bad("", &format!("{}: missing operand", h.get("tool")))),
        row("^{tool:w}: missing file operand", |h| {
            bad("", &format!("{}: missing file operand", h.get("tool")))
        }),
        row("^{tool:w}: missing destination file operand after {value:q}", |h| {
            bad(h.get("value"), "missing destination file operand")
        }),
        row("^{tool:w}: extra operand {value:q}", |h| bad(h.get("value"), "extra operand")),
        row("^{tool:w}: target {path:q}: No such file or directory", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("^{tool:w}: target {path:q} is not a directory", |h| {
            Some(Fault::NotADirectory { path: h.path("path") })
        }),
        row("^{tool:w}: -r not specified; omitting directory {path:q}", |h| {
            Some(Fault::IsADirectory { path: h.path("path") })
        }),
        row("^{tool:w}: omitting directory {path:q}", |h| Some(Fault::IsADirectory { path: h.path("path") })),
        row("are the same file", |h| bad(h.before, "source and destination are the same file")),
    ]
}

fn program_rows() -> Vec<Row> {
    vec![
        row("^awk: {file}: line {line:n}: {message}$", |h| syntax(h.get("message"))),
        row("^mawk: {file}: line {line:n}: {message}$", |h| syntax(h.get("message"))),
        row("^awk: line {at:n}: syntax error {near}$", |h| {
            syntax(&format!("syntax error {}", h.get("near")))
        }),
        row("^awk: line {at:n}: {message}$", |h| syntax(h.get("message"))),
        row("^mawk: line {at:n}: {message}$", |h| syntax(h.get("message"))),
        row("awk: {file:w}:{line:n}: (FILENAME={input} FNR={record:n}) fatal: {message}$", |h| {
            bad(h.get("input"), h.get("message"))
        }),
        row("awk: {file:w}:{line:n}: {message}$", |h| awk(h.get("message"))),
        row("awk: cmd. line:{at:n}: {message}$", |h| awk(h.get("message"))),
        row("^sed: -e expression #{number:n}, char {char:n}: {message}$", |h| {
            let message = h.get("message");
            if message.starts_with("unknown option to") { bad("", message) } else { syntax(message) }
        }),
        row("^sed: file {file:w} line {line:n}: {message}$", |h| syntax(h.get("message"))),
        row("^sed: {number:n}: {text}: {message}$", |h| syntax(h.get("message"))),
        row("^sed: no input files", |_| bad("", "sed: no input files")),
        row("^sed: couldn't open temporary file {path:w}: Permission denied", |h| {
            Some(Fault::PermissionDenied { path: Some(h.path("path")) })
        }),
        row("^grep: {message}: Invalid regular expression", |h| syntax(h.get("message"))),
        row("grep: Unmatched ", |h| syntax(&format!("Unmatched {}", h.after))),
        row("^grep: Invalid ", |h| syntax(&format!("Invalid {}", h.after))),
        row("grep: missing closing parenthesis", |_| syntax("missing closing parenthesis")),
        row("^find: paths must precede expression: {value:q}", |h| {
            Some(Fault::Syntax {
                near: Some(h.text("value")),
                message: "paths must precede expression".into(),
            })
        }),
        row("^find: missing argument to {value:q}", |h| bad(h.get("value"), "missing argument")),
        row("^bc: ", |h| syntax(h.after)),
        row("(standard_in) {at:n}: syntax error", |_| syntax("bc: syntax error")),
        row("(standard_in) {at:n}: parse error", |_| syntax("bc: parse error")),
        row("^xargs: unmatched {kind} quote", |h| {
            bad(h.get("kind"), "xargs: unmatched quote; by default quotes are special to xargs")
        }),
        row("iconv: illegal input sequence at position", |_| Some(Fault::Encoding { codec: String::new() })),
        row("iconv: incomplete character or shift sequence", |_| {
            Some(Fault::Encoding { codec: String::new() })
        }),
        row("^iconv: conversion from {from:q} is not supported", |h| {
            Some(Fault::Encoding { codec: h.text("from") })
        }),
        row("Illegal byte sequence", |_| Some(Fault::Encoding { codec: String::new() })),
        row("Invalid or incomplete multibyte or wide character", |_| {
            Some(Fault::Encoding { codec: String::new() })
        }),
    ]
}

fn archive_rows() -> Vec<Row> {
    vec![
        row("WARNING: {count:n} computed checksum", |h| {
            mismatch(&format!("WARNING: {} computed checksum{}", h.get("count"), h.after))
        }),
        row("WARNING: {count:n} listed file", |_| mismatch("listed files could not be read")),
        row("^{file}: FAILED$", |h| mismatch(&format!("{}: checksum failed", h.get("file")))),
        row("no properly formatted", |h| bad("", &format!("no properly formatted{}", h.after))),
        row("^tar: This does not look like a tar archive", |_| bad("", "not a tar archive")),
        row("^gzip: {path}: not in gzip format", |h| bad(h.get("path"), "not in gzip format")),
        row("^gzip: {path}: unexpected end of file", |h| bad(h.get("path"), "unexpected end of file")),
        row("^gzip: {path}: invalid compressed data", |h| bad(h.get("path"), "invalid compressed data")),
        row("^gzip: {path} already exists", |h| Some(Fault::PathExists { path: h.path("path") })),
        row("^gzip: {path} is a directory", |h| Some(Fault::IsADirectory { path: h.path("path") })),
        row("^gzip: {path}: unknown suffix", |h| bad(h.get("path"), "unknown suffix")),
        row("^unzip:  cannot find or open {path:w}", |h| {
            Some(Fault::NoSuchPath { path: h.get("path").trim_end_matches(',').into() })
        }),
        row("End-of-central-directory signature not found", |_| bad("", "not a zip archive")),
        row("^tar: {path}: Not found in archive", |h| Some(Fault::NoSuchReference { name: h.text("path") })),
        row("^tar: {path}: file changed as we read it", |h| {
            mismatch(&format!("{}: file changed as we read it", h.get("path")))
        }),
        row("^tar: Removing leading", |_| None),
        row("^tar: Cowardly refusing to create an empty archive", |_| bad("", "tar: nothing to archive")),
        row("rsync: link_stat {path:q} failed: No such file or directory", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("rsync: [sender] link_stat {path:q} failed: No such file or directory", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("rsync: [sender] change_dir {path:q} failed: No such file or directory", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("^cmp: EOF on {path:q}", |h| mismatch(&format!("EOF on {}", h.get("path")))),
    ]
}
