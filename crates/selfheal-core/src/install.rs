//! Packages that a repair brings: what was fetched, in which versions, and where it goes. The files themselves are
//! changes of the proposal like all others.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The most files that packages may have together: each is saved, put in and taken back by itself.
pub const MOST_FILES: usize = 2_000;
/// The most bytes that they may have together.
pub const MOST_BYTES: u64 = 32 << 20;

/// One call of an installer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Install {
    /// The installer: `pip` or `npm`.
    pub tool: String,
    /// The folder that everything lies below: a virtual environment, or a `node_modules`.
    #[serde(with = "crate::path_text")]
    pub place: PathBuf,
    /// The command, as a person would type it.
    pub command: String,
    /// What it brought, by name.
    pub packages: Vec<Package>,
}

/// One package that an installer brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What pins its content: `sha256:` and the hash of its list of files with their hashes (`RECORD`), or the integrity
    /// value of a lock file (`sha512-…`).
    pub hash: String,
}

impl Install {
    /// Whether a file is one of those that it brings.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.place)
    }

    /// The packages in one line: `PyYAML 6.0.1, six 1.16.0`.
    #[must_use]
    pub fn names(&self) -> String {
        let all = self.packages.iter().map(|one| format!("{} {}", one.name, one.version));
        all.collect::<Vec<_>>().join(", ")
    }
}
