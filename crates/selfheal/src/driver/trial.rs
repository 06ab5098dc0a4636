//! Trying candidates in boxes, and letting a repair grow: when the step that failed passes but another one fails now,
//! the rules are asked again about that failure, and both repairs become one. Nothing runs that was not admitted.

use std::collections::BTreeSet;

use selfheal_core::admission::Admission;
use selfheal_core::engine::{Event, Progress};
use selfheal_core::fault::Fault;
use selfheal_core::ids::Signature;
use selfheal_core::outcome::Outcome;
use selfheal_core::ports::{BoxLimits, BoxOrder, BoxedRun, PortError, Trouble};
use selfheal_core::proposal::{FileChange, Source};
use selfheal_core::report::Report;
use selfheal_core::run::Run;
use selfheal_core::verification::{CheckResult, SceneEdit, Showed, Verdict, Verification};
use selfheal_guard::AdmitInput;
use selfheal_repair::Candidate;

use super::Healer;
use super::allow::with_what_to_allow;
use super::patched::PatchedScene;
use crate::command_error::CommandError;
use crate::contract::AfterBoxed;

/// How often a repair may grow by one more kind of fault.
const MOST_STEPS: usize = 8;
/// Boxed runs per incident, scenarios included.
pub(super) const MOST_TRIALS: u32 = 120;
/// Contents kept of a boxed run's streams, at each end.
const KEEP: usize = 64 * 1024;

/// A candidate on its way.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The candidate, as far as it has grown.
    pub candidate: Candidate,
    /// The judgement on it.
    pub admission: Option<Admission>,
    /// What the boxes showed.
    pub verification: Option<Verification>,
    /// The failure that is left with it, if any.
    pub left: Option<Signature>,
    /// The report on that failure: what a further repair of this one is about.
    pub(super) left_report: Option<Box<Report>>,
    /// Its first run in the failing state, where it was made ahead.
    pub(super) ahead: Option<Box<BoxedRun>>,
    /// The run in the failing state in which the job succeeded.
    pub(super) good: Option<Box<BoxedRun>>,
}

impl Attempt {
    pub(super) fn new(candidate: Candidate) -> Self {
        Self {
            candidate,
            admission: None,
            verification: None,
            left: None,
            left_report: None,
            ahead: None,
            good: None,
        }
    }

    fn with(mut self, showed: Showed, rung: &str, why: String) -> Self {
        let check = CheckResult {
            name: "failing-input".to_owned(),
            title: "the failing run again".to_owned(),
            showed,
            why: if showed == Showed::Inconclusive { with_what_to_allow(&why) } else { why },
        };
        self.verification = Some(Verification::from_checks(rung.to_owned(), vec![check]));
        self
    }
}

/// Where a job failed, as far as one failure is told from the next on the way of a growing repair.
type Point = (Signature, String);

fn point_of(report: &Report) -> Point {
    // By its text, not its number: a repair that adds a line moves the same failing line on without any progress.
    let number = report.location.as_ref().map_or(0, |place| place.line);
    let line =
        report.snippet.iter().find(|line| line.number == number).map(|line| line.text.trim().to_owned());
    (report.signature.clone(), line.unwrap_or_default())
}

/// What came of letting a repair grow.
enum Grown {
    /// The job succeeds in the failing state, in this run.
    Complete(Attempt, Box<BoxedRun>),
    /// It does not; how far it got.
    Stuck(Attempt),
}

