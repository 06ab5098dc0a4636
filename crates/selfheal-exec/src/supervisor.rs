//! The program's side of a real run: starts the supervisor, passes signals on to it, and takes the result.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use selfheal_core::ports::{Executor, Order, Passing, PortError, Trouble};
use selfheal_core::run::{Ended, Idle, LeftProcess, Run};

use crate::apart::Apart;
use crate::hidden::SUPERVISE;
use crate::replay::Input;
use crate::spool::Spool;
use crate::supervise::{CANCEL, OF_TERMINAL, PASSED, Ready};
use crate::unix::{self, Attached, Watch};
use crate::wire::{self, End, News, Passed, Plan};

/// Bytes that the supervisor reads at once.
const BUFFER: usize = 128 << 10;

type OnStart = Box<dyn Fn(u32) + Send + Sync>;
type OnIdle = Box<dyn Fn(&Idle) + Send + Sync>;
type OnWait = Box<dyn Fn(Duration) -> Option<Duration> + Send + Sync>;

/// Runs commands for real, each under a supervisor of its own.
///
/// While [`Executor::run`] waits, TERM, INT, HUP and QUIT to this process are passed on to the job and make it a
/// [`Ended::Cancelled`] run; USR1 and USR2 are passed on as they are. One that comes too late for that is raised again
/// when `run` returns. Signals that are ignored stay ignored.
///
/// The job inherits standard input and all descriptors that the program inherited itself. Standard output and standard
/// error go through pipes of their own: each keeps its order, but of two that are written within microseconds of each
/// other to different streams, either may come first. What the job leaves running in the background stays so; what it
/// writes from then on is read and dropped.
///
/// Errors: [`Trouble::Missing`] means that the job was not started, so that it may be run bare. Any other trouble means
/// that sight of it was lost after the start; its process group was ended then, and it must not be run again unasked.
pub struct Supervisor {
    program: PathBuf,
    spool_folder: PathBuf,
    on_start: Option<OnStart>,
    on_wait: Option<(Duration, OnWait)>,
    on_idle: Option<OnIdle>,
    held: Option<OwnedFd>,
    apart: Apart,
    input_limit: Option<u64>,
    most: Option<u64>,
    input: Mutex<Option<Input>>,
    ready: Mutex<Option<Process>>,
    last: Mutex<Last>,
}

/// A supervising process, and the other end of its socket.
struct Process {
    child: Child,
    socket: File,
}

/// What the last run left besides its result.
#[derive(Default)]
struct Last {
    spool: Option<Spool>,
    notes: Vec<String>,
    /// The supervising process, which ends by itself.
    child: Option<Child>,
    /// The signal of the keys that ended the job, which this program did not get.
    keys: Option<i32>,
    output_lost: bool,
    lacks: Vec<String>,
    swept: Vec<LeftProcess>,
}

impl Supervisor {
    /// A supervisor made of this program itself, which must call [`crate::hidden_command`] first of all.
    #[must_use]
    pub fn of_self() -> Self {
        Self::new("/proc/self/exe")
    }

