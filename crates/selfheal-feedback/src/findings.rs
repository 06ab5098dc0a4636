//! What a failed run says has gone wrong: what the parsers found, weighed by what the script's text and a probe show.

use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;

use selfheal_core::fault::Fault;
use selfheal_core::outcome::{Class, Outcome};
use selfheal_core::run::Ended;

use crate::class::{self, VAGUE};
use crate::inner::look_through;
use crate::locate;
use crate::parsers::{self, Found};
use crate::profiles::Profiles;
use crate::report::ReportInput;
use crate::survived::{self, SURVIVED};

/// The weight of what was seen itself, not read from a message.
const SURE: u8 = 100;
/// The most that a mere warning weighs.
pub(crate) const REMARK: u8 = VAGUE + 10;
/// So many lines at the end may hold a script's own last words.
const LAST_LINES: usize = 4;
/// The weight of what a script says itself in words that sound like nothing: more than a warning.
const OWN_WORDS: u8 = 30;
/// How much a finding gains that speaks of the step which a probe saw failing.
const SEEN: u8 = 25;

/// All that is known to have gone wrong, most telling first; never empty.
pub(crate) fn findings(input: &ReportInput<'_>) -> Vec<Found> {
    let mut found = parsers::read(input.run);
    let step = locate::failing_step(input, None);
    for one in &mut found {
        refine(input, one);
        written_nowhere(input, one);
        let tool = one.tool.as_deref();
        let by_step = step.is_some_and(|step| {
            let inner = crate::inner::look_through_words(&step.words);
            inner.first().is_some_and(|word| Some(crate::words::base(word)) == tool)
        });
        if by_step && one.weight > VAGUE {
            one.weight = one.weight.saturating_add(SEEN);
        }
    }
    passed_over_before_the_end(input, &mut found);
    survived::weigh(input, &mut found);
    found.extend(from_end(input));
    if found.iter().all(|one| one.weight <= REMARK) {
        found.extend(own_words(input).or_else(|| server_words(input)));
    }
    found.sort_by_key(|one| (u8::MAX - one.weight / 10, one.order));
    let only_survived = found.iter().all(|one| one.weight <= SURVIVED);
    if found.first().is_none_or(|first| first.weight <= VAGUE) {
        found.extend(silent(input, only_survived));
    }
    if only_survived {
        found.sort_by_key(|one| u8::MAX - one.weight);
    }
    if found.is_empty() {
        found.push(bare(Fault::SilentExit { code: input.run.ended.code() }, String::new()));
    }
    found
}

/// A test that cannot be made counts as false, and the job goes on: where something else is told of later, that ended it.
fn passed_over_before_the_end(input: &ReportInput<'_>, found: &mut [Found]) {
    let Some((path, text)) = input.script else { return };
    let last = found.iter().filter(|one| one.weight > REMARK).map(|one| one.order).max();
    let in_condition = |one: &Found| {
        let line = one.spots.first().filter(|spot| spot.file.file_name() == path.file_name());
        let source =
            line.and_then(|spot| text.lines().nth(spot.line.checked_sub(1)? as usize)).map(str::trim);
        source.is_some_and(|source| {
            ["if ", "elif ", "while ", "until "].iter().any(|word| source.starts_with(word))
                || source.contains("&&")
                || source.contains("||")
        })
    };
    let test =
        |one: &Found| matches!(&one.fault, Fault::BadValue { message, .. } if message.starts_with("[: "));
    for one in found.iter_mut() {
        let dialect = matches!(&one.fault, Fault::Dialect { construct } if construct == "[ == ]");
        if (test(one) || dialect) && last.is_some_and(|last| one.order < last) && in_condition(one) {
            one.weight = one.weight.min(REMARK);
        }
    }
}

/// What the script says itself before it ends: one of the last lines, where its text says that to standard error.
fn own_words(input: &ReportInput<'_>) -> Option<Found> {
    let text = parsers::kept(&input.run.stderr);
    let (_, script) = input.script?;
    // What it printed to standard output may come after it.
    let mut ends = text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(LAST_LINES);
    let complains = |line: &&str| {
        let number = locate::line_that_says(script, line)?;
        let source = script.lines().nth(number as usize - 1)?;
        locate::complains(source).then_some(())
    };
    let last = ends.find(|line| complains(line).is_some())?;
    let fault = Fault::Other { message: parsers::bounded(last) };
    Some(Found { weight: OWN_WORDS, ..bare(fault, last.to_owned()) })
}

