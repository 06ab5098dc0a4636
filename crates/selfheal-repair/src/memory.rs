//! Remembered repairs: what worked before is proposed again where every old text stands exactly once. What changes from run
//! to run (a date in a path) and the script's folder are kept as marks, and filled in from the failure at hand.

use selfheal_core::diagnosis::{Basis, Diagnosis, What};
use selfheal_core::fault::Fault;
use selfheal_core::ports::Remembered;
use selfheal_core::proposal::{FileChange, Proposal, Risk, Source};
use selfheal_core::verification::Check;
use selfheal_syntax::diff;

use crate::candidate::Candidate;
use crate::case::Case;

/// Lines around a hunk that are tried to make it stand out.
const MOST_AROUND: u32 = 6;
/// The shortest value that is kept as a mark: a shorter one stands in too many other words.
const SHORTEST: usize = 4;

/// Search and replace: pairs of old and new text.
pub type Edits = Vec<(String, String)>;

/// What a repair of the script teaches: its hunks as search and replace, with marks for what changes; `None` where these do
/// not give the change again.
#[must_use]
pub fn lesson(case: &Case, change: &FileChange) -> Option<Edits> {
    let before = String::from_utf8(change.before.clone()?).ok()?;
    let after = String::from_utf8(change.after.clone()?).ok()?;
    if before.contains(['⟦', '⟧']) || after.contains(['⟦', '⟧']) {
        return None;
    }
    let edits = diff::hunks(&before, &after)
        .iter()
        .map(|hunk| {
            (0..MOST_AROUND)
                .map(|around| widened(&before, &after, hunk, around))
                .find(|(old, _)| !old.is_empty() && before.matches(old.as_str()).count() == 1)
        })
        .collect::<Option<Edits>>()?;
    if replaced(&before, &edits).as_ref() != Some(&after) {
        return None;
    }
    let marks = marks(case);
    let marked = |text: &str| {
        marks.iter().fold(text.to_owned(), |text, (name, value)| text.replace(value, &format!("⟦{name}⟧")))
    };
    Some(edits.iter().map(|(old, new)| (marked(old), marked(new))).collect())
}

/// A hunk with lines around it, in the old and in the new text.
fn widened(before: &str, after: &str, hunk: &diff::Hunk, around: u32) -> (String, String) {
    let take = |text: &str, lines: &std::ops::Range<u32>| {
        let from = lines.start.saturating_sub(around).max(1);
        let count = (lines.end + around).saturating_sub(from);
        text.split_inclusive('\n').skip(from as usize - 1).take(count as usize).collect::<String>()
    };
    (take(before, &hunk.old), take(after, &hunk.new))
}

/// What may differ the next time, by name: fields of the fault that hold digits, and the script's folder. Longer ones first.
fn marks(case: &Case) -> Vec<(String, String)> {
    let mut marks: Vec<(String, String)> = case.report.fault().into_iter().flat_map(fields).collect();
    marks.retain(|(_, value)| value.chars().any(|c| c.is_ascii_digit()));
    let home = case.home().and_then(|home| home.to_str().map(str::to_owned));
    marks.extend(home.map(|home| ("folder".to_owned(), home)));
    marks.retain(|(_, value)| value.len() >= SHORTEST && !value.contains('\n'));
    marks.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    marks
}

fn fields(fault: &Fault) -> Vec<(String, String)> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(fault) else { return Vec::new() };
    let texts = fields.into_iter().filter(|(name, _)| name != "fault" && name != "message");
    texts.filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect()
}

/// The edits of an entry with its marks filled in from the failure at hand; `None` where one has no value.
fn filled(case: &Case, entry: &Remembered) -> Option<Edits> {
    let mut values: Vec<(String, String)> = case.report.fault().into_iter().flat_map(fields).collect();
    values.extend(case.home().and_then(|home| Some(("folder".to_owned(), home.to_str()?.to_owned()))));
    let fill = |text: &str| {
        let full = values
            .iter()
            .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("⟦{name}⟧"), value));
        (!full.contains('⟦')).then_some(full)
    };
    entry.edits.iter().map(|(old, new)| Some((fill(old)?, fill(new)?))).collect()
}

/// Whether an entry's edits fit the script of a failure.
#[must_use]
pub fn fits(case: &Case, entry: &Remembered) -> bool {
    let edits = filled(case, entry);
    case.script.zip(edits).is_some_and(|(script, edits)| replaced(&script.text, &edits).is_some())
}

/// The candidates that remembered repairs give for a failure, in the order in which they were recalled. A repair that
/// lost as often as it won, that expired, or whose texts do not fit, gives none.
#[must_use]
pub fn recalled(case: &Case, memory: &[Remembered]) -> Vec<Candidate> {
    memory
        .iter()
        .filter(|entry| entry.losses < entry.wins && entry.conditions.expired.is_none())
        .filter_map(|entry| candidate(case, entry))
        .collect()
}

fn candidate(case: &Case, entry: &Remembered) -> Option<Candidate> {
    let script = case.script?;
    let after = replaced(&script.text, &filled(case, entry)?)?;
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
            basis: Basis::Project,
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
            // What the entry changed is judged again by the guard; the memory itself vouches for nothing, neither for the
            // risk nor for what is read and computed. A rule that proposes the same change does: see `with_rules`.
            risk: Risk::Medium,
            changes_meaning: true,
            rollback: "put the file back as it was".to_owned(),
            installs: Vec::new(),
        },
        scenarios: Vec::new(),
    })
}

