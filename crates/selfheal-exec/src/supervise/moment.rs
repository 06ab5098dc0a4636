//! What is going on in the job's tree when its deadline hits. Looked at once, just before the tree is ended; what cannot be
//! seen (a process of another user, one that is just going) is left out.

use std::fs;
use std::path::PathBuf;

use selfheal_core::run::{Act, Moment, SeenProcess, Waiting};

use super::tree;
use crate::process::{Stat, command_line};

/// Processes that are looked at.
const MOST_PROCESSES: usize = 40;
/// Open files of one process that are told of, and those that are looked at for that.
const MOST_FILES: (usize, usize) = (20, 1_000);

/// System calls in which a process waits on its first argument, a descriptor.
const WAITS: [(libc::c_long, Act); 10] = [
    (libc::SYS_read, Act::Read),
    (libc::SYS_readv, Act::Read),
    (libc::SYS_recvfrom, Act::Read),
    (libc::SYS_recvmsg, Act::Read),
    (libc::SYS_write, Act::Write),
    (libc::SYS_writev, Act::Write),
    (libc::SYS_sendto, Act::Write),
    (libc::SYS_flock, Act::Lock),
    (libc::SYS_fcntl, Act::Lock),
    (libc::SYS_connect, Act::Connect),
];

/// Looks at the whole tree.
pub(crate) fn look(silent_ms: u64) -> Moment {
    let all = tree::descendants();
    let more = all.len().saturating_sub(MOST_PROCESSES) as u64;
    let processes = all.into_iter().take(MOST_PROCESSES).filter_map(see).collect();
    Moment { processes, more, silent_ms }
}

fn see(pid: u32) -> Option<SeenProcess> {
    let stat = Stat::of(pid).filter(Stat::lives)?;
    let files = open_files(pid);
    Some(SeenProcess {
        pid,
        parent: stat.parent,
        command: command_line(pid),
        stopped: matches!(stat.state, b'T' | b't'),
        waits: waits(pid),
        files,
    })
}

/// The open files that have a path, each once.
fn open_files(pid: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = Vec::new();
    for path in entries.take(MOST_FILES.1).filter_map(|entry| fs::read_link(entry.path()).ok()) {
        if files.len() < MOST_FILES.0
            && path.is_absolute()
            && path.as_os_str() != "/dev/null"
            && !files.contains(&path)
        {
            files.push(path);
        }
    }
    files
}

/// What a process waits for, by the system call that it is in.
fn waits(pid: u32) -> Option<Waiting> {
    let (call, fd) = call_of(&fs::read_to_string(format!("/proc/{pid}/syscall")).ok()?)?;
    let (_, act) = WAITS.into_iter().find(|(number, _)| *number == call)?;
    let on = fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok()?;
    Some(Waiting { act, on })
}

/// The number and the first argument of the system call of a line such as `0 0x3 0x7ff… …`. A process that runs has none.
fn call_of(line: &str) -> Option<(libc::c_long, u32)> {
    let mut words = line.split_ascii_whitespace();
    let number = words.next()?.parse().ok()?;
    let first = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    Some((number, u32::try_from(first).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_call_is_read_with_its_descriptor() {
        assert_eq!(call_of("0 0x3 0x7ffd 0x1 0x0 0x0 0x0 0x7ffd 0x7f11\n"), Some((0, 3)));
        assert_eq!(call_of("running\n"), None);
        assert_eq!(call_of("-1 0x7ffd 0x7f11\n"), Some((-1, 0x7ffd)));
        assert_eq!(call_of("61 0xffffffffffffffff 0x0\n"), None);
        assert_eq!(call_of(""), None);
    }
}
