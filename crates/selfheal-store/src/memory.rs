//! Memory: proven repairs, keyed by failure signature and script.

use std::path::Path;

use rusqlite::{Row, params};
use selfheal_core::ids::Signature;
use selfheal_core::ports::{Memory, PortError, Remembered, Trouble};

use crate::trouble::damaged;
use crate::values::Name;
use crate::{Durability, Store};

/// At most so many are tried for one failure.
const MOST: i64 = 16;

impl Memory for Store {
    fn recall(&self, signature: &Signature, script: &Path) -> Result<Vec<Remembered>, PortError> {
        let rows = self.read("recall repairs", |db| {
            let mut query = db.prepare(
                "SELECT entry, signature, script, summary, wins, losses, edits FROM memory
                 WHERE signature = ?1 AND script = ?2 AND wins > losses
                 ORDER BY wins - losses DESC, wins DESC, rowid DESC LIMIT ?3",
            )?;
            query
                .query_map(params![signature.as_str(), Name::of(script), MOST], remembered)?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        rows.into_iter().map(with_edits).collect()
    }

    fn remember(&self, repair: &Remembered) -> Result<(), PortError> {
        let doing = "remember a repair";
        let edits = serde_json::to_string(&repair.edits).map_err(|error| PortError::new(doing, error))?;
        self.write(Durability::Power, doing, |tx| {
            tx.execute(
                "INSERT INTO memory (entry, signature, script, edits, summary, wins, losses)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (entry) DO UPDATE SET signature = ?2, script = ?3, edits = ?4, summary = ?5,
                   wins = ?6, losses = ?7",
                params![
                    repair.entry,
                    repair.signature.as_str(),
                    Name::of(&repair.script),
                    edits,
                    repair.summary,
                    repair.wins,
                    repair.losses,
                ],
            )
            .map(|_| ())
        })
    }

    fn count(&self, entry: &str, won: bool) -> Result<(), PortError> {
        let counted = self.write(Durability::Power, "count a repair's success", |tx| {
            tx.execute(
                "UPDATE memory SET wins = wins + ?2, losses = losses + ?3 WHERE entry = ?1",
                params![entry, won, !won],
            )
        })?;
        if counted == 1 {
            return Ok(());
        }
        Err(PortError::plain(format!("find the remembered repair {entry}"), Trouble::Missing))
    }
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
    };
    Ok((repair, row.get(6)?))
}

fn with_edits((repair, edits): (Remembered, String)) -> Result<Remembered, PortError> {
    let edits = serde_json::from_str(&edits)
        .map_err(|error| damaged(format!("read the remembered repair {}", repair.entry), error))?;
    Ok(Remembered { edits, ..repair })
}
