//! What a boxed run did to files.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One thing that a boxed run did to a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Effect {
    /// The path, absolute.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// What happened to it.
    pub change: Change,
    /// Its size afterwards in bytes; 0 for what is not a regular file or is gone.
    pub len: u64,
    /// SHA-256 of the content afterwards, for regular files up to the size that is hashed.
    pub content: Option<String>,
    /// Permission bits afterwards; 0 for what is gone.
    pub mode: u32,
}

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A file or other thing that was not there.
    Created,
    /// A folder that was not there.
    CreatedFolder,
    /// The content is another.
    Changed,
    /// The content is the old one with more behind it.
    Appended,
    /// Only owner, mode, times or attributes are others.
    Attributes,
    /// It is gone.
    Deleted,
}
