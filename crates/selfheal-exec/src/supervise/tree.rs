//! The process tree of a job. The supervisor is the reaper of everything below it, so what escapes by a double fork or a
//! session of its own is still found here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use selfheal_core::run::LeftProcess;

use crate::process::{Stat, command_line};

/// Left processes that are told of.
const MOST_TOLD: usize = 100;

/// Whether any process of the tree is left, dead ones that wait to be reaped included.
pub(crate) fn is_empty() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, look), Err(Errno::CHILD))
}

/// All processes below this one, parents before children.
pub(crate) fn descendants() -> Vec<u32> {
    let me = std::process::id();
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([me]);
    let mut table = None;
    let mut queue = vec![me];
    while let Some(parent) = queue.pop() {
        for child in children(parent, &mut table) {
            if seen.insert(child) {
                found.push(child);
                queue.push(child);
            }
        }
    }
    found
}

/// The children of a process. `table` is filled where the kernel does not list them for each.
fn children(parent: u32, table: &mut Option<BTreeMap<u32, Vec<u32>>>) -> Vec<u32> {
    if table.is_none()
        && let Some(children) = listed_children(parent)
    {
        return children;
    }
    table.get_or_insert_with(all_by_parent).get(&parent).cloned().unwrap_or_default()
}

/// `None` only where the kernel has no such lists: a process that is gone has no children.
fn listed_children(parent: u32) -> Option<Vec<u32>> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{parent}/task")) else { return Some(Vec::new()) };
    let mut children = Vec::new();
    for task in tasks.flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(text) => {
                children.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()))
            }
            Err(_) if task.path().join("stat").exists() => return None,
            Err(_) => {}
        }
    }
    Some(children)
}

fn all_by_parent() -> BTreeMap<u32, Vec<u32>> {
    let mut table: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for (pid, stat) in pids.filter_map(|pid| Some((pid, Stat::of(pid)?))) {
        table.entry(stat.parent).or_default().push(pid);
    }
    table
}

/// Sends a signal to every process of the tree and wakes those that are stopped.
pub(crate) fn signal_all(signal: Signal) {
    for pid in descendants() {
        send(pid, signal);
        if signal != Signal::KILL {
            send(pid, Signal::CONT);
        }
    }
}

/// Sends a signal to one process.
pub(crate) fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // One that is gone, or that we may not signal, is not our matter.
        let _ = kill_process(pid, signal);
    }
}

/// The processes that live on.
pub(crate) fn left_running() -> Vec<LeftProcess> {
    let living = descendants().into_iter().filter(|pid| Stat::of(*pid).is_some_and(|stat| stat.lives()));
    living.take(MOST_TOLD).map(|pid| LeftProcess { pid, command: command_line(pid) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_look_find_the_same_children() {
        let me = std::process::id();
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        assert!(all_by_parent().get(&me).unwrap().contains(&child.id()));
        if let Some(listed) = listed_children(me) {
            assert!(listed.contains(&child.id()));
        }
        assert!(descendants().contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!descendants().contains(&child.id()));
    }
}
