//! The ports: what the program passes to the pieces, so that crates side by side never name each other.

mod model;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::effects::Effect;
use crate::ids::{ContentHash, IncidentId, JobKey, RunId, Signature, Timestamp};
use crate::incident::{Incident, StoredChange};
use crate::knowledge::{Document, Piece};
use crate::redact::Redacted;
use crate::run::Run;
use crate::trace::Trace;
use crate::verification::SceneEdit;

pub use model::{Answer, Form, Model, ModelError, Question};

/// Why a port could not do its work. The text reads after "failed to".
#[derive(Debug, thiserror::Error)]
#[error("{doing}")]
pub struct PortError {
    /// What it was doing, with the path or id.
    pub doing: String,
    /// What stood in the way.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// What kind of trouble it is.
    pub trouble: Trouble,
}

impl PortError {
    /// An error of the general kind.
    pub fn new(doing: impl Into<String>, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { doing: doing.into(), source: Some(Box::new(source)), trouble: Trouble::Other }
    }

    /// An error without a deeper source.
    pub fn plain(doing: impl Into<String>, trouble: Trouble) -> Self {
        Self { doing: doing.into(), source: None, trouble }
    }
}

/// The kinds of trouble that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Written by a newer selfheal: run bare, write nothing.
    Newer,
    /// Damaged.
    Corrupt,
    /// Somebody else holds it.
    Locked,
    /// No space, quota or permission to write.
    NoRoom,
    /// Something is not what it was when it was looked at.
    Changed,
    /// There is no such thing.
    Missing,
    /// Anything else.
    Other,
}

/// Runs commands for real.
pub trait Executor {
    /// Runs a command and waits for its end.
    ///
    /// # Errors
    /// Only when selfheal's own supervision failed. A command that cannot be started is a [`Run`].
    fn run(&self, order: &Order) -> Result<Run, PortError>;
}

/// How one real run is to be made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The identity of the run.
    pub id: RunId,
    /// The command.
    pub argv: Vec<OsString>,
    /// The folder. The one that the program stands in is not entered again.
    #[serde(with = "crate::path_bytes")]
    pub cwd: PathBuf,
    /// Variables that are set (`Some`) or removed (`None`) in the environment that the job inherits.
    #[serde(with = "crate::pairs")]
    pub env: BTreeMap<OsString, Option<OsString>>,
    /// Deadline in milliseconds; the run is ended then.
    pub deadline_ms: u64,
    /// SIGTERM to SIGKILL, in milliseconds.
    pub grace_ms: u64,
    /// What happens to standard output.
    pub stdout: Passing,
    /// Bytes kept of the beginning and of the end of each stream.
    pub keep: usize,
    /// The whole output goes here too, when asked for.
    pub log: Option<LogOrder>,
}

/// A log of a run's whole output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogOrder {
    /// The file; it is appended to.
    #[serde(with = "crate::path_bytes")]
    pub path: PathBuf,
    /// Whether every line gets the time and its stream in front.
    pub stamps: bool,
    /// The file is rotated when it would grow beyond so many bytes; 0 is no limit.
    pub size: u64,
    /// How many older files are kept beside it.
    pub keep: u32,
}

/// What happens to a job's standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passing {
    /// Passed through as it comes.
    Live,
    /// Kept in a file and passed on when the last run has ended.
    Spool,
}

/// Runs commands in boxes: nothing that they do reaches the machine.
pub trait Boxes {
    /// The rung that this machine offers and why not a better one.
    fn rung(&self) -> Rung;
    /// Runs a command in a fresh box.
    ///
    /// # Errors
    /// When no box could be built. A run that could not be judged is a [`BoxedRun`] with a reason.
    fn run(&self, order: &BoxOrder) -> Result<BoxedRun, PortError>;
}

/// What kind of box a machine offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rung {
    /// Its name: `overlay`, `bwrap`, `copy`, `none`.
    pub name: String,
    /// Why it is not a better one, and how to get that.
    pub why_not_better: Vec<String>,
}

