//! Memory: proven repairs, keyed by failure signature and script.

use std::path::Path;

use rusqlite::{Row, params};
use selfheal_core::ids::{IncidentId, Signature, Timestamp};
use selfheal_core::ports::{Conditions, Count, Memory, PortError, Remembered, Trouble};

use crate::trouble::damaged;
use crate::values::Name;
use crate::{Durability, Store};

/// At most so many are tried for one failure.
const MOST: i64 = 16;
/// The columns of an entry, in the order in which [`remembered`] reads them.
const COLUMNS: &str =
    "entry, signature, script, summary, wins, losses, language, tool, incident, learnt, expired, edits";

impl Memory for Store {
    fn recall(
        &self,
        signature: &Signature,
        script: &Path,
        language: &str,
    ) -> Result<Vec<Remembered>, PortError> {
        let rows = self.read("recall repairs", |db| {
            let mut query = db.prepare(&format!(
                "SELECT {COLUMNS} FROM memory
                 WHERE signature = ?1 AND wins > losses AND expired IS NULL
                   AND (script = ?2 OR (language = ?3 AND language <> ''))
                 ORDER BY script = ?2 DESC, wins - losses DESC, wins DESC, rowid DESC LIMIT ?4"
            ))?;
            query
                .query_map(params![signature.as_str(), Name::of(script), language, MOST], remembered)?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        rows.into_iter().map(with_edits).collect()
    }

    fn remember(&self, repair: &Remembered) -> Result<(), PortError> {
        let doing = "remember a repair";
        let edits = serde_json::to_string(&repair.edits).map_err(|error| PortError::new(doing, error))?;
        let conditions = &repair.conditions;
        self.write(Durability::Power, doing, |tx| {
            tx.execute(
                "INSERT INTO memory (entry, signature, script, edits, summary, wins, losses, language, tool, incident,
                   learnt, expired) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
                 ON CONFLICT (entry) DO UPDATE SET signature = ?2, script = ?3, edits = ?4, summary = ?5,
                   wins = ?6, losses = ?7, language = ?8, tool = ?9, incident = ?10, learnt = ?11, expired = ?12",
                params![
                    repair.entry,
                    repair.signature.as_str(),
                    Name::of(&repair.script),
                    edits,
                    repair.summary,
                    repair.wins,
                    repair.losses,
                    conditions.language,
                    conditions.tool,
                    conditions.incident.as_ref().map(IncidentId::as_str),
                    conditions.learnt.0,
                    conditions.expired,
                ],
            )
            .map(|_| ())
        })
    }

    fn count(&self, entry: &str, count: Count) -> Result<(), PortError> {
        let counted = self.write(Durability::Power, "count a repair's success", |tx| {
            tx.execute(
                "UPDATE memory SET wins = wins + ?2, losses = max(losses + ?3, 0) WHERE entry = ?1",
                params![entry, count.wins(), count.losses()],
            )
        })?;
        found(counted, entry)
    }

    fn count_taught(&self, incident: &IncidentId, count: Count) -> Result<bool, PortError> {
        let counted = self.write(Durability::Power, "count what became of a repair", |tx| {
            tx.execute(
                "UPDATE memory SET wins = wins + ?2, losses = max(losses + ?3, 0) WHERE incident = ?1",
                params![incident.as_str(), count.wins(), count.losses()],
            )
        })?;
        Ok(counted > 0)
    }

    fn expire(&self, entry: &str, why: &str) -> Result<(), PortError> {
        let changed = self.write(Durability::Power, "let a remembered repair expire", |tx| {
            tx.execute("UPDATE memory SET expired = ?2 WHERE entry = ?1", params![entry, why])
        })?;
        found(changed, entry)
    }

    fn memories(&self) -> Result<Vec<Remembered>, PortError> {
        let rows = self.read("list remembered repairs", |db| {
            let mut query = db.prepare(&format!("SELECT {COLUMNS} FROM memory ORDER BY rowid DESC"))?;
            query.query_map([], remembered)?.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        rows.into_iter().map(with_edits).collect()
    }

    fn forget(&self, entry: &str) -> Result<(), PortError> {
        let gone = self.write(Durability::Power, "forget a repair", |tx| {
            tx.execute("DELETE FROM memory WHERE entry = ?1", params![entry])
        })?;
        found(gone, entry)
    }
}

fn found(changed: usize, entry: &str) -> Result<(), PortError> {
    if changed == 1 {
        return Ok(());
    }
    Err(PortError::plain(format!("find the remembered repair {entry}"), Trouble::Missing))
}

fn remembered(row: &Row<'_>) -> rusqlite::Result<(Remembered, String)> {
    let repair = Remembered {
        entry: row.get(0)?,
        signature: Signature::new(row.get::<_, String>(1)?),
        script: row.get::<_, Name>(2)?.path(),
        edits: Vec::new(),
        summary: row.get(3)?,
        wins: row.get(4)?,
        losses: row.get(5)?,
        conditions: Conditions {
            language: row.get(6)?,
            tool: row.get(7)?,
            incident: row.get::<_, Option<String>>(8)?.map(IncidentId::new),
            learnt: Timestamp(row.get(9)?),
            expired: row.get(10)?,
        },
    };
    Ok((repair, row.get(11)?))
}

fn with_edits((repair, edits): (Remembered, String)) -> Result<Remembered, PortError> {
    let edits = serde_json::from_str(&edits)
        .map_err(|error| damaged(format!("read the remembered repair {}", repair.entry), error))?;
    Ok(Remembered { edits, ..repair })
}
