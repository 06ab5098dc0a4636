//! A draft: what a boxed run did to files, kept aside until it is put in place or thrown away.
//!
//! It is a folder with `draft.json` (this file's types), `slots/N` (the new file of entry N, complete with owner, mode,
//! times and attributes; after the commit the old one, see `steps`) and `old/N` (copies of old files, where the draft
//! lies on another mount than they do).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use selfheal_core::effects::Change;
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::meta::Meta;
use super::steps::Step;

/// The file with everything about a draft.
pub(crate) const FILE: &str = "draft.json";

/// Where the new things are.
pub(crate) const SLOTS: &str = "slots";

/// Where copies of the old things are.
pub(crate) const OLD: &str = "old";

/// What a boxed run did to files, kept aside.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Draft {
    /// Its identity: a UUIDv7, or what the program chose.
    pub id: String,
    /// When it was made, in milliseconds since 1970.
    pub made: i64,
    /// The command that made it, redacted, on one line.
    pub command: String,
    /// Where it stands.
    pub state: Standing,
    /// What was done, sorted by path.
    pub entries: Vec<Entry>,
    /// What was put in place, in order, and what each path was afterwards.
    pub(crate) done: Vec<(Step, Option<Facts>)>,
}

/// Where a draft stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It waits.
    Kept,
    /// It is in place.
    Committed,
    /// It was in place and was taken back. It may be put in place again.
    Undone,
}

impl Standing {
    /// The word for people and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Committed => "committed",
            Self::Undone => "undone",
        }
    }
}

/// What a boxed run did to one path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The path, absolute.
    #[serde(with = "path")]
    pub path: PathBuf,
    /// What happened to it.
    pub change: Change,
    /// Its size afterwards in bytes.
    pub len: u64,
    /// What a commit does otherwise than the job did it.
    pub remark: Option<Remark>,
    pub(crate) act: Act,
    /// What was there before.
    pub(crate) base: Option<Facts>,
    /// Somebody else changed it while the job ran.
    pub(crate) disturbed: bool,
}

/// What a commit does otherwise than the job did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remark {
    /// A socket or device: it is not put in place.
    NotAFile,
    /// The file has several names: it is rewritten, so that all of them see it.
    SeveralNames,
    /// A setuid bit, setgid bit or capability that was not there before is left out.
    RightsLeftOut,
}

impl Remark {
    /// The word for JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NotAFile => "not_a_file",
            Self::SeveralNames => "several_names",
            Self::RightsLeftOut => "rights_left_out",
        }
    }
}

/// What is to be done with a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Act {
    /// Put what is in the slot there, in place of what may be there.
    Put,
    /// Make it a folder like that in the slot.
    Folder(Meta),
    /// Change everything but the content: from, to.
    Touch(Meta, Meta),
    /// Rewrite the content of a file that has several names with that in the slot.
    Rewrite,
    /// Remove it.
    Remove,
    /// Nothing can be done.
    Leave,
}

impl Entry {
    /// The size of the file that was there before, in bytes.
    #[must_use]
    pub fn len_before(&self) -> Option<u64> {
        self.base.as_ref().filter(|base| base.is_file()).map(|base| base.len)
    }
}

impl Draft {
    /// A draft with nothing in it yet.
    pub(crate) fn begun(id: &str, made: i64, command: &str) -> Self {
        let (id, command) = (id.to_owned(), command.to_owned());
        Self { id, made, command, state: Standing::Kept, entries: Vec::new(), done: Vec::new() }
    }

    /// Reads the draft in a folder.
    pub(crate) fn load(folder: &Path) -> io::Result<Self> {
        let text = fs::read(folder.join(FILE))?;
        serde_json::from_slice(&text).map_err(io::Error::from)
    }

    /// Writes it, whole or not at all; durable when this returns.
    pub(crate) fn save(&self, folder: &Path) -> io::Result<()> {
        replace(&folder.join(FILE), &serde_json::to_vec(self)?, true)
    }

    /// Makes the folder of a draft with nothing in it.
    pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.mode(0o700).recursive(true);
        [folder.to_path_buf(), folder.join(SLOTS), folder.join(OLD)]
            .iter()
            .try_for_each(|path| builder.create(path))
    }

    /// Writes a fresh draft. What lies in its slots is not yet safe from a power cut, so this need not be either.
    pub(crate) fn save_first(&self, folder: &Path) -> io::Result<()> {
        replace(&folder.join(FILE), &serde_json::to_vec(self)?, false)
    }
}

/// Replaces a file of ours; with `now` it is on the disk when this returns.
pub(crate) fn replace(path: &Path, content: &[u8], now: bool) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.write_all(content)?;
    if now {
        file.sync_all()?;
    }
    fs::rename(&fresh, path)?;
    match path.parent() {
        Some(folder) if now => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Paths as strings with one character for each byte.
pub(crate) mod path {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::boxes::Raw;

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        Raw::of(path).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Raw::deserialize(from).map(Raw::into_path)
    }
}
