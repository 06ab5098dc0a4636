//! The report: from a failed run, and what is known around it, to what a careful engineer would want on one screen.

use std::ffi::OsString;
use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::job::Job;
use selfheal_core::outcome::{Class, Outcome};
use selfheal_core::report::{Confidence, Location, Report, SnippetLine};
use selfheal_core::run::{Ended, Run};
use selfheal_core::scene::Scene;
use selfheal_core::trace::Trace;

use crate::causes::causes;
use crate::class;
use crate::context::context;
use crate::findings::{REMARK, findings, meaning};
use crate::locate::{self, Place};
use crate::parsers::{self, Found};
use crate::profiles::Profiles;
use crate::signature::signature;

/// Lines of a snippet before and after the failing one.
const AROUND: u32 = 2;
/// How many faults a report names.
const FAULTS: usize = 6;

/// A failed run and what is known around it.
pub struct ReportInput<'a> {
    /// The job.
    pub job: &'a Job,
    /// The command as it was run.
    pub argv: &'a [OsString],
    /// The run.
    pub run: &'a Run,
    /// The script behind the command, absolute, and its text.
    pub script: Option<(&'a Path, &'a str)>,
    /// What a probe saw of a run that ended the same way.
    pub trace: Option<&'a Trace>,
    /// The machine.
    pub scene: &'a dyn Scene,
    /// The file that the command reads as standard input, where that is known.
    pub stdin: Option<&'a Path>,
    /// What exit codes mean; the shipped profiles where none are given.
    pub profiles: Option<&'a Profiles>,
}

/// What the pieces of a report are made from.
pub(crate) struct Case<'a> {
    /// What was given.
    pub input: &'a ReportInput<'a>,
    /// The findings, most telling first; never empty.
    pub found: Vec<Found>,
    /// Where.
    pub place: Place,
}

impl Case<'_> {
    /// The finding that says most.
    pub fn first(&self) -> Option<&Found> {
        self.found.first()
    }

    /// Whether the failure is on another machine or in a container.
    pub fn is_remote(&self) -> bool {
        self.place.location.as_ref().is_some_and(|location| location.remote.is_some())
    }

    /// The words of the command that failed; empty when they are not known.
    pub fn words(&self) -> &[String] {
        self.place.command.as_ref().map_or(&[], |command| command.words.as_slice())
    }
}

/// Makes the report on a failed run.
#[must_use]
pub fn report(input: &ReportInput<'_>) -> Report {
    let found = findings(input);
    let mut place = locate::place(input, found.first());
    if place.location.is_none()
        && let Some(caller) = found.iter().find(|one| of_child(one))
    {
        place = locate::place(input, Some(caller));
    }
    let case = Case { input, found, place };
    let class = class_of(&case);
    let faults = faults(&case.found);
    let signature =
        signature(class, faults.first().unwrap_or(&Fault::SilentExit { code: input.run.ended.code() }));
    Report {
        status: status(&input.run.ended),
        class,
        core_error: core_error(&case),
        location: case.place.location.clone(),
        command: case.place.command.clone(),
        snippet: case.place.location.as_ref().map_or_else(Vec::new, |location| snippet(input, location)),
        causes: causes(&case),
        context: context(&case),
        confidence: confidence(&case),
        signature,
        faults,
    }
}

/// Whether a finding says no more than that a command which the program ran had failed: it knows the place, and the
/// command itself said why.
fn of_child(found: &Found) -> bool {
    matches!(found.fault, Fault::SilentExit { .. }) && !found.spots.is_empty()
}

/// How a run ended, in words.
#[must_use]
pub fn status(ended: &Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("exit code {code}"),
        Ended::Signaled(signal) => format!("signal {signal}"),
        Ended::TimedOut { after_ms } => format!("ended at its deadline after {} s", after_ms / 1_000),
        Ended::Cancelled { signal, .. } => format!("cancelled by signal {signal}"),
        Ended::NotFound => "command not found".into(),
        Ended::InterpreterMissing { interpreter } => format!("interpreter {interpreter} not found"),
        Ended::NotExecutable { reason } => format!("not executable: {reason}"),
        Ended::NotStarted { reason } => format!("not started: {reason}"),
    }
}

