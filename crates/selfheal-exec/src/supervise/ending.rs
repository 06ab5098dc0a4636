//! The end of a run by force: a deadline that was reached, or an order to stop.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use selfheal_core::run::Ended;

use super::tree;

/// How often the tree is killed again while it still grows.
const AGAIN: Duration = Duration::from_millis(20);
/// After this long it is given up: what is left cannot be killed by this user, or sleeps in the kernel.
const GIVE_UP: Duration = Duration::from_secs(2);

/// A tree that is being ended.
///
/// A signal that was passed on sets no clock: a job may take as long to end in order as it would without us. It is set by
/// the next signal, by the deadline, by the end of the program, and, for what the job leaves behind, by the end of the job.
pub(crate) struct Ending {
    /// What the run will say.
    pub ended: Ended,
    grace: Duration,
    kill_at: Option<Instant>,
    killing: bool,
    /// Processes outside the job's group were asked too.
    all_asked: bool,
}

impl Ending {
    fn new(ended: Ended, grace: Duration) -> Self {
        let grace = grace.min(Duration::from_secs(3600));
        Self { ended, grace, kill_at: None, killing: false, all_asked: false }
    }

    /// The deadline was reached: the whole tree is asked to end.
    pub(crate) fn deadline(after_ms: u64, grace: Duration) -> Self {
        let mut ending = Self::new(Ended::TimedOut { after_ms }, grace);
        ending.ask_all();
        ending
    }

    /// A signal came: it is passed on to the job.
    pub(crate) fn cancel(signal: i32, job: Pid, grace: Duration) -> Self {
        pass_on(signal, job);
        Self::new(Ended::Cancelled { signal, own: None }, grace)
    }

    /// The program is gone: there is nobody left to whom the run would matter.
    pub(crate) fn orphaned(grace: Duration) -> Self {
        let mut ending = Self::new(Ended::Cancelled { signal: libc::SIGKILL, own: None }, grace);
        ending.ask_all();
        ending
    }

    /// Everything that is left is asked to end, once, and killed after the grace.
    pub(crate) fn ask_all(&mut self) {
        if !std::mem::replace(&mut self.all_asked, true) {
            tree::signal_all(Signal::TERM);
        }
        self.hurry();
    }

    /// What is left after the grace is killed.
    pub(crate) fn hurry(&mut self) {
        self.kill_at.get_or_insert_with(|| Instant::now() + self.grace);
    }

    /// The job itself has ended: what it left behind is asked as well. An exit code with which it answered a signal that
    /// was passed on is the answer of the run.
    pub(crate) fn job_ended(&mut self, by: &Ended) {
        if let (Ended::Cancelled { own, .. }, Ended::Exited(code)) = (&mut self.ended, by) {
            *own = Some(*code);
        }
        self.ask_all();
    }

    /// Whether it takes as long as the job likes.
    pub(crate) fn is_patient(&self) -> bool {
        self.kill_at.is_none()
    }

    /// When there is something to do next, if nothing happens before.
    pub(crate) fn next(&self) -> Option<Instant> {
        if self.killing { Some(Instant::now() + AGAIN) } else { self.kill_at }
    }

    /// Does what is due; whether the end was reached or is given up.
    pub(crate) fn turn(&mut self, now: Instant) -> bool {
        if tree::is_empty() {
            return true;
        }
        let Some(kill_at) = self.kill_at.filter(|kill_at| now >= *kill_at) else { return false };
        self.killing = true;
        tree::signal_all(Signal::KILL);
        now >= kill_at + GIVE_UP
    }
}

/// Passes a signal on to the job's group, or to the job alone where it has left its group.
pub(crate) fn pass_on(signal: i32, job: Pid) {
    let Some(signal) = Signal::from_named_raw(signal) else { return };
    if kill_process_group(job, signal).is_err() {
        tree::send(job.as_raw_nonzero().get().unsigned_abs(), signal);
    }
    let _ = kill_process_group(job, Signal::CONT);
}
