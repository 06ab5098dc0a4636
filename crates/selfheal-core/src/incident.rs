//! An incident: one failure from its first run to its end, with its rounds. The stored form: texts are redacted, file
//! contents are named by hash and lie in the snapshots.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::admission::{Admission, Hold};
use crate::engine::State;
use crate::ids::{ContentHash, IncidentId, JobKey, Signature, Timestamp};
use crate::install::Install;
use crate::knowledge::UsedPiece;
use crate::proposal::{Risk, Source};
use crate::redact::Redacted;
use crate::verification::Verification;

/// One failure from its first run to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// Its identity.
    pub id: IncidentId,
    /// The job.
    pub job: JobKey,
    /// The command as people read it.
    pub command: Redacted,
    /// The folder.
    #[serde(with = "crate::path_text")]
    pub cwd: PathBuf,
    /// When its first run began.
    pub opened: Timestamp,
    /// When it was stored last.
    pub updated: Timestamp,
    /// Where it stands.
    pub state: State,
    /// What became of it, in the words of `--json`.
    pub status: Status,
    /// The exit code of the last real run.
    pub exit_code: i32,
    /// What the failure has in common with others.
    pub signature: Option<Signature>,
    /// The report, as redacted JSON.
    pub report: Option<Redacted>,
    /// The rounds so far.
    pub rounds: Vec<Round>,
    /// Why a person must decide, where one must.
    pub holds: Vec<Hold>,
    /// One sentence for people: what happened last and what to do.
    pub note: Option<Redacted>,
    /// The process that works on it, while one does.
    pub owner: Option<Owner>,
    /// Until when a person may decide; afterwards the repair expires. `None` means for as long as the files stay.
    #[serde(default)]
    pub answer_by: Option<Timestamp>,
    /// What people wrote down about it, oldest first.
    #[serde(default)]
    pub remarks: Vec<Remark>,
    /// The first incident of a row in which several jobs failed from one cause, this one among them: people were told of
    /// that one only.
    #[serde(default)]
    pub one_of: Option<IncidentId>,
    /// Tokens that models took.
    #[serde(default)]
    pub tokens: u64,
}

/// What a person wrote down about an incident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// When.
    pub at: Timestamp,
    /// The user's number.
    pub uid: u32,
    /// The text.
    pub text: Redacted,
}

/// The process that works on an incident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its process number.
    pub pid: u32,
    /// The boot that the number belongs to.
    pub boot_id: String,
    /// When the process started, in clock ticks since boot: tells a reused number apart.
    pub start_ticks: u64,
}

/// One diagnosis with the candidate that was kept for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its number, from 1.
    pub number: u32,
    /// Who proposed.
    pub source: Option<Source>,
    /// The diagnosis, as redacted JSON.
    pub diagnosis: Option<Redacted>,
    /// The summary of the proposal.
    pub summary: Vec<Redacted>,
    /// The unified diff, for people.
    pub diff: Option<Redacted>,
    /// The files, by content hash.
    pub files: Vec<StoredChange>,
    /// The judgement before anything ran.
    pub admission: Option<Admission>,
    /// What the box showed.
    pub verification: Option<Verification>,
    /// The risk that counts.
    pub risk: Option<Risk>,
    /// The passages of documents that the question to a model held.
    #[serde(default)]
    pub knowledge: Vec<UsedPiece>,
    /// What the repaired job did to files in its box, a line each, as far as it was tried.
    #[serde(default)]
    pub effects: Vec<Redacted>,
    /// The packages among the files, if any.
    #[serde(default)]
    pub installs: Vec<Install>,
}

/// A file change with its contents in the snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredChange {
    /// The file, absolute.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// The content before.
    pub before: Option<ContentHash>,
    /// The content afterwards.
    pub after: Option<ContentHash>,
    /// The permission bits before.
    pub mode_before: Option<u32>,
    /// The permission bits afterwards, when they change.
    pub mode_after: Option<u32>,
    /// How many of the folders above it, the nearest first, are made for it and go with it.
    #[serde(default)]
    pub new_folders: u32,
}

/// What became of a run, in the words of `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The job succeeded.
    Succeeded,
    /// Its exit code is an answer.
    Negative,
    /// It succeeded when run again.
    Retried,
    /// It was repaired, and the repair is in place.
    Healed,
    /// A repair is ready and waits for a person.
    Held,
    /// It failed and nothing could be done.
    Failed,
    /// It failed for a reason that passes by itself, but not in time.
    Suspended,
    /// A person must do something.
    HandedOver,
    /// The repair was refused by policy or by a person.
    Refused,
    /// A limit or budget was reached.
    Limit,
    /// selfheal itself could not do its work.
    Error,
}

impl Status {
    /// The word used in JSON and listings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Negative => "negative",
            Self::Retried => "retried",
            Self::Healed => "healed",
            Self::Held => "held",
            Self::Failed => "failed",
            Self::Suspended => "suspended",
            Self::HandedOver => "handed_over",
            Self::Refused => "refused",
            Self::Limit => "limit",
            Self::Error => "error",
        }
    }
}