/// What a server says in the body of its answer, where nothing else tells more.
fn server_words(input: &ReportInput<'_>) -> Option<Found> {
    let said = [&input.run.stderr, &input.run.stdout]
        .into_iter()
        .find_map(|stream| crate::bodies::message(&parsers::kept(stream)))?;
    Some(Found { weight: OWN_WORDS, ..bare(Fault::Other { message: said.clone() }, said) })
}

/// Corrects a finding by what the script's text shows.
fn refine(input: &ReportInput<'_>, found: &mut Found) {
    let before = found.fault.clone();
    let Some((path, text)) = input.script else { return };
    let shell = text.lines().next().is_none_or(|first| !first.starts_with("#!") || first.contains("sh"));
    let crlf = text.split('\n').take(3).any(|line| line.ends_with('\r'));
    let by_crlf = matches!(
        found.fault,
        Fault::Syntax { .. } | Fault::CommandNotFound { .. } | Fault::UnknownOption { .. }
    );
    if shell && crlf && by_crlf {
        found.fault = Fault::CarriageReturn { path: Some(path.to_path_buf()) };
    }
    // Of `[ 2 == 0 ]` dash names the 2.
    if matches!(&found.fault, Fault::BadValue { message, .. } if message == "[: unexpected operator") {
        let spot = found.spots.first().filter(|spot| spot.file.file_name() == path.file_name());
        let line = spot.and_then(|spot| text.lines().nth(spot.line.checked_sub(1)? as usize));
        if line.is_some_and(|line| line.contains("[ ") && line.contains(" == ")) {
            found.fault = Fault::Dialect { construct: "[ == ]".into() };
        }
    }
    // dash stops at `(` both in an array of bash and in a plain mistake.
    let bash = text.lines().next().is_some_and(|first| first.contains("bash"))
        || ["=(", "[[", "<(", "${!", "function "].iter().any(|mark| text.contains(mark));
    if !bash && matches!(&found.fault, Fault::Dialect { construct } if construct == "(") {
        found.fault = Fault::Syntax { near: Some("(".into()), message: "\"(\" unexpected".into() };
    }
    // dash says the same of a script that is not there as of one whose interpreter is not.
    if let Fault::BadInterpreter { script, interpreter } = &found.fault
        && interpreter.is_empty()
        && script.components().count() > 1
        && !is_anywhere(input, path, script)
    {
        found.fault = Fault::CommandNotFound { name: script.display().to_string() };
    }
    if let Some(name) = started_by_find(text, found) {
        found.fault = Fault::CommandNotFound { name };
    }
    if input.run.ended.code() == 127 && is_started(text, found) {
        // What was to be run is not there: it is not installed, or somewhere else.
        found.class = Some(Class::Environment);
    }
    if found.fault != before {
        found.weight = found.weight.max(class::weight(&found.fault));
    }
}

/// Whether a path is there, from where the job began or from the script's folder.
fn is_anywhere(input: &ReportInput<'_>, script: &Path, path: &Path) -> bool {
    let beside = script.parent().map(|folder| folder.join(path));
    let below =
        input.scene.names(input.scene.cwd()).into_iter().map(|name| input.scene.cwd().join(name).join(path));
    [Some(path.to_path_buf()), beside]
        .into_iter()
        .flatten()
        .chain(below.take(200))
        .any(|place| input.scene.facts(&place).is_some())
}