fn faults(found: &[Found]) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    for one in found {
        if !faults.contains(&one.fault) {
            faults.push(one.fault.clone());
        }
    }
    faults.truncate(FAULTS);
    faults
}

/// The class of the first finding; where that is vague, what the exit code of the command means.
fn class_of(case: &Case<'_>) -> Class {
    let Some(first) = case.first() else { return Class::Unknown };
    if let Some(class) = by_source(case).or(first.class) {
        return class;
    }
    let class = class::class_of(&first.fault, case.input.scene);
    if class != Class::Unknown {
        return class;
    }
    let step = locate::failing_step(case.input, case.first());
    let by_code = |words: &[String], code| match meaning(case.input, words, code) {
        Outcome::Failed { class, .. } => Some(class).filter(|class| *class != Class::Unknown),
        Outcome::Negative { .. } => Some(Class::Logic),
        Outcome::Succeeded => None,
    };
    let argv: Vec<String> = case.input.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    step.and_then(|step| by_code(&step.words, step.status?))
        .or_else(|| by_code(&argv, case.input.run.ended.code()))
        .unwrap_or(if is_placed(case) { Class::Logic } else { Class::Unknown })
}

/// Whether the failure is known to be in the job's own text: with no other sign it is a mistake there.
fn is_placed(case: &Case<'_>) -> bool {
    let here = case.place.location.as_ref().filter(|place| place.remote.is_none());
    case.place.seen || here.is_some_and(|place| case.input.scene.facts(&place.file).is_some())
}

/// A key that is missing in the environment is no key of somebody's data.
fn by_source(case: &Case<'_>) -> Option<Class> {
    let source = &case.place.command.as_ref()?.source;
    let environment =
        ["environ", "process.env", "ENV[", "ENV.fetch", "getenv"].iter().any(|word| source.contains(word));
    (environment && matches!(case.first()?.fault, Fault::KeyMissing { .. })).then_some(Class::Environment)
}

fn core_error(case: &Case<'_>) -> String {
    let said = case.found.iter().map(|found| found.text.trim()).find(|text| !text.is_empty());
    let last = || {
        let text = parsers::kept(&case.input.run.stderr);
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    };
    let text = said.map(str::to_owned).or_else(last).unwrap_or_else(|| status(&case.input.run.ended));
    parsers::bounded(&text.replace('\r', "\\r"))
}

fn snippet(input: &ReportInput<'_>, location: &Location) -> Vec<SnippetLine> {
    if location.remote.is_some() {
        return Vec::new();
    }
    let Some(text) = locate::text_of(input, &location.file) else { return Vec::new() };
    let first = location.line.saturating_sub(AROUND).max(1);
    (1_u32..)
        .zip(text.lines())
        .skip(first as usize - 1)
        .take_while(|(number, _)| *number <= location.line + AROUND)
        .map(|(number, text)| SnippetLine { number, text: parsers::bounded(text) })
        .collect()
}

fn confidence(case: &Case<'_>) -> Confidence {
    let known = case.first().is_some_and(|first| first.weight > REMARK);
    let located = case.place.location.as_ref().is_some_and(|location| {
        location.remote.is_none() && !case.place.guessed && case.input.scene.facts(&location.file).is_some()
    });
    match (known, located || case.place.seen) {
        (true, true) => Confidence::High,
        (true, false) => Confidence::Medium,
        (false, _) if case.place.seen => Confidence::Medium,
        (false, _) => Confidence::Low,
    }
}

#[cfg(test)]
mod tests {
    use selfheal_core::ids::{JobKey, RunId, Timestamp};
    use selfheal_core::job::Repeatable;
    use selfheal_core::run::Capture;
    use selfheal_core::trace::Step;

    use super::*;
    use crate::fake_scene::FakeScene;

    fn job() -> Job {
        Job {
            key: JobKey::new("test"),
            argv: vec!["bash".into(), "x.sh".into()],
            cwd: "/job".into(),
            script: Some("/job/x.sh".into()),
            repeatable: Repeatable::Unstated,
        }
    }

