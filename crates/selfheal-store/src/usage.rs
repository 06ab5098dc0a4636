//! What language models took: one line a call, in one file. A line that cannot be read is left out.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use selfheal_core::ids::IncidentId;
use selfheal_core::ports::PortError;
use selfheal_core::usage::Usage;
use serde::{Deserialize, Serialize};

use crate::Store;
use crate::trouble::io;

/// The file is begun anew beyond so many bytes; the one before is kept.
const MOST_BYTES: u64 = 1024 * 1024;

/// What one call took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageRecord {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// For which incident; none for a test of the model.
    pub incident: Option<IncidentId>,
    /// The model.
    pub model: String,
    /// What it took.
    pub usage: Usage,
}

impl Store {
    /// Notes what a call took.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note_usage(&self, record: &UsageRecord) -> Result<(), PortError> {
        let path = self.usage_file();
        let fail = |error| io(format!("note what a call took in {}", path.display()), error);
        if fs::metadata(&path).is_ok_and(|facts| facts.len() > MOST_BYTES) {
            fs::rename(&path, path.with_extension("jsonl.1")).map_err(fail)?;
        }
        let line = serde_json::to_string(record).map_err(|error| fail(error.into()))?;
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path).map_err(fail)?;
        file.write_all(format!("{line}\n").as_bytes()).map_err(fail)
    }

    /// What calls took since a moment.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn usage_since(&self, at: i64) -> Result<Usage, PortError> {
        let all = self.usages()?;
        Ok(all
            .iter()
            .filter(|record| record.at >= at)
            .fold(Usage::default(), |sum, record| sum.plus(&record.usage)))
    }

    /// What the calls for one incident took, by model, in the order in which they were asked first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn usage_of(&self, incident: &IncidentId) -> Result<Vec<(String, Usage)>, PortError> {
        let all = self.usages()?;
        Ok(by_model(all.into_iter().filter(|record| record.incident.as_ref() == Some(incident))))
    }

    /// What calls took since a moment, by model, in the order in which they were asked first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn usage_by_model(&self, since: i64) -> Result<Vec<(String, Usage)>, PortError> {
        Ok(by_model(self.usages()?.into_iter().filter(|record| record.at >= since)))
    }

    fn usages(&self) -> Result<Vec<UsageRecord>, PortError> {
        let path = self.usage_file();
        let mut text = String::new();
        for file in [path.with_extension("jsonl.1"), path] {
            match fs::read_to_string(&file) {
                Ok(more) => text.push_str(&more),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(io(format!("read {}", file.display()), error)),
            }
        }
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    fn usage_file(&self) -> PathBuf {
        self.root().join("usage.jsonl")
    }
}

fn by_model(records: impl Iterator<Item = UsageRecord>) -> Vec<(String, Usage)> {
    let mut out: Vec<(String, Usage)> = Vec::new();
    for record in records {
        match out.iter_mut().find(|(model, _)| *model == record.model) {
            Some((_, usage)) => *usage = usage.plus(&record.usage),
            None => out.push((record.model, record.usage)),
        }
    }
    out
}
