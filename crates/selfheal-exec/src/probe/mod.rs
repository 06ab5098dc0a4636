//! Probes: how a boxed run is instrumented, and how what it wrote is read.
//!
//! The job's files are not edited: bash reads a file before its script (`BASH_ENV`), Python a `sitecustomize` module,
//! node and perl a preloaded module; `dash FILE` is run with `-x`; make gets another shell for its recipes. All of them are active in every traced run, so that a Python
//! program started by a shell script is seen too. They write records to one descriptor. The caller must check that the
//! traced run ended as the untraced one did: a job can look at its environment.

mod bash;
mod make;
mod plain_shell;
mod programs;
mod records;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use selfheal_core::job::inner_command;
use selfheal_core::ports::BoxOrder;
use selfheal_core::run::Capture;
use selfheal_core::scene::absolute;
use selfheal_core::trace::{Frame, Step, Trace};
use selfheal_core::verification::SceneEdit;

use crate::boxes::{Kept, PROBE_FOLDER as FOLDER, Raw};

/// The folder of the module for Python, on the module path.
const PYTHON_FOLDER: &str = "/dev/.selfheal/python";

/// The folder of the module for perl, on the module path, and its name.
const PERL_FOLDER: &str = "/dev/.selfheal/perl";
const PERL_MODULE: &str = "SelfhealProbe";

/// The most steps that are kept: so many of the first, and so many of the last.
const MOST_STEPS: usize = 5_000;

/// Values and words are cut to so many characters.
const LONGEST: usize = 200;

/// A script is read this far.
const MOST_OF_SCRIPT: u64 = 256 * 1024;

/// Standard error holds the trace of dash: so many bytes of each end are kept until it was taken out.
const KEPT_WITH_TRACE: usize = 4 * 1024 * 1024;

/// The instruments of one run.
#[derive(Debug)]
pub(crate) struct Probe {
    /// Marks this run's records; random, so that the job does not print it by chance.
    token: String,
    /// The script that dash runs, if it does.
    dash: Option<plain_shell::Call>,
}

/// What a reader found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub steps: Vec<Step>,
    pub lines: BTreeMap<PathBuf, BTreeSet<u32>>,
    pub frames: Vec<Frame>,
    pub failing: Option<usize>,
}

impl Findings {
    /// Adds what another reader found: of a program inside. The outer failing step stays.
    fn with_inner(mut self, inner: Self) -> Self {
        self.failing = self.failing.or(inner.failing.map(|at| at + self.steps.len()));
        self.steps.extend(inner.steps);
        self.frames.extend(inner.frames);
        for (file, lines) in inner.lines {
            self.lines.entry(file).or_default().extend(lines);
        }
        self
    }
}

impl Probe {
    /// The instruments for one run.
    pub(crate) fn new(order: &BoxOrder, token: String) -> Self {
        Self { token, dash: dash_call(order) }
    }

    /// Sets the environment up; gives the command to run.
    pub(crate) fn prepare(&self, order: &BoxOrder, env: &mut BTreeMap<OsString, OsString>) -> Vec<OsString> {
        env.insert("BASH_ENV".into(), format!("{FOLDER}/bash.rc").into());
        put_first(env, "PYTHONPATH", PYTHON_FOLDER, ":");
        put_first(env, "NODE_OPTIONS", &format!("--require={FOLDER}/preload.cjs"), " ");
        if runs_make(order) {
            let flags = format!("--eval=.SHELLFLAGS:={FOLDER}/make-shell\\ -c");
            let old = env.get(OsStr::new("MAKEFLAGS")).filter(|old| !old.is_empty()).cloned();
            let mut all = old.unwrap_or_default();
            all.push(" ");
            all.push(flags);
            env.insert("MAKEFLAGS".into(), all);
        }
        put_first(env, "PERL5LIB", PERL_FOLDER, ":");
        put_first(env, "PERL5OPT", &format!("-M{PERL_MODULE}"), " ");
        match &self.dash {
            Some(call) => {
                env.insert("PS4".into(), plain_shell::prompt(&self.token).into());
                call.traced(&order.argv)
            }
            None => wrapped(&order.argv, env),
        }
    }

    /// The files that the instruments need: name below the probe's folder, and content.
    pub(crate) fn files(&self, order: &BoxOrder) -> Vec<(String, Raw)> {
        let root = order.script.as_deref().and_then(Path::parent);
        [
            ("bash.rc", bash::rc(&self.token)),
            ("python/sitecustomize.py", programs::sitecustomize(&self.token, root)),
            ("preload.cjs", programs::preload(&self.token, root)),
            ("perl/SelfhealProbe.pm", programs::perl(&self.token, root)),
            ("make-shell", make::shell(&self.token)),
        ]
        .map(|(name, text)| (name.to_owned(), Raw(text.into_bytes())))
        .into()
    }

