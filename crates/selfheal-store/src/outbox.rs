//! The outbox: messages that wait to be delivered. Delivered ones stay as rows without a next time.

use rusqlite::{Connection, OptionalExtension, Row, params};
use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::ports::{Message, Outbox, PortError, Trouble};

use crate::values::{Stored, limit, unsigned};
use crate::{Durability, Store};

/// How long a message belongs to the caller who got it, in milliseconds.
const LEASE_MS: i64 = 5 * 60 * 1_000;

impl Outbox for Store {
    fn put(&self, message: &Message) -> Result<(), PortError> {
        self.write(Durability::Power, "put a message into the outbox", |tx| {
            tx.execute(
                "INSERT INTO outbox (at, subject, text, incident, next) VALUES (?1, ?2, ?3, ?4, ?1)",
                params![
                    message.at.0,
                    message.subject.as_str(),
                    message.text.as_str(),
                    message.incident.as_ref().map(IncidentId::as_str),
                ],
            )
            .map(|_| ())
        })
    }

    fn due(&self, now: Timestamp, most: usize) -> Result<Vec<(i64, Message)>, PortError> {
        let doing = "read the outbox";
        // Every command looks; nearly always there is nothing, and then nothing is locked.
        if !self.read(doing, |db| any_due(db, now))? {
            return Ok(Vec::new());
        }
        self.write(Durability::Process, doing, |tx| {
            let due = select_due(tx, now, most)?;
            let mut lease = tx.prepare("UPDATE outbox SET next = ?2 WHERE id = ?1")?;
            for (row, _) in &due {
                lease.execute(params![row, now.0.saturating_add(LEASE_MS)])?;
            }
            Ok(due)
        })
    }

    fn settle(&self, row: i64, again: Option<Timestamp>) -> Result<(), PortError> {
        let settled = self.write(Durability::Power, "settle a message", |tx| {
            tx.execute(
                "UPDATE outbox SET attempts = attempts + 1, next = ?2 WHERE id = ?1",
                params![row, again.map(|at| at.0)],
            )
        })?;
        if settled == 1 {
            return Ok(());
        }
        Err(PortError::plain(format!("find message {row} in the outbox"), Trouble::Missing))
    }
}

impl Store {
    /// How often the delivery of a message was tried.
    ///
    /// # Errors
    /// When there is no such message, or the store cannot be read.
    pub fn delivery_attempts(&self, row: i64) -> Result<u32, PortError> {
        let attempts = self.read("read the outbox", |db| {
            db.query_row("SELECT attempts FROM outbox WHERE id = ?1", [row], |row| row.get(0)).optional()
        })?;
        attempts
            .ok_or_else(|| PortError::plain(format!("find message {row} in the outbox"), Trouble::Missing))
    }

    /// How many messages are not delivered yet.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn waiting_messages(&self) -> Result<u64, PortError> {
        self.read("read the outbox", |db| {
            db.query_row("SELECT count(*) FROM outbox WHERE next IS NOT NULL", [], |row| row.get(0))
        })
        .map(unsigned)
    }
}

fn any_due(db: &Connection, now: Timestamp) -> rusqlite::Result<bool> {
    db.query_row("SELECT EXISTS (SELECT 1 FROM outbox WHERE next <= ?1)", [now.0], |row| row.get(0))
}

fn select_due(db: &Connection, now: Timestamp, most: usize) -> rusqlite::Result<Vec<(i64, Message)>> {
    let mut query = db.prepare(
        "SELECT id, at, subject, text, incident FROM outbox WHERE next <= ?1 ORDER BY next, id LIMIT ?2",
    )?;
    query.query_map(params![now.0, limit(most)], message_of)?.collect()
}

fn message_of(row: &Row<'_>) -> rusqlite::Result<(i64, Message)> {
    let message = Message {
        at: Timestamp(row.get(1)?),
        subject: row.get::<_, Stored>(2)?.0,
        text: row.get::<_, Stored>(3)?.0,
        incident: row.get::<_, Option<String>>(4)?.map(IncidentId::new),
    };
    Ok((row.get(0)?, message))
}
