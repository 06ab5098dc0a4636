//! Servers that are down, slow, broken or something else altogether: a clear error, and no more calls than may help.

use std::time::Duration;

use selfheal_core::ports::{Model, ModelError};
use selfheal_model::{Client, Config};
use selfheal_testkit::{ModelServer, Reply};
use serde_json::json;

use super::{client, client_with, question};

#[test]
fn a_server_that_is_down_is_named() {
    let url = ModelServer::down();
    let (model, waits) = client(url.clone());
    let error = model.ask(&question()).unwrap_err();
    assert_eq!(error, ModelError::Unreachable { url, reason: "connection refused".to_owned() });
    assert!(waits.lock().unwrap().is_empty());
}

#[test]
fn a_server_that_says_nothing_is_left_at_the_deadline() {
    let server = ModelServer::start([Reply::silence()]);
    let total_timeout = Duration::from_millis(300);
    let (model, _) = client_with(Config { total_timeout, ..Config::new(server.url(), "m") });
    assert_eq!(model.ask(&question()), Err(ModelError::TimedOut { seconds: 1 }));
}

/// A server that begins and stalls is given up long before the question's own time is over.
#[test]
fn a_server_that_stalls_is_left_when_it_is_idle_for_too_long() {
    let server = ModelServer::start([Reply::stall()]);
    let idle_timeout = Some(Duration::from_millis(300));
    let total_timeout = Duration::from_secs(86_400);
    let (model, _) = client_with(Config { idle_timeout, total_timeout, ..Config::new(server.url(), "m") });
    let error = model.ask(&question()).unwrap_err();
    assert!(matches!(error, ModelError::TimedOut { .. }), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_slow_answer_in_time_is_an_answer() {
    let server =
        ModelServer::start([Reply::json(&json!({"colour": "red"})).slow(Duration::from_millis(100))]);
    assert_eq!(client(server.url()).0.ask(&question()).unwrap().calls, 1);
}

#[test]
fn passing_errors_are_waited_out() {
    for code in [408, 429, 500, 503] {
        let server = ModelServer::start([
            Reply::status(code, "busy").retry_after(7),
            Reply::json(&json!({"colour": "red"})),
        ]);
        let (model, waits) = client(server.url());
        assert_eq!(model.ask(&question()).unwrap().calls, 2);
        assert_eq!(*waits.lock().unwrap(), [Duration::from_secs(7)], "as long as the server asks");
    }
}

#[test]
fn waiting_ends_after_the_repetitions_or_when_time_or_patience_is_over() {
    let busy = || Reply::status(503, "busy");
    let error = ModelError::Status { code: 503, message: "busy".to_owned() };
    let server = ModelServer::start([busy(), busy(), busy(), busy()]);
    let (model, waits) = client(server.url());
    assert_eq!(model.ask(&question()), Err(error.clone()));
    assert_eq!(server.requests().len(), 3);
    assert_eq!(*waits.lock().unwrap(), [500, 1_000].map(Duration::from_millis));

    let server = ModelServer::start([busy().retry_after(3_600)]);
    let (model, waits) = client(server.url());
    assert_eq!(model.ask(&question()), Err(error.clone()), "the wait is longer than the question may take");
    assert!(waits.lock().unwrap().is_empty());

    let server = ModelServer::start([busy(), busy()]);
    let model = Client::new(Config::new(server.url(), "m")).unwrap().with_wait(|_| false);
    assert_eq!(model.ask(&question()), Err(error), "told to stop");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn lasting_errors_are_not_repeated() {
    for code in [400, 401, 403, 404, 501] {
        let server = ModelServer::start([Reply::status(code, "no"), Reply::json(&json!({"colour": "red"}))]);
        let error = client(server.url()).0.ask(&question()).unwrap_err();
        assert_eq!(error, ModelError::Status { code, message: "no".to_owned() });
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_lost_connection_is_tried_again() {
    for lost in [Reply::hang_up(), Reply::break_off()] {
        let server = ModelServer::start([lost.clone(), Reply::json(&json!({"colour": "red"}))]);
        assert_eq!(client(server.url()).0.ask(&question()).unwrap().calls, 2);
        let server = ModelServer::start([lost.clone(), lost.clone(), lost]);
        let error = client(server.url()).0.ask(&question()).unwrap_err();
        assert!(matches!(error, ModelError::Unreachable { .. }), "{error}");
        assert_eq!(server.requests().len(), 3);
    }
}

#[test]
fn pages_and_other_strange_answers_have_a_plain_reason() {
    let page = "<!doctype html><title>Log in</title>";
    for (reply, words) in [
        (
            Reply::body(200, "text/html; charset=utf-8", page),
            "the model's answer cannot be used: the server answered with text/html and not JSON; is the address right?",
        ),
        (
            Reply::body(404, "text/html", page),
            "the model server answered with status 404: a web page and not an answer of a model server",
        ),
        (
            Reply::body(302, "text/plain", "").header("Location: http://127.0.0.1:1/elsewhere"),
            "the model server answered with status 302: no reason given",
        ),
        (
            Reply::body(200, "application/json", "{\"choices\": []}"),
            "the model's answer cannot be used: the server's answer holds no choice",
        ),
        (
            Reply::body(200, "application/json", &" ".repeat(5 * 1024 * 1024)),
            "the model's answer cannot be used: the server's answer is too large",
        ),
    ] {
        let server = ModelServer::start(vec![reply; 3]);
        assert_eq!(client(server.url()).0.ask(&question()).unwrap_err().to_string(), words);
    }
}

#[test]
fn an_error_never_holds_the_question() {
    let quoted = format!("cannot read: \"{}\"", question().user);
    for code in [400, 500] {
        let server = ModelServer::start(vec![Reply::status(code, &quoted); 3]);
        let error = client(server.url()).0.ask(&question()).unwrap_err().to_string();
        assert!(!error.contains("lighthouse"), "{error}");
    }
}

#[test]
fn a_server_without_tls_is_not_spoken_to_securely() {
    let server = ModelServer::start([Reply::json(&json!({"colour": "red"}))]);
    let url = server.url().replace("http://", "https://");
    // Without certificates on this machine it is refused even earlier.
    let connect_timeout = Duration::from_millis(200);
    let config = Config { connect_timeout, ..Config::new(url, "m") };
    let error = Client::new(config).and_then(|model| model.with_wait(|_| true).ask(&question()));
    assert!(matches!(error, Err(ModelError::Unreachable { .. })), "{error:?}");
    assert!(server.requests().is_empty());
}

#[test]
fn addresses_that_are_none_are_refused_before_anything_is_sent() {
    for url in ["", "localhost:8080", "ftp://host", "http://", "file:///etc/passwd"] {
        assert!(matches!(Client::new(Config::new(url, "m")), Err(ModelError::Unreachable { .. })), "{url}");
    }
}
