//! Priors: how often a cause was the true one, and how often a rule's repair worked.

use rusqlite::params;
use selfheal_core::ports::{Count, PortError, Priors, Tally, TallyKey};

use crate::{Durability, Store};

impl Priors for Store {
    fn tally(&self, key: &TallyKey, count: Count) -> Result<(), PortError> {
        self.write(Durability::Process, "count what was right", |tx| {
            tx.execute(
                "INSERT INTO tally (class, tool, kind, name, won, lost) VALUES (?1, ?2, ?3, ?4, ?5, max(?6, 0))
                 ON CONFLICT (class, tool, kind, name) DO UPDATE SET won = won + ?5, lost = max(lost + ?6, 0)",
                params![key.class, key.tool, key.kind, key.name, count.wins(), count.losses()],
            )
            .map(|_| ())
        })
    }

    fn tallies(&self) -> Result<Vec<Tally>, PortError> {
        self.read("read what was right", |db| {
            let mut query = db.prepare(
                "SELECT class, tool, kind, name, won, lost FROM tally ORDER BY class, tool, kind, name",
            )?;
            query
                .query_map([], |row| {
                    let key = TallyKey {
                        class: row.get(0)?,
                        tool: row.get(1)?,
                        kind: row.get(2)?,
                        name: row.get(3)?,
                    };
                    Ok(Tally { key, won: row.get(4)?, lost: row.get(5)? })
                })?
                .collect()
        })
    }
}
