//! PowerShell and Windows messages: understood where they arrive, not run.

use selfheal_core::fault::Fault;

use super::{Block, Found, Line, Row, Spot, bounded, row};

/// How many lines one error may have.
const MOST: usize = 40;

/// Reads an error with its place: of PowerShell 7 (`Get-Item: FILE:LINE`, `Line |`, the code, `| message`) or of 5.1
/// (the message, `At FILE:LINE char:COLUMN`, lines that begin with `+`; a parser's message stands below them).
pub fn block(lines: &[Line<'_>]) -> Block {
    concise(lines).or_else(|| classic(lines))
}

fn concise(lines: &[Line<'_>]) -> Block {
    let first = lines.first()?;
    let (_, place) = first.text.split_once(": ")?;
    (lines.get(1)?.text.trim_end() == "Line |").then_some(())?;
    let (file, line) = place.rsplit_once(':')?;
    let spot = Spot::new(file.trim(), line.trim().parse().ok()?);
    let below = lines.iter().skip(2).take(MOST).take_while(|line| line.text.contains('|'));
    let taken = 2 + below.clone().count();
    let message = below.filter(|line| line.text.trim_start().starts_with("| ")).last()?;
    let text = message.text.trim_start().trim_start_matches("| ").trim();
    Some((vec![said(text, message).at(vec![spot])], taken))
}

fn classic(lines: &[Line<'_>]) -> Block {
    let at = lines.iter().take(3).position(|line| at_place(line.text).is_some())?;
    let spot = at_place(lines.get(at)?.text)?;
    let below = lines.iter().skip(at + 1).take(MOST);
    let marked = below.clone().take_while(|line| line.text.trim_start().starts_with('+')).count();
    (marked > 0).then_some(())?;
    let message = match at {
        0 => lines.get(at + 1 + marked)?,
        _ => lines.first()?,
    };
    let rest = lines.iter().skip(at + 1 + marked + usize::from(at == 0)).take(MOST);
    let taken = at
        + 1
        + marked
        + usize::from(at == 0)
        + rest.take_while(|line| line.text.starts_with("    + ")).count();
    let text = message.text.trim();
    let mut found = said(text, message);
    if at == 0 {
        found.fault = Fault::Syntax { near: None, message: bounded(text) };
        found.weight = crate::class::weight(&found.fault);
    }
    Some((vec![found.at(vec![spot])], taken))
}

/// `At C:\jobs\load.ps1:6 char:9`.
fn at_place(text: &str) -> Option<Spot> {
    let (place, column) = text.strip_prefix("At ")?.rsplit_once(" char:")?;
    let (file, line) = place.rsplit_once(':')?;
    Some(Spot { column: column.trim().parse().ok(), ..Spot::new(file, line.parse().ok()?) })
}

/// What a message says by the tables, else in its own words.
fn said(text: &str, line: &Line<'_>) -> Found {
    let inner = Line { rest: text, spot: None, ..line.clone() };
    let known = super::by_tables(&inner);
    let mut found = known.unwrap_or_else(|| Found {
        weight: 60,
        ..Found::new(Fault::Other { message: bounded(text) }, &inner)
    });
    found.tool = Some("pwsh".into());
    text.clone_into(&mut found.text);
    found
}

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
        row("No such host is known", |h| {
            let host =
                h.after.trim_matches(['.', ' ', '(', ')']).split(':').next().filter(|host| !host.is_empty());
            Some(Fault::Network { how: "resolve".into(), host: host.map(str::to_owned) })
        }),
        row("actively refused it", |_| Some(Fault::Network { how: "refused".into(), host: None })),
        row("Attempted to divide by zero", |_| {
            Some(Fault::BadValue { value: Some("0".into()), message: "Attempted to divide by zero".into() })
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