    /// A supervisor made of another program that calls [`crate::hidden_command`] first of all.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            spool_folder: PathBuf::from("/var/tmp"),
            on_start: None,
            on_wait: None,
            on_idle: None,
            held: None,
            apart: Apart::default(),
            input_limit: None,
            most: None,
            input: Mutex::default(),
            ready: Mutex::default(),
            last: Mutex::default(),
        }
    }

    /// Sets the folder for the nameless file of [`Passing::Spool`]; `/var/tmp` when it is not set.
    #[must_use]
    pub fn with_spool(mut self, folder: impl Into<PathBuf>) -> Self {
        self.spool_folder = folder.into();
        self
    }

    /// Sets what is called with the job's process number as soon as it was started.
    #[must_use]
    pub fn with_on_start(mut self, on_start: impl Fn(u32) + Send + Sync + 'static) -> Self {
        self.on_start = Some(Box::new(on_start));
        self
    }

    /// Sets what is called when a run takes longer than `first`. It is told how long the run has taken, and says at what
    /// length it is to be called again, if it is. It holds up nothing but the end of [`Executor::run`].
    #[must_use]
    pub fn with_on_wait(
        mut self,
        first: Duration,
        on_wait: impl Fn(Duration) -> Option<Duration> + Send + Sync + 'static,
    ) -> Self {
        self.on_wait = Some((first, Box::new(on_wait)));
        self
    }

    /// Sets what is called when a job has written nothing for some seconds and may wait for a person: it reads from a terminal
    /// or was stopped because it wanted to, or its last line has no end. At a terminal that it shares with a person that takes
    /// a minute, and is not done for a program that has the whole screen. Called again, ever less often, while it lasts.
    #[must_use]
    pub fn with_on_idle(mut self, on_idle: impl Fn(&Idle) + Send + Sync + 'static) -> Self {
        self.on_idle = Some(Box::new(on_idle));
        self
    }

    /// Makes it possible to give a second run the same standard input as the first: a file is read from the same place
    /// again; of a pipe, up to so many bytes are kept in memory. What a job does not read of a pipe stays in it, as long as
    /// the limit is not reached. Without this, each run reads on where the one before stopped.
    ///
    /// Once more was read than may be kept, a further run is an error.
    #[must_use]
    pub fn with_input_limit(mut self, limit: u64) -> Self {
        self.input_limit = Some(limit);
        self
    }

    /// Sets how many bytes of each stream are passed on where that leads to a file; the rest is only kept at its end, as the
    /// run says.
    #[must_use]
    pub fn with_most_to_files(mut self, most: u64) -> Self {
        self.most = Some(most);
        self
    }

    /// Whether a further run could be given the same standard input as the runs so far.
    #[must_use]
    pub fn can_repeat_input(&self) -> bool {
        self.input().as_ref().is_some_and(Input::can_repeat)
    }

    fn input(&self) -> MutexGuard<'_, Option<Input>> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Standard input for the next run; the first one looks what it is.
    fn prepare_input(&self) -> Result<Option<(File, u64)>, PortError> {
        let Some(limit) = self.input_limit else { return Ok(None) };
        self.input().get_or_insert_with(|| Input::look(limit)).prepare()
    }

    /// Sets a descriptor that is held open until the process tree of a run has ended, even when this program is killed
    /// before: a lock on it lasts as long as the job. What the job leaves in the background does not count.
    #[must_use]
    pub fn with_held(mut self, held: OwnedFd) -> Self {
        self.held = Some(held);
        self
    }

    /// Sets what jobs have for themselves. Where the machine does not permit it they run without, and
    /// [`Supervisor::take_lacks`] says so.
    #[must_use]
    pub fn with_apart(mut self, apart: Apart) -> Self {
        self.apart = apart;
        self
    }

    /// What the job of the last run was to have for itself and had not, and why.
    #[must_use]
    pub fn take_lacks(&self) -> Vec<String> {
        std::mem::take(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner).lacks)
    }

    /// What the job of the last run left behind and was ended with it, because it had processes of its own.
    #[must_use]
    pub fn take_swept(&self) -> Vec<LeftProcess> {
        std::mem::take(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner).swept)
    }

    /// The standard output of the last run, when it was ordered with [`Passing::Spool`]: to be emitted, or dropped
    /// before the job runs again. `None` when there is none, also because it did not fit on the disk: then a note says
    /// so, and everything was passed on live, as with [`Passing::Live`].
    #[must_use]
    pub fn take_spool(&self) -> Option<Spool> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).spool.take()
    }

    /// What went wrong in the last run without stopping the job (a log that could not be written), one sentence each.
    #[must_use]
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner).notes)
    }

    /// Whether part of the last run's standard output could not be passed on (a full disk), though the job may have ended
    /// before it could notice.
    #[must_use]
    pub fn output_lost(&self) -> bool {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).output_lost
    }

    /// The signal of the keys that ended the last run (Ctrl-C), if that was how it ended: see [`end_by_keys`].
    #[must_use]
    pub fn keys(&self) -> Option<i32> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).keys
    }

    fn spool_for(&self, order: &Order, notes: &mut Vec<String>) -> Option<Spool> {
        if order.stdout != Passing::Spool {
            return None;
        }
        let spool = Spool::create(&self.spool_folder);
        let folder = self.spool_folder.display();
        spool
            .map_err(|error| notes.push(format!("standard output cannot be kept back in {folder}: {error}")))
            .ok()
    }

    fn keep(&self, last: Last) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).replace(last);
    }

    /// Starts the supervising process of the next run already: it gets ready while the program does other things, and does
    /// nothing until it gets its plan. Without this, the run starts it.
    pub fn prepare(&self) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.is_none() {
            // Why it does not start is told by the run, which tries again.
            *ready = self.start().ok();
        }
    }

    /// The process that was started already, or a new one.
    fn process(&self) -> io::Result<Process> {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
        ready.map_or_else(|| self.start(), Ok)
    }

    /// Starts a supervising process, which waits for its plan.
    fn start(&self) -> io::Result<Process> {
        let (socket, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let mut command = Command::new(&self.program);
        // What people see in a list of processes.
        command.arg0("selfheal").arg(SUPERVISE).arg(theirs.as_raw_fd().to_string());
        unix::inherit(&mut command, vec![theirs.as_raw_fd()]);
        Ok(Process { child: command.spawn()?, socket: socket.into() })
    }

    /// Sends the plan, follows the news to the end, and passes signals on meanwhile.
    fn supervise(&self, id: &str, plan: &Plan, fds: &[BorrowedFd<'_>]) -> Result<(End, Child), PortError> {
        let watch = Watch::install(CANCEL.iter().chain(&PASSED).chain(&OF_TERMINAL));
        let terminal = SavedTerminal::of_stdin();
        let Process { mut child, mut socket } = self.process().map_err(|error| not_started(id, error))?;
        let attached = Attached::to(child.id());
        let sent = wire::send_plan(&mut socket, plan, fds);
        let followed = match sent {
            Ok(()) => self.follow(&mut socket, child.id()),
            Err(error) => Err(Lost { starting: false, pid: None, error }),
        };
        let served = followed.as_ref().map(|end| end.signals.clone()).unwrap_or_default();
        drop(attached);
        watch.finish(&served);
        match followed {
            Ok(end) => Ok((end, child)),
            Err(lost) => {
                drop(socket);
                let _ = child.wait();
                terminal.iter().for_each(SavedTerminal::put_back);
                Err(lost.into_error(id))
            }
        }
    }

    /// Follows the news to the end.
    fn follow(&self, news: &mut File, supervisor: u32) -> Result<End, Lost> {
        let (mut starting, mut pid) = (false, None);
        let mut waited =
            Waited { began: Instant::now(), next: self.on_wait.as_ref().map(|(first, _)| *first) };
        loop {
            if let Some((_, on_wait)) = &self.on_wait {
                waited.until_news(news, on_wait);
            }
            match wire::receive(news) {
                Ok(News::Starting) => starting = true,
                Ok(News::Started(started)) => {
                    pid = Some(started);
                    self.on_start.iter().for_each(|on_start| on_start(started));
                }
                Ok(News::Idle(idle)) => self.on_idle.iter().for_each(|on_idle| on_idle(&idle)),
                Ok(News::Stopped) => unix::stop_group_and_tell(supervisor),
                Ok(News::Ended(end)) => return Ok(*end),
                Err(error) => return Err(Lost { starting, pid, error }),
            }
        }
    }
}

/// How standard input's terminal was set before a run: a supervisor that is killed cannot put it back.
struct SavedTerminal(Termios);

impl SavedTerminal {
    fn of_stdin() -> Option<Self> {
        tcgetattr(unix::standard(0)).ok().map(Self)
    }

    fn put_back(&self) {
        unix::block(&[libc::SIGTTOU]);
        let _ = tcsetattr(unix::standard(0), OptionalActions::Now, &self.0);
        unix::unblock(&[libc::SIGTTOU]);
    }
}

/// How long a run has been waited for.
struct Waited {
    began: Instant,
    /// At what length somebody is called.
    next: Option<Duration>,
}

impl Waited {
    /// Waits until there is news, or nobody is to be called any more.
    fn until_news(&mut self, news: &File, on_wait: &OnWait) {
        while let Some(next) = self.next {
            let left = next.saturating_sub(self.began.elapsed());
            if left.is_zero() {
                self.next = on_wait(self.began.elapsed());
                continue;
            }
            let left = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            let mut fds = [PollFd::new(news, PollFlags::IN)];
            // A signal is passed on by its handler; the wait goes on.
            if poll(&mut fds, Some(&left)).is_ok_and(|ready| ready > 0) {
                return;
            }
        }
    }
}

/// The supervisor died.
struct Lost {
    /// The job may have been started.
    starting: bool,
    pid: Option<u32>,
    error: io::Error,
}

impl Lost {
    /// Ends what it left behind, as far as it can be reached; the job itself has died with it.
    fn into_error(self, id: &str) -> PortError {
        if let Some(group) = self.pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::TERM);
            let _ = kill_process_group(group, Signal::KILL);
        }
        if self.starting {
            PortError::new(format!("keep sight of run {id}: its supervisor died"), self.error)
        } else {
            not_started(id, self.error)
        }
    }
}

