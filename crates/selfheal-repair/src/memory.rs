//! Remembered repairs: what worked before is proposed again where every old text stands exactly once.

use selfheal_core::diagnosis::{Diagnosis, What};
use selfheal_core::ports::Remembered;
use selfheal_core::proposal::{FileChange, Proposal, Risk, Source};
use selfheal_core::verification::Check;

use crate::candidate::Candidate;
use crate::case::Case;

/// The candidates that remembered repairs give for a failure, in the order in which they were recalled. A repair that
/// lost more often than it won, or whose texts do not fit, gives none.
#[must_use]
pub fn recalled(case: &Case, memory: &[Remembered]) -> Vec<Candidate> {
    memory
        .iter()
        .filter(|entry| entry.losses <= entry.wins)
        .filter_map(|entry| candidate(case, entry))
        .collect()
}

fn candidate(case: &Case, entry: &Remembered) -> Option<Candidate> {
    let script = case.script?;
    let after = replaced(&script.text, &entry.edits)?;
    let won = format!(
        "the same failure was mended {} time(s) this way, and {} time(s) not",
        entry.wins, entry.losses
    );
    Some(Candidate {
        diagnosis: Diagnosis {
            root_cause: format!("{}; seen before: {}", case.report.core_error, entry.summary),
            evidence: vec![won],
            change: What::Script,
            strategy: entry.summary.clone(),
            verify: vec![Check::Succeeded],
        },
        proposal: Proposal {
            source: Source::Memory { entry: entry.entry.clone() },
            changes: vec![FileChange {
                path: script.path.clone(),
                before: Some(script.text.clone().into_bytes()),
                after: Some(after.into_bytes()),
                mode: None,
            }],
            summary: vec![entry.summary.clone()],
            // What the entry changed is judged again by the guard; the memory itself vouches for nothing.
            risk: Risk::Medium,
            changes_meaning: false,
            rollback: "put the file back as it was".to_owned(),
        },
        scenarios: Vec::new(),
    })
}

/// The text with every old part replaced; `None` unless each stands there exactly once.
fn replaced(text: &str, edits: &[(String, String)]) -> Option<String> {
    if edits.is_empty() {
        return None;
    }
    let mut out = text.to_owned();
    for (old, new) in edits {
        if old.is_empty() || out.matches(old.as_str()).nth(1).is_some() || !out.contains(old.as_str()) {
            return None;
        }
        out = out.replacen(old.as_str(), new, 1);
    }
    (out != text).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(old: &str, new: &str) -> (String, String) {
        (old.to_owned(), new.to_owned())
    }

    #[test]
    fn fits_only_where_each_old_text_stands_once() {
        assert_eq!(replaced("a\nb\n", &[pair("b\n", "c\n")]), Some("a\nc\n".to_owned()));
        assert_eq!(replaced("b\nb\n", &[pair("b\n", "c\n")]), None);
        assert_eq!(replaced("a\n", &[pair("b\n", "c\n")]), None);
        assert_eq!(replaced("a\n", &[pair("", "c\n")]), None);
        assert_eq!(replaced("a\n", &[]), None);
    }
}
