//! Budgets, and the record of what goes out.

use std::sync::{Arc, Mutex};

use selfheal_core::ports::{Model, ModelError};
use selfheal_core::usage::{Caps, Price, Usage};
use selfheal_model::{Budget, Client, Config};
use selfheal_testkit::{ModelServer, Reply};
use serde_json::json;

use super::{bodies, client, question};

#[test]
fn a_call_that_could_exceed_the_budget_is_not_made() {
    let server = ModelServer::start(vec![Reply::json(&json!({"colour": "red"})); 5]);
    let budget = Arc::new(Budget::new(Caps { tokens: Some(500), ..Caps::default() }));
    let model = client(server.url()).0.with_budget(Arc::clone(&budget));
    let mut answers = 0;
    let error = loop {
        match model.ask(&question()) {
            Ok(_) => answers += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error, ModelError::Budget { limit: "500 tokens an incident".to_owned() });
    assert_eq!(budget.spent().tokens(), 120 * answers, "what the server counted");
    assert!(answers > 0 && server.requests().len() as u64 == answers);
}

#[test]
fn what_brought_no_answer_is_given_back_and_a_lost_question_counts() {
    let budget = Arc::new(Budget::default());
    let model = client(ModelServer::down()).0.with_budget(Arc::clone(&budget));
    assert!(model.ask(&question()).is_err());
    assert_eq!(budget.spent().tokens(), 0);
    let server = ModelServer::start(vec![Reply::status(401, "no")]);
    assert!(client(server.url()).0.with_budget(Arc::clone(&budget)).ask(&question()).is_err());
    assert_eq!(budget.spent().tokens(), 0);
    let server = ModelServer::start(vec![Reply::hang_up(); 3]);
    assert!(client(server.url()).0.with_budget(Arc::clone(&budget)).ask(&question()).is_err());
    assert!(budget.spent().tokens() > 0);
}

#[test]
fn every_body_is_shown_before_it_goes_even_when_no_answer_comes() {
    let server = ModelServer::start(vec![Reply::status(500, "no"); 3]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    let model = Client::new(Config::new(server.url(), "m"))
        .unwrap()
        .with_wait(|_| true)
        .with_witness(move |body| record.lock().unwrap().push(body.as_str().to_owned()));
    assert!(model.ask(&question()).is_err());
    assert_eq!(*seen.lock().unwrap(), bodies(&server));
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn money_calls_and_days_are_counted_and_capped_before_the_call() {
    let server = ModelServer::start(vec![Reply::json(&json!({"colour": "red"})); 5]);
    let price = Price { input: 1_000_000, output: 10_000_000 };
    let config = Config { price, ..Config::new(server.url(), "m") };
    let metered = Arc::new(Mutex::new(Usage::default()));
    let (day, meter) = (Arc::clone(&metered), Arc::clone(&metered));
    let caps = Caps { cost: Some(1_200), ..Caps::default() };
    let budget = Budget::new(Caps::default()).with_day(caps, move || *day.lock().unwrap());
    let model = Client::new(config).unwrap().with_budget(Arc::new(budget)).with_meter(move |usage| {
        let mut total = meter.lock().unwrap();
        *total = total.plus(usage);
    });
    assert!(model.ask(&question()).is_ok());
    assert!(model.ask(&question()).is_ok());
    let spent = *metered.lock().unwrap();
    assert_eq!((spent.calls, spent.tokens(), spent.cost), (2, 240, 600));
    let error = model.ask(&question()).and_then(|_| model.ask(&question())).unwrap_err();
    assert_eq!(error, ModelError::Budget { limit: "0.0012 of money a day".to_owned() });
}
