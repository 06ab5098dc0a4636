//! Verifying a repair with which the job succeeds in the failing state: scenarios, the failed step, the same effects as
//! before where the original worked, and a job that still fails when the repaired step is made to fail.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Outcome;
use selfheal_core::ports::{BoxedRun, Clock};
use selfheal_core::proposal::FileChange;
use selfheal_core::report::Report;
use selfheal_core::trace::Trace;
use selfheal_core::verification::{CheckResult, Expect, Scenario, SceneEdit, Showed, Verification};
use selfheal_syntax::diff;

use crate::contract::AfterBoxed;
use crate::normal;

use super::Healer;
use super::allow::with_what_to_allow;
use super::scenario::{checks_hold, differences};
use super::trial::Attempt;

/// How long two runs of the original are apart when it is asked what is volatile.
const VOLATILE_MS: u64 = 1_100;

/// Programs beside the step that are made to fail.
const MOST_NEIGHBOURS: usize = 2;

/// Commands that are not replaced by one that fails: shells do these themselves, or are needed to run at all.
const NOT_REPLACED: [&str; 24] = [
    "echo", "printf", "test", "[", "cd", "pwd", "true", "false", "kill", "read", "wait", "source", ".",
    "exec", "eval", "trap", "bash", "sh", "dash", "zsh", "python3", "perl", "node", "env",
];

/// The runs of the repaired job that succeeded, with what each started from.
struct GoodRuns {
    runs: Vec<(Vec<SceneEdit>, BoxedRun)>,
    /// The first run that should have succeeded and did not.
    half: Option<BoxedRun>,
}

/// The name of the check on the inputs of a good run.
pub(super) const GOOD_INPUTS: &str = "good-inputs";

/// The runs of one scenario.
struct Runs {
    /// Of the repaired job, or why it could not be run.
    repaired: Result<BoxedRun, String>,
    /// Of the original, where both are compared.
    original: Option<BoxedRun>,
}

/// What became of a job with a program that always fails.
enum Stubbed {
    NotRun(&'static str),
    Fails,
    Succeeds(Vec<SceneEdit>),
}

/// What a repaired job does beside the original, from the same start.
pub(super) enum Beside {
    Unknown,
    BothFail,
    OnlyOriginalFails,
    OnlyRepairedFails,
    Same,
    Differs(String),
}

impl Healer<'_> {
    /// Makes all checks on an attempt whose job succeeded in the failing state. Comes with the first run of a scenario in
    /// which the job should succeed and fails, if there is one.
    pub(super) fn verified(&mut self, mut attempt: Attempt, first: &BoxedRun) -> (Attempt, Option<BoxedRun>) {
        let changes = attempt.candidate.proposal.changes.clone();
        let mut checks =
            vec![result("failing-input", "the failing run again", Showed::Passed, "it succeeds")];
        let mut good = GoodRuns { runs: vec![(Vec::new(), first.clone())], half: None };
        let scenarios = attempt.candidate.scenarios.clone();
        let runs = self.scenario_runs(&changes, &scenarios);
        for (scenario, runs) in scenarios.iter().zip(runs) {
            checks.push(self.scenario(&changes, scenario, runs, &mut good));
        }
        checks.extend(self.good_inputs(&changes));
        checks.extend(self.derived(&attempt.candidate.clone(), first));
        checks.extend(self.contract_held(first));
        checks.push(self.failed_step_ran(&changes, &good));
        checks.push(self.made_to_fail(&changes, &good));
        checks.extend(self.neighbours_made_to_fail(&changes, &good));
        for check in checks.iter_mut().filter(|check| check.showed == Showed::Inconclusive) {
            check.why = with_what_to_allow(&check.why);
        }
        attempt.left = None;
        attempt.verification = Some(Verification::from_checks(first.rung.clone(), checks));
        (attempt, good.half)
    }

