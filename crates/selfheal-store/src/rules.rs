//! Which rules may act unattended: those that are as they were when a person, or the first start, accepted them.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use selfheal_core::ports::PortError;

use crate::{Durability, Store};

impl Store {
    /// The rules that are accepted, each with its print. Where none ever were, those that are given are: who installs a
    /// selfheal accepts the rules that it comes with.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn accepted_rules(
        &self,
        present: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, PortError> {
        let doing = "read which rules are accepted";
        let accepted = self.read(doing, select)?;
        if !accepted.is_empty() || present.is_empty() {
            return Ok(accepted);
        }
        self.write(Durability::Power, "accept the rules that are here", |tx| {
            // Another process may have done it meanwhile, and with other rules.
            let accepted = select(tx)?;
            if accepted.is_empty() { insert(tx, present).map(|()| present.clone()) } else { Ok(accepted) }
        })
    }

    /// Accepts rules as they are now.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub fn accept_rules(&self, rules: &BTreeMap<String, String>) -> Result<(), PortError> {
        self.write(Durability::Power, "accept rules", |tx| insert(tx, rules))
    }
}

fn select(db: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut query = db.prepare("SELECT name, print FROM accepted_rule")?;
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn insert(tx: &Connection, rules: &BTreeMap<String, String>) -> rusqlite::Result<()> {
    let mut accept = tx.prepare("INSERT OR REPLACE INTO accepted_rule (name, print) VALUES (?1, ?2)")?;
    rules.iter().try_for_each(|(name, print)| accept.execute(params![name, print]).map(|_| ()))
}
