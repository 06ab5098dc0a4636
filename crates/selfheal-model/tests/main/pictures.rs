//! Questions about a picture, in the three formats.

use selfheal_core::image::Image;
use selfheal_core::ports::{Form, Model, Question};
use selfheal_core::redact::Redacted;
use selfheal_model::{Config, Provider};
use selfheal_testkit::{ModelServer, Reply};
use serde_json::{Value, json};

use super::{client_with, question};

/// The smallest PNG: one black pixel.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55\0\0\0\nIDATx\x9cc`\0\0\0\x02\0\x01\x48\xaf\xa4\x71\0\0\0\0IEND\xaeB`\x82";

fn text_question() -> Question {
    Question { user: Redacted::fixed("Copy the words."), form: Form::Text, ..question() }
}

/// What goes out for a picture.
fn sent(provider: Provider, reply: Reply) -> (Value, String) {
    let server = ModelServer::start([reply]);
    let (model, _) = client_with(Config { provider, ..Config::new(server.url(), "m") });
    let answer = model.ask_about(&text_question(), &Image::read(PIXEL).unwrap()).unwrap();
    assert_eq!(answer.sent.len(), 1);
    (server.requests().first().unwrap().json(), answer.value.as_str().unwrap().to_owned())
}

#[test]
fn a_picture_goes_out_as_each_format_wants_it() {
    let data = Image::read(PIXEL).unwrap().base64();
    let (body, said) = sent(Provider::OpenAi, Reply::text("seen"));
    let content = json!([
        { "type": "text", "text": "Copy the words." },
        { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{data}") } },
    ]);
    assert_eq!((&body["messages"][1]["content"], said.as_str()), (&content, "seen"));
    let reply = json!({ "content": [{ "type": "text", "text": "seen" }], "stop_reason": "end_turn" });
    let (body, said) = sent(Provider::Anthropic, Reply::body(200, "application/json", &reply.to_string()));
    let content = json!([
        { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } },
        { "type": "text", "text": "Copy the words." },
    ]);
    assert_eq!((&body["messages"][0]["content"], said.as_str()), (&content, "seen"));
    let reply =
        json!({ "candidates": [{ "content": { "parts": [{ "text": "seen" }] }, "finishReason": "STOP" }] });
    let (body, said) = sent(Provider::Gemini, Reply::body(200, "application/json", &reply.to_string()));
    let parts = json!([
        { "inline_data": { "mime_type": "image/png", "data": data } },
        { "text": "Copy the words." },
    ]);
    assert_eq!((&body["contents"][0]["parts"], said.as_str()), (&parts, "seen"));
}

#[test]
fn without_a_picture_the_question_is_a_text() {
    let server = ModelServer::start([Reply::text("fine")]);
    let (model, _) = client_with(Config::new(server.url(), "m"));
    model.ask(&text_question()).unwrap();
    assert_eq!(server.requests()[0].json()["messages"][1]["content"], "Copy the words.");
}
