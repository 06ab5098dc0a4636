//! What would go: only reads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row, params};
use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::incident::Incident;
use selfheal_core::ports::{PortError, Snapshots, Standing};

use super::{Collection, DAY_MS, FEWEST_DAYS, KEPT_RUNS, Retention, YOUNG_MS, size};
use crate::Store;
use crate::values::unsigned;

/// An incident that nothing in the database needs.
struct Old {
    id: IncidentId,
    job: String,
    updated: i64,
    /// Its body, where it is a repair that may be in place.
    in_place: Option<String>,
    bytes: u64,
}

impl Store {
    /// What [`gc`](Self::gc) would drop. Changes nothing.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn plan_gc(&self, retention: &Retention) -> Result<Collection, PortError> {
        let size = self.read("measure the store", size::of_database)? + size::of_folder(self.root())
            - size::of(&self.root().join("journal.db"));
        let fewest = retention.days.min(FEWEST_DAYS);
        let mut days = retention.days;
        loop {
            let mut plan = self.plan_days(retention, days)?;
            plan.size = size;
            if size.saturating_sub(plan.bytes) <= retention.size || days <= fewest {
                return Ok(plan);
            }
            days = (days / 2).max(fewest);
        }
    }

    fn plan_days(&self, retention: &Retention, days: u32) -> Result<Collection, PortError> {
        let cutoff = retention.now.0.saturating_sub(i64::from(days) * DAY_MS);
        let mut plan = Collection { days, cutoff, ..Collection::default() };
        let mut kept = BTreeSet::new();
        for old in self.read("look for old incidents", |db| old_incidents(db, cutoff))? {
            if !retention.needed.contains(&old.id) && !self.undo_needs(&old, &mut kept) {
                plan.bytes += old.bytes;
                plan.incidents.push((old.id, Timestamp(old.updated)));
            }
        }
        self.read("look for old rows", |db| count_rows(db, &mut plan))?;
        let young = retention.now.0.saturating_sub(YOUNG_MS);
        let needed = self.read("look for needed contents", |db| needed_contents(db, &plan))?;
        plan.contents =
            contents(self.root(), young).filter(|(hash, _)| !needed.contains(hash)).map(path).collect();
        plan.files = self.old_files(&plan, young);
        let files = plan.contents.iter().chain(&plan.files);
        plan.bytes += files.map(|path| size::of(path)).sum::<u64>();
        Ok(plan)
    }

    /// Whether an undo needs an incident: its repair is in place still, as far as can be seen. Of several that made the same
    /// change for the same job the newest, which is asked about first, is enough to take it back; `kept` has those.
    fn undo_needs(&self, old: &Old, kept: &mut BTreeSet<(String, String)>) -> bool {
        let Some(body) = &old.in_place else { return false };
        // A body that cannot be read is nobody's reason to drop what it may need.
        let Ok(incident) = serde_json::from_str::<Incident>(body) else { return true };
        let files = incident.rounds.last().map(|round| round.files.as_slice()).unwrap_or_default();
        let change = (old.job.clone(), serde_json::to_string(files).unwrap_or_default());
        if kept.contains(&change) {
            return false;
        }
        let in_place = |file| !matches!(self.state_of(file), Ok(Standing::Before | Standing::Other));
        files.iter().any(in_place) && kept.insert(change)
    }

    /// Files that stand for themselves.
    fn old_files(&self, plan: &Collection, young: i64) -> Vec<PathBuf> {
        let root = self.root();
        let sent = plan.incidents.iter().map(|(id, _)| root.join("sent").join(format!("{id}.jsonl")));
        let sent = sent.filter(|path| path.exists());
        let good = entries(&root.join("good")).filter(|entry| newest_in(&entry.path()) < plan.cutoff);
        let unread = entries(&root.join("unparsed")).filter(|entry| modified(entry) < plan.cutoff);
        let left = entries(root).filter(|entry| {
            modified(entry) < young && entry.path().extension().is_some_and(|ending| ending == "tmp")
        });
        sent.chain(good.chain(unread).chain(left).map(|entry| entry.path())).collect()
    }
}

