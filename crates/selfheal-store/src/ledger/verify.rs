//! Checks the whole chain and names the first record that is wrong.

use rusqlite::{Connection, Row};
use selfheal_core::ports::{LedgerCheck, PortError};

use super::chain::{self, Key};
use super::seal::{Mark, Seals};
use crate::files::sha256;
use crate::trouble::sql;
use crate::values::unsigned;

struct Stored {
    seq: u64,
    at: i64,
    kind: String,
    incident: Option<String>,
    body: Option<String>,
    body_hash: String,
    prev: String,
    hash: String,
    mac: String,
}

/// Where the check stands: what the next record must look like.
struct Walk {
    expected: u64,
    prev: String,
    key: Option<Key>,
    records: u64,
    anchored: Option<String>,
}

/// Checks the rows against each other, the first key, the key of the next record and the anchor.
pub(super) fn verify(db: &Connection, seals: &Seals) -> Result<LedgerCheck, PortError> {
    let mut walk =
        Walk { expected: 1, prev: chain::NONE.to_owned(), key: seals.first, records: 0, anchored: None };
    let mut broken = walk_rows(db, seals, &mut walk).map_err(|error| sql("read the ledger", error))?;
    let mut notes = Vec::new();
    if broken.is_none() {
        broken = check_end(seals, &walk);
    }
    let last = walk.expected - 1;
    if let (None, Some(anchor)) = (&broken, &seals.anchor)
        && anchor.seq < last
    {
        notes.push(format!(
            "{} records after the anchor: a crash kept it from being moved",
            last - anchor.seq
        ));
    }
    Ok(LedgerCheck { records: walk.records, broken, notes })
}

fn walk_rows(db: &Connection, seals: &Seals, walk: &mut Walk) -> rusqlite::Result<Option<(u64, String)>> {
    let mut query = db.prepare(
        "SELECT seq, at, kind, incident, body, body_hash, prev, hash, mac FROM ledger ORDER BY seq",
    )?;
    let mut broken = None;
    for row in query.query_map([], stored)? {
        let row = row?;
        walk.records += 1;
        if broken.is_some() {
            // Only counted from here on.
            continue;
        }
        broken = check(&row, walk);
        if seals.anchor.as_ref().is_some_and(|anchor| anchor.seq == row.seq) {
            walk.anchored = Some(row.hash.clone());
        }
        walk.expected = row.seq + 1;
        walk.prev = row.hash;
        walk.key = walk.key.map(|key| chain::next_key(&key));
    }
    Ok(broken)
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        seq: unsigned(row.get(0)?),
        at: row.get(1)?,
        kind: row.get(2)?,
        incident: row.get(3)?,
        body: row.get(4)?,
        body_hash: row.get(5)?,
        prev: row.get(6)?,
        hash: row.get(7)?,
        mac: row.get(8)?,
    })
}

/// What is wrong with a record, and which one is the first that is.
fn check(row: &Stored, walk: &Walk) -> Option<(u64, String)> {
    if row.seq != walk.expected {
        return Some(missing(walk.expected, row.seq.saturating_sub(1)));
    }
    let canonical = chain::canonical(row.seq, row.at, &row.kind, row.incident.as_deref(), &row.body_hash);
    let body_fits = row.body.as_ref().map(|body| sha256(body.as_bytes()) == row.body_hash);
    let why = if row.prev != walk.prev {
        "it does not follow the record before it"
    } else if chain::hash(&row.prev, &canonical) != row.hash {
        "it was changed"
    } else if body_fits == Some(false) {
        "its body was changed"
    } else if body_fits.is_none() {
        // Nothing drops bodies yet; when `gc` does, it will record which.
        "its body was removed"
    } else {
        match &walk.key {
            None => "the first key (ledger.seal) is missing, so nothing can be checked against it",
            Some(key) if chain::mac(key, &row.hash) != row.mac => {
                "its seal is wrong: it was computed without the key"
            }
            Some(_) => return None,
        }
    };
    Some((row.seq, why.to_owned()))
}

/// What the files know of that the rows do not have.
fn check_end(seals: &Seals, walk: &Walk) -> Option<(u64, String)> {
    let last = walk.expected - 1;
    let keyed = seals.key.map_or(0, |(seq, _)| seq.saturating_sub(1));
    match &seals.anchor {
        None if walk.records > 0 || keyed > 0 => {
            Some((last + 1, "the anchor (ledger.head) is missing: records may have been cut off".to_owned()))
        }
        Some(anchor) if anchor.seq > last => Some(missing(last + 1, anchor.seq)),
        Some(Mark { seq, word }) if *seq > 0 && walk.anchored.as_ref() != Some(word) => {
            Some((*seq, "it is not the record that was anchored".to_owned()))
        }
        _ if keyed > last => Some(missing(last + 1, keyed)),
        _ => None,
    }
}

fn missing(first: u64, last: u64) -> (u64, String) {
    let why = if first >= last {
        "it is missing".to_owned()
    } else {
        format!("it and all up to record {last} are missing")
    };
    (first, why)
}
