//! A connection to a database that threads share.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use selfheal_core::ports::PortError;

use crate::trouble::sql;

/// A connection, one thread at a time.
#[derive(Debug)]
pub(crate) struct Shared(Mutex<Connection>);

impl Shared {
    pub(crate) const fn new(db: Connection) -> Self {
        Self(Mutex::new(db))
    }

    /// The connection, when the other threads have done with it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        // A panic in another thread rolled its transaction back; the connection itself is sound.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn read<T>(
        &self,
        doing: &str,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, PortError> {
        query(&self.lock()).map_err(|error| sql(doing, error))
    }
}

/// Opens a file that exists, and waits so long for others who hold it.
pub(crate) fn connect(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(patience)?;
    Ok(db)
}
