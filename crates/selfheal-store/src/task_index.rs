//! The index of task runs: what their state files say in short, so that many are listed without reading each. The files are
//! the truth. A row counts only while the file is the one that it was made of, and the table may be dropped at any time; so
//! it is made where it is missing and no part of the schema's version, and an older selfheal still reads the store.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};
use selfheal_core::ports::PortError;
use selfheal_core::redact::Redacted;

use crate::values::Stored;
use crate::{Durability, Store};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS task_run (
    run   TEXT NOT NULL PRIMARY KEY,
    stamp TEXT NOT NULL,
    body  TEXT NOT NULL
) STRICT, WITHOUT ROWID";

/// What the index knows of a run of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedTask {
    /// What told the state file from others when the row was made.
    pub stamp: String,
    /// What it said, in short, as JSON.
    pub body: Redacted,
}

impl Store {
    /// The index of task runs, by their identities.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn indexed_tasks(&self) -> Result<BTreeMap<String, IndexedTask>, PortError> {
        self.read("read the index of tasks", |db| if has_table(db)? { rows(db) } else { Ok(BTreeMap::new()) })
    }

    /// Brings the index up to date: what is new or changed, and what is gone.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn index_tasks(&self, fresh: &[(String, IndexedTask)], gone: &[String]) -> Result<(), PortError> {
        self.write(Durability::Process, "write the index of tasks", |tx| {
            tx.execute_batch(TABLE)?;
            let mut put =
                tx.prepare("INSERT OR REPLACE INTO task_run (run, stamp, body) VALUES (?1, ?2, ?3)")?;
            for (run, row) in fresh {
                put.execute(params![run, row.stamp, row.body.as_str()])?;
            }
            let mut drop = tx.prepare("DELETE FROM task_run WHERE run = ?1")?;
            gone.iter().try_for_each(|run| drop.execute([run]).map(|_| ()))
        })
    }
}

fn has_table(db: &Connection) -> rusqlite::Result<bool> {
    let query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'task_run'";
    Ok(db.query_row(query, [], |_| Ok(())).optional()?.is_some())
}

fn rows(db: &Connection) -> rusqlite::Result<BTreeMap<String, IndexedTask>> {
    let mut query = db.prepare("SELECT run, stamp, body FROM task_run")?;
    let row = |row: &rusqlite::Row<'_>| {
        let Stored(body) = row.get(2)?;
        Ok((row.get(0)?, IndexedTask { stamp: row.get(1)?, body }))
    };
    query.query_map([], row)?.collect()
}
