//! What goes between the program and the hidden `__box` command, as JSON: the plan one way, the answer the other.
//!
//! Bytes that need not be text (paths, words, output) travel as strings with one character for each byte.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use selfheal_core::effects::{Change, Effect};
use selfheal_core::run::{Capture, Ended, LeftProcess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes, written as a string of the characters U+0000 to U+00FF.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Raw(pub Vec<u8>);

impl Raw {
    /// The bytes of a path or word.
    pub(crate) fn of(text: impl AsRef<OsStr>) -> Self {
        Self(text.as_ref().as_bytes().to_vec())
    }

    /// The bytes as a path.
    pub(crate) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The bytes as a word.
    pub(crate) fn word(&self) -> &OsStr {
        OsStr::from_bytes(&self.0)
    }

    /// The bytes as a path of its own.
    pub(crate) fn into_path(self) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.0))
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: String = self.0.iter().map(|byte| char::from(*byte)).collect();
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.chars()
            .map(|c| u8::try_from(u32::from(c)).map_err(serde::de::Error::custom))
            .collect::<Result<Vec<u8>, _>>()
            .map(Raw)
    }
}

/// Everything that the hidden command must know.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// The process that asks: the box ends when it does.
    pub parent: i32,
    /// Only see whether a box can be built; run nothing.
    pub dry: bool,
    /// The folder for what the box writes.
    pub store: Raw,
    /// What the job may use.
    pub limits: Limits,
    /// Folders to copy for the job: a box of the rung below overlays. Absent for overlays.
    pub copied: Option<Vec<Raw>>,
    /// Read-only where an ordinary user cannot write anyway.
    pub lean: bool,
    /// The machine's network, and not one of its own.
    pub net: bool,
    /// Paths that can be seen although what they lie in is hidden.
    pub seen: Vec<Raw>,
    /// Folders that are seen at other places: where each is, and where it is seen.
    pub shown: Vec<(Raw, Raw)>,
    /// The command.
    pub argv: Vec<Raw>,
    /// The folder.
    pub cwd: Raw,
    /// The whole environment.
    pub env: Vec<(Raw, Raw)>,
    /// Changes to make before the job starts.
    pub setup: Vec<Edit>,
    /// The time limit.
    pub deadline_ms: u64,
    /// Bytes kept of each end of standard output.
    pub keep: usize,
    /// Bytes kept of each end of standard error.
    pub keep_of_stderr: usize,
    /// Files wanted after the run.
    pub fetch: Vec<Raw>,
    /// Paths to hide.
    pub hidden: Vec<Raw>,
    /// Paths that the job may want to write: places that an ordinary user needs an overlay of its own for.
    pub wanted: Vec<Raw>,
    /// Files of the probe: name and content, put into [`super::PROBE_FOLDER`].
    pub probe: Vec<(String, Raw)>,
    /// Whether the probe wants a descriptor to write to.
    pub traced: bool,
    /// Where the job's streams lead, when they are passed through.
    pub live: Option<Live>,
    /// What it does to files is kept.
    pub draft: Option<Draft>,
}

impl Plan {
    /// Folders that are seen at other places, as paths.
    pub(crate) fn seen_at(&self) -> Vec<(PathBuf, PathBuf)> {
        let path = |raw: &Raw| raw.path().to_path_buf();
        self.shown.iter().map(|(from, to)| (path(from), path(to))).collect()
    }
}

/// Inherited descriptors; standard error is inherited as itself.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Live {
    pub input: Option<i32>,
    pub output: i32,
    /// At most so many bytes of each stream are passed on to a file.
    pub most: Option<u64>,
}

/// Where what a job does to files is kept, and what is said of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Draft {
    pub folder: Raw,
    pub id: String,
    pub command: String,
    /// Milliseconds since 1970.
    pub made: i64,
}

/// What a job may use; the bytes of memory and room are for all its processes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    pub processes: u64,
    pub memory: u64,
    pub file_size: u64,
    pub room: u64,
}

/// A limit that was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Overrun {
    Processes,
    Memory,
    Room,
}

/// One change before the job starts; see [`selfheal_core::verification::SceneEdit`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Edit {
    /// Write a file.
    Write(Raw, Raw, Option<u32>),
    /// Make a folder.
    MakeFolder(Raw),
    /// Remove whatever is there.
    Remove(Raw),
    /// Remove everything in a folder.
    Empty(Raw),
    /// Set permission bits.
    Mode(Raw, u32),
}

/// What the hidden command sends back.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// A box can be built.
    Built,
    /// No box could be built, and at which step.
    NotBuilt(String),
    /// The setup could not be made.
    NotSetUp(String),
    /// The job ran.
    Ran(Box<Seen>),
}

/// What was seen of a job's run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub ended: Ended,
    pub duration_ms: u64,
    pub stdout: Kept,
    pub stderr: Kept,
    pub trace: Kept,
    pub peak_kib: u64,
    pub effects: Vec<WireEffect>,
    /// False when there were too many effects, or some could not be read.
    pub effects_complete: bool,
    /// A file with several names of which only one was changed.
    pub several_names: Option<Raw>,
    pub fetched: Vec<(Raw, Raw)>,
    /// The limit that it ran into, if the box saw it.
    pub overrun: Option<Overrun>,
    pub left: Vec<(u32, String)>,
    /// The paths that were in fact hidden.
    pub hidden: Vec<Raw>,
    /// Why there is no draft although one was asked for.
    pub no_draft: Option<String>,
    pub network_tries: u64,
}

/// The two ends of a stream.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub head: Raw,
    pub tail: Raw,
    pub total: u64,
}

impl From<Kept> for Capture {
    fn from(kept: Kept) -> Self {
        Self { head: kept.head.0, tail: kept.tail.0, total: kept.total }
    }
}

/// An effect, with a path that need not be text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireEffect {
    path: Raw,
    change: Change,
    len: u64,
    content: Option<String>,
    mode: u32,
}

impl From<Effect> for WireEffect {
    fn from(effect: Effect) -> Self {
        Self {
            path: Raw::of(&effect.path),
            change: effect.change,
            len: effect.len,
            content: effect.content,
            mode: effect.mode,
        }
    }
}

impl From<WireEffect> for Effect {
    fn from(effect: WireEffect) -> Self {
        Self {
            path: effect.path.into_path(),
            change: effect.change,
            len: effect.len,
            content: effect.content,
            mode: effect.mode,
        }
    }
}

/// What the first process of a box tells the outside, one JSON line each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Note {
    /// The box could not be finished, and at which step.
    Broken(String),
    /// The command could not be started.
    NotStarted(Ended),
    /// The command ended; these processes were still running.
    Ended { status: i32, left: Vec<(u32, String)>, network_tries: u64 },
}

/// Processes that a job left, as the port names them.
pub(crate) fn left_running(left: Vec<(u32, String)>) -> Vec<LeftProcess> {
    left.into_iter().map(|(pid, command)| LeftProcess { pid, command }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_survive_the_wire() {
        let all = Raw((0..=255).collect());
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Raw>(&text).unwrap(), all);
        assert!(serde_json::from_str::<Raw>("\"\u{100}\"").is_err());
    }
}
