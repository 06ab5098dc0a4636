//! `models/NAME:generateContent`: Google's own format.

use selfheal_core::ports::ModelError;
use selfheal_core::redact::{Piece, Redacted};
use serde::Deserialize;

use super::{Ask, Misfit, Said, not_the_protocol, number, schema_in_words, unusable};
use crate::dialect::{Dialect, Format};
use crate::http::Reply;

/// The body of one call.
pub(super) fn body(ask: &Ask<'_>, dialect: Dialect, misfit: Option<&Misfit>) -> Redacted {
    let mut system = vec![ask.question.system.clone()];
    if dialect.format != Format::Schema {
        system.extend(schema_in_words(ask));
    }
    let mut contents = vec![user(ask)];
    if let Some(misfit) = misfit {
        let (answer, again) = misfit.turns(ask);
        contents.extend(answer.map(|answer| turn("model", answer)));
        contents.push(turn("user", again));
    }
    Redacted::json_of(&Piece::Object(vec![
        ("systemInstruction", Piece::Object(vec![("parts", parts(Redacted::join(&system, "\n")))])),
        ("contents", Piece::List(contents)),
        ("generationConfig", settings(ask, dialect)),
    ]))
}

fn settings(ask: &Ask<'_>, dialect: Dialect) -> Piece {
    let mut fields = vec![("maxOutputTokens", Piece::Number(ask.question.max_tokens.into()))];
    if dialect.temperature
        && let Some(number) = number(ask.question.temperature)
    {
        fields.push(("temperature", Piece::Number(number)));
    }
    if let Some((_, schema)) = ask.object.clone().filter(|_| dialect.format != Format::Prompt) {
        fields.push(("responseMimeType", Piece::Fixed("application/json")));
        if dialect.format == Format::Schema {
            fields.push(("responseJsonSchema", Piece::Json(schema)));
        }
    }
    Piece::Object(fields)
}

/// The question, behind its picture where there is one.
fn user(ask: &Ask<'_>) -> Piece {
    let Some(image) = ask.image else { return turn("user", ask.question.user.clone()) };
    let data = vec![("mime_type", Piece::Fixed(image.kind())), ("data", Piece::Image("", image.clone()))];
    let parts = vec![
        Piece::Object(vec![("inline_data", Piece::Object(data))]),
        Piece::Object(vec![("text", Piece::Text(ask.question.user.clone()))]),
    ];
    Piece::Object(vec![("role", Piece::Fixed("user")), ("parts", Piece::List(parts))])
}

fn turn(role: &'static str, text: Redacted) -> Piece {
    Piece::Object(vec![("role", Piece::Fixed(role)), ("parts", parts(text))])
}

fn parts(text: Redacted) -> Piece {
    Piece::List(vec![Piece::Object(vec![("text", Piece::Text(text))])])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Generated {
    #[serde(default)]
    candidates: Vec<Candidate>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Usage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Content {
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

/// Reads a successful reply. Parts that are thoughts are left out, and paid for.
pub(super) fn read(reply: &Reply, max_tokens: u32) -> Result<Said, ModelError> {
    let Ok(generated) = serde_json::from_slice::<Generated>(&reply.body) else {
        return unusable(not_the_protocol(reply, "a generated content"));
    };
    if generated.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some()) {
        return Err(ModelError::Refused);
    }
    let Some(candidate) = generated.candidates.into_iter().next() else {
        return unusable("the server's answer holds no candidate");
    };
    match candidate.finish_reason.as_deref() {
        None | Some("STOP" | "FINISH_REASON_UNSPECIFIED") => {}
        Some("MAX_TOKENS") => return Err(ModelError::CutOff { max_tokens }),
        Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII") => {
            return Err(ModelError::Refused);
        }
        Some(_) => return unusable("the model ended its answer for a reason of its own"),
    }
    let parts = candidate.content.unwrap_or_default().parts.into_iter().filter(|part| !part.thought);
    let usage = generated.usage_metadata;
    let written = usage.as_ref().and_then(|usage| {
        usage
            .candidates_token_count
            .map(|tokens| tokens.saturating_add(usage.thoughts_token_count.unwrap_or(0)))
    });
    Ok(Said {
        text: parts.filter_map(|part| part.text).collect(),
        input_tokens: usage.and_then(|usage| usage.prompt_token_count),
        output_tokens: written,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::tests::reply;

    fn said(body: &str) -> Result<Said, ModelError> {
        read(&reply("application/json", body), 9)
    }

    #[test]
    fn reads_texts_without_thoughts_and_counts() {
        let body = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"{}"}]},
            "finishReason":"STOP"}],
            "usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2,"thoughtsTokenCount":3}}"#;
        let read = said(body).unwrap();
        assert_eq!(read, Said { text: "{}".to_owned(), input_tokens: Some(7), output_tokens: Some(5) });
    }

    #[test]
    fn says_what_is_wrong_with_other_answers() {
        for (reason, error) in
            [("MAX_TOKENS", ModelError::CutOff { max_tokens: 9 }), ("SAFETY", ModelError::Refused)]
        {
            let body = format!(r#"{{"candidates":[{{"finishReason":"{reason}"}}]}}"#);
            assert_eq!(said(&body), Err(error));
        }
        assert_eq!(said(r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#), Err(ModelError::Refused));
        assert!(said("{}").unwrap_err().to_string().ends_with("holds no candidate"));
        assert!(said("[]").unwrap_err().to_string().ends_with("is not a generated content"));
    }
}
