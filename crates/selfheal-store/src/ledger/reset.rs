//! Beginning the ledger anew, after it was damaged or its files were lost: what there is is put aside as evidence, and the
//! first record of the new chain says so.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Entry, PortError, Trouble};
use selfheal_core::redact::{Redacted, Redactor};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::records::each_of_all;
use super::seal::Seals;
use super::{RESET, insert_all, verify};
use crate::files::{self, hex};
use crate::trouble::{io as io_error, sql};
use crate::{Durability, Store, begin};

/// Who begins a ledger anew, when and why.
#[derive(Clone, Debug)]
pub struct Anew {
    /// When.
    pub at: Timestamp,
    /// Why, in the words of a person.
    pub reason: Redacted,
    /// The user's number.
    pub uid: u32,
}

impl Store {
    /// Puts the ledger aside, into a file whose path is given, and begins a new one whose first record names that file, its
    /// hash, what was wrong and why.
    ///
    /// # Errors
    /// When the ledger is whole: then there is no reason to. When it cannot be read or written.
    pub fn begin_ledger_anew(&self, anew: &Anew) -> Result<PathBuf, PortError> {
        let mut db = self.db();
        let _lock = self.lock()?;
        let check = verify::verify(&db, &Seals::read(&self.root)?)?;
        let Some((record, how)) = check.broken else {
            return Err(PortError::plain("begin the ledger anew: it is whole", Trouble::Other));
        };
        let aside = self.root.join(format!("ledger-until-{}.jsonl", anew.at.0));
        let hash = put_aside(&db, &self.root, &aside)?;
        let details = json!({
            "reason": anew.reason,
            "uid": anew.uid,
            "wrong": format!("record {record}: {how}"),
            "records": check.records,
            "file": aside.file_name().map(|name| name.to_string_lossy()),
            "sha256": hash,
        });
        let doing = "begin the ledger anew";
        let body = Redactor::default().json(&details).map_err(|error| PortError::new(doing, error))?;
        let first = Entry { at: anew.at, kind: RESET.to_owned(), incident: None, body };
        let failed = |error| sql(doing, error);
        let tx = begin(&mut db, Durability::Power).map_err(failed)?;
        tx.execute("DELETE FROM ledger", []).map_err(failed)?;
        // A crash from here on leaves a ledger that is broken still, and can be begun anew.
        let seals = Seals::anew(&self.root)?;
        let head = insert_all(&tx, &[first], seals.next(None), &seals)?;
        tx.commit().map_err(failed)?;
        seals.advance(&self.root, &head, true)?;
        Ok(aside)
    }
}

/// Writes every record, and the files beside, a line each; gives the hash of the file.
fn put_aside(db: &Connection, root: &Path, aside: &Path) -> Result<String, PortError> {
    let failed = |error| io_error(format!("write {}", aside.display()), error);
    let fresh = aside.with_extension("tmp");
    let _ = fs::remove_file(&fresh);
    let mut out = BufWriter::new(files::create_private(&fresh).map_err(failed)?);
    for name in super::seal::FILES {
        let text = fs::read(root.join(name)).ok().map(|text| String::from_utf8_lossy(&text).into_owned());
        writeln!(out, "{}", json!({ "file": name, "content": text })).map_err(failed)?;
    }
    write_rows(db, &mut out).map_err(|error| sql("read the ledger", error))?.map_err(failed)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    fs::rename(&fresh, aside).and_then(|()| File::open(root)?.sync_all()).map_err(failed)?;
    hash_of_file(aside).map_err(failed)
}

fn hash_of_file(path: &Path) -> io::Result<String> {
    let mut state = Sha256::new();
    let mut reader = BufReader::new(File::open(path)?);
    loop {
        let piece = reader.fill_buf()?;
        let length = piece.len();
        if length == 0 {
            return Ok(hex(&state.finalize()));
        }
        state.update(piece);
        reader.consume(length);
    }
}

fn write_rows(db: &Connection, out: &mut impl Write) -> rusqlite::Result<io::Result<()>> {
    let mut written = Ok(());
    each_of_all(db, |record| {
        let line = serde_json::to_writer(&mut *out, &record).map_err(io::Error::from);
        written = line.and_then(|()| out.write_all(b"\n"));
        written.is_ok()
    })?;
    Ok(written)
}
