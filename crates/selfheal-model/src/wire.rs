//! The wire format of `/v1/chat/completions`: what is asked and what comes back.

use selfheal_core::ports::{ModelError, Question};
use selfheal_core::redact::{Piece, Redacted};
use serde::Deserialize;
use serde_json::{Number, Value};

use crate::dialect::{Dialect, Format};
use crate::http::Reply;

/// What stays the same over all calls of one question.
pub(crate) struct Ask<'a> {
    pub(crate) question: &'a Question,
    pub(crate) model: Redacted,
    pub(crate) schema: Redacted,
    pub(crate) schema_name: Redacted,
}

/// An answer that did not fit, and why.
pub(crate) struct Misfit {
    pub(crate) answer: Redacted,
    pub(crate) reason: Redacted,
}

impl Ask<'_> {
    /// The body of one call. What never changes comes first, so that the server can keep it from call to call.
    pub(crate) fn body(&self, dialect: Dialect, misfit: Option<&Misfit>) -> Redacted {
        let mut fields = vec![
            ("model", Piece::Text(self.model.clone())),
            ("messages", Piece::List(self.messages(dialect.format, misfit))),
            (dialect.limit, Piece::Number(self.question.max_tokens.into())),
            ("stream", Piece::Flag(false)),
        ];
        if dialect.temperature
            && let Some(number) = rounded(self.question.temperature)
        {
            fields.push(("temperature", Piece::Number(number)));
        }
        match dialect.format {
            Format::Schema => fields.push(("response_format", self.by_schema())),
            Format::Object => {
                fields.push(("response_format", Piece::Object(vec![("type", Piece::Fixed("json_object"))])))
            }
            Format::Prompt => {}
        }
        Redacted::json_of(&Piece::Object(fields))
    }

    fn messages(&self, format: Format, misfit: Option<&Misfit>) -> Vec<Piece> {
        let mut system = vec![self.question.system.clone()];
        if format != Format::Schema {
            system.push(Redacted::fixed(
                "Answer with one JSON object, and nothing else, that fits this schema:",
            ));
            system.push(self.schema.clone());
        }
        let mut messages = vec![
            message("system", Redacted::join(&system, "\n")),
            message("user", self.question.user.clone()),
        ];
        if let Some(Misfit { answer, reason }) = misfit {
            // Some servers refuse an empty message.
            if !answer.as_str().is_empty() {
                messages.push(message("assistant", answer.clone()));
            }
            let again = [
                Redacted::fixed("Your answer did not fit, here is why:"),
                reason.clone(),
                Redacted::fixed("Answer again, with one JSON object that fits the schema and nothing else."),
            ];
            messages.push(message("user", Redacted::join(&again, "\n")));
        }
        messages
    }

    /// Without `strict`, which makes some servers refuse schemas with bounds; ours checks every bound itself.
    fn by_schema(&self) -> Piece {
        let named = Piece::Object(vec![
            ("name", Piece::Text(self.schema_name.clone())),
            ("schema", Piece::Json(self.schema.clone())),
        ]);
        Piece::Object(vec![("type", Piece::Fixed("json_schema")), ("json_schema", named)])
    }
}

fn message(role: &'static str, text: Redacted) -> Piece {
    Piece::Object(vec![("role", Piece::Fixed(role)), ("content", Piece::Text(text))])
}

/// A temperature with two decimals: `0.7_f32` would otherwise go out as 0.699999988079071.
fn rounded(temperature: f32) -> Option<Number> {
    Number::from_f64((f64::from(temperature) * 100.0).round() / 100.0)
}

/// What a model said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Option<Message>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Value>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

/// Reads a successful reply.
///
/// # Errors
/// [`ModelError::CutOff`], [`ModelError::Refused`], or [`ModelError::Unusable`] when it is no answer of this protocol.
pub(crate) fn read(reply: &Reply, max_tokens: u32) -> Result<Said, ModelError> {
    let unusable = |reason: String| Err(ModelError::Unusable { reason });
    let Ok(completion) = serde_json::from_slice::<Completion>(&reply.body) else {
        return unusable(not_the_protocol(reply));
    };
    let Some(choice) = completion.choices.into_iter().next() else {
        return unusable("the server's answer holds no choice".to_owned());
    };
    match choice.finish_reason.as_deref() {
        Some("length") => return Err(ModelError::CutOff { max_tokens }),
        Some("content_filter") => return Err(ModelError::Refused),
        _ => {}
    }
    let Some(message) = choice.message else {
        return unusable("the server's answer holds no message".to_owned());
    };
    if message.refusal.is_some_and(|words| !words.is_empty()) {
        return Err(ModelError::Refused);
    }
    let usage = completion.usage.unwrap_or(Usage { prompt_tokens: None, completion_tokens: None });
    Ok(Said {
        text: message.content.as_ref().map(content).unwrap_or_default(),
        input_tokens: usage.prompt_tokens,
        output_tokens: usage.completion_tokens,
    })
}

