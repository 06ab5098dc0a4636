//! Values with the lines that they stand in, out of TOML or YAML.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Number, Value as Json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Values within values are read to this depth.
const DEEPEST: usize = 32;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The line, from 1.
    pub line: usize,
    /// The value.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Anything without parts.
    Plain(Json),
    /// A list.
    List(Vec<Node>),
    /// Keys with their lines and values.
    Table(Vec<(String, usize, Node)>),
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: String,
}

impl Wrong {
    /// Something wrong in a line.
    pub fn new(line: usize, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { line, what: what.into(), hint: hint.into() }
    }
}

impl Node {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|(name, ..)| name == key).map(|(.., node)| node),
            Value::Plain(_) | Value::List(_) => None,
        }
    }

    /// The elements of a list.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    /// The line of a key, or of the whole.
    #[must_use]
    pub fn line_of(&self, key: &str) -> usize {
        match &self.value {
            Value::Table(entries) => {
                entries.iter().find(|(name, ..)| name == key).map_or(self.line, |(_, line, _)| *line)
            }
            Value::Plain(_) | Value::List(_) => self.line,
        }
    }

    /// Without the lines.
    #[must_use]
    pub fn json(&self) -> Json {
        match &self.value {
            Value::Plain(value) => value.clone(),
            Value::List(items) => Json::Array(items.iter().map(Self::json).collect()),
            Value::Table(entries) => Json::Object(
                entries.iter().map(|(name, _, node)| (name.clone(), node.json())).collect::<Map<_, _>>(),
            ),
        }
    }
}

/// Reads TOML.
///
/// # Errors
/// When it is none.
pub fn of_toml(text: &str) -> Result<Node, Wrong> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Wrong::new(lines.at(at), error.message().trim(), "mend the line; docs/tasks.md shows a whole file")
    })?;
    Ok(Node { line: 1, value: Value::Table(toml_table(table.get_ref(), &lines)?) })
}

fn toml_table(table: &DeTable<'_>, lines: &Lines) -> Result<Vec<(String, usize, Node)>, Wrong> {
    let mut entries = Vec::new();
    for (key, value) in table {
        entries.push((key.get_ref().to_string(), lines.at(key.span().start), toml_value(value, lines)?));
    }
    // The order of the file, which the parser does not keep.
    entries.sort_by_key(|(_, line, _)| *line);
    Ok(entries)
}

fn toml_value(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Result<Node, Wrong> {
    let line = lines.at(value.span().start);
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Plain(Json::String(text.to_string())),
        DeValue::Boolean(on) => Value::Plain(Json::Bool(*on)),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            Value::Plain(Json::Number(
                parsed.map_err(|_| Wrong::new(line, "the number is too large", "take a smaller one"))?.into(),
            ))
        }
        DeValue::Float(number) => Value::Plain(float(number.as_str())),
        DeValue::Datetime(moment) => Value::Plain(Json::String(moment.to_string())),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| toml_value(item, lines)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Value::Table(toml_table(table, lines)?),
    };
    Ok(Node { line, value })
}

fn float(text: &str) -> Json {
    text.parse().ok().and_then(Number::from_f64).map_or_else(|| Json::String(text.to_owned()), Json::Number)
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect())
    }

    fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|start| *start <= byte)
    }
}

/// Reads YAML: one document, without anchors and tags.
///
/// # Errors
/// When it is none, or has those.
pub fn of_yaml(text: &str) -> Result<Node, Wrong> {
    let mut reader = Yaml { parser: Parser::new_from_str(text), last: 1 };
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            Event::StreamEnd | Event::DocumentEnd => {
                return Err(Wrong::new(1, "the file is empty", "docs/tasks.md shows a whole file"));
            }
            other => return reader.node(other, span, 0),
        }
    }
}

struct Yaml<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    /// The line of the last event.
    last: usize,
}

