//! Carrying a plan out.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rusqlite::{Connection, params};
use selfheal_core::failpoint;
use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::ports::{Entry, PortError};
use selfheal_core::redact::Redactor;
use serde_json::json;

use super::plan::{NEEDED, OLD_MESSAGES, entries, modified, old_runs, on_shelf};
use super::{Collection, Retention, YOUNG_MS};
use crate::ledger::COLLECTED;
use crate::trouble::{io, sql};
use crate::values::unsigned;
use crate::{Durability, Store};

/// Incidents that go in one transaction.
const AT_ONCE: usize = 100;
/// Free pages of the database that stay to be used again, and those that are given back at once.
const SPARE_PAGES: u64 = 4_096;
const PAGES_AT_ONCE: u64 = 2_048;
/// Length of the log, in bytes, beyond which no more room is given back for now.
const LONGEST_LOG_OF_GC: u64 = 64 << 20;

impl Store {
    /// Drops what a plan says, as far as it still holds, and gives how many incidents went.
    ///
    /// # Errors
    /// When the store cannot be written; what was dropped until then is dropped.
    pub fn gc(&self, plan: &Collection, retention: &Retention) -> Result<usize, PortError> {
        failpoint::hit("gc.begin");
        let mut gone = 0;
        for some in plan.incidents.chunks(AT_ONCE) {
            gone += self.drop_incidents(some, retention.now)?;
            failpoint::hit("gc.incidents");
        }
        self.drop_rows(plan, retention.now)?;
        failpoint::hit("gc.rows");
        for path in &plan.files {
            remove(path)?;
            failpoint::hit("gc.file");
        }
        if !plan.contents.is_empty() {
            let shelves: BTreeSet<&Path> = plan.contents.iter().filter_map(|path| path.parent()).collect();
            for shelf in shelves {
                self.sweep(shelf, retention.now.0.saturating_sub(YOUNG_MS))?;
                failpoint::hit("gc.shelf");
            }
        }
        self.give_back()?;
        Ok(gone)
    }

    /// Gives the room of free pages back to the file system, some at a time so that nobody waits for long. In a file of an
    /// older selfheal they are only used again, until it is compacted once.
    fn give_back(&self) -> Result<(), PortError> {
        let failed = |error| sql("give room back", error);
        let mut before = u64::MAX;
        loop {
            let db = self.db();
            let _lock = self.lock()?;
            let free =
                db.query_row("PRAGMA freelist_count", [], |row| row.get(0)).map(unsigned).map_err(failed)?;
            // Where a reader keeps the log from being moved into the file, it would only grow.
            if free <= SPARE_PAGES || free >= before || self.log_length() > LONGEST_LOG_OF_GC {
                return Ok(());
            }
            before = free;
            let some = PAGES_AT_ONCE.min(free - SPARE_PAGES);
            let mut step = db.prepare(&format!("PRAGMA incremental_vacuum({some})")).map_err(failed)?;
            let mut rows = step.raw_query();
            // Each step gives one page back.
            while rows.next().map_err(failed)?.is_some() {}
            self.shorten_log(&db);
            failpoint::hit("gc.given");
        }
    }

    /// Makes the database file as small as its contents. Others wait meanwhile.
    ///
    /// # Errors
    /// When there is no room for a second one beside it, or somebody else holds it.
    pub fn compact(&self) -> Result<(), PortError> {
        let db = self.db();
        let _lock = self.lock()?;
        db.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
            .map_err(|error| sql("compact the store", error))
    }

    fn drop_incidents(&self, some: &[(IncidentId, Timestamp)], now: Timestamp) -> Result<usize, PortError> {
        // What goes is looked up under the lock that it is dropped under.
        let change = |tx: &Connection| {
            let (mut gone, mut records) = (0, Vec::new());
            for (id, updated) in some {
                if still_old(tx, id, *updated)? {
                    records.extend(drop_incident(tx, id)?);
                    gone += 1;
                }
            }
            Ok((gone, records))
        };
        let entries = |(gone, records): &(usize, Vec<i64>)| collected(now, *gone, records);
        self.write_and_record("drop old incidents", change, entries).map(|(gone, _)| gone)
    }

