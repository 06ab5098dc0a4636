//! The outbox: messages that wait to be delivered, and to which channel each was. A message is new until it is handed to
//! the channels; then there is a row a channel, which is due until the message was taken or given up.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::ports::{Delivery, Due, Message, Outbox, PortError, Trouble};
use selfheal_core::redact::Redacted;

use crate::values::{Stored, limit, unsigned};
use crate::{Durability, Store};

/// How long a message belongs to the caller who got it, in milliseconds.
const LEASE_MS: i64 = 5 * 60 * 1_000;

/// Messages that a channel never took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered {
    /// The channel.
    pub channel: String,
    /// How many.
    pub messages: u64,
    /// Why the newest of them was not taken.
    pub error: Redacted,
}

impl Outbox for Store {
    fn put(&self, message: &Message) -> Result<(), PortError> {
        self.write(Durability::Power, "put a message into the outbox", |tx| {
            tx.execute(
                "INSERT INTO outbox (at, subject, text, html, incident, next) VALUES (?1, ?2, ?3, ?4, ?5, ?1)",
                params![
                    message.at.0,
                    message.subject.as_str(),
                    message.text.as_str(),
                    message.html.as_ref().map(Redacted::as_str),
                    message.incident.as_ref().map(IncidentId::as_str),
                ],
            )
            .map(|_| ())
        })
    }

    fn hand_out(&self, channels: &[&str], now: Timestamp) -> Result<usize, PortError> {
        let doing = "hand out messages";
        // Every command looks; nearly always there is nothing, and then nothing is locked.
        if channels.is_empty() || !self.read(doing, |db| any_new(db, now))? {
            return Ok(0);
        }
        self.write(Durability::Power, doing, |tx| {
            let mut hand = tx.prepare(
                "INSERT OR IGNORE INTO delivery (message, channel, next)
                 SELECT id, ?1, next FROM outbox WHERE next <= ?2",
            )?;
            for channel in channels {
                hand.execute(params![channel, now.0])?;
            }
            tx.execute("UPDATE outbox SET next = NULL WHERE next <= ?1", [now.0])
        })
    }

    fn due(&self, channel: &str, now: Timestamp, most: usize) -> Result<Vec<Due>, PortError> {
        let doing = "read the outbox";
        if !self.read(doing, |db| any_due(db, channel, now))? {
            return Ok(Vec::new());
        }
        self.write(Durability::Process, doing, |tx| {
            let due = select_due(tx, channel, now, most)?;
            let mut lease =
                tx.prepare("UPDATE delivery SET next = ?3 WHERE message = ?1 AND channel = ?2")?;
            for one in &due {
                lease.execute(params![one.row, channel, now.0.saturating_add(LEASE_MS)])?;
            }
            Ok(due)
        })
    }

    fn settle(&self, channel: &str, rows: &[i64], outcome: &Delivery) -> Result<(), PortError> {
        let settled = self.write(Durability::Power, "settle a message", |tx| {
            rows.iter().map(|row| settle_one(tx, channel, *row, outcome)).sum::<rusqlite::Result<usize>>()
        })?;
        if settled == rows.len() {
            return Ok(());
        }
        Err(PortError::plain(format!("find messages {rows:?} of {channel} in the outbox"), Trouble::Missing))
    }
}

impl Store {
    /// How often the delivery of a message to a channel was tried.
    ///
    /// # Errors
    /// When there is no such message, or the store cannot be read.
    pub fn delivery_attempts(&self, channel: &str, row: i64) -> Result<u32, PortError> {
        let attempts = self.read("read the outbox", |db| {
            let sql = "SELECT attempts FROM delivery WHERE message = ?1 AND channel = ?2";
            db.query_row(sql, params![row, channel], |row| row.get(0)).optional()
        })?;
        attempts
            .ok_or_else(|| PortError::plain(format!("find message {row} in the outbox"), Trouble::Missing))
    }

