//! The port to language models.

use serde::{Deserialize, Serialize};

use crate::redact::Redacted;

/// A language model.
pub trait Model {
    /// Its name.
    fn name(&self) -> &str;
    /// Asks one question.
    ///
    /// # Errors
    /// When there is no usable answer within the limits; see [`ModelError`].
    fn ask(&self, question: &Question) -> Result<Answer, ModelError>;
}

/// One question to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Role, rules, format: what never changes, first.
    pub system: Redacted,
    /// The case.
    pub user: Redacted,
    /// What the answer must be.
    pub form: Form,
    /// At most so many output tokens.
    pub max_tokens: u32,
    /// 0 to 1.
    pub temperature: f32,
}

/// What an answer must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// One object that fits a JSON schema.
    Object {
        /// The schema's name.
        name: String,
        /// The schema, every string bounded.
        schema: serde_json::Value,
    },
    /// A text. It is the value of the answer as a string.
    Text,
}

/// A model's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The object, checked against the schema; or the text.
    pub value: serde_json::Value,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// How many calls it took.
    pub calls: u32,
    /// Every request body that was sent, byte for byte.
    pub sent: Vec<Redacted>,
}

/// Why there is no usable answer. Never holds the prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The server cannot be reached.
    #[error("the model server at {url} cannot be reached: {reason}")]
    Unreachable {
        /// Where.
        url: String,
        /// Why.
        reason: String,
    },
    /// Nobody waits for its answer any more.
    #[error("selfheal was told to end before the model answered")]
    ToldToEnd,
    /// It did not answer in time.
    #[error("the model did not answer within {seconds} s")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// It answered with an error status.
    #[error("the model server answered with status {code}: {message}")]
    Status {
        /// The status.
        code: u16,
        /// The server's words, shortened.
        message: String,
    },
    /// The answer was cut off at the token limit.
    #[error("the model's answer was cut off at {max_tokens} tokens")]
    CutOff {
        /// The limit.
        max_tokens: u32,
    },
    /// The answer does not fit the schema.
    #[error("the model's answer cannot be used: {reason}")]
    Unusable {
        /// Why.
        reason: String,
    },
    /// The model refused.
    #[error("the model refused to answer")]
    Refused,
    /// The budget is spent.
    #[error("the budget of {limit} is spent")]
    Budget {
        /// The limit, in words: `60000 tokens an incident`.
        limit: String,
    },
}
