//! Holds a file against the schema of its form, line by line.

use serde_json::Value as Json;

use super::node::{Node, Value, Wrong};

/// Everything in which a file differs from its schema.
#[must_use]
pub fn differences(node: &Node, schema: &Json) -> Vec<Wrong> {
    let mut check = Check { root: schema, wrong: Vec::new() };
    check.node(node, schema, "the file");
    check.wrong
}

struct Check<'a> {
    root: &'a Json,
    wrong: Vec<Wrong>,
}

impl<'a> Check<'a> {
    fn resolve(&self, schema: &'a Json) -> &'a Json {
        let name = schema.get("$ref").and_then(Json::as_str).and_then(|path| path.strip_prefix('#'));
        name.and_then(|path| self.root.pointer(path)).unwrap_or(schema)
    }

    fn tell(&mut self, line: usize, what: String, hint: impl Into<String>) {
        self.wrong.push(Wrong::new(line, what, hint));
    }

    fn node(&mut self, node: &Node, schema: &'a Json, name: &str) {
        let schema = self.resolve(schema);
        if let Some(choices) = schema.get("anyOf").and_then(Json::as_array) {
            return self.any_of(node, choices, name);
        }
        if let Some(words) = words(schema) {
            return self.word(node, &words, name);
        }
        if !fits_type(node, schema) {
            return self.wrong_type(node, &[schema], name);
        }
        self.number(node, schema, name);
        match &node.value {
            Value::Table(entries) => self.table(node, entries, schema, name),
            Value::List(items) => {
                if items.is_empty() && schema.get("minItems").is_some() {
                    self.tell(node.line, format!("`{name}` is empty"), "name at least one");
                }
                if let Some(inner) = schema.get("items") {
                    items.iter().for_each(|item| self.node(item, inner, name));
                }
            }
            Value::Plain(_) => {}
        }
    }

    fn any_of(&mut self, node: &Node, choices: &'a [Json], name: &str) {
        let resolved: Vec<&Json> = choices.iter().map(|choice| self.resolve(choice)).collect();
        match resolved.iter().find(|choice| words(choice).is_some() || fits_type(node, choice)) {
            Some(choice) => self.node(node, choice, name),
            None => self.wrong_type(node, &resolved, name),
        }
    }

    fn wrong_type(&mut self, node: &Node, schemas: &[&Json], name: &str) {
        let wanted: Vec<&str> = schemas.iter().flat_map(|schema| kinds(schema)).map(kind_in_words).collect();
        let found = found_in_words(node);
        self.tell(node.line, format!("`{name}` is {found}"), format!("it must be {}", wanted.join(" or ")));
    }

    fn word(&mut self, node: &Node, words: &[&str], name: &str) {
        let found =
            if let Value::Plain(Json::String(text)) = &node.value { Some(text.as_str()) } else { None };
        if !found.is_some_and(|found| words.contains(&found)) {
            let shown = node.json();
            self.tell(
                node.line,
                format!("`{name}` cannot be {shown}"),
                format!("it is one of: {}", words.join(", ")),
            );
        }
    }

    fn number(&mut self, node: &Node, schema: &Json, name: &str) {
        let Value::Plain(Json::Number(number)) = &node.value else { return };
        let bound = |key: &str| schema.get(key).and_then(Json::as_f64);
        let number = number.as_f64().unwrap_or_default();
        let small = bound("minimum").is_some_and(|least| number < least);
        if small || bound("maximum").is_some_and(|most| number > most) {
            let least = bound("minimum").map_or(String::new(), |least| format!("at least {least}"));
            let most = bound("maximum").map_or(String::new(), |most| format!(" and at most {most}"));
            self.tell(node.line, format!("`{name}` cannot be {number}"), format!("it is {least}{most}"));
        }
    }

    fn table(&mut self, node: &Node, entries: &[(String, usize, Node)], schema: &'a Json, name: &str) {
        let Some(properties) = schema.get("properties").and_then(Json::as_object) else {
            if let Some(inner) = schema.get("additionalProperties").filter(|inner| inner.is_object()) {
                entries.iter().for_each(|(key, _, value)| self.node(value, inner, key));
            }
            return;
        };
        for (key, line, value) in entries {
            match properties.get(key) {
                Some(inner) => self.node(value, inner, key),
                None => self.tell(*line, format!("unknown key `{key}`"), near(key, properties.keys())),
            }
        }
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
        for key in required.filter_map(Json::as_str).filter(|key| node.get(key).is_none()) {
            self.tell(node.line, format!("`{key}` is missing in {name}"), format!("add {key}"));
        }
    }
}

/// The words that a value may be, where its schema lists them.
fn words(schema: &Json) -> Option<Vec<&str>> {
    if let Some(list) = schema.get("enum").and_then(Json::as_array) {
        return list.iter().map(Json::as_str).collect();
    }
    let list = schema.get("oneOf")?.as_array()?;
    list.iter().map(|one| one.get("const").and_then(Json::as_str)).collect()
}

fn kinds(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(kind)) => vec![kind],
        Some(Json::Array(kinds)) => {
            kinds.iter().filter_map(Json::as_str).filter(|kind| *kind != "null").collect()
        }
        _ => Vec::new(),
    }
}

fn fits_type(node: &Node, schema: &Json) -> bool {
    let kinds = kinds(schema);
    let fits = |kind: &&str| match (&node.value, *kind) {
        (Value::Table(_), "object") | (Value::List(_), "array") => true,
        (Value::Plain(Json::String(_)), "string") | (Value::Plain(Json::Bool(_)), "boolean") => true,
        (Value::Plain(Json::Number(number)), "integer") => number.is_i64() || number.is_u64(),
        (Value::Plain(Json::Number(_)), "number") => true,
        _ => false,
    };
    kinds.is_empty() || kinds.iter().any(fits)
}

fn kind_in_words(kind: &str) -> &str {
    match kind {
        "object" => "a table",
        "array" => "a list",
        "string" => "text",
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        other => other,
    }
}

fn found_in_words(node: &Node) -> &'static str {
    match &node.value {
        Value::Table(_) => "a table",
        Value::List(_) => "a list",
        Value::Plain(Json::String(_)) => "text",
        Value::Plain(Json::Bool(_)) => "true or false",
        Value::Plain(Json::Null) => "empty",
        Value::Plain(_) => "a number",
    }
}

fn near<'a>(key: &str, known: impl Iterator<Item = &'a String>) -> String {
    let known: Vec<&str> = known.map(String::as_str).collect();
    let likeness = |other: &&str| {
        let pairs = key
            .as_bytes()
            .windows(2)
            .filter(|pair| std::str::from_utf8(pair).is_ok_and(|pair| other.contains(pair)));
        pairs.count() * 2 + usize::from(key.as_bytes().first() == other.as_bytes().first())
    };
    let best =
        known.iter().max_by_key(|other| likeness(other)).filter(|other| likeness(other) >= key.len().min(4));
    match best {
        Some(best) => format!("did you mean `{best}`?"),
        None => format!("known keys: {}", known.join(", ")),
    }
}
