//! Checks values against the part of JSON Schema that our answers use.
//!
//! A server with a grammar obeys the schema by itself; others do not, and none may be trusted. What is checked here is
//! exactly what [`KEYWORDS`] lists: a schema with another keyword is refused, so that no bound is silently not checked.

use serde_json::{Map, Value};

/// Every keyword that is checked, and those that only describe.
pub const KEYWORDS: [&str; 16] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "enum",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "items",
    "minItems",
    "maxItems",
    "title",
    "description",
    "$schema",
    "default",
];

/// Deeper schemas than this are refused.
const DEEPEST: usize = 32;

/// Checks a value against a schema.
///
/// # Errors
/// The first thing that does not fit, with its place (`edits[2].search`), in words that the model can act on. Never
/// quotes a value.
pub fn check(schema: &Value, value: &Value) -> Result<(), String> {
    Place { path: String::new(), depth: 0 }.check(schema, value)
}

struct Place {
    path: String,
    depth: usize,
}

impl Place {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let rules = schema.as_object().ok_or_else(|| self.says("has a schema that is not an object"))?;
        if self.depth > DEEPEST {
            return Err(self.says("lies too deep"));
        }
        if let Some(keyword) = rules.keys().find(|key| !KEYWORDS.contains(&key.as_str())) {
            return Err(self.says(&format!("has a schema with the unknown keyword {keyword}")));
        }
        self.kind(rules, value)?;
        self.one_of(rules, value)?;
        match value {
            Value::Object(fields) => self.object(rules, fields),
            Value::Array(items) => self.array(rules, items),
            Value::String(text) => self.range(rules, ["minLength", "maxLength"], text.chars().count() as f64),
            Value::Number(number) => {
                self.range(rules, ["minimum", "maximum"], number.as_f64().unwrap_or(f64::MAX))
            }
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    fn kind(&self, rules: &Map<String, Value>, value: &Value) -> Result<(), String> {
        let allowed: Vec<&str> = match rules.get("type") {
            None => return Ok(()),
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(_) => return Err(self.says("has a schema with a wrong type")),
        };
        if allowed.iter().any(|name| is_kind(value, name)) {
            return Ok(());
        }
        Err(self.says(&format!("must be of type {}", allowed.join(" or "))))
    }

    fn one_of(&self, rules: &Map<String, Value>, value: &Value) -> Result<(), String> {
        match rules.get("enum").and_then(Value::as_array) {
            Some(allowed) if !allowed.contains(value) => {
                let words: Vec<String> = allowed.iter().take(20).map(Value::to_string).collect();
                Err(self.says(&format!("must be one of {}", words.join(", "))))
            }
            _ => Ok(()),
        }
    }

    fn object(&self, rules: &Map<String, Value>, fields: &Map<String, Value>) -> Result<(), String> {
        let required = rules.get("required").and_then(Value::as_array).into_iter().flatten();
        if let Some(name) = required.filter_map(Value::as_str).find(|name| !fields.contains_key(*name)) {
            return Err(self.says(&format!("lacks the field {name}")));
        }
        let known = rules.get("properties").and_then(Value::as_object);
        let closed = rules.get("additionalProperties") == Some(&Value::Bool(false));
        for (name, value) in fields {
            match known.and_then(|known| known.get(name)) {
                Some(schema) => self.below(&format!(".{name}")).check(schema, value)?,
                None if closed => {
                    return Err(self.says(&format!("has the unknown field {}", shown(name))));
                }
                None => {}
            }
        }
        Ok(())
    }

    fn array(&self, rules: &Map<String, Value>, items: &[Value]) -> Result<(), String> {
        self.range(rules, ["minItems", "maxItems"], items.len() as f64)?;
        let Some(schema) = rules.get("items") else { return Ok(()) };
        items.iter().enumerate().try_for_each(|(at, item)| self.below(&format!("[{at}]")).check(schema, item))
    }

    fn range(&self, rules: &Map<String, Value>, names: [&str; 2], have: f64) -> Result<(), String> {
        let [least, most] = names;
        let bound = |name: &str| rules.get(name).and_then(Value::as_f64);
        let what = match least {
            "minLength" => " characters",
            "minItems" => " items",
            _ => "",
        };
        match (bound(least), bound(most)) {
            (Some(bound), _) if have < bound => Err(self.says(&format!("must be at least {bound}{what}"))),
            (_, Some(bound)) if have > bound => Err(self.says(&format!("must be at most {bound}{what}"))),
            _ => Ok(()),
        }
    }

    fn below(&self, step: &str) -> Self {
        let path = format!("{}{step}", self.path).trim_start_matches('.').to_owned();
        Self { path, depth: self.depth + 1 }
    }

    fn says(&self, what: &str) -> String {
        let path = if self.path.is_empty() { "the answer" } else { &self.path };
        format!("{path} {what}")
    }
}

fn is_kind(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// A name that the model chose, shortened and without control characters.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(40).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["line", "edits"],
            "properties": {
                "line": {"type": "integer", "minimum": 1, "maximum": 99},
                "risk": {"enum": ["low", "high"]},
                "note": {"type": ["string", "null"], "minLength": 2, "maxLength": 4},
                "edits": {"type": "array", "minItems": 1, "maxItems": 2, "items": {
                    "type": "object", "properties": {"search": {"type": "string"}}, "required": ["search"]
                }},
            }
        })
    }

    #[test]
    fn accepts_what_fits() {
        for value in [
            json!({"line": 1, "edits": [{"search": ""}]}),
            json!({"line": 3, "edits": [{"search": "x", "more": 1}], "risk": "low", "note": "äöüß"}),
            json!({"line": 99, "edits": [{"search": "x"}, {"search": "y"}], "note": null}),
        ] {
            assert_eq!(check(&schema(), &value), Ok(()), "{value}");
        }
    }

    #[test]
    fn names_the_place_and_the_reason_of_what_does_not() {
        for (value, reason) in [
            (json!([]), "the answer must be of type object"),
            (json!({"line": 1}), "the answer lacks the field edits"),
            (json!({"line": 0, "edits": [{"search": ""}]}), "line must be at least 1"),
            (json!({"line": 1.5, "edits": [{"search": ""}]}), "line must be of type integer"),
            (json!({"line": 1, "edits": []}), "edits must be at least 1 items"),
            (json!({"line": 1, "edits": [{}]}), "edits[0] lacks the field search"),
            (json!({"line": 1, "edits": [{"search": 1}]}), "edits[0].search must be of type string"),
            (
                json!({"line": 1, "edits": [{"search": ""}], "x\u{1b}": 1}),
                "the answer has the unknown field x",
            ),
            (
                json!({"line": 1, "edits": [{"search": ""}], "risk": "mid"}),
                "risk must be one of \"low\", \"high\"",
            ),
            (
                json!({"line": 1, "edits": [{"search": ""}], "note": "abcde"}),
                "note must be at most 4 characters",
            ),
        ] {
            assert_eq!(check(&schema(), &value), Err(reason.to_owned()));
        }
    }

    #[test]
    fn refuses_a_schema_that_it_would_only_half_check() {
        let reason = check(&json!({"type": "string", "pattern": "^a"}), &json!("b")).unwrap_err();
        assert_eq!(reason, "the answer has a schema with the unknown keyword pattern");
    }

    proptest! {
        #[test]
        fn bounds_hold_for_every_text(text in ".{0,12}") {
            let fits = check(&json!({"type": "string", "maxLength": 6}), &json!(text)).is_ok();
            prop_assert_eq!(fits, text.chars().count() <= 6);
        }
    }
}
