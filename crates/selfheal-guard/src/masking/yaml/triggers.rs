//! When a pipeline runs: events that no longer start it, and filters that newly keep it from running.

use std::collections::BTreeSet;

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::yaml::{Entry, below};

use crate::finding::at;

/// The events that start a workflow, from GitHub's documentation; another name is most likely a misspelt one.
const EVENTS: &[&str] = &[
    "push",
    "pull_request",
    "pull_request_target",
    "schedule",
    "release",
    "workflow_call",
    "workflow_run",
    "merge_group",
    "check_run",
    "check_suite",
    "create",
    "delete",
    "deployment",
    "issues",
    "issue_comment",
    "status",
];

/// Filters that keep an event from starting a workflow.
const FILTERS: &[&str] = &["paths-ignore", "branches-ignore", "tags-ignore", "paths"];

/// What starts the pipeline less often.
pub fn compare(old: &[Entry], new: &[Entry]) -> Vec<Finding> {
    let (Some(had), Some(has)) = (place(old), place(new)) else { return Vec::new() };
    let line = new.get(has).map_or(1, |entry| entry.line);
    let (before, after) = (events(old, had), events(new, has));
    let lost = before.iter().find(|event| EVENTS.contains(&event.as_str()) && !after.contains(*event));
    let mut out = Vec::new();
    if let Some(event) = lost {
        let why = format!("the pipeline no longer runs at `{event}`");
        out.push(at("masking/step-skipped", line, Weight::Refuse, why));
    }
    let count = |all: &[Entry], place: usize, key: &str| {
        below(all, place).iter().filter(|entry| entry.key == key).count()
    };
    if let Some(key) = FILTERS.iter().find(|key| count(new, has, key) > count(old, had, key)) {
        let why = format!("`{key}` keeps the pipeline from running");
        out.push(at("masking/step-skipped", line, Weight::Refuse, why));
    }
    out
}

/// Where a workflow says when it runs.
fn place(all: &[Entry]) -> Option<usize> {
    all.iter()
        .position(|entry| entry.indent == 0 && matches!(entry.key.trim_matches(['"', '\'']), "on" | "true"))
}

/// The events that start a workflow.
fn events(all: &[Entry], place: usize) -> BTreeSet<String> {
    let inline = all.get(place).map(|entry| entry.value.as_str()).unwrap_or_default();
    let inner = below(all, place);
    let first = inner.iter().map(|entry| entry.indent).min().unwrap_or(0);
    let own = inner.iter().filter(|entry| entry.indent == first);
    let named = own.map(|entry| if entry.key.is_empty() { &entry.value } else { &entry.key });
    let words = inline.split(['[', ']', ',', '{', '}', ' ', ':']).map(str::to_owned).chain(named.cloned());
    words.map(|word| word.trim_matches(['"', '\'', ' ']).to_owned()).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfheal_syntax::yaml::entries;

    fn rules(before: &str, after: &str) -> usize {
        compare(&entries(before), &entries(after)).len()
    }

    #[test]
    fn events_that_are_gone_and_new_filters_are_found() {
        let old = "on:\n  push:\n    branches: [main]\n  pull_request:\njobs:\n  a:\n";
        assert_eq!(rules(old, "on:\n  push:\n    branches: [main]\njobs:\n  a:\n"), 1);
        assert_eq!(rules(old, "on: workflow_dispatch\njobs:\n  a:\n"), 1);
        assert_eq!(rules(old, &old.replace("[main]", "[main]\n    paths-ignore: [src]")), 1);
        assert_eq!(rules(old, &old.replace("main", "master")), 0);
        assert_eq!(rules("on: [pushes, push]\n", "on: [push]\n"), 0);
        assert_eq!(rules("on:\n  - push\n  - pull_request\n", "on:\n  - push\n"), 1);
    }
}
