//! Short ways to make a finding.

use selfheal_core::admission::{Finding, Weight};

/// A finding about a line of the new text.
pub fn at(rule: &str, line: u32, weight: Weight, why: impl Into<String>) -> Finding {
    Finding { rule: rule.to_owned(), file: None, line: Some(line), why: why.into(), weight }
}

/// A finding about a whole file.
pub fn whole(rule: &str, weight: Weight, why: impl Into<String>) -> Finding {
    Finding { rule: rule.to_owned(), file: None, line: None, why: why.into(), weight }
}
