//! rustc, and what cargo prints of it: `error[E0308]: mismatched types` and the place below it behind an arrow.

use selfheal_core::outcome::Class;

use super::{Block, Found, Line, Spot};

/// So many lines may stand between a message and its place.
const NEAR: usize = 3;

/// Reads one error of the compiler; its warnings are no reason for an end.
pub fn block(lines: &[Line<'_>]) -> Block {
    let first = lines.first().filter(|line| line.text.starts_with("error"))?;
    let (kind, message) = first.text.split_once(": ")?;
    (kind == "error" || kind.starts_with("error[E")).then_some(())?;
    let (at, spot) = lines.iter().enumerate().skip(1).take(NEAR).find_map(|(at, line)| {
        let place = line.text.trim_start().strip_prefix("--> ")?;
        let mut parts = place.rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let number = parts.next()?.parse().ok()?;
        Some((at, Spot { column: Some(column), ..Spot::new(parts.next()?, number) }))
    })?;
    let inner = Line { rest: message, ..first.clone() };
    Some((
        vec![Found { tool: Some("rustc".into()), ..Found::plain(Class::Logic, &inner).at(vec![spot]) }],
        at + 1,
    ))
}
