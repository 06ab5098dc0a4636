//! A read-only look at the machine as the job saw it: what rules, guard and feedback may ask for.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link (only when links are not followed, or it leads nowhere).
    Link,
    /// A device, socket or fifo.
    Special,
}

/// The facts about one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathFacts {
    /// What it is, links followed.
    pub kind: Kind,
    /// Its size in bytes.
    pub len: u64,
    /// Its permission bits, as `0o755`.
    pub mode: u32,
    /// The owner's number.
    pub uid: u32,
    /// The group's number.
    pub gid: u32,
    /// When its content changed last, in milliseconds since 1970.
    pub modified_ms: i64,
}

/// A read-only look at the machine. Relative paths are taken from the job's folder. Every answer is bounded, and what
/// cannot be read is absent.
pub trait Scene {
    /// The folder that the job runs in.
    fn cwd(&self) -> &Path;
    /// The facts about a path, links followed.
    fn facts(&self, path: &Path) -> Option<PathFacts>;
    /// The first `limit` bytes of a regular file.
    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>>;
    /// The names in a folder, sorted, at most 1,000.
    fn names(&self, folder: &Path) -> Vec<String>;
    /// Every place on the job's PATH, then in the usual folders beside it, that has this command.
    fn which(&self, command: &str) -> Vec<PathBuf>;
    /// A variable of the job's environment.
    fn var(&self, name: &str) -> Option<String>;
    /// Whether a process lives.
    fn process_lives(&self, pid: u32) -> bool;
    /// Whether a path is, or lies below, a known mount point that is not mounted now.
    fn missing_mount(&self, path: &Path) -> bool;
    /// Where a path really is: links followed as far as it exists, bind mounts by what is mounted there. Nothing where that
    /// cannot be said.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }
    /// What a command prints (standard output and error together) when run in a box with these arguments, for a tool's
    /// own `--help`; `None` where there is no box, it did not end in time, or the program is not on this machine.
    fn ask(&self, argv: &[&str]) -> Option<String>;
    /// What this machine's network says of a host now, and of a port of it; `None` where nobody may look. Nothing but the
    /// name goes to the name servers, and nothing at all to the host but the beginning of a connection.
    fn reach(&self, _host: &str, _port: Option<u16>) -> Option<Reach> {
        None
    }
}

/// What the network says of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// The addresses that its name stands for; empty where it cannot be resolved.
    pub addresses: Vec<String>,
    /// Whether there is a way to the first of them.
    pub route: Option<bool>,
    /// What the port answers, where one was named and there is a way.
    pub port: Option<PortAnswer>,
}

/// What a port answers to the beginning of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortAnswer {
    /// It takes connections.
    Open,
    /// Nothing listens there.
    Refused,
    /// No answer came in time.
    Silent,
    /// There is no way there.
    Unreachable,
}

/// Resolves `.` and `..` by text alone and makes the path absolute from `base`.
#[must_use]
pub fn absolute(base: &Path, path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            std::path::Component::ParentDir => {
                out.pop();
            }
            std::path::Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}
