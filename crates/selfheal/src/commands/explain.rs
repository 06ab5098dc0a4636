//! `selfheal explain`: says in plain words what an output means: which step failed, the probable reason, what to do.
//! Needs no model, no network and no store.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use selfheal_core::ids::{JobKey, RunId};
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::outcome::Outcome;
use selfheal_core::ports::{Clock, Executor, Order, Passing};
use selfheal_core::report::{Confidence, Report};
use selfheal_core::run::Run;
use selfheal_exec::{LiveScene, Supervisor, resolve_script};
use selfheal_feedback::command_line::CommandLine;
use selfheal_feedback::explain;
use selfheal_feedback::report::{ReportInput, report};
use selfheal_feedback::scan::Scanner;

use super::{Ended, print, tell};
use crate::cli::ExplainArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::evidence::{Logs, Written, with_logs};
use crate::exit_code;
use crate::terminal::Plain;
use crate::unparsed;
use serde_json::json;

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;
/// Bytes kept of each end of each stream of a command that is run.
const KEEP: usize = 256 * 1024;

/// Explains an output.
///
/// # Errors
/// When there is nothing to explain, or it cannot be read.
pub fn run(context: &Context, args: &ExplainArgs) -> Ended {
    let subject = subject(context, args)?;
    let explained = explained(context, &subject);
    if args.keep && !explained.marked.is_empty() {
        let line = args.command.clone().unwrap_or_else(|| crate::driver_command_line(&subject.argv));
        let kept = unparsed::Unparsed::of(&context.redactor(), &line, &subject.run);
        unparsed::keep(&context.state, &context.clock.fresh_id(), &kept)?;
    }
    if args.json {
        print(&format!("{}\n", explained.json(context, &subject)));
    } else {
        let plain = Plain { texts: &context.texts(), redactor: &context.redactor(), cwd: &context.cwd };
        print(&explained.text(&plain, &subject));
    }
    Ok(exit_code::OK)
}

/// What is to be explained.
struct Subject {
    /// The command as a job has it.
    argv: Vec<OsString>,
    /// The command that the exit code is from, where that is known.
    answering: Vec<OsString>,
    script: Option<PathBuf>,
    /// The file that it reads as standard input.
    stdin: Option<PathBuf>,
    /// What it wrote to its logs, where it was run here.
    written: Vec<Written>,
    run: Run,
    /// The exit code, where it was told.
    code: Option<i32>,
    /// How the text of a picture was read, where it is that.
    picture: Option<(String, String)>,
}

fn subject(context: &Context, args: &ExplainArgs) -> Result<Subject, CommandError> {
    if !args.run.is_empty() {
        return run_it(context, &args.run);
    }
    let mut picture = None;
    let (kept, total) = match &args.file {
        _ if args.image.is_some() => {
            let (text, fact) = of_picture(context, args.image.as_deref().unwrap_or(Path::new("")))?;
            picture = Some(fact);
            let total = text.len() as u64;
            (text.into_bytes(), total)
        }
        Some(file) if file != Path::new("-") => read_file(&context.cwd.join(file))?,
        _ if context.terminal.input => {
            return Err(CommandError::usage("there is no output to explain").hint(
                "COMMAND 2>&1 | selfheal explain, selfheal explain FILE, or selfheal explain -- COMMAND",
            ));
        }
        _ => read_all(std::io::stdin().lock())
            .map_err(|error| CommandError::new("failed to read standard input").because(&error))?,
    };
    let line = args.command.as_deref().map(CommandLine::read).unwrap_or_default();
    let (argv, script) = job_of(context, &line, args.command.is_some());
    Ok(Subject {
        answering: line.answering().unwrap_or_else(|| argv.clone()),
        argv,
        script,
        stdin: line.stdin().map(PathBuf::from),
        written: Vec::new(),
        run: explain::run_of(kept, total, args.exit_code),
        code: args.exit_code,
        picture,
    })
}

/// The text of a picture, and how it was read.
#[cfg(feature = "model")]
fn of_picture(context: &Context, file: &Path) -> Result<(String, (String, String)), CommandError> {
    let (text, model) = crate::driver::model::copied(context, &context.cwd.join(file))?;
    Ok((text, crate::driver::model::fact(file, &model)))
}

/// The same where no model can be asked.
#[cfg(not(feature = "model"))]
fn of_picture(_: &Context, _: &Path) -> Result<(String, (String, String)), CommandError> {
    Err(CommandError::usage("this selfheal was built without support for models")
        .hint("selfheal explain FILE reads a text"))
}