impl Rung {
    /// Whether anything can be tried at all.
    #[must_use]
    pub fn can_try(&self) -> bool {
        self.name != "none"
    }
}

/// How one boxed run is to be made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BoxOrder {
    /// The command.
    pub argv: Vec<OsString>,
    /// The folder.
    pub cwd: PathBuf,
    /// The environment that the job had; what must not be in a box is removed.
    #[serde(with = "crate::pairs")]
    pub env: BTreeMap<OsString, OsString>,
    /// Files changed in the box before the job starts, in order.
    pub setup: Vec<SceneEdit>,
    /// Deadline in milliseconds.
    pub deadline_ms: u64,
    /// Whether to instrument the run, where the language has a probe.
    pub traced: bool,
    /// The job's own files: lines are traced in these and in what lies beside them.
    pub script: Option<PathBuf>,
    /// Paths hidden in the box besides the secrets that always are: selfheal's state.
    pub hidden: Vec<PathBuf>,
    /// Bytes kept of each end of each stream.
    pub keep: usize,
    /// Paths whose content the caller wants to have after the run, as far as they are regular files of at most 1 MiB.
    pub fetch: Vec<PathBuf>,
    /// The machine's network, and not one of its own with nothing in it.
    pub net: bool,
    /// Secrets that the job may see: these paths and what lies below them. What is `hidden` stays so.
    pub see: Vec<PathBuf>,
    /// What it may use, where that is not the usual.
    pub limits: BoxLimits,
    /// The job gets the caller's standard input, unless that is a terminal, and its output is passed on as it comes.
    pub live: bool,
    /// What it does to files is kept, to be put in place later.
    pub draft: Option<DraftOrder>,
}

/// Where what a boxed run does to files is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftOrder {
    /// A folder that is not there yet.
    pub folder: PathBuf,
    /// The identity of the draft.
    pub id: String,
    /// The command on one line.
    pub command: Redacted,
}

/// What everything in one box may use together, in numbers and bytes; the box decides where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxLimits {
    /// Processes at once.
    pub processes: Option<u64>,
    /// Memory.
    pub memory: Option<u64>,
    /// The largest file.
    pub file_size: Option<u64>,
    /// What may be written in all.
    pub room: Option<u64>,
    /// What may be written at most, whatever else says how much.
    pub most_room: Option<u64>,
}

impl BoxLimits {
    /// These, and `other` where there is none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            processes: self.processes.or(other.processes),
            memory: self.memory.or(other.memory),
            file_size: self.file_size.or(other.file_size),
            room: self.room.or(other.room),
            most_room: self.most_room.or(other.most_room),
        }
    }
}

/// What a boxed run showed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BoxedRun {
    /// The run itself.
    pub run: Run,
    /// What it did to files, sorted by path; `setup` not counted.
    pub effects: Vec<Effect>,
    /// What the probe saw.
    pub trace: Option<Trace>,
    /// Why the box, and not the job, may be the reason for how it ended: no network, a secret that is hidden, setuid
    /// refused, an owner that cannot be stored, the time limit.
    pub inconclusive: Option<String>,
    /// The rung that it ran in.
    pub rung: String,
    /// The contents that were asked for; absent where there is no such file.
    pub fetched: BTreeMap<PathBuf, Vec<u8>>,
    /// Why there is no draft although one was asked for.
    pub no_draft: Option<String>,
    /// How often something in a box without a network tried to reach another machine or a service of this one.
    pub network_tries: u64,
}