    /// What the repaired job did of its contract in the failing state.
    fn contract_held(&self, first: &BoxedRun) -> Option<CheckResult> {
        let contract = self.tools.contract;
        let after = AfterBoxed { cwd: &self.job.cwd, boxed: first };
        let shown = contract.look(&after);
        let held = shown.iter().filter(|shown| shown.showed == Showed::Passed).count();
        let (showed, why) = match shown.iter().find(|shown| shown.showed == Showed::Failed) {
            Some(broken) => (Showed::Failed, broken.why.clone()),
            None if held == 0 => (Showed::NotTested, "none of it can be looked at in a box".to_owned()),
            None => (Showed::Passed, format!("{held} of {} hold", shown.len())),
        };
        (!shown.is_empty()).then(|| result("contract", "what the job must have done", showed, &why))
    }

    /// The runs of the repaired job in all scenarios, and of the original where both are compared, all at once.
    fn scenario_runs(&mut self, changes: &[FileChange], scenarios: &[Scenario]) -> Vec<Runs> {
        let limit = self.tools.context.settings.limits.trial_ms;
        let (mut orders, mut refused) = (Vec::new(), Vec::new());
        for scenario in scenarios {
            let fetch: Vec<PathBuf> =
                scenario.checks.iter().filter_map(|check| check.path().map(PathBuf::from)).collect();
            let repaired = self.box_order(limit, changes, &scenario.setup, &fetch);
            refused.push(repaired.as_ref().err().map(|error| format!("failed to {}", error.doing)));
            orders.push(repaired.ok());
            let original = self.box_order(limit, &[], &scenario.setup, &[]).ok();
            orders.push(original.filter(|_| scenario.expect != Expect::Fails));
        }
        let mut runs = self.run_all(orders).into_iter();
        let paired = refused.into_iter().map(|refused| {
            let repaired = runs.next().flatten();
            let why = || refused.unwrap_or_else(|| "it could not be run in a box".to_owned());
            Runs { repaired: repaired.ok_or_else(why), original: runs.next().flatten() }
        });
        paired.collect()
    }

    fn scenario(
        &mut self,
        changes: &[FileChange],
        scenario: &Scenario,
        runs: Runs,
        good: &mut GoodRuns,
    ) -> CheckResult {
        let shown = |showed, why: &str| result(&scenario.name, &scenario.title, showed, why);
        let original = runs.original;
        let boxed = match runs.repaired {
            Ok(boxed) => boxed,
            Err(why) => return shown(Showed::Inconclusive, &why),
        };
        let failed = matches!(self.interpret(&boxed.run), Outcome::Failed { .. });
        if let (true, Some(reason)) = (failed, &boxed.inconclusive) {
            return shown(Showed::Inconclusive, reason);
        }
        match (scenario.expect, failed) {
            (Expect::Fails, true) => shown(Showed::Passed, "it still fails, as it must"),
            (Expect::Fails, false) => shown(Showed::Failed, "it succeeds, although the cause is still there"),
            (Expect::Succeeds, true) => {
                let why = format!("it ends with exit code {}", boxed.run.ended.code());
                good.half.get_or_insert(boxed);
                shown(Showed::Failed, &why)
            }
            (Expect::Succeeds, false) => {
                let outcome = self.succeeded_in(changes, scenario, original.as_ref(), &boxed);
                good.runs.push((scenario.setup.clone(), boxed));
                outcome
            }
            (Expect::SameAsOriginal, _) => {
                let outcome = self.compared(scenario, original.as_ref(), &boxed);
                if failed {
                    good.half.get_or_insert(boxed);
                } else {
                    good.runs.push((scenario.setup.clone(), boxed));
                }
                outcome
            }
        }
    }

