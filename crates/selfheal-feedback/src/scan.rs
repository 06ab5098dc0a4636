//! Goes through output of any length once, in constant memory, and keeps what is worth reading: the beginning, the end,
//! and between them the lines that speak of an error with those around them.
//!
//! Theory of operation: bytes come in pieces. Whole lines are searched for a few words at once; the line of a hit and its
//! neighbours are copied as long as there is room. A line that says the same as an earlier one, numbers aside, is not
//! copied again, and after many such lines the search ends: a log that is nothing but errors is told by its ends.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hasher};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// Bytes that are kept of the beginning, of the end, and of what lies between.
const KEEP: usize = 64 * 1024;
/// Bytes before a hit that are kept.
const BEFORE: usize = 600;
/// Bytes behind the line of a hit that are kept.
const BEHIND: usize = 1_200;
/// Hits after which nothing more is searched.
const MOST_HITS: usize = 20_000;
/// The longest piece without a line end that is held back.
const LONGEST_LINE: usize = 64 * 1024;

/// Words of an error, as tools write them. Whole languages of words are not needed: the end is kept anyway.
const WORDS: [&str; 33] = [
    "rror:",
    "rror]",
    "ERROR",
    "Error ",
    "FATAL",
    "fatal",
    "Fatal",
    "ailed",
    "FAIL",
    "annot ",
    "ould not ",
    "nable to ",
    "ailure",
    "an't ",
    "Traceback (",
    "xception",
    "panic:",
    "PANIC",
    "o such ",
    "ot found",
    "ermission denied",
    "efused",
    "imed out",
    "No space",
    "ut of memory",
    "nvalid ",
    "not permitted",
    "nexpected ",
    "bort",
    "错误",
    "失败",
    "Fehler",
    "rreur",
];

static FINDER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(WORDS).ok());

/// Whether a line holds one of the words that tools use for errors.
#[must_use]
pub fn speaks_of_error(line: &str) -> bool {
    FINDER.as_ref().is_some_and(|finder| finder.is_match(line))
}

/// Keeps what is worth reading of output that passes by.
#[derive(Debug, Default)]
pub struct Scanner {
    head: Vec<u8>,
    middle: Vec<u8>,
    tail: VecDeque<u8>,
    /// A line whose end has not come yet.
    rest: Vec<u8>,
    seen: HashSet<u64>,
    hits: usize,
    total: u64,
}

