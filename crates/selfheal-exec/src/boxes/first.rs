//! The first process of a box: finishes the file tree from inside, starts the job, and collects orphans until it ends.
//!
//! It speaks to the outside by [`Note`]s. When it ends, the kernel ends everything else in the box.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::Mode;
use rustix::mount::{MountAttrFlags, UnmountFlags, unmount};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, chdir, pivot_root, set_dumpable_behavior,
    set_parent_process_death_signal, wait,
};

use selfheal_core::run::Ended;

use super::confine::{Walls, confine};
use super::network;
use super::outer::null;
use super::overlay::{Bind, Step, bind, inside, mount_fresh, named};
use super::wire::{Note, Plan};
use crate::find::{self, Unfound};
use crate::unix::{Forked, close_on_exec_from, exit_now, fork_into, raise_loopback};

/// What the box is made of, seen from the first process.
pub(crate) struct World<'a> {
    /// The tree, outside.
    pub root: &'a Path,
    /// The plan.
    pub plan: &'a Plan,
    /// Whether the box is one of root.
    pub as_root: bool,
    /// What the box needs besides the tree.
    pub walls: &'a Walls,
    /// The caller's file creation mask, which is the job's.
    pub mask: Mode,
}

/// This side's ends of the pipes.
pub(crate) struct Ends {
    /// The job's standard output.
    pub out: OwnedFd,
    /// The job's standard error.
    pub err: OwnedFd,
    /// What the probe writes.
    pub trace: OwnedFd,
    /// Notes to the outside.
    pub notes: OwnedFd,
    /// Says when to begin.
    pub go: OwnedFd,
    /// The job's standard input; nothing to read without it.
    pub input: Option<OwnedFd>,
}

/// Runs as process 1 of the box.
pub(crate) fn main(world: World<'_>, ends: Ends) {
    let mut notes = match ends.notes.try_clone() {
        Ok(notes) => fs::File::from(notes),
        Err(_) => return,
    };
    if let Err(step) = live(&world, ends, &mut notes) {
        tell(&mut notes, &Note::Broken(step));
    }
}

fn tell(notes: &mut fs::File, note: &Note) {
    if let Ok(mut line) = serde_json::to_vec(note) {
        line.push(b'\n');
        // When nobody listens any more, nobody needs to know.
        let _ = notes.write_all(&line);
    }
}

fn live(world: &World<'_>, ends: Ends, notes: &mut fs::File) -> Step<()> {
    // Asked before the wait: an outer process that died earlier is seen as the end of the pipe.
    named(set_parent_process_death_signal(Some(Signal::KILL)), "ask to end with the outer process")?;
    let mut go = fs::File::from(ends.go.try_clone().map_err(|error| error.to_string())?);
    let mut word = [0_u8; 2];
    named(go.read_exact(&mut word), "wait for the outer process")?;
    finish_tree(world)?;
    if !world.plan.net {
        named(raise_loopback(), "raise the loopback interface")?;
    }
    if world.plan.dry {
        return Ok(());
    }
    // A box is the first that should go when memory runs short.
    let _ = fs::write("/proc/self/oom_score_adj", "900");
    // The job must not look into this process. What it starts as a program can be looked into again.
    named(set_dumpable_behavior(DumpableBehavior::NotDumpable), "close the first process")?;
    match named(fork_into(0), "start the job's process")? {
        Forked::Child => {
            drop(go);
            become_job(world, ends, notes);
            exit_now(125)
        }
        Forked::Parent(job) => {
            drop((ends, go));
            let status = collect(job)?;
            let network_tries = if world.plan.net { 0 } else { network::tries() };
            tell(notes, &Note::Ended { status, left: still_running(), network_tries });
            Ok(())
        }
    }
}

/// Makes the new tree the only one there is.
fn finish_tree(world: &World<'_>) -> Step<()> {
    // A mount that came from outside is locked in this namespace; a bind of it is not.
    named(rustix::mount::mount_bind_recursive(world.root, world.root), "bind the new root")?;
    let plain = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let proc = inside(world.root, Path::new("/proc"));
    mount_fresh("proc", &proc, &[], plain)?;
    limit_processes(&proc, world.plan.limits.processes);
    mask_proc(&proc)?;
    named(chdir(world.root), "enter the new root")?;
    named(pivot_root(".", "."), "change the root")?;
    named(unmount(".", UnmountFlags::DETACH), "leave the old root")?;
    named(chdir("/"), "enter the new root")
}

/// The kernel keeps so many of the lowest numbers back once it has given all, and takes no smaller limit than one more.
const LOW_NUMBERS: u64 = 300;

/// Since Linux 6.14 a process namespace has a limit of its own; before, this file is the whole machine's.
fn limit_processes(proc: &Path, most: u64) {
    if release_at_least(6, 14) {
        // The watch and the limits of ordinary users hold without it.
        let numbers = most.saturating_add(LOW_NUMBERS + 1);
        let _ = fs::write(proc.join("sys/kernel/pid_max"), numbers.to_string());
    }
}

fn release_at_least(major: u32, minor: u32) -> bool {
    let name = rustix::system::uname();
    let text = name.release().to_string_lossy();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse::<u32>().ok());
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    found >= (major, minor)
}