fn not_started(id: &str, error: io::Error) -> PortError {
    PortError {
        trouble: Trouble::Missing,
        ..PortError::new(format!("start run {id} under a supervisor"), error)
    }
}

impl Executor for Supervisor {
    fn run(&self, order: &Order) -> Result<Run, PortError> {
        let id = order.id.as_str();
        let mut notes = Vec::new();
        let spool = self.spool_for(order, &mut notes);
        let kept = self.prepare_input()?;
        let named = [
            (Passed::Spool, spool.as_ref().map(|spool| spool.file().as_fd())),
            (Passed::Input, kept.as_ref().map(|(file, _)| file.as_fd())),
            (Passed::Held, self.held.as_ref().map(AsFd::as_fd)),
        ];
        let (passed, fds): (Vec<Passed>, Vec<BorrowedFd<'_>>) =
            named.into_iter().filter_map(|(what, fd)| Some((what, fd?))).unzip();
        let input_limit = kept.as_ref().map_or(0, |(_, limit)| *limit);
        let (most, apart) = (self.most, self.apart.clone());
        let plan = Plan { order: order.clone(), buffer: BUFFER, passed, input_limit, most, apart };
        let (end, child) = self.supervise(id, &plan, &fds)?;
        if end.could_not {
            let reason =
                if let Ended::NotStarted { reason } = end.run.ended { reason } else { String::new() };
            return Err(not_started(id, io::Error::other(reason)));
        }
        notes.extend(end.notes);
        self.input().iter_mut().for_each(|input| input.ran(end.input_whole));
        let child = Some(child).filter(|_| !end.stays);
        let keys = match &end.run.ended {
            Ended::Cancelled { signal, own: None } => Some(*signal).filter(|_| end.signals.is_empty()),
            _ => None,
        };
        let spool = spool.filter(|_| !end.spool_emptied);
        let (lacks, swept) = (end.lacks, end.swept);
        self.keep(Last { spool, notes, child, keys, output_lost: end.output_lost, lacks, swept });
        Ok(end.run)
    }
}

impl Last {
    fn replace(&mut self, by: Self) {
        self.reap();
        *self = by;
    }

