//! What a job has for itself on the machine: folders that it sees at other places (a `/tmp` of its own), and its own
//! processes and IPC.
//!
//! Theory of operation. The supervisor forks into the new namespaces before it starts the job: the fork goes on as the
//! supervisor and is process 1 there, so the kernel ends whatever is left of the job when it ends, however it does. The old
//! process stays outside, passes signals on, and takes process 1 along when it is killed. Root with all of root's might
//! needs no user namespace, so users, groups and setuid programs are what they were. Anybody else gets one, in which other
//! owners look like nobody and setuid programs gain nothing.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::CWD;
use rustix::mount::{
    MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount, open_tree,
};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_parent_process_death_signal, waitpid};
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};

use crate::boxes::{Step, map_self, mount_fresh, named};
use crate::unix::{self, Forked, exit_now, fork_into, unshare};

/// What a job has for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apart {
    /// Folders that it sees at other places: where each is, and where it is seen. What lies in another comes after it.
    pub seen_at: Vec<(PathBuf, PathBuf)>,
    /// Its own processes and IPC: what it leaves behind ends with it.
    pub processes: bool,
}

impl Apart {
    /// Whether it shares everything.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.seen_at.is_empty() && !self.processes
    }
}

/// Whether namespaces of their own change nothing for jobs but what they are for: this is root with root's might.
#[must_use]
pub fn is_unnoticed() -> bool {
    crate::boxes::is_mighty()
}

/// On which side of the border the caller is.
pub(crate) enum Side {
    /// Inside, as far as it could be had; otherwise why not.
    Inside { alone: bool, lacks: Vec<String> },
    /// Outside: the process inside.
    Outside(Pid),
}

/// Goes apart. The caller has one thread.
pub(crate) fn go(wanted: &Apart) -> Side {
    let mut lacks = Vec::new();
    if wanted.processes {
        match alone(wanted) {
            Ok(Forked::Parent(inside)) => return Side::Outside(inside),
            Ok(Forked::Child) => return Side::Inside { alone: true, lacks },
            Err(why) => lacks.push(why),
        }
    }
    if !wanted.seen_at.is_empty()
        && let Err(why) = own_mounts().and_then(|()| show(&wanted.seen_at))
    {
        lacks.push(why);
    }
    Side::Inside { alone: false, lacks }
}

/// Forks into the namespaces; what cannot be set up there is an error, and there is no second process then.
fn alone(wanted: &Apart) -> Step<Forked> {
    let (reader, writer) = named(pipe_with(PipeFlags::CLOEXEC), "make a pipe")?;
    let mapped = !is_unnoticed();
    let mut spaces = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    if mapped {
        spaces |= libc::CLONE_NEWUSER;
    }
    match named(fork_into(spaces), "make namespaces for the processes of a job")? {
        Forked::Child => {
            drop(reader);
            if let Err(why) = set_up(wanted, mapped) {
                let _ = File::from(writer).write_all(why.as_bytes());
                exit_now(1);
            }
            Ok(Forked::Child)
        }
        Forked::Parent(inside) => {
            drop(writer);
            let mut why = String::new();
            // It says nothing when all is well: then its end is closed, by its death too, which is seen later.
            let read = File::from(reader).read_to_string(&mut why);
            if why.is_empty() && read.is_ok() {
                return Ok(Forked::Parent(inside));
            }
            let _ = waitpid(Some(inside), WaitOptions::empty());
            Err(why)
        }
    }
}

fn set_up(wanted: &Apart, mapped: bool) -> Step<()> {
    named(set_parent_process_death_signal(Some(Signal::KILL)), "ask to end with the process outside")?;
    if mapped {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        map_self(uid, gid)?;
    }
    detach()?;
    show(&wanted.seen_at)?;
    let plain = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    mount_fresh("proc", Path::new("/proc"), &[], plain)
}

/// Mounts of its own for this process, and for anybody but mighty root the right to make some.
fn own_mounts() -> Step<()> {
    if is_unnoticed() {
        named(unshare(UnshareFlags::NEWNS), "make a mount namespace")?;
    } else {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        named(unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS), "make a user namespace")?;
        map_self(uid, gid)?;
    }
    detach()
}

fn detach() -> Step<()> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    named(mount_change("/", private), "detach the mounts from the machine's")
}

/// Shows folders at other places, in this process's own mount namespace. All are looked up before the first is moved.
pub(crate) fn show(seen_at: &[(PathBuf, PathBuf)]) -> Step<()> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let mut trees: Vec<(OwnedFd, &Path)> = Vec::new();
    for (from, to) in seen_at {
        let tree = open_tree(CWD, from, flags);
        trees.push((named(tree, format_args!("look up {}", from.display()))?, to));
    }
    for (tree, to) in trees {
        let place = || -> io::Result<()> {
            if !to.is_dir() {
                DirBuilder::new().mode(0o755).recursive(true).create(to)?;
            }
            Ok(move_mount(&tree, "", CWD, to, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
        };
        named(place(), format_args!("show a folder at {}", to.display()))?;
    }
    Ok(())
}

/// Where a path that is seen there really is.
pub(crate) fn real(seen_at: &[(PathBuf, PathBuf)], path: &Path) -> PathBuf {
    let fits = seen_at.iter().filter_map(|(from, to)| Some((to, from.join(path.strip_prefix(to).ok()?))));
    let nearest = fits.max_by_key(|(to, _)| to.as_os_str().len());
    // Joined with nothing a path ends with a slash.
    nearest.map_or_else(|| path.to_path_buf(), |(_, real)| real.components().collect())
}

/// Passes signals on to the process inside until it has ended; gives its exit code.
pub(crate) fn stay_outside(inside: Pid, signals: &OwnedFd) -> i32 {
    loop {
        let _ = poll(&mut [PollFd::new(signals, PollFlags::IN)], None);
        while let Some(signal) = unix::next_signal(signals) {
            if signal != libc::SIGCHLD {
                if let Some(signal) = Signal::from_named_raw(signal) {
                    let _ = kill_process(inside, signal);
                }
                continue;
            }
            match waitpid(Some(inside), WaitOptions::NOHANG) {
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Ok(Some((_, status))) => return status.exit_status().unwrap_or(125),
                Err(_) => return 125,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_really_where_the_nearest_folder_is() {
        let seen_at = [
            (PathBuf::from("/tmp/task/tmp"), PathBuf::from("/tmp")),
            (PathBuf::from("/tmp/task"), PathBuf::from("/tmp/task")),
        ];
        let real = |path: &str| real(&seen_at, Path::new(path));
        assert_eq!(real("/tmp/x/y"), Path::new("/tmp/task/tmp/x/y"));
        assert_eq!(real("/tmp"), Path::new("/tmp/task/tmp"));
        assert_eq!(real("/tmp/task/a.sh"), Path::new("/tmp/task/a.sh"));
        assert_eq!(real("/tmpfile"), Path::new("/tmpfile"));
    }
}
