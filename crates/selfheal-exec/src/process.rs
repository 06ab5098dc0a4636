//! Processes as `/proc` shows them: whether one lives, since when, and in which boot.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use selfheal_core::incident::Owner;

/// The identity of this boot of the machine.
#[must_use]
pub fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

/// What `/proc/PID/stat` says, as far as it is used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Its state letter.
    pub state: u8,
    /// Its parent.
    pub parent: u32,
    /// Its process group.
    pub group: i32,
    /// The group in the foreground of its terminal; below 1 where there is none.
    pub foreground: i32,
    /// When it started, in clock ticks since boot.
    pub start_ticks: u64,
}

impl Stat {
    /// Reads it.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name, which may hold anything, stands in parentheses: fields are counted from the last one.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().rposition(|byte| *byte == b')')?;
        let text = std::str::from_utf8(bytes.get(end + 1..)?).ok()?;
        let mut fields = text.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let foreground = fields.nth(2)?.parse().ok()?;
        let start_ticks = fields.nth(13)?.parse().ok()?;
        Some(Self { state, parent, group, foreground, start_ticks })
    }

    /// Whether its group is in the foreground of its terminal.
    pub(crate) fn is_foreground(&self) -> bool {
        self.group == self.foreground
    }

    /// Whether it still does something: a zombie does not.
    pub(crate) fn lives(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// When a process started, in clock ticks since boot: tells a reused number apart.
#[must_use]
pub fn process_start_ticks(pid: u32) -> Option<u64> {
    Stat::of(pid).map(|stat| stat.start_ticks)
}

/// Whether the process that had this number and started then still lives.
#[must_use]
pub fn process_lives(pid: u32, start_ticks: u64) -> bool {
    Stat::of(pid).is_some_and(|stat| stat.lives() && stat.start_ticks == start_ticks)
}

/// This process, as the owner of an incident. A field that the system does not tell is empty.
#[must_use]
pub fn owner_of_self() -> Owner {
    let pid = std::process::id();
    Owner {
        pid,
        boot_id: boot_id().unwrap_or_default(),
        start_ticks: process_start_ticks(pid).unwrap_or_default(),
    }
}

/// Asks a process to end, with TERM. Whether it was asked: not when it is gone, is another one than was meant, or may not
/// be signalled.
#[must_use]
pub fn end_process(owner: &Owner) -> bool {
    let same =
        boot_id().is_some_and(|boot| boot == owner.boot_id) && process_lives(owner.pid, owner.start_ticks);
    let pid = i32::try_from(owner.pid).ok().and_then(Pid::from_raw);
    same && pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok())
}

/// The command line of a process, words joined by blanks, at most 500 characters.
pub(crate) fn command_line(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    words.join(" ").trim_end().chars().take(500).collect()
}

/// A number that this process has not used yet.
pub(crate) fn ticket() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_blanks_does_not_shift_the_fields() {
        let line = b"42 (a) b (c) d) S 7 41 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 98765 1000 10";
        let stat = Stat::parse(line).unwrap();
        let wanted = Stat { state: b'S', parent: 7, group: 41, foreground: -1, start_ticks: 98765 };
        assert_eq!(stat, wanted);
        assert_eq!(Stat::parse(b"42 (x"), None);
    }

    #[test]
    fn this_process_lives_and_another_start_time_is_another_process() {
        let me = owner_of_self();
        assert!(process_lives(me.pid, me.start_ticks));
        assert!(!process_lives(me.pid, me.start_ticks + 1));
        assert!(!me.boot_id.is_empty());
    }
}
