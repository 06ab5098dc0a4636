//! What a question is made of.

use std::collections::BTreeMap;
use std::path::PathBuf;

use selfheal_core::diagnosis::Diagnosis;
use selfheal_core::redact::Redactor;
use selfheal_core::report::Report;
use selfheal_core::trace::Trace;

/// What a question is made of. Nothing in it needs to be cleaned or redacted before.
#[derive(Clone, Copy, Debug)]
pub struct PromptInput<'a> {
    /// The command as people read it.
    pub command: &'a str,
    /// What the script is written in: `bash`, `python`.
    pub language: &'a str,
    /// The script.
    pub script: Option<&'a Document>,
    /// The structured feedback on the failure.
    pub report: &'a Report,
    /// The end of standard output; the last 500 characters are used.
    pub stdout_end: &'a str,
    /// The end of standard error; the last 500 characters are used.
    pub stderr_end: &'a str,
    /// What an instrumented run saw. Its values are used only with `send_data`.
    pub trace: Option<&'a Trace>,
    /// Files beside the script that bear on the failure, most telling first.
    pub project: &'a [Document],
    /// Passages of documents that say how things work or what changed, each below a line with its place.
    pub references: &'a str,
    /// How things are done in the project: the folder, neighbouring scripts, samples, what was wrong before.
    pub context: &'a str,
    /// The rounds so far, oldest first; the last two are used.
    pub history: &'a [PastRound],
    /// Whether data may be sent: values of variables, real arguments, files that hold data. Not to a hosted model unless
    /// the user says so.
    pub send_data: bool,
    /// Random letters and digits, at least 16, that the failing job cannot know. The last 16 make the mark.
    pub nonce: &'a str,
    /// Takes secrets out.
    pub redactor: &'a Redactor,
    /// Whether the question is put in Chinese.
    pub chinese: bool,
    /// Templates of the user's, by name, that take the place of the built-in ones.
    pub templates: &'a BTreeMap<String, String>,
    /// Whether it is said what stands out in the files near the script.
    pub hints: bool,
    /// Whether only what takes the place of the failing line is asked for.
    pub only_line: bool,
    /// Whether a solved case of the same kind is shown.
    pub examples: bool,
    /// Whether a change far from the failure needs no stated reason: it was asked for once.
    pub far_is_fine: bool,
}

/// A text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Whether it is data that the job reads or writes, and not a program or its settings. Data is never edited.
    pub is_data: bool,
}

/// A round that did not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastRound {
    /// Its diagnosis.
    pub diagnosis: Diagnosis,
    /// The unified diff of its proposal; empty when there was none.
    pub diff: String,
    /// Why it failed, in a sentence or two.
    pub failed_because: String,
}

impl<'a> PromptInput<'a> {
    /// The rounds that a question shows.
    pub(super) fn shown_history(&self) -> &'a [PastRound] {
        self.history.get(self.history.len().saturating_sub(2)..).unwrap_or_default()
    }

    /// The files that an answer may edit: the script first.
    pub(super) fn editable(&self) -> impl Iterator<Item = &'a Document> {
        self.script.into_iter().chain(self.project.iter().filter(|file| !file.is_data))
    }

    /// The files that an answer may see.
    pub(super) fn visible_project(&self) -> impl Iterator<Item = &'a Document> {
        let send_data = self.send_data;
        self.project.iter().filter(move |file| send_data || !file.is_data)
    }

    /// How much chance there is in an answer: none worth speaking of at first, much in the fresh start of a third round.
    pub(super) fn temperature(&self) -> f32 {
        if self.history.len() >= 2 { 0.7 } else { 0.1 }
    }
}
