//! What the supervisor is told before the job starts.

use std::collections::BTreeMap;
use std::sync::Arc;

use selfheal_core::ids::RunId;
use selfheal_core::job::Job;
use selfheal_core::ports::{Clock, LogOrder, Order, Passing};
use selfheal_core::redact::Redacted;
use selfheal_core::run::LeftProcess;
use selfheal_exec::Supervisor;
use selfheal_store::Store;

use super::{RunPlan, waiting};
use crate::cli::StdoutArg;
use crate::context::Context;
use crate::pace;

/// Bytes kept of each end of each stream.
const KEEP: usize = 64 * 1024;
/// Processes that a job left in the background and that are recorded.
const MOST_LEFT: usize = 20;

impl RunPlan<'_> {
    pub(super) fn order(&self) -> Order {
        let limits = &self.context.settings.limits;
        Order {
            id: RunId::new(self.context.clock.fresh_id()),
            argv: self.job.argv.clone(),
            cwd: self.job.cwd.clone(),
            env: BTreeMap::new(),
            deadline_ms: self.args.deadline.map_or(limits.cap_ms, |seconds| seconds.saturating_mul(1_000)),
            grace_ms: limits.grace_ms,
            stdout: match self.args.stdout {
                StdoutArg::Live => Passing::Live,
                StdoutArg::Final => Passing::Spool,
            },
            keep: KEEP,
            log: self.args.log.as_ref().map(|file| LogOrder {
                path: self.context.cwd.join(file),
                stamps: self.args.log_stamps,
                size: self.context.settings.run.log_bytes,
                keep: self.context.settings.run.log_keep,
            }),
        }
    }

    /// Keeps standard input only where there is some: a job without any costs nothing. What is to be recorded of a run is
    /// looked at while it goes on.
    pub(super) fn told(&self, supervisor: Supervisor, store: Option<&Store>) -> Supervisor {
        let supervisor = match self.input_holds_data {
            true => supervisor.with_input_limit(self.context.settings.run.input_bytes),
            false => supervisor,
        };
        let context = Arc::new(self.context.clone());
        let (here, waits) = (Arc::clone(&context), Arc::clone(&self.waits));
        let supervisor = supervisor.with_on_idle(move |idle| waiting::tell_wait(&here, idle, &waits));
        if store.is_none() {
            return supervisor;
        }
        let (job, facts, here) = (self.job.clone(), Arc::clone(&self.facts), Arc::clone(&context));
        let supervisor = supervisor.with_on_start(move |_| {
            facts.get_or_init(|| surroundings(&here, &job, &[]));
        });
        pace::told(supervisor, context, &self.job)
    }
}

/// What is recorded of where a job runs, and of what it left there. Process numbers are not: the store keeps the same text
/// once.
pub(super) fn surroundings(context: &Context, job: &Job, left: &[LeftProcess]) -> Option<Redacted> {
    let mut facts = crate::environment::of_job(context, job, &context.env);
    facts.left_running = left.iter().take(MOST_LEFT).map(|process| process.command.clone()).collect();
    context.redactor().json(&facts).ok()
}
