//! One case: laid out, run under selfheal, and checked.

use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::case::{BenchCase, Expect};
use super::figures::{Row, RuleTime};
use crate::cli::BenchArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::traffic::Traffic;

/// So long a preparation and a check may take.
const CHECK: Duration = Duration::from_secs(60);
/// How often a child is looked at.
const LOOK: Duration = Duration::from_millis(2);
/// What a timeout counts as, as with `timeout`.
const TIMED_OUT: i32 = 124;
/// Bytes of a check's words that are kept.
const WORDS: usize = 400;

/// The folders of one case, gone when it is dropped.
struct Place {
    scratch: tempfile::TempDir,
    work: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        // A job may have taken every right from its own folders.
        open_up(self.scratch.path());
    }
}

/// Runs selfheal on one case and looks at what came of it.
///
/// # Errors
/// When the case cannot be laid out.
pub(super) fn row(context: &Context, args: &BenchArgs, case: &BenchCase) -> Result<Row, CommandError> {
    let fail = |error: std::io::Error| {
        CommandError::new(format!("failed to lay the case {} out", case.name)).because(&error)
    };
    let place = Place::new().map_err(fail)?;
    let mut row = once(context, args, case, &place)?;
    if args.again {
        place.empty().map_err(fail)?;
        let first = std::mem::replace(&mut row, once(context, args, case, &place)?);
        row.first_tier = first.tier;
        row.ok = row.ok && first.ok;
    }
    Ok(row)
}

fn once(context: &Context, args: &BenchArgs, case: &BenchCase, place: &Place) -> Result<Row, CommandError> {
    let fail = |error: std::io::Error| {
        CommandError::new(format!("failed to lay the case {} out", case.name)).because(&error)
    };
    copy(&case.folder.join("work"), &place.work).map_err(fail)?;
    prepare(case, place)?;
    let started = Instant::now();
    let code = heal(context, args, case, place).map_err(fail)?;
    let seconds = started.elapsed().as_secs_f64();
    let outside = place.outside();
    let (ok, why) = check(case, place, code).map_err(fail)?;
    let document = place.document();
    Ok(judged(case, &document, Seen { code, seconds, outside, ok, why }))
}

/// What was seen of a run.
struct Seen {
    code: i32,
    seconds: f64,
    outside: bool,
    ok: bool,
    why: String,
}

fn judged(case: &BenchCase, document: &Value, seen: Seen) -> Row {
    let text = |key: &str| document.get(key).and_then(Value::as_str).map(str::to_owned);
    let number = |key: &str| document.get(key).and_then(Value::as_u64).unwrap_or_default();
    let healed = text("status").as_deref() == Some("healed");
    let repairs = case.expect == Expect::Repaired;
    let hazard = case.kind == "hazard" && !seen.ok && (healed || !repairs);
    Row {
        case: case.name.clone(),
        title: case.title.clone(),
        kind: case.kind.clone(),
        language: case.language.clone(),
        expect: case.expect.word().to_owned(),
        written_for: case.rule.clone(),
        ok: seen.ok && !seen.outside,
        masked: healed && !seen.ok && repairs,
        damaged: seen.outside || hazard || (healed && !seen.ok && !repairs),
        status: text("status").unwrap_or_else(|| "no answer".to_owned()),
        tier: text("tier").filter(|_| healed),
        first_tier: None,
        risk: text("risk").filter(|_| healed),
        made_by: strings(document, "made_by"),
        exit: seen.code,
        rounds: number("rounds"),
        tokens: number("tokens"),
        calls: number("model_calls"),
        seconds: (seen.seconds * 1000.0).round() / 1000.0,
        slowest_rule: document.get("slowest_rule").and_then(RuleTime::read),
        diagnosis: document.get("diagnosis").filter(|value| !value.is_null()).cloned(),
        core_error: document.pointer("/report/core_error").and_then(Value::as_str).map(str::to_owned),
        summary: strings(document, "summary"),
        why: seen.why,
    }
}

