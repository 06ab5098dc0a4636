//! # perl splits at a pattern where a character is meant
//!
//! ## What it finds
//! A perl program splits lines with `split('|', …)` or `split(".", …)`, and finds another number of fields than it wants.
//!
//! ## Why it fails
//! The first argument of `split` is a pattern, in quotes, too. `|` means "nothing or nothing", which is between any two characters,
//! and `.` is any character.
//!
//! ## Fix
//! The character is written as itself: `split(/\|/, …)`.
//!
//! ## Example
//! ```perl
//! my @f = split('|', $line);
//! ```
//! ```perl
//! my @f = split(/\|/, $line);
//! ```
//!
//! ## Safety
//! Only a single character of those that mean something else in a pattern, in quotes: nobody splits so on purpose. It changes what
//! is read, so the risk is medium.

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::text::{self, edits_by_line};

rule!(SplitPattern, "split_pattern", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let files = case.files().into_iter().filter(|file| file.language == Language::Perl);
    let found = files.filter_map(|file| {
        let edits = edits_by_line(&file.text, |_, line| literal(line));
        let line = edits.first()?.first;
        Draft::new(
            "split_pattern",
            format!("line {line}: split takes the character for a pattern"),
            "write the character as itself",
        )
        .evidence("the first argument of split is a pattern, in quotes, too")
        .meaning()
        .edit(&file, &edits, format!("{}: the character itself", text::lines_in_words(&edits)))
        .done()
    });
    found.take(1).collect()
}

/// A line with every `split` at a quoted special character mended.
fn literal(line: &str) -> Option<String> {
    let mut out = line.to_owned();
    for mark in ['|', '.', '+', '*', '?'] {
        for quote in ['\'', '"'] {
            for open in ["split(", "split (", "split "] {
                let old = format!("{open}{quote}{mark}{quote}");
                out = out.replace(&old, &format!("{open}/\\{mark}/"));
            }
        }
    }
    (out != line && !line.trim_start().starts_with('#')).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    #[test]
    fn splits_at_the_character() {
        let case =
            TestCase::new("x.pl", "my @f = split('|', $l);\nmy @v = split \".\", $x;\n", TestScene::new())
                .at(1);
        assert_eq!(case.healed(&SplitPattern), "my @f = split(/\\|/, $l);\nmy @v = split /\\./, $x;\n");
    }

    #[test]
    fn splits_with_a_limit_too() {
        let case = TestCase::new("x.pl", "my ($k, $v) = split(\"|\", $l, 2);\n", TestScene::new()).at(1);
        assert_eq!(case.healed(&SplitPattern), "my ($k, $v) = split(/\\|/, $l, 2);\n");
    }

    #[test]
    fn leaves_patterns_and_plain_characters_alone() {
        for line in ["split(/|/, $l)", "split(',', $l)", "split('||', $l)", "# split('|', $l)"] {
            assert!(
                TestCase::new("x.pl", &format!("{line};\n"), TestScene::new()).at(1).silent(&SplitPattern),
                "{line}"
            );
        }
    }
}
