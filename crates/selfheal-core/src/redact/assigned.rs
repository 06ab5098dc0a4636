//! Values that stand beside a name that announces a secret: `NAME=value`, `--name value`, `"name": "value"`,
//! `name: value`, headers, `.netrc`, connection strings, query strings.

use std::ops::Range;

use super::names::{self, Strength};
use super::random;

/// So far a value is looked at, and so far is looked back from a name, in bytes: lines of a job may have any length.
const FAR: usize = 4_096;
const BACK: usize = 256;

/// Headers whose whole value is secret.
const HEADERS: [&str; 5] =
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-amz-security-token"];

/// Finds the values in a line.
pub(super) fn find(line: &str, out: &mut Vec<Range<usize>>) {
    if !names::may_hold_a_name(line) {
        return;
    }
    let mut at = 0;
    while let Some(name) = next_name(line, at) {
        at = name.end;
        if let Some(value) = value_of(line, &name) {
            at = value.end.max(at);
            out.push(value);
        }
    }
}

fn next_name(line: &str, from: usize) -> Option<Range<usize>> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let start = from + line.get(from..)?.find(part)?;
    let rest = line.get(start..)?;
    Some(start..start + rest.find(|c| !part(c)).unwrap_or(rest.len()))
}

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    /// `=` with nothing around it.
    Tight,
    /// `=`, `=>`, `:=` with blanks.
    Loose,
    /// `:`.
    Colon,
    /// Only a blank, behind an option or where a `.netrc` has it.
    Blank,
}

fn value_of(line: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let word = line.get(name.clone())?;
    let lower = word.to_ascii_lowercase();
    if lower == "bearer" || lower == "basic" {
        return credentials(line, name.end, &lower);
    }
    let strength = names::strength(word).or_else(|| in_query(line, name, &lower))?;
    let (link, start) = link(line, name, strength)?;
    if HEADERS.contains(&lower.as_str()) && link == Link::Colon {
        return header(line, start);
    }
    let value = Value::read(line, start)?;
    value.is_secret(line, name, strength, link).then(|| value.whole(line))
}

/// The part of a text that is at most so many bytes long.
fn within(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// How long a value without quotes is.
fn bare_length(rest: &str) -> usize {
    rest.find(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '"' | '\'' | '`' | '<' | '>' | '|'))
        .unwrap_or(rest.len())
}

/// `key=` and `sig=` in the query of an address, where names are short.
fn in_query(line: &str, name: &Range<usize>, lower: &str) -> Option<Strength> {
    let before = line.get(..name.start)?.chars().next_back()?;
    (matches!(before, '?' | '&') && matches!(lower, "key" | "sig" | "code" | "auth" | "sas"))
        .then_some(Strength::Weak)
}

/// `Bearer X`, `Basic X` without a header's name before them.
fn credentials(line: &str, after: usize, scheme: &str) -> Option<Range<usize>> {
    let rest = line.get(after..)?.strip_prefix(' ')?;
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '/' | '=');
    let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
    let token = rest.get(..length)?;
    let digits = token.bytes().any(|byte| byte.is_ascii_digit());
    let secret = match scheme {
        "basic" => token.len() >= 8 && super::encoded::decoded(token).is_some_and(|text| text.contains(':')),
        _ => token.len() >= 8 && digits || token.len() >= 24 && !token.contains('.'),
    };
    secret.then(|| after + 1..after + 1 + length)
}

/// What links a name to its value, and where the value begins.
fn link(line: &str, name: &Range<usize>, strength: Strength) -> Option<(Link, usize)> {
    let word = line.get(name.clone())?;
    let rest = line.get(name.end..)?;
    let behind_quote =
        ["\\\"", "\"]", "']", "\"", "'", "`"].iter().find_map(|quote| rest.strip_prefix(quote));
    let rest = behind_quote.unwrap_or(rest);
    let bare = rest.trim_start_matches([' ', '\t']);
    let blanks = rest.len() - bare.len();
    let place = |rest: &str| line.len() - rest.len();
    for mark in ["=>", ":=", "=", ":"] {
        let Some(after) = bare.strip_prefix(mark) else { continue };
        if mark == "=" && after.starts_with(['=', '~']) || mark == ":" && after.starts_with([':', '/']) {
            return None;
        }
        let value = after.trim_start_matches([' ', '\t']);
        let link = match mark {
            ":" => Link::Colon,
            "=" if blanks == 0 && value.len() == after.len() => Link::Tight,
            _ => Link::Loose,
        };
        return Some((link, place(value)));
    }
    let option = word.starts_with('-') && strength == Strength::Strong || word.starts_with("--");
    let before = behind(line.get(..name.start)?, BACK);
    let netrc = word == "password" && ["login ", "machine "].iter().any(|mark| before.contains(mark));
    let sql = strength == Strength::Strong && bare.starts_with('\'') && !word.starts_with('-');
    let statement = sql
        && ["alter ", "create ", "ALTER ", "CREATE ", "set ", "SET "]
            .iter()
            .any(|verb| before.contains(verb));
    (blanks > 0 && behind_quote.is_none() && (option || netrc || statement))
        .then(|| (Link::Blank, place(bare)))
}

