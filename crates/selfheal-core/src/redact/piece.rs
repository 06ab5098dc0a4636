//! JSON documents built from redacted texts, so that a request body is redacted by construction.

use super::Redacted;
use crate::image::Image;

/// A part of a JSON document. There is no way to put free text in.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A redacted text, written as a string.
    Text(Redacted),
    /// JSON that [`super::Redactor::json`] made, written as it is; what is not JSON is written as a string.
    Json(Redacted),
    /// A text that is part of the program.
    Fixed(&'static str),
    /// A picture in base64, with words of the program before it. It cannot be redacted: whoever writes one has asked
    /// whether data may be sent there.
    Image(&'static str, Image),
    /// A number.
    Number(serde_json::Number),
    /// True or false.
    Flag(bool),
    /// A list.
    List(Vec<Piece>),
    /// An object; its keys are part of the program and stay in this order.
    Object(Vec<(&'static str, Piece)>),
}

/// Writes a piece at the end of `out`.
pub(super) fn write(piece: &Piece, out: &mut String) {
    match piece {
        Piece::Text(text) => string(text.as_str(), out),
        Piece::Json(json) if is_json(json.as_str()) => out.push_str(json.as_str()),
        Piece::Json(text) => string(text.as_str(), out),
        Piece::Fixed(text) => string(text, out),
        Piece::Image(before, image) => string(&format!("{before}{}", image.base64()), out),
        Piece::Number(number) => out.push_str(&number.to_string()),
        Piece::Flag(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Piece::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(at, out);
                write(item, out);
            }
            out.push(']');
        }
        Piece::Object(fields) => {
            out.push('{');
            for (at, (key, item)) in fields.iter().enumerate() {
                separate(at, out);
                string(key, out);
                out.push(':');
                write(item, out);
            }
            out.push('}');
        }
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn separate(at: usize, out: &mut String) {
    if at > 0 {
        out.push(',');
    }
}

fn string(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Redactor;

    #[test]
    fn writes_what_serde_reads() {
        let redactor = Redactor::default();
        let schema = redactor.json(&serde_json::json!({"type": "object"})).unwrap();
        let body = Redacted::json_of(&Piece::Object(vec![
            ("name", Piece::Text(redactor.text("a \"b\"\n"))),
            ("schema", Piece::Json(schema)),
            ("broken", Piece::Json(redactor.text("{\"a\":"))),
            ("list", Piece::List(vec![Piece::Fixed("x"), Piece::Number(3.into()), Piece::Flag(true)])),
        ]));
        let read: serde_json::Value = serde_json::from_str(body.as_str()).unwrap();
        assert_eq!(
            read,
            serde_json::json!({
                "name": "a \"b\"\n",
                "schema": {"type": "object"},
                "broken": "{\"a\":",
                "list": ["x", 3, true],
            })
        );
        assert!(body.as_str().starts_with("{\"name\":"), "keys keep their order");
    }
}
