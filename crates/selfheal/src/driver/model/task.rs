//! Questions about a step of a task: the state of the task goes with each, and an answer that proposes a change must bring it
//! along whole. A small model, which answers with lines and not with an object, gets it and brings nothing.

use selfheal_core::ports::{Form, Question};
use selfheal_core::redact::Redacted;
use serde_json::Value;

use super::Healer;
use crate::tasks::told::{BRING_IT_ALONG, StateUpdate};

impl Healer<'_> {
    /// The question with the state of the task before it, where there is one.
    pub(super) fn with_task(&self, question: Question) -> Question {
        let Some(task) = self.tools.task else { return question };
        let redactor = self.tools.redactor;
        let mark = redactor.text(&format!("--- data {} ---", self.nonce.replace('-', "")));
        match task.view.section(&mark, redactor) {
            Ok(section) => Question { user: Redacted::join(&[section, question.user], "\n\n"), ..question },
            Err(error) => {
                tracing::warn!(%error, "the state of the task was not told");
                question
            }
        }
    }

    /// The same, and the answer must bring the state along.
    pub(super) fn bringing_state(&self, question: Question) -> Question {
        if self.tools.task.is_none() {
            return question;
        }
        let question = self.with_task(question);
        let asked = "\nAnswer besides with state_update";
        let pieces = [question.system, Redacted::fixed(asked), Redacted::fixed(BRING_IT_ALONG)];
        Question { system: Redacted::join(&pieces, ""), form: with_state(question.form), ..question }
    }

    /// Takes over what an answer says of the task.
    ///
    /// # Errors
    /// In one line for the model: something that it was told is missing.
    pub(super) fn take_state(&self, answer: &Value) -> Result<(), String> {
        self.tools.task.map_or(Ok(()), |task| task.take(answer, self.tools.redactor))
    }
}

/// The form of an object with one more field that it must have.
fn with_state(form: Form) -> Form {
    let Form::Object { name, mut schema } = form else { return form };
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.insert("state_update".to_owned(), StateUpdate::schema());
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.push("state_update".into());
    }
    Form::Object { name, schema }
}
