//! What good runs of a job read and left: a few small records a job, with the contents of what they read.
//!
//! `good/JOB/STARTED.json` is one run, `good/JOB/HASH` a content; JOB is the hash of the job's key. They are for
//! comparison, can be lost without harm, and are removed by age as new ones come.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use selfheal_core::ids::{ContentHash, JobKey, Timestamp};
use selfheal_core::ports::{PortError, Trouble};
use serde::{Deserialize, Serialize};

use crate::files::{self, sha256};
use crate::trouble::io;
use crate::{Store, objects};

/// Records that are kept of a job.
const KEPT: usize = 10;
/// The newest of them whose contents are kept, too.
const WITH_CONTENTS: usize = 3;

/// A good run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoodRun {
    /// When it began.
    pub started: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The files that it may have read and did not change.
    pub inputs: Vec<KeptInput>,
    /// The files that it wrote.
    pub produced: Vec<Produced>,
}

/// A file that a good run may have read, as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptInput {
    /// Where, absolute.
    pub path: PathBuf,
    /// Its content.
    pub content: ContentHash,
    /// Its permission bits.
    pub mode: u32,
}

/// A file that a good run wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Produced {
    /// Where, relative to the job's folder.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its lines, where it is a text of moderate size.
    pub lines: Option<u64>,
}

impl Store {
    /// Keeps a good run, with the contents of its inputs; older ones go.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_good(&self, job: &JobKey, run: &GoodRun, contents: &[Vec<u8>]) -> Result<(), PortError> {
        let folder = self.good_folder(job);
        let fail = |error| io(format!("keep a good run in {}", folder.display()), error);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(fail)?;
        for content in contents {
            let path = folder.join(objects::hash_of(content).as_str());
            if !path.exists() {
                files::replace(&path, content, false).map_err(fail)?;
            }
        }
        let body = serde_json::to_vec(run).map_err(|error| PortError::new("keep a good run", error))?;
        files::replace(&folder.join(format!("{:020}.json", run.started.0)), &body, false).map_err(fail)?;
        drop_old(&folder);
        Ok(())
    }

    /// The good runs that are kept of a job, the newest first. One that cannot be read is passed over.
    #[must_use]
    pub fn good_runs(&self, job: &JobKey) -> Vec<GoodRun> {
        let records = records(&self.good_folder(job));
        records.iter().rev().filter_map(|path| read(path)).collect()
    }

    /// When the newest good run that is kept began, and how many are kept.
    #[must_use]
    pub fn newest_good(&self, job: &JobKey) -> (Option<Timestamp>, usize) {
        let records = records(&self.good_folder(job));
        let started = records.last().and_then(|path| path.file_stem()?.to_str()?.parse().ok());
        (started.map(Timestamp), records.len())
    }

    /// The content of an input of a good run.
    ///
    /// # Errors
    /// When it is gone or damaged.
    pub fn good_content(&self, job: &JobKey, hash: &ContentHash) -> Result<Vec<u8>, PortError> {
        let doing = || format!("load the kept input {hash}");
        let name = hash.as_str();
        if name.len() != 64 || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(PortError::plain(doing(), Trouble::Missing));
        }
        let content = fs::read(self.good_folder(job).join(name)).map_err(|error| io(doing(), error))?;
        if objects::hash_of(&content) == *hash {
            return Ok(content);
        }
        Err(PortError::plain(doing(), Trouble::Corrupt))
    }

    fn good_folder(&self, job: &JobKey) -> PathBuf {
        self.root().join("good").join(sha256(job.as_str().as_bytes()))
    }
}

/// The records in a folder, the oldest first.
fn records(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    found.sort();
    found
}

fn read(path: &Path) -> Option<GoodRun> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Removes what is too old. Another process may do the same at the same time; what is gone is gone.
fn drop_old(folder: &Path) {
    let all = records(folder);
    let (old, kept) = all.split_at(all.len().saturating_sub(KEPT));
    // What cannot be removed now is tried again with the next run.
    let remove = |path: &Path| drop(fs::remove_file(path));
    old.iter().for_each(|path| remove(path.as_path()));
    let newest = kept.iter().rev().take(WITH_CONTENTS).filter_map(|path| read(path));
    let needed: BTreeSet<String> =
        newest.flat_map(|run| run.inputs).map(|input| input.content.as_str().to_owned()).collect();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.len() == 64 && !needed.contains(&name) {
            remove(&entry.path());
        }
    }
}