/// The text of a message: a string, or a list of parts with texts.
fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}

fn not_the_protocol(reply: &Reply) -> String {
    let kind: String = reply.mime.split(';').next().unwrap_or_default().chars().take(60).collect();
    match kind.trim() {
        "" => "the server's answer is not JSON".to_owned(),
        kind if kind.contains("json") => "the server's answer is not a chat completion".to_owned(),
        kind => format!("the server answered with {kind} and not JSON; is the address right?"),
    }
}

/// The server's words for an error: the message of a JSON error, the first line of a plain one, nothing of a page.
pub(crate) fn error_message(reply: &Reply) -> String {
    if let Ok(value) = serde_json::from_slice::<Value>(&reply.body) {
        let error = value.get("error").unwrap_or(&value);
        let words = ["message", "detail", "error"].iter().find_map(|key| error.get(key)?.as_str());
        return words.or_else(|| error.as_str()).unwrap_or("no reason given").to_owned();
    }
    let text = String::from_utf8_lossy(&reply.body);
    let text = text.trim();
    if text.is_empty() {
        return "no reason given".to_owned();
    }
    if text.starts_with('<') || reply.mime.contains("html") {
        return "a web page and not an answer of a model server".to_owned();
    }
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(mime: &str, body: &str) -> Reply {
        Reply { status: 200, retry_after: None, mime: mime.to_owned(), body: body.as_bytes().to_vec() }
    }

    fn reason(mime: &str, body: &str) -> String {
        read(&reply(mime, body), 9).unwrap_err().to_string()
    }

    #[test]
    fn reads_texts_and_parts_and_counts() {
        let body = r#"{"choices":[{"finish_reason":"stop","message":{"content":"{}"}}],
            "usage":{"prompt_tokens":7,"completion_tokens":2}}"#;
        let said = read(&reply("application/json", body), 9).unwrap();
        assert_eq!(said, Said { text: "{}".to_owned(), input_tokens: Some(7), output_tokens: Some(2) });
        let body = r#"{"choices":[{"message":{"content":[{"type":"text","text":"{"},{"text":"}"}]}}]}"#;
        assert_eq!(read(&reply("", body), 9).unwrap().text, "{}");
        let body = r#"{"choices":[{"message":{"content":null,"reasoning_content":"hm"}}]}"#;
        assert_eq!(read(&reply("", body), 9).unwrap().text, "");
    }

    #[test]
    fn says_what_is_wrong_with_other_answers() {
        assert_eq!(
            reason("text/html; charset=utf-8", "<html>"),
            "the model's answer cannot be used: the server answered with text/html and not JSON; is the address right?"
        );
        assert!(reason("application/json", "[]").ends_with("is not a chat completion"));
        assert!(reason("application/json", "{}").ends_with("holds no choice"));
        assert!(reason("", "{\"choices\":[{}]}").ends_with("holds no message"));
        assert!(reason("", "\u{0}").ends_with("is not JSON"));
        let body = r#"{"choices":[{"finish_reason":"length","message":{"content":"{}"}}]}"#;
        assert_eq!(read(&reply("", body), 9), Err(ModelError::CutOff { max_tokens: 9 }));
        let body = r#"{"choices":[{"message":{"content":null,"refusal":"no"}}]}"#;
        assert_eq!(read(&reply("", body), 9), Err(ModelError::Refused));
    }

    #[test]
    fn finds_the_words_of_errors() {
        for (body, words) in [
            (r#"{"error":{"message":"bad key","code":401}}"#, "bad key"),
            (r#"{"error":"model 'x' not found"}"#, "model 'x' not found"),
            (r#"{"detail":"no such route"}"#, "no such route"),
            ("upstream timed out\nmore", "upstream timed out"),
            (" <!doctype html>", "a web page and not an answer of a model server"),
            ("", "no reason given"),
        ] {
            assert_eq!(error_message(&reply("", body)), words);
        }
    }
}
