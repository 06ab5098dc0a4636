//! What may be done to a job that failed: apply a repair, ask a person, run the job again.

use std::ffi::OsString;
use std::os::unix::fs::FileTypeExt;

use selfheal_core::ids::JobKey;
use selfheal_core::job::Job;
use selfheal_core::run::Run;
use selfheal_core::settings::Policy;
use selfheal_store::Store;

use super::RunPlan;
use crate::cli::StdoutArg;
use crate::driver::Permissions;

impl RunPlan<'_> {
    pub(super) fn permissions(&self, store: &Store, run: &Run, input_again: bool) -> Permissions {
        let terminal = &self.context.terminal;
        let policy = match self.args.apply {
            Some(limit) => Some(Policy::apply_up_to(limit.risk())),
            None => self.allowed(store).or(self.context.settings.policy),
        };
        Permissions {
            policy,
            can_ask: terminal.input && terminal.error,
            spent: self.spent(run, input_again),
            given: self.given.clone(),
        }
    }

    /// What `selfheal allow` said of this job.
    fn allowed(&self, store: &Store) -> Option<Policy> {
        let names = [
            Some(self.job.key.as_str().to_owned()),
            self.job.script.as_ref().map(|p| p.display().to_string()),
        ];
        let level =
            names.into_iter().flatten().find_map(|name| store.allowed(&JobKey::new(name)).ok().flatten())?;
        Some(Policy { given_now: false, ..Policy::apply_up_to(level.limit()) })
    }

    /// Why output that was already passed on, or input that was consumed, forbids another run.
    fn spent(&self, run: &Run, input_again: bool) -> Option<String> {
        let texts = self.context.texts();
        let passed_on =
            run.stdout.total > 0 && !self.context.terminal.output && self.args.stdout == StdoutArg::Live;
        let consumed = (self.input_holds_data && !input_again) || names_a_pipe(&self.job);
        if passed_on {
            Some(texts.say("note-spent-output", &[]))
        } else if consumed {
            Some(texts.say("note-spent-input", &[]))
        } else {
            None
        }
    }
}

/// Whether a word of a command is a pipe (`bash <(…)`, a fifo): what came through it is gone, and whoever asks for it
/// again waits for ever.
fn names_a_pipe(job: &Job) -> bool {
    let facts = |word: &OsString| std::fs::metadata(job.cwd.join(word)).ok();
    job.argv.iter().filter_map(facts).any(|facts| facts.file_type().is_fifo())
}