    /// How many bytes of each end of standard error must be kept for [`Probe::read`], when the caller wants `keep`.
    pub(crate) fn keep_of_stderr(&self, keep: usize) -> usize {
        if self.dash.is_some() { keep.max(KEPT_WITH_TRACE) } else { keep }
    }

    /// Reads what the instruments wrote, and takes it out of standard error. Absent when none of them was active.
    pub(crate) fn read(
        &self,
        order: &BoxOrder,
        env: &BTreeMap<OsString, OsString>,
        seen: SeenByProbe<'_>,
    ) -> Option<Trace> {
        let traced = self.dash.as_ref().map(|call| {
            let traced = plain_shell::take_out(seen.stderr, &self.token);
            plain_shell::bound(seen.stderr, order.keep);
            let stderr = seen.stderr.text();
            plain_shell::findings(
                call,
                &order.cwd,
                traced,
                &bash::Ending { code: seen.code, stderr: &stderr },
            )
        });
        let text = [seen.stream.head.0.as_slice(), b"\n", seen.stream.tail.0.as_slice()].concat();
        let text = String::from_utf8_lossy(&text);
        let own = order.script.as_deref().and_then(Path::parent);
        let mut bash = bash::Reader::new(&order.cwd, own, &self.token);
        let mut programs = programs::Reader::default();
        let mut make = make::Reader::default();
        let mut program_first = false;
        for record in records::records(&text, &self.token) {
            bash.take(&record);
            programs.take(&record);
            make.take(&record);
            program_first |= bash.is_empty() && !programs.is_empty();
        }
        if bash.is_empty() && programs.is_empty() && make.is_empty() && traced.is_none() {
            return None;
        }
        let whole = seen.stream.total <= (seen.stream.head.0.len() + seen.stream.tail.0.len()) as u64;
        let whole = whole && !programs.was_cut() && traced.is_none();
        let stderr = seen.stderr.text();
        let shell = bash.finish(&bash::Ending { code: seen.code, stderr: &stderr }, &as_text(env));
        let made = make.finish(&bash::Ending { code: seen.code, stderr: &stderr });
        let program = programs.finish(seen.code).with_inner(made);
        let both = if program_first { program.with_inner(shell) } else { shell.with_inner(program) };
        let all = match traced {
            Some(outer) => outer.with_inner(both),
            None => both,
        };
        Some(thinned(all, whole))
    }
}

/// What a run left for the readers.
pub(crate) struct SeenByProbe<'a> {
    /// The exit code.
    pub code: i32,
    /// What came on the probe's descriptor.
    pub stream: &'a Kept,
    /// Standard error.
    pub stderr: &'a mut Capture,
}

fn as_text(env: &BTreeMap<OsString, OsString>) -> BTreeMap<String, String> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    env.iter().map(|(name, value)| (text(name), shortened(&text(value)))).collect()
}

/// Wrappers that give the command inside an environment of their own.
const CLEANERS: [&str; 5] = ["env", "sudo", "doas", "su", "runuser"];

/// What the instruments put into the environment.
const VARIABLES: [&str; 6] = ["BASH_ENV", "PYTHONPATH", "NODE_OPTIONS", "PERL5LIB", "PERL5OPT", "MAKEFLAGS"];

/// The command, with the instruments' variables set again behind wrappers that may have taken them away
/// (`env -i … COMMAND`). A variable that the wrapper itself sets is left to it.
fn wrapped(argv: &[OsString], env: &BTreeMap<OsString, OsString>) -> Vec<OsString> {
    let inner = inner_command(argv);
    let Some(outer) =
        argv.strip_suffix(inner.as_slice()).filter(|outer| !inner.is_empty() && !outer.is_empty())
    else {
        return argv.to_vec();
    };
    let name = |word: &OsString| Path::new(word).file_name()?.to_str().map(str::to_owned);
    if !outer.iter().filter_map(name).any(|name| CLEANERS.contains(&name.as_str())) {
        return argv.to_vec();
    }
    let set_by_outer = |name: &str| {
        outer.iter().any(|word| word.to_string_lossy().split_once('=').is_some_and(|(set, _)| set == name))
    };
    let assignments = VARIABLES.iter().filter(|name| !set_by_outer(name)).filter_map(|name| {
        let mut word = OsString::from(format!("{name}="));
        word.push(env.get(OsStr::new(name))?);
        Some(word)
    });
    let env_command = [OsString::from("/usr/bin/env")].into_iter().chain(assignments);
    outer.iter().cloned().chain(env_command).chain(inner).collect()
}

