//! Answers that can be used, as they are or after one word about what was wrong.

use selfheal_core::ports::{Model, ModelError};
use selfheal_core::redact::Redacted;
use selfheal_model::{Config, Key};
use selfheal_testkit::{ModelServer, Reply};
use serde_json::{Value, json};

use super::{bodies, client, client_with, question, schema};

fn red() -> Value {
    json!({"colour": "red"})
}

fn sent(answer: &[Redacted]) -> Vec<String> {
    answer.iter().map(|body| body.as_str().to_owned()).collect()
}

#[test]
fn a_good_answer_takes_one_call_with_a_schema() {
    let server = ModelServer::start([Reply::json(&red())]);
    let (model, _) = client(format!("{}/v1/", server.url()));
    let answer = model.ask(&question()).unwrap();
    assert_eq!((answer.value, answer.calls), (red(), 1));
    assert_eq!((answer.input_tokens, answer.output_tokens), (100, 20));
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/chat/completions");
    assert_eq!(requests[0].header("authorization"), None);
    let body = requests[0].json();
    assert_eq!(body["model"], "test-model");
    assert_eq!(body["messages"][0]["role"], "system");
    assert_eq!(body["response_format"]["type"], "json_schema");
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema());
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&json!(50), &json!(0.7)));
    assert_eq!(sent(&answer.sent), bodies(&server), "what is recorded is what went out, byte for byte");
}

#[test]
fn the_key_goes_into_one_header_and_nowhere_else() {
    let server = ModelServer::start([Reply::status(401, "wrong key made-up-key-1234, go away")]);
    let key = Some(Key::new("made-up-key-1234\n"));
    let (model, _) = client_with(Config { key, ..Config::new(server.url(), "m") });
    let error = model.ask(&question()).unwrap_err();
    let message = "wrong key [secret], go away".to_owned();
    assert_eq!(error, ModelError::Status { code: 401, message });
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer made-up-key-1234"));
    assert!(!format!("{model:?}").contains("made-up-key"));
}

#[test]
fn fences_and_thoughts_are_read_at_once() {
    for reply in [Reply::fenced(&red()), Reply::think(&red())] {
        let server = ModelServer::start([reply]);
        let answer = client(server.url()).0.ask(&question()).unwrap();
        assert_eq!((answer.value, answer.calls), (red(), 1));
    }
}

#[test]
fn an_answer_that_does_not_fit_gets_one_more_chance_with_the_reason() {
    for (bad, reason) in [
        (Reply::nonsense(), "holds"),
        (Reply::empty(), "the answer is empty"),
        (Reply::json(&json!({"color": "red"})), "lacks the field colour"),
        (Reply::json(&json!({"colour": "a very dark red"})), "colour must be at most 10 characters"),
    ] {
        let server = ModelServer::start([bad, Reply::json(&red())]);
        let answer = client(server.url()).0.ask(&question()).unwrap();
        assert_eq!((answer.value, answer.calls), (red(), 2));
        assert_eq!((answer.input_tokens, answer.output_tokens), (200, 40));
        assert_eq!(sent(&answer.sent), bodies(&server));
        let second = server.requests()[1].json();
        let messages = second["messages"].as_array().unwrap().clone();
        let told = messages.last().unwrap()["content"].as_str().unwrap().to_owned();
        assert!(told.contains(reason), "{told}");
        assert!(messages.iter().all(|message| message["content"] != ""), "no empty message");
    }
}

#[test]
fn a_second_misfit_is_the_end() {
    for bad in [Reply::nonsense(), Reply::empty(), Reply::json(&json!({"colour": 3}))] {
        let server = ModelServer::start([bad.clone(), bad, Reply::json(&red())]);
        let error = client(server.url()).0.ask(&question()).unwrap_err();
        assert!(matches!(error, ModelError::Unusable { .. }), "{error}");
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn a_refused_answer_is_not_asked_for_again_and_a_cut_one_once() {
    let server = ModelServer::start([Reply::refusal(), Reply::json(&red())]);
    assert_eq!(client(server.url()).0.ask(&question()), Err(ModelError::Refused));
    assert_eq!(server.requests().len(), 1);
    // What looks whole may be cut off, too.
    for text in ["{\"colour\": \"re", "{\"colour\": \"red\"}"] {
        let server = ModelServer::start(vec![Reply::cut_off(text); 3]);
        assert_eq!(client(server.url()).0.ask(&question()), Err(ModelError::CutOff { max_tokens: 50 }));
        assert_eq!(server.requests().len(), 2);
        let server = ModelServer::start([Reply::cut_off(text), Reply::json(&red())]);
        assert_eq!(client(server.url()).0.ask(&question()).unwrap().value, red());
        assert!(server.requests()[1].body.contains("cut off at 50 tokens"));
    }
}

#[test]
fn a_server_without_schemas_is_asked_in_its_own_way_from_then_on() {
    let reject = |words: &str| Reply::status(400, words);
    let server = ModelServer::start([
        reject("Unsupported parameter: use 'max_completion_tokens'"),
        reject("temperature is fixed for this model"),
        reject("response_format: json_schema is unknown"),
        Reply::json(&red()),
        Reply::json(&red()),
    ]);
    let (model, waits) = client(server.url());
    assert_eq!(model.ask(&question()).unwrap().calls, 4);
    assert_eq!(model.ask(&question()).unwrap().calls, 1);
    let body = server.requests()[4].json();
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
    assert_eq!(body["max_completion_tokens"], 50);
    assert_eq!((body.get("max_tokens"), body.get("temperature")), (None, None));
    let system = body["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains("\"maxLength\":10"), "the schema stands in the prompt: {system}");
    assert!(waits.lock().unwrap().is_empty(), "nothing to wait for");
}
