//! The words of people: scripts that check something themselves and say in a sentence what is wrong.

use std::path::PathBuf;

use selfheal_core::fault::Fault;

use super::{Found, Line, Row, row};

/// The sentences, tried after everything that a known tool says.
fn rows() -> Vec<Row> {
    vec![
        row("Permission denied", |h| {
            let name = h.before.trim_end_matches([' ', ':']).rsplit(": ").next().unwrap_or_default();
            let path = (!name.is_empty() && !name.contains(' ')).then(|| PathBuf::from(name));
            Some(Fault::PermissionDenied { path })
        }),
        row("control total differs", |h| Some(mismatch(h.before, "control total differs", h.after))),
        row("checksum mismatch", |h| Some(mismatch(h.before, "checksum mismatch", h.after))),
        row("checksums do not match", |h| Some(mismatch(h.before, "checksums do not match", h.after))),
        row("checksum does not match", |h| Some(mismatch(h.before, "checksum does not match", h.after))),
        row("hash mismatch", |h| Some(mismatch(h.before, "hash mismatch", h.after))),
        row("size mismatch", |h| Some(mismatch(h.before, "size mismatch", h.after))),
    ]
}

fn mismatch(before: &str, text: &str, after: &str) -> Fault {
    Fault::Mismatch { message: super::bounded(&format!("{before}{text}{after}")) }
}

/// Reads a sentence.
pub fn line(line: &Line<'_>) -> Option<Found> {
    static ROWS: std::sync::LazyLock<Vec<Row>> = std::sync::LazyLock::new(rows);
    ROWS.iter().find_map(|row| super::by_row(row, line))
}
