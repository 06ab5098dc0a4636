//! Everything that is stored, as JSON: a line a row, for other programs.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use selfheal_core::ids::Timestamp;
use selfheal_core::ports::PortError;
use serde_json::{Map, Value};

use crate::Store;
use crate::files::hex;

/// A kind of line: a table of the store.
struct Kind {
    name: &'static str,
    table: &'static str,
    /// The column that says when, in milliseconds, where there is one.
    at: Option<&'static str>,
    /// What the lines are sorted by.
    order: &'static str,
}

const fn kind(
    name: &'static str,
    table: &'static str,
    at: Option<&'static str>,
    order: &'static str,
) -> Kind {
    Kind { name, table, at, order }
}

const KINDS: [Kind; 10] = [
    kind("run", "run", Some("started"), "started, id"),
    kind("facts", "facts", None, "hash"),
    kind("incident", "incident", Some("updated"), "opened, id"),
    kind("job", "job", None, "key"),
    kind("ledger", "ledger", Some("at"), "seq"),
    kind("snapshot", "snapshot", None, "rowid"),
    kind("memory", "memory", Some("learnt"), "rowid"),
    kind("tally", "tally", None, "class, tool, kind, name"),
    kind("message", "outbox", Some("at"), "id"),
    kind("delivery", "delivery", None, "message, channel"),
];

/// Columns whose text is JSON.
const JSON: [&str; 2] = ["body", "edits"];

/// The names of all kinds of lines, in the order in which they come.
pub const EXPORTED: [&str; 10] =
    ["run", "facts", "incident", "job", "ledger", "snapshot", "memory", "tally", "message", "delivery"];

/// Which lines.
#[derive(Clone, Debug, Default)]
pub struct ExportFilter {
    /// Only these kinds; all, where there are none.
    pub kinds: Vec<String>,
    /// Only what is from this moment or later. Kinds that know no time come whole.
    pub since: Option<Timestamp>,
}

impl Store {
    /// Gives every row as an object with `type` (its kind) and its columns, until it is told to stop. Texts are as they are stored:
    /// file names and `edits` are not redacted yet.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn export(
        &self,
        filter: &ExportFilter,
        each: &mut dyn FnMut(Value) -> bool,
    ) -> Result<(), PortError> {
        let wanted =
            |kind: &&Kind| filter.kinds.is_empty() || filter.kinds.iter().any(|name| name == kind.name);
        self.read("read the store", |db| {
            for kind in KINDS.iter().filter(wanted) {
                if !rows_of(db, kind, filter.since, each)? {
                    break;
                }
            }
            Ok(())
        })
    }
}

/// Whether more is wanted.
fn rows_of(
    db: &Connection,
    kind: &Kind,
    since: Option<Timestamp>,
    each: &mut dyn FnMut(Value) -> bool,
) -> rusqlite::Result<bool> {
    let since = since.filter(|_| kind.at.is_some()).map_or(i64::MIN, |since| since.0);
    let at = kind.at.unwrap_or("?1");
    let mut query =
        db.prepare(&format!("SELECT * FROM {} WHERE {at} >= ?1 ORDER BY {}", kind.table, kind.order))?;
    let columns: Vec<String> = query.column_names().into_iter().map(str::to_owned).collect();
    let mut rows = query.query(params![since])?;
    while let Some(row) = rows.next()? {
        if !each(object(kind, &columns, row)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn object(kind: &Kind, columns: &[String], row: &Row<'_>) -> rusqlite::Result<Value> {
    let mut map = Map::new();
    map.insert("type".to_owned(), Value::from(kind.name));
    for (at, name) in columns.iter().enumerate() {
        map.insert(name.clone(), value(name, row.get_ref(at)?));
    }
    Ok(Value::Object(map))
}

/// A name that is no text becomes the hexadecimal digits of its bytes.
fn value(column: &str, stored: ValueRef<'_>) -> Value {
    match stored {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::from(number),
        ValueRef::Real(number) => Value::from(number),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let parsed = JSON.contains(&column).then(|| serde_json::from_str(&text).ok()).flatten();
            parsed.unwrap_or_else(|| Value::from(text.into_owned()))
        }
        ValueRef::Blob(bytes) => serde_json::json!({ "bytes": hex(bytes) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_kinds() {
        assert_eq!(KINDS.each_ref().map(|kind| kind.name), EXPORTED);
    }
}