    /// A scenario that succeeded counts when its checks hold, a changed line ran, and, where the original works too,
    /// both do the same.
    fn succeeded_in(
        &mut self,
        changes: &[FileChange],
        scenario: &Scenario,
        original: Option<&BoxedRun>,
        boxed: &BoxedRun,
    ) -> CheckResult {
        let shown = |showed, why: &str| result(&scenario.name, &scenario.title, showed, why);
        if let Err(why) = checks_hold(&self.job.cwd, &scenario.checks, boxed) {
            return shown(Showed::Failed, &why);
        }
        if changed_line_ran(changes, boxed.trace.as_ref()) == Some(false) {
            return shown(Showed::NotTested, "no changed line ran");
        }
        let compared = self.compared(scenario, original, boxed);
        if compared.showed == Showed::NotTested { shown(Showed::Passed, "it succeeds") } else { compared }
    }

    /// Compares with what the original does from the same start.
    fn compared(
        &mut self,
        scenario: &Scenario,
        original: Option<&BoxedRun>,
        repaired: &BoxedRun,
    ) -> CheckResult {
        let shown = |showed, why: &str| result(&scenario.name, &scenario.title, showed, why);
        let beside =
            original.map_or(Beside::Unknown, |original| self.beside(&scenario.setup, original, repaired));
        match beside {
            Beside::Unknown => shown(Showed::NotTested, "the original could not be run for comparison"),
            Beside::BothFail => shown(Showed::NotTested, "the original fails here too"),
            Beside::OnlyOriginalFails => shown(Showed::Passed, "it succeeds where the original fails"),
            Beside::OnlyRepairedFails => shown(Showed::Failed, "it fails where the original succeeds"),
            Beside::Same => shown(Showed::Passed, "it does the same as the original"),
            Beside::Differs(what) => {
                shown(Showed::Failed, &format!("it does other things than the original: {what}"))
            }
        }
    }

    /// What a repaired job did beside the original, both from the same start.
    pub(super) fn beside(&mut self, setup: &[SceneEdit], original: &BoxedRun, repaired: &BoxedRun) -> Beside {
        let failed = |run: &BoxedRun, other: &BoxedRun| {
            run.run.ended.code() != 0 || self.passes_over_more(&run.run, &other.run)
        };
        match (failed(original, repaired), failed(repaired, original)) {
            (true, true) => return Beside::BothFail,
            (true, false) => return Beside::OnlyOriginalFails,
            (false, true) => return Beside::OnlyRepairedFails,
            (false, false) => {}
        }
        let mut other = differences(original, repaired);
        if !other.is_empty() {
            // What differs between two runs of the original is volatile: dates, process numbers. Most of it changes by
            // the second.
            self.tools.context.clock.wait_ms(VOLATILE_MS);
            if let Ok(again) = self.boxed(&[], setup) {
                let volatile = differences(original, &again);
                other.retain(|difference| !volatile.contains(difference));
            }
        }
        other.into_iter().next().map_or(Beside::Same, Beside::Differs)
    }

    /// The job on the inputs of its last good run, where they are not what is there now: the original works on them, so
    /// the repaired job must do the same.
    fn good_inputs(&mut self, changes: &[FileChange]) -> Option<CheckResult> {
        let setup = normal::good_state(self.tools.store, &self.job.key)?;
        let shown = |showed, why: &str| result(GOOD_INPUTS, "the inputs of the last good run", showed, why);
        let limit = self.tools.context.settings.limits.trial_ms;
        let orders = vec![
            self.box_order(limit, changes, &setup, &[]).ok(),
            self.box_order(limit, &[], &setup, &[]).ok(),
        ];
        let mut runs = self.run_all(orders).into_iter();
        let (repaired, original) = (runs.next().flatten(), runs.next().flatten());
        let Some(repaired) = repaired else {
            return Some(shown(Showed::Inconclusive, "it could not be run"));
        };
        let beside = original.map_or(Beside::Unknown, |original| self.beside(&setup, &original, &repaired));
        Some(match beside {
            Beside::Same => shown(Showed::Passed, "it does the same as the original"),
            Beside::OnlyRepairedFails => shown(Showed::Failed, "it fails where the original succeeds"),
            Beside::Differs(what) => {
                shown(Showed::Failed, &format!("it does other things than the original: {what}"))
            }
            // Then they are not all that the original needs.
            Beside::OnlyOriginalFails | Beside::BothFail | Beside::Unknown => {
                shown(Showed::NotTested, "the original does not work with them now")
            }
        })
    }

