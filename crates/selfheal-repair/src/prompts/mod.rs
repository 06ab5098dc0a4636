//! Questions to a language model, and the reading of its answers.
//!
//! For large models two questions: a diagnosis (never code), then a proposal for it; for small ones a single one with a short
//! answer ([`short_question`]). What comes from the failing job is hostile: it is
//! cleaned ([`clean`]), redacted, cut to a length and set between lines with a mark that it cannot know. What the model
//! says is hostile too: [`read_diagnosis`] and [`read_proposal`] refuse what names things that do not exist, hides code
//! where none belongs, or does not fit the files exactly. Their reason goes back to the model once ([`sent_back`]).
//!
//! The fields of the answers are named so that their alphabetical order, in which they are sent and written, is the order
//! in which to think: evidence before cause, the text to find before its replacement.

mod choice;
mod citations;
pub mod clean;
mod cookbook;
mod diagnosis;
mod edits;
mod examples;
mod head;
mod hints;
mod input;
mod material;
mod proposal;
mod render;
mod short;
#[cfg(test)]
mod tests;
mod touch;
mod words;

use selfheal_core::ports::Question;
use selfheal_core::redact::{Redacted, Redactor};

pub use choice::{choice_question, chosen};
pub use diagnosis::{diagnosis_question, read_diagnosis};
pub use input::{Document, PastRound, PromptInput};
pub use proposal::{proposal_question, read_proposal};
pub use render::template_names;
pub use short::{NOTHING_CHANGED, has_failing_line, read_short, short_question};

/// Why no question can be asked. Reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The diagnosis changes no file, or there is no file.
    #[error("ask for a change: the diagnosis is about no file that can be edited")]
    NothingToEdit,
    /// A template cannot be filled in.
    #[error("fill in the template {name}")]
    Template {
        /// The template.
        name: &'static str,
        /// What stood in the way.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// An answer with the names of users put back in all its texts, so that its paths are those of this machine.
fn with_users(value: &serde_json::Value, redactor: &Redactor) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::String(text) => Value::String(redactor.with_users(text)),
        Value::Array(items) => items.iter().map(|item| with_users(item, redactor)).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, item)| (key.clone(), with_users(item, redactor))).collect())
        }
        other => other.clone(),
    }
}

/// The question once more, after an answer to it was refused for this reason.
#[must_use]
pub fn sent_back(question: &Question, reason: &str, redactor: &Redactor) -> Question {
    let pieces = [
        question.user.clone(),
        Redacted::fixed("Your last answer was sent back, for this reason:"),
        redactor.text(&clean::line(reason, 400)),
        Redacted::fixed("Answer again, and mind the reason."),
    ];
    Question { user: Redacted::join(&pieces, "\n"), ..question.clone() }
}