/// Read-only in the box: root may write them by its number alone, without any capability.
const READ_ONLY: [&str; 7] = ["sys", "irq", "bus", "fs", "sysrq-trigger", "mtrr", "acpi"];

/// Not visible in the box.
const MASKED: [&str; 8] =
    ["kcore", "keys", "key-users", "timer_list", "kmsg", "kallsyms", "sched_debug", "latency_stats"];

fn mask_proc(proc: &Path) -> Step<()> {
    for name in READ_ONLY.map(|name| proc.join(name)) {
        if name.exists() {
            bind(&name, &name, Bind::ReadOnly)?;
        }
    }
    for name in MASKED.map(|name| proc.join(name)) {
        if name.exists() {
            bind(Path::new("/dev/null"), &name, Bind::ReadOnly)?;
        }
    }
    Ok(())
}

/// Waits for the job, and for every orphan that comes by; gives the job's wait status.
fn collect(job: Pid) -> Step<i32> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == job => return Ok(status.as_raw()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return named(Err(error), "wait for the job"),
        }
    }
}

/// What still runs when the job has ended, at most 100 processes.
fn still_running() -> Vec<(u32, String)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let command = |pid: u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok().filter(|line| !line.is_empty())?;
        let text = String::from_utf8_lossy(&line).trim_end_matches('\0').replace('\0', " ");
        Some((pid, text.chars().take(300).collect()))
    };
    pids.filter(|pid| *pid != 1).filter_map(command).take(100).collect()
}

/// Turns this process into the job. Returns only when that failed, after it said so.
fn become_job(world: &World<'_>, ends: Ends, notes: &mut fs::File) {
    let note = match prepare(world, &ends) {
        Err(step) => Note::Broken(step),
        Ok(()) => start(world.plan),
    };
    tell(notes, &note);
}

fn prepare(world: &World<'_>, ends: &Ends) -> Step<()> {
    named(set_parent_process_death_signal(Some(Signal::KILL)), "ask to end with the box")?;
    named(rustix::process::setsid(), "start a session")?;
    if world.plan.live.is_none() {
        // Being nice is a courtesy of what nobody waits for.
        let _ = rustix::process::nice(10);
    }
    match &ends.input {
        Some(input) => named(rustix::stdio::dup2_stdin(input), "connect standard input")?,
        None => named(rustix::stdio::dup2_stdin(null()?), "connect standard input")?,
    }
    named(rustix::stdio::dup2_stdout(&ends.out), "connect standard output")?;
    named(rustix::stdio::dup2_stderr(&ends.err), "connect standard error")?;
    let trace = if world.plan.traced { Some(keep_trace(&ends.trace)?) } else { None };
    rustix::process::umask(world.mask);
    named(close_on_exec_from(3, trace), "close descriptors")?;
    confine(world.as_root, &world.plan.limits, world.walls)
}

/// Puts the probe's descriptor where the probe expects it.
fn keep_trace(trace: &OwnedFd) -> Step<i32> {
    let kept = named(rustix::io::fcntl_dupfd_cloexec(trace.as_fd(), super::TRACE_FD), "connect the probe")?;
    named(rustix::io::fcntl_setfd(&kept, rustix::io::FdFlags::empty()), "connect the probe")?;
    let number = kept.as_raw_fd();
    // It must outlive this function, up to the start of the job.
    std::mem::forget(kept);
    if number == super::TRACE_FD {
        Ok(number)
    } else {
        Err("connect the probe: its descriptor is taken".into())
    }
}

fn start(plan: &Plan) -> Note {
    let cwd = plan.cwd.path();
    if let Err(error) = std::env::set_current_dir(cwd) {
        let reason = format!("the folder {}: {}", cwd.display(), find::reason(&error));
        return Note::NotStarted(Ended::NotStarted { reason });
    }
    let Some((program, words)) = plan.argv.split_first() else { return Note::NotStarted(Ended::NotFound) };
    let environment = plan.env.iter().map(|(name, value)| (name.word(), value.word()));
    let error = Command::new(program.word())
        .args(words.iter().map(super::wire::Raw::word))
        .env_clear()
        .envs(environment)
        .exec();
    Note::NotStarted(explain(plan, program.word(), &error))
}

/// What an error of the system at the start means; the same as for a real run.
fn explain(plan: &Plan, program: &OsStr, error: &io::Error) -> Ended {
    let reason = find::reason(error);
    let search = plan.env.iter().find(|(name, _)| name.0 == b"PATH").map(|(_, value)| value.word());
    let found = find::command(program, plan.cwd.path(), search);
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENOTDIR) => match found {
            // The file is there, so it is the thing that should run it that is not.
            Ok(path) => Ended::InterpreterMissing { interpreter: interpreter(&path) },
            Err(Unfound::Missing) => Ended::NotFound,
            Err(Unfound::Unusable(reason)) => Ended::NotExecutable { reason },
        },
        Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => Ended::NotStarted { reason },
        _ => Ended::NotExecutable { reason },
    }
}

fn interpreter(program: &Path) -> String {
    let mut beginning = Vec::new();
    let read = fs::File::open(program).and_then(|file| file.take(256).read_to_end(&mut beginning));
    let named = read.ok().and_then(|_| find::shebang(&beginning));
    named.map_or_else(|| "the dynamic loader".to_owned(), |(path, _)| path.to_string_lossy().into_owned())
}