/// Remembered repairs first, then what rules propose. Where a rule proposes what is remembered, it is one candidate: the
/// memory's, with what the rule says of its risk and meaning, and with the rule's start states to try.
#[must_use]
pub fn with_rules(remembered: Vec<Candidate>, mut rules: Vec<Candidate>) -> Vec<Candidate> {
    let mut out = remembered;
    for candidate in &mut out {
        let same = rules.iter().position(|rule| rule.proposal.changes == candidate.proposal.changes);
        if let Some(rule) = same.map(|at| rules.remove(at)) {
            candidate.proposal.risk = rule.proposal.risk;
            candidate.proposal.changes_meaning = rule.proposal.changes_meaning;
            candidate.scenarios = rule.scenarios;
        }
    }
    out.extend(rules);
    out
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

    use selfheal_core::ids::Signature;
    use selfheal_core::ports::Conditions;

    use crate::testing::{TestCase, TestScene, no_such};

    fn taught(case: &TestCase, after: &str) -> Remembered {
        let case = case.case();
        let script = case.script.unwrap();
        let change = FileChange {
            path: script.path.clone(),
            before: Some(script.text.clone().into_bytes()),
            after: Some(after.as_bytes().to_vec()),
            mode: None,
        };
        Remembered {
            entry: "e".to_owned(),
            signature: Signature::new("s"),
            script: script.path.clone(),
            edits: lesson(&case, &change).unwrap(),
            summary: "make the folder".to_owned(),
            wins: 1,
            losses: 0,
            conditions: Conditions::default(),
        }
    }

    fn healed(case: &TestCase, entry: &Remembered) -> Option<String> {
        let found = recalled(&case.case(), std::slice::from_ref(entry));
        let change = found.first()?.proposal.changes.first()?;
        String::from_utf8(change.after.clone()?).ok()
    }

    #[test]
    fn what_changes_from_run_to_run_is_filled_in_from_the_failure_at_hand() {
        let day = |day: &str| {
            let text = format!("set -e\ncp a out/{day}/a\n");
            TestCase::new("x.sh", &text, TestScene::new()).fault(no_such(&format!("out/{day}")))
        };
        let entry = taught(&day("2031-01-01"), "set -e\nmkdir -p out/2031-01-01\ncp a out/2031-01-01/a\n");
        assert!(
            entry.edits.iter().all(|(old, new)| old.contains("⟦path⟧") && new.contains("mkdir -p ⟦path⟧"))
        );
        let next = day("2031-02-07");
        assert_eq!(
            healed(&next, &entry).unwrap(),
            "set -e\nmkdir -p out/2031-02-07\ncp a out/2031-02-07/a\n"
        );
        assert!(fits(&next.case(), &entry));
    }

    #[test]
    fn an_entry_that_lost_expired_or_does_not_fit_gives_nothing() {
        let case = TestCase::new("x.sh", "cp a b\n", TestScene::new()).fault(no_such("b"));
        let entry = taught(&case, "mkdir -p b\ncp a b\n");
        assert!(healed(&case, &entry).is_some());
        assert_eq!(healed(&case, &Remembered { losses: 1, ..entry.clone() }), None);
        let expired = Conditions { expired: Some("x".to_owned()), ..Conditions::default() };
        assert_eq!(healed(&case, &Remembered { conditions: expired, ..entry.clone() }), None);
        let other = TestCase::new("x.sh", "cp a c\n", TestScene::new()).fault(no_such("b"));
        assert!(healed(&other, &entry).is_none() && !fits(&other.case(), &entry));
    }

    #[test]
    fn fits_only_where_each_old_text_stands_once() {
        assert_eq!(replaced("a\nb\n", &[pair("b\n", "c\n")]), Some("a\nc\n".to_owned()));
        assert_eq!(replaced("b\nb\n", &[pair("b\n", "c\n")]), None);
        assert_eq!(replaced("a\n", &[pair("b\n", "c\n")]), None);
        assert_eq!(replaced("a\n", &[pair("", "c\n")]), None);
        assert_eq!(replaced("a\n", &[]), None);
    }

    #[test]
    fn a_rule_says_what_a_remembered_change_risks() {
        let case = TestCase::new("x.sh", "cp a out/\n", TestScene::new()).fault(no_such("out/"));
        let entry = taught(&case, "mkdir -p out\ncp a out/\n");
        let remembered = || recalled(&case.case(), std::slice::from_ref(&entry));
        assert!(remembered()[0].proposal.changes_meaning, "nobody knows what a memory alone changes");
        let mut rule = remembered().remove(0);
        rule.proposal.risk = Risk::Low;
        rule.proposal.changes_meaning = false;
        rule.proposal.source = Source::Rules { names: vec!["missing_folder".to_owned()] };
        let mut other = rule.clone();
        other.proposal.changes[0].after = Some(b"other".to_vec());
        let all = with_rules(remembered(), vec![other.clone(), rule]);
        assert_eq!(all.len(), 2);
        assert!(matches!(all[0].proposal.source, Source::Memory { .. }));
        assert_eq!((all[0].proposal.risk, all[0].proposal.changes_meaning), (Risk::Low, false));
        assert_eq!(all[1], other);
    }
}
