//! The wire formats: what is asked and what comes back, one file a protocol.

mod anthropic;
mod gemini;
mod openai;

use selfheal_core::image::Image;
use selfheal_core::ports::{ModelError, Question};
use selfheal_core::redact::{Piece, Redacted};
use serde_json::{Number, Value};

use crate::config::Provider;
use crate::dialect::Dialect;
use crate::http::Reply;

/// What stays the same over all calls of one question.
pub(crate) struct Ask<'a> {
    pub(crate) question: &'a Question,
    pub(crate) provider: Provider,
    pub(crate) model: Redacted,
    /// The name and the schema of the object that is asked for; none for a text.
    pub(crate) object: Option<(Redacted, Redacted)>,
    /// The picture that the question is about.
    pub(crate) image: Option<&'a Image>,
}

/// An answer that did not fit, and why.
pub(crate) struct Misfit {
    pub(crate) answer: Redacted,
    pub(crate) reason: Redacted,
}

/// What a model said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
}

impl Ask<'_> {
    /// The body of one call.
    pub(crate) fn body(&self, dialect: Dialect, misfit: Option<&Misfit>) -> Redacted {
        match self.provider {
            Provider::OpenAi => openai::body(self, dialect, misfit),
            Provider::Anthropic => anthropic::body(self, dialect, misfit),
            Provider::Gemini => gemini::body(self, dialect, misfit),
        }
    }

    /// Reads a successful reply.
    ///
    /// # Errors
    /// [`ModelError::CutOff`], [`ModelError::Refused`], or [`ModelError::Unusable`] when it is no answer of this
    /// protocol.
    pub(crate) fn read(&self, reply: &Reply) -> Result<Said, ModelError> {
        let most = self.question.max_tokens;
        match self.provider {
            Provider::OpenAi => openai::read(reply, most),
            Provider::Anthropic => anthropic::read(reply, most),
            Provider::Gemini => gemini::read(reply, most),
        }
    }
}

impl Misfit {
    /// The turns that send an answer back.
    fn turns(&self, ask: &Ask<'_>) -> (Option<Redacted>, Redacted) {
        let wanted = match ask.object {
            Some(_) => "Answer again, with one JSON object that fits the schema and nothing else.",
            None => "Answer again, in the form that was asked for.",
        };
        let again = [
            Redacted::fixed("Your answer did not fit, here is why:"),
            self.reason.clone(),
            Redacted::fixed(wanted),
        ];
        // Some servers refuse an empty message.
        let answer = Some(self.answer.clone()).filter(|answer| !answer.as_str().is_empty());
        (answer, Redacted::join(&again, "\n"))
    }

    fn messages(&self, ask: &Ask<'_>, model: &'static str) -> Vec<Piece> {
        let (answer, again) = self.turns(ask);
        let answer = answer.map(|answer| message(model, answer));
        answer.into_iter().chain([message("user", again)]).collect()
    }
}

fn message(role: &'static str, text: Redacted) -> Piece {
    Piece::Object(vec![("role", Piece::Fixed(role)), ("content", Piece::Text(text))])
}

/// The schema as part of the prompt, for servers that take none.
fn schema_in_words(ask: &Ask<'_>) -> Vec<Redacted> {
    let Some((_, schema)) = &ask.object else { return Vec::new() };
    vec![
        Redacted::fixed("Answer with one JSON object, and nothing else, that fits this schema:"),
        schema.clone(),
    ]
}

/// A temperature with two decimals: `0.7_f32` would otherwise go out as 0.699999988079071.
fn number(temperature: f32) -> Option<Number> {
    Number::from_f64((f64::from(temperature) * 100.0).round() / 100.0)
}

fn unusable<T>(reason: impl Into<String>) -> Result<T, ModelError> {
    Err(ModelError::Unusable { reason: reason.into() })
}

fn not_the_protocol(reply: &Reply, what: &str) -> String {
    let kind: String = reply.mime.split(';').next().unwrap_or_default().chars().take(60).collect();
    match kind.trim() {
        "" => "the server's answer is not JSON".to_owned(),
        kind if kind.contains("json") => format!("the server's answer is not {what}"),
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

    pub(super) fn reply(mime: &str, body: &str) -> Reply {
        Reply { status: 200, retry_after: None, mime: mime.to_owned(), body: body.as_bytes().to_vec() }
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