    /// The command that failed must have run again and succeeded, or what the repair put in its place.
    fn failed_step_ran(&self, changes: &[FileChange], good: &GoodRuns) -> CheckResult {
        let title = "the step that failed ran and succeeded";
        let shown = |showed, why: &str| result("failed-step-ran", title, showed, why);
        let traces: Vec<&Trace> = good.runs.iter().filter_map(|(_, run)| run.trace.as_ref()).collect();
        if traces.iter().all(|trace| trace.steps.is_empty() && trace.lines.is_empty()) {
            return shown(Showed::NotTested, "this language is not traced");
        }
        if matches!(
            self.report.as_ref().and_then(Report::fault),
            Some(Fault::Syntax { .. } | Fault::Dialect { .. })
        ) {
            // Nothing ran because nothing parsed; that the job ran at all is the step.
            return shown(Showed::Passed, "the text is understood, and ran");
        }
        let words = self.failed_words();
        let again = |trace: &&Trace| {
            trace.steps.iter().any(|step| {
                step.status.unwrap_or(0) == 0 && !words.is_empty() && step.words.first() == words.first()
            })
        };
        if traces.iter().any(again) {
            return shown(Showed::Passed, "it ran again and succeeded");
        }
        match traces.iter().any(|trace| changed_line_ran(changes, Some(trace)) != Some(false)) {
            true => shown(Showed::Passed, "what stands in its place ran and succeeded"),
            false => shown(Showed::Failed, "neither it nor what stands in its place ran"),
        }
    }

    /// The words of the step that failed. A trace ends with the innermost command, which may only stand in a substitution
    /// of the step: a strict job does not end there, so the step's own first word counts.
    fn failed_words(&self) -> Vec<String> {
        let Some(command) = self.report.as_ref().and_then(|report| report.command.as_ref()) else {
            return Vec::new();
        };
        let own = command.source.split_whitespace().next().unwrap_or_default();
        match command.words.first() {
            Some(inner) if inner != own && command.source.contains(&format!("$({inner}")) => {
                vec![own.to_owned()]
            }
            _ => command.words.clone(),
        }
    }

    /// With the command that failed replaced by one that always fails, the repaired job must still fail; unless the
    /// original does not care either.
    fn made_to_fail(&mut self, changes: &[FileChange], good: &GoodRuns) -> CheckResult {
        let shown = |showed, why: &str| result("made-to-fail", "the step is made to fail", showed, why);
        let Some(command) = self.external_command(good) else {
            return shown(Showed::NotTested, "the step is not a program that can be replaced");
        };
        match self.stubbed(changes, good, &command) {
            Stubbed::NotRun(why) => shown(Showed::NotTested, why),
            Stubbed::Fails => shown(Showed::Passed, "the job fails then, as it must"),
            Stubbed::Succeeds(setup) => match self.original_cares(&setup) {
                true => shown(Showed::Failed, "the job succeeds although the step fails"),
                false => shown(Showed::NotTested, "the original does not care either, or cannot be asked"),
            },
        }
    }