impl Healer<'_> {
    /// Judges every candidate before anything of it runs.
    pub(super) fn admit(&mut self) -> Result<Event, CommandError> {
        let attempts = std::mem::take(&mut self.attempts);
        let judged: Vec<Attempt> = attempts.into_iter().map(|attempt| self.judged(attempt)).collect();
        let (open, closed): (Vec<Attempt>, Vec<Attempt>) = judged.into_iter().partition(is_open);
        let all_refused = !closed.is_empty() && closed.iter().all(is_refused);
        let more_sources = !self.sources.is_empty();
        for attempt in &closed {
            self.note_refusal(attempt);
        }
        if open.is_empty() {
            self.chosen = closed.into_iter().next();
            self.record_round()?;
        }
        self.attempts = open;
        Ok(Event::AdmissionEnded { admitted: self.attempts.len(), all_refused, more_sources })
    }

    pub(super) fn judged(&self, mut attempt: Attempt) -> Attempt {
        attempt.admission = Some(selfheal_guard::admit(&AdmitInput {
            proposal: &attempt.candidate.proposal,
            job: self.job,
            report: self.report.as_ref(),
            scene: &self.scene,
            limits: &self.tools.context.settings.limits,
            policy: &crate::guard_rules::load(self.tools.context).0,
        }));
        attempt
    }

    fn note_refusal(&mut self, attempt: &Attempt) {
        let Some(finding) =
            attempt.admission.as_ref().and_then(|judged| judged.findings.iter().max_by_key(|f| f.weight))
        else {
            return;
        };
        tracing::warn!(rule = finding.rule, why = finding.why, "a candidate was not admitted");
        self.notes.push(finding.why.clone());
    }

    /// Tries the admitted candidates in turn; the first that passes is chosen, or a smaller one of the same maker, else the one
    /// that got furthest.
    pub(super) fn verify_attempts(&mut self) -> Result<Event, CommandError> {
        let before = self.chosen.take();
        let admitted = std::mem::take(&mut self.attempts);
        let mut open = self.run_ahead(admitted);
        while let Some(attempt) = open.pop_front() {
            self.say("progress-verify", &[("what", &super::one_line(&attempt.candidate))]);
            let tried = self.tried(attempt)?;
            match (&self.chosen, verdict(&tried)) {
                (_, Verdict::Passed) => {
                    self.chosen = Some(self.smallest(tried, open)?);
                    break;
                }
                (None, _) => self.chosen = Some(tried),
                (Some(kept), Verdict::Inconclusive) if verdict(kept) == Verdict::Failed => {
                    self.chosen = Some(tried);
                }
                (Some(_), _) => {}
            }
        }
        let progress = self.progress(before.as_ref());
        let verdict = self.chosen.as_ref().map_or(Verdict::Inconclusive, verdict);
        self.record_round()?;
        Ok(Event::VerificationEnded { verdict, progress })
    }

    fn progress(&self, before: Option<&Attempt>) -> Progress {
        let now = self.chosen.as_ref();
        let repeated = match (before, now) {
            (Some(before), Some(now)) => before.candidate.proposal.changes == now.candidate.proposal.changes,
            _ => false,
        };
        let original = self.report.as_ref().map(|report| &report.signature);
        let left = now.and_then(|attempt| attempt.left.as_ref());
        Progress {
            repeated,
            signature_changed: left.is_some() && left != original,
            more_sources: !self.sources.is_empty(),
        }
    }

    pub(super) fn tried(&mut self, attempt: Attempt) -> Result<Attempt, CommandError> {
        if !self.tools.boxes.rung().can_try() {
            return Ok(attempt.with(
                Showed::Inconclusive,
                "none",
                "there is no box on this machine".to_owned(),
            ));
        }
        let mut seen = BTreeSet::new();
        seen.extend(self.report.as_ref().map(point_of));
        let tried = self.grown_and_verified(attempt, &mut seen)?;
        if verdict(&tried) == Verdict::Failed {
            self.note_failed(&tried.candidate);
        }
        Ok(tried)
    }

    /// Lets a repair grow in the failing state, then in the scenarios that it should succeed in: a job that fails there
    /// at something else is half repaired, and the rules may know the other half.
    fn grown_and_verified(
        &mut self,
        attempt: Attempt,
        seen: &mut BTreeSet<Point>,
    ) -> Result<Attempt, CommandError> {
        let (attempt, run) = match self.grow(attempt, seen)? {
            Grown::Stuck(attempt) => return Ok(attempt),
            Grown::Complete(mut attempt, run) => {
                attempt.good = Some(run.clone());
                (attempt, run)
            }
        };
        let (attempt, half) = self.verified(attempt, &run);
        let Some(failed) = half else { return Ok(attempt) };
        let (report, further) = self.look_at(&attempt, &failed);
        if seen.len() > MOST_STEPS || !seen.insert(point_of(&report)) {
            return Ok(attempt);
        }
        for candidate in further {
            let next = self.judged(Attempt::new(combined(&attempt.candidate, candidate)));
            if is_open(&next) {
                let tried = self.grown_and_verified(next, seen)?;
                if verdict(&tried) == Verdict::Passed {
                    return Ok(tried);
                }
            }
        }
        Ok(attempt)
    }

    /// Runs the repaired job in the failing state; while it fails at something new, asks the rules about that.
    fn grow(&mut self, mut attempt: Attempt, seen: &mut BTreeSet<Point>) -> Result<Grown, CommandError> {
        let fetch = self.tools.contract.paths();
        let ahead = attempt.ahead.take().map(|run| *run);
        let changes = &attempt.candidate.proposal.changes;
        let boxed = match ahead.map_or_else(|| self.boxed_with(changes, &[], &fetch), Ok) {
            Ok(boxed) => boxed,
            Err(error) => {
                return Ok(Grown::Stuck(attempt.with(Showed::Inconclusive, "none", one_line(&error))));
            }
        };
        if self.gets_through(&attempt, &boxed) {
            let after = AfterBoxed { cwd: &self.job.cwd, boxed: &boxed };
            return Ok(match self.tools.contract.broken(&after) {
                Some(why) => Grown::Stuck(attempt.with(Showed::Failed, &boxed.rung, why)),
                None => Grown::Complete(attempt, Box::new(boxed)),
            });
        }
        if let Some(reason) = &boxed.inconclusive {
            let reason = reason.clone();
            return Ok(Grown::Stuck(attempt.with(Showed::Inconclusive, &boxed.rung, reason)));
        }
        self.grow_further(attempt, &boxed, seen)
    }

    fn grow_further(
        &mut self,
        mut attempt: Attempt,
        boxed: &BoxedRun,
        seen: &mut BTreeSet<Point>,
    ) -> Result<Grown, CommandError> {
        let (report, mut further) = self.look_at(&attempt, boxed);
        if further.is_empty() {
            further = self.further_packages(&report, &attempt.candidate.proposal.changes, boxed);
        }
        tracing::debug!(
            repair = attempt.candidate.proposal.summary.join("; "),
            error = report.core_error,
            line = report.location.as_ref().map(|place| place.line),
            further = further.len(),
            "a repair stands before another fault"
        );
        attempt.left = Some(report.signature.clone());
        attempt.left_report = Some(Box::new(report.clone()));
        let stuck = attempt.clone().with(Showed::Failed, &boxed.rung, report.core_error.clone());
        if seen.len() > MOST_STEPS || !seen.insert(point_of(&report)) {
            return Ok(Grown::Stuck(stuck));
        }
        let mut best = stuck;
        for candidate in further {
            let next = self.judged(Attempt::new(combined(&attempt.candidate, candidate)));
            if !is_open(&next) {
                self.note_refusal(&next);
                continue;
            }
            match self.grow(next, seen)? {
                complete @ Grown::Complete(..) => return Ok(complete),
                Grown::Stuck(other) => best = other,
            }
        }
        Ok(Grown::Stuck(best))
    }

    /// Whether the job succeeds with a repair, and tells neither of the same fault nor of more that it passed over.
    pub(super) fn gets_through(&self, attempt: &Attempt, boxed: &BoxedRun) -> bool {
        !matches!(self.interpret(&boxed.run), Outcome::Failed { .. })
            && !self.still_says_it(attempt, boxed)
            && !self.passes_over_more(&boxed.run, &self.run)
    }

    /// Whether a run that ended well still tells of the same fault: the job went over it, as shells do in a condition, and
    /// what it did is not to be trusted.
    fn still_says_it(&self, attempt: &Attempt, boxed: &BoxedRun) -> bool {
        let Some(original) = &self.report else { return false };
        if boxed.run.stderr.total == 0 {
            return false;
        }
        let (report, _) = self.look_at(attempt, boxed);
        let telling = |fault: &&Fault| !matches!(fault, Fault::Other { .. } | Fault::SilentExit { .. });
        report.faults.iter().filter(telling).any(|fault| original.faults.contains(fault))
    }

    /// Whether a run tells of a fault of the shell's own text that another does not tell of. Such a run may end well, and what
    /// it did is not to be trusted: a loud failure must not become a quiet one.
    pub(super) fn passes_over_more(&self, run: &Run, other: &Run) -> bool {
        let Some(script) = self.job.script.as_deref() else { return false };
        let known = selfheal_feedback::passed_over(other, script);
        selfheal_feedback::passed_over(run, script).iter().any(|fault| !known.contains(fault))
    }

    /// The report on a boxed run of a half repaired job, and what the rules propose for it.
    fn look_at(&self, attempt: &Attempt, boxed: &BoxedRun) -> (Report, Vec<Candidate>) {
        let scene = PatchedScene {
            below: &self.scene,
            changes: &attempt.candidate.proposal.changes,
            effects: &boxed.effects,
        };
        let script = self.script_file(&scene);
        let text = script.as_ref().map(|script| script.text.as_str());
        let report = self.report_on(&boxed.run, text, boxed.trace.as_ref(), &scene);
        // A given repair is judged as it is.
        let further = match attempt.candidate.proposal.source {
            Source::Given => Vec::new(),
            _ => self.rule_candidates(&report, script.as_ref(), boxed.trace.as_ref(), &scene),
        };
        (report, further)
    }

    /// Runs the job in a box, instrumented, with files changed first and then a scenario set up.
    pub(super) fn boxed(
        &mut self,
        changes: &[FileChange],
        setup: &[SceneEdit],
    ) -> Result<BoxedRun, PortError> {
        self.boxed_with(changes, setup, &[])
    }

    /// The same, with contents fetched after the run.
    pub(super) fn boxed_with(
        &mut self,
        changes: &[FileChange],
        setup: &[SceneEdit],
        fetch: &[std::path::PathBuf],
    ) -> Result<BoxedRun, PortError> {
        self.boxed_within(self.tools.context.settings.limits.trial_ms, changes, setup, fetch)
    }

    /// The same, ended after so many milliseconds.
    pub(super) fn boxed_within(
        &mut self,
        limit_ms: u64,
        changes: &[FileChange],
        setup: &[SceneEdit],
        fetch: &[std::path::PathBuf],
    ) -> Result<BoxedRun, PortError> {
        let order = self.box_order(limit_ms, changes, setup, fetch)?;
        self.boxed_order(&order)
    }

    pub(super) fn boxed_order(&mut self, order: &BoxOrder) -> Result<BoxedRun, PortError> {
        let boxed = self.tools.boxes.run(order)?;
        self.count(&boxed);
        Ok(boxed)
    }

    /// The order of a boxed run, within the limits for trials.
    pub(super) fn box_order(
        &mut self,
        limit_ms: u64,
        changes: &[FileChange],
        setup: &[SceneEdit],
        fetch: &[std::path::PathBuf],
    ) -> Result<BoxOrder, PortError> {
        self.trials += 1;
        let left = self.time_left_ms();
        if self.trials > MOST_TRIALS || left == 0 {
            return Err(PortError::plain("stay within the time for trials", Trouble::NoRoom));
        }
        if !self.has_room() {
            return Err(PortError::plain("stay within the room for trials", Trouble::NoRoom));
        }
        let mut edits: Vec<SceneEdit> = changes.iter().map(scene_edit).collect();
        edits.extend_from_slice(setup);
        Ok(BoxOrder {
            argv: self.job.argv.clone(),
            setup: edits,
            cwd: self.job.cwd.clone(),
            env: self.env(),
            deadline_ms: limit_ms.min(left),
            traced: true,
            script: self.job.script.clone(),
            hidden: vec![self.tools.context.state.clone()],
            keep: KEEP,
            fetch: fetch.to_vec(),
            limits: BoxLimits { most_room: Some(self.room), ..BoxLimits::default() },
            ..BoxOrder::default()
        })
    }
}

