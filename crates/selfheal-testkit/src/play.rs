//! Playing recorded model traffic (`selfheal run --record FILE`) on the wire, with faults in front of chosen replies.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::model_server::ModelServer;
use crate::reply::Reply;

/// What a server does wrong once, before it gives the recorded reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The answer ended at the token limit.
    CutOff,
    /// The connection breaks off in the middle of the body.
    BreakOff,
    /// Status 429 with a `Retry-After` of no time.
    TooMany,
    /// Status 500.
    ServerError,
    /// A body that is no JSON, under a status of success.
    NotJson,
    /// A message without text.
    Empty,
    /// The recorded reply comes after this many milliseconds.
    Slow(u64),
}

impl Fault {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::CutOff,
        Self::BreakOff,
        Self::TooMany,
        Self::ServerError,
        Self::NotJson,
        Self::Empty,
        Self::Slow(300),
    ];

    /// The replies in the place of a recorded one.
    fn before(self, recorded: Reply) -> Vec<Reply> {
        let wrong = match self {
            Self::CutOff => Reply::cut_off("half of"),
            Self::BreakOff => Reply::break_off(),
            Self::TooMany => Reply::status(429, "slow down").retry_after(0),
            Self::ServerError => Reply::status(500, "it broke"),
            Self::NotJson => Reply::body(200, "application/json", "{\"choices\": [oops"),
            Self::Empty => Reply::empty(),
            Self::Slow(millis) => return vec![recorded.slow(Duration::from_millis(millis))],
        };
        vec![wrong, recorded]
    }
}

impl ModelServer {
    /// A server that gives the replies of a recording in their order, with a fault at each of these numbers (from 0).
    ///
    /// # Panics
    /// When the file is no recording, or a recorded call had no answer.
    #[must_use]
    pub fn play(recording: &Path, faults: &[(usize, Fault)]) -> Self {
        let text = std::fs::read_to_string(recording).expect("a recording that can be read");
        let replies: Vec<Reply> = text.lines().map(recorded).collect();
        let with_faults = replies.into_iter().enumerate().flat_map(|(at, reply)| {
            match faults.iter().find(|(number, _)| *number == at) {
                Some((_, fault)) => fault.before(reply),
                None => vec![reply],
            }
        });
        Self::start(with_faults.collect::<Vec<_>>())
    }
}

fn recorded(line: &str) -> Reply {
    let exchange: Value = serde_json::from_str(line).expect("a recording holds JSON");
    let answer = exchange.pointer("/reply/answer").expect("the call had an answer");
    let status = answer.get("status").and_then(Value::as_u64).expect("an answer has a status");
    let text = |key: &str| answer.get(key).and_then(Value::as_str).expect("an answer has a kind and a body");
    Reply::body(u16::try_from(status).expect("a status of HTTP"), text("mime"), text("body"))
}
