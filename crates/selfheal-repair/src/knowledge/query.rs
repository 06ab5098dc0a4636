//! What is asked for: the names in a report, the more telling ones with more weight.

use std::collections::BTreeMap;
use std::path::Path;

use selfheal_core::knowledge::terms;
use selfheal_core::report::Report;
use selfheal_core::trace::Trace;

/// What a question is made of.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The report on the failure.
    pub report: &'a Report,
    /// The job's script.
    pub script: Option<&'a Path>,
    /// The end of the error output.
    pub errors: &'a str,
    /// What an instrumented run saw; only the names of variables are used.
    pub trace: Option<&'a Trace>,
    /// The job's folder: its own path says nothing.
    pub folder: &'a Path,
}

/// Terms with their weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    terms: BTreeMap<String, f64>,
}

/// Weights: what the failure itself names, what is close to it, what surrounds it.
const NAMED: f64 = 3.0;
const CLOSE: f64 = 2.0;
const AROUND: f64 = 1.0;

/// The most terms of a question.
const MOST: usize = 96;
/// Characters of each part that are looked at.
const PART: usize = 2_000;

impl Query {
    /// The terms of a report.
    #[must_use]
    pub fn of(asked: &Asked<'_>) -> Self {
        let report = asked.report;
        let mut query = Self::default();
        let folder = asked.folder.to_string_lossy();
        let mut take = |text: &str, weight: f64| query.take(&text.replace(folder.as_ref(), " "), weight);
        for fault in &report.faults {
            for text in strings(&serde_json::to_value(fault).unwrap_or_default()) {
                take(&text, NAMED);
            }
        }
        take(&report.core_error, NAMED);
        let here = report.location.as_ref();
        if let Some(command) = &report.command {
            take(&command.source, CLOSE);
            command.words.iter().take(12).for_each(|word| take(word, CLOSE));
        }
        here.and_then(|place| place.function.as_deref()).into_iter().for_each(|name| take(name, CLOSE));
        for line in &report.snippet {
            let weight = if here.is_some_and(|place| place.line == line.number) { CLOSE } else { AROUND };
            take(&line.text, weight);
        }
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        asked.script.into_iter().for_each(|path| take(&name(path), AROUND));
        take(asked.errors, AROUND);
        for (what, text) in report.context.iter().take(12) {
            take(what, AROUND);
            take(text, AROUND);
        }
        let frames = asked.trace.into_iter().flat_map(|trace| trace.frames.last());
        frames.flat_map(|frame| frame.values.keys()).take(40).for_each(|name| take(name, AROUND));
        query.shorten();
        query
    }

    /// The terms of a text that a person typed.
    #[must_use]
    pub fn words(text: &str) -> Self {
        let mut query = Self::default();
        query.take(text, NAMED);
        query.shorten();
        query
    }

    fn take(&mut self, text: &str, weight: f64) {
        let text: String = text.chars().take(PART).collect();
        for term in terms(&text) {
            if !is_stop_word(&term) && !term.chars().all(|c| c.is_ascii_digit()) {
                let have = self.terms.entry(term).or_insert(weight);
                *have = have.max(weight);
            }
        }
    }

    /// Leaves the most telling ones.
    fn shorten(&mut self) {
        let mut all: Vec<(String, f64)> = std::mem::take(&mut self.terms).into_iter().collect();
        all.sort_by(|one, other| other.1.total_cmp(&one.1));
        self.terms = all.into_iter().take(MOST).collect();
    }

    /// The terms, for an index.
    #[must_use]
    pub fn terms(&self) -> Vec<String> {
        let mut all: Vec<(&String, &f64)> = self.terms.iter().collect();
        all.sort_by(|one, other| other.1.total_cmp(one.1));
        all.into_iter().map(|(term, _)| term.clone()).collect()
    }

    /// The weight of a term; 0 where it is not asked for.
    pub(super) fn weight(&self, term: &str) -> f64 {
        self.terms.get(term).copied().unwrap_or(0.0)
    }

    /// Whether the failure, or the line that fails, names a term.
    pub(super) fn names(&self, term: &str) -> bool {
        self.weight(term) >= CLOSE
    }
}

/// The texts in a fault; not the word for its kind.
fn strings(value: &serde_json::Value) -> Vec<String> {
    use serde_json::Value;
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(map) => {
            map.iter().filter(|(key, _)| *key != "fault").flat_map(|(_, item)| strings(item)).collect()
        }
        _ => Vec::new(),
    }
}

/// Words that every document and every message has. Sorted.
const STOP_WORDS: &[&str] = &[
    "after",
    "all",
    "an",
    "and",
    "any",
    "are",
    "argument",
    "arguments",
    "as",
    "at",
    "bash",
    "be",
    "been",
    "bin",
    "but",
    "by",
    "call",
    "can",
    "cannot",
    "code",
    "command",
    "could",
    "def",
    "did",
    "directory",
    "do",
    "does",
    "done",
    "each",
    "echo",
    "else",
    "end",
    "error",
    "errors",
    "etc",
    "exit",
    "fail",
    "failed",
    "fi",
    "file",
    "files",
    "for",
    "found",
    "from",
    "function",
    "get",
    "has",
    "have",
    "help",
    "home",
    "how",
    "if",
    "import",
    "in",
    "into",
    "invalid",
    "is",
    "it",
    "its",
    "job",
    "last",
    "line",
    "lines",
    "list",
    "local",
    "main",
    "may",
    "missing",
    "module",
    "more",
    "most",
    "must",
    "name",
    "new",
    "no",
    "not",
    "now",
    "of",
    "on",
    "one",
    "only",
    "or",
    "out",
    "please",
    "py",
    "python",
    "python3",
    "recent",
    "return",
    "run",
    "set",
    "sh",
    "should",
    "so",
    "such",
    "than",
    "that",
    "the",
    "then",
    "there",
    "these",
    "this",
    "to",
    "traceback",
    "true",
    "try",
    "unknown",
    "use",
    "used",
    "usage",
    "usr",
    "value",
    "was",
    "when",
    "which",
    "will",
    "with",
    "you",
    "your",
];

/// Whether a term says nothing about one failure more than about another.
pub(super) fn is_stop_word(term: &str) -> bool {
    STOP_WORDS.contains(&term)
}
