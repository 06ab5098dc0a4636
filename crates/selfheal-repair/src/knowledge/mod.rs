//! Knowledge for a failing job: cutting documents into pieces, asking for the ones that bear on a report, and telling on
//! which of them a repair rests.
//!
//! All of it is pure and bounded. Documents are hostile: they are redacted before they come here, a piece has a largest
//! size, and a document a largest number of pieces. What is chosen goes into a question as data between marks.

mod blocks;
mod choose;
mod query;
mod rank;

use std::collections::BTreeSet;
use std::path::Path;

use selfheal_core::knowledge::{Kind, Piece};
use selfheal_core::redact::Redacted;
use selfheal_syntax::source::Lines;

pub use choose::{Budget, Chosen, choose};
pub use query::{Asked, Query};
pub use rank::rank;

/// A piece is about so long, in characters.
const PIECE_CHARS: usize = 1_000;
/// No piece is longer; what one line has beyond that is left out.
const LONGEST: usize = 2_000;
/// The most pieces of one document.
const MOST: usize = 1_000;
/// How many headings stand above a piece.
const HEADINGS: usize = 3;
/// The longest heading.
const HEADING_CHARS: usize = 120;

/// Beginnings of the names of files that say what changed.
const NOTES: [&str; 9] =
    ["CHANGES", "CHANGELOG", "NEWS", "HISTORY", "RELEASE", "UPGRAD", "MIGRAT", "WHATSNEW", "WHATS-NEW"];

/// Whether a file says by its name what changed from version to version.
#[must_use]
pub fn is_release_notes(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    NOTES.iter().any(|start| name.starts_with(start))
}

/// Cuts a document into pieces: by headings, versions, functions or paragraphs, as its name says.
#[must_use]
pub fn pieces(path: &Path, kind: Kind, is_data: bool, text: &Redacted) -> Vec<Piece> {
    let lines: Vec<&str> = text.as_str().lines().collect();
    let places = Lines::of(text.as_str());
    let of_lines = |first: u32, last: u32| {
        let from = places.range(first).map_or(0, |bytes| bytes.start);
        let until = places.range(last).map_or(from, |bytes| bytes.end);
        let trimmed = text.as_str().get(from..until).map_or(0, |lines| lines.trim_end().len());
        text.part(from..from + trimmed)
    };
    let blocks = blocks::of(path, text.as_str(), &lines);
    let whole = blocks.iter().flat_map(|block| blocks::split(block, &lines));
    whole
        .take(MOST)
        .map(|block| {
            let heading: Vec<Redacted> =
                block.headings.iter().map(|line| of_lines(*line, *line).head(HEADING_CHARS)).collect();
            let heading = heading.get(heading.len().saturating_sub(HEADINGS)..).unwrap_or_default();
            Piece {
                path: path.to_owned(),
                kind,
                heading: Redacted::join(heading, " / "),
                first_line: block.first,
                last_line: block.last,
                text: of_lines(block.first, block.last).head(LONGEST),
                is_data,
            }
        })
        .collect()
}

/// Which pieces a repair rests on: those that hold a name which the repair brought in and which `known` (the script as it
/// was, and its messages) does not have. In the order of `pieces`.
#[must_use]
pub fn rests_on(pieces: &[Piece], before: &str, after: &str, known: &str) -> Vec<bool> {
    let old: BTreeSet<String> = names(before).into_iter().chain(names(known)).collect();
    let added: BTreeSet<String> =
        names(after).into_iter().filter(|name| !old.contains(name) && !query::is_stop_word(name)).collect();
    pieces.iter().map(|piece| !names(piece.text.as_str()).is_disjoint(&added)).collect()
}

/// The whole names in a text: half of one is in many a sentence.
fn names(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
        .map(|name| name.trim_matches('-').to_lowercase())
        .filter(|name| name.chars().count() > 1)
        .collect()
}

#[cfg(test)]
mod tests;
