//! Lua: `lua5.4: FILE:LINE: message` and the search places of `require`.

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Class;

use super::{Block, Found, Line, Row, Spot, bounded, row};

/// Reads the first line of an uncaught error, if an interpreter says it, and what stands below it.
pub fn block(lines: &[Line<'_>]) -> Block {
    let first = lines.first()?;
    let (tool, rest) = first.text.split_once(": ")?;
    let name = tool.rsplit('/').next()?;
    (name.starts_with("lua") && name.len() < 12).then_some(())?;
    let (file, behind) = rest.split_once(':')?;
    let (line, message) = behind.split_once(": ")?;
    let spot = Spot::new(file, line.parse().ok()?);
    let found = match fault(message) {
        Some(fault) => Found::new(fault, first),
        None => Found { class: None, ..Found::plain(Class::Unknown, first) },
    };
    let below = lines
        .iter()
        .skip(1)
        .take(100)
        .take_while(|line| line.text.starts_with('\t') || line.text == "stack traceback:");
    Some((vec![Found { tool: Some("lua".into()), ..found.at(vec![spot]) }], 1 + below.count()))
}

fn fault(message: &str) -> Option<Fault> {
    let text = || bounded(message);
    let quoted = || message.split('\'').nth(1).unwrap_or(message).to_owned();
    if message.starts_with("module '") && message.contains("not found") {
        return Some(Fault::MissingModule { name: quoted() });
    }
    if message.contains(" expected")
        || message.contains("unfinished ")
        || message.contains("unexpected symbol")
    {
        let near = message.rsplit_once("near ").map(|(_, near)| bounded(near.trim_matches('\'')));
        return Some(Fault::Syntax { near, message: text() });
    }
    [
        "attempt to index",
        "attempt to call",
        "attempt to perform arithmetic",
        "attempt to concatenate",
        "attempt to compare",
        "bad argument",
    ]
    .iter()
    .any(|start| message.starts_with(start))
    .then(|| Fault::WrongType { message: text() })
}

/// What an interpreter says without a place.
pub fn rows() -> Vec<Row> {
    vec![row("^lua: cannot open {path:w}", |h| Some(Fault::NoSuchPath { path: h.path("path") }))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_lua_name_their_line() {
        // Lua 5.4.4.
        let text = "lua5.4: job.lua:2: attempt to index a nil value (field 'a')\nstack traceback:\n\tjob.lua:2: in main chunk\n\t[C]: in ?\n";
        let found = super::super::read_text(text);
        assert_eq!(found.len(), 1);
        assert!(matches!(found[0].fault, Fault::WrongType { .. }));
        assert_eq!(found[0].spots, [Spot::new("job.lua", 2)]);
    }
}
