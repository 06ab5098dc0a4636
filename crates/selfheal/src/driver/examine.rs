//! Examining a failed run: the probe, the report, and whether the job may run again.

use std::path::Path;

use selfheal_core::engine::{Event, Finding};
use selfheal_core::fault::Fault;
use selfheal_core::ids::Signature;
use selfheal_core::outcome::Class;
use selfheal_core::ports::{BoxedRun, Clock};
use selfheal_core::report::{About, Cause, Confidence, Report};
use selfheal_core::run::{Ended, Run};
use selfheal_core::scene::Scene;
use selfheal_core::trace::Trace;
use selfheal_feedback::explain::{is_understood, says_little};
use selfheal_feedback::report::ReportInput;

use super::{Healer, record};
use crate::cli::Part;
use crate::command_error::CommandError;
use crate::evidence::{Written, with_logs};

/// A job that takes longer than this part of the time for one trial is not probed: it would only run into the limit.
const PROBE_PART: u64 = 2;

/// So long a probe may take in any case, in milliseconds.
const PROBE_MS: u64 = 15_000;
/// And so many times as long as the real run took.
const PROBE_TIMES: u64 = 4;

/// The beginning of the signature of a run that broke its contract.
pub(super) const CONTRACT: &str = "contract:";

/// Characters of raw output that are looked at where the feedback is left out.
const RAW: usize = 2_000;

/// The bytes of a script that are looked at; who writes more by hand has written data.
const MOST_OF_A_SCRIPT: usize = 1 << 20;