/// Incidents before a moment that ended and that no process works on, the newest first. What waits for a person or is watched
/// has not ended.
fn old_incidents(db: &Connection, cutoff: i64) -> rusqlite::Result<Vec<Old>> {
    let mut query = db.prepare(
        "SELECT id, updated, length(body) + ifnull((SELECT sum(length(ledger.body)) FROM ledger WHERE incident = id), 0),
           CASE WHEN state IN ('confirmed', 'handed_over') AND EXISTS (SELECT 1 FROM content WHERE incident = id) THEN body END, job
         FROM incident
         WHERE state IN ('confirmed', 'rolled_back', 'refused', 'expired', 'handed_over')
           AND owned = 0 AND updated < ?1 ORDER BY updated DESC",
    )?;
    let old = |row: &Row<'_>| {
        Ok(Old {
            id: IncidentId::new(row.get::<_, String>(0)?),
            updated: row.get(1)?,
            bytes: unsigned(row.get(2)?),
            in_place: row.get(3)?,
            job: row.get(4)?,
        })
    };
    query.query_map([cutoff], old)?.collect()
}

/// The condition under which a run record is old: there are so many newer ones of its job. `?1` is the cutoff.
pub(super) fn old_runs() -> String {
    format!(
        "started < ?1 AND started < (SELECT newer.started FROM run AS newer WHERE newer.job = run.job
           ORDER BY newer.started DESC LIMIT 1 OFFSET {})",
        KEPT_RUNS - 1
    )
}

/// The condition under which a message is old.
pub(super) const OLD_MESSAGES: &str = "next IS NULL AND at < ?1
     AND NOT EXISTS (SELECT 1 FROM delivery WHERE message = outbox.id AND delivery.next IS NOT NULL)";

fn count_rows(db: &Connection, plan: &mut Collection) -> rusqlite::Result<()> {
    let count = |text: String| db.query_row(&text, params![plan.cutoff], |row| row.get(0)).map(unsigned);
    let runs = count(format!("SELECT count(*) FROM run WHERE {}", old_runs()))?;
    let messages = count(format!("SELECT count(*) FROM outbox WHERE {OLD_MESSAGES}"))?;
    (plan.runs, plan.messages) = (runs, messages);
    Ok(())
}

/// The hashes of all contents that an incident needs which does not go, or a file that is being rewritten.
fn needed_contents(db: &Connection, plan: &Collection) -> rusqlite::Result<BTreeSet<String>> {
    let going: BTreeSet<&str> = plan.incidents.iter().map(|(id, _)| id.as_str()).collect();
    let mut query = db.prepare(NEEDED)?;
    let mut needed = BTreeSet::new();
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let incident: String = row.get(0)?;
        if !going.contains(incident.as_str()) {
            needed.insert(row.get(1)?);
        }
    }
    Ok(needed)
}

/// Every content that is needed, with the incident that needs it.
pub(super) const NEEDED: &str = "SELECT incident, hash FROM content UNION ALL SELECT '', old FROM in_place UNION ALL SELECT '', new FROM in_place";

fn path((_, path): (String, PathBuf)) -> PathBuf {
    path
}

/// The saved contents that are not young, by hash, and what a crash left beside them.
fn contents(root: &Path, young: i64) -> impl Iterator<Item = (String, PathBuf)> {
    entries(&root.join("objects"))
        .flat_map(|shelf| on_shelf(&shelf.path()))
        .filter_map(move |(hash, entry)| (modified(&entry) < young).then(|| (hash, entry.path())))
}

/// The files of a shelf, with the hashes that their paths mean.
pub(super) fn on_shelf(shelf: &Path) -> impl Iterator<Item = (String, DirEntry)> + use<> {
    let start = shelf.file_name().unwrap_or_default().to_string_lossy().into_owned();
    entries(shelf).map(move |entry| (format!("{start}{}", entry.file_name().to_string_lossy()), entry))
}

/// What is in a folder; nothing where there is none.
pub(super) fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// When a file was changed last, in milliseconds. One that is gone counts as new.
pub(super) fn modified(entry: &DirEntry) -> i64 {
    entry.metadata().map_or(i64::MAX, |facts| facts.mtime().saturating_mul(1_000))
}

/// When something in a folder was changed last.
fn newest_in(folder: &Path) -> i64 {
    let all: BTreeMap<_, _> = entries(folder).map(|entry| (modified(&entry), ())).collect();
    all.last_key_value().map_or(i64::MAX, |(newest, ())| *newest)
}
