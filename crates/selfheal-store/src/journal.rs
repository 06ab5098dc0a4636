//! The journal: what selfheal knows of jobs, runs and incidents.
//!
//! The columns of an incident are what is searched by; the whole of it is JSON in `body`.

use rusqlite::{Connection, OptionalExtension, Row, params};
use selfheal_core::ids::{ContentHash, IncidentId, JobKey, RunId, Timestamp};
use selfheal_core::incident::Incident;
use selfheal_core::ports::{Entry, IncidentFilter, Journal, PortError, RunRecord, Trouble};
use selfheal_core::redact::Redacted;

use crate::files::sha256;
use crate::trouble::{damaged, sql};
use crate::values::{Stored, limit, signed, unsigned};
use crate::{Durability, Store};

/// The fewest characters of an incident's end that name it.
const SHORTEST_END: usize = 4;
/// How many incidents are listed when nobody says.
const USUAL_MOST: usize = 100;

impl Journal for Store {
    fn record_run(&self, record: &RunRecord) -> Result<(), PortError> {
        self.write(Durability::Process, "record a run", |tx| {
            let facts = record.facts.as_ref().map(|facts| store_facts(tx, facts)).transpose()?;
            tx.prepare(
                "INSERT OR REPLACE INTO run (job, started, id, duration_ms, exit_code, outcome, facts)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                record.job.as_str(),
                record.started.0,
                record.id.as_str(),
                signed(record.duration_ms),
                record.exit_code,
                record.outcome,
                facts,
            ])
            .map(|_| ())
        })
    }

    fn store(&self, incident: &Incident, entries: &[Entry]) -> Result<(), PortError> {
        let doing = format!("store incident {}", incident.id);
        let body = serde_json::to_string(incident).map_err(|error| PortError::new(doing.clone(), error))?;
        self.write_with_entries(&doing, entries, |tx| {
            tx.prepare(
                "INSERT INTO incident (id, job, opened, updated, state, status, signature, body, owned)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT (id) DO UPDATE SET job = ?2, opened = ?3, updated = ?4, state = ?5,
                   status = ?6, signature = ?7, body = ?8, owned = ?9",
            )?
            .execute(params![
                incident.id.as_str(),
                incident.job.as_str(),
                incident.opened.0,
                incident.updated.0,
                incident.state.word(),
                incident.status.word(),
                incident.signature.as_ref().map(|signature| signature.as_str()),
                body,
                incident.owner.is_some(),
            ])?;
            note_contents(tx, incident)
        })
    }

    fn incident(&self, id: &str) -> Result<Incident, PortError> {
        let found = self.read("read an incident", |db| find(db, id))?;
        match found.as_slice() {
            [] => Err(PortError::plain(format!("find an incident {id}"), Trouble::Missing)),
            [(full, body)] => parse(full, body),
            several => Err(ambiguous(id, several)),
        }
    }

    fn incidents(&self, filter: &IncidentFilter) -> Result<Vec<Incident>, PortError> {
        let rows = self.read("list incidents", |db| list(db, filter))?;
        rows.iter().map(|(id, body)| parse(id, body)).collect()
    }

    fn runs(&self, job: &JobKey, most: usize) -> Result<Vec<RunRecord>, PortError> {
        self.read("list runs", |db| {
            let mut query = db.prepare(
                "SELECT id, started, duration_ms, exit_code, outcome, facts.body
                 FROM run LEFT JOIN facts ON facts.hash = run.facts
                 WHERE job = ?1 ORDER BY started DESC, id DESC LIMIT ?2",
            )?;
            query.query_map(params![job.as_str(), limit(most)], |row| run_of(job, row))?.collect()
        })
    }

    fn applied_by_policy_since(&self, since: Timestamp) -> Result<u32, PortError> {
        self.read("count applied repairs", |db| {
            db.query_row(
                "SELECT count(*) FROM ledger WHERE kind = 'applied' AND at >= ?1
                 AND CASE WHEN json_valid(body) THEN body ->> '$.by' END = 'policy'",
                [since.0],
                |row| row.get(0),
            )
        })
    }
}

/// Notes which saved contents an incident needs, so that nothing else must be read to know which nobody does.
fn note_contents(tx: &Connection, incident: &Incident) -> rusqlite::Result<()> {
    let files = incident.rounds.iter().flat_map(|round| &round.files);
    for hash in files.flat_map(|file| [&file.before, &file.after]).flatten() {
        note_content(tx, &incident.id, hash)?;
    }
    Ok(())
}

/// Notes that an incident needs a content.
pub(crate) fn note_content(
    tx: &Connection,
    incident: &IncidentId,
    hash: &ContentHash,
) -> rusqlite::Result<()> {
    tx.prepare("INSERT OR IGNORE INTO content (incident, hash) VALUES (?1, ?2)")?
        .execute([incident.as_str(), hash.as_str()])
        .map(|_| ())
}

/// Facts are the same from run to run: each is kept once.
fn store_facts(tx: &Connection, facts: &Redacted) -> rusqlite::Result<String> {
    let hash = sha256(facts.as_str().as_bytes());
    tx.prepare("INSERT OR IGNORE INTO facts (hash, body) VALUES (?1, ?2)")?
        .execute(params![hash, facts.as_str()])?;
    Ok(hash)
}

