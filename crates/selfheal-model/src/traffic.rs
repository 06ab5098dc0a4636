//! The traffic with a model as lines of JSON: written down ([`Exchange`]), and played again without a server ([`Recording`]).
//!
//! What is written is redacted: the request is, by its type, and the reply is before it is written. A recording is played to
//! questions that are nearly those that were recorded (paths and marks differ from run to run), so each question gets the reply
//! to the nearest one that was not used yet.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use selfheal_core::redact::Redactor;
use serde::{Deserialize, Serialize};

use crate::http::{Failure, Reply};

/// The longest line that is read, in bytes, and the most lines.
const LONGEST: u64 = 16 * 1024 * 1024;
const MOST: usize = 20_000;
/// So much of its words a question has in common with a recorded one to get its reply, in percent.
const NEAR: usize = 70;

/// One call and what came of it: a line of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The model that was asked.
    pub model: String,
    /// The body that was sent.
    pub request: String,
    /// What came back.
    pub reply: Recorded,
    /// How long it took, in milliseconds.
    pub millis: u64,
}

/// What came back for a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recorded {
    /// An answer, with whatever status.
    Answer {
        /// The status.
        status: u16,
        /// What `Retry-After` said, in seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
        /// The kind of content.
        mime: String,
        /// The body.
        body: String,
    },
    /// There was no server: why.
    NoServer(String),
    /// The connection was lost: why.
    Lost(String),
    /// The time was over.
    TimedOut,
    /// The answer was too large.
    TooLarge,
}

impl Recorded {
    pub(crate) fn of(outcome: &Result<Reply, Failure>, redactor: &Redactor) -> Self {
        match outcome {
            Ok(reply) => Self::Answer {
                status: reply.status,
                retry_after: reply.retry_after.map(|wait| wait.as_secs()),
                mime: reply.mime.clone(),
                body: visible(&reply.body, redactor),
            },
            Err(Failure::NoServer(why)) => Self::NoServer(why.clone()),
            Err(Failure::Lost(why)) => Self::Lost(why.clone()),
            Err(Failure::TimedOut) => Self::TimedOut,
            Err(Failure::TooLarge) => Self::TooLarge,
        }
    }

    fn into_outcome(self) -> Result<Reply, Failure> {
        match self {
            Self::Answer { status, retry_after, mime, body } => Ok(Reply {
                status,
                retry_after: retry_after.map(Duration::from_secs),
                mime,
                body: body.into_bytes(),
            }),
            Self::NoServer(why) => Err(Failure::NoServer(why)),
            Self::Lost(why) => Err(Failure::Lost(why)),
            Self::TimedOut => Err(Failure::TimedOut),
            Self::TooLarge => Err(Failure::TooLarge),
        }
    }
}

/// A body without secrets. One that is JSON stays so.
fn visible(body: &[u8], redactor: &Redactor) -> String {
    let parsed = serde_json::from_slice::<serde_json::Value>(body).ok();
    match parsed.and_then(|value| redactor.json(&value).ok()) {
        Some(json) => json.as_str().to_owned(),
        None => redactor.text(&String::from_utf8_lossy(body)).as_str().to_owned(),
    }
}

/// A recording that is played. Shared by all clients of a process, so that no reply is given twice.
#[derive(Debug, Default)]
pub struct Recording {
    left: Mutex<Vec<(BTreeMap<String, usize>, Exchange)>>,
}

impl Recording {
    /// Reads lines of JSON.
    ///
    /// # Errors
    /// In words: the line that cannot be read, and why.
    pub fn read(mut lines: impl BufRead) -> Result<Self, String> {
        let mut left = Vec::new();
        for number in 1..=MOST {
            let mut line = String::new();
            let read = std::io::Read::take(&mut lines, LONGEST).read_line(&mut line);
            match read.map_err(|error| format!("line {number}: {error}"))? {
                0 => break,
                _ if line.trim().is_empty() => {}
                _ => {
                    let exchange: Exchange =
                        serde_json::from_str(&line).map_err(|error| format!("line {number}: {error}"))?;
                    left.push((words(&exchange.request), exchange));
                }
            }
        }
        match left.is_empty() {
            true => Err("it holds no call to a model".to_owned()),
            false => Ok(Self { left: Mutex::new(left) }),
        }
    }

    /// The reply to the nearest question that was not used yet; of several that are as near, the first.
    pub(crate) fn outcome(&self, body: &str) -> Result<Reply, Failure> {
        let wanted = words(body);
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let near = |(at, (words, _)): (usize, &(BTreeMap<String, usize>, Exchange))| {
            (common(&wanted, words), std::cmp::Reverse(at))
        };
        let best = left.iter().enumerate().map(near).max();
        let Some((_, std::cmp::Reverse(at))) = best.filter(|(common, _)| *common >= NEAR) else {
            return Err(Failure::NoServer(
                "the recording has no (further) reply to this question".to_owned(),
            ));
        };
        left.remove(at).1.reply.into_outcome()
    }
}

/// How often each word stands in a text. Words of letters alone count: paths, marks and numbers differ from run to run.
fn words(text: &str) -> BTreeMap<String, usize> {
    let mut out = BTreeMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1) {
        if word.chars().all(char::is_alphabetic) {
            *out.entry(word.to_owned()).or_default() += 1;
        }
    }
    out
}

/// How much two texts have in common, in percent of all their words.
fn common(one: &BTreeMap<String, usize>, other: &BTreeMap<String, usize>) -> usize {
    let both: usize =
        one.iter().map(|(word, count)| other.get(word).map_or(0, |also| *count.min(also))).sum();
    let all = one.values().sum::<usize>() + other.values().sum::<usize>() - both;
    (both * 100).checked_div(all).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(request: &str, body: &str) -> Exchange {
        let reply = Recorded::Answer {
            status: 200,
            retry_after: None,
            mime: "application/json".to_owned(),
            body: body.to_owned(),
        };
        Exchange { model: "m".to_owned(), request: request.to_owned(), reply, millis: 3 }
    }

    fn recording(all: &[Exchange]) -> Recording {
        let text: String = all.iter().map(|one| serde_json::to_string(one).unwrap() + "\n").collect();
        Recording::read(text.as_bytes()).unwrap()
    }

    fn said(recording: &Recording, body: &str) -> Option<String> {
        recording.outcome(body).ok().map(|reply| String::from_utf8(reply.body).unwrap())
    }

    #[test]
    fn each_question_gets_the_reply_to_the_nearest_one_once() {
        let all = [
            exchange("repair backup in /tmp/a1b2 mark 77aa", "one"),
            exchange("repair backup in /tmp/a1b2 mark 77aa", "two"),
            exchange("the table of prices is empty, mark 91", "three"),
        ];
        let recording = recording(&all);
        assert_eq!(said(&recording, "the table of prices is empty, mark 12"), Some("three".to_owned()));
        assert_eq!(said(&recording, "repair backup in /tmp/zz9 mark 1"), Some("one".to_owned()));
        assert_eq!(said(&recording, "something else altogether"), None);
        assert_eq!(said(&recording, "repair backup in /tmp/zz9 mark 1"), Some("two".to_owned()));
        assert_eq!(said(&recording, "repair backup in /tmp/zz9 mark 1"), None);
    }

    #[test]
    fn what_is_no_recording_is_told_with_its_line() {
        assert!(Recording::read("\n{\"model\": 3}\n".as_bytes()).unwrap_err().starts_with("line 2: "));
        assert!(Recording::read("".as_bytes()).is_err());
    }
}