/// The beginning of a script as text. Never waits: `bash <(…)` and other pipes are not read.
pub fn text_of(script: Option<&Path>) -> Option<String> {
    let bytes = selfheal_exec::read_regular(script?, MOST_OF_A_SCRIPT)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// What is left of a report without feedback: the exit code and the last raw line.
fn raw(report: Report, run: &Run) -> Report {
    let text = run.stderr.last_chars(RAW);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Report {
        core_error: last.to_owned(),
        faults: Vec::new(),
        location: None,
        command: None,
        snippet: Vec::new(),
        causes: Vec::new(),
        context: Vec::new(),
        ..report
    }
}

/// The report on a run that ended well without having done what its contract says.
fn unfulfilled(report: Report, why: String) -> Report {
    Report {
        status: "exit code 0, but its contract is broken".to_owned(),
        class: Class::Logic,
        core_error: why.clone(),
        faults: vec![Fault::Unfulfilled { message: why.clone() }],
        causes: vec![Cause {
            id: "contract-broken".to_owned(),
            text: "The job ended well, and what it should have done is not there.".to_owned(),
            evidence: vec![why.clone()],
            disproved_by: "the contract asks for something that a good run need not do".to_owned(),
            about: About::default(),
        }],
        confidence: Confidence::High,
        signature: Signature::new(format!("{CONTRACT}{why}")),
        ..report
    }
}

/// Whether a run may have said what it said in another language than English.
fn may_be_foreign(
    run: &Run,
    env: &std::collections::BTreeMap<std::ffi::OsString, std::ffi::OsString>,
) -> bool {
    const ENGLISH: [&str; 4] = ["C", "POSIX", "en", ""];
    let set = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .filter_map(|name| env.get(std::ffi::OsStr::new(name)))
        .map(|value| value.to_string_lossy().into_owned())
        .find(|value| !value.is_empty())
        .unwrap_or_default();
    let language = set.split(['.', '_', '@']).next().unwrap_or_default();
    !ENGLISH.contains(&language) || run.stderr.text().chars().any(|c| c.is_alphabetic() && !c.is_ascii())
}

/// Whether all that is known are words that no kind of fault stands for: a picture may say more.
#[cfg(feature = "model")]
fn is_vague(report: &Report) -> bool {
    says_little(report) || matches!(report.fault(), Some(Fault::Other { .. }))
}

/// Whether a probe of a plain shell said all that the real run said, and besides nothing that is understood: the trace of
/// such a shell lets values with line ends stand in the output.
fn says_no_less(boxed: &Run, real: &Run, again: &Report, trace: Option<&Trace>) -> bool {
    let of_plain_shell = trace.is_some_and(|trace| !trace.complete && trace.lines.is_empty());
    let (boxed, real) = (boxed.stderr.text(), real.stderr.text());
    let mut said = boxed.lines();
    of_plain_shell
        && !is_understood(again)
        && real.lines().all(|line| said.by_ref().any(|other| other == line))
}

/// All of a program that ran before it failed to load a module at its outermost level: nothing of that line, and nothing
/// behind it.
fn before_import(report: &Report, script: &str, line: u32) -> Option<String> {
    const LOADS: [&str; 5] = ["import ", "from ", "const ", "let ", "var "];
    let failed = script.lines().nth(line.checked_sub(1)? as usize)?;
    let loads = matches!(report.fault(), Some(Fault::MissingModule { .. }))
        && LOADS.iter().any(|word| failed.starts_with(word));
    let above = script.lines().take(line.saturating_sub(1) as usize);
    loads.then(|| above.flat_map(|line| [line, "\n"]).collect())
}

impl Healer<'_> {
    /// Makes the report on the last real run.
    pub(super) fn examine(&mut self) -> Result<Event, CommandError> {
        self.say("progress-examine", &[]);
        let script = self.script_text();
        let plain = self.report_on(&self.run, script.as_deref(), None, &self.scene);
        if let Some(why) = self.broken_by(&self.run) {
            return Ok(self.reported(unfulfilled(plain, why)));
        }
        // Another look cannot tell more about a full disk, and a second try of the same failure was looked at already.
        let first_look = self.report.is_none();
        let unread = !is_understood(&plain);
        if first_look && plain.class != Class::Resource {
            self.probe(&plain);
        }
        let written = self.logs.written(self.job, &self.run, &self.env());
        let other = self.read_otherwise(script.as_deref(), &written, &plain);
        #[cfg(feature = "model")]
        let (other, copied) = match other.is_none() && is_vague(&plain) {
            true => (self.of_picture(script.as_deref()), true),
            false => (other, false),
        };
        let run = other.as_ref().map_or(&self.run, |(run, _)| run);
        let mut report = match &self.trace {
            Some(trace) => self.report_on(run, script.as_deref(), Some(trace), &self.scene),
            None if other.is_some() => self.report_on(run, script.as_deref(), None, &self.scene),
            None => plain,
        };
        #[cfg(feature = "model")]
        let read = other.is_some();
        report.context.extend(other.into_iter().map(|(_, how)| how));
        #[cfg(feature = "model")]
        if copied && read {
            super::model::doubt(&mut report);
        }
        report.context.extend(written.iter().map(Written::fact));
        #[cfg(feature = "model")]
        if first_look && unread && !read {
            self.fill(&mut report);
        }
        if first_look {
            self.repeatable = Some(self.judge_repeatable(script.as_deref(), &report));
            self.compare_environment(&mut report);
            self.note_packages(&mut report);
            self.note_changes(&mut report);
            self.order_causes(&mut report);
            if unread {
                self.keep_unparsed();
            }
        }
        Ok(self.reported(report))
    }

    /// The run as it can be read where its output says nothing: with what it wrote to its logs, or in English; and how.
    fn read_otherwise(
        &mut self,
        script: Option<&str>,
        written: &[Written],
        plain: &Report,
    ) -> Option<(Run, (String, String))> {
        let fact = |how: &str| ("read".to_owned(), how.to_owned());
        if !written.is_empty() && says_little(plain) {
            let run = with_logs(&self.run, written);
            if !says_little(&self.report_on(&run, script, None, &self.scene)) {
                return Some((run, fact("with what the run wrote to its logs")));
            }
        }
        let run = if is_understood(plain) { None } else { self.in_english() }?;
        is_understood(&self.report_on(&run, script, None, &self.scene)).then(|| {
            (run, fact("from another run, in a box and in English (LC_ALL=C.UTF-8), that ended alike"))
        })
    }

    /// The run with what a picture that it made shows, where that is understood.
    #[cfg(feature = "model")]
    fn of_picture(&mut self, script: Option<&str>) -> Option<(Run, (String, String))> {
        let (run, how) = self.seen()?;
        (!is_vague(&self.report_on(&run, script, None, &self.scene))).then_some((run, how))
    }

    /// The same run once more in a box with English messages, where the real one may have spoken another language.
    fn in_english(&mut self) -> Option<Run> {
        let env = self.env();
        let limit = self.tools.context.settings.limits.trial_ms;
        let fits = self.tools.boxes.rung().can_try() && self.run.duration_ms <= limit / PROBE_PART;
        let timed_out = matches!(self.run.ended, Ended::TimedOut { .. });
        if self.report.is_some() || !fits || timed_out || !may_be_foreign(&self.run, &env) {
            return None;
        }
        let limit = limit.min(PROBE_MS.saturating_add(self.run.duration_ms.saturating_mul(PROBE_TIMES)));
        let mut order = self.box_order(limit, &[], &[], &[]).ok()?;
        order.env.insert("LC_ALL".into(), "C.UTF-8".into());
        order.env.remove(std::ffi::OsStr::new("LANGUAGE"));
        let boxed = self.boxed_order(&order).ok()?;
        (boxed.inconclusive.is_none() && boxed.run.ended == self.run.ended).then_some(boxed.run)
    }

    /// Stores a report and says it to the engine.
    fn reported(&mut self, report: Report) -> Event {
        tracing::info!(class = report.class.word(), signature = report.signature.as_str(), "reported");
        self.incident.signature = Some(report.signature.clone());
        self.incident.report = self.tools.redactor.json(&report).ok();
        self.incident.note = Some(self.tools.redactor.text(&report.core_error));
        let finding = self.finding(&report);
        self.report = Some(report);
        Event::ReportReady(finding)
    }

    /// Keeps an output that nothing was understood of, for `selfheal label`.
    fn keep_unparsed(&self) {
        let line = super::command_line(&self.job.argv);
        let kept = crate::unparsed::Unparsed::of(self.tools.redactor, &line, &self.run);
        let name = self.tools.context.clock.fresh_id();
        if let Err(error) = crate::unparsed::keep(&self.tools.context.state, &name, &kept) {
            tracing::warn!(error = error.one_line(), "an output that was not understood could not be kept");
        }
    }

    pub(super) fn script_text(&self) -> Option<String> {
        text_of(self.job.script.as_deref())
    }

    /// The report on any run of the job, real or boxed.
    pub(super) fn report_on(
        &self,
        run: &Run,
        script: Option<&str>,
        trace: Option<&Trace>,
        scene: &dyn Scene,
    ) -> Report {
        let path = self.job.script.as_deref();
        let report = selfheal_feedback::report::report(&ReportInput {
            job: self.job,
            argv: &self.job.argv,
            run,
            script: path.zip(script),
            trace,
            scene,
            stdin: None,
            profiles: Some(self.tools.profiles),
        });
        if self.leaves_out(Part::Feedback) { raw(report, run) } else { report }
    }

    /// Runs the failing job again in a box, instrumented. What it shows counts only when it fails in the same way.
    fn probe(&mut self, plain: &Report) {
        // What was ended at its deadline would only run into another one, and show nothing that counts.
        if matches!(self.run.ended, Ended::TimedOut { .. }) {
            return;
        }
        let limit = self.tools.context.settings.limits.trial_ms;
        if !self.tools.boxes.rung().can_try() || self.run.duration_ms > limit / PROBE_PART {
            return;
        }
        // The same failure does not take much longer; what waits for something that the box has not waits for ever.
        let limit = limit.min(PROBE_MS.saturating_add(self.run.duration_ms.saturating_mul(PROBE_TIMES)));
        let boxed = match self.boxed_within(limit, &[], &[], &[]) {
            Ok(boxed) => boxed,
            Err(error) => {
                tracing::warn!(%error, "the probe could not be made");
                return;
            }
        };
        if self.agrees(&boxed, plain) {
            self.trace = boxed.trace;
            self.trace.iter().for_each(|trace| crate::secrets::learn_values(self.tools.redactor, trace));
            self.effects = Some(boxed.effects);
        } else {
            tracing::warn!(
                boxed = boxed.run.ended.code(),
                real = self.run.ended.code(),
                "the probe failed in another way and is left out"
            );
        }
    }

    fn agrees(&self, boxed: &BoxedRun, plain: &Report) -> bool {
        if boxed.inconclusive.is_some() || boxed.run.ended != self.run.ended {
            return false;
        }
        let again = self.report_on(&boxed.run, self.script_text().as_deref(), None, &self.scene);
        again.signature == plain.signature
            || says_no_less(&boxed.run, &self.run, &again, boxed.trace.as_ref())
    }

    fn judge_repeatable(
        &self,
        script: Option<&str>,
        report: &Report,
    ) -> selfheal_feedback::repeat::Repeatability {
        let own = |place: &&selfheal_core::report::Location| Some(&place.file) == self.job.script.as_ref();
        let line = report.location.as_ref().filter(own).map(|place| place.line);
        let before = line.zip(script).and_then(|(line, script)| before_import(report, script, line));
        let (script, line) = match &before {
            Some(before) => (Some(before.as_str()), None),
            None => (script, line),
        };
        selfheal_feedback::repeat::repeatable(&selfheal_feedback::repeat::RepeatInput {
            job: self.job,
            run: &self.run,
            trace: self.trace.as_ref(),
            effects: self.effects.as_deref(),
            script,
            failed_line: line,
            scene: Some(&self.scene),
        })
    }

    fn finding(&self, report: &Report) -> Finding {
        let retry_after_ms = selfheal_feedback::retry_after::retry_after_ms(&self.run);
        let located = report.location.as_ref().is_some_and(|place| place.remote.is_none());
        Finding { class: report.class, located, repeatable: self.may_rerun(), retry_after_ms }
    }

    /// The job's environment, for boxes.
    pub(super) fn env(&self) -> std::collections::BTreeMap<std::ffi::OsString, std::ffi::OsString> {
        record::job_env(self.tools.context, &self.order)
    }
}