/// The last so many bytes of a text.
fn behind(text: &str, most: usize) -> &str {
    let mut start = text.len().saturating_sub(most);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

/// The value of a header, to the end of what quotes it or of the line. The name of the scheme stays.
fn header(line: &str, start: usize) -> Option<Range<usize>> {
    let rest = line.get(start..)?;
    let end = rest.find(['"', '\'', '\r', '\n']).unwrap_or(rest.len());
    let value = rest.get(..end)?.trim_end();
    let scheme = value
        .split_once(' ')
        .filter(|(scheme, _)| {
            scheme.len() <= 16 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
        .map_or(0, |(scheme, _)| scheme.len() + 1);
    let secret = value.get(scheme..)?;
    let shown =
        secret.is_empty() || secret.starts_with(['$', '[', '<', '{', '%']) || random::is_ordinary(secret);
    (!shown).then(|| start + scheme..start + value.len())
}

/// A value as it stands.
struct Value {
    span: Range<usize>,
    quoted: bool,
}

impl Value {
    /// The whole of it, where only its beginning was looked at.
    fn whole(&self, line: &str) -> Range<usize> {
        let more = line.get(self.span.end..).filter(|_| self.span.len() + 4 >= FAR).map_or(0, bare_length);
        self.span.start..self.span.end + more
    }

    fn read(line: &str, start: usize) -> Option<Self> {
        let rest = line.get(start..)?;
        let near = within(rest, FAR);
        for quote in ["\\\"", "\"", "'"] {
            let prefixed = near.strip_prefix(['b', 'r', 'u']).filter(|rest| rest.starts_with(quote));
            let Some(inner) = prefixed.unwrap_or(near).strip_prefix(quote) else { continue };
            let from = start + (near.len() - inner.len());
            let length = closing(inner, quote);
            return Some(Self { span: from..from + length, quoted: true });
        }
        let length = bare_length(near);
        let value = near.get(..length)?.trim_end_matches([',', ')', '}', ']', '\\', '.', ':']);
        Some(Self { span: start..start + value.len(), quoted: false })
    }

    fn is_secret(&self, line: &str, name: &Range<usize>, strength: Strength, link: Link) -> bool {
        let Some(value) = line.get(self.span.clone()) else { return false };
        if self.is_end_of_text(line, name) {
            return false;
        }
        if value.is_empty() || self.is_code(value) || random::is_ordinary(value) {
            return false;
        }
        if strength == Strength::Weak {
            return random::looks_secret(value);
        }
        let path = value.starts_with(['/', '~']) && value.get(1..).is_some_and(|rest| rest.contains('/'));
        let small = value.len() < 4 && value.bytes().all(|byte| byte.is_ascii_digit()) || value.len() < 2;
        if path || small || value.contains("://") {
            return false;
        }
        if self.quoted {
            return value.matches(' ').count() < 2 || value.bytes().any(|byte| byte.is_ascii_digit());
        }
        let attribute =
            line.get(name.clone()).is_some_and(|name| name.starts_with("self.") || name.starts_with("this."));
        let own_name = line.get(name.clone()).is_some_and(|name| name.trim_start_matches('-') == value);
        let telling =
            value.bytes().any(|byte| !byte.is_ascii_alphabetic() && !matches!(byte, b'_' | b'-' | b'.'));
        match link {
            Link::Tight | Link::Blank => !own_name,
            Link::Loose | Link::Colon => {
                telling || !attribute && !names::names_a_secret(value) && self.is_entry(line, name)
            }
        }
    }

    /// What a program works out is no value: a variable, a substitution, a call, an attribute, a placeholder.
    fn is_code(&self, value: &str) -> bool {
        let opening = value.starts_with(['$', '`', '{', '<', '%', '[', '*', '(', '&', '!', '=', '+']);
        let escaped = value.starts_with("\\$") || value.starts_with("...") || value.starts_with("-");
        let path_like = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.');
        let dotted = value.contains('.') && value.bytes().all(path_like);
        opening
            || escaped
            || !self.quoted && (value.contains('(') || value.contains("::") || dotted || value.contains('['))
    }

    /// `'Password: '`: what seems to quote a value ends the text that holds the name.
    fn is_end_of_text(&self, line: &str, name: &Range<usize>) -> bool {
        let before = line.get(..name.start).and_then(|text| text.chars().next_back());
        let opening = line.get(..self.span.start).and_then(|text| text.chars().next_back());
        let after = line.get(name.end..).and_then(|text| text.chars().next());
        self.quoted && before == opening && after != opening && after != Some('\\')
    }

    /// Whether name and value are all that a line holds, as in a settings file.
    fn is_entry(&self, line: &str, name: &Range<usize>) -> bool {
        let before =
            line.get(..name.start).unwrap_or_default().trim_matches([' ', '\t', '-', '"', '\'', '+', '#']);
        let after = line.get(self.span.end..).unwrap_or_default().trim();
        before.is_empty() && after.is_empty()
    }
}

/// Where a quoted value ends: before the quote, or before the end of the line.
fn closing(inner: &str, quote: &str) -> usize {
    if quote != "\"" {
        return inner.find(quote).unwrap_or_else(|| inner.trim_end().len());
    }
    let mut escaped = false;
    for (at, c) in inner.char_indices() {
        match c {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return at,
            _ => escaped = false,
        }
    }
    inner.trim_end().len()
}