/// The journal: what selfheal knows of jobs, runs and incidents. Every method that changes something is durable when it
/// returns, unless it says otherwise.
pub trait Journal {
    /// Records one run. Need not be durable before the process ends.
    ///
    /// # Errors
    /// When it cannot be recorded.
    fn record_run(&self, record: &RunRecord) -> Result<(), PortError>;
    /// Stores an incident, new or changed, together with ledger records of what is about to happen or happened.
    ///
    /// # Errors
    /// When it cannot be stored; nothing of it is then.
    fn store(&self, incident: &Incident, entries: &[Entry]) -> Result<(), PortError>;
    /// One incident, by its identity or by the end of it that people type.
    ///
    /// # Errors
    /// When there is none, or several fit.
    fn incident(&self, id: &str) -> Result<Incident, PortError>;
    /// The newest incidents first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn incidents(&self, filter: &IncidentFilter) -> Result<Vec<Incident>, PortError>;
    /// The newest runs of a job first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn runs(&self, job: &JobKey, most: usize) -> Result<Vec<RunRecord>, PortError>;
    /// How many repairs policy alone applied since a moment: ledger records of the kind `applied` whose body says
    /// `"by": "policy"`.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn applied_by_policy_since(&self, since: Timestamp) -> Result<u32, PortError>;
}

/// Which incidents.
#[derive(Clone, Debug, Default)]
pub struct IncidentFilter {
    /// Only of this job.
    pub job: Option<JobKey>,
    /// Only those with one of these state words.
    pub states: Vec<&'static str>,
    /// At most so many; 0 means 100.
    pub most: usize,
}

/// What is kept of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Its identity.
    pub id: RunId,
    /// The job.
    pub job: JobKey,
    /// When it began.
    pub started: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Its exit code.
    pub exit_code: i32,
    /// `succeeded`, `negative`, `failed`, `cancelled` or `skipped`.
    pub outcome: String,
    /// Facts about where it ran, as redacted JSON.
    pub facts: Option<Redacted>,
}

/// One thing for the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// What: `opened`, `verified`, `held`, `applying`, `applied`, `undone`, `approved`, …
    pub kind: String,
    /// The incident, if it concerns one.
    pub incident: Option<IncidentId>,
    /// The details, as redacted JSON.
    pub body: Redacted,
}

/// The ledger: the append-only, chained record.
pub trait Ledger {
    /// Appends records that belong to no change of an incident.
    ///
    /// # Errors
    /// When they cannot be written.
    fn append(&self, entries: &[Entry]) -> Result<(), PortError>;
    /// Checks the whole chain against its anchor.
    ///
    /// # Errors
    /// When it cannot be read.
    fn verify(&self) -> Result<LedgerCheck, PortError>;
}

/// What checking the ledger showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerCheck {
    /// How many records there are.
    pub records: u64,
    /// The first record that is wrong, and how.
    pub broken: Option<(u64, String)>,
    /// What is harmless but worth knowing: records that a crash kept from being anchored.
    pub notes: Vec<String>,
}

/// Snapshots: the saved contents of files, by content hash. Unredacted, never sent.
pub trait Snapshots {
    /// Saves content, durably.
    ///
    /// # Errors
    /// When it cannot be saved.
    fn save(&self, content: &[u8]) -> Result<ContentHash, PortError>;
    /// Content that was saved.
    ///
    /// # Errors
    /// When it is missing or damaged.
    fn load(&self, hash: &ContentHash) -> Result<Vec<u8>, PortError>;
    /// Saves a file with everything that `put_back` needs: content, mode, owner, times, attributes. Durable.
    ///
    /// # Errors
    /// When it cannot be saved.
    fn take(&self, incident: &IncidentId, path: &Path) -> Result<(), PortError> {
        self.take_all(incident, &[path])
    }
    /// The same for many files, with less waiting for the disk. Durable when it returns.
    ///
    /// # Errors
    /// When one cannot be saved; others may have been.
    fn take_all(&self, incident: &IncidentId, paths: &[&Path]) -> Result<(), PortError>;
    /// Puts a file back exactly as it was when it was taken, if it still is what `change` made of it.
    ///
    /// # Errors
    /// [`Trouble::Changed`] when somebody changed it since; nothing is changed then.
    fn put_back(&self, incident: &IncidentId, change: &StoredChange) -> Result<(), PortError>;
    /// Makes a change that was taken with [`take`](Self::take) and whose contents were saved, if the file still is what
    /// it was before. Nothing happens when it is made already, so that it may be called again after a crash.
    ///
    /// # Errors
    /// [`Trouble::Changed`] when somebody changed the file since; nothing is changed then.
    fn apply(&self, incident: &IncidentId, change: &StoredChange) -> Result<(), PortError>;
    /// Makes the folders that a file needs and that are made for it.
    ///
    /// # Errors
    /// When they cannot be made, or more are missing than the change says.
    fn make_folders(&self, change: &StoredChange) -> Result<(), PortError>;
    /// Removes the folders that were made for a file which is not there any more, as far as nothing else lies in them; and
    /// what an interpreter kept of that file (`__pycache__`). What cannot be removed stays.
    fn clear_folders(&self, change: &StoredChange);
    /// Where a file stands with regard to a change.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn state_of(&self, change: &StoredChange) -> Result<Standing, PortError>;
}

