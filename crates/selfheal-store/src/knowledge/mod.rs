//! Knowledge: documents cut into pieces, in a second database with a full-text index.
//!
//! Theory of operation: `knowledge.db` holds nothing that files do not hold. It may be deleted at any time; one that is
//! damaged, of another version or not ours is thrown away when it is opened, and is empty then. Which folders belong to
//! it is not in there but in `knowledge.json` ([`KnowledgeSources`]), so that it can be filled again. Only redacted texts
//! come in. FTS5 gets the [`terms`] of a piece and not its text, so that names are found in all their spellings.

mod sources;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use selfheal_core::ids::ContentHash;
use selfheal_core::knowledge::{Document, Kind, Piece, terms};
use selfheal_core::ports::{Knowledge, PortError, Trouble};
use selfheal_core::redact::Redacted;

pub use sources::{KnowledgeSource, KnowledgeSources};

use crate::files;
use crate::shared::{Shared, connect};
use crate::trouble::{io, sql};
use crate::values::{Name, Stored, limit, signed, unsigned};

/// The schema and its version: another one is thrown away.
const SCHEMA: &str = include_str!("schema.sql");
const VERSION: i64 = 1;
/// Marks the file as ours: "SHEK".
const APPLICATION_ID: i32 = 0x5348_454b;
/// The most terms of one search.
const MOST_TERMS: usize = 64;
/// How much more a term in a heading counts.
const HEADING_WEIGHT: f64 = 2.0;
/// How long other writers are waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The index of knowledge beside a store.
#[derive(Debug)]
pub struct KnowledgeIndex {
    db: Shared,
}

impl KnowledgeIndex {
    /// Opens the index in a store's folder, and makes it where there is none that can be used.
    ///
    /// # Errors
    /// When nothing can be written there, or another process holds it.
    pub fn open(root: &Path) -> Result<Self, PortError> {
        files::prepare_root(root)?;
        match Self::attempt(root) {
            Err(error) if error.trouble == Trouble::Corrupt => {
                Self::discard(root)?;
                Self::attempt(root)
            }
            opened => opened,
        }
    }

