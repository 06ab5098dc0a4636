//! Probes: how a boxed run is instrumented, and how what it wrote is read.
//!
//! The job's files are not edited: bash reads a file before its script (`BASH_ENV`), Python a `sitecustomize` module,
//! node a preloaded module; `dash FILE` is run with `-x`. All of them are active in every traced run, so that a Python
//! program started by a shell script is seen too. They write records to one descriptor.

mod bash;
mod records;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use selfheal_core::ports::BoxOrder;
use selfheal_core::run::Capture;
use selfheal_core::trace::{Frame, Step, Trace};

use crate::boxes::{Kept, PROBE_FOLDER as FOLDER, Raw};

/// The most steps that are kept: so many of the first, and so many of the last.
const MOST_STEPS: usize = 5_000;

/// Values and words are cut to so many characters.
const LONGEST: usize = 200;

/// The instruments of one run.
#[derive(Debug)]
pub(crate) struct Probe {
    /// Marks this run's records; random, so that the job does not print it by chance.
    token: String,
}

/// What a reader found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub steps: Vec<Step>,
    pub lines: BTreeMap<PathBuf, BTreeSet<u32>>,
    pub frames: Vec<Frame>,
    pub failing: Option<usize>,
}

/// How the run ended, for the readers.
pub(crate) struct RunEnd<'a> {
    /// The exit code.
    pub code: i32,
    /// Standard error.
    pub stderr: &'a mut Capture,
}

impl Probe {
    /// The instruments for one run.
    pub(crate) fn new(token: String) -> Self {
        Self { token }
    }

    /// Sets the environment up; gives the command to run.
    pub(crate) fn prepare(&self, order: &BoxOrder, env: &mut BTreeMap<OsString, OsString>) -> Vec<OsString> {
        env.insert("BASH_ENV".into(), format!("{FOLDER}/bash.rc").into());
        order.argv.clone()
    }

    /// The files that the instruments need: name and content.
    pub(crate) fn files(&self) -> Vec<(String, Raw)> {
        vec![("bash.rc".to_owned(), Raw(bash::rc(&self.token).into_bytes()))]
    }

    /// Reads what the instruments wrote. Absent when none of them was active.
    pub(crate) fn read(
        &self,
        order: &BoxOrder,
        env: &BTreeMap<OsString, OsString>,
        stream: &Kept,
        end: &RunEnd<'_>,
    ) -> Option<Trace> {
        let mut text = String::from_utf8_lossy(&stream.head.0).into_owned();
        text.push('\n');
        text.push_str(&String::from_utf8_lossy(&stream.tail.0));
        let mut bash = bash::Reader::new(&order.cwd, &self.token);
        for record in records::records(&text, &self.token) {
            bash.take(&record);
        }
        if bash.is_empty() {
            return None;
        }
        let env = env
            .iter()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), shortened(&value.to_string_lossy())));
        let stderr = end.stderr.text();
        let folder = order.script.as_deref().and_then(Path::parent);
        let ending = bash::Ending { code: end.code, stderr: &stderr, folder };
        let findings = bash.finish(&ending, &env.collect());
        let whole = stream.total <= (stream.head.0.len() + stream.tail.0.len()) as u64;
        Some(thinned(findings, whole))
    }
}

/// Leaves steps in the middle out when there are too many; the failing one stays.
fn thinned(findings: Findings, whole: bool) -> Trace {
    let count = findings.steps.len();
    let kept = |at: usize| at < MOST_STEPS || at + MOST_STEPS >= count || Some(at) == findings.failing;
    let failing = findings.failing.map(|failing| (0..failing).filter(|at| kept(*at)).count());
    let steps: Vec<Step> =
        findings.steps.into_iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, step)| step).collect();
    let complete = whole && steps.len() == count;
    Trace { steps, lines: findings.lines, frames: findings.frames, failing, complete }
}

/// A value or word cut to what is kept of it.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text.to_owned(),
    }
}