/// The command of a line that runs a script, else the whole line.
fn job_of(context: &Context, line: &CommandLine, given: bool) -> (Vec<OsString>, Option<PathBuf>) {
    if !given {
        return (Vec::new(), None);
    }
    let script = |argv: &[OsString]| {
        let path = context.env.get(OsStr::new("PATH")).map(OsString::as_os_str);
        resolve_script(argv, &context.cwd, path)
    };
    let of_one =
        line.each().into_iter().rev().find_map(|argv| script(&argv).map(|script| (argv, Some(script))));
    of_one.unwrap_or_else(|| {
        let argv = line.argv();
        let script = script(&argv);
        (argv, script)
    })
}

fn read_file(file: &Path) -> Result<(Vec<u8>, u64), CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::new(format!("failed to read {}", file.display())).because(&error)
    };
    read_all(std::fs::File::open(file).map_err(failed)?).map_err(failed)
}

fn read_all(mut source: impl Read) -> std::io::Result<(Vec<u8>, u64)> {
    let mut scanner = Scanner::new();
    let mut piece = vec![0; PIECE];
    loop {
        match source.read(&mut piece) {
            Ok(0) => return Ok(scanner.finish()),
            Ok(n) => scanner.feed(piece.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Runs a command once, as it is; nothing of it is healed or recorded.
fn run_it(context: &Context, argv: &[OsString]) -> Result<Subject, CommandError> {
    let limits = &context.settings.limits;
    let order = Order {
        id: RunId::new(context.clock.fresh_id()),
        argv: argv.to_vec(),
        cwd: context.cwd.clone(),
        env: std::collections::BTreeMap::new(),
        deadline_ms: limits.cap_ms,
        grace_ms: limits.grace_ms,
        stdout: Passing::Spool,
        keep: KEEP,
        log: None,
    };
    let supervisor = Supervisor::of_self();
    let path = context.env.get(OsStr::new("PATH")).map(OsString::as_os_str);
    let script = resolve_script(argv, &context.cwd, path);
    let job = job_of_argv(context, argv, script.as_deref());
    let logs = Logs::before(&job, &context.env);
    let run = supervisor.run(&order)?;
    let written = logs.written(&job, &run, &context.env);
    // Standard output is the explanation's; that of the command was read, and is shown beside its errors.
    if let Some(spool) = supervisor.take_spool() {
        let _ = spool.emit(&mut std::io::stderr().lock());
    }
    Ok(Subject {
        argv: argv.to_vec(),
        answering: argv.to_vec(),
        script,
        written,
        stdin: None,
        code: Some(run.ended.code()),
        run,
        picture: None,
    })
}

/// What came out.
struct Explained {
    outcome: Outcome,
    /// The report, where it failed.
    report: Option<Report>,
    /// Raw lines that may say the most, where the report does not say enough.
    marked: Vec<(usize, String)>,
}

fn explained(context: &Context, subject: &Subject) -> Explained {
    let script = crate::driver::text_of(subject.script.as_deref());
    let outcome = outcome(context, subject, script.as_deref());
    if !matches!(outcome, Outcome::Failed { .. }) {
        return Explained { outcome, report: None, marked: Vec::new() };
    }
    let job = job_of_argv(context, &subject.argv, subject.script.as_deref());
    let scene = LiveScene::new(context.cwd.clone(), context.env.clone(), None);
    let profiles = crate::profiles::load(context).0;
    let report_on = |run: &Run| {
        report(&ReportInput {
            job: &job,
            argv: &subject.argv,
            run,
            script: subject.script.as_deref().zip(script.as_deref()),
            trace: None,
            scene: &scene,
            stdin: subject.stdin.as_deref(),
            profiles: Some(&profiles),
        })
    };
    let mut report = report_on(&subject.run);
    if explain::says_little(&report) && !subject.written.is_empty() {
        let with = report_on(&with_logs(&subject.run, &subject.written));
        report = if explain::says_little(&with) { report } else { with };
    }
    report.context.extend(subject.written.iter().map(Written::fact));
    if let Some(how) = &subject.picture {
        // What a model copied out is never certain.
        report.confidence = report.confidence.min(Confidence::Medium);
        report.context.push(how.clone());
    }
    let marked = match explain::is_understood(&report) {
        true => Vec::new(),
        false => explain::marked_lines(&subject.run),
    };
    Explained { outcome, report: Some(report), marked }
}

fn job_of_argv(context: &Context, argv: &[OsString], script: Option<&Path>) -> Job {
    Job {
        key: JobKey::new("explain"),
        argv: argv.to_vec(),
        cwd: context.cwd.clone(),
        script: script.map(Path::to_path_buf),
        repeatable: Repeatable::Unstated,
    }
}

fn outcome(context: &Context, subject: &Subject, script: Option<&str>) -> Outcome {
    if subject.code == Some(0) || (subject.code.is_none() && !explain::looks_like_an_error(&subject.run)) {
        return Outcome::Succeeded;
    }
    if subject.code.is_none() {
        return Outcome::Failed { class: selfheal_core::outcome::Class::Unknown, meaning: None };
    }
    let (profiles, complaints) = crate::profiles::load(context);
    for complaint in complaints {
        tell(&format!("selfheal: {complaint}"));
    }
    explain::outcome(&profiles, &subject.answering, &subject.run, script)
}

impl Explained {
    fn json(&self, context: &Context, subject: &Subject) -> String {
        let value = self.value(context, subject);
        let redacted = context.redactor().json(&value);
        redacted.map_or_else(|error| error.to_string(), |text| text.as_str().to_owned())
    }

    fn value(&self, context: &Context, subject: &Subject) -> serde_json::Value {
        let (word, meaning) = match &self.outcome {
            Outcome::Succeeded => ("succeeded", None),
            Outcome::Negative { meaning } => ("negative", Some(meaning.clone())),
            Outcome::Failed { meaning, .. } => ("failed", meaning.clone()),
        };
        let report = self.report.as_ref();
        let status = match subject.code {
            Some(_) => report.map_or_else(
                || selfheal_feedback::report::status(&subject.run.ended),
                |report| report.status.clone(),
            ),
            None => "exit code not known".to_owned(),
        };
        json!({
            "version": 1,
            "outcome": word,
            "meaning": meaning,
            "class": report.map(|report| report.class),
            "status": status,
            "core_error": report.map(|report| &report.core_error),
            "location": report.and_then(|report| location(report, &context.cwd)),
            "command": report.and_then(|report| report.command.as_ref()),
            "causes": report.map(|report| report.causes.as_slice()).unwrap_or_default(),
            "confidence": report.map_or(Confidence::High, |report| report.confidence),
            "understood": report.is_none_or(explain::is_understood),
            "faults": report.map(|report| report.faults.as_slice()).unwrap_or_default(),
            "snippet": report.map(|report| report.snippet.as_slice()).unwrap_or_default(),
            "context": report.map(|report| report.context.as_slice()).unwrap_or_default(),
            "lines": self.marked.iter().map(|(number, text)| json!({ "line": number, "text": text })).collect::<Vec<_>>(),
        })
    }

    fn text(&self, plain: &Plain<'_>, subject: &Subject) -> String {
        let code = subject.run.ended.code().to_string();
        match (&self.outcome, &self.report) {
            (Outcome::Succeeded, _) if subject.code.is_none() => {
                format!("{}\n", plain.texts.say("explain-nothing", &[]))
            }
            (Outcome::Succeeded, _) | (_, None) if !matches!(self.outcome, Outcome::Negative { .. }) => {
                format!("{}\n", plain.texts.say("explain-succeeded", &[("code", &code)]))
            }
            (Outcome::Negative { meaning }, _) => {
                let values = [("code", code.as_str()), ("meaning", &plain.safe(meaning))];
                format!("{}\n", plain.texts.say("explain-negative", &values))
            }
            (_, None) => String::new(),
            (_, Some(report)) => {
                let whole = crate::driver_command_line(&subject.argv);
                let mut out = plain.report(report, &plain.safe(&whole));
                if !self.marked.is_empty() {
                    out.push_str(&format!("{}\n", plain.texts.say("explain-not-understood", &[])));
                    for (number, text) in &self.marked {
                        out.push_str(&format!("  {number:>5} | {}\n", plain.safe(text)));
                    }
                    out.push_str(&plain.line("explain-do", &plain.texts.say("explain-do-unknown", &[])));
                }
                out
            }
        }
    }
}

/// The place as a program reads it: a file below the current folder is named from there.
fn location(report: &Report, cwd: &Path) -> Option<serde_json::Value> {
    let place = report.location.as_ref()?;
    // Where only the host is known, there is neither.
    let known = place.line > 0 && !place.file.as_os_str().is_empty();
    let file = place.file.strip_prefix(cwd).unwrap_or(&place.file);
    Some(json!({
        "file": known.then_some(file),
        "line": known.then_some(place.line),
        "column": place.column,
        "function": place.function,
        "remote": place.remote,
        "command": report.command.as_ref().map(|command| &command.source),
        "words": report.command.as_ref().map(|command| &command.words),
    }))
}
