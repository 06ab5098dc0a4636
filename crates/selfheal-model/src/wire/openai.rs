//! `/v1/chat/completions`: what OpenAI, llama-server, Ollama, vLLM and many others speak.

use selfheal_core::ports::ModelError;
use selfheal_core::redact::{Piece, Redacted};
use serde::Deserialize;
use serde_json::Value;

use super::{Ask, Misfit, Said, message, not_the_protocol, number, schema_in_words, unusable};
use crate::dialect::{Dialect, Format};
use crate::http::Reply;

/// The body of one call. What never changes comes first, so that the server can keep it from call to call.
pub(super) fn body(ask: &Ask<'_>, dialect: Dialect, misfit: Option<&Misfit>) -> Redacted {
    let mut fields = vec![
        ("model", Piece::Text(ask.model.clone())),
        ("messages", Piece::List(messages(ask, dialect.format, misfit))),
        (dialect.limit, Piece::Number(ask.question.max_tokens.into())),
        ("stream", Piece::Flag(false)),
    ];
    if dialect.temperature
        && let Some(number) = number(ask.question.temperature)
    {
        fields.push(("temperature", Piece::Number(number)));
    }
    if let Some(format) = response_format(ask, dialect.format) {
        fields.push(("response_format", format));
    }
    Redacted::json_of(&Piece::Object(fields))
}

/// Without `strict`, which makes some servers refuse schemas with bounds; ours checks every bound itself.
fn response_format(ask: &Ask<'_>, format: Format) -> Option<Piece> {
    let (name, schema) = ask.object.clone()?;
    Some(match format {
        Format::Schema => {
            let named = Piece::Object(vec![("name", Piece::Text(name)), ("schema", Piece::Json(schema))]);
            Piece::Object(vec![("type", Piece::Fixed("json_schema")), ("json_schema", named)])
        }
        Format::Object => Piece::Object(vec![("type", Piece::Fixed("json_object"))]),
        Format::Prompt => return None,
    })
}

fn messages(ask: &Ask<'_>, format: Format, misfit: Option<&Misfit>) -> Vec<Piece> {
    let mut system = vec![ask.question.system.clone()];
    if format != Format::Schema {
        system.extend(schema_in_words(ask));
    }
    let mut messages = vec![message("system", Redacted::join(&system, "\n")), user(ask)];
    messages.extend(misfit.into_iter().flat_map(|misfit| misfit.messages(ask, "assistant")));
    messages
}

/// The question, as a text or, with a picture, as a list of parts.
fn user(ask: &Ask<'_>) -> Piece {
    let Some(image) = ask.image else { return message("user", ask.question.user.clone()) };
    let before = match image.kind() {
        "image/png" => "data:image/png;base64,",
        _ => "data:image/jpeg;base64,",
    };
    let url = Piece::Object(vec![("url", Piece::Image(before, image.clone()))]);
    let parts = vec![
        Piece::Object(vec![("type", Piece::Fixed("text")), ("text", Piece::Text(ask.question.user.clone()))]),
        Piece::Object(vec![("type", Piece::Fixed("image_url")), ("image_url", url)]),
    ];
    Piece::Object(vec![("role", Piece::Fixed("user")), ("content", Piece::List(parts))])
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
pub(super) fn read(reply: &Reply, max_tokens: u32) -> Result<Said, ModelError> {
    let Ok(completion) = serde_json::from_slice::<Completion>(&reply.body) else {
        return unusable(not_the_protocol(reply, "a chat completion"));
    };
    let Some(choice) = completion.choices.into_iter().next() else {
        return unusable("the server's answer holds no choice");
    };
    match choice.finish_reason.as_deref() {
        Some("length") => return Err(ModelError::CutOff { max_tokens }),
        Some("content_filter") => return Err(ModelError::Refused),
        _ => {}
    }
    let Some(message) = choice.message else {
        return unusable("the server's answer holds no message");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::tests::reply;

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
}
