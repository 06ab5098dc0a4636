//! Node.js: uncaught errors with their place, code line, message and stack.

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Class;

use super::{Block, Found, Line, Row, Spot, bounded, row};
use crate::template::unquote;

/// Reads an uncaught error: `FILE:LINE`, the code, the caret, the message and its stack. Without that head, a message
/// that is followed by `    at …` lines.
pub fn block(lines: &[Line<'_>]) -> Block {
    let first = lines.first()?;
    let head = place(first.text).filter(|spot| {
        let file = spot.file.to_string_lossy().into_owned();
        let script = ["js", "mjs", "cjs", "ts"].iter().any(|end| file.rsplit('.').next() == Some(end));
        script || internal(spot) || lines.iter().skip(1).take(4).any(|line| is_caret(line.text))
    });
    let start = if head.is_some() {
        lines.iter().skip(1).take(12).position(|line| is_message(line.text))? + 1
    } else {
        (is_message(first.text) && lines.iter().skip(1).take(4).any(|line| line.text.starts_with("    at ")))
            .then_some(0)?
    };
    let message = lines.get(start)?;
    let mut found = Found::new(fault(message.text.trim_start_matches("Uncaught "), message), message);
    let stack = stack(lines.get(start + 1..)?);
    // A message that shows several lines of the data does not say in its first one what they are.
    let of_stack = lines.iter().skip(start + 1).take(stack.taken);
    let parsed = of_stack.map(|line| line.text.trim_start()).any(|text| text.starts_with("at JSON.parse "));
    if parsed && matches!(found.fault, Fault::Syntax { .. }) {
        let token = message.text.split_once("token '").and_then(|(_, rest)| rest.split_once('\''));
        found.fault = bad_json(token.map(|(token, _)| token.to_owned()));
    }
    // What the same error says besides: properties, its own cause, the version.
    let behind = lines.get(start + 1 + stack.taken..).unwrap_or_default();
    let taken = start + 1 + stack.taken + if head.is_some() { rest(behind) } else { 0 };
    if message.text.contains("Cannot read properties of ") {
        found.class = Some(Class::Logic);
    }
    if head.is_some() {
        found.weight = found.weight.max(UNCAUGHT);
    }
    let own = stack.spots.iter().position(|spot| !spot.file.to_string_lossy().contains("node_modules"));
    let column = stack.spots.first().and_then(|spot| spot.column);
    let mut spots = stack.spots;
    if let Some(at) = own {
        let spot = spots.remove(at);
        spots.insert(0, spot);
    }
    match head {
        Some(head) if !internal(&head) => spots.insert(0, Spot { column: head.column.or(column), ..head }),
        _ => {}
    }
    spots.truncate(8);
    found.spots = spots;
    found.tool = Some("node".into());
    Some((vec![found], taken))
}

fn internal(spot: &Spot) -> bool {
    let file = spot.file.to_string_lossy();
    file.starts_with("node:") || file.starts_with('<')
}

fn is_caret(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.bytes().all(|byte| byte == b'^')
}

/// `TypeError: …`, `Error [ERR_X]: …`, `Error: …`.
fn is_message(text: &str) -> bool {
    let text = text.trim_start_matches("Uncaught ");
    let name = text.split([':', ' ', '[']).next().unwrap_or_default();
    name.ends_with("Error")
        && name.len() < 60
        && name.bytes().all(|b| b.is_ascii_alphanumeric())
        && text.contains(':')
}

/// How much an error that ended the program says at least.
const UNCAUGHT: u8 = 70;

/// How many lines belong to an error whose stack has been read, up to the version that node prints last.
fn rest(lines: &[Line<'_>]) -> usize {
    lines.iter().take(200).position(|line| line.text.starts_with("Node.js v")).map_or(0, |at| at + 1)
}

struct Stack {
    spots: Vec<Spot>,
    taken: usize,
}

fn stack(lines: &[Line<'_>]) -> Stack {
    let mut spots = Vec::new();
    let mut taken = 0;
    for line in lines.iter().take(60) {
        let text = line.text.trim_start();
        let goes_on =
            text.starts_with("at ") || text.starts_with("Require stack:") || text.starts_with("- /");
        // A message of several lines, such as the difference that an assertion shows.
        let explains = spots.is_empty() && taken < 20 && !is_message(text) && place(text).is_none();
        if !goes_on && !explains {
            break;
        }
        if let Some(inner) = text.strip_prefix("at ") {
            spots.extend(frame(inner).filter(|spot| !internal(spot)));
        } else if let Some(file) = text.strip_prefix("- /") {
            spots.push(Spot::new(format!("/{file}"), 0));
        }
        taken += 1;
    }
    Stack { spots, taken }
}

/// `main (/x/y.js:3:9)` or `file:///x/y.js:3:9`.
fn frame(text: &str) -> Option<Spot> {
    match text.rsplit_once(" (") {
        Some((function, place)) => {
            let spot = self::place(place.trim_end_matches(')'))?;
            Some(Spot { function: Some(bounded(function)), ..spot })
        }
        None => place(text.trim_start_matches("async ")),
    }
}

/// `FILE:LINE` or `FILE:LINE:COLUMN`, with or without `file://`.
fn place(text: &str) -> Option<Spot> {
    let text = text.trim().strip_prefix("file://").unwrap_or(text.trim());
    let (rest, last) = text.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    if let Some((file, line)) = rest.rsplit_once(':')
        && let Ok(line) = line.parse()
    {
        return Some(Spot { column: Some(last), ..Spot::new(file, line) });
    }
    (!rest.is_empty() && !rest.contains(' ')).then(|| Spot::new(rest, last))
}

fn fault(text: &str, line: &Line<'_>) -> Fault {
    let (name, message) = text.split_once(": ").unwrap_or((text, ""));
    let inner = Line { rest: message, spot: None, text: line.text, order: line.order };
    let known = super::by_tables(&inner).map(|found| found.fault);
    if let Some(fault) = known {
        return fault;
    }
    if let Some(found) = super::errno::line(&inner) {
        return found.fault;
    }
    match name.split(' ').next().unwrap_or(name) {
        "SyntaxError" => Fault::Syntax { near: None, message: bounded(message) },
        "TypeError" => Fault::WrongType { message: bounded(message) },
        "RangeError" => Fault::BadValue { value: None, message: bounded(message) },
        "AssertionError" => Fault::Mismatch { message: bounded(message) },
        "ReferenceError" => {
            Fault::UndefinedName { name: message.split(' ').next().unwrap_or_default().to_owned() }
        }
        _ => Fault::Other { message: bounded(text) },
    }
}

/// Node's messages.
pub fn rows() -> Vec<Row> {
    vec![
        row("require is not defined in ES module scope", |_| {
            Some(Fault::Dialect { construct: "require".into() })
        }),
        row("Cannot use import statement outside a module", |_| {
            Some(Fault::Dialect { construct: "import".into() })
        }),
        row("require() of ES Module {name:w}", |_| Some(Fault::Dialect { construct: "require".into() })),
        row("module is not defined in ES module scope", |_| {
            Some(Fault::Dialect { construct: "module".into() })
        }),
        row("exports is not defined in ES module scope", |_| {
            Some(Fault::Dialect { construct: "exports".into() })
        }),
        row("__dirname is not defined in ES module scope", |_| {
            Some(Fault::Dialect { construct: "__dirname".into() })
        }),
        row("Cannot find module {name:q} imported from {by}$", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
        row("Cannot find module {name:q}", |h| Some(Fault::MissingModule { name: h.text("name") })),
        row("Cannot find package {name:q} imported from", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
        row("Package subpath {name:q} is not defined by", |h| {
            Some(Fault::MissingModule { name: h.text("name") })
        }),
        row("The requested module {owner:q} does not provide an export named {name:q}", |h| {
            Some(Fault::MissingName { owner: h.text("owner"), name: h.text("name") })
        }),
        row("^{name:w} is not a function", |h| {
            let (owner, name) = h.get("name").rsplit_once('.').unwrap_or(("", h.get("name")));
            Some(Fault::MissingName { owner: owner.into(), name: name.into() })
        }),
        row("Cannot read properties of undefined (reading {key:q}", |h| {
            Some(Fault::KeyMissing { key: unquote(h.get("key").trim_end_matches(')')).to_owned() })
        }),
        row("Cannot read properties of null (reading {key:q}", |h| {
            Some(Fault::KeyMissing { key: unquote(h.get("key").trim_end_matches(')')).to_owned() })
        }),
        row("^{name:w} is not defined$", |h| Some(Fault::UndefinedName { name: h.text("name") })),
        row("^Unexpected token {token:q}", |h| {
            let token = unquote(h.get("token").trim_end_matches(',')).to_owned();
            h.after.contains("JSON").then(|| bad_json(Some(token)))
        }),
        row("npm error Missing script: {name:q}", |h| Some(Fault::NoSuchReference { name: h.text("name") })),
        row("npm ERR! Missing script: {name:q}", |h| Some(Fault::NoSuchReference { name: h.text("name") })),
        row("npm error code {code:w}", |h| npm(h.get("code"))),
        row("npm ERR! code {code:w}", |h| npm(h.get("code"))),
    ]
}

/// What JSON that cannot be read is, by the token that it was left at.
fn bad_json(token: Option<String>) -> Fault {
    match token.as_deref() {
        Some("\u{feff}") => Fault::Encoding { codec: "utf-8-sig".into() },
        _ => Fault::BadValue { value: token, message: "unexpected token in JSON".into() },
    }
}

fn npm(code: &str) -> Option<Fault> {
    let network = |how: &str| Some(Fault::Network { how: how.into(), host: None });
    match code {
        "ETIMEDOUT" => network("timeout"),
        "ECONNRESET" => network("reset"),
        "ECONNREFUSED" => network("refused"),
        "ENOTFOUND" | "EAI_AGAIN" => network("resolve"),
        "E404" => Some(Fault::HttpStatus { code: 404, retry_after_s: None }),
        _ => None,
    }
}
