//! Choosing by number: changes that may be right are made without a model, judged, and tried in boxes; a small model only says
//! which of those with which the job gets through it holds for the right one. Where these do different things and no document says
//! which is meant, what it chose is a person's decision.

use std::sync::Arc;

use selfheal_core::diagnosis::Basis;
use selfheal_core::ports::BoxedRun;
use selfheal_core::proposal::Source;
use selfheal_model::Client;
use selfheal_repair::prompts::{PromptInput, choice_question, chosen};
use selfheal_repair::{Candidate, Choice};

use super::client::ask;
use super::{Healer, Unanswered};
use crate::cli::Part;
use crate::config::ModelSettings;
use crate::contract::AfterBoxed;
use crate::driver::scenario::differences;
use crate::driver::trial::{Attempt, is_open};

/// At most so many changes are shown.
const MOST: usize = 9;
/// Milliseconds that all first runs may take: of a slow job fewer changes are tried.
const TIME: u64 = 60_000;

/// A change with which the job gets through.
pub(super) struct Passing {
    what: String,
    said: bool,
    candidate: Candidate,
    run: BoxedRun,
}

impl Healer<'_> {
    /// What a repair that a small model wrote rests on: the project, where all that it brings stands in what is there.
    pub(super) fn basis(&self, candidate: &Candidate) -> Basis {
        let Some(report) = &self.report else { return Basis::General };
        let script = self.script_file(&self.scene);
        let case = self.case(report, script.as_ref());
        match selfheal_repair::brings_only_what_is_there(&case, &candidate.proposal) {
            true => Basis::Project,
            false => Basis::General,
        }
    }

    /// The possible changes that are admitted and with which the job gets through. Once an incident.
    pub(super) fn passing_choices(&mut self) -> Vec<Passing> {
        let again = std::mem::replace(&mut self.chose, true);
        if again || self.leaves_out(Part::Choices) || !self.tools.boxes.rung().can_try() {
            return Vec::new();
        }
        let made = self.made();
        let tried = made.len();
        let limit = self.tools.context.settings.limits.trial_ms;
        let fetch = self.tools.contract.paths();
        let orders = made
            .iter()
            .map(|(choice, _)| self.box_order(limit, &choice.candidate.proposal.changes, &[], &fetch).ok())
            .collect();
        let runs = self.run_all(orders);
        let mut out = Vec::new();
        for ((choice, attempt), run) in made.into_iter().zip(runs) {
            let Some(run) = run else { continue };
            let after = AfterBoxed { cwd: &self.job.cwd, boxed: &run };
            if self.gets_through(&attempt, &run) && self.tools.contract.broken(&after).is_none() {
                let Choice { what, said, candidate } = choice;
                out.push(Passing { what, said, candidate, run });
            }
        }
        tracing::info!(tried, passing = out.len(), "changes to choose from");
        out.truncate(MOST);
        out
    }

    /// What may be right and is admitted.
    fn made(&self) -> Vec<(Choice, Attempt)> {
        let Some(report) = &self.report else { return Vec::new() };
        let script = self.script_file(&self.scene);
        let case = self.case(report, script.as_ref());
        let most = usize::try_from(TIME / self.run.duration_ms.max(1)).unwrap_or(usize::MAX);
        let made =
            selfheal_repair::choices(&case, self.leaves_out(Part::Knowledge)).into_iter().map(|choice| {
                let attempt = self.judged(Attempt::new(choice.candidate.clone()));
                let why = attempt.admission.as_ref().and_then(|judged| judged.findings.first());
                tracing::debug!(
                    choice.what,
                    open = is_open(&attempt),
                    why = why.map(|found| found.why.as_str()),
                    "a change that may be right"
                );
                (choice, attempt)
            });
        made.filter(|(_, attempt)| is_open(attempt)).take(most).collect()
    }

    /// Asks for a number, and gives the change that it stands for; nothing where the model takes none.
    pub(super) fn choose(
        &self,
        client: &Arc<Client>,
        settings: &ModelSettings,
        input: &PromptInput<'_>,
        passing: &[Passing],
    ) -> Result<Option<Candidate>, Unanswered> {
        let lines: Vec<&str> = passing.iter().map(|one| one.what.as_str()).collect();
        let question = choice_question(input, &lines)
            .map_err(|error| Unanswered::Model(format!("failed to {error}")))?;
        let answer = ask(client, &self.with_task(question)).map_err(|error| Unanswered::of(&error))?;
        let Some(taken) = chosen(&answer.value, passing.len()).and_then(|at| passing.get(at)) else {
            return Ok(None);
        };
        let others = || passing.iter().filter(|other| !differences(&taken.run, &other.run).is_empty());
        let doubtful = if taken.said { others().any(|other| other.said) } else { others().next().is_some() };
        self.tie.set(doubtful);
        let mut candidate = taken.candidate.clone();
        candidate.proposal.source = Source::Model { name: settings.name.clone() };
        // What was made by comparison with what is there, and is the only one of its kind, rests on that.
        candidate.diagnosis.basis = Basis::Project;
        Ok(Some(candidate))
    }
}
