//! Choices: changes of one kind each that *may* mend a failure, made by plain comparison of what failed with what is there.
//!
//! No rule would propose them on its own, since each is only likely. They are for a model that can tell which of a few numbered
//! changes is right, and cannot write one: a near name that the data has, another place of the same file, the form that a message
//! asks for, an option that a tool's help names. Each is admitted and proved like every other repair before it is offered at all.

mod literal;
mod names;
mod near;
mod places;
mod status;
mod told;

use std::collections::BTreeSet;

use selfheal_core::proposal::Proposal;
use selfheal_syntax::diff;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::{caution, notes, text};

/// At most so many are made: each costs a boxed run.
const MOST: usize = 16;
/// Characters of a line in what is said of a change.
const LINE: usize = 110;

/// One possible change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What it does, in one line.
    pub what: String,
    /// Whether what it puts in stands in the message or in what people wrote around the job.
    pub said: bool,
    /// The change.
    pub candidate: Candidate,
}

/// A change before it is one: a file with its new text, and why.
pub(crate) struct Offer {
    file: ScriptFile,
    after: String,
    cause: String,
}

impl Offer {
    fn new(file: &ScriptFile, after: String, cause: impl Into<String>) -> Self {
        Self { file: file.clone(), after, cause: cause.into() }
    }
}

/// The possible changes for a failure, likely ones first. `unread` says that what people wrote down may not be read.
#[must_use]
pub fn choices(case: &Case, unread: bool) -> Vec<Choice> {
    let without = crate::unread::Unread { below: case.scene };
    let case = &Case { scene: if unread { &without } else { case.scene }, ..*case };
    let near = near::Near::of(case);
    let offers = [
        told::offers(case, &near),
        places::offers(case, &near),
        names::offers(case, &near),
        status::offers(case, &near),
        literal::offers(case, &near),
    ];
    let written = written(case);
    let mut out: Vec<Choice> = Vec::new();
    for offer in offers.into_iter().flatten() {
        let Some(choice) = choice(&offer, &written) else { continue };
        let known =
            out.iter().any(|other| other.candidate.proposal.changes == choice.candidate.proposal.changes);
        if !known && caution::allows(case, &choice.candidate.proposal) {
            out.push(choice);
        }
        if out.len() >= MOST {
            break;
        }
    }
    out
}

/// Whether a change brings something, and every word of it stands in the message, in what people wrote, or in the files around.
/// Words that the script has already, and those of the language, are none that it brings.
#[must_use]
pub fn brings_only_what_is_there(case: &Case, proposal: &Proposal) -> bool {
    let (mut brought, mut old) = (BTreeSet::new(), BTreeSet::new());
    for change in &proposal.changes {
        let text = |content: &Option<Vec<u8>>| {
            String::from_utf8_lossy(content.as_deref().unwrap_or_default()).into_owned()
        };
        let (before, after) = (text(&change.before), text(&change.after));
        old.extend(words(&before).map(str::to_owned));
        let added = diff::hunks(&before, &after).into_iter().flat_map(|hunk| hunk.added);
        brought.extend(added.flat_map(|line| words(&line).map(str::to_owned).collect::<Vec<_>>()));
    }
    brought.retain(|word: &String| !old.contains(word) && !OF_LANGUAGES.contains(&word.as_str()));
    let near = near::Near::of(case).words(case);
    let written = written(case);
    let there = |word: &String| near.contains(word) || text::whole_words(&written, word).next().is_some();
    !brought.is_empty() && brought.iter().all(there)
}

/// All that people wrote around the job.
fn written(case: &Case) -> String {
    notes::notes(case).into_iter().map(|note| note.text + "\n").collect()
}

/// Words by which languages say how, not what.
const OF_LANGUAGES: [&str; 14] =
    ["if", "then", "else", "fi", "elif", "for", "in", "do", "done", "not", "and", "or", "with", "as"];

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !text::is_name(c)).filter(|word| word.len() > 1)
}

fn choice(offer: &Offer, written: &str) -> Option<Choice> {
    let hunks = diff::hunks(&offer.file.text, &offer.after);
    let first = hunks.first()?;
    let side = |lines: &[String]| {
        let line = lines.first().map_or("", String::as_str).trim();
        text::shortened(line, LINE)
    };
    let (old, new) = (side(&first.removed), side(&first.added));
    let name = offer.file.path.file_name()?.to_string_lossy().into_owned();
    let what = match (old.is_empty(), new.is_empty()) {
        (true, _) => format!("{name}: add the line `{new}`"),
        (false, true) => format!("{name}: leave out the line `{old}`"),
        (false, false) => format!("{name}: `{old}` becomes `{new}`"),
    };
    let line = first.new.start.max(1);
    let candidate = Draft::new("choices", offer.cause.clone(), format!("line {line}: {what}"))
        .evidence(offer.cause.clone())
        .meaning()
        .rewrite(&offer.file, offer.after.clone(), format!("line {line}: {what}"))
        .done()?;
    Some(Choice { said: is_said(&hunks, written), what, candidate })
}

/// Whether every word that a change brings stands in what was written, and it brings one.
fn is_said(hunks: &[diff::Hunk], written: &str) -> bool {
    let all = |lines: &[String]| -> Vec<String> {
        lines.iter().flat_map(|line| words(line).map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let old: Vec<String> = hunks.iter().flat_map(|hunk| all(&hunk.removed)).collect();
    let new: Vec<String> =
        hunks.iter().flat_map(|hunk| all(&hunk.added)).filter(|word| !old.contains(word)).collect();
    !new.is_empty() && new.iter().all(|word| text::whole_words(written, word).next().is_some())
}

#[cfg(test)]
mod tests;
