//! What people allowed and forbade: policy by job, the freeze, and what the circuit breaker asks.

use std::path::Path;

use rusqlite::{OptionalExtension, params};
use selfheal_core::ids::{IncidentId, JobKey, Signature};
use selfheal_core::ports::{PortError, Trouble};
use selfheal_core::proposal::Risk;

use crate::trouble::io;
use crate::values::limit;
use crate::{Durability, Store, files};

/// Up to which risk repairs of a job are applied unattended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// None are.
    None,
    /// Those of low risk.
    Low,
    /// Those of low and medium risk.
    Medium,
}

impl Level {
    /// The word in the store and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Low => "low",
            Self::Medium => "medium",
        }
    }

    /// The level of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::None, Self::Low, Self::Medium].into_iter().find(|level| level.word() == word)
    }

    /// The highest risk that is applied.
    #[must_use]
    pub fn limit(self) -> Option<Risk> {
        match self {
            Self::None => None,
            Self::Low => Some(Risk::Low),
            Self::Medium => Some(Risk::Medium),
        }
    }
}

/// How an incident ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The incident.
    pub incident: IncidentId,
    /// Its status, in the words of `--json`.
    pub status: String,
    /// What the failure has in common with others.
    pub signature: Option<Signature>,
}

/// The file whose presence makes every run bare. A plain file, so that it works when the database does not.
const FROZEN: &str = "frozen";

/// Whether selfheal is frozen. Works without opening the store.
#[must_use]
pub fn frozen(root: &Path) -> bool {
    root.join(FROZEN).symlink_metadata().is_ok()
}

/// Freezes selfheal or thaws it. Works without opening the store.
///
/// # Errors
/// When the file cannot be made or removed.
pub fn set_frozen(root: &Path, on: bool) -> Result<(), PortError> {
    let path = root.join(FROZEN);
    let done = if on {
        files::prepare_root(root)?;
        files::replace(
            &path,
            b"Every run is bare while this file exists. `selfheal thaw` removes it.\n",
            true,
        )
    } else {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    };
    done.map_err(|error| io(format!("{} {}", if on { "write" } else { "remove" }, path.display()), error))
}

impl Store {
    /// Sets up to which risk repairs of a job are applied unattended.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub fn allow(&self, job: &JobKey, level: Level) -> Result<(), PortError> {
        self.write(Durability::Power, "store what a job is allowed", |tx| {
            tx.execute(
                "INSERT INTO job (key, allow) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET allow = ?2",
                params![job.as_str(), level.word()],
            )
            .map(|_| ())
        })
    }

    /// What was set with [`allow`](Self::allow); `None` when nobody ever did.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn allowed(&self, job: &JobKey) -> Result<Option<Level>, PortError> {
        let doing = "read what a job is allowed";
        let word: Option<String> = self.read(doing, |db| {
            db.query_row("SELECT allow FROM job WHERE key = ?1", [job.as_str()], |row| row.get(0)).optional()
        })?;
        word.map(|word| Level::from_word(&word).ok_or_else(|| PortError::plain(doing, Trouble::Corrupt)))
            .transpose()
    }

    /// How the newest incidents of a job ended, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn last_ends(&self, job: &JobKey, most: usize) -> Result<Vec<End>, PortError> {
        self.read("read how incidents ended", |db| {
            let mut query = db.prepare(
                "SELECT id, status, signature FROM incident WHERE job = ?1
                 ORDER BY opened DESC, id DESC LIMIT ?2",
            )?;
            query
                .query_map(params![job.as_str(), limit(most)], |row| {
                    Ok(End {
                        incident: IncidentId::new(row.get::<_, String>(0)?),
                        status: row.get(1)?,
                        signature: row.get::<_, Option<String>>(2)?.map(Signature::new),
                    })
                })?
                .collect()
        })
    }

    /// Whether the newest `count` incidents of a job all ended alike: same status, same failure.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn ended_alike(&self, job: &JobKey, count: usize) -> Result<bool, PortError> {
        let ends = self.last_ends(job, count)?;
        let alike = ends.windows(2).all(|two| match two {
            [one, other] => one.status == other.status && one.signature == other.signature,
            _ => true,
        });
        Ok(count > 0 && ends.len() == count && alike)
    }
}
