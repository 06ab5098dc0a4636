//! A diagnosis: why the job failed and what to change. It never holds code.

use serde::{Deserialize, Serialize};

use crate::verification::Check;

/// Why a job failed, and what to change about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The cause: names a line and a reason, and why this gave this exit code.
    pub root_cause: String,
    /// What was seen that shows it.
    pub evidence: Vec<String>,
    /// What is to be changed.
    pub change: What,
    /// How, in one sentence, without code.
    pub strategy: String,
    /// How to see that it worked, as data.
    pub verify: Vec<Check>,
    /// What it rests on.
    #[serde(default)]
    pub basis: Basis,
}

/// What a diagnosis rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The job, its failure and the documents of the project.
    #[default]
    Project,
    /// What its maker knows of the world besides.
    General,
}

impl Basis {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::General => "general",
        }
    }
}

/// What a repair changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The script or another file of the job.
    Script,
    /// The arguments of the command.
    Arguments,
    /// The environment that the job runs in.
    Environment,
}
