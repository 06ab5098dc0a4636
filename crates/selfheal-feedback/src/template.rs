//! Message patterns: literal text with holes, matched without backtracking.
//!
//! `cannot stat {path:q}: ` finds the literal pieces in order and hands out what stands between them. Hole kinds:
//! `{x}` any text up to the next literal piece, `{x:w}` the same without blanks, `{x:n}` digits, `{x:q}` any text with
//! its quotes taken off. A pattern that starts with `^` matches only at the start of the line, one that ends with `$`
//! only up to its end; any other may stand anywhere. Every attempt reads the line once, and the number of attempts per
//! line is limited, so that hostile output costs no more than honest output.

use std::path::PathBuf;

/// How many places of one line are tried for a pattern that may stand anywhere.
const ATTEMPTS: usize = 6;

/// A compiled pattern.
#[derive(Debug)]
pub struct Template {
    at_start: bool,
    at_end: bool,
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(&'static str),
    Hole(&'static str, HoleKind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HoleKind {
    Any,
    Word,
    Number,
    Quoted,
}

/// What stood in the holes of a pattern.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Holes<'l> {
    /// What stands before the match.
    pub before: &'l str,
    /// What stands behind the match.
    pub after: &'l str,
    values: Vec<(&'static str, &'l str)>,
}

impl<'l> Holes<'l> {
    /// What stood in a hole; empty when there is no such hole.
    pub fn get(&self, name: &str) -> &'l str {
        self.values.iter().find(|(hole, _)| *hole == name).map_or("", |(_, value)| value)
    }

    /// The same as an owned text.
    pub fn text(&self, name: &str) -> String {
        self.get(name).to_owned()
    }

    /// The same as a path.
    pub fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(self.get(name))
    }

    /// The same as a number.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.get(name).parse().ok()
    }
}

impl Template {
    /// Compiles a pattern. Braces that are no hole stand for themselves.
    pub fn new(pattern: &'static str) -> Self {
        let (at_start, rest) = pattern.strip_prefix('^').map_or((false, pattern), |rest| (true, rest));
        let (at_end, rest) = rest.strip_suffix('$').map_or((false, rest), |rest| (true, rest));
        Self { at_start, at_end, parts: parts(rest) }
    }

    /// The longest text that stands in every line which it matches.
    pub fn literal(&self) -> Option<&'static str> {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(*text),
            Part::Hole(..) => None,
        });
        texts.max_by_key(|text| text.len()).filter(|text| !text.is_empty())
    }

    /// Matches a line.
    pub fn find<'l>(&self, line: &'l str) -> Option<Holes<'l>> {
        let first = match self.parts.first() {
            Some(Part::Text(text)) if !self.at_start => *text,
            _ => return self.match_at(line, 0),
        };
        line.match_indices(first).take(ATTEMPTS).find_map(|(at, _)| self.match_at(line, at))
    }

    fn match_at<'l>(&self, line: &'l str, start: usize) -> Option<Holes<'l>> {
        let mut rest = line.get(start..)?;
        let mut values = Vec::new();
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                Part::Text(text) => rest = rest.strip_prefix(text)?,
                Part::Hole(name, HoleKind::Number) => {
                    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    let (digits, behind) = rest.split_at_checked(end).filter(|(d, _)| !d.is_empty())?;
                    values.push((*name, digits));
                    rest = behind;
                }
                Part::Hole(name, kind) => {
                    let next = match parts.peek() {
                        Some(Part::Text(text)) => Some(*text),
                        _ => None,
                    };
                    let (value, behind) = take(rest, *kind, next, self.at_end)?;
                    values.push((*name, value));
                    rest = behind;
                }
            }
        }
        (!self.at_end || rest.is_empty()).then(|| Holes {
            before: line.get(..start).unwrap_or_default(),
            after: rest,
            values,
        })
    }
}

/// Takes the text of a hole off the front of a line.
fn take<'l>(rest: &'l str, kind: HoleKind, next: Option<&str>, to_end: bool) -> Option<(&'l str, &'l str)> {
    let end = match next {
        Some(text) => rest.find(text)?,
        None if to_end => rest.len(),
        None if kind == HoleKind::Word => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        None if kind == HoleKind::Quoted => quoted_len(rest),
        None => rest.len(),
    };
    let (value, behind) = rest.split_at_checked(end)?;
    match kind {
        HoleKind::Word if value.is_empty() || value.contains(char::is_whitespace) => None,
        HoleKind::Quoted => Some((unquote(value), behind)),
        HoleKind::Any | HoleKind::Word | HoleKind::Number => Some((value, behind)),
    }
}

