//! Asking language models: up a ladder, small first. What a model says is read by the prompts, judged by the guard and tried in
//! boxes like any other proposal.
//!
//! A small model is asked one short question; after its first failure for several answers at different temperatures, which
//! are tried in parallel boxes. A large one is asked for a diagnosis, then for a proposal. A model that failed in a round makes
//! room for the next on the ladder, and one that is known not to heal failures of this kind is passed over.

mod build_on;
mod choose;
mod client;
mod llama;
mod material;
mod picture;
mod sample;
mod task;

use std::sync::Arc;

use selfheal_core::diagnosis::Diagnosis;
use selfheal_core::ports::{Clock, ModelError, Priors, Question};
use selfheal_core::proposal::Proposal;
use selfheal_core::verification::{Expect, Scenario};
use selfheal_model::Client;
use selfheal_repair::Candidate;
use selfheal_repair::prompts::{
    NOTHING_CHANGED, PromptInput, diagnosis_question, has_failing_line, proposal_question, read_diagnosis,
    read_proposal, read_short, sent_back, short_question,
};

pub use client::{Books, budget, client, reachable};

use client::ask;
pub use llama::Server;
pub use picture::{copied, doubt, fact};
pub use sample::{Tried, try_sample};

use super::{Healer, Source};
use crate::cli::Part;
use crate::config::{ModelSettings, Way};

/// The temperature of a first answer, and of those after a failure: each further one leaves more to chance.
const FIRST: f32 = 0.1;
const LATER: [f32; 4] = [0.5, 0.8, 1.0, 0.7];
/// The shortest value that is taken for a secret by the name of its variable.
const SECRET: usize = 8;
/// The temperature of an answer to a question that is put again: the first answer must not come back.
const AGAIN: f32 = 0.5;
/// A model that lost so often for a class of failure and never won is known not to heal it.
const KNOWN_LOSSES: u32 = 3;

/// Why a question had no answer, and whether another may have one.
pub(super) enum Unanswered {
    /// This answer cannot be used; another may be.
    Answer(String),
    /// The model cannot be asked, or not any more.
    Model(String),
    /// A budget is spent: nobody is asked any more.
    Budget(String),
}

impl Unanswered {
    /// The reason.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::Answer(words) | Self::Model(words) | Self::Budget(words) => words,
        }
    }

    fn of(error: &ModelError) -> Self {
        let words = error.to_string();
        match error {
            ModelError::Budget { .. } => Self::Budget(words),
            ModelError::Unusable { .. } | ModelError::CutOff { .. } => Self::Answer(words),
            ModelError::Unreachable { .. }
            | ModelError::TimedOut { .. }
            | ModelError::Status { .. }
            | ModelError::ToldToEnd
            | ModelError::Refused => Self::Model(words),
        }
    }
}