/// Where a file stands with regard to a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The change is not made.
    Before,
    /// The change is made.
    After,
    /// The change was begun in place (a file with several names) and not ended: `apply` and `put_back` both finish it.
    Torn,
    /// Somebody made something else of the file.
    Other,
}

/// Memory: proven repairs, keyed by failure signature.
pub trait Memory {
    /// The repairs that are remembered for a failure, best first: those of this script before those of others in the same
    /// language. What lost as often as it won, and what expired, is not among them.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn recall(
        &self,
        signature: &Signature,
        script: &Path,
        language: &str,
    ) -> Result<Vec<Remembered>, PortError>;
    /// Remembers a repair that was applied and ran well.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn remember(&self, repair: &Remembered) -> Result<(), PortError>;
    /// Counts once.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn count(&self, entry: &str, count: Count) -> Result<(), PortError>;
    /// Counts once for what an incident taught, because its repair was taken back or came again; whether it had taught
    /// anything.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn count_taught(&self, incident: &IncidentId, count: Count) -> Result<bool, PortError>;
    /// Says why an entry is not recalled any more.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn expire(&self, entry: &str, why: &str) -> Result<(), PortError>;
    /// All entries, the newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn memories(&self) -> Result<Vec<Remembered>, PortError>;
    /// Drops an entry.
    ///
    /// # Errors
    /// [`Trouble::Missing`] when there is none of that name.
    fn forget(&self, entry: &str) -> Result<(), PortError>;
}

/// Priors: how often a cause was the true one, and how often a rule's repair worked, per class of failure and tool.
pub trait Priors {
    /// Counts once.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn tally(&self, key: &TallyKey, count: Count) -> Result<(), PortError>;
    /// All counts, by class, tool and name.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn tallies(&self) -> Result<Vec<Tally>, PortError>;
}

/// What a repair or a cause is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// It was right.
    Win,
    /// It was not, or was taken back.
    Loss,
    /// A loss that was counted counts no more: what was taken back was put in place again.
    LossUndone,
}

impl Count {
    /// What is added to the wins.
    #[must_use]
    pub const fn wins(self) -> i64 {
        match self {
            Self::Win => 1,
            Self::Loss | Self::LossUndone => 0,
        }
    }

    /// What is added to the losses; they never become fewer than none.
    #[must_use]
    pub const fn losses(self) -> i64 {
        match self {
            Self::Win => 0,
            Self::Loss => 1,
            Self::LossUndone => -1,
        }
    }
}

impl From<bool> for Count {
    fn from(right: bool) -> Self {
        if right { Self::Win } else { Self::Loss }
    }
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TallyKey {
    /// The class of the failure.
    pub class: String,
    /// The command that failed, without its folder.
    pub tool: String,
    /// `rule`, `memory`, `model` or `cause`.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// A count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// What is counted.
    #[serde(flatten)]
    pub key: TallyKey,
    /// How often it was right.
    pub won: u32,
    /// How often it was not.
    pub lost: u32,
}

/// Under which conditions a remembered repair may be tried, and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// What the script is written in; other scripts in it may be mended the same way.
    pub language: String,
    /// The interpreter and its version; another version lets the entry expire. Empty where it is not known.
    pub tool: String,
    /// The incident that taught it.
    pub incident: Option<IncidentId>,
    /// When.
    pub learnt: Timestamp,
    /// Why it is not recalled any more.
    pub expired: Option<String>,
}

