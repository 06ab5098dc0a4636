//! Starts the job: finds the command, makes its pipes, and tells apart all the ways in which it may not start.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use selfheal_core::ports::Order;
use selfheal_core::run::Ended;

use super::pty::Ends;
use super::terminal::Terminal;
use crate::find::{self, Unfound};
use crate::unix::{self, Mask};

/// Variables of ours, which a job does not get.
const OWN_PREFIX: &[u8] = b"SELFHEAL_";
/// The folder that this process stands in.
const HERE: &str = ".";
/// Runs what the kernel does not know how to run, as `execvp` has it.
const SHELL: &str = "/bin/sh";
/// What the pipes of a job hold, where the system allows it: fewer wake-ups than with the usual 64 KiB.
const PIPE_SIZE: usize = 256 << 10;

/// A job that was started.
pub(crate) struct Started {
    /// Its process, which leads a group of its own.
    pub pid: u32,
    /// Where its standard output comes from.
    pub stdout: OwnedFd,
    /// Where its standard error comes from.
    pub stderr: OwnedFd,
}

/// The environment of a job: what was inherited, without our own variables, with the changes of the order.
pub(crate) fn environment(
    inherited: impl Iterator<Item = (OsString, OsString)>,
    changes: &BTreeMap<OsString, Option<OsString>>,
) -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<_, _> =
        inherited.filter(|(name, _)| !name.as_bytes().starts_with(OWN_PREFIX)).collect();
    for (name, value) in changes {
        match value {
            Some(value) => env.insert(name.clone(), value.clone()),
            None => env.remove(name),
        };
    }
    env
}

/// The command of an order, ready to be started, or why it cannot be.
pub(crate) struct Ready {
    path: PathBuf,
    env: BTreeMap<OsString, OsString>,
}

impl Ready {
    /// Looks for everything that the command needs.
    pub(crate) fn find(order: &Order) -> Result<Self, Ended> {
        let word = order.argv.first().ok_or(Ended::NotFound)?;
        let folder = folder_of(order);
        if folder != Path::new(HERE) {
            check_folder(folder)?;
        }
        let env = environment(std::env::vars_os(), &order.env);
        let search = env.get(OsStr::new("PATH")).map(OsString::as_os_str);
        let path = find::command(word, folder, search).map_err(|unfound| match unfound {
            Unfound::Missing => Ended::NotFound,
            Unfound::Unusable(reason) => Ended::NotExecutable { reason },
        })?;
        // Without a slash the system would search again.
        let path = if path.as_os_str().as_bytes().contains(&b'/') { path } else { Path::new(".").join(path) };
        Ok(Self { path, env })
    }

    /// The command itself.
    pub(crate) fn command(&self, order: &Order) -> Command {
        let mut command = Command::new(&self.path);
        let mut words = order.argv.iter();
        command.arg0(words.next().map_or(OsStr::new(""), OsString::as_os_str)).args(words);
        self.place(&mut command, order);
        command
    }

    /// The same, run by the shell.
    pub(crate) fn by_shell(&self, order: &Order) -> Command {
        let mut command = Command::new(SHELL);
        command.arg(&self.path).args(order.argv.iter().skip(1));
        self.place(&mut command, order);
        command
    }

    fn place(&self, command: &mut Command, order: &Order) {
        let folder = folder_of(order);
        if folder != Path::new(HERE) {
            command.current_dir(folder);
        }
        command.env_clear().envs(&self.env);
    }

    /// What an error of the system at the start means.
    pub(crate) fn explain(&self, order: &Order, error: &io::Error) -> Ended {
        let reason = find::reason(error);
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            // The file is there, so it is the thing that should run it that is not.
            Some(Errno::NOENT) => Ended::InterpreterMissing { interpreter: self.interpreter(order) },
            Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE) => Ended::NotStarted { reason },
            _ => Ended::NotExecutable { reason },
        }
    }

    fn interpreter(&self, order: &Order) -> String {
        let mut beginning = Vec::new();
        let read = fs::File::open(folder_of(order).join(&self.path))
            .and_then(|file| file.take(256).read_to_end(&mut beginning));
        let named = read.ok().and_then(|_| find::shebang(&beginning));
        named.map_or_else(|| "the dynamic loader".to_owned(), |(path, _)| path.to_string_lossy().into_owned())
    }
}