    fn run(code: i32, stderr: &str) -> Run {
        Run {
            id: RunId::new("r"),
            started: Timestamp(0),
            duration_ms: 1,
            ended: Ended::Exited(code),
            stdout: Capture::default(),
            stderr: Capture { head: stderr.into(), tail: Vec::new(), total: stderr.len() as u64 },
            peak_kib: None,
            left_running: Vec::new(),
            at_deadline: None,
        }
    }

    fn report_on(script: &str, run: &Run, trace: Option<&Trace>, scene: &FakeScene) -> Report {
        let job = job();
        report(&ReportInput {
            job: &job,
            argv: &job.argv,
            run,
            script: Some((Path::new("/job/x.sh"), script)),
            trace,
            scene,
            stdin: None,
            profiles: None,
        })
    }

    #[test]
    fn a_missing_command_that_is_elsewhere_is_seen() {
        let script = "#!/bin/bash\necho go\ntool -x\n";
        let scene = FakeScene::new("/job")
            .file("x.sh", script)
            .command("tool", "/opt/bin/tool")
            .variable("PATH", "/usr/bin:/bin");
        let report = report_on(script, &run(127, "x.sh: line 3: tool: command not found\n"), None, &scene);
        assert_eq!(report.class, Class::Environment);
        assert_eq!(report.location.as_ref().map(|at| at.line), Some(3));
        assert_eq!(report.command.as_ref().map(|command| command.words.join(" ")), Some("tool -x".into()));
        assert_eq!(report.causes[0].id, "not-on-the-path");
        assert!(report.context.contains(&("places of tool".into(), "/opt/bin/tool".into())));
        assert_eq!(report.confidence, Confidence::High);
    }

    #[test]
    fn a_silent_end_is_explained_by_the_step_that_a_probe_saw() {
        let script = "#!/bin/bash\nset -e\ngrep -c x f\n";
        let scene = FakeScene::new("/job").file("x.sh", script);
        let step = Step {
            file: "/job/x.sh".into(),
            line: 3,
            words: ["grep", "-c", "x", "f"].map(String::from).into(),
            status: Some(1),
        };
        let trace = Trace { steps: vec![step], failing: Some(0), complete: true, ..Trace::default() };
        let report = report_on(script, &run(1, ""), Some(&trace), &scene);
        assert_eq!(report.faults, [Fault::SilentExit { code: 1 }]);
        assert_eq!(report.location.map(|at| at.line), Some(3));
        assert_eq!(report.causes[0].id, "answer-taken-for-failure");
        assert_eq!(
            report.core_error,
            "grep -c x f ended with code 1, an answer and no error: no line matched"
        );
        assert_eq!(report.class, Class::Logic);
    }

    #[test]
    fn what_could_not_be_started_did_not_end_silently() {
        let mut run = run(0, "");
        run.ended = Ended::NotStarted { reason: "the folder /gone is not there".into() };
        let report = report_on("#!/bin/bash\nls\n", &run, None, &FakeScene::new("/job"));
        assert_eq!(report.core_error, "it could not be started: the folder /gone is not there");
        let causes: Vec<&str> = report.causes.iter().map(|cause| cause.id.as_str()).collect();
        assert_eq!(causes, ["not-started"]);
    }

    #[test]
    fn each_cause_knows_what_its_own_fault_is_about() {
        let text =
            "cp: cannot stat 'a.csv': No such file or directory\nx.sh: line 3: jqq: command not found\n";
        let scene = FakeScene::new("/job").variable("PATH", "/usr/bin:/bin");
        let report = report_on("#!/bin/bash\ncp a.csv b\njqq x\n", &run(127, text), None, &scene);
        let about = |id: &str| {
            let cause = report.causes.iter().find(|cause| cause.id == id);
            cause.and_then(|cause| cause.about.what.clone())
        };
        assert_eq!(about("not-installed").as_deref(), Some("jqq"));
        assert_eq!(about("not-made-yet").as_deref(), Some("a.csv"));
    }

