//! The hidden command that supervises one real run.
//!
//! Theory of operation: a single thread with one poll loop ([`session`]). It waits for signals (children, orders to stop),
//! for the two output streams, for the program that started it (the other end of the news pipe closes when that dies,
//! however it dies), and for the deadline. A run is over when the job's process has ended and what it had written was
//! passed on; never because the pipes close, which processes in the background may hold open for days. When such processes
//! still write to them, the supervisor stays behind, after it has reported, and reads what nobody wants, so that they are
//! not ended by a broken pipe. The job dies with this process, however that ends; of the rest of its tree the program then
//! ends the job's group.

mod ending;
mod feed;
mod idle;
mod log;
mod moment;
mod pty;
mod session;
mod sink;
mod start;
mod stream;
mod terminal;
mod tree;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Order, Passing};
use selfheal_core::run::{Ended, Run};

use crate::apart::{self, Side};
use crate::find;
use crate::unix::{self, Mask};
use crate::wire::{self, End, Passed, Plan};
use feed::{Feed, Kept};
use log::Log;
use pty::Pty;
use session::Session;
use sink::Sink;
pub(crate) use start::Ready;
use start::{Lines, Unstarted};
use stream::Stream;
use terminal::Terminal;

/// Signals that end a run when they come to us.
pub(crate) const CANCEL: [i32; 4] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT];
/// Signals that are passed on and mean nothing to us.
pub(crate) const PASSED: [i32; 2] = [libc::SIGUSR1, libc::SIGUSR2];

/// Signals that tell of the user's terminal: its window changed, and somebody said `fg` or `bg`.
pub(crate) const OF_TERMINAL: [i32; 2] = [libc::SIGWINCH, libc::SIGCONT];

/// Runs the hidden command; its argument is the number of the socket over which plan and news go.
pub(crate) fn main(args: &[OsString]) -> i32 {
    // Nobody can be told of a failure here: the socket for it is what failed. The program sees it close.
    if supervise(args).is_some() { 0 } else { 125 }
}

fn supervise(args: &[OsString]) -> Option<()> {
    let mut news = File::from(unix::adopt(args.first()?.to_str()?.parse().ok()?).ok()?);
    // All that needs no plan is done before it comes.
    let (mask, signals) = watch_signals()?;
    // Where it is refused, escapees are not found; the run itself is as good.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let (plan, fds) = wire::receive_plan(&mut news).ok()?;
    let (mut spool, mut held, mut kept) = (None, None, None);
    for (what, fd) in plan.passed.iter().zip(fds) {
        match what {
            Passed::Spool => spool = Some(File::from(fd)),
            Passed::Input => kept = Kept::new(fd.into(), plan.input_limit),
            Passed::Held => held = Some(fd),
        }
    }
    let mut link = Link { news, signals, mask, spool, held, alone: false, lacks: Vec::new() };
    if !plan.apart.is_nothing() {
        match apart::go(&plan.apart) {
            Side::Inside { alone, lacks } => (link.alone, link.lacks) = (alone, lacks),
            Side::Outside(inside) => {
                // Nothing of the run may hang on this process.
                let Link { signals, news, spool, held, .. } = link;
                drop((news, spool, held, kept));
                return (apart::stay_outside(inside, &signals) == 0).then_some(());
            }
        }
        // The folder as the job will see it; one that cannot be entered is told of where the job is started.
        let _ = std::env::set_current_dir(&plan.order.cwd);
    }
    run(&plan, kept, link)
}

/// The mask that the job gets, and where the signals can be read.
fn watch_signals() -> Option<(Mask, OwnedFd)> {
    let told = CANCEL.into_iter().chain(PASSED).filter(|signal| !unix::is_ignored(*signal));
    let mut signals: Vec<i32> = told.collect();
    signals.extend([libc::SIGCHLD, libc::SIGTSTP]);
    signals.extend(OF_TERMINAL);
    let mask = unix::block(&signals);
    // The foreground of the terminal is given and taken from the background; and a file that may not grow (`ulimit -f`)
    // is an error to us, not the end.
    unix::block(&[libc::SIGTTOU, libc::SIGXFSZ]);
    Some((mask, unix::signal_fd(&signals).ok()?))
}

