//! Watches a box from outside while its job runs, and ends it when it uses more than it may.
//!
//! The kernel holds what one process may use (see [`super::confine`]), but for all processes of a box together only
//! control groups could, which an ordinary user seldom has. So this looks ten times a second at the processes below the
//! first one, at their memory, and at what is left in the store. It also sees what a job hides: room that was used up
//! and given back before the end.

use std::fs;
use std::path::PathBuf;

use rustix::process::Pid;

use super::wire::{Limits, Overrun};

/// Deeper trees of processes than this are not followed; the kernel's limit holds there.
const DEEPEST: usize = 256;

/// The size of a page, in bytes, in the numbers of `statm`.
fn page() -> u64 {
    rustix::param::page_size() as u64
}

/// A watch over one box.
pub(crate) struct Watch {
    first: Pid,
    limits: Limits,
    store: PathBuf,
    overrun: Option<Overrun>,
}

impl Watch {
    /// Watches the processes below `first` and the file system at `store`.
    pub(crate) fn new(first: Pid, limits: Limits, store: PathBuf) -> Self {
        Self { first, limits, store, overrun: None }
    }

    /// Takes a look; false when the box must be ended.
    pub(crate) fn look(&mut self) -> bool {
        if self.is_full() {
            // The job is told by the system that there is no room, and may clean up.
            self.overrun.get_or_insert(Overrun::Room);
        }
        let pids = below(self.first.as_raw_nonzero().get(), self.limits.processes);
        let over = if pids.len() as u64 > self.limits.processes {
            Some(Overrun::Processes)
        } else if self.memory(&pids) > self.limits.memory {
            Some(Overrun::Memory)
        } else {
            None
        };
        self.overrun = over.or(self.overrun);
        over.is_none()
    }

    /// The limit that was hit.
    pub(crate) fn overrun(&self) -> Option<Overrun> {
        self.overrun
    }

    /// Whether what the job may write is used up.
    fn is_full(&self) -> bool {
        rustix::fs::statvfs(&self.store)
            .is_ok_and(|facts| facts.f_bavail < facts.f_blocks / 200 + 1 || facts.f_ffree < 8)
    }

    /// The memory of some processes, in bytes. What they share is counted once, but only when it matters: that is slow.
    fn memory(&self, pids: &[i32]) -> u64 {
        let quick: u64 = pids.iter().filter_map(|pid| own_memory(*pid)).sum();
        if quick <= self.limits.memory {
            return quick;
        }
        pids.iter().filter_map(|pid| share_of_memory(*pid).or_else(|| own_memory(*pid))).sum()
    }
}

/// The processes below one, itself not counted; a few more than `most` at most.
fn below(first: i32, most: u64) -> Vec<i32> {
    let mut found = Vec::new();
    let mut level = children(first);
    for _ in 0..DEEPEST {
        found.extend(&level);
        if level.is_empty() || found.len() as u64 > most {
            break;
        }
        level = level.iter().flat_map(|pid| children(*pid)).collect();
    }
    found
}

/// The children of all threads of a process; none when it is gone.
fn children(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// The memory of a process that no file stands behind, in bytes; what it has in common with its parent is counted too.
fn own_memory(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut fields = text.split(' ').skip(1).map(str::parse::<u64>);
    let (resident, shared) = (fields.next()?.ok()?, fields.next()?.ok()?);
    Some(resident.saturating_sub(shared) * page())
}

/// A process's share of its memory that no file stands behind, in bytes.
fn share_of_memory(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss_Anon:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}
