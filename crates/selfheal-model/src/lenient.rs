//! Reads the one object in a model's text without guessing.
//!
//! Strict JSON first. Else only what loses nothing: thoughts and prose around the object are left out, the last complete
//! object counts, raw control characters in strings are escaped, the backslash of an escape that JSON does not have is
//! doubled (`"\d+"` means `\d+`), comments and trailing commas are dropped. A text that was cut off is never closed, and
//! brackets that do not match are never mended: a wrong patch that looks right is worse than asking again. One pass over
//! the text, whatever it holds.

use std::ops::Range;

use serde_json::Value;

/// The longest text that is read, in bytes.
pub const LONGEST: usize = 1024 * 1024;
/// The deepest nesting that is read.
pub const DEEPEST: usize = 64;
/// So many objects at the end of a text are tried.
const MOST_OBJECTS: usize = 8;

/// Why a text has no readable object. Reads after "the answer".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// There is no text.
    #[error("is empty")]
    Empty,
    /// The text is longer than [`LONGEST`].
    #[error("is longer than {LONGEST} bytes")]
    TooLong,
    /// The text is nested deeper than [`DEEPEST`].
    #[error("is nested deeper than {DEEPEST} levels")]
    TooDeep,
    /// There are only thoughts, which do not end.
    #[error("holds only thoughts")]
    OnlyThoughts,
    /// There is no object.
    #[error("holds no JSON object")]
    NoObject,
    /// An object begins and does not end.
    #[error("holds a JSON object that does not end")]
    CutOff,
    /// The brackets do not match.
    #[error("holds brackets that do not match")]
    Unbalanced,
    /// An object is not JSON, at this line and column of it.
    #[error("is not JSON at line {line}, column {column} of the object")]
    Malformed {
        /// The line in the object, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
}

/// Reads the object in a model's text.
///
/// # Errors
/// When there is none that can be read without guessing.
pub fn read(text: &str) -> Result<Value, Unreadable> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(Unreadable::Empty);
    }
    if text.len() > LONGEST {
        return Err(Unreadable::TooLong);
    }
    if let Ok(value @ Value::Object(_)) = serde_json::from_str(text) {
        return if is_too_deep(&value, DEEPEST) { Err(Unreadable::TooDeep) } else { Ok(value) };
    }
    let text = without_thoughts(text)?;
    let objects = objects(text)?;
    let mut trouble = Unreadable::NoObject;
    for range in objects.into_iter().rev() {
        let mended = mend(text.get(range).unwrap_or_default());
        match serde_json::from_str(&mended) {
            Ok(value) => return Ok(value),
            Err(error) if trouble == Unreadable::NoObject => {
                trouble = Unreadable::Malformed { line: error.line(), column: error.column() };
            }
            Err(_) => {}
        }
    }
    Err(trouble)
}

/// The text of an answer that is no object: without thoughts, and nothing else taken out.
///
/// # Errors
/// When there is nothing but thoughts, or nothing at all, or far too much.
pub fn text(text: &str) -> Result<&str, Unreadable> {
    if text.len() > LONGEST {
        return Err(Unreadable::TooLong);
    }
    let text = without_thoughts(text.trim_start_matches('\u{feff}').trim())?.trim();
    if text.is_empty() { Err(Unreadable::Empty) } else { Ok(text) }
}

/// Whether a value is nested deeper than so many levels. The strict reader ends at 128, so this cannot run away.
fn is_too_deep(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left == 0 || items.iter().any(|item| is_too_deep(item, left - 1)),
        Value::Object(map) => left == 0 || map.values().any(|item| is_too_deep(item, left - 1)),
        _ => false,
    }
}

/// What stands after a model's thoughts. Their end may come without a beginning, which some servers put in the prompt.
fn without_thoughts(text: &str) -> Result<&str, Unreadable> {
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        if let Some(thoughts) = text.strip_prefix(open) {
            return thoughts.split_once(close).map(|(_, rest)| rest).ok_or(Unreadable::OnlyThoughts);
        }
        if !text.starts_with(['{', '`'])
            && let Some((_, rest)) = text.rsplit_once(close)
        {
            return Ok(rest);
        }
    }
    Ok(text)
}

/// The complete top-level objects of a text, the last ones of them.
fn objects(text: &str) -> Result<Vec<Range<usize>>, Unreadable> {
    let mut scan = Scan::default();
    let mut bytes = text.bytes().enumerate();
    while let Some((index, byte)) = bytes.next() {
        let next = text.as_bytes().get(index + 1).copied();
        if scan.step(index, byte, next)? == Step::Two {
            bytes.next();
        }
    }
    if !scan.open.is_empty() {
        return Err(Unreadable::CutOff);
    }
    Ok(scan.found.split_off(scan.found.len().saturating_sub(MOST_OBJECTS)))
}