/// The quotes that tools put around names, in pairs.
const QUOTES: [(char, char); 9] = [
    ('\'', '\''),
    ('"', '"'),
    ('`', '\''),
    ('`', '`'),
    ('‘', '’'),
    ('“', '”'),
    ('„', '“'),
    ('«', '»'),
    ('»', '«'),
];

/// The length of a quoted word, or of a plain word, at the start of a text.
fn quoted_len(text: &str) -> usize {
    for (open, close) in QUOTES {
        if let Some(inner) = text.strip_prefix(open)
            && let Some(end) = inner.find(close)
        {
            return open.len_utf8() + end + close.len_utf8();
        }
    }
    text.find(char::is_whitespace).unwrap_or(text.len())
}

/// Takes the quotes off a name, whichever a tool and its locale used.
pub fn unquote(text: &str) -> &str {
    let text = text.trim_matches([' ', '\u{a0}', '\t']);
    for (open, close) in QUOTES {
        let inner = text.strip_prefix(open).and_then(|inner| inner.strip_suffix(close));
        if let Some(inner) = inner {
            return inner.trim_matches('\u{a0}');
        }
    }
    text
}

/// The first quoted word of a text, without its quotes, and where it ends.
pub fn last_quoted(text: &str) -> Option<&str> {
    let text = text.trim_end_matches([' ', ':', ',']);
    let (_, open_close) = QUOTES.iter().enumerate().find(|(_, (_, close))| text.ends_with(*close))?;
    let inner = text.strip_suffix(open_close.1)?;
    QUOTES
        .iter()
        .filter(|(_, close)| *close == open_close.1)
        .filter_map(|(open, _)| inner.rfind(*open).map(|at| (at, open.len_utf8())))
        .max()
        .and_then(|(at, len)| inner.get(at + len..))
}

fn parts(mut rest: &'static str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut literal = rest;
    let mut literal_len = 0;
    while !rest.is_empty() {
        if let Some((hole, behind)) = hole(rest) {
            push_text(&mut parts, literal, literal_len);
            parts.push(hole);
            rest = behind;
            literal = rest;
            literal_len = 0;
        } else {
            let len = rest.chars().next().map_or(1, char::len_utf8);
            literal_len += len;
            rest = rest.get(len..).unwrap_or_default();
        }
    }
    push_text(&mut parts, literal, literal_len);
    parts
}

fn push_text(parts: &mut Vec<Part>, literal: &'static str, len: usize) {
    match literal.get(..len) {
        Some(text) if !text.is_empty() => parts.push(Part::Text(text)),
        _ => {}
    }
}

fn hole(text: &'static str) -> Option<(Part, &'static str)> {
    let inner = text.strip_prefix('{')?;
    let (spec, behind) = inner.split_once('}')?;
    let (name, kind) = spec.split_once(':').unwrap_or((spec, ""));
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    let kind = match kind {
        "" => HoleKind::Any,
        "w" => HoleKind::Word,
        "n" => HoleKind::Number,
        "q" => HoleKind::Quoted,
        _ => return None,
    };
    Some((Part::Hole(name, kind), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_take_what_stands_between_the_literals() {
        let template = Template::new("^{tool:w}: cannot stat {path:q}: {reason}");
        let holes = template.find("cp: cannot stat ‘a b’: No such file or directory").unwrap();
        assert_eq!(
            (holes.get("tool"), holes.get("path"), holes.get("reason")),
            ("cp", "a b", "No such file or directory")
        );
        assert!(template.find("x cp: cannot stat 'a': gone").is_none());
    }

    #[test]
    fn a_pattern_may_stand_anywhere_unless_it_says_otherwise() {
        let template = Template::new("line {line:n}:");
        assert_eq!(template.find("in line x, line 12: bad").unwrap().number("line"), Some(12));
        assert!(Template::new("end$").find("end of it").is_none());
        assert!(Template::new("{a:w}=$").find("x=").is_some());
    }

    #[test]
    fn every_kind_of_quote_comes_off() {
        for quoted in
            ["'x y'", "\"x y\"", "`x y'", "`x y`", "‘x y’", "“x y”", "„x y“", "«\u{a0}x y\u{a0}»", "x y"]
        {
            assert_eq!(unquote(quoted), "x y", "{quoted}");
        }
        assert_eq!(last_quoted("open 'a' as \"b c\": "), Some("b c"));
        assert_eq!(last_quoted("open a"), None);
    }

    #[test]
    fn a_quoted_hole_at_the_end_stops_at_its_quote() {
        let holes = Template::new("option {option:q}").find("option '--x' (see help)").unwrap();
        assert_eq!(holes.get("option"), "--x");
        let holes = Template::new("option {option:q}").find("option --x (see help)").unwrap();
        assert_eq!(holes.get("option"), "--x");
    }
}
