//! Candidates: what rules propose, and the draft they are made from.

use std::path::{Path, PathBuf};

use selfheal_core::diagnosis::{Basis, Diagnosis, What};
use selfheal_core::edit::{LineEdit, apply};
use selfheal_core::proposal::{FileChange, Proposal, Risk, Source};
use selfheal_core::verification::{Check, Expect, Scenario, SceneEdit};

use crate::case::{Case, ScriptFile};
use crate::caution;
use crate::manual::Applicability;
use crate::rules::{Rule, rules};

/// At most so many candidates are given back: each may cost several boxed runs.
const MOST: usize = 8;

/// What a rule or the memory proposes for a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Why the job failed.
    pub diagnosis: Diagnosis,
    /// The repair.
    pub proposal: Proposal,
    /// Start states in which the repaired job must succeed, fail, or do what the original did.
    pub scenarios: Vec<Scenario>,
}

/// What rules may be used.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Whether rules that are still in preview are used, too.
    pub preview: bool,
    /// Rules that are not asked.
    pub off: &'a [String],
    /// Whether rules may not read what people wrote down: notes, samples, the help of programs. What makes rules careful
    /// reads them all the same.
    pub unread: bool,
    /// Called with the name of each rule and what runs it, so that a caller can measure it; it must run it once.
    pub around: Option<Around<'a>>,
}

/// What stands around the run of a rule: gets its name and what runs it.
pub type Around<'a> = &'a dyn Fn(&'static str, &mut dyn FnMut());

/// What all rules propose for a failure, best first and at most eight. Rules are asked in the order of [`rules`], which
/// has the more specific ones first.
#[must_use]
pub fn candidates(case: &Case, options: &Options) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let unread = crate::unread::Unread { below: case.scene };
    let seen = Case { scene: if options.unread { &unread } else { case.scene }, ..*case };
    for rule in rules() {
        let off = options.off.iter().any(|name| name == rule.name()) || (rule.preview() && !options.preview);
        if rule.applicability() == Applicability::Display || off {
            continue;
        }
        for candidate in asked(*rule, &seen, options) {
            let known = found.iter().any(|other| other.proposal.changes == candidate.proposal.changes);
            if !known && !candidate.proposal.changes.is_empty() && caution::allows(case, &candidate.proposal)
            {
                found.push(candidate);
            }
        }
        if found.len() >= MOST {
            break;
        }
    }
    found.truncate(MOST);
    found
}

fn asked(rule: &dyn Rule, case: &Case, options: &Options) -> Vec<Candidate> {
    let mut found = Vec::new();
    match options.around {
        Some(around) => around(rule.name(), &mut || found = rule.propose(case)),
        None => found = rule.propose(case),
    }
    found
}

/// A candidate in the making.
pub(crate) struct Draft {
    rule: &'static str,
    cause: String,
    strategy: String,
    evidence: Vec<String>,
    changes: Vec<FileChange>,
    summary: Vec<String>,
    risk: Risk,
    changes_meaning: bool,
    scenarios: Vec<Scenario>,
    verify: Vec<Check>,
}

impl Draft {
    /// Begins a candidate of low risk: `cause` names the reason, `strategy` says how it is mended.
    pub(crate) fn new(rule: &'static str, cause: impl Into<String>, strategy: impl Into<String>) -> Self {
        Self {
            rule,
            cause: cause.into(),
            strategy: strategy.into(),
            evidence: Vec::new(),
            changes: Vec::new(),
            summary: Vec::new(),
            risk: Risk::Low,
            changes_meaning: false,
            scenarios: Vec::new(),
            verify: vec![Check::Succeeded],
        }
    }

    /// Adds something that was seen.
    pub(crate) fn evidence(mut self, text: impl Into<String>) -> Self {
        self.evidence.push(text.into());
        self
    }

    /// Says that the repair changes what is read or computed.
    pub(crate) fn meaning(mut self) -> Self {
        self.risk = Risk::Medium;
        self.changes_meaning = true;
        self
    }

    /// Raises the stated risk.
    pub(crate) fn raise(&mut self, risk: Risk) {
        self.risk = self.risk.max(risk);
    }

    /// Replaces the text of a file.
    pub(crate) fn rewrite(mut self, file: &ScriptFile, after: String, summary: impl Into<String>) -> Self {
        if after != file.text {
            self.summary.push(summary.into());
            self.change(&file.path, file.text.as_bytes(), Some(after.into_bytes()), None);
        }
        self
    }

    /// Changes lines of a file; an edit that does not fit leaves the draft without a change.
    pub(crate) fn edit(self, file: &ScriptFile, edits: &[LineEdit], summary: impl Into<String>) -> Self {
        match apply(&file.text, edits) {
            Ok(after) => self.rewrite(file, after, summary),
            Err(_) => self,
        }
    }

    /// Sets the permission bits of a file.
    pub(crate) fn mode(mut self, path: &Path, content: &[u8], mode: u32, summary: impl Into<String>) -> Self {
        self.summary.push(summary.into());
        self.change(path, content, None, Some(mode));
        self
    }

    fn change(&mut self, path: &Path, before: &[u8], after: Option<Vec<u8>>, mode: Option<u32>) {
        if let Some(known) = self.changes.iter_mut().find(|change| change.path == path) {
            known.after = after.or_else(|| known.after.take());
            known.mode = mode.or(known.mode);
            return;
        }
        self.changes.push(FileChange {
            path: path.to_path_buf(),
            before: Some(before.to_vec()),
            after: Some(after.unwrap_or_else(|| before.to_vec())),
            mode,
        });
    }

    /// Adds a start state to try.
    pub(crate) fn scenario(
        mut self,
        name: &str,
        title: impl Into<String>,
        expect: Expect,
        setup: Vec<SceneEdit>,
    ) -> Self {
        let scenario =
            Scenario { name: name.to_owned(), title: title.into(), setup, expect, checks: Vec::new() };
        self.scenarios.push(scenario);
        self
    }

    /// Adds checks to the start state that was added last.
    pub(crate) fn checked(mut self, checks: Vec<Check>) -> Self {
        if let Some(last) = self.scenarios.last_mut() {
            last.checks.extend(checks);
        }
        self
    }

    /// The candidate, unless nothing is changed.
    pub(crate) fn done(self) -> Option<Candidate> {
        if self.changes.is_empty() {
            return None;
        }
        let rollback = match self.changes.len() {
            1 => "put the file back as it was".to_owned(),
            count => format!("put the {count} files back as they were"),
        };
        Some(Candidate {
            diagnosis: Diagnosis {
                root_cause: self.cause,
                evidence: self.evidence,
                change: What::Script,
                strategy: self.strategy,
                verify: self.verify,
                basis: Basis::Project,
            },
            proposal: Proposal {
                source: Source::Rules { names: vec![self.rule.to_owned()] },
                changes: self.changes,
                summary: self.summary,
                risk: self.risk,
                changes_meaning: self.changes_meaning,
                rollback,
                installs: Vec::new(),
            },
            scenarios: self.scenarios,
        })
    }
}

/// Removing a path as the set-up of a scenario.
pub(crate) fn removed(path: impl Into<PathBuf>) -> SceneEdit {
    SceneEdit::Remove { path: path.into() }
}

/// Writing a file as the set-up of a scenario.
pub(crate) fn written(path: impl Into<PathBuf>, content: &str) -> SceneEdit {
    SceneEdit::Write { path: path.into(), content: content.as_bytes().to_vec(), mode: None }
}
