//! What an instrumented run saw: which lines and commands ran, with which words and results, and the values at the
//! point of failure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What an instrumented run saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The commands and calls, in order; bounded, the oldest in the middle are left out first.
    pub steps: Vec<Step>,
    /// Every line that ran, by file (absolute path). For languages whose probe sees no lines it is empty.
    pub lines: BTreeMap<PathBuf, BTreeSet<u32>>,
    /// The frames at the point of failure, innermost last.
    pub frames: Vec<Frame>,
    /// The step that failed, as an index into `steps`.
    pub failing: Option<usize>,
    /// False when something was left out or the probe could not follow.
    pub complete: bool,
}

/// One command or call that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The file that holds it, absolute.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The command with its real arguments.
    pub words: Vec<String>,
    /// Its exit status, where the probe saw it.
    pub status: Option<i32>,
}

/// One frame of the call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The file, absolute where it could be resolved.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The function, `main` at top level.
    pub function: String,
    /// The text of the command or expression, where known.
    pub source: String,
    /// Variables and their values as text, shortened; not redacted: redact before storing or sending.
    pub values: BTreeMap<String, String>,
}

impl Trace {
    /// The step that failed.
    #[must_use]
    pub fn failing_step(&self) -> Option<&Step> {
        self.failing.and_then(|at| self.steps.get(at))
    }

    /// Whether a line of a file ran.
    #[must_use]
    pub fn ran(&self, file: &Path, line: u32) -> bool {
        self.lines.get(file).is_some_and(|lines| lines.contains(&line))
    }

    /// The value of a variable at the point of failure, from the innermost frame that has it.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.frames.iter().rev().find_map(|frame| frame.values.get(name)).map(String::as_str)
    }
}