impl Healer<'_> {
    /// Candidates by a model; nothing, and a note, where none on the ladder gave a usable answer.
    pub(super) fn ask_model(&mut self, round: u32) -> Vec<Candidate> {
        self.say("progress-model", &[("round", &round.to_string())]);
        self.tie.set(false);
        let Some(first) = self.tools.context.settings.model.clone() else { return Vec::new() };
        let ladder: Vec<ModelSettings> = first.ladder().cloned().collect();
        self.climb(&ladder, round);
        while let Some(settings) = ladder.get(self.step) {
            let (mut candidates, trouble) = self.asked(settings);
            self.put_on_the_original(&mut candidates);
            if !candidates.is_empty() {
                // What must still fail, and what must stay as it is, the rules know of many a failure.
                let borrowed = self.borrowed();
                candidates.iter_mut().for_each(|made| made.scenarios.extend(borrowed.iter().cloned()));
                self.tried_changes.extend(candidates.iter().map(|made| made.proposal.changes.clone()));
                self.asked_in = round;
                return candidates;
            }
            let Some(trouble) = trouble else { break };
            let (reason, lost) = match trouble {
                Unanswered::Budget(reason) => (reason, ladder.len()),
                Unanswered::Answer(reason) | Unanswered::Model(reason) => (reason, self.step + 1),
            };
            tracing::warn!(reason, model = settings.name, "the model gave nothing usable");
            self.notes.push(reason);
            self.step = lost;
            self.short_calls.set(0);
        }
        // A server that is down or answers nonsense is not asked again for this incident.
        self.sources.retain(|source| *source != Source::Model);
        Vec::new()
    }

    /// Goes up the ladder: over models that are known not to heal such a failure, and, after two rounds that failed, to the
    /// next one.
    fn climb(&mut self, ladder: &[ModelSettings], round: u32) {
        let last = ladder.len().saturating_sub(1);
        if self.asked_in != 0 && round > self.asked_in {
            self.failed_rounds += 1;
            if self.failed_rounds >= 2 && self.step < last {
                self.step += 1;
                self.failed_rounds = 0;
                self.short_calls.set(0);
            }
        }
        while self.step < last
            && ladder.get(self.step).is_some_and(|model| self.is_known_not_to_heal(&model.name))
        {
            self.step += 1;
        }
    }

    fn is_known_not_to_heal(&self, model: &str) -> bool {
        let Some(report) = &self.report else { return false };
        let tallies = self.tools.store.tallies().unwrap_or_default();
        let mine = tallies.iter().filter(|tally| {
            tally.key.kind == "model" && tally.key.name == model && tally.key.class == report.class.word()
        });
        let (won, lost) = mine.fold((0, 0), |(won, lost), tally| (won + tally.won, lost + tally.lost));
        won == 0 && lost >= KNOWN_LOSSES
    }

    /// What one model proposes, and what stood in the way.
    fn asked(&mut self, settings: &ModelSettings) -> (Vec<Candidate>, Option<Unanswered>) {
        let failed = |reason: String| (Vec::new(), Some(Unanswered::Model(reason)));
        let client = match self.client_for(settings) {
            Ok(client) => client,
            Err(reason) => return failed(reason),
        };
        let base = self.base();
        let way = if self.leaves_out(Part::Short) { Way::Full } else { settings.way() };
        let passing = if way == Way::Short && base.is_none() { self.passing_choices() } else { Vec::new() };
        let report = base.as_ref().map(|base| base.report.clone()).or_else(|| self.report.clone());
        let Some(report) = report else { return failed("there is no report".to_owned()) };
        self.know_traced_secrets();
        let known = self.look_up(&report, settings.send_data());
        let mut material = match self.material(settings) {
            Ok(material) => material,
            Err(reason) => return failed(reason),
        };
        if let Some(base) = base {
            base.take_the_place(&mut material);
        }
        let redactor = self.tools.redactor.leaving();
        let input = PromptInput {
            command: &material.command,
            language: &material.language,
            script: material.script.as_ref(),
            report: &report,
            stdout_end: &material.stdout,
            stderr_end: &material.stderr,
            trace: self.trace.as_ref(),
            project: &material.project,
            references: known.references.as_str(),
            context: known.context.as_str(),
            history: &material.history,
            send_data: settings.send_data(),
            nonce: &material.nonce,
            redactor: &redactor,
            chinese: settings.chinese,
            templates: &material.templates,
            hints: !self.leaves_out(Part::Hints),
            only_line: false,
            examples: !self.leaves_out(Part::Examples),
            far_is_fine: false,
        };
        for file in input.script.iter().copied().chain(input.project) {
            redactor.learn(&file.text);
        }
        if !passing.is_empty() {
            match self.choose(&client, settings, &input, &passing) {
                Ok(Some(candidate)) => return (vec![candidate], None),
                Ok(None) | Err(Unanswered::Answer(_)) => {}
                Err(trouble) => return (Vec::new(), Some(trouble)),
            }
        }
        match way {
            Way::Short => self.several(&client, settings, &input),
            Way::Full => match self.in_two_steps(&client, settings, &input) {
                Ok(candidate) => (vec![candidate], None),
                Err(trouble) => (Vec::new(), Some(trouble)),
            },
        }
    }

    /// What a probe saw in variables whose names say that they are secret is secret wherever else it stands.
    fn know_traced_secrets(&self) {
        let frames = self.trace.iter().flat_map(|trace| &trace.frames);
        for (name, value) in frames.flat_map(|frame| &frame.values) {
            let value = value.trim_matches(['"', '\'']);
            if selfheal_core::redact::names_a_secret(name) && value.len() >= SECRET {
                self.tools.redactor.know(value);
            }
        }
    }

    /// A client for a model whose server runs, with the books of this incident.
    pub(super) fn client_for(&mut self, settings: &ModelSettings) -> Result<Arc<Client>, String> {
        let context = self.tools.context;
        let settings = match Server::wanted(settings) && context.traffic.replay.is_none() {
            true => self.server.started(context, settings)?,
            false => settings.clone(),
        };
        let books = Books { state: self.tools.store.root().to_owned(), incident: self.incident.id.clone() };
        let now = context.clock.now().0;
        Ok(Arc::new(books.kept(client(context, &settings)?, &settings.name, &self.budget, now)))
    }

    /// The short way: one answer that can be used at first, several after a failure. Answers that say the same are one
    /// candidate. The first answer goes back once where it cannot be used. All together are as many as the settings say.
    fn several(
        &self,
        client: &Arc<Client>,
        settings: &ModelSettings,
        input: &PromptInput<'_>,
    ) -> (Vec<Candidate>, Option<Unanswered>) {
        let most = 1 + settings.samples;
        let made_so_far = self.short_calls.get();
        if made_so_far >= most {
            return (Vec::new(), Some(Unanswered::Answer("the model's answers did not help".to_owned())));
        }
        let first = made_so_far == 0;
        let temperatures = first.then_some(FIRST).into_iter().chain(LATER.into_iter().cycle());
        let mut out: Vec<Candidate> = Vec::new();
        let mut trouble = None;
        for temperature in temperatures {
            if self.short_calls.get() >= most || (first && !out.is_empty()) {
                break;
            }
            match self.short(client, settings, input, temperature) {
                Ok(made) if out.iter().any(|known| known.proposal.changes == made.proposal.changes) => {}
                Ok(made) => out.push(made),
                Err(Unanswered::Answer(reason)) => trouble = Some(Unanswered::Answer(reason)),
                Err(other) => {
                    trouble = Some(other);
                    break;
                }
            }
        }
        (out, trouble)
    }

    fn short(
        &self,
        client: &Arc<Client>,
        settings: &ModelSettings,
        input: &PromptInput<'_>,
        temperature: f32,
    ) -> Result<Candidate, Unanswered> {
        let unasked =
            |error: selfheal_repair::prompts::PromptError| Unanswered::Model(format!("failed to {error}"));
        // Every second of several answers is about the failing line alone: short, and hard to copy.
        let located = has_failing_line(input);
        let only_line = located && self.short_calls.get() > 0 && self.short_calls.get().is_multiple_of(2);
        let mut input = PromptInput { only_line, ..*input };
        let mut question = self.with_task(short_question(&input, temperature).map_err(unasked)?);
        loop {
            let number = self.short_calls.get() + 1;
            self.short_calls.set(number);
            let answer = ask(client, &question).map_err(|error| Unanswered::of(&error))?;
            let text = answer.value.as_str().unwrap_or_default();
            // A reason for a change far from the failure is asked for once.
            input.far_is_fine = number > 1;
            let read = read_short(text, &input, &settings.name).and_then(|(diagnosis, proposal)| {
                self.is_new(&proposal).map(|()| candidate(diagnosis, proposal))
            });
            match read {
                Ok(mut candidate) => {
                    candidate.diagnosis.basis = self.basis(&candidate);
                    return Ok(candidate);
                }
                Err(reason) if number == 1 => {
                    tracing::warn!(reason, "an answer is sent back");
                    // Who copied the whole script is asked for the failing line alone.
                    input.only_line = located && reason == NOTHING_CHANGED;
                    question = match input.only_line {
                        true => self.with_task(short_question(&input, AGAIN).map_err(unasked)?),
                        false => sent_back(&question, &reason, self.tools.redactor),
                    };
                    question.temperature = AGAIN;
                }
                Err(reason) => {
                    return Err(Unanswered::Answer(format!("the model's answer cannot be used: {reason}")));
                }
            }
        }
    }

    fn in_two_steps(
        &self,
        client: &Arc<Client>,
        settings: &ModelSettings,
        input: &PromptInput<'_>,
    ) -> Result<Candidate, Unanswered> {
        let unasked =
            |error: selfheal_repair::prompts::PromptError| Unanswered::Model(format!("failed to {error}"));
        let question = self.with_task(diagnosis_question(input).map_err(unasked)?);
        let diagnosis = self.answer(client, &question, |value, _| read_diagnosis(value, input))?;
        let question = self.bringing_state(proposal_question(input, &diagnosis).map_err(unasked)?);
        let proposal = self.answer(client, &question, |value, again| {
            let input = &PromptInput { far_is_fine: again, ..*input };
            let proposal = read_proposal(value, input, &settings.name)?;
            self.is_new(&proposal)?;
            self.take_state(value).map(|()| proposal)
        })?;
        Ok(candidate(diagnosis, proposal))
    }

    /// Refuses what was tried before, the same files again, however the words differ; and what goes round in circles.
    ///
    /// # Errors
    /// In one line for the model.
    fn is_new(&self, proposal: &Proposal) -> Result<(), String> {
        match self.tried_changes.contains(&proposal.changes) {
            true => Err("it is the same change as before, which did not work".to_owned()),
            false => self.goes_round(proposal).map_or(Ok(()), Err),
        }
    }

    /// Asks, reads (told whether it is the second time), and sends an answer that cannot be used back once, with the reason in one line.
    pub(super) fn answer<T>(
        &self,
        client: &Arc<Client>,
        question: &Question,
        read: impl Fn(&serde_json::Value, bool) -> Result<T, String>,
    ) -> Result<T, Unanswered> {
        let first = ask(client, question).map_err(|error| Unanswered::of(&error))?;
        let reason = match read(&first.value, false) {
            Ok(answer) => return Ok(answer),
            Err(reason) => reason,
        };
        tracing::warn!(reason, "an answer is sent back");
        let again = ask(client, &sent_back(question, &reason, self.tools.redactor))
            .map_err(|error| Unanswered::of(&error))?;
        read(&again.value, true)
            .map_err(|reason| Unanswered::Answer(format!("the model's answer cannot be used: {reason}")))
    }
}

/// A model's proposal with what it says would prove it: its own checks, in the failing state.
fn candidate(diagnosis: Diagnosis, proposal: Proposal) -> Candidate {
    let scenarios = match diagnosis.verify.is_empty() {
        true => Vec::new(),
        false => vec![Scenario {
            name: "model-checks".to_owned(),
            title: "what the diagnosis promises".to_owned(),
            setup: Vec::new(),
            expect: Expect::Succeeds,
            checks: diagnosis.verify.clone(),
        }],
    };
    Candidate { diagnosis, proposal, scenarios }
}
