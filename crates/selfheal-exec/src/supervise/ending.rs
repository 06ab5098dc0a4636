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
pub(crate) struct Ending {
    /// What the run will say.
    pub ended: Ended,
    kill_at: Instant,
    give_up_at: Instant,
    killing: bool,
    /// Processes outside the job's group were asked too.
    all_asked: bool,
}

impl Ending {
    fn new(ended: Ended, grace: Duration, all_asked: bool) -> Self {
        let kill_at = Instant::now() + grace.min(Duration::from_secs(3600));
        Self { ended, kill_at, give_up_at: kill_at + GIVE_UP, killing: false, all_asked }
    }

    /// The deadline was reached: the whole tree is asked to end.
    pub(crate) fn deadline(after_ms: u64, grace: Duration) -> Self {
        tree::signal_all(Signal::TERM);
        Self::new(Ended::TimedOut { after_ms }, grace, true)
    }

    /// A signal came: it is passed on to the job.
    pub(crate) fn cancel(signal: i32, job: Pid, grace: Duration) -> Self {
        pass_on(signal, job);
        Self::new(Ended::Cancelled { signal, own: None }, grace, false)
    }

    /// The program is gone: there is nobody left to whom the run would matter.
    pub(crate) fn orphaned(grace: Duration) -> Self {
        tree::signal_all(Signal::TERM);
        Self::new(Ended::Cancelled { signal: libc::SIGKILL, own: None }, grace, true)
    }

    /// The job itself has ended: what it left behind is asked as well. An exit code with which it answered a signal that
    /// was passed on is the answer of the run.
    pub(crate) fn job_ended(&mut self, by: &Ended) {
        if let (Ended::Cancelled { own, .. }, Ended::Exited(code)) = (&mut self.ended, by) {
            *own = Some(*code);
        }
        if !self.all_asked {
            self.all_asked = true;
            tree::signal_all(Signal::TERM);
        }
    }

    /// When there is something to do next.
    pub(crate) fn next(&self) -> Instant {
        if self.killing { Instant::now() + AGAIN } else { self.kill_at }
    }

    /// Does what is due; whether the end was reached or is given up.
    pub(crate) fn turn(&mut self, now: Instant) -> bool {
        if tree::is_empty() {
            return true;
        }
        if now >= self.kill_at {
            self.killing = true;
            tree::signal_all(Signal::KILL);
        }
        now >= self.give_up_at
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
