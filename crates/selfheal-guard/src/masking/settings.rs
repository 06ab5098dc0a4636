//! Files that do not run: lists of checksums, which are what a check is made against, and settings, of which a part may be
//! gone.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::diff;

use crate::finding::{at, whole};

/// What a change of settings or data hides.
pub fn compare(before: &str, after: &str) -> Vec<Finding> {
    let mut out = vec![whole("masking/settings", Weight::Medium, "it changes settings or data of the job")];
    out.extend(checksums(before, after));
    out.extend(part_gone(before, after));
    out
}

/// A list of checksums says what files must be. Another sum makes damage look right.
fn checksums(before: &str, after: &str) -> Option<Finding> {
    static SUM: OnceLock<Option<Regex>> = OnceLock::new();
    let sum = SUM
        .get_or_init(|| Regex::new(r"^(?:[0-9a-fA-F]{32,128}\s|[A-Z0-9-]+ \(.+\) = [0-9a-fA-F]{32,})").ok());
    let sum = sum.as_ref()?;
    let is_list = before.lines().filter(|line| !line.trim().is_empty()).all(|line| sum.is_match(line));
    (is_list && sum.is_match(before) && before != after)
        .then(|| whole("masking/check-changed", Weight::Refuse, "the checksums that are checked are others"))
}

/// Several lines that are gone with nothing in their place.
fn part_gone(before: &str, after: &str) -> Option<Finding> {
    let says_something = |line: &&String| {
        let text = line.trim();
        !text.is_empty() && !text.starts_with(['#', ';'])
    };
    let lost = diff::hunks(before, after)
        .into_iter()
        .find(|hunk| hunk.added.is_empty() && hunk.removed.iter().filter(says_something).count() > 1)?;
    let line = lost.new.start.max(1);
    Some(at("masking/part-gone", line, Weight::Refuse, "a part of the settings is gone"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worst(before: &str, after: &str) -> Option<Weight> {
        compare(before, after).into_iter().map(|finding| finding.weight).max()
    }

    #[test]
    fn other_checksums_are_refused() {
        let sum = |digit: &str| format!("{}  a.csv\n", digit.repeat(64));
        assert_eq!(worst(&sum("a"), &sum("b")), Some(Weight::Refuse));
        assert_eq!(worst("name = a\n", "name = b\n"), Some(Weight::Medium));
    }

    #[test]
    fn a_block_that_is_gone_is_refused_and_a_mended_line_is_not() {
        let before = "server {\n  a 1\n}\nlocation /x {\n  proxy y;\n}\n";
        assert_eq!(worst(before, "server {\n  a 1\n}\n"), Some(Weight::Refuse));
        assert_eq!(worst(before, &before.replace("a 1", "a 1;")), Some(Weight::Medium));
        assert_eq!(worst("a=1\na=1\n", "a=1\n"), Some(Weight::Medium));
    }
}