    /// How many messages are new, or due for a channel.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn waiting_messages(&self) -> Result<u64, PortError> {
        self.read("read the outbox", |db| {
            db.query_row(
                "SELECT (SELECT count(*) FROM outbox WHERE next IS NOT NULL)
                      + (SELECT count(DISTINCT message) FROM delivery WHERE next IS NOT NULL)",
                [],
                |row| row.get(0),
            )
        })
        .map(unsigned)
    }

    /// When a channel took a message last.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn last_delivery(&self, channel: &str) -> Result<Option<Timestamp>, PortError> {
        self.read("read the outbox", |db| {
            let sql = "SELECT max(done) FROM delivery WHERE channel = ?1";
            db.query_row(sql, [channel], |row| row.get::<_, Option<i64>>(0))
        })
        .map(|at| at.map(Timestamp))
    }

    /// Until when a channel that did not take something is left alone: what is new waits with what is tried again.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn in_trouble_until(&self, channel: &str, now: Timestamp) -> Result<Option<Timestamp>, PortError> {
        self.read("read the outbox", |db| {
            let sql =
                "SELECT min(next) FROM delivery WHERE channel = ?1 AND attempts > 0 AND next IS NOT NULL";
            db.query_row(sql, [channel], |row| row.get::<_, Option<i64>>(0))
        })
        .map(|at| at.filter(|at| *at > now.0).map(Timestamp))
    }

    /// The messages written since a moment that channels never took, by channel.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn undelivered(&self, since: Timestamp) -> Result<Vec<Undelivered>, PortError> {
        self.read("read the outbox", |db| {
            let mut query = db.prepare(
                "SELECT channel, count(*), error, max(message) FROM delivery
                 JOIN outbox ON outbox.id = delivery.message
                 WHERE delivery.next IS NULL AND done IS NULL AND outbox.at >= ?1
                 GROUP BY channel ORDER BY channel",
            )?;
            let row = |row: &Row<'_>| {
                Ok(Undelivered {
                    channel: row.get(0)?,
                    messages: unsigned(row.get(1)?),
                    error: row.get::<_, Option<Stored>>(2)?.map(|text| text.0).unwrap_or_default(),
                })
            };
            query.query_map([since.0], row)?.collect()
        })
    }

    /// Gives up what channels have not taken that are not there any more; how many messages that were.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn drop_channels_but(&self, channels: &[&str], error: &Redacted) -> Result<usize, PortError> {
        let known = serde_json::Value::from(channels).to_string();
        let doing = "give up channels";
        let gone = "next IS NOT NULL AND channel NOT IN (SELECT value FROM json_each(?1))";
        let any = format!("SELECT EXISTS (SELECT 1 FROM delivery WHERE {gone})");
        if !self.read(doing, |db| db.query_row(&any, [&known], |row| row.get(0)))? {
            return Ok(0);
        }
        self.write(Durability::Power, doing, |tx| {
            let sql = format!("UPDATE delivery SET next = NULL, error = ?2 WHERE {gone}");
            tx.execute(&sql, params![known, error.as_str()])
        })
    }
}

fn settle_one(tx: &Transaction<'_>, channel: &str, row: i64, outcome: &Delivery) -> rusqlite::Result<usize> {
    let (next, done, error) = match outcome {
        Delivery::Done(at) => (None, Some(at.0), None),
        Delivery::Again { at, error } => (Some(at.0), None, Some(error.as_str())),
        Delivery::GivenUp { error } => (None, None, Some(error.as_str())),
    };
    tx.prepare(
        "UPDATE delivery SET attempts = attempts + 1, next = ?3, done = ?4, error = coalesce(?5, error)
         WHERE message = ?1 AND channel = ?2",
    )?
    .execute(params![row, channel, next, done, error])
}

fn any_new(db: &Connection, now: Timestamp) -> rusqlite::Result<bool> {
    db.query_row("SELECT EXISTS (SELECT 1 FROM outbox WHERE next <= ?1)", [now.0], |row| row.get(0))
}

fn any_due(db: &Connection, channel: &str, now: Timestamp) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM delivery WHERE channel = ?1 AND next <= ?2)";
    db.query_row(sql, params![channel, now.0], |row| row.get(0))
}

fn select_due(db: &Connection, channel: &str, now: Timestamp, most: usize) -> rusqlite::Result<Vec<Due>> {
    let mut query = db.prepare(
        "SELECT id, delivery.attempts, at, subject, text, incident, html
         FROM delivery JOIN outbox ON outbox.id = delivery.message
         WHERE channel = ?1 AND delivery.next <= ?2 ORDER BY id LIMIT ?3",
    )?;
    query.query_map(params![channel, now.0, limit(most)], due_of)?.collect()
}

fn due_of(row: &Row<'_>) -> rusqlite::Result<Due> {
    let message = Message {
        at: Timestamp(row.get(2)?),
        subject: row.get::<_, Stored>(3)?.0,
        text: row.get::<_, Stored>(4)?.0,
        incident: row.get::<_, Option<String>>(5)?.map(IncidentId::new),
        html: row.get::<_, Option<Stored>>(6)?.map(|html| html.0),
    };
    Ok(Due { row: row.get(0)?, attempts: row.get(1)?, message })
}
