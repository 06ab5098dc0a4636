//! Masking: a change that hides the failure instead of repairing it.
//!
//! For shell and Python both texts are compared by what happens when a step fails (its *handling*), which options and
//! checks are in force, and which steps can be reached at all. For the other languages tables of patterns say what must not
//! be new ([`lines`]). A finding of weight *refuse* means that the change hides a failure; *medium* that it may.

mod change;
mod cut;
mod downgraded;
mod dropped;
mod embedded;
pub mod lines;
mod loss;
mod made_up;
mod make;
mod narrower;
mod node;
mod perl;
mod python;
mod replaced;
mod ruby;
mod settings;
mod shell;
mod sql;
pub(crate) mod text;
mod yaml;

use std::time::Duration;

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::{Language, diff, watched};

pub(crate) use cut::cuts;

use crate::finding::whole;

/// How many findings of one file are kept.
const MAX_FINDINGS: usize = 24;

/// The most that a change may remove and add together, in bytes. What a repair may change is far below; comparing two
/// programs that have nothing in common takes the product of their sizes, so more is held and not judged.
const MAX_CHANGED: usize = 16 * 1024;

/// How long judging one change may take; what takes longer is held.
const LIMIT: Duration = Duration::from_secs(30);

/// What in a change hides a failure.
#[must_use]
pub fn masking_of(language: Language, before: &str, after: &str) -> Vec<Finding> {
    if before == after {
        return Vec::new();
    }
    if before.len() + after.len() > MAX_CHANGED && changed_bytes(before, after) > MAX_CHANGED {
        let why = "more changes at once than can be compared";
        return vec![whole("masking/too-much", Weight::Hold, why)];
    }
    if watched::is_watched() {
        return judged(language, before, after);
    }
    let (before, after) = (before.to_owned(), after.to_owned());
    watched::within(LIMIT, move || judged(language, &before, &after))
        .unwrap_or_else(|| vec![whole("masking/unjudged", Weight::Hold, "it takes too long to be judged")])
}

fn judged(language: Language, before: &str, after: &str) -> Vec<Finding> {
    let mut out = match language {
        Language::Shell => shell::compare(before, after),
        Language::Python => python::compare(before, after),
        Language::Other => unknown(before, after),
        Language::Make => make::compare(before, after),
        Language::Node => node::compare(before, after),
        Language::Perl => perl::compare(before, after),
        Language::Ruby => ruby::compare(before, after),
        Language::Sql => sql::compare(before, after),
        Language::Yaml => yaml::compare(before, after),
        _ => Vec::new(),
    };
    out.extend(embedded::compare(language, before, after));
    out.extend(lines::compare(language, before, after));
    out.extend(loss::compare(language, before, after));
    let places = change::places(language, before, after);
    out.extend(made_up::compare(language, &places));
    out.extend(dropped::compare(language, &places));
    out.extend(narrower::compare(language, &places));
    out.extend(cut::compare(&places, after));
    out.extend(downgraded::compare(&places));
    out.extend(replaced::compare(language, &places, after));
    out.truncate(MAX_FINDINGS);
    out
}

/// The bytes of all removed and added lines; line ends of another system do not count.
fn changed_bytes(before: &str, after: &str) -> usize {
    let hunks = diff::hunks(&before.replace("\r\n", "\n"), &after.replace("\r\n", "\n")).into_iter();
    hunks.flat_map(|hunk| hunk.removed.into_iter().chain(hunk.added)).map(|line| line.len() + 1).sum()
}

/// A program in a language that is not known is held. Settings and lists do not run: what a change of them hides shows in
/// the job that reads them, so a person is asked only about what is more than a small repair.
fn unknown(before: &str, after: &str) -> Vec<Finding> {
    if before.starts_with("#!") {
        return vec![whole(
            "masking/unknown-language",
            Weight::Hold,
            "its language is not known here, so the change cannot be judged",
        )];
    }
    settings::compare(before, after)
}
