//! A proposal: the changed files of one repair, with where it came from and how risky its maker thinks it is.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::install::Install;

/// A repair that somebody proposes. Nothing of it has run yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Who made it.
    pub source: Source,
    /// The files that it changes; one entry a path.
    pub changes: Vec<FileChange>,
    /// What was changed and why, one sentence each, with the line numbers of the new text.
    pub summary: Vec<String>,
    /// The risk that its maker sees.
    pub risk: Risk,
    /// Whether it changes what the job reads or computes, and not only how it runs. Held unless earlier good inputs
    /// give the same result.
    pub changes_meaning: bool,
    /// How to take it back, in one sentence.
    pub rollback: String,
    /// The packages among the files, if any. Only the program itself says this, never whoever proposes.
    #[serde(default)]
    pub installs: Vec<Install>,
}

impl Proposal {
    /// Whether a file is part of a package that the proposal brings.
    #[must_use]
    pub fn is_packaged(&self, path: &std::path::Path) -> bool {
        self.installs.iter().any(|install| install.holds(path))
    }
}

/// Who made a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Source {
    /// One or several rules, by name.
    Rules {
        /// Their names, in the order in which they were applied.
        names: Vec<String>,
    },
    /// A repair that worked before.
    Memory {
        /// The entry.
        entry: String,
    },
    /// A language model.
    Model {
        /// Its name.
        name: String,
    },
    /// The user (`--proposal DIR`).
    Given,
}

impl Source {
    /// The tier that it belongs to, as shown to people and in JSON.
    #[must_use]
    pub fn tier(&self) -> &'static str {
        match self {
            Self::Rules { .. } => "rule",
            Self::Memory { .. } => "memory",
            Self::Model { .. } => "model",
            Self::Given => "given",
        }
    }
}

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The file, absolute.
    pub path: PathBuf,
    /// Its content before; `None` when it did not exist.
    pub before: Option<Vec<u8>>,
    /// Its content afterwards; `None` when it is to be removed.
    pub after: Option<Vec<u8>>,
    /// Its permission bits afterwards, when they change.
    pub mode: Option<u32>,
}

/// The risk of a whole proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Applied unattended when the policy says so.
    Low,
    /// Applied unattended only when the policy says so explicitly.
    Medium,
    /// Never applied unattended.
    High,
}

impl Risk {
    /// The word used in output and settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}
