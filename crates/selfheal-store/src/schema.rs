//! The schema of the database: numbered files, applied in order by `PRAGMA user_version`.
//!
//! A released file never changes; a new version is a new file. A database with a higher version was written by a newer
//! selfheal and is left alone.

use rusqlite::{Connection, Transaction, TransactionBehavior};
use selfheal_core::ports::{PortError, Trouble};

use crate::trouble::sql;

/// The migrations; the n-th leads to version n.
const MIGRATIONS: [&str; 5] = [
    include_str!("schema/0001.sql"),
    include_str!("schema/0002.sql"),
    include_str!("schema/0003.sql"),
    include_str!("schema/0004.sql"),
    include_str!("schema/0005.sql"),
];

/// The version that this selfheal reads and writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Marks the file as ours (`file` shows it): "SHEL".
const APPLICATION_ID: i32 = 0x5348_454c;

/// How a database's version relates to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// Empty, or written by an older selfheal.
    Older,
    /// Ours.
    Same,
}

/// Compares the version of a database with ours.
pub(crate) fn compare(db: &Connection) -> Result<Version, PortError> {
    let found = version(db)?;
    match found.cmp(&VERSION) {
        std::cmp::Ordering::Equal => Ok(Version::Same),
        std::cmp::Ordering::Less if found >= 0 => Ok(Version::Older),
        std::cmp::Ordering::Less => {
            Err(PortError::plain("read a store with an impossible version", Trouble::Corrupt))
        }
        std::cmp::Ordering::Greater => Err(PortError::plain(
            format!("use a store of version {found}; this selfheal knows versions up to {VERSION}"),
            Trouble::Newer,
        )),
    }
}

fn version(db: &Connection) -> Result<i64, PortError> {
    db.query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(|error| sql("read the version of the store", error))
}

/// Brings a database to our version. The caller holds the store's lock.
pub(crate) fn migrate(db: &mut Connection) -> Result<(), PortError> {
    let failed = |error| sql("bring the store to this version", error);
    // Counts for a new file only: what is dropped can then be given back to the file system page by page.
    db.execute_batch("PRAGMA auto_vacuum = INCREMENTAL").map_err(failed)?;
    let _: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(failed)?;
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have done it while this one waited for the lock.
    let from = version(&tx)?;
    if from == 0 {
        refuse_foreign(&tx)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    }
    let done = usize::try_from(from).unwrap_or(MIGRATIONS.len());
    for migration in MIGRATIONS.iter().skip(done) {
        tx.execute_batch(migration).map_err(failed)?;
    }
    if from < VERSION {
        tx.pragma_update(None, "user_version", VERSION).map_err(failed)?;
    }
    tx.commit().map_err(failed)
}

/// A database without a version that has tables is somebody else's.
fn refuse_foreign(tx: &Transaction<'_>) -> Result<(), PortError> {
    let tables: i64 = tx
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| sql("read the schema of the store", error))?;
    if tables == 0 {
        return Ok(());
    }
    Err(PortError::plain("use a database that is not selfheal's", Trouble::Corrupt))
}