/// find names what `-exec` cannot start as it names a folder that is not there.
fn started_by_find(text: &str, found: &Found) -> Option<String> {
    let Fault::NoSuchPath { path } = &found.fault else { return None };
    let name = path.to_str().filter(|_| found.tool.as_deref() == Some("find"))?;
    let starts = |words: &[String]| {
        words.windows(2).any(|pair| match pair {
            [option, word] => {
                matches!(option.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") && word == name
            }
            _ => false,
        })
    };
    crate::words::commands_of(text).iter().any(|words| starts(words)).then(|| name.to_owned())
}

/// Whether the path that is missing is what the line that the message names would have run.
fn is_started(text: &str, found: &Found) -> bool {
    let (Fault::NoSuchPath { path }, Some(spot)) = (&found.fault, found.spots.first()) else { return false };
    let line = text.lines().nth((spot.line as usize).saturating_sub(1)).unwrap_or_default();
    crate::words::commands(line).iter().any(|words| {
        let words = crate::inner::look_through_words(words);
        let mut words = words.iter().skip_while(|word| *word == "exec");
        words.next().is_some_and(|word| path.to_str() == Some(word))
    })
}

/// curl says no more than that it could not write; whether the folder of its file is there, can be seen.
fn written_nowhere(input: &ReportInput<'_>, found: &mut Found) {
    if !found.text.starts_with("curl: (23)") {
        return;
    }
    let argv = input.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
    let of_script = input.script.map(|(_, text)| crate::words::commands_of(text)).unwrap_or_default();
    let target = |words: &[String]| {
        let at = words.iter().position(|word| word == "-o" || word == "--output")?;
        words.get(at + 1).cloned()
    };
    let file = of_script
        .iter()
        .chain([&argv])
        .filter(|words| words.iter().any(|word| word == "curl"))
        .find_map(|words| target(words));
    let missing = file.filter(|file| {
        let folder = Path::new(file).parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.is_some_and(|folder| input.scene.facts(folder).is_none())
    });
    if let Some(file) = missing {
        found.fault = Fault::NoSuchPath { path: file.into() };
        found.weight = class::weight(&found.fault);
    }
}

/// What the end of the run says by itself.
fn from_end(input: &ReportInput<'_>) -> Option<Found> {
    let command = || input.argv.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let fault = match &input.run.ended {
        Ended::NotFound => Fault::CommandNotFound { name: command() },
        Ended::InterpreterMissing { interpreter } => {
            Fault::BadInterpreter { script: command().into(), interpreter: interpreter.clone() }
        }
        Ended::NotExecutable { reason } if reason.to_lowercase().contains("format") => {
            Fault::BadInterpreter { script: command().into(), interpreter: String::new() }
        }
        Ended::NotExecutable { .. } => Fault::NotExecutable { path: command().into() },
        Ended::NotStarted { reason } => {
            let text = format!("it could not be started: {reason}");
            return Some(Found { weight: SURE, ..bare(Fault::Other { message: reason.clone() }, text) });
        }
        Ended::TimedOut { .. } => match crate::deadline::waited_for_a_person(input.run) {
            Some(text) => return Some(Found { weight: SURE, ..bare(Fault::NeedsTerminal, text) }),
            None => Fault::TimedOut,
        },
        Ended::Exited(124) => {
            return Some(Found { tool: Some("timeout".into()), ..bare(Fault::TimedOut, String::new()) });
        }
        Ended::Exited(137) if look_through(input.argv).wrapper("timeout").is_some() => Fault::TimedOut,
        Ended::Signaled(9) | Ended::Exited(137) => Fault::OutOfMemory,
        Ended::Exited(_) | Ended::Signaled(_) | Ended::Cancelled { .. } => return None,
    };
    Some(bare(fault, String::new()))
}

/// A command that said nothing: what its exit code means, and that it was silent.
fn silent(input: &ReportInput<'_>, nothing_else: bool) -> Option<Found> {
    // What never began had no chance to say anything, and its code is selfheal's own.
    if !input.run.ended.began() {
        return None;
    }
    let step = locate::failing_step(input, None);
    let seen = step.and_then(|step| step.status).filter(|status| *status != 0);
    let code = seen.unwrap_or_else(|| input.run.ended.code());
    let words: Vec<String> = match step {
        Some(step) => step.words.clone(),
        None => input.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
    };
    let meaning = match meaning(input, &words, code) {
        Outcome::Negative { meaning } => format!(", an answer and no error: {meaning}"),
        Outcome::Failed { meaning: Some(meaning), .. } => format!(": {meaning}"),
        Outcome::Failed { meaning: None, .. } | Outcome::Succeeded => String::new(),
    };
    let who = if locate::is_exit(&words) { "the script itself".to_owned() } else { words.join(" ") };
    let text = format!("{} ended with code {code}{meaning}", parsers::cut(&who, 160));
    let said_nothing = nothing_else || input.run.stderr.total == 0 || step.is_some();
    said_nothing.then(|| bare(Fault::SilentExit { code }, text))
}

/// What an exit code of a command means.
pub(crate) fn meaning(input: &ReportInput<'_>, words: &[String], code: i32) -> Outcome {
    static PROFILES: LazyLock<Profiles> = LazyLock::new(Profiles::builtin);
    let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
    input.profiles.unwrap_or(&PROFILES).interpret_code(&argv, code)
}

pub(crate) fn bare(fault: Fault, text: String) -> Found {
    let weight = class::weight(&fault);
    Found { fault, spots: Vec::new(), tool: None, text, order: usize::MAX, weight, class: None }
}
