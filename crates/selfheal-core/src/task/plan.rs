//! What a task file says.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::When;
use crate::verification::Check;

/// Several steps with dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its name.
    pub id: String,
    /// The steps, in the order of the file.
    pub steps: Vec<Step>,
    /// How many steps may run at once; at least 1.
    pub concurrency: usize,
    /// The end of the whole task, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// What is held for as long as the task runs.
    pub locks: Vec<Lock>,
    /// What is done at its end, however it ends.
    pub cleanup: Cleanup,
    /// What is done when the file changed since a run began.
    pub on_change: OnChange,
}

impl Task {
    /// A step by its name.
    #[must_use]
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// The step that a step stands in for when that one fails.
    #[must_use]
    pub fn stands_in_for(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.fallback.as_deref() == Some(id))
    }
}

/// One step of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its name.
    pub id: String,
    /// What it does.
    pub work: Work,
    /// The steps that must have ended before it.
    pub needs: Vec<String>,
    /// Files that it reads; they must be there. Relative to the task's folder; patterns are allowed.
    pub inputs: Vec<PathBuf>,
    /// Files that it writes; they must be there when it has ended well.
    pub outputs: Vec<PathBuf>,
    /// Its end, in milliseconds.
    pub timeout_ms: u64,
    /// How it is repeated when it fails.
    pub retry: RetryClass,
    /// Whether it may run twice.
    pub idempotent: bool,
    /// What it does besides reading.
    pub reach: Reach,
    /// What it has for itself on the machine.
    #[serde(default, skip_serializing_if = "Isolation::is_usual")]
    pub isolation: Isolation,
    /// Whether it runs at all, by what became of other steps.
    pub when: Option<When>,
    /// The step that stands in for it when it fails.
    pub fallback: Option<String>,
    /// What must hold after it.
    pub checks: Vec<Check>,
    /// A command that must succeed after it.
    pub check_command: Option<Vec<String>>,
    /// What is done at the end of the task, when this step had begun.
    pub cleanup: Cleanup,
    /// Its variables, besides the few that every step has.
    pub env: BTreeMap<String, String>,
    /// Where it may write, where that is limited: these paths and what lies below them.
    pub paths: Vec<PathBuf>,
    /// What it holds while it runs.
    pub locks: Vec<Lock>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// A command with its arguments.
    Command(Vec<String>),
    /// A script that the file holds.
    Script {
        /// `bash`, `sh` or `python`.
        language: String,
        /// Its text.
        text: String,
    },
    /// A need, for which a model writes the script.
    Need {
        /// In the user's words.
        need: String,
        /// `bash` or `python`.
        language: String,
    },
}

impl Default for Work {
    fn default() -> Self {
        Self::Command(Vec::new())
    }
}

/// How a step is repeated when it fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryClass {
    /// By the class of its failure, where it may run again.
    #[default]
    Auto,
    /// As a failure that passes by itself, whatever it is.
    Transient,
    /// Never.
    None,
}

/// What a step does besides reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Files only: it runs in a box, and what it did is put in place by a journal, all or nothing.
    #[default]
    Files,
    /// Anything: it runs on the machine.
    Any,
}

/// What a step has for itself on the machine: a `/tmp` of its task, processes and IPC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// All of it where that changes nothing else, but for what the step visibly shares with the machine.
    #[default]
    Usual,
    /// All of it.
    Namespaces,
    /// Nothing.
    Shared,
}

impl Isolation {
    /// Whether the task file says nothing else.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::Usual
    }
}

/// Something that only one step or task may use at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lock {
    /// A file or folder, absolute.
    File(PathBuf),
    /// A port of this machine.
    Port(u16),
    /// Anything else that has a name.
    Name(String),
}

impl std::fmt::Display for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Port(port) => write!(f, "port:{port}"),
            Self::Name(name) => write!(f, "name:{name}"),
        }
    }
}

/// What is done at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleanup {
    /// Paths that are removed, if they were not there before; patterns are allowed.
    pub remove: Vec<PathBuf>,
    /// A command that is run then.
    pub run: Vec<String>,
}

impl Cleanup {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.remove.is_empty() && self.run.is_empty()
    }
}

/// What is done when the file changed since a run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnChange {
    /// A person is asked; where there is none, the run stays as it is.
    #[default]
    Ask,
    /// Steps that have ended stay as they are, the others are taken from the new file.
    GoOn,
    /// The run stays as it is.
    Stop,
}
