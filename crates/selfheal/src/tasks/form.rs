//! A task file as people write it. Its JSON schema is made of these types, and what is wrong with a file is found with it.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, de};

use crate::contract::ExpectOptions;

/// Several steps with dependencies.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct TaskForm {
    /// The task's name: letters, digits, `-`, `_` and `.`.
    pub id: String,
    /// How many steps may run at once.
    #[serde(default)]
    #[schemars(range(min = 1, max = 64))]
    pub concurrency: Option<u32>,
    /// The end of the whole task, its healing included.
    #[serde(default)]
    pub timeout: Option<Span>,
    /// What is held for as long as the task runs: `file:PATH`, `port:NUMBER` or `name:WORD`.
    #[serde(default)]
    pub locks: Vec<String>,
    /// Variables of every step.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables of the caller that every step gets.
    #[serde(default)]
    pub pass: Vec<String>,
    /// What its steps have for themselves on the machine.
    #[serde(default)]
    pub isolation: Option<IsolationForm>,
    /// What is done at the end, however the task ends.
    #[serde(default)]
    pub cleanup: CleanupForm,
    /// What `resume` does when this file changed since the run began.
    #[serde(default)]
    pub on_change: Option<OnChangeForm>,
    /// The steps.
    #[schemars(length(min = 1))]
    pub steps: Vec<StepForm>,
}

/// One step. It has either `run` or `need`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct StepForm {
    /// The step's name: letters, digits, `-`, `_` and `.`.
    pub id: String,
    /// A command with its arguments, or the text of a script.
    #[serde(default)]
    pub run: Option<Run>,
    /// What is needed, in words: a model writes the script.
    #[serde(default)]
    pub need: Option<String>,
    /// The language of a script.
    #[serde(default)]
    pub language: Option<Language>,
    /// The steps that must have ended before.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Files that it reads, relative to the folder of this file; they must be there. Patterns are allowed.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// Files that it writes; they must be there when it has ended well. No other step and no other task may write them.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// Its end; 5 minutes if it is not given.
    #[serde(default)]
    pub timeout: Option<Span>,
    /// How it is repeated when it fails.
    #[serde(default)]
    pub retry: Option<RetryForm>,
    /// It does no harm when it runs twice.
    #[serde(default)]
    pub idempotent: bool,
    /// What it does besides reading.
    #[serde(default)]
    pub effects: Option<EffectsForm>,
    /// What it has for itself on the machine; what the task says if it is not given.
    #[serde(default)]
    pub isolation: Option<IsolationForm>,
    /// Whether it runs: `STEP.outcome == negative`, `STEP.code != 3`, joined by `and` and `or`.
    #[serde(default)]
    pub when: Option<String>,
    /// The step that stands in for it when it fails.
    #[serde(default)]
    pub fallback: Option<String>,
    /// What must hold after it, as in a contract (`docs/contracts.md`).
    #[serde(default)]
    pub expect: Option<ExpectOptions>,
    /// What is done at the end of the task, when this step had begun.
    #[serde(default)]
    pub cleanup: CleanupForm,
    /// Its variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The only places that it may write to.
    #[serde(default)]
    pub paths: Vec<String>,
    /// What it holds while it runs: `file:PATH`, `port:NUMBER` or `name:WORD`.
    #[serde(default)]
    pub locks: Vec<String>,
}

/// What is done at the end.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct CleanupForm {
    /// Paths that are removed, if they were not there when the task began. Patterns are allowed.
    pub remove: Vec<String>,
    /// A command with its arguments.
    pub run: Vec<String>,
}

/// The language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Language {
    /// bash
    Bash,
    /// The shell of the system
    Sh,
    /// Python 3
    Python,
}

/// How a step is repeated when it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum RetryForm {
    /// By the class of its failure, where it may run again
    Auto,
    /// As a failure that passes by itself, whatever it is
    Transient,
    /// Never
    None,
}

/// What a step does besides reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum EffectsForm {
    /// Files only: it runs in a box without a network, and what it did is put in place as a whole
    Files,
    /// Anything: it runs on the machine
    Any,
}

/// What a step has for itself on the machine. Without it: all of it for root, but for what the step names; nothing for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum IsolationForm {
    /// A `/tmp` and `/var/tmp` of the task's run, processes and IPC of its own
    Namespaces,
    /// Nothing: all of it is the machine's
    Shared,
}

/// What `resume` does when the file changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum OnChangeForm {
    /// Ask, and where nobody can be asked, leave the run as it is
    Ask,
    /// Keep what has ended, take the rest from the new file
    GoOn,
    /// Leave the run as it is
    Stop,
}

/// A command or a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// A command with its arguments.
    Command(Vec<String>),
    /// The text of a script.
    Script(String),
}

impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(from)? {
            serde_json::Value::String(text) => Ok(Self::Script(text)),
            other => serde_json::from_value(other).map(Self::Command).map_err(de::Error::custom),
        }
    }
}

impl JsonSchema for Run {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Run".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "anyOf": [
            { "type": "string", "description": "The text of a script" },
            { "type": "array", "items": { "type": "string" }, "minItems": 1, "description": "A command with its arguments" }
        ] })
    }
}

/// A length of time: seconds, or a number with `ms`, `s`, `m` or `h`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span(String);

impl Span {
    /// In milliseconds.
    ///
    /// # Errors
    /// When it is no length of time; in words.
    pub fn ms(&self) -> Result<u64, String> {
        let wrong = || format!("`{}` is no length of time", self.0);
        let digits = self.0.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor = match self.0.get(digits.len()..).unwrap_or_default() {
            "ms" => 1,
            "" | "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(wrong()),
        };
        let number: u64 = digits.parse().map_err(|_| wrong())?;
        number.checked_mul(factor).filter(|ms| (1..=30 * 24 * 3_600_000).contains(ms)).ok_or_else(wrong)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(from)? {
            serde_json::Value::String(text) => Ok(Self(text)),
            other => Ok(Self(other.to_string())),
        }
    }
}

impl JsonSchema for Span {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 1, "description": "Seconds" },
            { "type": "string", "pattern": "^[0-9]+(ms|s|m|h)?$", "description": "30s, 5m, 2h" }
        ] })
    }
}

/// The published schema. Keys that it does not name are errors.
#[must_use]
pub fn schema() -> String {
    serde_json::to_string_pretty(&value()).unwrap_or_default() + "\n"
}

/// The schema as a value.
#[must_use]
pub fn value() -> serde_json::Value {
    let mut schema = serde_json::to_value(schemars::schema_for!(TaskForm)).unwrap_or_default();
    close(&mut schema);
    schema
}

/// Closes every object that names its properties.
fn close(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(map) => {
            if map.get("properties").is_some_and(serde_json::Value::is_object) && map.get("type").is_some() {
                map.insert("additionalProperties".to_owned(), false.into());
            }
            map.values_mut().for_each(close);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read() {
        let ms = |text: &str| Span(text.to_owned()).ms();
        assert_eq!((ms("5"), ms("30s"), ms("2h"), ms("7ms")), (Ok(5_000), Ok(30_000), Ok(7_200_000), Ok(7)));
        for wrong in ["", "0", "1d", "1.5", "-1", "99999999999999999999h"] {
            assert!(ms(wrong).is_err(), "{wrong}");
        }
    }
}