    /// Runs the repaired job with a program replaced by one that always fails.
    fn stubbed(&mut self, changes: &[FileChange], good: &GoodRuns, command: &Path) -> Stubbed {
        let mark = PathBuf::from(format!("/tmp/.made-to-fail-{}", self.incident.id.short()));
        let stub = SceneEdit::Write {
            path: command.to_path_buf(),
            content: format!("#!/bin/sh\n: > {}\nexit 70\n", mark.display()).into_bytes(),
            mode: Some(0o755),
        };
        let Some((setup, _)) = good.runs.iter().rev().find(|(_, run)| ran_program(run, command)) else {
            return Stubbed::NotRun("no run came to the step");
        };
        let mut setup = setup.clone();
        setup.push(stub);
        let Ok(broken) = self.boxed(changes, &setup) else {
            return Stubbed::NotRun("it could not be run");
        };
        if !broken.effects.iter().any(|effect| effect.path == mark) {
            return Stubbed::NotRun("it did not come to the step");
        }
        if broken.run.ended.code() == 0 { Stubbed::Succeeds(setup) } else { Stubbed::Fails }
    }

    /// With the programs beside the repaired step replaced by ones that always fail, the job must fail: those whose failure
    /// ends a strict script by what stands there.
    fn neighbours_made_to_fail(&mut self, changes: &[FileChange], good: &GoodRuns) -> Vec<CheckResult> {
        let title = "what runs beside the step is made to fail";
        let shown = |title: &str, showed, why: &str| result("neighbour-made-to-fail", title, showed, why);
        let programs = self.neighbours(changes, good);
        if programs.is_empty() {
            return vec![shown(title, Showed::NotTested, "no program beside it would have to end the job")];
        }
        let mut checks = Vec::new();
        for program in programs {
            let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let title = format!("{name}, beside the step, is made to fail");
            checks.push(match self.stubbed(changes, good, &program) {
                Stubbed::NotRun(why) => shown(&title, Showed::NotTested, why),
                Stubbed::Fails => shown(&title, Showed::Passed, "the job fails then, as it must"),
                Stubbed::Succeeds(_) => {
                    shown(&title, Showed::Failed, &format!("the job succeeds although {name} fails"))
                }
            });
        }
        checks
    }

    /// Programs near the changed lines of a strict script, each in a statement of its own whose failure ends the script.
    fn neighbours(&self, changes: &[FileChange], good: &GoodRuns) -> Vec<PathBuf> {
        use selfheal_core::scene::Scene;
        let Some(change) = changes.iter().find(|change| Some(&change.path) == self.job.script.as_ref())
        else {
            return Vec::new();
        };
        let text = |content: &Option<Vec<u8>>| {
            String::from_utf8_lossy(content.as_deref().unwrap_or_default()).into_owned()
        };
        let (before, after) = (text(&change.before), text(&change.after));
        let near = diff::changed_line_numbers(&before, &after).first().copied().unwrap_or(1);
        let Ok(script) = selfheal_syntax::shell::Script::parse(&after) else { return Vec::new() };
        if !self.is_strict() || script.has_error() || !script.traps().is_empty() {
            return Vec::new();
        }
        let own = self.failed_words();
        let mut found: Vec<(u32, PathBuf)> = Vec::new();
        for command in script.commands() {
            let context = &command.context;
            let plain = context.failure_ends()
                && !context.conditional()
                && !context.subshell
                && !context.substitution
                && context.pipeline.is_none()
                && script.option_at("errexit", command.lines.0);
            let Some(name) = command.name().filter(|name| plain && !name.contains('/')) else { continue };
            let used_once =
                script.commands().iter().filter(|other| other.name().as_ref() == Some(&name)).count() == 1;
            if NOT_REPLACED.contains(&name.as_str()) || own.first() == Some(&name) || !used_once {
                continue;
            }
            let Some(place) = self.scene.which(&name).into_iter().next() else { continue };
            let ran = good.runs.iter().any(|(_, run)| ran_program(run, &place));
            if ran && !place.starts_with(&self.job.cwd) {
                found.push((command.lines.0.abs_diff(near), place));
            }
        }
        found.sort();
        found.into_iter().map(|(_, place)| place).take(MOST_NEIGHBOURS).collect()
    }

