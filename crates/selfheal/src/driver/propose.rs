//! Finding candidates: memory and rules first, then a model.

use std::collections::VecDeque;

use selfheal_core::engine::Event;
use selfheal_core::proposal::Source as Maker;
use selfheal_core::report::Report;
use selfheal_core::scene::Scene;
use selfheal_core::trace::Trace;
use selfheal_repair::{Candidate, Case, Options, ScriptFile};

use super::Healer;
use super::timing::TimedScene;
use super::trial::Attempt;
use crate::cli::Part;
use crate::command_error::CommandError;
use crate::context::Context;

/// Where candidates of a round come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The user (`--proposal DIR`).
    Given,
    /// Remembered repairs and rules.
    Rules,
    /// An installer, for a package that the project declares.
    Packages,
    /// A language model.
    #[cfg(feature = "model")]
    Model,
}

/// The sources that this machine has, in the order in which they are asked. The model is asked again in each round that
/// the limits leave. A given proposal is the only round.
pub(super) fn sources(context: &Context, given: bool) -> VecDeque<Source> {
    if given {
        return VecDeque::from([Source::Given]);
    }
    #[cfg_attr(not(feature = "model"), expect(unused_mut, reason = "only the model adds to it"))]
    let mut sources = VecDeque::from([Source::Rules]);
    #[cfg(feature = "model")]
    if context.settings.model.is_some() {
        sources.extend(std::iter::repeat_n(Source::Model, context.settings.limits.rounds as usize));
    }
    #[cfg(not(feature = "model"))]
    let _ = context;
    sources
}

impl Healer<'_> {
    /// Asks the sources in turn until one has candidates.
    pub(super) fn diagnose(&mut self, round: u32) -> Result<Event, CommandError> {
        self.say("progress-diagnose", &[("round", &round.to_string())]);
        self.attempts.clear();
        if let Some(note) = self.storm_note() {
            self.notes.push(note);
            return Ok(Event::DiagnosisEnded { found: false });
        }
        while let Some(source) = self.sources.pop_front() {
            let candidates = match source {
                Source::Given => self.ask_given(),
                Source::Rules => self.ask_rules(),
                Source::Packages => self.ask_packages(),
                #[cfg(feature = "model")]
                Source::Model => self.ask_model(round),
            };
            if !candidates.is_empty() {
                self.attempts = candidates.into_iter().map(Attempt::new).collect();
                break;
            }
        }
        Ok(Event::DiagnosisEnded { found: !self.attempts.is_empty() })
    }

    fn ask_rules(&mut self) -> Vec<Candidate> {
        let Some(report) = &self.report else { return Vec::new() };
        let script = self.script_file(&self.scene);
        let remembered = self.remembered(report, script.as_ref());
        let rules = self.rule_candidates(report, script.as_ref(), self.trace.as_ref(), &self.scene);
        selfheal_repair::with_rules(remembered, self.by_experience(report, rules))
    }

    /// What the rules propose for a report, on the machine as `scene` shows it.
    pub(super) fn rule_candidates(
        &self,
        report: &Report,
        script: Option<&ScriptFile>,
        trace: Option<&Trace>,
        scene: &dyn Scene,
    ) -> Vec<Candidate> {
        match self.leaves_out(Part::Rules) {
            true => Vec::new(),
            false => self.what_rules_know(report, script, trace, scene),
        }
    }

    /// The same for their start states alone: what proves a repair is no part that can be left out.
    pub(super) fn what_rules_know(
        &self,
        report: &Report,
        script: Option<&ScriptFile>,
        trace: Option<&Trace>,
        scene: &dyn Scene,
    ) -> Vec<Candidate> {
        let mut off = self.tools.context.settings.rules.off.clone();
        if self.leaves_out(Part::Knowledge) {
            off.extend(selfheal_repair::READ_DOCUMENTS.map(str::to_owned));
        }
        let scene = TimedScene::new(scene);
        let case = Case { job: self.job, argv: &self.job.argv, report, script, trace, scene: &scene };
        let around = |name: &'static str, rule: &mut dyn FnMut()| scene.measure(name, &self.slowest, rule);
        let unread = self.leaves_out(Part::Knowledge);
        selfheal_repair::candidates(
            &case,
            &Options { preview: true, off: &off, unread, around: Some(&around) },
        )
    }

    /// Whether a part of selfheal is left out, to measure what it is worth.
    pub(super) fn leaves_out(&self, part: Part) -> bool {
        self.tools.without.contains(&part)
    }

    /// The job's script as `scene` shows it.
    pub(super) fn script_file(&self, scene: &dyn Scene) -> Option<ScriptFile> {
        let path = self.job.script.clone()?;
        let text = String::from_utf8_lossy(&scene.read(&path, 1 << 20)?).into_owned();
        let mode = scene.facts(&path)?.mode;
        Some(ScriptFile::new(path, text, mode))
    }
}

/// Who made a candidate, in one word for people.
pub(crate) fn maker(maker: &Maker) -> String {
    match maker {
        Maker::Rules { names } => names.join(" + "),
        Maker::Memory { entry } => entry.clone(),
        Maker::Model { name } => name.clone(),
        Maker::Given => "given".to_owned(),
    }
}
