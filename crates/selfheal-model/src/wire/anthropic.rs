//! `/v1/messages`: Anthropic's own format. An object is asked for as the input of one tool that must be used, which every
//! version of the format has.

use selfheal_core::ports::ModelError;
use selfheal_core::redact::{Piece, Redacted};
use serde::Deserialize;
use serde_json::Value;

use super::{Ask, Misfit, Said, message, not_the_protocol, number, schema_in_words, unusable};
use crate::dialect::{Dialect, Format};
use crate::http::Reply;

/// The body of one call.
pub(super) fn body(ask: &Ask<'_>, dialect: Dialect, misfit: Option<&Misfit>) -> Redacted {
    let mut system = vec![ask.question.system.clone()];
    if dialect.format != Format::Schema {
        system.extend(schema_in_words(ask));
    }
    let mut messages = vec![user(ask)];
    messages.extend(misfit.into_iter().flat_map(|misfit| misfit.messages(ask, "assistant")));
    let mut fields = vec![
        ("model", Piece::Text(ask.model.clone())),
        ("system", system_blocks(Redacted::join(&system, "\n"))),
        ("messages", Piece::List(messages)),
        ("max_tokens", Piece::Number(ask.question.max_tokens.into())),
    ];
    if dialect.temperature
        && let Some(number) = number(ask.question.temperature)
    {
        fields.push(("temperature", Piece::Number(number)));
    }
    if let Some((name, schema)) = ask.object.clone().filter(|_| dialect.format == Format::Schema) {
        let tool = vec![("name", Piece::Text(name.clone())), ("input_schema", Piece::Json(schema))];
        let choice = vec![("type", Piece::Fixed("tool")), ("name", Piece::Text(name))];
        fields.push(("tools", Piece::List(vec![Piece::Object(tool)])));
        fields.push(("tool_choice", Piece::Object(choice)));
    }
    Redacted::json_of(&Piece::Object(fields))
}

/// The question, as a text or, with a picture, as blocks.
fn user(ask: &Ask<'_>) -> Piece {
    let Some(image) = ask.image else { return message("user", ask.question.user.clone()) };
    let source = Piece::Object(vec![
        ("type", Piece::Fixed("base64")),
        ("media_type", Piece::Fixed(image.kind())),
        ("data", Piece::Image("", image.clone())),
    ]);
    let blocks = vec![
        Piece::Object(vec![("type", Piece::Fixed("image")), ("source", source)]),
        Piece::Object(vec![("type", Piece::Fixed("text")), ("text", Piece::Text(ask.question.user.clone()))]),
    ];
    Piece::Object(vec![("role", Piece::Fixed("user")), ("content", Piece::List(blocks))])
}

/// The part that never changes, marked so that the server keeps it from call to call.
fn system_blocks(text: Redacted) -> Piece {
    Piece::List(vec![Piece::Object(vec![
        ("type", Piece::Fixed("text")),
        ("text", Piece::Text(text)),
        ("cache_control", Piece::Object(vec![("type", Piece::Fixed("ephemeral"))])),
    ])])
}

#[derive(Deserialize)]
struct Message {
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    input: Option<Value>,
}

#[derive(Deserialize)]
struct Usage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

/// Reads a successful reply. Thoughts are blocks of their own and are left out.
pub(super) fn read(reply: &Reply, max_tokens: u32) -> Result<Said, ModelError> {
    let Ok(message) = serde_json::from_slice::<Message>(&reply.body) else {
        return unusable(not_the_protocol(reply, "a message"));
    };
    match message.stop_reason.as_deref() {
        Some("max_tokens" | "model_context_window_exceeded") => {
            return Err(ModelError::CutOff { max_tokens });
        }
        Some("refusal") => return Err(ModelError::Refused),
        _ => {}
    }
    let used =
        message.content.iter().find(|block| block.kind == "tool_use").and_then(|block| block.input.as_ref());
    let texts =
        message.content.iter().filter(|block| block.kind == "text").filter_map(|block| block.text.as_deref());
    let text = used.map_or_else(|| texts.collect::<String>(), Value::to_string);
    let usage = message.usage;
    let input = usage.as_ref().and_then(|usage| {
        let kept =
            usage.cache_creation_input_tokens.unwrap_or(0) + usage.cache_read_input_tokens.unwrap_or(0);
        usage.input_tokens.map(|tokens| tokens.saturating_add(kept))
    });
    Ok(Said { text, input_tokens: input, output_tokens: usage.and_then(|usage| usage.output_tokens) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::tests::reply;

    fn said(body: &str) -> Result<Said, ModelError> {
        read(&reply("application/json", body), 9)
    }

    #[test]
    fn reads_tools_and_texts_and_counts() {
        let body = r#"{"content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","name":"d","input":{"a":1}}],
            "stop_reason":"tool_use","usage":{"input_tokens":7,"cache_read_input_tokens":5,"output_tokens":2}}"#;
        let tool = said(body).unwrap();
        assert_eq!(
            tool,
            Said { text: "{\"a\":1}".to_owned(), input_tokens: Some(12), output_tokens: Some(2) }
        );
        let body =
            r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"stop_reason":"end_turn"}"#;
        assert_eq!(said(body).unwrap().text, "ab");
    }

    #[test]
    fn says_what_is_wrong_with_other_answers() {
        assert_eq!(
            said(r#"{"content":[],"stop_reason":"max_tokens"}"#),
            Err(ModelError::CutOff { max_tokens: 9 })
        );
        assert_eq!(said(r#"{"content":[],"stop_reason":"refusal"}"#), Err(ModelError::Refused));
        assert!(said("{}").unwrap_err().to_string().ends_with("is not a message"));
    }
}
