//! Puts the detectors together: each reads a text as it is, as it is seen, and with its escapes taken away.

use std::ops::Range;

use super::known::Known;
use super::{armour, assigned, book, encoded, families, options, random, url, view};

/// So often escapes inside escapes are taken away.
const DEPTH: usize = 2;

/// The places of secrets in a text, sorted, without overlaps.
pub(super) fn spans(text: &str, known: &Known) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    match view::visible(text) {
        Some(view) => {
            let mut seen = Vec::new();
            scan(&view.text, known, 0, &mut seen);
            found.extend(seen.iter().filter_map(|span| view.source(span)));
        }
        None => scan(text, known, 0, &mut found),
    }
    merged(text, found)
}

fn scan(text: &str, known: &Known, depth: usize, out: &mut Vec<Range<usize>>) {
    known.find(text, out);
    armour::find(text, out);
    let mut start = 0;
    let mut in_data = false;
    for line in text.split_inclusive('\n') {
        let from = out.len();
        in_line(line, depth == 0 && !in_data, out);
        in_data = random::is_data(line);
        for span in out.iter_mut().skip(from) {
            *span = span.start + start..span.end + start;
        }
        start += line.len();
    }
    if depth < DEPTH {
        inside(text, known, depth, out);
    }
}

fn in_line(line: &str, by_chance: bool, out: &mut Vec<Range<usize>>) {
    assigned::find(line, out);
    families::find(line, out);
    url::find(line, out);
    options::find(line, out);
    // What stands encoded is data; that it is random says nothing.
    if by_chance {
        random::find(line, out);
    }
}

/// Looks into escapes and base64.
fn inside(text: &str, known: &Known, depth: usize, out: &mut Vec<Range<usize>>) {
    for view in [view::percent(text), view::backslash(text)].into_iter().flatten() {
        let mut seen = Vec::new();
        scan(&view.text, known, depth + 1, &mut seen);
        out.extend(seen.iter().filter_map(|span| view.source(span)));
    }
    for (run, decoded) in encoded::runs(text) {
        let mut seen = Vec::new();
        scan(&decoded, known, depth + 1, &mut seen);
        if !seen.is_empty() {
            out.push(run);
        }
    }
}

/// Sorted and joined; what is a placeholder already is left out.
fn merged(text: &str, mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.retain(|span| {
        span.start < span.end && text.get(span.clone()).is_some_and(|part| !part.starts_with(book::OPENING))
    });
    spans.sort_by_key(|span| (span.start, span.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match joined.last_mut().filter(|last| span.start < last.end) {
            Some(last) => last.end = last.end.max(span.end),
            None => joined.push(span),
        }
    }
    joined
}
