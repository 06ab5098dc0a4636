//! What several tests need: a store in a folder of its own, and things to put into it.

use std::path::{Path, PathBuf};

use selfheal_core::engine::State;
use selfheal_core::ids::{IncidentId, JobKey, RunId, Signature, Timestamp};
use selfheal_core::incident::{Incident, Status};
use selfheal_core::ports::{Entry, RunRecord};
use selfheal_core::redact::{Redacted, Redactor};
use selfheal_store::{Store, StoreOptions};

/// A store in a folder that goes away with it.
pub struct Place {
    pub folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub fn open(&self) -> Store {
        open(&self.root())
    }

    pub fn database(&self) -> PathBuf {
        self.root().join("journal.db")
    }

    /// The database, as `sqlite3` would open it.
    pub fn sql(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.database()).unwrap()
    }
}

/// Opens a store with the patience for a machine under heavy load.
pub fn open(root: &Path) -> Store {
    Store::open(root, StoreOptions { patience_ms: 120_000 }).unwrap()
}

pub fn redacted(text: &str) -> Redacted {
    Redactor::default().text(text)
}

pub fn job() -> JobKey {
    JobKey::new("backup")
}

pub fn id(number: u32) -> IncidentId {
    IncidentId::new(format!("01890a5d-ac96-774b-bcce-{number:012x}"))
}

pub fn incident(number: u32) -> Incident {
    Incident {
        id: id(number),
        job: job(),
        command: redacted("bash backup.sh"),
        cwd: PathBuf::from("/srv"),
        opened: Timestamp(1_000 + i64::from(number)),
        updated: Timestamp(2_000 + i64::from(number)),
        state: State::Held,
        status: Status::Held,
        exit_code: 1,
        signature: Some(Signature::new("no-such-path logs")),
        report: Some(redacted(r#"{"core_error":"cp: cannot stat"}"#)),
        rounds: Vec::new(),
        holds: Vec::new(),
        note: None,
        owner: None,
        answer_by: None,
        remarks: Vec::new(),
        one_of: None,
        tokens: 0,
    }
}

pub fn entry(kind: &str, number: u32) -> Entry {
    Entry {
        at: Timestamp(1_000 + i64::from(number)),
        kind: kind.to_owned(),
        incident: Some(id(number)),
        body: redacted(&format!(r#"{{"number":{number}}}"#)),
    }
}

pub fn run(number: u32) -> RunRecord {
    RunRecord {
        id: RunId::new(format!("run-{number:08}")),
        job: job(),
        started: Timestamp(i64::from(number)),
        duration_ms: 12,
        exit_code: 0,
        outcome: "succeeded".to_owned(),
        facts: Some(redacted(r#"{"umask":18}"#)),
    }
}