/// Puts a word before what a variable holds.
fn put_first(env: &mut BTreeMap<OsString, OsString>, name: &str, first: &str, between: &str) {
    let mut value = OsString::from(first);
    if let Some(old) = env.get(OsStr::new(name)).filter(|old| !old.is_empty()) {
        value.push(between);
        value.push(old);
    }
    env.insert(name.into(), value);
}

/// Whether the command is make, or its script names it.
fn runs_make(order: &BoxOrder) -> bool {
    let inner = inner_command(&order.argv);
    let named = inner
        .first()
        .and_then(|word| Path::new(word).file_name())
        .is_some_and(|name| name == "make" || name == "gmake");
    let script = || order.script.as_deref().and_then(|script| script_text(order, script)).unwrap_or_default();
    let in_words = || order.argv.iter().any(|word| word.to_string_lossy().contains("make "));
    named
        || in_words()
        || script().split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "make" || word == "gmake")
}

/// The script that the command runs with dash.
fn dash_call(order: &BoxOrder) -> Option<plain_shell::Call> {
    let first_word = Path::new(order.argv.first()?);
    let named = first_word.components().count() > 1;
    let text = named.then(|| script_text(order, first_word)).flatten();
    let mut call = plain_shell::script_at(&order.argv, text.as_deref().and_then(|text| text.lines().next()))?;
    let shell = Path::new(&call.shell);
    let shell = if shell.file_name() == Some(OsStr::new("sh")) { Path::new("/bin/sh") } else { shell };
    let is_dash = shell.file_name() == Some(OsStr::new("dash"))
        || shell.canonicalize().is_ok_and(|real| real.file_name() == Some(OsStr::new("dash")));
    if !call.script.is_empty() {
        call.text = script_text(order, Path::new(&call.script)).unwrap_or_default();
        let read_in =
            plain_shell::read_in(&call.text).into_iter().map(|name| absolute(&order.cwd, Path::new(name)));
        call.sourced = read_in.filter_map(|file| Some((file.clone(), script_text(order, &file)?))).collect();
    }
    is_dash.then_some(call)
}

/// The text of a script as the job will find it: on the machine, or as the setup writes it.
fn script_text(order: &BoxOrder, script: &Path) -> Option<String> {
    let place = absolute(&order.cwd, script);
    let written = order.setup.iter().rev().find_map(|edit| match edit {
        SceneEdit::Write { path, content, .. } if absolute(&order.cwd, path) == place => {
            Some(content.clone())
        }
        _ => None,
    });
    let bytes = written.or_else(|| {
        // Only a regular file: what it names may be anything.
        let file =
            File::open(&place).ok().filter(|file| file.metadata().is_ok_and(|facts| facts.is_file()))?;
        let mut bytes = Vec::new();
        file.take(MOST_OF_SCRIPT).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    })?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Leaves steps in the middle out when there are too many; the failing one stays.
fn thinned(findings: Findings, whole: bool) -> Trace {
    let count = findings.steps.len();
    let kept = |at: usize| at < MOST_STEPS || at + MOST_STEPS >= count || Some(at) == findings.failing;
    let failing = findings.failing.map(|failing| (0..failing).filter(|at| kept(*at)).count());
    let steps: Vec<Step> =
        findings.steps.into_iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, step)| step).collect();
    let complete = whole && steps.len() == count;
    resolved(Trace { steps, lines: findings.lines, frames: findings.frames, failing, complete })
}

/// Names files as the order does: links resolved.
fn resolved(mut trace: Trace) -> Trace {
    let mut known: HashMap<PathBuf, PathBuf> = HashMap::new();
    let mut resolve = |path: &mut PathBuf| {
        let place = known.entry(path.clone()).or_insert_with(|| real(path));
        path.clone_from(place);
    };
    trace.steps.iter_mut().for_each(|step| resolve(&mut step.file));
    trace.frames.iter_mut().for_each(|frame| resolve(&mut frame.file));
    let mut lines: BTreeMap<PathBuf, BTreeSet<u32>> = BTreeMap::new();
    for (mut file, numbers) in std::mem::take(&mut trace.lines) {
        resolve(&mut file);
        lines.entry(file).or_default().extend(numbers);
    }
    trace.lines = lines;
    trace
}

/// A path with its links resolved, where it is on the machine.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// A value or word cut to what is kept of it.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text.to_owned(),
    }
}
