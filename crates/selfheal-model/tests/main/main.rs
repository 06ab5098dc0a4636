//! The client against a server on the wire, well-behaved and not.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod answers;
mod failures;
mod limits;
mod pictures;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use selfheal_core::ports::{Form, Question};
use selfheal_core::redact::{Redacted, Redactor};
use selfheal_model::{Client, Config};
use selfheal_testkit::ModelServer;
use serde_json::json;

fn schema() -> serde_json::Value {
    json!({
        "type": "object",
        "required": ["colour"],
        "additionalProperties": false,
        "properties": {"colour": {"type": "string", "maxLength": 10}},
    })
}

/// What the test asks: one object with a bounded string.
fn question() -> Question {
    Question {
        system: Redacted::fixed("Answer with a word for the colour."),
        user: Redactor::default().text("What colour is the lighthouse on the northern pier of the harbour?"),
        form: Form::Object { name: "colour".to_owned(), schema: schema() },
        max_tokens: 50,
        temperature: 0.7,
    }
}

/// A client that does not really wait between repetitions, and the waits that it was told.
fn client(url: String) -> (Client, Arc<Mutex<Vec<Duration>>>) {
    client_with(Config::new(url, "test-model"))
}

fn client_with(config: Config) -> (Client, Arc<Mutex<Vec<Duration>>>) {
    let waits = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&waits);
    let client = Client::new(config).unwrap().with_wait(move |wait| {
        told.lock().unwrap().push(wait);
        true
    });
    (client, waits)
}

/// The bodies of all requests as they came in.
fn bodies(server: &ModelServer) -> Vec<String> {
    server.requests().into_iter().map(|request| request.body).collect()
}