fn run_of(job: &JobKey, row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    Ok(RunRecord {
        id: RunId::new(row.get::<_, String>(0)?),
        job: job.clone(),
        started: Timestamp(row.get(1)?),
        duration_ms: unsigned(row.get(2)?),
        exit_code: row.get(3)?,
        outcome: row.get(4)?,
        facts: row.get::<_, Option<Stored>>(5)?.map(|stored| stored.0),
    })
}

/// The identity and the body of an incident.
type Found = (String, String);

fn pair(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok((row.get(0)?, row.get(1)?))
}

/// The incident with this identity, else at most a few that end like this.
fn find(db: &Connection, id: &str) -> rusqlite::Result<Vec<Found>> {
    let exact = db.query_row("SELECT id, body FROM incident WHERE id = ?1", [id], pair).optional()?;
    if exact.is_some() || id.chars().count() < SHORTEST_END {
        return Ok(exact.into_iter().collect());
    }
    let mut query = db.prepare(
        // The first condition is the one that there is an index for.
        "SELECT id, body FROM incident
         WHERE substr(id, -4) = substr(lower(?1), -4) AND substr(id, -length(?1)) = lower(?1)
         ORDER BY opened DESC LIMIT 6",
    )?;
    query.query_map([id], pair)?.collect()
}

fn ambiguous(id: &str, several: &[Found]) -> PortError {
    let names: Vec<&str> = several.iter().map(|(full, _)| full.as_str()).collect();
    let doing = format!("tell which incident {id} means; it fits {}", names.join(", "));
    PortError::plain(doing, Trouble::Other)
}

fn list(db: &Connection, filter: &IncidentFilter) -> rusqlite::Result<Vec<Found>> {
    let most = if filter.most == 0 { USUAL_MOST } else { filter.most };
    // Only conditions that are asked for, so that each is found by its index; which of many come first is decided before
    // their bodies are read.
    let conditions = [
        (filter.job.is_some(), "job = ?1"),
        (!filter.states.is_empty(), "state IN (SELECT value FROM json_each(?2))"),
    ];
    let asked: Vec<&str> = conditions.iter().filter(|(asked, _)| *asked).map(|(_, text)| *text).collect();
    let asked = if asked.is_empty() { "true".to_owned() } else { asked.join(" AND ") };
    let mut query = db.prepare(&format!(
        "SELECT id, body FROM incident WHERE id IN
           (SELECT id FROM incident WHERE {asked} ORDER BY opened DESC, id DESC LIMIT ?3)
         ORDER BY opened DESC, id DESC"
    ))?;
    let job = filter.job.as_ref().map(JobKey::as_str);
    let states = serde_json::Value::from(filter.states.clone()).to_string();
    query.query_map(params![job, states, limit(most)], pair)?.collect()
}

fn parse(id: &str, body: &str) -> Result<Incident, PortError> {
    serde_json::from_str(body).map_err(|error| damaged(format!("read incident {id}"), error))
}

impl Store {
    /// The incidents that a process works on, or worked on when it died. Every command asks.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn owned_incidents(&self) -> Result<Vec<Incident>, PortError> {
        let rows = self.read("list incidents that are worked on", |db| {
            let mut query = db.prepare("SELECT id, body FROM incident WHERE owned = 1 ORDER BY opened")?;
            query.query_map([], pair)?.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        rows.iter().map(|(id, body)| parse(id, body)).collect()
    }

    /// Every job that a run is recorded of, the one that ran last first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn jobs(&self) -> Result<Vec<JobKey>, PortError> {
        self.read("list jobs", |db| {
            let mut query = db.prepare("SELECT job FROM run GROUP BY job ORDER BY max(started) DESC, job")?;
            query.query_map([], |row| row.get::<_, String>(0).map(JobKey::new))?.collect()
        })
    }

    /// The incidents that were opened since a moment, the newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn incidents_since(&self, since: Timestamp, most: usize) -> Result<Vec<Incident>, PortError> {
        let rows = self.read("list incidents", |db| {
            let sql =
                "SELECT id, body FROM incident WHERE opened >= ?1 ORDER BY opened DESC, id DESC LIMIT ?2";
            let mut query = db.prepare(sql)?;
            query.query_map(params![since.0, limit(most)], pair)?.collect::<rusqlite::Result<Vec<Found>>>()
        })?;
        rows.iter().map(|(id, body)| parse(id, body)).collect()
    }

    /// When the ledger got its newest record of a kind.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn last_record(&self, kind: &str) -> Result<Option<Timestamp>, PortError> {
        self.read("read the ledger", |db| {
            let sql = "SELECT max(at) FROM ledger WHERE kind = ?1";
            db.query_row(sql, [kind], |row| row.get::<_, Option<i64>>(0))
        })
        .map(|at| at.map(Timestamp))
    }

    /// How many incidents are stored.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn incident_count(&self) -> Result<u64, PortError> {
        self.db()
            .query_row("SELECT count(*) FROM incident", [], |row| row.get(0))
            .map(unsigned)
            .map_err(|error| sql("count incidents", error))
    }
}
