//! The ledger: the append-only, chained record of everything that selfheal did.
//!
//! Theory of operation: every record names the hash of the one before it ([`chain`]) and carries a MAC whose key is
//! hashed forward after each record. Three files lie beside the database ([`seal`]): `ledger.seal` with the first key,
//! `ledger.key` with the key of the next record, `ledger.head` with the number and hash of the last record (the anchor).
//! They are brought up to date after the commit, so that a crash leaves them behind the rows, never ahead: harmless, and
//! mended by the next record. Rows that are behind the files were taken away ([`verify`]). Once the anchor contradicts
//! the rows it is never moved again, and a gap in the numbers is kept: evidence does not wash out.

mod chain;
mod outside;
mod records;
mod reset;
mod seal;
mod verify;

use rusqlite::{Connection, Row, params};
use selfheal_core::failpoint;
use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::ports::{Entry, Ledger, LedgerCheck, PortError};

use crate::trouble::sql;
use crate::values::{Stored, limit, signed};
use crate::{Durability, Store, begin};
use chain::{Link, Record};
use seal::{Mark, Seals};

pub use outside::{Anchor, Compared};
pub use records::{LedgerRecord, RecordFilter};
pub use reset::Anew;

/// The kind of a record that says which bodies `gc` dropped.
pub(crate) const COLLECTED: &str = "collected";
/// The kind of the first record of a ledger that was begun anew.
pub(crate) const RESET: &str = "reset";

impl Ledger for Store {
    fn append(&self, entries: &[Entry]) -> Result<(), PortError> {
        self.write_with_entries("append to the ledger", entries, |_| Ok(()))
    }

    fn verify(&self) -> Result<LedgerCheck, PortError> {
        let db = self.db();
        // A record that another process is appending would look like one without an anchor.
        let _lock = self.lock()?;
        verify::verify(&db, &Seals::read(&self.root)?)
    }
}

impl Store {
    /// The ledger's records of one incident, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn entries(&self, incident: &IncidentId, most: usize) -> Result<Vec<Entry>, PortError> {
        self.read("read the ledger", |db| {
            let mut query = db.prepare(
                "SELECT at, kind, incident, body FROM ledger
                 WHERE incident = ?1 AND body IS NOT NULL ORDER BY seq LIMIT ?2",
            )?;
            query.query_map(params![incident.as_str(), limit(most)], entry_of)?.collect()
        })
    }

    /// Makes a change and appends records in one transaction, then moves the ledger's files.
    pub(crate) fn write_with_entries(
        &self,
        doing: &str,
        entries: &[Entry],
        change: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), PortError> {
        self.write_and_record(doing, change, |()| Ok(entries.to_vec()))
    }

    /// The same with records that say what the change did.
    pub(crate) fn write_and_record<T>(
        &self,
        doing: &str,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
        entries: impl FnOnce(&T) -> Result<Vec<Entry>, PortError>,
    ) -> Result<T, PortError> {
        let mut db = self.db();
        let _lock = self.lock()?;
        let failed = |error| sql(doing, error);
        let tx = begin(&mut db, Durability::Power).map_err(failed)?;
        let value = change(&tx).map_err(failed)?;
        let entries = entries(&value)?;
        failpoint::hit("store.changed");
        if entries.is_empty() {
            tx.commit().map_err(failed)?;
            self.shorten_log(&db);
            return Ok(value);
        }
        let last = last_row(&tx).map_err(failed)?;
        let seals = Seals::ready(&self.root, last.is_none())?;
        let anchored = seals.anchored(|seq| hash_of(&tx, seq)).map_err(failed)?;
        let head = insert_all(&tx, &entries, seals.next(last), &seals)?;
        failpoint::hit("store.recorded");
        tx.commit().map_err(failed)?;
        failpoint::hit("store.committed");
        // What was committed stays. Files that could not be moved lag, which is harmless and mended next time.
        let _ = seals.advance(&self.root, &head, anchored);
        failpoint::hit("store.anchored");
        if let (Some(chain), false) = (seals.chain(), self.anchors.is_empty()) {
            // Whoever listens there may be away; `audit verify` tells.
            self.anchors.iter().for_each(|anchor| drop(anchor.send(&chain, head.seq, &head.word)));
        }
        self.shorten_log(&db);
        Ok(value)
    }
}

fn insert_all(tx: &Connection, entries: &[Entry], mut link: Link, seals: &Seals) -> Result<Mark, PortError> {
    let mut key = seals.key_for(link.seq)?;
    let mut head = Mark { seq: 0, word: chain::NONE.to_owned() };
    for entry in entries {
        let record = Record::make(&link, entry, &key);
        insert(tx, entry, &record).map_err(|error| sql("append to the ledger", error))?;
        head = Mark { seq: link.seq, word: record.hash.clone() };
        link = Link { seq: link.seq + 1, prev: record.hash };
        key = chain::next_key(&key);
    }
    Ok(head)
}

fn insert(tx: &Connection, entry: &Entry, record: &Record) -> rusqlite::Result<()> {
    tx.prepare(
        "INSERT INTO ledger (seq, at, kind, incident, body, body_hash, prev, hash, mac)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        signed(record.seq),
        entry.at.0,
        entry.kind,
        entry.incident.as_ref().map(IncidentId::as_str),
        entry.body.as_str(),
        record.body_hash,
        record.prev,
        record.hash,
        record.mac,
    ])
    .map(|_| ())
}

fn last_row(db: &Connection) -> rusqlite::Result<Option<Mark>> {
    use rusqlite::OptionalExtension;
    db.query_row("SELECT seq, hash FROM ledger ORDER BY seq DESC LIMIT 1", [], |row| {
        Ok(Mark { seq: crate::values::unsigned(row.get(0)?), word: row.get(1)? })
    })
    .optional()
}

fn hash_of(db: &Connection, seq: u64) -> rusqlite::Result<Option<String>> {
    use rusqlite::OptionalExtension;
    db.query_row("SELECT hash FROM ledger WHERE seq = ?1", [signed(seq)], |row| row.get(0)).optional()
}

fn entry_of(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        at: Timestamp(row.get(0)?),
        kind: row.get(1)?,
        incident: row.get::<_, Option<String>>(2)?.map(IncidentId::new),
        body: row.get::<_, Stored>(3)?.0,
    })
}
