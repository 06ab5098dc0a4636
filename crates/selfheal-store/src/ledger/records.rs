//! The ledger's records, whole, to be shown or taken elsewhere.

use rusqlite::{Connection, Row, params};
use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::ports::PortError;
use serde::Serialize;

use crate::Store;
use crate::values::{limit, unsigned};

/// A record as it is stored: everything that is needed to check it elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LedgerRecord {
    /// Its number, from 1.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: String,
    /// The incident, if it concerns one.
    pub incident: Option<String>,
    /// The details, as redacted JSON; `None` where `gc` dropped them.
    pub body: Option<String>,
    /// SHA-256 of the details.
    pub body_hash: String,
    /// The hash of the record before.
    pub prev: String,
    /// Its hash.
    pub hash: String,
    /// Its seal.
    pub mac: String,
}

/// Which records.
#[derive(Clone, Debug, Default)]
pub struct RecordFilter {
    /// Only of this incident.
    pub incident: Option<IncidentId>,
    /// Only from this moment on.
    pub since: Option<Timestamp>,
    /// Only so many, the newest.
    pub newest: Option<usize>,
}

impl Store {
    /// Gives the records in their order, one after the other, until it is told to stop.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn ledger_records(
        &self,
        filter: &RecordFilter,
        each: &mut dyn FnMut(&LedgerRecord) -> bool,
    ) -> Result<(), PortError> {
        self.read("read the ledger", |db| {
            let mut query = db.prepare(&format!(
                "SELECT {COLUMNS} FROM ledger
                 WHERE seq IN (SELECT seq FROM ledger WHERE (?1 IS NULL OR incident = ?1) AND at >= ?2
                   ORDER BY seq DESC LIMIT ?3) ORDER BY seq"
            ))?;
            let incident = filter.incident.as_ref().map(IncidentId::as_str);
            let since = filter.since.map_or(i64::MIN, |since| since.0);
            let newest = filter.newest.map_or(-1, limit);
            let mut rows = query.query(params![incident, since, newest])?;
            while let Some(row) = rows.next()? {
                if !each(&record_of(row)?) {
                    break;
                }
            }
            Ok(())
        })
    }
}

/// The columns of a record, in the order in which [`record_of`] reads them.
const COLUMNS: &str = "seq, at, kind, incident, body, body_hash, prev, hash, mac";

/// Goes through all records in their order until it is told to stop.
pub(super) fn each_of_all(
    db: &Connection,
    mut each: impl FnMut(LedgerRecord) -> bool,
) -> rusqlite::Result<()> {
    let mut query = db.prepare(&format!("SELECT {COLUMNS} FROM ledger ORDER BY seq"))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        if !each(record_of(row)?) {
            break;
        }
    }
    Ok(())
}

fn record_of(row: &Row<'_>) -> rusqlite::Result<LedgerRecord> {
    Ok(LedgerRecord {
        seq: unsigned(row.get(0)?),
        at: Timestamp(row.get(1)?),
        kind: row.get(2)?,
        incident: row.get(3)?,
        body: row.get(4)?,
        body_hash: row.get(5)?,
        prev: row.get(6)?,
        hash: row.get(7)?,
        mac: row.get(8)?,
    })
}
