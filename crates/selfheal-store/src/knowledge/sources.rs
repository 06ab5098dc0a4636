//! Which files and folders belong to the knowledge: a small file of its own, for the index can be thrown away.

use std::path::{Path, PathBuf};

use selfheal_core::ids::Timestamp;
use selfheal_core::knowledge::Kind;
use selfheal_core::ports::{PortError, Trouble};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::trouble::{damaged, io};

/// A file or folder that a user named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnowledgeSource {
    /// Where, absolute, without links.
    #[serde(with = "selfheal_core::path_text")]
    pub path: PathBuf,
    /// What all its documents are; each by its name where nobody said.
    pub kind: Option<Kind>,
    /// When it was added.
    pub added: Timestamp,
}

/// The file `knowledge.json` of a store.
#[derive(Clone, Debug)]
pub struct KnowledgeSources {
    root: PathBuf,
}

/// The most of them.
const MOST: usize = 1_000;

impl KnowledgeSources {
    /// Those of the store in a folder.
    #[must_use]
    pub fn of(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn file(&self) -> PathBuf {
        self.root.join("knowledge.json")
    }

    /// All, in the order in which they were added.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    pub fn all(&self) -> Result<Vec<KnowledgeSource>, PortError> {
        let file = self.file();
        let text = match std::fs::read(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|error| io(format!("read {}", file.display()), error))?,
        };
        serde_json::from_slice(&text).map_err(|error| damaged(format!("read {}", file.display()), error))
    }

    /// Adds one, in the place of an earlier one of the same path.
    ///
    /// # Errors
    /// When there are too many or it cannot be stored.
    pub fn add(&self, source: KnowledgeSource) -> Result<(), PortError> {
        self.change(|all| {
            all.retain(|other| other.path != source.path);
            all.push(source);
        })
    }

    /// Removes one; whether there was one.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub fn remove(&self, path: &Path) -> Result<bool, PortError> {
        let mut found = false;
        self.change(|all| {
            let before = all.len();
            all.retain(|source| source.path != path);
            found = all.len() < before;
        })?;
        Ok(found)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<KnowledgeSource>)) -> Result<(), PortError> {
        files::prepare_root(&self.root)?;
        let _lock = files::lock(&self.root, super::PATIENCE)?;
        let mut all = self.all()?;
        change(&mut all);
        if all.len() > MOST {
            return Err(PortError::plain(
                format!("keep more than {MOST} folders of knowledge"),
                Trouble::Other,
            ));
        }
        let file = self.file();
        let text = serde_json::to_vec_pretty(&all)
            .map_err(|error| PortError::new(format!("write {}", file.display()), error))?;
        files::replace(&file, &text, true).map_err(|error| io(format!("write {}", file.display()), error))
    }
}
