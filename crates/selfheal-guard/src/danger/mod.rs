//! Danger: operations in a script that can do harm which the snapshots of the job's own files do not cover.
//!
//! Shell is followed by value: variables, wrappers, nested shells and interpreters are unwrapped until a command stands
//! there or cannot be known. Other languages are read by calls or by tables. What an operation touches is judged by the
//! job's [`Roots`]: inside of them deleting and overwriting is *medium*, because a snapshot brings it back; outside it is
//! *high*.

mod languages;
mod playbook;
mod python;
mod recipes;
pub mod shell;
mod sql;
mod variables;

use std::time::Duration;

use selfheal_core::admission::Danger;
use selfheal_syntax::{Language, watched};

use crate::scope::Roots;

pub(crate) use sql::statements as sql_statements;

/// One dangerous operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The line, from 1.
    pub line: u32,
    /// How dangerous.
    pub danger: Danger,
    /// A stable name: `danger/delete-outside`.
    pub rule: String,
    /// Why, in one sentence.
    pub why: String,
    /// What it is about: the command and its target, for comparison of two versions.
    pub subject: String,
}

impl Operation {
    /// Whether two operations are the same capability: the same rule and command, and for high ones the same operands.
    /// Options and the order of operands do not count.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        let command = |one: &Self| one.subject.split_whitespace().next().map(str::to_owned);
        let alike = self.rule == other.rule && command(self) == command(other);
        alike && (self.danger < Danger::High || self.operands() == other.operands())
    }

    fn operands(&self) -> Vec<&str> {
        let mut words: Vec<&str> =
            self.subject.split_whitespace().filter(|word| !word.starts_with('-')).collect();
        words.sort_unstable();
        words
    }
}

/// The dangerous operations of a text, medium and high ones, with nothing but the working folder as root.
#[must_use]
pub fn danger_of(language: Language, text: &str) -> Vec<Operation> {
    operations(language, text, &Roots::default()).unwrap_or_else(|| {
        let why = "the text is too large to be judged".to_owned();
        let rule = "danger/unjudged".to_owned();
        vec![Operation { line: 1, danger: Danger::High, rule, why, subject: String::new() }]
    })
}

/// How long judging one text may take; what takes longer cannot be judged. Every step is bounded by itself: this is for the
/// case that a bound is wrong.
const LIMIT: Duration = Duration::from_secs(30);

/// The dangerous operations of a text by the roots of its job; `None` when it cannot be judged.
#[must_use]
pub fn operations(language: Language, text: &str, roots: &Roots) -> Option<Vec<Operation>> {
    if text.len() > selfheal_syntax::tree::MAX_BYTES {
        return None;
    }
    if watched::is_watched() {
        return judged(language, text, roots);
    }
    let (text, roots) = (text.to_owned(), roots.clone());
    watched::within(LIMIT, move || judged(language, &text, &roots)).flatten()
}

fn judged(language: Language, text: &str, roots: &Roots) -> Option<Vec<Operation>> {
    let mut out = match language {
        Language::Shell => shell::operations(text, roots)?,
        Language::Python => python::operations(text, roots)?,
        Language::Sql => sql::operations(text),
        _ => languages::operations(language, text, roots)?,
    };
    out.sort_by(|one, other| {
        (one.line, &one.rule, &one.subject).cmp(&(other.line, &other.rule, &other.subject))
    });
    out.dedup();
    Some(out)
}
