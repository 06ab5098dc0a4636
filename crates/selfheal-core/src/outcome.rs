//! What a run means.

use serde::{Deserialize, Serialize};

/// What a run means, by the profile of its command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it should.
    Succeeded,
    /// The exit code is an answer (`grep` found nothing), not a failure.
    Negative {
        /// What the answer says.
        meaning: String,
    },
    /// It failed.
    Failed {
        /// What kind of failure the exit code alone tells, if any.
        class: Class,
        /// What the profile says of this code, if it knows it.
        meaning: Option<String>,
    },
}

/// The class of a failure: decides between retry, repair and hand-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// It may pass if tried again a little later (timeout, reset, 5xx, lock held).
    Transient,
    /// Something is used up or broken that no edit gives back (disk full, memory, quota, EIO).
    Resource,
    /// The job is fine, where it runs is not.
    Environment,
    /// A mistake in the job that some input brings out.
    Logic,
    /// Something outside changed: a tool's options, a response's shape, a file's place or format.
    Dependency,
    /// Not known.
    Unknown,
}

impl Class {
    /// The word used in output and settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Resource => "resource",
            Self::Environment => "environment",
            Self::Logic => "logic",
            Self::Dependency => "dependency",
            Self::Unknown => "unknown",
        }
    }
}
