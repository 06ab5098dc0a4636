//! Retention: what is old and needed by nobody is dropped; the ledger keeps every record's hashes for ever.
//!
//! Theory of operation: [`Store::plan_gc`] only reads and says what would go ([`plan`]). [`Store::gc`] carries a plan out
//! ([`carry`]), a few incidents a transaction so that no job waits for it, and looks again at each of them: one that was
//! changed since it was planned stays. An incident that goes takes its snapshots, what was sent for it and the bodies of
//! its ledger records with it; that is written into the ledger, so that [`verify`](selfheal_core::ports::Ledger::verify)
//! can tell a body that was dropped from one that was removed. Contents that no incident needs any more go last, and only
//! when they are a day old: what is saved just now is named by an incident only later. A crash at any point leaves
//! something more to be dropped next time, nothing less.

mod carry;
mod plan;
mod size;

use std::collections::BTreeSet;
use std::path::PathBuf;

use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::ports::PortError;

use crate::trouble::io;
use crate::{Store, files};

/// A day, in milliseconds.
pub(crate) const DAY_MS: i64 = 24 * 3_600_000;
/// However large the store is, what is younger than so many days stays: the report of a week needs it.
const FEWEST_DAYS: u32 = 8;
/// A content or temporary file younger than this may be about to be needed, in milliseconds.
const YOUNG_MS: i64 = DAY_MS;
/// Runs of a job that are kept however old they are: how long it takes and whether it is watched well rests on them.
const KEPT_RUNS: i64 = 50;

/// What is to be kept.
#[derive(Clone, Debug)]
pub struct Retention {
    /// What is older, in days, goes.
    pub days: u32,
    /// Where the store is larger, in bytes, what is younger goes too: the days are halved until it fits.
    pub size: u64,
    /// Incidents that somebody else still needs.
    pub needed: BTreeSet<IncidentId>,
    /// The present.
    pub now: Timestamp,
}

/// What goes, or went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// What is older than so many days: less than asked for where the store is too large.
    pub days: u32,
    /// Incidents, each with when it was stored last.
    pub incidents: Vec<(IncidentId, Timestamp)>,
    /// How many run records.
    pub runs: u64,
    /// How many delivered messages.
    pub messages: u64,
    /// Saved contents that no incident needs.
    pub contents: Vec<PathBuf>,
    /// Other files and folders of the store: what was sent, records of good runs, leftovers.
    pub files: Vec<PathBuf>,
    /// How much room all of them take, in bytes.
    pub bytes: u64,
    /// How much room the store takes before, in bytes.
    pub size: u64,
    /// Everything before this is old.
    cutoff: i64,
}

/// The file that says when the store was collected last.
const LAST: &str = "collected";

impl Store {
    /// Whether a day has passed since [`note_gc`](Self::note_gc).
    #[must_use]
    pub fn gc_is_due(&self, now: Timestamp) -> bool {
        let last = std::fs::read_to_string(self.root().join(LAST)).ok();
        let last = last.and_then(|text| text.trim().parse::<i64>().ok());
        // A clock that was put back must not keep it from happening.
        last.is_none_or(|last| now.0.saturating_sub(last) >= DAY_MS || last > now.0)
    }

    /// Notes that the store was collected.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note_gc(&self, now: Timestamp) -> Result<(), PortError> {
        files::replace(&self.root().join(LAST), format!("{}\n", now.0).as_bytes(), false)
            .map_err(|error| io("note that the store was collected", error))
    }
}

impl Collection {
    /// Whether there is nothing to be dropped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.incidents.is_empty()
            && self.contents.is_empty()
            && self.files.is_empty()
            && self.runs + self.messages == 0
    }
}