/// A pass over a text that finds its top-level objects. Quotes and brackets in the prose between objects mean nothing;
/// inside of an object strings and comments are respected.
#[derive(Default)]
struct Scan {
    found: Vec<Range<usize>>,
    /// The closing brackets that are wanted, innermost last.
    open: Vec<u8>,
    start: usize,
    at: At,
}

/// Where a scan stands, inside of an object.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum At {
    #[default]
    Code,
    Text,
    LineComment,
    BlockComment,
}

/// How many bytes a step took.
#[derive(PartialEq, Eq)]
enum Step {
    One,
    Two,
}

impl Scan {
    fn step(&mut self, index: usize, byte: u8, next: Option<u8>) -> Result<Step, Unreadable> {
        if self.open.is_empty() {
            if byte == b'{' {
                self.start = index;
                self.open.push(b'}');
            }
            return Ok(Step::One);
        }
        let (at, step) = match (self.at, byte, next) {
            (At::Code, b'"', _) => (At::Text, Step::One),
            (At::Text, b'\\', _) => (At::Text, Step::Two),
            (At::Text, b'"', _) | (At::LineComment, b'\n', _) => (At::Code, Step::One),
            (At::Code, b'/', Some(b'/')) => (At::LineComment, Step::Two),
            (At::Code, b'/', Some(b'*')) => (At::BlockComment, Step::Two),
            (At::BlockComment, b'*', Some(b'/')) => (At::Code, Step::Two),
            (At::Code, ..) => {
                self.bracket(index, byte)?;
                (At::Code, Step::One)
            }
            (other, ..) => (other, Step::One),
        };
        self.at = at;
        Ok(step)
    }

    fn bracket(&mut self, index: usize, byte: u8) -> Result<(), Unreadable> {
        match byte {
            b'{' => self.open.push(b'}'),
            b'[' => self.open.push(b']'),
            b'}' | b']' => {
                if self.open.pop() != Some(byte) {
                    return Err(Unreadable::Unbalanced);
                }
                if self.open.is_empty() {
                    self.found.push(self.start..index + 1);
                }
            }
            _ => {}
        }
        if self.open.len() > DEEPEST { Err(Unreadable::TooDeep) } else { Ok(()) }
    }
}

/// Rewrites an object as strict JSON, where that loses nothing.
fn mend(object: &str) -> String {
    let mut out = String::with_capacity(object.len() + 64);
    let mut rest = object;
    while let Some(c) = rest.chars().next() {
        rest = match c {
            '"' => string(rest, &mut out),
            '/' if rest.starts_with("//") => rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or(""),
            '/' if rest.starts_with("/*") => rest.split_once("*/").map_or("", |(_, after)| after),
            '}' | ']' => {
                drop_trailing_comma(&mut out);
                out.push(c);
                after(rest, c)
            }
            _ => {
                out.push(c);
                after(rest, c)
            }
        };
    }
    out
}

fn after(rest: &str, c: char) -> &str {
    rest.get(c.len_utf8()..).unwrap_or("")
}

/// Takes back a comma that has only blanks behind it. Outside of strings, because a string ends in a quote.
fn drop_trailing_comma(out: &mut String) {
    let kept = out.trim_end().len();
    if out.get(..kept).is_some_and(|text| text.ends_with(',')) {
        out.truncate(kept - 1);
    }
}

/// Copies the string at the beginning of `rest` with its odd characters escaped, and returns what stands behind it.
fn string<'a>(rest: &'a str, out: &mut String) -> &'a str {
    out.push('"');
    let mut rest = after(rest, '"');
    while let Some(c) = rest.chars().next() {
        let tail = after(rest, c);
        rest = match c {
            '"' => {
                out.push('"');
                return tail;
            }
            '\\' => escape(tail, out),
            control if control < ' ' => {
                out.push_str(&format!("\\u{:04x}", u32::from(control)));
                tail
            }
            _ => {
                out.push(c);
                tail
            }
        };
    }
    rest
}

