//! The operators of `${x…}` and brace lists, on values that are known.

use super::{MAX_ALTERNATIVES, MAX_TEXT, Piece, Unknown, Value};

/// A value of which the script makes sure that it is not empty.
pub fn nonempty(mut value: Value) -> Value {
    for piece in &mut value.pieces {
        if let Piece::Unknown(unknown) = piece {
            unknown.nonempty = true;
        }
    }
    value
}

/// Applies an operator; what cannot be computed is unknown.
pub fn apply(value: &Value, operator: &str, operand: Option<&str>, name: &str) -> Value {
    let computed = value.known().zip(operand).and_then(|(text, operand)| compute(&text, operator, operand));
    computed.map_or_else(
        || Value {
            pieces: vec![Piece::Unknown(Unknown { name: Some(name.to_owned()), ..Unknown::default() })],
        },
        |text| Value::text(&text),
    )
}

fn compute(text: &str, operator: &str, operand: &str) -> Option<String> {
    if text.len() > MAX_TEXT {
        return None;
    }
    match operator {
        "#" | "##" => Some(strip_front(text, operand, operator == "##").to_owned()),
        "%" | "%%" => Some(strip_back(text, operand, operator == "%%").to_owned()),
        ":" => substring(text, operand),
        "^^" => Some(text.to_uppercase()),
        ",," => Some(text.to_lowercase()),
        "^" => Some(first(text, |c| c.to_uppercase().collect())),
        "," => Some(first(text, |c| c.to_lowercase().collect())),
        "/" | "//" => replaced(text, operand, operator == "//"),
        _ => None,
    }
}

fn first(text: &str, change: impl Fn(char) -> String) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |c| change(c) + chars.as_str())
}

fn replaced(text: &str, operand: &str, all: bool) -> Option<String> {
    let (from, to) = operand.split_once('/').unwrap_or((operand, ""));
    if from.is_empty() || from.contains(['*', '?', '[']) {
        return None;
    }
    let out = if all { text.replace(from, to) } else { text.replacen(from, to, 1) };
    (out.len() <= MAX_TEXT).then_some(out)
}

fn substring(text: &str, operand: &str) -> Option<String> {
    let (from, len) = operand.split_once(':').map_or((operand, None), |(from, len)| (from, Some(len)));
    let from: usize = from.trim().parse().ok()?;
    let rest = text.chars().skip(from);
    match len {
        Some(len) => Some(rest.take(len.trim().parse().ok()?).collect()),
        None => Some(rest.collect()),
    }
}

fn cuts(text: &str) -> impl DoubleEndedIterator<Item = usize> + '_ {
    text.char_indices().map(|(at, _)| at).chain(std::iter::once(text.len()))
}

fn strip_front<'a>(text: &'a str, pattern: &str, longest: bool) -> &'a str {
    let fits = |at: &usize| matches(pattern, text.get(..*at).unwrap_or_default());
    let cut = if longest { cuts(text).rev().take(256).find(fits) } else { cuts(text).take(256).find(fits) };
    text.get(cut.unwrap_or(0)..).unwrap_or_default()
}

fn strip_back<'a>(text: &'a str, pattern: &str, longest: bool) -> &'a str {
    let fits = |at: &usize| matches(pattern, text.get(*at..).unwrap_or_default());
    let cut = if longest { cuts(text).take(256).find(fits) } else { cuts(text).rev().take(256).find(fits) };
    text.get(..cut.unwrap_or(text.len())).unwrap_or_default()
}

/// Whether a file-name pattern of `*` and `?` matches a whole text. Linear in text times pattern.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                back = Some((p + 1, t));
                p += 1;
            }
            Some(c) if *c == '?' || Some(c) == text.get(t) => {
                p += 1;
                t += 1;
            }
            _ => match back {
                Some((star, from)) => {
                    (p, t) = (star, from + 1);
                    back = Some((star, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|c| *c == '*')
}

/// The values of `{a,b}`; for `{1..9}` and nested lists the text as written.
pub fn braces(text: &str) -> Vec<Value> {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default();
    if inner.contains(['{', '}', '$', '"', '\'', '\\']) || !inner.contains(',') {
        return vec![Value::text(text)];
    }
    inner.split(',').take(MAX_ALTERNATIVES).map(Value::text).collect()
}
