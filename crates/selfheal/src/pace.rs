//! How long a job usually takes: people are told, once a run, of one that takes much longer, and a deadline is suggested.
//!
//! Nothing of this costs a short run anything: it is asked for only when a run has already taken a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use selfheal_core::ids::JobKey;
use selfheal_core::job::Job;
use selfheal_core::ports::{Clock, Journal, Message, Outbox};
use selfheal_exec::Supervisor;
use selfheal_store::Store;

use crate::context::Context;
use crate::driver::was_good;

/// So many times its longest good run is too long for a job.
const TIMES: u32 = 3;
/// Good runs that it takes to say what is usual.
const FEWEST: usize = 3;
/// Runs that are looked at.
const LOOKED_AT: usize = 200;
/// No shorter deadline is suggested, in seconds.
const SHORTEST: u64 = 10;

/// What is usual for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The longest good run.
    pub longest: Duration,
    /// How many good runs it is known from.
    pub runs: usize,
}

impl Pace {
    /// What the last runs of a job say; nothing where there are too few good ones.
    #[must_use]
    pub fn of(store: &Store, job: &JobKey) -> Option<Self> {
        let runs = store.runs(job, LOOKED_AT).ok()?;
        let good: Vec<u64> = runs.iter().filter(|run| was_good(run)).map(|run| run.duration_ms).collect();
        let longest = Duration::from_millis(*good.iter().max()?);
        (good.len() >= FEWEST).then_some(Self { longest, runs: good.len() })
    }

    /// When a run has taken too long.
    #[must_use]
    pub fn too_long(&self) -> Duration {
        self.longest.saturating_mul(TIMES)
    }

    /// A deadline that would not have hit any good run, in seconds.
    #[must_use]
    pub fn suggestion(&self) -> u64 {
        u64::try_from(self.too_long().as_millis().div_ceil(1_000)).unwrap_or(u64::MAX).max(SHORTEST)
    }
}

/// Makes a supervisor tell people when a run of the job takes too long. The store is opened only then.
#[must_use]
pub fn told(supervisor: Supervisor, context: Arc<Context>, job: &Job) -> Supervisor {
    let job = job.clone();
    let first = Duration::from_millis(context.settings.run.slow_after_ms);
    let told = AtomicBool::new(false);
    supervisor.with_on_wait(first, move |taken| {
        let store = context.store().ok()?;
        let pace = Pace::of(&store, &job.key).filter(|_| !told.load(Ordering::Relaxed))?;
        if taken < pace.too_long() {
            return Some(pace.too_long());
        }
        told.store(true, Ordering::Relaxed);
        let command = crate::driver_command_line(&job.argv);
        if let Err(error) = store.put(&message(&context, &command, taken, pace)) {
            tracing::error!(%error, "a message could not be put into the outbox");
        }
        None
    })
}

fn message(context: &Context, command: &str, taken: Duration, pace: Pace) -> Message {
    let seconds = |time: Duration| time.as_millis().div_ceil(1_000).to_string();
    let (taken, longest, runs) = (seconds(taken), seconds(pace.longest), pace.runs.to_string());
    let values = [("command", command), ("taken", &taken), ("longest", &longest), ("runs", &runs)];
    let texts = context.texts();
    let subject = texts.say("message-slow", &values);
    let text = format!("{subject}\n{}\n", texts.say("message-slow-why", &values));
    let redactor = context.redactor();
    Message {
        at: context.clock.now(),
        subject: redactor.text(&subject),
        text: redactor.text(&text),
        html: None,
        incident: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_fits_every_good_run_and_is_never_tiny() {
        let pace = |ms| Pace { longest: Duration::from_millis(ms), runs: 3 };
        assert_eq!(pace(20).suggestion(), 10);
        assert_eq!(pace(40_001).suggestion(), 121);
        assert_eq!(pace(40_001).too_long(), Duration::from_millis(120_003));
    }
}