/// The folder that an order's job is started in. The one that this process stands in is not entered again: a user may
/// stand where no path leads for him, or in a folder that was removed, and the job does not care.
fn folder_of(order: &Order) -> &Path {
    match std::env::current_dir() {
        Ok(own) if own == order.cwd => Path::new(HERE),
        _ => &order.cwd,
    }
}

fn check_folder(cwd: &Path) -> Result<(), Ended> {
    let entered = fs::metadata(cwd).and_then(|facts| {
        if !facts.is_dir() {
            return Err(io::Error::from(Errno::NOTDIR));
        }
        Ok(rustix::fs::access(cwd, rustix::fs::Access::EXEC_OK)?)
    });
    entered.map_err(|error| Ended::NotStarted {
        reason: format!("the folder {}: {}", cwd.display(), find::reason(&error)),
    })
}

/// What a job is connected with.
pub(crate) struct Lines<'a> {
    /// The signals that it blocks.
    pub mask: Mask,
    /// The terminal whose foreground it gets.
    pub terminal: Option<&'a Terminal>,
    /// What it reads, where that is neither our own standard input nor a terminal of its own.
    pub stdin: Option<OwnedFd>,
    /// Its own terminals.
    pub ends: Option<Ends>,
}

/// Why a job was not started.
pub(crate) struct Unstarted {
    /// How the run has ended by that.
    pub ended: Ended,
    /// It was for want of descriptors, processes or memory: without us there may be enough.
    pub could_not: bool,
}

impl From<Ended> for Unstarted {
    fn from(ended: Ended) -> Self {
        Self { ended, could_not: false }
    }
}

/// Starts the job of an order in its own process group.
pub(crate) fn start(order: &Order, lines: Lines<'_>) -> Result<Started, Unstarted> {
    let ready = Ready::find(order)?;
    let attempt = match spawn(ready.command(order), &lines) {
        Err(error) if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
            spawn(ready.by_shell(order), &lines)
        }
        other => other,
    };
    attempt.map_err(|error| {
        let ended = ready.explain(order, &error);
        Unstarted { could_not: matches!(ended, Ended::NotStarted { .. }), ended }
    })
}

fn spawn(mut command: Command, lines: &Lines<'_>) -> io::Result<Started> {
    let ends = lines.ends.as_ref();
    let own = ends.map(|ends| &ends.main);
    let (stdout, out_end) = end(own, ends.map(|ends| &ends.from_main))?;
    let (stderr, err_end) =
        end(ends.and_then(|ends| ends.errors.as_ref()), ends.and_then(|ends| ends.from_errors.as_ref()))?;
    let stdin = lines.stdin.as_ref().or(own).map(OwnedFd::try_clone).transpose()?;
    command
        .stdin(stdin.map_or_else(Stdio::inherit, Stdio::from))
        .stdout(out_end)
        .stderr(err_end)
        .process_group(0);
    unix::start_with(&mut command, lines.mask, lines.terminal.map(|terminal| terminal.fd().as_raw_fd()));
    let child = command.spawn()?;
    Ok(Started { pid: child.id(), stdout, stderr })
}

/// Where a stream is read, and the job's end of it: of a terminal that is there, else of a new pipe.
fn end(job: Option<&OwnedFd>, ours: Option<&OwnedFd>) -> io::Result<(OwnedFd, OwnedFd)> {
    match (ours, job) {
        (Some(ours), Some(job)) => Ok((ours.try_clone()?, job.try_clone()?)),
        _ => pipe(),
    }
}

/// A pipe whose reading end does not block and whose writing end does.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&read, true)?;
    // A refusal only costs speed.
    let _ = rustix::pipe::fcntl_setpipe_size(&read, PIPE_SIZE);
    Ok((read, write))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_inherited_without_ours_and_with_the_changes() {
        let pairs =
            [("A", "1"), ("B", "2"), ("SELFHEAL_KEY", "x")].map(|(name, value)| (name.into(), value.into()));
        let changes = BTreeMap::from([("A".into(), None), ("C".into(), Some("3".into()))]);
        let env = environment(pairs.into_iter(), &changes);
        assert_eq!(env, BTreeMap::from([("B".into(), "2".into()), ("C".into(), "3".into())]));
    }
}