    /// Clears the entry of the supervising process in the process table; it has said all that it had to say.
    fn reap(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.wait();
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.last.get_mut().unwrap_or_else(PoisonError::into_inner).reap();
        if let Some(Process { mut child, socket }) =
            self.ready.get_mut().unwrap_or_else(PoisonError::into_inner).take()
        {
            // Without a plan it ends at once.
            drop(socket);
            let _ = child.wait();
        }
    }
}

/// Makes a file that may not grow (`ulimit -f`) an error for this program, not its end. Jobs have it as it was.
pub fn survive_file_limit() {
    unix::survive_file_limit();
}

/// While it lives, a signal that tells this process to end does not: the job and the boxes that run are told, and
/// [`told_to_end`] says so, so that the end can be an orderly one.
#[derive(Debug)]
pub struct EndsInOrder {
    _watch: Watch,
}

impl EndsInOrder {
    /// From now on.
    #[must_use]
    pub fn begin() -> Self {
        Self { _watch: Watch::install(CANCEL.iter()) }
    }

    /// To the end of this process, which is near and has no wait left in it.
    pub fn for_good(self) {
        std::mem::forget(self);
    }
}

/// The signal that told this process to end while an [`EndsInOrder`] lives.
#[must_use]
pub fn told_to_end() -> Option<i32> {
    unix::seen(&CANCEL)
}

/// Ends this program, and what waits for it in its process group, by the signal of the keys that ended its job: they
/// reached the job alone, and a script that starts one job after the other is to end as it would without us.
pub fn end_by_keys(signal: i32) {
    unix::end_group_by(signal);
}

/// Replaces this process by the command of an order, with its folder and environment, and nothing of selfheal around it:
/// no deadline, no capture. Returns only when that is not possible, with the reason.
#[must_use]
pub fn exec_bare(order: &Order) -> Ended {
    let ready = match Ready::find(order) {
        Ok(ready) => ready,
        Err(ended) => return ended,
    };
    let exec = |mut command: Command| {
        unix::with_sigpipe_as_it_was(&mut command);
        command.exec()
    };
    let mut error = exec(ready.command(order));
    if error.raw_os_error() == Some(libc::ENOEXEC) {
        error = exec(ready.by_shell(order));
    }
    ready.explain(order, &error)
}

impl std::fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Supervisor").field("program", &self.program).finish_non_exhaustive()
    }
}