/// Two successive repairs as one.
fn combined(first: &Candidate, second: Candidate) -> Candidate {
    let mut scenarios = first.scenarios.clone();
    let known: BTreeSet<String> = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    scenarios.extend(second.scenarios.into_iter().filter(|scenario| !known.contains(&scenario.name)));
    let mut diagnosis = first.diagnosis.clone();
    diagnosis.root_cause = format!("{} Then: {}", diagnosis.root_cause, second.diagnosis.root_cause);
    diagnosis.evidence.extend(second.diagnosis.evidence);
    diagnosis.strategy = format!("{} {}", diagnosis.strategy, second.diagnosis.strategy);
    diagnosis.verify.extend(second.diagnosis.verify);
    let proposal = selfheal_repair::combine(&first.proposal, &second.proposal);
    Candidate { diagnosis, proposal, scenarios }
}

/// A file change as it is made in a box.
pub(super) fn scene_edit(change: &FileChange) -> SceneEdit {
    match &change.after {
        Some(content) if change.before.as_ref() == Some(content) => {
            SceneEdit::Mode { path: change.path.clone(), mode: change.mode.unwrap_or(0o755) }
        }
        Some(content) => {
            SceneEdit::Write { path: change.path.clone(), content: content.clone(), mode: change.mode }
        }
        None => SceneEdit::Remove { path: change.path.clone() },
    }
}

pub(super) fn is_open(attempt: &Attempt) -> bool {
    attempt.admission.as_ref().is_some_and(|judged| !judged.refused && !judged.held)
}

fn is_refused(attempt: &Attempt) -> bool {
    attempt.admission.as_ref().is_some_and(|judged| judged.refused)
}

pub(super) fn verdict(attempt: &Attempt) -> Verdict {
    attempt.verification.as_ref().map_or(Verdict::Inconclusive, |shown| shown.verdict)
}

fn one_line(error: &PortError) -> String {
    match &error.source {
        Some(source) => format!("failed to {}: {source}", error.doing),
        None => format!("failed to {}", error.doing),
    }
}