/// What connects the supervisor with the program and the system.
struct Link {
    news: File,
    signals: OwnedFd,
    mask: Mask,
    spool: Option<File>,
    /// Only kept open: somebody waits for it to be closed.
    held: Option<OwnedFd>,
    /// This is process 1 of the job's own processes: their numbers mean nothing outside, and they end with it.
    alone: bool,
    /// What the job was to have for itself and has not, and why.
    lacks: Vec<String>,
}

/// When a run began, by both clocks.
#[derive(Clone, Copy)]
struct Began {
    at: Timestamp,
    instant: Instant,
}

impl Began {
    fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { at: Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)), instant: Instant::now() }
    }

    /// The run that began then and ended at a moment.
    fn run(&self, order: &Order, ended: Ended, until: Instant) -> Run {
        let duration = until.saturating_duration_since(self.instant);
        Run {
            id: order.id.clone(),
            started: self.at,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            ended,
            stdout: Default::default(),
            stderr: Default::default(),
            peak_kib: None,
            left_running: Vec::new(),
            at_deadline: None,
        }
    }
}

fn run(plan: &Plan, input: Option<Kept>, mut link: Link) -> Option<()> {
    let order = &plan.order;
    let mut notes = Vec::new();
    let log = open_log(order, &mut notes);
    let mut terminal = Terminal::at_stdin();
    let own = terminal.as_ref().filter(|_| order.stdout == Passing::Live).and_then(Pty::open);
    let (mut pty, mut ends) = (None, None);
    if let Some(own) = own {
        let inner;
        (pty, ends, inner) = (Some(own.0), Some(own.1), own.2);
        terminal = Some(inner);
    }
    let at_terminal = ends.as_ref().map(|ends| ends.errors.is_some());
    wire::send_starting(&mut link.news).ok()?;
    let began = Began::now();
    let (feed, stdin) = input.and_then(Feed::new).unzip();
    let lines = Lines { mask: link.mask, terminal: terminal.as_ref(), stdin, ends };
    let started = match start::start(order, lines) {
        Ok(started) => started,
        Err(Unstarted { ended, could_not }) => {
            terminal.iter().for_each(Terminal::reclaim);
            drop(pty);
            let run = began.run(order, ended, Instant::now());
            return wire::send_end(&mut link.news, End { could_not, ..End::of(run, notes) }).ok();
        }
    };
    if !link.alone {
        // A program that is gone already is noticed in the loop, which ends the tree.
        let _ = wire::send_started(&mut link.news, started.pid);
    }
    let stdout = Stream::live(started.stdout, Sink::standard(1).at_most(plan.most), order.keep, plan.buffer);
    let stderr = Stream::live(started.stderr, Sink::standard(2).at_most(plan.most), order.keep, plan.buffer);
    let stdout = match link.spool.take().filter(|_| order.stdout == Passing::Spool) {
        Some(file) => stdout.spooled(file),
        None => stdout,
    };
    let stdout = if at_terminal.is_some() { stdout.unfolding() } else { stdout };
    let stderr = if at_terminal == Some(true) { stderr.unfolding() } else { stderr };
    let session = Session::new(started.pid, [stdout, stderr], log, terminal)?;
    session.fed(feed).typed(pty).run(order, link, began, notes)
}

/// A log that cannot be opened is no reason not to run.
fn open_log(order: &Order, notes: &mut Vec<String>) -> Log {
    let Some(wanted) = &order.log else { return Log::none() };
    Log::open(wanted).unwrap_or_else(|error| {
        notes.push(format!("the log {} is not written: {}", wanted.path.display(), find::reason(&error)));
        Log::none()
    })
}