    /// Throws the index away; it is empty when it is opened next.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn discard(root: &Path) -> Result<(), PortError> {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let path = root.join(format!("knowledge.db{ending}"));
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(io(format!("remove {}", path.display()), error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn attempt(root: &Path) -> Result<Self, PortError> {
        let path = root.join("knowledge.db");
        let doing = format!("open the knowledge {}", path.display());
        files::make_private_file(&path).map_err(|error| io(doing.clone(), error))?;
        let failed = |error| sql(doing.clone(), error);
        let mut db = connect(&path, PATIENCE).map_err(failed)?;
        if version(&db).map_err(failed)? != Some(VERSION) {
            make(&mut db).map_err(failed)?.ok_or_else(|| PortError::plain(doing, Trouble::Corrupt))?;
        }
        Ok(Self { db: Shared::new(db) })
    }

    fn write<T>(
        &self,
        doing: &str,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, PortError> {
        let failed = |error| sql(doing, error);
        let mut db = self.db.lock();
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let value = change(&tx).map_err(failed)?;
        tx.commit().map_err(failed)?;
        Ok(value)
    }
}

/// The version of a database that is ours; 0 for an empty one, nothing for somebody else's.
fn version(db: &Connection) -> rusqlite::Result<Option<i64>> {
    let number = |pragma: &str| db.query_row(pragma, [], |row| row.get::<_, i64>(0));
    let version = number("PRAGMA user_version")?;
    let ours = number("PRAGMA application_id")? == i64::from(APPLICATION_ID);
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    Ok((ours || tables == 0).then_some(version))
}

/// Makes the tables, unless somebody else just did; nothing where there are other ones.
fn make(db: &mut Connection) -> rusqlite::Result<Option<()>> {
    let _: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match version(&tx)? {
        Some(0) => {}
        Some(VERSION) => return Ok(Some(())),
        _ => return Ok(None),
    }
    tx.execute_batch(SCHEMA)?;
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", VERSION)?;
    tx.commit()?;
    Ok(Some(()))
}

impl Knowledge for KnowledgeIndex {
    fn put(&self, documents: &[(Document, Vec<Piece>)]) -> Result<(), PortError> {
        self.write("take documents in", |tx| {
            for (document, pieces) in documents {
                forget(tx, &document.path)?;
                tx.execute(
                    "INSERT INTO document (path, kind, modified, len, hash) VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![
                        Name::of(&document.path),
                        document.kind.word(),
                        document.modified_ns,
                        signed(document.len),
                        document.hash.as_str()
                    ],
                )?;
                add(tx, tx.last_insert_rowid(), pieces)?;
            }
            Ok(())
        })
    }

    fn documents(&self) -> Result<Vec<Document>, PortError> {
        self.db.read("list the documents", |db| {
            let mut query =
                db.prepare("SELECT path, kind, modified, len, hash FROM document ORDER BY path")?;
            query.query_map([], document)?.collect()
        })
    }

    fn drop_documents(&self, paths: &[PathBuf]) -> Result<usize, PortError> {
        self.write("drop documents", |tx| {
            let mut gone = 0;
            for path in paths {
                gone += usize::from(forget(tx, path)?);
            }
            Ok(gone)
        })
    }

    fn search(&self, wanted: &[String], most: usize) -> Result<Vec<Piece>, PortError> {
        // In quotes, and without any, a term is nothing but a term to FTS5.
        let quoted: Vec<String> = wanted
            .iter()
            .filter(|term| !term.is_empty() && term.chars().all(char::is_alphanumeric))
            .take(MOST_TERMS)
            .map(|term| format!("\"{term}\""))
            .collect();
        if quoted.is_empty() {
            return Ok(Vec::new());
        }
        self.db.read("search the knowledge", |db| {
            let mut query = db.prepare(
                "SELECT document.path, document.kind, heading, first_line, last_line, text, is_data
                 FROM (SELECT rowid AS found, bm25(term, ?2, 1.0) AS score FROM term WHERE term MATCH ?1
                       ORDER BY score LIMIT ?3)
                 JOIN piece ON piece.id = found JOIN document ON document.id = piece.document ORDER BY score",
            )?;
            let found = params![quoted.join(" OR "), HEADING_WEIGHT, limit(most)];
            query.query_map(found, piece)?.collect()
        })
    }
}

/// Drops a document with its pieces; whether there was one.
fn forget(tx: &Transaction<'_>, path: &Path) -> rusqlite::Result<bool> {
    let id: Option<i64> = tx
        .query_row("SELECT id FROM document WHERE path = ?1", params![Name::of(path)], |row| row.get(0))
        .optional()?;
    let Some(id) = id else { return Ok(false) };
    tx.execute("DELETE FROM term WHERE rowid IN (SELECT id FROM piece WHERE document = ?1)", [id])?;
    tx.execute("DELETE FROM piece WHERE document = ?1", [id])?;
    tx.execute("DELETE FROM document WHERE id = ?1", [id])?;
    Ok(true)
}

fn add(tx: &Transaction<'_>, document: i64, pieces: &[Piece]) -> rusqlite::Result<()> {
    let mut row = tx.prepare(
        "INSERT INTO piece (document, heading, first_line, last_line, text, is_data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let mut found = tx.prepare("INSERT INTO term (rowid, heading, body) VALUES (?1, ?2, ?3)")?;
    for piece in pieces {
        row.execute(params![
            document,
            piece.heading.as_str(),
            piece.first_line,
            piece.last_line,
            piece.text.as_str(),
            piece.is_data
        ])?;
        let name = piece.path.file_name().unwrap_or_default().to_string_lossy();
        let heading = terms(&format!("{name} {}", piece.heading)).join(" ");
        let body = terms(piece.text.as_str()).join(" ");
        found.execute(params![tx.last_insert_rowid(), heading, body])?;
    }
    Ok(())
}

fn kind(word: &str) -> rusqlite::Result<Kind> {
    Kind::from_word(word).ok_or(rusqlite::Error::InvalidQuery)
}

fn document(row: &Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document {
        path: row.get::<_, Name>(0)?.path(),
        kind: kind(&row.get::<_, String>(1)?)?,
        modified_ns: row.get(2)?,
        len: unsigned(row.get(3)?),
        hash: ContentHash::new(row.get::<_, String>(4)?),
    })
}

fn piece(row: &Row<'_>) -> rusqlite::Result<Piece> {
    let text = |at: usize| row.get::<_, Stored>(at).map(|Stored(text)| -> Redacted { text });
    Ok(Piece {
        path: row.get::<_, Name>(0)?.path(),
        kind: kind(&row.get::<_, String>(1)?)?,
        heading: text(2)?,
        first_line: row.get(3)?,
        last_line: row.get(4)?,
        text: text(5)?,
        is_data: row.get(6)?,
    })
}
