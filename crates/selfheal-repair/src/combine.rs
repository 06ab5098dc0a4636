//! Two successive proposals as one.

use selfheal_core::proposal::{FileChange, Proposal, Source};

/// Composes two successive proposals: the second was made for the files as the first leaves them. What comes out changes
/// the files of the first state to those of the last; it is as risky as the riskier of the two.
#[must_use]
pub fn combine(first: &Proposal, second: &Proposal) -> Proposal {
    let mut changes = first.changes.clone();
    for change in &second.changes {
        match changes.iter_mut().find(|known| known.path == change.path) {
            Some(known) => merge(known, change),
            None => changes.push(change.clone()),
        }
    }
    changes.retain(|change| change.before != change.after || change.mode.is_some());
    Proposal {
        source: joined(&first.source, &second.source),
        changes,
        summary: first.summary.iter().chain(&second.summary).cloned().collect(),
        risk: first.risk.max(second.risk),
        changes_meaning: first.changes_meaning || second.changes_meaning,
        rollback: "put the changed files back as they were".to_owned(),
        installs: first.installs.iter().chain(&second.installs).cloned().collect(),
    }
}

fn merge(known: &mut FileChange, change: &FileChange) {
    known.after.clone_from(&change.after);
    known.mode = change.mode.or(known.mode);
}

/// Rules add up; otherwise the source that deserves more caution stands for both: a model's, then the user's, then the
/// memory's.
fn joined(first: &Source, second: &Source) -> Source {
    if let (Source::Rules { names: a }, Source::Rules { names: b }) = (first, second) {
        let mut names = a.clone();
        names.extend(b.iter().filter(|name| !a.contains(name)).cloned());
        return Source::Rules { names };
    }
    let rank = |source: &Source| match source {
        Source::Rules { .. } => 0,
        Source::Memory { .. } => 1,
        Source::Given => 2,
        Source::Model { .. } => 3,
    };
    if rank(second) > rank(first) { second.clone() } else { first.clone() }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use selfheal_core::proposal::Risk;

    use super::*;

    fn proposal(rule: &str, path: &str, before: &str, after: &str) -> Proposal {
        Proposal {
            source: Source::Rules { names: vec![rule.to_owned()] },
            changes: vec![FileChange {
                path: PathBuf::from(path),
                before: Some(before.as_bytes().to_vec()),
                after: Some(after.as_bytes().to_vec()),
                mode: None,
            }],
            summary: vec![rule.to_owned()],
            risk: Risk::Low,
            changes_meaning: false,
            rollback: String::new(),
            installs: Vec::new(),
        }
    }

    #[test]
    fn takes_before_of_the_first_and_after_of_the_second() {
        let second =
            Proposal { risk: Risk::Medium, changes_meaning: true, ..proposal("b", "/j/x", "2", "3") };
        let both = combine(&proposal("a", "/j/x", "1", "2"), &second);
        assert_eq!(both.changes, proposal("", "/j/x", "1", "3").changes);
        assert_eq!(both.source, Source::Rules { names: vec!["a".into(), "b".into()] });
        assert_eq!((both.risk, both.changes_meaning, both.summary.len()), (Risk::Medium, true, 2));
    }

    #[test]
    fn keeps_different_files_apart_and_drops_what_came_back() {
        let both = combine(&proposal("a", "/j/x", "1", "2"), &proposal("b", "/j/y", "1", "2"));
        assert_eq!(both.changes.len(), 2);
        assert!(
            combine(&proposal("a", "/j/x", "1", "2"), &proposal("b", "/j/x", "2", "1")).changes.is_empty()
        );
    }

    #[test]
    fn a_model_outweighs_a_rule() {
        let model = Proposal { source: Source::Model { name: "m".into() }, ..proposal("", "/j/x", "2", "3") };
        assert_eq!(combine(&proposal("a", "/j/x", "1", "2"), &model).source.tier(), "model");
    }
}
