//! Works by hand, not in cron: whether a difference of surroundings explains the failure.

use std::ffi::OsString;

use selfheal_core::fault::Fault;
use selfheal_core::incident::Status;
use selfheal_core::job::inner_command;
use selfheal_core::report::Report;
use selfheal_core::run::Ended;
use selfheal_feedback::environment::may_explain;

use super::Healer;
use crate::environment::{self, Question};
use crate::texts::{Language, Texts};
use crate::versions;

impl Healer<'_> {
    /// The host or container that it failed on, if not here. A connection that failed is a failure here.
    fn elsewhere(&self, report: &Report) -> Option<String> {
        let located = report.location.as_ref().and_then(|place| place.remote.clone());
        let here = matches!(report.fault(), Some(Fault::Network { .. } | Fault::NoSuchReference { .. }))
            || !matches!(self.run.ended, Ended::Exited(code) if code != 125 && code != 255);
        let words = || {
            let argv: Vec<String> =
                self.job.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            selfheal_feedback::remote_host(&argv).filter(|_| !here)
        };
        located.or_else(words)
    }

    /// A job that nothing is edited of is told what it gets all the same, and one that is not tried again is told why.
    pub(super) fn note_what_is_left(&mut self, status: Status) {
        let texts = self.tools.texts;
        if status == Status::Suspended && !self.may_rerun() {
            self.note_why_not_rerun();
        }
        let no_script = self.job.script.is_none() && !runs_a_line(&self.job.argv);
        let remote = self.report.as_ref().is_some_and(|report| self.elsewhere(report).is_some());
        let began = matches!(self.run.ended, Ended::Exited(_) | Ended::Signaled(_) | Ended::TimedOut { .. });
        if matches!(status, Status::Failed | Status::Suspended) && began && no_script && !remote {
            self.notes.push(texts.say("note-program", &[]));
        }
    }

    /// Notes the one difference from the last good run, or from a login shell, that explains the failure. Nobody is
    /// asked where surroundings cannot be the reason, or where it failed on another machine.
    pub(super) fn compare_environment(&mut self, report: &mut Report) {
        let remote = self.elsewhere(report);
        if let Some(host) = &remote {
            self.notes.push(self.tools.texts.say("note-elsewhere", &[("host", host)]));
        }
        let remote = remote.is_some();
        let Some(fault) = report.fault().filter(|fault| may_explain(fault) && !remote) else { return };
        let context = self.tools.context;
        let mut here = environment::of_job(context, self.job, &self.env());
        if let Some(program) = &mut here.program {
            program.version = versions::of_interpreter(&context.state, program, &self.scene);
        }
        let runs = environment::runs(self.tools.store, &self.job.key);
        let good = environment::last_good(&runs, Some(&self.run.id));
        let question =
            Question { fault, here: &here, last_good: good.map(|recorded| &recorded.facts), for_real: false };
        let Some(answer) = environment::answer(context, self.tools.boxes, &question, &self.scene) else {
            return;
        };
        self.notes.push(answer.line(self.tools.texts));
        report.context.push(("environment".to_owned(), answer.line(&Texts::of(Language::English))));
    }
}

/// Whether a command is a line for a shell, or code for another interpreter: text, but in no file.
fn runs_a_line(argv: &[OsString]) -> bool {
    let words = inner_command(argv);
    words
        .iter()
        .skip(1)
        .any(|word| word.to_str().is_some_and(|word| matches!(word, "-c" | "-e" | "-lc" | "-ec")))
}