impl Scanner {
    /// Nothing read yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        self.total += piece.len() as u64;
        let room = KEEP.saturating_sub(self.head.len()).min(piece.len());
        let (first, behind) = piece.split_at_checked(room).unwrap_or((piece, &[]));
        self.head.extend_from_slice(first);
        if behind.is_empty() {
            return;
        }
        self.keep_end(behind);
        if self.hits >= MOST_HITS || self.middle.len() >= KEEP {
            return;
        }
        // What belongs to a line that is not whole yet waits for the next piece.
        let end = behind.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (whole, open) = behind.split_at_checked(end).unwrap_or((behind, &[]));
        if self.rest.is_empty() {
            self.search(whole);
        } else if !whole.is_empty() {
            let first = whole.iter().position(|byte| *byte == b'\n').map_or(whole.len(), |at| at + 1);
            let (line, others) = whole.split_at_checked(first).unwrap_or((whole, &[]));
            let mut joined = std::mem::take(&mut self.rest);
            joined.extend_from_slice(line);
            self.search(&joined);
            self.search(others);
        }
        if self.rest.len() + open.len() <= LONGEST_LINE {
            self.rest.extend_from_slice(open);
        } else {
            self.rest.clear();
        }
    }

    fn keep_end(&mut self, piece: &[u8]) {
        let last = piece.get(piece.len().saturating_sub(KEEP)..).unwrap_or(piece);
        let over = (self.tail.len() + last.len()).saturating_sub(KEEP);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend(last);
    }

    fn search(&mut self, lines: &[u8]) {
        let Some(finder) = FINDER.as_ref() else { return };
        let mut at = 0;
        while let Some(hit) = lines.get(at..).and_then(|rest| finder.find(rest)) {
            let hit = at + hit.start();
            let start = lines
                .get(..hit)
                .and_then(|l| l.iter().rposition(|byte| *byte == b'\n'))
                .map_or(0, |at| at + 1);
            let end = lines
                .get(hit..)
                .and_then(|l| l.iter().position(|byte| *byte == b'\n'))
                .map_or(lines.len(), |n| hit + n + 1);
            self.hits += 1;
            at = end;
            if self.seen.insert(fingerprint(lines.get(start..end).unwrap_or_default())) {
                at = self.copy(lines, start, end);
            }
            if self.hits >= MOST_HITS || self.middle.len() >= KEEP {
                return;
            }
        }
    }

    /// Copies the lines around a hit; where they end.
    fn copy(&mut self, lines: &[u8], start: usize, end: usize) -> usize {
        let from = first_line(lines, start.saturating_sub(BEFORE), start);
        let to = (end + BEHIND).min(lines.len());
        let to = lines
            .get(end..to)
            .and_then(|l| l.iter().rposition(|byte| *byte == b'\n'))
            .map_or(end, |n| end + n + 1);
        let piece = lines.get(from..to).unwrap_or_default();
        let piece = piece.get(..piece.len().min(LONGEST_LINE / 8)).unwrap_or_default();
        self.middle.extend_from_slice(b"[\xe2\x80\xa6]\n");
        self.middle.extend_from_slice(piece);
        to.max(end)
    }

    /// What was kept, in order, and how many bytes there were in all.
    #[must_use]
    pub fn finish(mut self) -> (Vec<u8>, u64) {
        let last_line = std::mem::take(&mut self.rest);
        self.search(&last_line);
        let between = self.total.saturating_sub((self.head.len() + self.tail.len()) as u64);
        let mut kept = self.head;
        if between > 0 {
            kept.extend_from_slice(b"\n");
            kept.extend_from_slice(&self.middle);
            kept.extend_from_slice(format!("[\u{2026} {between} bytes left out \u{2026}]\n").as_bytes());
        }
        kept.extend(self.tail);
        (kept, self.total)
    }
}

/// The start of the first whole line between two places.
fn first_line(lines: &[u8], from: usize, to: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let whole = lines.get(from..to).and_then(|l| l.iter().position(|byte| *byte == b'\n'));
    whole.map_or(to, |at| from + at + 1)
}

/// A number for what a line says, digits aside.
fn fingerprint(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for byte in line.iter().take(400).filter(|byte| !byte.is_ascii_digit()) {
        hasher.write_u8(*byte);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pieces: &[&[u8]]) -> String {
        let mut scanner = Scanner::new();
        for piece in pieces {
            scanner.feed(piece);
        }
        String::from_utf8(scanner.finish().0).unwrap()
    }

    #[test]
    fn short_output_is_kept_as_it_is() {
        assert_eq!(kept(&[b"a\n", b"b: error: c\n", b"d"]), "a\nb: error: c\nd");
        assert_eq!(kept(&[]), "");
    }

    #[test]
    fn an_error_in_the_middle_of_much_is_found() {
        let noise = "2026-01-01 12:00:00 INFO all is well here\n".repeat(20_000);
        let fault = "before it\nTraceback (most recent call last):\n  File \"x.py\", line 7, in f\nKeyError: 'a'\nafter it\n";
        let whole = format!("{noise}{fault}{noise}");
        for size in [whole.len(), 7_000, 4_096] {
            let pieces: Vec<&[u8]> = whole.as_bytes().chunks(size).collect();
            let text = kept(&pieces);
            assert!(text.contains("before it\nTraceback") && text.contains("KeyError: 'a'\n"), "{size}");
            assert!(text.len() < 4 * KEEP);
            assert!(text.contains("bytes left out"));
        }
    }

    #[test]
    fn a_log_of_nothing_but_errors_and_lines_without_end_stay_bounded() {
        let errors: String = (0..200_000).map(|n| format!("error: number {n} failed\n")).collect();
        assert!(kept(&[errors.as_bytes()]).len() < 4 * KEEP);
        let line = "error: ".repeat(400_000);
        let pieces: Vec<&[u8]> = line.as_bytes().chunks(10_000).collect();
        assert!(kept(&pieces).len() < 4 * KEEP);
    }
}
