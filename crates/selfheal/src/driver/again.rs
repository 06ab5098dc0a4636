//! Trying a repair again that a person edited: the job as it fails now, in a box, takes the place of the run that failed.
//! Nothing runs for real.

use std::ffi::{OsStr, OsString};

use selfheal_core::engine::Event;
use selfheal_core::ids::RunId;
use selfheal_core::incident::Incident;
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::outcome::Outcome;
use selfheal_core::ports::{Clock, Order, Passing};
use selfheal_core::run::{Capture, Ended, Run};
use selfheal_core::verification::Verdict;
use selfheal_exec::Supervisor;
use selfheal_store::Store;

use super::trial::Attempt;
use super::{Failure, Given, Healer, Permissions, Tools, command_line};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::evidence::Logs;
use crate::terminal::Progress;
use crate::texts::Texts;

/// Bytes kept of each end of each stream.
const KEEP: usize = 64 * 1024;

/// What trying an edited repair showed.
pub struct Again {
    /// The incident with the edited repair as its last round. It was not stored.
    pub incident: Incident,
    /// Whether the guard let it be tried.
    pub admitted: bool,
    /// What the boxes showed.
    pub verdict: Verdict,
}

/// Judges and tries files that a person gives as the repair of an incident.
///
/// # Errors
/// When the job cannot be run again from what is recorded, does not fail any more, or nothing is changed.
pub fn try_again(
    context: &Context,
    store: &Store,
    texts: &Texts,
    (incident, given): (&Incident, Given),
) -> Result<Again, CommandError> {
    let job = job_of(context, incident)?;
    let (supervisor, boxes) = (Supervisor::of_self(), crate::boxes::runner(context));
    let (profiles, _) = crate::profiles::load(context);
    let redactor = context.redactor();
    crate::secrets::learn(&redactor, &job);
    let (progress, contract) = (Progress::new(context.terminal.error), context.settings.contract_for(&job));
    let tools = Tools {
        context,
        texts,
        store,
        executor: &supervisor,
        boxes: &boxes,
        profiles: &profiles,
        redactor: &redactor,
        progress: &progress,
        without: &[],
        contract: &contract,
        #[cfg(feature = "model")]
        task: None,
    };
    let failure = Failure {
        job: &job,
        order: order(context, &job),
        run: unknown_run(context, incident),
        logs: Logs::default(),
    };
    let permissions = Permissions { policy: None, can_ask: false, spent: None, given: Some(given) };
    let mut healer = Healer::new(tools, failure, permissions);
    healer.incident = incident.clone();
    let tried = healer.judge_again();
    progress.clear();
    tried
}

impl Healer<'_> {
    fn judge_again(mut self) -> Result<Again, CommandError> {
        self.say("progress-examine", &[]);
        let boxed = self.boxed(&[], &[])?;
        if !matches!(self.interpret(&boxed.run), Outcome::Failed { .. }) {
            return Err(CommandError::new(self.tools.texts.say("review-fails-no-more", &[])));
        }
        self.run = boxed.run;
        self.trace = boxed.trace;
        self.effects = Some(boxed.effects);
        let script = self.script_text();
        self.report = Some(self.report_on(&self.run, script.as_deref(), self.trace.as_ref(), &self.scene));
        let candidates = self.ask_given();
        if candidates.is_empty() {
            return Err(CommandError::new(self.tools.texts.say("review-not-edited", &[])));
        }
        self.attempts = candidates.into_iter().map(Attempt::new).collect();
        let admitted = matches!(self.admit()?, Event::AdmissionEnded { admitted: 1.., .. });
        let verdict = match admitted {
            true => match self.verify_attempts()? {
                Event::VerificationEnded { verdict, .. } => verdict,
                _ => Verdict::Inconclusive,
            },
            false => Verdict::Inconclusive,
        };
        Ok(Again { incident: self.incident, admitted, verdict })
    }
}

/// The job of an incident, from what is recorded of it.
fn job_of(context: &Context, incident: &Incident) -> Result<Job, CommandError> {
    let text = incident.command.as_str();
    let argv = words_of(text).filter(|argv| command_line(argv) == text && !text.contains("[secret"));
    let argv = argv.ok_or_else(|| {
        CommandError::new("the command cannot be run again: a secret in it is not recorded")
            .hint("run it yourself: selfheal run --proposal FOLDER -- COMMAND")
    })?;
    let search = context.env.get(OsStr::new("PATH")).map(OsString::as_os_str);
    let script = selfheal_exec::resolve_script(&argv, &incident.cwd, search);
    let (key, cwd) = (incident.job.clone(), incident.cwd.clone());
    Ok(Job { key, argv, cwd, script, repeatable: Repeatable::Unstated })
}

/// The words of a command line that [`command_line`] wrote.
fn words_of(text: &str) -> Option<Vec<OsString>> {
    let (mut words, mut word, mut inside, mut quoted) = (Vec::new(), String::new(), false, false);
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        match c {
            '\'' => (inside, quoted) = (!inside, true),
            '\\' if !inside => word.push(letters.next()?),
            ' ' if !inside => {
                words.push(OsString::from(std::mem::take(&mut word)));
                quoted = false;
            }
            c => word.push(c),
        }
    }
    if inside {
        return None;
    }
    if quoted || !word.is_empty() {
        words.push(word.into());
    }
    Some(words)
}

fn order(context: &Context, job: &Job) -> Order {
    let limits = &context.settings.limits;
    Order {
        id: RunId::new(context.clock.fresh_id()),
        argv: job.argv.clone(),
        cwd: job.cwd.clone(),
        env: std::collections::BTreeMap::new(),
        deadline_ms: limits.cap_ms,
        grace_ms: limits.grace_ms,
        stdout: Passing::Live,
        keep: KEEP,
        log: None,
    }
}

/// What stands for the run that failed until the job was run in a box.
fn unknown_run(context: &Context, incident: &Incident) -> Run {
    Run {
        id: RunId::new(context.clock.fresh_id()),
        started: incident.opened,
        duration_ms: 0,
        ended: Ended::Exited(incident.exit_code),
        stdout: Capture::default(),
        stderr: Capture::default(),
        peak_kib: None,
        left_running: Vec::new(),
        at_deadline: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_recorded_command_are_found_again() {
        for words in [
            vec!["bash", "backup.sh"],
            vec!["sh", "-c", "echo 'a  b' | cat"],
            vec!["x", "", "it's", "a\nb", "\\", "ä"],
        ] {
            let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert_eq!(words_of(&command_line(&argv)), Some(argv));
        }
        assert_eq!(words_of("a 'b"), None);
    }
}