    /// A path is no name of a program that could be installed.
    #[test]
    fn a_command_that_is_a_path_is_a_file_that_is_not_there() {
        let scene = || FakeScene::new("/job").variable("PATH", "/usr/bin:/bin").folder("/job");
        let first = |scene: &FakeScene| {
            let report = report_on(
                "#!/bin/sh\n./send.sh x\n",
                &run(127, "x.sh: 2: ./send.sh: not found\n"),
                None,
                scene,
            );
            let near = report.context.iter().any(|(name, _)| name.starts_with("names like send.sh"));
            (report.causes.first().map(|cause| cause.id.clone()).unwrap_or_default(), near)
        };
        assert_eq!(first(&scene()), ("not-made-yet".to_owned(), false));
        assert_eq!(first(&scene().file("sendx.sh", "")), ("renamed-or-moved".to_owned(), true));
        assert_eq!(
            first(&scene().file("send.sh", "#!/no/such\n")),
            ("interpreter-elsewhere".to_owned(), false)
        );
    }

    #[test]
    fn what_a_script_survived_did_not_end_it() {
        let said =
            "sort: cannot read: a.txt: No such file or directory\nx.sh: line 4: jqq: command not found\n";
        let line = |second: &str| {
            let script = format!("set -e\nsort a.txt {second}\necho b\njqq c\n");
            let scene = FakeScene::new("/job").file("x.sh", &script);
            report_on(&script, &run(127, said), None, &scene).location.map(|at| at.line)
        };
        for survived in ["|| true", "|| echo none >&2", "| tee b || :", "&"] {
            assert_eq!(line(survived), Some(4), "{survived}");
        }
        // Only that it was survived decides; what may end the script is no answer to that.
        let script = "set -e\nsort a.txt || { echo no; exit 3; }\n";
        let scene = FakeScene::new("/job").file("x.sh", script);
        let report = report_on(script, &run(3, said.lines().next().unwrap_or_default()), None, &scene);
        assert_eq!((report.location.map(|at| at.line), report.confidence), (Some(2), Confidence::High));
    }

    #[test]
    fn nothing_but_what_was_survived_is_not_understood() {
        let script = "set -e\nls /none || true\n[ -s rows.csv ]\n";
        let scene = FakeScene::new("/job").file("x.sh", script);
        let text = "ls: cannot access '/none': No such file or directory\n";
        let report = report_on(script, &run(1, text), None, &scene);
        assert_ne!(report.location.map(|at| at.line), Some(2));
        assert!(report.confidence < Confidence::High);
        assert_eq!(report.faults.first(), Some(&Fault::SilentExit { code: 1 }));
    }

    #[test]
    fn what_is_behind_ssh_is_not_here() {
        let script = "#!/bin/bash\nset -e\nssh -p 22 web1 cat /srv/x\n";
        let scene = FakeScene::new("/job").file("x.sh", script);
        let step = Step {
            file: "/job/x.sh".into(),
            line: 3,
            words: ["ssh", "-p", "22", "web1", "cat", "/srv/x"].map(String::from).into(),
            status: Some(1),
        };
        let trace = Trace { steps: vec![step], failing: Some(0), complete: true, ..Trace::default() };
        let text = "cat: /srv/x: No such file or directory\n";
        let report = report_on(script, &run(1, text), Some(&trace), &scene);
        assert_eq!(report.location.and_then(|at| at.remote).as_deref(), Some("web1"));
        assert_eq!(report.context[0], ("where".into(), "on web1, not on this machine".into()));
    }

    #[test]
    fn a_message_of_the_script_itself_is_found_in_its_text() {
        let script =
            "#!/bin/bash\nx=1\nif [ $x -gt 0 ]; then\n  echo \"check: sums differ: $x\" >&2\n  exit 4\nfi\n";
        let scene = FakeScene::new("/job").file("x.sh", script);
        let report = report_on(script, &run(4, "check: sums differ: 1\n"), None, &scene);
        assert_eq!(report.location.map(|at| at.line), Some(4));
        assert_eq!(report.core_error, "check: sums differ: 1");
    }

