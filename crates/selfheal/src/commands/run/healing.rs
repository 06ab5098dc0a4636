//! The way of a run that failed: it is healed, and told of.

use selfheal_core::incident::Status;
use selfheal_core::ports::{Executor, Outbox};
use selfheal_store::Store;

use super::RunPlan;
use crate::commands::tell;
use crate::document::RunDocument;
use crate::driver::{Failure, Healed, Healer, Tools, message, watch};
use crate::exit_code;
use crate::not_started;
use crate::secrets;
use crate::terminal::{Progress, Story};
use crate::texts::Texts;

impl RunPlan<'_> {
    /// Heals, tells the story, and returns the exit code.
    pub(super) fn heal(
        &self,
        store: &Store,
        (executor, input_again): (&dyn Executor, bool),
        failure: Failure<'_>,
        document: &mut RunDocument,
    ) -> i32 {
        crate::logging::start(&self.context.state, self.context.redactor());
        let texts = self.context.texts();
        let own = failure.run.ended.code();
        let waiting = self.already_waiting(store, &texts).filter(|_| self.given.is_none());
        if let Some((note, limited)) = waiting {
            tell(&format!("selfheal: {note}"));
            document.status = Status::Held.word().to_owned();
            document.notes.push(note);
            return exit_code::of_held(limited, own, self.args.exit_status);
        }
        let redactor = self.context.redactor();
        secrets::learn(&redactor, failure.job);
        let progress = Progress::new(self.context.terminal.error);
        let boxes = crate::boxes::runner(self.context);
        let tools = Tools {
            context: self.context,
            texts: &texts,
            store,
            executor,
            boxes: &boxes,
            profiles: self.profiles(),
            redactor: &redactor,
            progress: &progress,
            without: &self.args.without,
            contract: &self.contract,
            #[cfg(feature = "model")]
            task: None,
        };
        let permissions = self.permissions(store, &failure.run, input_again);
        // A fault of selfheal must not change what the job's own exit code says; not even a panic.
        let healed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Healer::new(tools, failure, permissions).heal()
        }));
        progress.clear();
        match healed {
            Ok(Ok(mut healed)) => {
                self.after(store, &mut healed, &texts);
                self.conclude(&healed, &texts, document)
            }
            Ok(Err(error)) => self.broken(&error.one_line(), own, document),
            Err(_) => self.broken("an internal fault while healing; please report it", own, document),
        }
    }

    fn broken(&self, what: &str, own: i32, document: &mut RunDocument) -> i32 {
        tell(&format!("selfheal: {what}; the job's own exit code {own} is kept"));
        document.status = Status::Error.word().to_owned();
        document.notes.push(what.to_owned());
        own
    }

    /// A repair that was watched and did not last is put back.
    fn after(&self, store: &Store, healed: &mut Healed, texts: &Texts) {
        if healed.incident.status == Status::Healed {
            return;
        }
        match watch::failed_again(self.context, store, &healed.incident) {
            Ok(Some(earlier)) => {
                healed.notes.push(texts.say("note-failed-again", &[("id", earlier.id.short())]));
                if let Err(error) = store.put(&message(self.context, &earlier)) {
                    healed.notes.push(error.to_string());
                }
            }
            Ok(None) => {}
            Err(error) => healed.notes.push(error.one_line()),
        }
    }

    fn conclude(&self, healed: &Healed, texts: &Texts, document: &mut RunDocument) -> i32 {
        document.fill(&healed.incident);
        document.notes.clone_from(&healed.notes);
        document.tokens = healed.usage.tokens();
        document.model_calls = healed.usage.calls;
        document.model_seconds = healed.usage.millis as f64 / 1_000.0;
        document.money = selfheal_core::usage::money(healed.usage.cost);
        document.slowest_rule.clone_from(&healed.slowest_rule);
        document.duration_ms = healed.run.duration_ms;
        // A job that never began has had its error and hint; without more to say, that is all.
        let told = not_started::told(self.context, &self.job, &healed.run.ended).is_some();
        if !(told && healed.notes.is_empty() && healed.incident.rounds.is_empty()) {
            Story::new(self.context, texts).tell(healed);
        }
        self.told.set(true);
        let (incident, speaking) = (&healed.incident, self.args.exit_status);
        match incident.status {
            Status::Held => exit_code::of_held(incident.answer_by.is_some(), incident.exit_code, speaking),
            status => exit_code::of_run(status, incident.exit_code, speaking),
        }
    }
}
