//! Verification: the boxed checks of a proposal, as data, and what they showed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One start state in which a repaired job is run in a box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// A short stable name: `empty-source`.
    pub name: String,
    /// In words: `logs/ is empty`.
    pub title: String,
    /// What is changed in the box before the job starts. Empty for the failing state itself.
    pub setup: Vec<SceneEdit>,
    /// What must come of it.
    pub expect: Expect,
    /// Further checks after the run.
    pub checks: Vec<Check>,
}

/// A change to the files in a box before the job starts. Paths are absolute, or relative to the job's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum SceneEdit {
    /// Write a file, its parents included.
    Write {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// Its content.
        content: Vec<u8>,
        /// Its permission bits; the old ones, or 0644, when not given.
        mode: Option<u32>,
    },
    /// Make a folder, its parents included.
    MakeFolder {
        /// The folder.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// Remove whatever is there.
    Remove {
        /// The path.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// Remove everything in a folder, but not the folder.
    Empty {
        /// The folder.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// Set permission bits.
    Mode {
        /// The path.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// The bits.
        mode: u32,
    },
}

/// What must come of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// The repaired job succeeds.
    Succeeds,
    /// The repaired job fails: the cause is broken again in a way that the repair does not claim to handle.
    Fails,
    /// The repaired job does what the original does here: same outcome, and where the original succeeds the same
    /// effects and output.
    SameAsOriginal,
}

/// Something that can be checked after a run. Data only: never a shell line. Paths as in [`SceneEdit`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "snake_case")]
pub enum Check {
    /// The job succeeded by its profile.
    Succeeded,
    /// A path exists.
    Exists {
        /// The path.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// A path does not exist.
    Missing {
        /// The path.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// A file has at least this many lines.
    MinLines {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// How many.
        lines: u32,
    },
    /// A file contains a text.
    FileContains {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// The text.
        text: String,
    },
    /// A file was written by the run itself.
    Newer {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// A file was written at most so long ago.
    MaxAge {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// Seconds.
        seconds: u64,
    },
    /// A file has at least this many bytes.
    MinBytes {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// How many.
        bytes: u64,
    },
    /// A file matches a regular expression somewhere.
    Matches {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// The expression.
        pattern: String,
    },
    /// A file is JSON and holds a value other than null at a place.
    Json {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// The place as a JSON pointer (RFC 6901): `/totals/0`; empty for the whole document.
        pointer: String,
    },
    /// A file is CSV and its first row names these columns, in any order.
    CsvColumns {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// The names.
        columns: Vec<String>,
    },
    /// A file is CSV with at least this many rows below its first one.
    MinRows {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// How many.
        rows: u64,
    },
    /// A file lists SHA-256 sums as `sha256sum` writes them, and every file that it names has its sum.
    Checksums {
        /// The list.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// Standard output matches a regular expression somewhere.
    StdoutMatches {
        /// The expression.
        pattern: String,
    },
    /// The run took at least so long.
    MinDuration {
        /// Milliseconds.
        ms: u64,
    },
    /// The run took at most so long.
    MaxDuration {
        /// Milliseconds.
        ms: u64,
    },
    /// The exit code is one of these.
    ExitCode {
        /// The codes.
        codes: Vec<i32>,
    },
    /// Standard output contains a text.
    StdoutContains {
        /// The text.
        text: String,
    },
    /// Standard error does not contain a text.
    StderrLacks {
        /// The text.
        text: String,
    },
}

impl Check {
    /// The file that it looks into.
    #[must_use]
    pub fn path(&self) -> Option<&std::path::Path> {
        match self {
            Self::Exists { path }
            | Self::Missing { path }
            | Self::MinLines { path, .. }
            | Self::FileContains { path, .. }
            | Self::Newer { path }
            | Self::MaxAge { path, .. }
            | Self::MinBytes { path, .. }
            | Self::Matches { path, .. }
            | Self::Json { path, .. }
            | Self::CsvColumns { path, .. }
            | Self::MinRows { path, .. }
            | Self::Checksums { path } => Some(path),
            Self::Succeeded
            | Self::StdoutContains { .. }
            | Self::StdoutMatches { .. }
            | Self::StderrLacks { .. }
            | Self::MinDuration { .. }
            | Self::MaxDuration { .. }
            | Self::ExitCode { .. } => None,
        }
    }
}

/// What one part of a verification showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// A short stable name: the scenario's, or `failed-step-ran`, `differential`, …
    pub name: String,
    /// In words.
    pub title: String,
    /// What it showed.
    pub showed: Showed,
    /// Why, in one sentence.
    pub why: String,
}

/// What a check showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Showed {
    /// It holds.
    Passed,
    /// It does not hold.
    Failed,
    /// It could not be tried here.
    Inconclusive,
    /// It does not apply or could not be injected; says nothing either way.
    NotTested,
}

/// The verdict of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every check that could be made holds, and the failed step ran and succeeded.
    Passed,
    /// A check does not hold.
    Failed,
    /// It could not be tried here.
    Inconclusive,
}

/// The boxed checks of a proposal and their verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// The verdict.
    pub verdict: Verdict,
    /// The rung of the box that it was tried in: `overlay`, `bwrap`, `copy`.
    pub rung: String,
    /// What each check showed.
    pub checks: Vec<CheckResult>,
}

impl Verification {
    /// Sums checks up: one failure fails; else one inconclusive makes it inconclusive; with nothing passed at all it is
    /// inconclusive too, because nothing was shown.
    #[must_use]
    pub fn from_checks(rung: String, checks: Vec<CheckResult>) -> Self {
        let any = |wanted: Showed| checks.iter().any(|check| check.showed == wanted);
        let verdict = if any(Showed::Failed) {
            Verdict::Failed
        } else if any(Showed::Inconclusive) || !any(Showed::Passed) {
            Verdict::Inconclusive
        } else {
            Verdict::Passed
        };
        Self { verdict, rung, checks }
    }
}