    /// Whether the original succeeds from a start and fails when the last change of the start, the failing stub, is made
    /// too. Where it fails anyway, strict mode says the same: a step that fails ends the job.
    fn original_cares(&mut self, setup: &[SceneEdit]) -> bool {
        let without = setup.get(..setup.len().saturating_sub(1)).unwrap_or_default().to_vec();
        let mut fails = |setup: &[SceneEdit]| self.boxed(&[], setup).map(|run| run.run.ended.code() != 0);
        match (fails(&without), fails(setup)) {
            (Ok(false), Ok(fails)) => fails,
            (Ok(true), Ok(_)) => self.is_strict(),
            _ => false,
        }
    }

    /// Whether the script is one for a shell in which a step that fails ends the job.
    fn is_strict(&self) -> bool {
        let text = self.script_text().unwrap_or_default();
        match selfheal_syntax::shell::Script::parse(&text) {
            Ok(script) => script.set_options().iter().any(|option| option.name == "errexit" && option.on),
            Err(_) => false,
        }
    }

    /// Whether a command stands only in substitutions inside of words of the failed line: what it answers there ends no
    /// job, so nothing follows when it is made to fail.
    fn stands_in_substitution(&self, name: &str) -> bool {
        let command = self.report.as_ref().and_then(|report| report.command.as_ref());
        let source = command.map_or("", |command| command.source.as_str());
        let mut places = source.match_indices(name).map(|(at, _)| source.get(..at).unwrap_or_default());
        let assigned =
            source.split("$(").next().is_some_and(|head| head.ends_with('=') && !head.contains(' '));
        source.contains(name)
            && !assigned
            && places.all(|before| before.ends_with("$(") || before.ends_with('`'))
    }

    /// The program behind the failed command, when it is one that the job did not bring itself and that the shell does
    /// not need to stay alive.
    fn external_command(&self, good: &GoodRuns) -> Option<PathBuf> {
        use selfheal_core::scene::Scene;
        let words = self.failed_words();
        let name = words.first()?;
        if NOT_REPLACED.contains(&name.as_str()) || name.contains('/') || self.stands_in_substitution(name) {
            return None;
        }
        let ran = good.runs.iter().any(|(_, run)| {
            run.trace
                .as_ref()
                .is_some_and(|trace| trace.steps.iter().any(|step| step.words.first() == Some(name)))
        });
        let place = self.scene.which(name).into_iter().next()?;
        (ran && !place.starts_with(&self.job.cwd)).then_some(place)
    }
}

fn ran_program(run: &BoxedRun, program: &Path) -> bool {
    let name = program.file_name().map(|name| name.to_string_lossy().into_owned());
    run.trace.as_ref().is_some_and(|trace| trace.steps.iter().any(|step| step.words.first() == name.as_ref()))
}

/// Whether a line that the repair changed or added ran; `None` where lines are not seen or none was changed.
fn changed_line_ran(changes: &[FileChange], trace: Option<&Trace>) -> Option<bool> {
    let trace = trace.filter(|trace| !trace.lines.is_empty())?;
    let mut known = false;
    for change in changes {
        let (Some(before), Some(after)) = (&change.before, &change.after) else { continue };
        let Some(ran) = trace.lines.get(&change.path) else { continue };
        let new =
            diff::changed_line_numbers(&String::from_utf8_lossy(before), &String::from_utf8_lossy(after));
        let new: BTreeSet<u32> = new.into_iter().collect();
        if new.is_empty() {
            continue;
        }
        known = true;
        // A shell reports a command that goes over several lines by its first or its last one.
        if new.iter().any(|line| (line.saturating_sub(2)..=line + 2).any(|near| ran.contains(&near))) {
            return Some(true);
        }
    }
    known.then_some(false)
}

pub(super) fn result(name: &str, title: &str, showed: Showed, why: &str) -> CheckResult {
    CheckResult { name: name.to_owned(), title: title.to_owned(), showed, why: why.to_owned() }
}
