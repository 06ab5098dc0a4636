//! What selfheal remembers, in SQLite and files: journal, ledger, snapshots, memory, outbox.
//!
//! One [`Store`] implements all the storage ports of [`selfheal_core::ports`]; one file each. `docs/store.md` describes
//! the layout for people who read it with `sqlite3`.
//!
//! Theory of operation: one database in WAL mode holds all rows, content-addressed files under `objects/` hold file
//! contents, and three small files hold what must not lie beside the ledger's rows. All writers of all processes take
//! one advisory lock (`write.lock`) first. Run records are written with `synchronous = NORMAL` (they survive a crash of
//! the process, not a power cut); everything else is on the disk when the call returns. A crash leaves a database that
//! SQLite repairs when it is opened next, at most a few ledger records that are not anchored yet, and temporary files.
#![forbid(unsafe_code)]

mod export;
mod files;
mod folders;
mod gc;
mod good;
mod journal;
mod knowledge;
mod ledger;
mod memory;
mod objects;
mod outbox;
mod place;
mod root;
mod rules;
mod schema;
mod sent;
mod settings;
mod shared;
mod snapshots;
mod tally;
mod task_index;
mod trouble;
mod usage;
mod values;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use selfheal_core::failpoint;
use selfheal_core::ports::PortError;

pub use export::{EXPORTED, ExportFilter};
pub use gc::{Collection, Retention};
pub use good::{GoodRun, KeptInput, Produced};
pub use knowledge::{KnowledgeIndex, KnowledgeSource, KnowledgeSources};
pub use ledger::{Anchor, Anew, Compared, LedgerRecord, RecordFilter};
pub use outbox::Undelivered;
pub use root::{Places, choose_root, on_network};
pub use settings::{End, Level, frozen, set_frozen};
pub use task_index::IndexedTask;
pub use usage::UsageRecord;

use crate::shared::{Shared, connect};
use crate::trouble::{io, sql};

/// The store of one user on one machine.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    patience: Duration,
    /// Where heads of the ledger are sent to besides.
    anchors: Vec<Anchor>,
    db: Shared,
}

/// How a store is opened.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    /// How long to wait for others who hold the database, in milliseconds; other writers of selfheal are waited for six
    /// times as long to record a run, and 24 times as long while something is healed.
    pub patience_ms: u64,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { patience_ms: 5_000 }
    }
}

/// How sure a write must be when the call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    /// It survives the end of the process.
    Process,
    /// It survives a power cut.
    Power,
}

/// How many times longer the other writers of selfheal are waited for than anybody else: by a run that only wants to be
/// recorded, and by one that is being healed, which would have to stop.
const CROWD: u32 = 6;
const HEALING_CROWD: u32 = 24;

/// Size of the write-ahead log, in bytes, from which it is moved into the database. Every process that opens the store
/// reads the whole log first, so it is kept small.
const LONGEST_LOG: u64 = 256 << 10;

impl Store {
    /// Opens the store in a folder, which is created (mode 0700) if it does not exist.
    ///
    /// # Errors
    /// `Newer` when a newer selfheal wrote it; `Corrupt` when it is damaged; `NoRoom` when nothing can be written
    /// there; `Locked` when another process holds it longer than the options allow; `Other` when the folder belongs to
    /// another user.
    pub fn open(root: &Path, options: StoreOptions) -> Result<Self, PortError> {
        files::prepare_root(root)?;
        let patience = Duration::from_millis(options.patience_ms);
        let path = root.join("journal.db");
        files::make_private_file(&path).map_err(|error| io(format!("create {}", path.display()), error))?;
        let mut db = open_journal(&path, patience)
            .map_err(|error| sql(format!("open the store {}", path.display()), error))?;
        if schema::compare(&db)? == schema::Version::Older {
            let _lock = files::lock(root, patience)?;
            schema::migrate(&mut db)?;
        }
        Ok(Self { root: root.to_owned(), patience, anchors: Vec::new(), db: Shared::new(db) })
    }

    /// The folder of the store of a user: see [`choose_root`].
    #[must_use]
    pub fn default_root(places: &Places) -> PathBuf {
        choose_root(places, on_network)
    }

    /// The folder that it lies in: to be hidden in boxes.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The lock under which everything is written. Others of selfheal that hold it get on with their work, however many
    /// they are, so it is waited for longer than a database that somebody else holds.
    fn lock(&self) -> Result<File, PortError> {
        self.lock_for(Durability::Power)
    }

    fn lock_for(&self, durability: Durability) -> Result<File, PortError> {
        let times = match durability {
            Durability::Process => CROWD,
            Durability::Power => HEALING_CROWD,
        };
        files::lock(&self.root, self.patience.saturating_mul(times))
    }

    fn db(&self) -> MutexGuard<'_, Connection> {
        self.db.lock()
    }

    fn read<T>(
        &self,
        doing: &str,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, PortError> {
        self.db.read(doing, query)
    }

    fn write<T>(
        &self,
        durability: Durability,
        doing: &str,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, PortError> {
        let mut db = self.db();
        let _lock = self.lock_for(durability)?;
        let failed = |error| sql(doing, error);
        let tx = begin(&mut db, durability).map_err(failed)?;
        let value = change(&tx).map_err(failed)?;
        failpoint::hit("store.changed");
        tx.commit().map_err(failed)?;
        failpoint::hit("store.committed");
        self.shorten_log(&db);
        Ok(value)
    }

    /// How long the log is, in bytes.
    fn log_length(&self) -> u64 {
        self.root.join("journal.db-wal").metadata().map_or(0, |meta| meta.len())
    }

    /// Moves the log into the database when it has grown long. The caller holds the lock.
    ///
    /// SQLite's own automatism does not fit processes that write once: each that opens the store forgets what was moved
    /// already and would move it again after every write. Failing is harmless: a reader is in the way, and the next
    /// writer tries again.
    fn shorten_log(&self, db: &Connection) {
        if self.log_length() < LONGEST_LOG {
            return;
        }
        let _ = db.busy_timeout(Duration::ZERO);
        let _ = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        let _ = db.busy_timeout(self.patience);
    }
}

/// Starts a transaction that may write.
fn begin(db: &mut Connection, durability: Durability) -> rusqlite::Result<Transaction<'_>> {
    let level = match durability {
        Durability::Process => "PRAGMA synchronous = NORMAL",
        Durability::Power => "PRAGMA synchronous = FULL",
    };
    db.execute_batch(level)?;
    db.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Opens the journal.
fn open_journal(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    let db = connect(path, patience)?;
    // Moving the log into the database costs two flushes to the disk, which are not due at the end of every successful
    // run; `shorten_log` does it.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let _: u32 = db.query_row("PRAGMA wal_autocheckpoint = 0", [], |row| row.get(0))?;
    Ok(db)
}