/// Copies the escape whose backslash stands before `tail`; one that JSON does not have stands for itself.
fn escape<'a>(tail: &'a str, out: &mut String) -> &'a str {
    out.push('\\');
    match tail.chars().next() {
        Some(c @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {
            out.push(c);
            after(tail, c)
        }
        Some('u') if tail.get(1..5).is_some_and(|code| code.bytes().all(|b| b.is_ascii_hexdigit())) => {
            out.push('u');
            after(tail, 'u')
        }
        _ => {
            out.push('\\');
            tail
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_what_models_write_around_and_into_an_object() {
        for (text, value) in [
            ("{\"a\": 1}", json!({"a": 1})),
            ("Sure!\n```json\n{\"a\": 1}\n```\nIt's done.", json!({"a": 1})),
            ("<think>use {\"a\": 0}?</think>{\"a\": 1}", json!({"a": 1})),
            ("use {\"a\": 0}?\n</think>\n{\"a\": 1}", json!({"a": 1})),
            ("First {\"a\": 0}, better: {\"a\": 1}", json!({"a": 1})),
            ("the ${NAME} is: {\"a\": 1} as in ${NAME}.", json!({"a": 1})),
            ("{\"a\": [1, 2,], /* } */ \"b\": 2, // \"x\n}", json!({"a": [1, 2], "b": 2})),
            ("{\"a\": \"x\ny\tz\"}", json!({"a": "x\ny\tz"})),
            (r#"{"a": "\d+ \$HOME \\ \" \u00e9 \uZZ"}"#, json!({"a": "\\d+ \\$HOME \\ \" é \\uZZ"})),
            ("{\"a\": \"cp \\\n  b\", }", json!({"a": "cp \\\n  b"})),
            ("{\"a\": \"// no, /* comment */ ,}\",}", json!({"a": "// no, /* comment */ ,}"})),
            ("\u{feff} {\"a\": {\"b\": \"</think>\"}} ", json!({"a": {"b": "</think>"}})),
        ] {
            assert_eq!(read(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn refuses_what_it_would_have_to_guess() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(70), "]".repeat(70));
        let brackets = "[".repeat(200_000);
        let objects = "{\"a\":".repeat(200_000);
        for (text, why) in [
            ("  \n", Unreadable::Empty),
            ("I'm sorry, I cannot help with that.", Unreadable::NoObject),
            ("[1, 2]", Unreadable::NoObject),
            ("\"text\"", Unreadable::NoObject),
            ("{\"a\": \"cut of", Unreadable::CutOff),
            ("{\"a\": {\"b\": 1}", Unreadable::CutOff),
            ("{\"a\": 1} {\"b\":", Unreadable::CutOff),
            ("{\"a\": [1}", Unreadable::Unbalanced),
            ("<think>hm {\"a\": 1}", Unreadable::OnlyThoughts),
            ("{\"a\": 1 \"b\": 2}", Unreadable::Malformed { line: 1, column: 9 }),
            ("{'a': 1}", Unreadable::Malformed { line: 1, column: 2 }),
            (&deep, Unreadable::TooDeep),
            (&brackets, Unreadable::NoObject),
            (&objects, Unreadable::TooDeep),
            (&"x".repeat(LONGEST + 1), Unreadable::TooLong),
        ] {
            let shown: String = text.chars().take(60).collect();
            assert_eq!(read(text), Err(why), "{shown}");
        }
    }

    /// Any JSON object, a few levels deep.
    fn any_object() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[\\\\\"/*,{}\\[\\]\n\t a]{0,12}".prop_map(Value::from),
        ];
        let tree = leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        });
        prop::collection::btree_map("[a-z\"\\\\]{0,4}", tree, 0..4)
            .prop_map(|map| Value::Object(map.into_iter().collect()))
    }

    /// Writes raw line ends and tabs into strings instead of their escapes, as careless models do.
    fn careless(json: &str) -> String {
        let mut out = String::new();
        let mut chars = json.chars();
        while let Some(c) = chars.next() {
            match (c, if c == '\\' { chars.next() } else { None }) {
                ('\\', Some('n')) => out.push('\n'),
                ('\\', Some('t')) => out.push('\t'),
                ('\\', Some(other)) => out.extend(['\\', other]),
                _ => out.push(c),
            }
        }
        out
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            let _ = read(&text);
        }

        #[test]
        fn never_panics_on_json_like_text(text in "[\\[{}\\],:\"\\\\/*\nu0a<>think`é ]{0,60}") {
            let _ = read(&text);
        }

        #[test]
        fn every_object_comes_out_as_it_went_in(value in any_object()) {
            prop_assert_eq!(read(&value.to_string()), Ok(value.clone()));
            prop_assert_eq!(read(&format!("Here:\n```json\n{value}\n```\nThat's it.")), Ok(value.clone()));
            prop_assert_eq!(read(&format!("<think>{{</think>{value:#}")), Ok(value.clone()));
            prop_assert_eq!(read(&careless(&value.to_string())), Ok(value));
        }

        #[test]
        fn a_text_that_was_cut_off_is_never_an_object(value in any_object(), cut in 1_usize..40) {
            let json = value.to_string();
            let kept: String = json.chars().take(json.chars().count().saturating_sub(cut)).collect();
            prop_assert!(read(&kept).is_err());
        }

        #[test]
        fn an_unknown_escape_keeps_its_backslash(c in "[^\"\\\\/bfnrtu\\x00-\\x1f]") {
            let text = format!("{{\"a\": \"\\{c}\"}}");
            prop_assert_eq!(read(&text), Ok(json!({"a": format!("\\{c}")})));
        }
    }
}