    fn drop_rows(&self, plan: &Collection, now: Timestamp) -> Result<(), PortError> {
        self.write(Durability::Process, "drop old runs", |tx| {
            tx.execute(&format!("DELETE FROM run WHERE {}", old_runs()), [plan.cutoff])?;
            tx.execute(
                "DELETE FROM facts WHERE hash NOT IN (SELECT facts FROM run WHERE facts IS NOT NULL)",
                [],
            )?;
            tx.execute(&format!("DELETE FROM outbox WHERE {OLD_MESSAGES}"), [plan.cutoff])?;
            tx.execute("DELETE FROM delivery WHERE message NOT IN (SELECT id FROM outbox)", []).map(|_| ())
        })?;
        let change = |tx: &Connection| {
            let records = numbers(tx, OF_NO_INCIDENT, params![plan.cutoff])?;
            drop_bodies(tx, &records)?;
            Ok(records)
        };
        self.write_and_record("drop old records", change, |records| collected(now, 0, records)).map(|_| ())
    }

    /// Removes what nobody needs from a shelf. `save` takes the same lock and makes what it finds young.
    fn sweep(&self, shelf: &Path, young: i64) -> Result<(), PortError> {
        let db = self.db();
        let _lock = self.lock()?;
        let needed = needed(&db).map_err(|error| sql("look for needed contents", error))?;
        for (hash, entry) in on_shelf(shelf) {
            if !needed.contains(&hash) && modified(&entry) < young {
                remove(&entry.path())?;
            }
        }
        if entries(shelf).next().is_none() {
            // Somebody may put something there now: then it is not empty and stays.
            let _ = fs::remove_dir(shelf);
        }
        Ok(())
    }
}

fn needed(db: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let mut query = db.prepare(NEEDED)?;
    query.query_map([], |row| row.get(1))?.collect()
}

/// Whether an incident is as it was when it was planned.
fn still_old(tx: &Connection, id: &IncidentId, updated: Timestamp) -> rusqlite::Result<bool> {
    tx.prepare("SELECT EXISTS (SELECT 1 FROM incident WHERE id = ?1 AND updated = ?2 AND owned = 0)")?
        .query_row(params![id.as_str(), updated.0], |row| row.get(0))
}

/// Drops one incident, and gives the numbers of the ledger records whose bodies went with it.
fn drop_incident(tx: &Connection, id: &IncidentId) -> rusqlite::Result<Vec<i64>> {
    for table in ["incident", "content", "snapshot", "snapshot_attribute"] {
        let key = if table == "incident" { "id" } else { "incident" };
        tx.prepare(&format!("DELETE FROM {table} WHERE {key} = ?1"))?.execute([id.as_str()])?;
    }
    let records = numbers(tx, OF_INCIDENT, params![id.as_str()])?;
    drop_bodies(tx, &records)?;
    Ok(records)
}

const OF_INCIDENT: &str = "SELECT seq FROM ledger WHERE incident = ?1 AND body IS NOT NULL";
/// What says that something was dropped or begun anew is needed as long as the ledger is.
const OF_NO_INCIDENT: &str = "SELECT seq FROM ledger WHERE incident IS NULL AND at < ?1 AND body IS NOT NULL
     AND kind NOT IN ('collected', 'reset')";

fn numbers(tx: &Connection, query: &str, key: &[&dyn rusqlite::ToSql]) -> rusqlite::Result<Vec<i64>> {
    tx.prepare(query)?.query_map(key, |row| row.get(0))?.collect()
}

fn drop_bodies(tx: &Connection, records: &[i64]) -> rusqlite::Result<()> {
    let mut drop = tx.prepare("UPDATE ledger SET body = NULL WHERE seq = ?1")?;
    records.iter().try_for_each(|seq| drop.execute([seq]).map(|_| ()))
}

/// The record that says which bodies were dropped.
fn collected(now: Timestamp, incidents: usize, records: &[i64]) -> Result<Vec<Entry>, PortError> {
    if incidents == 0 && records.is_empty() {
        return Ok(Vec::new());
    }
    let mut records = records.to_vec();
    records.sort_unstable();
    let body = json!({ "incidents": incidents, "records": ranges(&records) });
    let body =
        Redactor::default().json(&body).map_err(|error| PortError::new("write a ledger record", error))?;
    Ok(vec![Entry { at: now, kind: COLLECTED.to_owned(), incident: None, body }])
}

/// Numbers in order, as pairs of first and last.
fn ranges(numbers: &[i64]) -> Vec<[i64; 2]> {
    let mut out: Vec<[i64; 2]> = Vec::new();
    for number in numbers {
        match out.last_mut() {
            Some([_, last]) if *last + 1 == *number => *last = *number,
            _ => out.push([*number, *number]),
        }
    }
    out
}

fn remove(path: &Path) -> Result<(), PortError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(io(format!("remove {}", path.display()), error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_are_one_range() {
        assert_eq!(ranges(&[]), Vec::<[i64; 2]>::new());
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), [[1, 3], [7, 7], [9, 10]]);
    }
}
