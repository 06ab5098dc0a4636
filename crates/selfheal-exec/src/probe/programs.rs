//! The probes for Python, node and perl: modules that are loaded before the program, and the reader of what they write. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use selfheal_core::trace::{Frame, Step};
use serde::Deserialize;

use super::records::Record;
use super::{Findings, shortened};

/// The module for Python, for one run; lines are recorded in files below `root`, or everywhere.
pub(crate) fn sitecustomize(token: &str, root: Option<&Path>) -> String {
    filled(include_str!("sitecustomize.py"), token)
        .replace("@HERE@", super::PYTHON_FOLDER)
        .replace("@ROOT@", &literal(root))
}

/// The module for node, for one run.
pub(crate) fn preload(token: &str, root: Option<&Path>) -> String {
    filled(include_str!("preload.cjs"), token).replace("@ROOT@", &literal(root))
}

/// The module for perl, for one run. The folder is written in hexadecimal digits: perl would look into any quotes.
pub(crate) fn perl(token: &str, root: Option<&Path>) -> String {
    let digits: String = folder(root).bytes().map(|byte| format!("{byte:02x}")).collect();
    filled(include_str!("perl.pm"), token).replace("@HERE@", super::PERL_FOLDER).replace("@ROOT@", &digits)
}

/// A folder with a slash behind.
fn folder(root: Option<&Path>) -> String {
    root.map(|root| format!("{}/", root.display().to_string().trim_end_matches('/'))).unwrap_or_default()
}

/// A JSON text, once more as a literal of Python or JavaScript: both escape alike what a path may hold.
fn literal(root: Option<&Path>) -> String {
    let json = serde_json::Value::from(folder(root)).to_string();
    serde_json::Value::from(json).to_string()
}

fn filled(text: &str, token: &str) -> String {
    text.replace("@FD@", &crate::boxes::TRACE_FD.to_string()).replace("@TOKEN@", token)
}

/// One frame as the modules write it: file, line, function, values, text of the line.
#[derive(Deserialize)]
struct Written(PathBuf, u32, String, BTreeMap<String, String>, String);

/// Reads the records of Python, node and perl.
#[derive(Default)]
pub(crate) struct Reader {
    began: bool,
    cut: bool,
    steps: Vec<Step>,
    lines: BTreeMap<PathBuf, BTreeSet<u32>>,
    frames: Vec<Frame>,
}

impl Reader {
    /// Takes one record. Of several programs that failed, the last one is it.
    pub(crate) fn take(&mut self, record: &Record<'_>) {
        match record.kind {
            "PB" | "NB" => self.began = true,
            "PS" => self.steps.extend(step(record.text(0))),
            "PL" | "NL" => {
                let lines: BTreeMap<PathBuf, BTreeSet<u32>> = read(record.text(0)).unwrap_or_default();
                for (file, lines) in lines {
                    self.lines.entry(file).or_default().extend(lines);
                }
            }
            "PX" => self.cut = true,
            "PF" | "NF" => {
                if let Some((_, frames)) = read::<(String, Vec<Written>)>(record.text(0)) {
                    self.frames = frames.into_iter().map(frame).collect();
                }
            }
            _ => {}
        }
    }

    /// Whether any program was seen.
    pub(crate) fn is_empty(&self) -> bool {
        !self.began
    }

    /// Whether a program ran longer than its lines were recorded.
    pub(crate) fn was_cut(&self) -> bool {
        self.cut
    }

    /// Sums up. The failing step is the line of the innermost frame.
    pub(crate) fn finish(mut self, code: i32) -> Findings {
        let mut findings = Findings::default();
        if code != 0
            && let Some(inner) = self.frames.last()
        {
            findings.failing = Some(self.steps.len());
            self.steps.push(Step {
                file: inner.file.clone(),
                line: inner.line,
                words: vec![inner.source.clone()],
                status: None,
            });
            findings.frames = self.frames;
        }
        findings.steps = self.steps;
        findings.lines = self.lines;
        findings
    }
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Option<T> {
    // The last record of a program that was killed may be followed by what another wrote.
    serde_json::Deserializer::from_str(text).into_iter::<T>().next()?.ok()
}

fn step(text: &str) -> Option<Step> {
    let (file, line, words): (PathBuf, u32, Vec<String>) = read(text)?;
    Some(Step { file, line, words: words.iter().map(|word| shortened(word)).collect(), status: None })
}

fn frame(written: Written) -> Frame {
    let Written(file, line, function, values, source) = written;
    let values = values.into_iter().map(|(name, value)| (name, shortened(&value))).collect();
    Frame { file, line, function, source: shortened(&source), values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::records::records;

    #[test]
    fn a_failure_has_frames_and_is_the_last_step() {
        let text = "\u{1e}T\u{1f}PB\u{1f}[1, []]\n\u{1e}T\u{1f}PS\u{1f}[\"/a.py\", 2, [\"open\", \"x\", \"r\"]]\n\
            \u{1e}T\u{1f}PL\u{1f}{\"/a.py\": [1, 2]}\n\
            \u{1e}T\u{1f}PF\u{1f}[\"KeyError\", [[\"/a.py\", 2, \"main\", {\"d\": \"{}\"}, \"d[k]\"]]]Traceback\n";
        let mut reader = Reader::default();
        records(text, "T").for_each(|record| reader.take(&record));
        assert!(!reader.is_empty());
        let findings = reader.finish(1);
        assert_eq!((findings.steps.len(), findings.failing), (2, Some(1)));
        assert_eq!(findings.frames[0].values["d"], "{}");
        assert!(findings.lines[Path::new("/a.py")].contains(&2));
    }

    #[test]
    fn a_path_with_quotes_stays_a_literal() {
        let text = sitecustomize("T", Some(Path::new("/a\"b\\c'd")));
        assert!(text.contains(r#"json.loads("\"/a\\\"b\\\\c'd/\"")"#), "{text}");
    }
}
