//! The structured feedback on a failure: what a careful engineer would want on one screen.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::ids::Signature;
use crate::outcome::Class;

/// The structured feedback on a failure. Not redacted: redact before storing or sending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How the run ended, in words: `exit code 1`, `signal 9`.
    pub status: String,
    /// The class of the failure.
    pub class: Class,
    /// The one line of output that says most.
    pub core_error: String,
    /// What went wrong, most telling first; never empty.
    pub faults: Vec<Fault>,
    /// Where.
    pub location: Option<Location>,
    /// The command or call that failed.
    pub command: Option<FailedCommand>,
    /// The lines around the location, with their numbers.
    pub snippet: Vec<SnippetLine>,
    /// Two or three likely causes, most likely first.
    pub causes: Vec<Cause>,
    /// Facts that bear on it (`state of logs/`: `exists, empty`), in order of weight.
    pub context: Vec<(String, String)>,
    /// How sure the report is of location and faults.
    pub confidence: Confidence,
    /// What this failure has in common with others of its kind.
    pub signature: Signature,
}

impl Report {
    /// The fault that says most.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        self.faults.first()
    }
}

/// Where a failure happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The file, absolute when it is on this machine and was resolved.
    #[serde(with = "crate::path_text")]
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The function, if any.
    pub function: Option<String>,
    /// The host or container that it is on, if not here; such a file is never resolved or edited.
    pub remote: Option<String>,
}

/// The command or call that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCommand {
    /// As written in the script.
    pub source: String,
    /// With its real arguments, where a probe saw them.
    pub words: Vec<String>,
    /// Its exit status.
    pub status: Option<i32>,
}

/// A line of a script, for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnippetLine {
    /// Its number, from 1.
    pub number: u32,
    /// Its text without the line end.
    pub text: String,
}

/// One likely cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// A stable name: `glob-matched-nothing`.
    pub id: String,
    /// In one sentence.
    pub text: String,
    /// What was seen that speaks for it.
    pub evidence: Vec<String>,
    /// What would disprove it.
    pub disproved_by: String,
    /// What it is about, so that the program can say it in another language.
    #[serde(default, skip_serializing_if = "About::is_empty")]
    pub about: About,
}

/// What a cause is about: the words of its own fault, which need not be the first of the report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The path, name, option or host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The exit code, or the status of a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
}

impl About {
    /// What a fault is about.
    #[must_use]
    pub fn of(fault: &Fault) -> Self {
        let code = match fault {
            Fault::SilentExit { code } => Some(*code),
            Fault::HttpStatus { code, .. } => Some(i32::from(*code)),
            _ => None,
        };
        Self { what: fault.subject(), tool: fault.tool().map(str::to_owned), code }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// A guess from raw lines.
    Low,
    /// A known message, without a location inside the script.
    Medium,
    /// A known message with a location, or a probe that agrees.
    High,
}