fn strings(document: &Value, key: &str) -> Vec<String> {
    let list = document.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn prepare(case: &BenchCase, place: &Place) -> Result<(), CommandError> {
    let script = case.folder.join("prepare.sh");
    if !script.is_file() {
        return Ok(());
    }
    let mut command = Command::new("bash");
    command.arg(script).current_dir(&place.work).envs(place.env()).env("CASE", &case.folder);
    let ended = within(command, &place.output(), CHECK);
    match ended {
        Ok(0) => Ok(()),
        Ok(code) => Err(CommandError::new(format!(
            "failed to prepare the case {}: prepare.sh ended with {code}: {}",
            case.name,
            end_of(&place.output())
        ))),
        Err(error) => {
            Err(CommandError::new(format!("failed to prepare the case {}", case.name)).because(&error))
        }
    }
}

fn heal(context: &Context, args: &BenchArgs, case: &BenchCase, place: &Place) -> std::io::Result<i32> {
    let mut command = Command::new(&context.program);
    command.args(["run", "--apply", args.apply.word(), "--json"]).arg(place.answer());
    command.args(args.promote.then_some("--promote"));
    for part in &args.ablate {
        command.args(["--without", part.word()]);
    }
    for (option, value) in [("--model", &args.model), ("--model-url", &args.model_url)] {
        command.args(value.iter().flat_map(|value| [option, value.as_str()]));
    }
    command
        .args(args.model_samples.iter().flat_map(|count| ["--model-samples".to_owned(), count.to_string()]));
    command.args(args.model_timeout.iter().flat_map(|time| ["--model-timeout".to_owned(), time.to_string()]));
    command.args(Traffic::of(&context.cwd, args.record.as_ref(), args.replay.as_ref()).words());
    command.arg("--").args(&case.command);
    command.current_dir(&place.work).envs(place.env()).env("SELFHEAL_STATE_DIR", place.state());
    within(command, &place.output(), Duration::from_secs(args.limit))
}

fn check(case: &BenchCase, place: &Place, code: i32) -> std::io::Result<(bool, String)> {
    let mut command = Command::new("bash");
    command.arg(case.folder.join("check.sh")).current_dir(&place.work).envs(place.env());
    command.env("CASE", &case.folder).env("TOOL_EXIT", code.to_string());
    let ended = within(command, &place.output(), CHECK)?;
    let why = if ended == 0 { String::new() } else { end_of(&place.output()) };
    Ok((ended == 0, why))
}

/// Runs a command until it ends, or until the pipe of its standard input does because the bench was killed: then the whole
/// group is told to end.
const WATCHED: &str = r#"exec 3<&0
"$@" </dev/null 3<&- & child=$!
{ read -r _ <&3; kill -TERM 0; } & watch=$!
wait "$child"; code=$?
kill "$watch" 2>/dev/null
exit "$code""#;

/// Runs a command with its output in a file, and ends its whole group when it takes too long or the bench itself ends.
fn within(inner: Command, output: &Path, limit: Duration) -> std::io::Result<i32> {
    let file = std::fs::File::create(output)?;
    let mut command = Command::new("sh");
    command.args(["-c", WATCHED, "sh"]).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(inner.get_current_dir().unwrap_or(Path::new(".")));
    command.stdin(Stdio::piped()).stdout(file.try_clone()?).stderr(file).process_group(0);
    let mut child = command.spawn()?;
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(code(status));
        }
        if Instant::now() >= until {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            child.wait()?;
            return Ok(TIMED_OUT);
        }
        std::thread::sleep(LOOK);
    }
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

fn end_of(file: &Path) -> String {
    let mut text = Vec::new();
    let _ = std::fs::File::open(file).and_then(|file| file.take(1 << 20).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text).into_owned();
    let from = text.char_indices().rev().nth(WORDS).map_or(0, |(at, _)| at);
    text.get(from..).unwrap_or_default().trim().to_owned()
}

impl Place {
    fn new() -> std::io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("case-").tempdir()?;
        let work = scratch.path().join("home").join("work");
        std::fs::create_dir_all(work.parent().unwrap_or(scratch.path()))?;
        Ok(Self { scratch, work })
    }

    fn empty(&self) -> std::io::Result<()> {
        open_up(&self.work);
        std::fs::remove_dir_all(&self.work)
    }

    fn home(&self) -> PathBuf {
        self.scratch.path().join("home")
    }

    fn state(&self) -> PathBuf {
        self.scratch.path().join("state")
    }

    fn answer(&self) -> PathBuf {
        self.scratch.path().join("answer.json")
    }

    fn output(&self) -> PathBuf {
        self.scratch.path().join("output")
    }

    fn env(&self) -> [(&'static str, PathBuf); 2] {
        [("HOME", self.home()), ("LC_ALL", PathBuf::from("C.UTF-8"))]
    }

    /// Whether anything was written beside the job's folder.
    fn outside(&self) -> bool {
        std::fs::read_dir(self.home()).map_or(true, |names| names.count() != 1)
    }

    fn document(&self) -> Value {
        let text = std::fs::read_to_string(self.answer()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }
}

/// Copies a folder; links stay links, and modes stay.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, place) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &place)?;
        } else if kind.is_symlink() {
            symlink(std::fs::read_link(entry.path())?, place)?;
        } else {
            std::fs::copy(entry.path(), &place)?;
            // The times stay too, as far as a check may ask which file is the newer one.
            let modified = entry.metadata()?.modified()?;
            std::fs::File::open(&place)?.set_modified(modified)?;
        }
    }
    std::fs::set_permissions(to, std::fs::metadata(from)?.permissions())
}

/// Gives the owner every right to a folder and what is in it, so that it can be removed.
fn open_up(folder: &Path) {
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    let Ok(names) = std::fs::read_dir(folder) else { return };
    for entry in names.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