    fn steps(seen: &[(&str, u32, &[&str], i32)]) -> Trace {
        let step = |(file, line, words, status): &(&str, u32, &[&str], i32)| Step {
            file: (*file).into(),
            line: *line,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            status: Some(*status),
        };
        let steps: Vec<Step> = seen.iter().map(step).collect();
        Trace { failing: steps.len().checked_sub(1), steps, complete: true, ..Trace::default() }
    }

    #[test]
    fn a_handler_that_fails_later_is_not_what_failed() {
        let script = "set -e\ntrap 'tail log' ERR\ncp a b/c\n";
        let scene = FakeScene::new("/job").file("x.sh", script);
        let trace = steps(&[("/job/x.sh", 3, &["cp", "a", "b/c"], 1), ("/job/x.sh", 2, &["tail", "log"], 1)]);
        let text = "cp: cannot create regular file 'b/c': No such file or directory\n";
        let report = report_on(script, &run(1, text), Some(&trace), &scene);
        assert_eq!(
            report.command.map(|command| command.words),
            Some(["cp", "a", "b/c"].map(String::from).into())
        );
        assert_eq!(report.location.map(|at| at.line), Some(3));
    }

    #[test]
    fn a_message_that_names_its_line_knows_better_than_a_later_step() {
        let script = "set -u\nx=08\ny=$((x + 1))\n[ \"$y\" -gt 3 ]\n";
        let scene = FakeScene::new("/job").file("x.sh", script);
        let trace =
            steps(&[("/job/x.sh", 2, &["x=08"], 0), ("/job/x.sh", 4, &["[", "$y", "-gt", "3", "]"], 1)]);
        let text = "x.sh: line 3: 08: value too great for base (error token is \"08\")\nx.sh: line 4: y: unbound variable\n";
        let report = report_on(script, &run(1, text), Some(&trace), &scene);
        assert_eq!(report.location.map(|at| at.line), Some(3));
    }

    #[test]
    fn a_script_that_another_ran_is_placed_in_the_job() {
        let script = "set -e\nsteps/fetch u\n";
        let scene = FakeScene::new("/job").file("x.sh", script).file("steps/fetch", "exit 22\n");
        let ok: &[&str] = &["echo", "x"];
        let trace = steps(&[
            ("/job/x.sh", 2, &["steps/fetch", "u"], 22),
            ("/job/steps/fetch", 1, ok, 0),
            ("/job/steps/fetch", 2, ok, 0),
            ("/job/steps/fetch", 3, ok, 0),
            ("/job/steps/fetch", 4, ok, 0),
            ("/job/steps/fetch", 5, &["exit", "22"], 22),
        ]);
        let report = report_on(script, &run(22, "fetch: HTTP 503\n"), Some(&trace), &scene);
        assert_eq!(report.location.map(|at| (at.file, at.line)), Some(("/job/x.sh".into(), 2)));
        assert_eq!(report.class, Class::Transient);
    }

    #[test]
    fn a_programs_own_line_counts_not_the_librarys() {
        let script = "import json\nrows = 1\njson.loads(text)\n";
        let scene = FakeScene::new("/job").file("x.sh", script).file("/lib/json.py", "x\n");
        let frame =
            |file: &str, line| selfheal_core::trace::Frame { file: file.into(), line, ..Default::default() };
        let library =
            Step { file: "/lib/json.py".into(), line: 1, words: vec!["raise X".into()], status: None };
        let trace = Trace {
            steps: vec![library],
            frames: vec![frame("/job/x.sh", 3), frame("/lib/json.py", 1)],
            failing: Some(0),
            complete: true,
            ..Trace::default()
        };
        let report = report_on(script, &run(1, ""), Some(&trace), &scene);
        assert_eq!(report.location.map(|at| (at.file, at.line)), Some(("/job/x.sh".into(), 3)));
    }

    #[test]
    fn a_full_disk_is_a_matter_of_resources_whatever_else_is_said() {
        let text =
            "tar: a: Cannot write: No space left on device\ntar: Error is not recoverable: exiting now\n";
        let report = report_on("#!/bin/sh\ntar cf a b\n", &run(2, text), None, &FakeScene::new("/job"));
        assert_eq!(report.class, Class::Resource);
        assert_eq!(report.location.map(|at| at.line), Some(2));
    }
}
