//! `FILE:LINE: message`, `FILE:LINE:COLUMN: message`, `FILE line N: message`, `message at FILE line N.`, `message in
//! FILE:N` and the like, whoever says it.

use selfheal_core::fault::Fault;

use super::{Found, Line, Spot, bounded, sounds_like_error};

/// Reads a message that names a file and a line.
pub fn line(line: &Line<'_>) -> Option<Found> {
    let (spot, message) = at_line(line.text).or_else(|| named(line.text)).or_else(|| colons(line.text))?;
    let message = bounded(message.trim());
    let lower = message.to_lowercase();
    let fault = if lower.contains("syntax error")
        || lower.starts_with("unexpected ")
        || lower.contains("parse error")
    {
        Fault::Syntax { near: crate::template::last_quoted(&message).map(bounded), message }
    } else {
        Fault::Other { message }
    };
    let mut found = Found::new(fault, line).at(vec![spot]);
    // A message with a place says more than one without, and an error more than a remark.
    found.weight = found.weight.max(if sounds_like_error(&lower) { 40 } else { 25 });
    Some(found)
}

/// A place that a line names beside its message: `… at FILE line N`, or `FILE:LINE:COLUMN: ` at its start.
pub fn passing(text: &str) -> Option<Spot> {
    let leading = || {
        let (file, behind) = text.split_once(':')?;
        let line = digits(behind)?;
        let column =
            behind.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(':').and_then(digits);
        // A name with a line, a column and words behind them is a file, whatever it is called.
        let plain = column.is_some() && behind.contains(": ") && is_name(file);
        (plain || is_file(file)).then(|| Spot { column, ..Spot::new(file, line) })
    };
    at_line(text).map(|(spot, _)| spot).or_else(|| on_line(text)).or_else(leading)
}

/// `message at FILE line N.`, as perl says it.
fn at_line(text: &str) -> Option<(Spot, &str)> {
    let (before, behind) = text.rsplit_once(" line ")?;
    let number = digits(behind)?;
    let (message, file) = before.rsplit_once(" at ")?;
    is_file(file).then(|| (Spot::new(file, number), message))
}

/// `message in FILE on line N`, as PHP says it.
fn on_line(text: &str) -> Option<Spot> {
    let (before, behind) = text.rsplit_once(" on line ")?;
    let (_, file) = before.rsplit_once(" in ")?;
    is_file(file).then(|| Some(Spot::new(file, digits(behind)?))).flatten()
}

/// `FILE: line N: message` and `FILE line N: message`.
fn named(text: &str) -> Option<(Spot, &str)> {
    let (before, behind) = text.split_once(" line ")?;
    let number = digits(behind)?;
    let message = behind.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches([':', ',', ' ']);
    let file = before.trim_end_matches(':').rsplit(": ").next()?;
    is_file(file).then(|| (Spot::new(file, number), message))
}

/// `[tool: ]FILE:LINE[:COLUMN]: message` and `message in FILE:LINE`.
fn colons(text: &str) -> Option<(Spot, &str)> {
    for (at, _) in text.match_indices(':').take(12) {
        let (before, behind) = text.split_at_checked(at)?;
        let behind = behind.get(1..)?;
        let Some(number) = digits(behind) else { continue };
        let rest = behind.trim_start_matches(|c: char| c.is_ascii_digit());
        let (column, rest) = match rest.strip_prefix(':').map(|more| (digits(more), more)) {
            Some((Some(column), more)) => {
                (Some(column), more.trim_start_matches(|c: char| c.is_ascii_digit()))
            }
            _ => (None, rest),
        };
        let file = before.rsplit([' ', '(', '[', '"', '\'']).next()?;
        let ends = rest.is_empty() || rest.starts_with([':', ' ', ')', ']', ',', '.', '"', '\'']);
        if !is_file(file) || !ends {
            continue;
        }
        let message = rest.trim_start_matches([':', ' ', ')', ']']);
        let message = if message.is_empty() { before.get(..before.len() - file.len())? } else { message };
        return Some((Spot { column, ..Spot::new(file, number) }, message));
    }
    None
}

fn digits(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse().ok().filter(|number| *number > 0)
}

/// Whether a word may be the name of a file without an ending.
fn is_name(word: &str) -> bool {
    word.len() < 100
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Whether a word looks like a file of text: it has an extension or a folder, and is no host, address or URL.
fn is_file(word: &str) -> bool {
    let word = word.trim_start_matches("./");
    let base = word.rsplit('/').next().unwrap_or(word);
    let extension = base.rsplit_once('.').map_or("", |(_, extension)| extension);
    let named = word.contains('/') || (!extension.is_empty() && extension.len() <= 10);
    let plain = !word.is_empty()
        && word.len() < 500
        && !word.contains("//")
        && !word.contains(':')
        && !word.contains([' ', '\t', '@', '<', '>', '|']);
    let address = base.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let host = ["com", "org", "net", "io", "local", "lan", "internal", "dev"].contains(&extension);
    plain && named && !address && !host && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
        || base.eq_ignore_ascii_case("makefile")
        || base == "Dockerfile"
        || base == "Caddyfile"
}

#[cfg(test)]
mod tests {
    fn place(text: &str) -> Option<(String, u32, Option<u32>)> {
        let found = super::super::read_text(text);
        let spot = found.first()?.spots.first()?.clone();
        Some((spot.file.to_string_lossy().into_owned(), spot.line, spot.column))
    }

    #[test]
    fn places_are_found_in_many_forms() {
        for (text, file, line, column) in [
            ("x/y.conf:7: unexpected \"]\"", "x/y.conf", 7, None),
            ("check: a.conf:7: unexpected \"]\"", "a.conf", 7, None),
            ("a.c:3:7: error: expected ';'", "a.c", 3, Some(7)),
            ("went wrong at ./x.pl line 12.", "./x.pl", 12, None),
            ("directive is not allowed in /etc/n/n.conf:4", "/etc/n/n.conf", 4, None),
            ("prog: in.csv line 5: too few fields", "in.csv", 5, None),
        ] {
            assert_eq!(place(text), Some((file.into(), line, column)), "{text}");
        }
    }

    #[test]
    fn hosts_times_and_addresses_are_no_files() {
        for text in [
            "error: example.com:443: no answer",
            "12:30:11: error",
            "failed: 10.0.0.1:80: x",
            "https://x.y/a.b:80: error",
        ] {
            assert_eq!(place(text), None, "{text}");
        }
    }
}
