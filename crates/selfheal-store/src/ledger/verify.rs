//! Checks the whole chain and names the first record that is wrong.

use rusqlite::Connection;
use selfheal_core::ports::{LedgerCheck, PortError};

use super::chain::{self, Key};
use super::records::{LedgerRecord, each_of_all};
use super::seal::{Mark, Seals};
use super::{COLLECTED, RESET};
use crate::files::sha256;
use crate::trouble::sql;

/// Where the check stands: what the next record must look like.
struct Walk {
    expected: u64,
    prev: String,
    key: Option<Key>,
    records: u64,
    anchored: Option<String>,
    /// The records without a body.
    without_body: Vec<u64>,
    /// The first and last of records whose bodies were dropped, as records that are sound say.
    dropped: Vec<[u64; 2]>,
    /// Why the ledger was begun anew, if it was.
    begun_anew: Option<String>,
}

/// What the body of a record says that `gc` wrote.
#[derive(serde::Deserialize)]
struct Dropped {
    records: Vec<[u64; 2]>,
}

impl Walk {
    fn start(key: Option<Key>) -> Self {
        Self {
            expected: 1,
            prev: chain::NONE.to_owned(),
            key,
            records: 0,
            anchored: None,
            without_body: Vec::new(),
            dropped: Vec::new(),
            begun_anew: None,
        }
    }

    /// Takes note of what a sound record says of others.
    fn hear(&mut self, row: &LedgerRecord) {
        match (&row.body, row.kind.as_str()) {
            (None, _) => self.without_body.push(row.seq),
            (Some(body), COLLECTED) => {
                // It speaks of records before it.
                let said = serde_json::from_str(body).map(|said: Dropped| said.records).unwrap_or_default();
                self.dropped.extend(said.into_iter().filter(|[_, last]| *last < row.seq));
            }
            (Some(body), RESET) if row.seq == 1 => self.begun_anew = Some(body.clone()),
            _ => {}
        }
    }

    /// The first record whose body is gone although nothing says that it was dropped.
    fn removed_body(&mut self) -> Option<(u64, String)> {
        self.dropped.sort_unstable();
        let dropped = &self.dropped;
        let is_dropped = |seq: u64| {
            let before = dropped.partition_point(|[first, _]| *first <= seq);
            before > 0
                && dropped.get(..before).is_some_and(|some| some.iter().rev().any(|[_, last]| *last >= seq))
        };
        let seq = self.without_body.iter().copied().find(|seq| !is_dropped(*seq))?;
        Some((seq, "its body was removed".to_owned()))
    }
}

/// Checks the rows against each other, the first key, the key of the next record and the anchor.
pub(super) fn verify(db: &Connection, seals: &Seals) -> Result<LedgerCheck, PortError> {
    let mut walk = Walk::start(seals.first);
    let mut broken = walk_rows(db, seals, &mut walk).map_err(|error| sql("read the ledger", error))?;
    let mut notes = Vec::new();
    if broken.is_none() {
        broken = walk.removed_body().or_else(|| check_end(seals, &walk));
    }
    notes.extend(walk.begun_anew.iter().map(|why| format!("this ledger was begun anew: {why}")));
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
    let mut broken = None;
    each_of_all(db, |row| {
        walk.records += 1;
        if broken.is_some() {
            // Only counted from here on.
            return true;
        }
        broken = check(&row, walk);
        if broken.is_none() {
            walk.hear(&row);
        }
        if seals.anchor.as_ref().is_some_and(|anchor| anchor.seq == row.seq) {
            walk.anchored = Some(row.hash.clone());
        }
        walk.expected = row.seq + 1;
        walk.prev = row.hash;
        walk.key = walk.key.map(|key| chain::next_key(&key));
        true
    })?;
    Ok(broken)
}

/// What is wrong with a record, and which one is the first that is.
fn check(row: &LedgerRecord, walk: &Walk) -> Option<(u64, String)> {
    if row.seq != walk.expected {
        return Some(missing(walk.expected, row.seq.saturating_sub(1)));
    }
    let canonical = chain::canonical(row.seq, row.at.0, &row.kind, row.incident.as_deref(), &row.body_hash);
    let body_fits = row.body.as_ref().map(|body| sha256(body.as_bytes()) == row.body_hash);
    let why = if row.prev != walk.prev {
        "it does not follow the record before it"
    } else if chain::hash(&row.prev, &canonical) != row.hash {
        "it was changed"
    } else if body_fits == Some(false) {
        "its body was changed"
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
