//! What a server says in the body of its answer: JSON and XML that a client printed among its own words.

use serde_json::Value;

use crate::parsers::{bounded, cut};

/// The longest body that is read.
const LONGEST: usize = 16 * 1024;
/// How many lines may begin one.
const MOST: usize = 40;
/// How deep a message may lie.
const DEEP: usize = 5;
/// Where services put their message, the most telling first.
const KEYS: [&str; 9] = [
    "message",
    "error_description",
    "detail",
    "details",
    "reason",
    "errorMessage",
    "error",
    "title",
    "errors",
];
/// The same in XML.
const ELEMENTS: [&str; 6] = ["Message", "message", "faultstring", "Detail", "detail", "title"];

/// The message in the first body of an output that has one.
#[must_use]
pub fn message(output: &str) -> Option<String> {
    let starts = output.match_indices(['{', '<', '[']).filter(|(at, _)| {
        let before = output.get(..*at).unwrap_or_default();
        before.is_empty() || before.ends_with('\n') || before.ends_with(' ')
    });
    starts.take(MOST).find_map(|(at, _)| {
        let body = cut(output.get(at..)?, LONGEST);
        if body.starts_with('<') { in_xml(body) } else { in_json(body) }
    })
}

fn in_json(body: &str) -> Option<String> {
    let first = serde_json::Deserializer::from_str(body).into_iter::<Value>().next()?.ok()?;
    said(&first, DEEP).map(|text| bounded(text.trim()))
}

fn said(value: &Value, depth: usize) -> Option<&str> {
    match value {
        Value::Object(fields) if depth > 0 => {
            let told = KEYS.iter().filter_map(|key| fields.get(*key));
            told.clone()
                .find_map(Value::as_str)
                .filter(|text| !text.is_empty())
                .or_else(|| told.chain(fields.values()).find_map(|inner| said(inner, depth - 1)))
        }
        Value::Array(items) if depth > 0 => {
            items.iter().take(3).find_map(|item| item.as_str().or_else(|| said(item, depth - 1)))
        }
        _ => None,
    }
}

fn in_xml(body: &str) -> Option<String> {
    ELEMENTS.iter().find_map(|name| {
        let (_, rest) = body.split_once(&format!("<{name}>"))?;
        let (text, _) = rest.split_once(&format!("</{name}>"))?;
        let text = text.trim();
        (!text.is_empty() && !text.contains('<')).then(|| bounded(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_own_words_are_found() {
        for (output, expected) in [
            (
                "curl: (22) error: 422\n{\"error\": {\"code\": 422, \"message\": \"the quota is used up\"}}\n",
                "the quota is used up",
            ),
            ("{\"errors\":[{\"detail\":\"no such tenant\"}]}", "no such tenant"),
            ("{\"error\":\"invalid_grant\",\"error_description\":\"token expired\"}", "token expired"),
            (
                "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>\n",
                "Access Denied",
            ),
            ("<html><head><title>502 Bad Gateway</title></head></html>", "502 Bad Gateway"),
        ] {
            assert_eq!(message(output).as_deref(), Some(expected), "{output}");
        }
        assert_eq!(message("cp: cannot stat 'x'\n{ broken\n< redirected"), None);
        assert_eq!(message("{\"total\": 5}"), None);
    }

    #[test]
    fn hostile_bodies_take_no_time() {
        let _ = message(&"[".repeat(100_000));
        let _ = message(&"{\"a\":".repeat(50_000));
        let _ = message(&" <".repeat(100_000));
    }
}