/// A remembered repair: whole lines that were replaced, with the content they were replaced in. In the texts, `⟦path⟧` stands
/// for the field `path` of the fault, and `⟦folder⟧` for the script's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// Its name in the store.
    pub entry: String,
    /// The failure.
    pub signature: Signature,
    /// The script that it was made for.
    pub script: PathBuf,
    /// Search and replace: each old text must occur exactly once.
    pub edits: Vec<(String, String)>,
    /// What it does, in one sentence.
    pub summary: String,
    /// How often it helped.
    pub wins: u32,
    /// How often it did not, or was taken back.
    pub losses: u32,
    /// When it may be tried, and where it comes from.
    #[serde(default)]
    pub conditions: Conditions,
}

/// Knowledge: an index of documents that can be thrown away and built again.
pub trait Knowledge {
    /// Takes documents in with their pieces, in the place of what was there of the same paths.
    ///
    /// # Errors
    /// When they cannot be stored; none of them is then.
    fn put(&self, documents: &[(Document, Vec<Piece>)]) -> Result<(), PortError>;
    /// All documents, by path.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn documents(&self) -> Result<Vec<Document>, PortError>;
    /// Drops documents; how many there were.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn drop_documents(&self, paths: &[PathBuf]) -> Result<usize, PortError>;
    /// The pieces that have some of these [`terms`](crate::knowledge::terms), the best first.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn search(&self, terms: &[String], most: usize) -> Result<Vec<Piece>, PortError>;
}

/// The outbox: messages that wait to be delivered, and to which channel each was.
pub trait Outbox {
    /// Puts a message in.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn put(&self, message: &Message) -> Result<(), PortError>;
    /// Hands the messages that are new to these channels, each to all of them; how many there were.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn hand_out(&self, channels: &[&str], now: Timestamp) -> Result<usize, PortError>;
    /// The messages that are due for a channel. They are the caller's for five minutes, so that two callers do not
    /// deliver the same one; one that is not settled by then is due again.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn due(&self, channel: &str, now: Timestamp, most: usize) -> Result<Vec<Due>, PortError>;
    /// Says what became of messages for a channel.
    ///
    /// # Errors
    /// When it cannot be stored, or there is no such message.
    fn settle(&self, channel: &str, rows: &[i64], outcome: &Delivery) -> Result<(), PortError>;
}

/// A message that is due for a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its number in the store.
    pub row: i64,
    /// How often its delivery to the channel was tried.
    pub attempts: u32,
    /// The message.
    pub message: Message,
}

/// What became of the try to deliver a message to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It was taken.
    Done(Timestamp),
    /// It was not, and is tried again.
    Again {
        /// When.
        at: Timestamp,
        /// Why it was not.
        error: Redacted,
    },
    /// It never was, and is not tried any more.
    GivenUp {
        /// Why it was not.
        error: Redacted,
    },
}

/// A message to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// When it was written.
    pub at: Timestamp,
    /// One line.
    pub subject: Redacted,
    /// Plain words: what failed, why, and the one line to approve.
    pub text: Redacted,
    /// The same as a whole HTML document, for channels that show it; every text in it is escaped.
    pub html: Option<Redacted>,
    /// The incident.
    pub incident: Option<IncidentId>,
}

/// Delivers messages.
pub trait Notifier {
    /// Delivers one message.
    ///
    /// # Errors
    /// When it was not accepted; it is tried again later.
    fn notify(&self, message: &Message) -> Result<(), PortError>;
}

/// The clock and other sources of chance.
pub trait Clock {
    /// Now.
    fn now(&self) -> Timestamp;
    /// Waits, unless told to stop; whether it waited to the end.
    fn wait_ms(&self, ms: u64) -> bool;
    /// A fresh UUIDv7.
    fn fresh_id(&self) -> String;
}
