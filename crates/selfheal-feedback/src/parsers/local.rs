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
        row("cannot resolve {host:w}", |h| resolve(h.get("host"))),
        row("could not resolve {host:w}", |h| resolve(h.get("host"))),
        row("mismatch", |h| Some(mismatch(h.before, "mismatch", h.after))),
        row("does not match", |h| Some(mismatch(h.before, "does not match", h.after))),
        row("do not match", |h| Some(mismatch(h.before, "do not match", h.after))),
        row(" differs from ", |h| Some(mismatch(h.before, " differs from ", h.after))),
        row(" differ from ", |h| Some(mismatch(h.before, " differ from ", h.after))),
        row(" differs: ", |h| Some(mismatch(h.before, " differs: ", h.after))),
        row(" differ: ", |h| Some(mismatch(h.before, " differ: ", h.after))),
    ]
}

fn resolve(host: &str) -> Option<Fault> {
    let host = host.trim_end_matches(['.', ',', ':', ';']);
    host.contains('.').then(|| Fault::Network { how: "resolve".into(), host: Some(host.to_owned()) })
}

fn mismatch(before: &str, text: &str, after: &str) -> Fault {
    Fault::Mismatch { message: super::bounded(&format!("{before}{text}{after}")) }
}

/// Reads a sentence.
pub fn line(line: &Line<'_>) -> Option<Found> {
    static ROWS: std::sync::LazyLock<Vec<Row>> = std::sync::LazyLock::new(rows);
    ROWS.iter().find_map(|row| super::by_row(row, line))
}