impl<'a> Yaml<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Wrong> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                self.last = span.start.line();
                Ok((event, span))
            }
            Some(Err(error)) => Err(Wrong::new(
                error.marker().line(),
                error.info(),
                "look at the indentation and at quotes around the line",
            )),
            None => Err(Wrong::new(self.last, "the file ends too early", "docs/tasks.md shows a whole file")),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Wrong> {
        let line = span.start.line();
        if depth > DEEPEST {
            return Err(Wrong::new(
                line,
                "values stand too deep in each other",
                "a task file needs a few levels only",
            ));
        }
        let plain = |anchor: usize, tagged: bool| match (anchor, tagged) {
            (0, false) => Ok(()),
            _ => Err(Wrong::new(
                line,
                "anchors and tags have no meaning here",
                "write the value out where it is used",
            )),
        };
        let value = match event {
            Event::Scalar(text, style, anchor, tag) => {
                plain(anchor, tag.is_some())?;
                Value::Plain(scalar(&text, style))
            }
            Event::SequenceStart(anchor, tag) => {
                plain(anchor, tag.is_some())?;
                Value::List(self.list(depth)?)
            }
            Event::MappingStart(anchor, tag) => {
                plain(anchor, tag.is_some())?;
                Value::Table(self.table(depth)?)
            }
            Event::Alias(_) => {
                return plain(1, true).map(|()| Node { line, value: Value::Plain(Json::Null) });
            }
            _ => return Err(Wrong::new(line, "a value is missing", "write one, or take the line out")),
        };
        Ok(Node { line, value })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Wrong> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn table(&mut self, depth: usize) -> Result<Vec<(String, usize, Node)>, Wrong> {
        let mut entries: Vec<(String, usize, Node)> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            let line = span.start.line();
            let key = match event {
                Event::MappingEnd => return Ok(entries),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err(Wrong::new(line, "a key must be a word", "write KEY: VALUE")),
            };
            if entries.iter().any(|(name, ..)| *name == key) {
                return Err(Wrong::new(line, format!("`{key}` stands here twice"), "take one of them out"));
            }
            let (event, span) = self.next()?;
            let node = self.node(event, span, depth + 1)?;
            entries.push((key, line, node));
        }
    }
}

/// A scalar by the core schema of YAML 1.2.
fn scalar(text: &str, style: ScalarStyle) -> Json {
    if style != ScalarStyle::Plain {
        return Json::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" => Json::Null,
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        _ => match text.parse::<i64>() {
            Ok(number) => Json::Number(number.into()),
            Err(_) if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => float(text),
            Err(_) => Json::String(text.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_file_in_both_forms_is_the_same_with_its_lines() {
        let toml = of_toml("id = \"t\"\n\n[[steps]]\nid = \"a\"\nrun = [\"x\", \"y\"]\nidempotent = true\n")
            .unwrap();
        let yaml = of_yaml("id: t\n\nsteps:\n  - id: a\n    run: [x, 'y']\n    idempotent: true\n").unwrap();
        assert_eq!(toml.json(), yaml.json());
        for node in [&toml, &yaml] {
            let step = node.get("steps").unwrap().items().first().unwrap();
            assert_eq!((step.line_of("id"), step.line_of("run"), step.line_of("idempotent")), (4, 5, 6));
        }
    }

    #[test]
    fn broken_files_are_told_with_their_line() {
        for text in ["id = 't'\nsteps = [\n  oops\n", "id = 't'\nx = 99999999999999999999\n"] {
            assert!(of_toml(text).unwrap_err().line >= 2, "{text}");
        }
        assert_eq!(of_yaml("a: 1\nb: *x\n").unwrap_err().line, 2);
        assert_eq!(of_yaml("a: 1\na: 2\n").unwrap_err().what, "`a` stands here twice");
        assert!(of_yaml("").is_err() && of_yaml("a: &x [1]\nb: *x\n").is_err());
        let deep = "[".repeat(100_000);
        assert!(of_yaml(&deep).is_err());
    }
}
