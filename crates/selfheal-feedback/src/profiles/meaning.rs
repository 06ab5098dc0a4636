//! From a run to its outcome.

use std::ffi::OsString;

use selfheal_core::ids::{RunId, Timestamp};
use selfheal_core::outcome::{Class, Outcome};
use selfheal_core::run::{Capture, Ended, Run};

use super::documented;
use super::table::{Example, Kind, Meaning, Profile};
use super::{InterpretInput, Profiles};
use crate::inner::{Inner, look_through};

/// What a run means.
pub fn interpret(profiles: &Profiles, input: &InterpretInput<'_>) -> Outcome {
    match &input.run.ended {
        Ended::Exited(0) => Outcome::Succeeded,
        Ended::Exited(code) => exited(profiles, input, *code),
        Ended::Signaled(signal) => signaled(*signal),
        Ended::TimedOut { after_ms } => failed(
            Class::Transient,
            &format!("ended by selfheal after its deadline of {} s", after_ms / 1_000),
        ),
        Ended::Cancelled { signal, .. } => {
            failed(Class::Unknown, &format!("selfheal was told to stop (signal {signal})"))
        }
        Ended::InterpreterMissing { interpreter } => {
            failed(Class::Environment, &format!("the interpreter {interpreter} was not found"))
        }
        Ended::NotFound => failed(Class::Environment, "the command was not found"),
        Ended::NotExecutable { reason } => {
            failed(Class::Environment, &format!("the command cannot be executed: {reason}"))
        }
        Ended::NotStarted { reason } => {
            failed(Class::Environment, &format!("the command could not be started: {reason}"))
        }
    }
}

/// What a code of a command means by its profile alone.
pub fn by_code(profiles: &Profiles, argv: &[OsString], code: i32) -> Outcome {
    let run = run_with(code, "", "");
    interpret(profiles, &InterpretInput { argv, run: &run, script: None, trace: None })
}

fn exited(profiles: &Profiles, input: &InterpretInput<'_>, code: i32) -> Outcome {
    let inner = look_through(input.argv);
    let script = script_words(&inner.words);
    wrapper(&inner, code)
        .or_else(|| by_profile(profiles, script?, input.run, code))
        .or_else(|| by_profile(profiles, &inner.words, input.run, code))
        .or_else(|| documented::outcome(input, code))
        .unwrap_or_else(|| conventional(code))
}

/// Codes that come from a wrapper and not from the command.
fn wrapper(inner: &Inner, code: i32) -> Option<Outcome> {
    if inner.wrapper("timeout").is_some() && (code == 124 || code == 137) {
        return Some(failed(Class::Transient, "timeout ended the command at its limit"));
    }
    let lock = inner.wrapper("flock")?;
    let own = lock
        .iter()
        .zip(lock.iter().skip(1))
        .find(|(word, _)| matches!(word.as_str(), "-E" | "--conflict-exit-code"));
    let own = own.and_then(|(_, value)| value.parse::<i32>().ok());
    (own == Some(code)).then(|| failed(Class::Transient, "another process holds the lock"))
}

/// The script and its arguments behind an interpreter: `bash -e job.sh x` is `job.sh x`.
fn script_words(words: &[String]) -> Option<&[String]> {
    const INTERPRETERS: [&str; 11] =
        ["bash", "sh", "dash", "ksh", "zsh", "python", "perl", "ruby", "node", "php", "pypy"];
    let (first, rest) = words.split_first()?;
    let name =
        crate::words::base(first).trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let at = rest.iter().position(|word| !word.starts_with('-'))?;
    let code = rest.iter().take(at).any(|word| {
        !word.starts_with("--")
            && (word.ends_with('c') || word == "-e" && name != "bash" && name != "sh" || word == "-m")
    });
    rest.get(at..).filter(|_| INTERPRETERS.contains(&name) && !code)
}

fn by_profile(profiles: &Profiles, words: &[String], run: &Run, code: i32) -> Option<Outcome> {
    let fitting: Vec<&Profile> = profiles.all().filter(|profile| profile.fits(words)).collect();
    let name = words.first().map(|word| crate::words::base(word)).unwrap_or_default();
    // The more a profile asks for, the more it knows: `git diff --exit-code` before `git`.
    let most = fitting.iter().map(|profile| rank(profile)).max()?;
    let stderr = run.stderr.text();
    let stdout = run.stdout.text();
    let by_rank =
        (0..=most).rev().flat_map(|wanted| fitting.iter().filter(move |profile| rank(profile) == wanted));
    by_rank
        .flat_map(|profile| profile.codes.iter().map(move |meaning| (profile, meaning)))
        // The version last: to know it may take a process.
        .find(|(profile, meaning)| {
            meaning.code.get_ref().contains(&code)
                && condition(meaning, &stdout, &stderr)
                && profiles.holds(profile, name)
        })
        .map(|(_, meaning)| outcome(meaning))
}

fn rank(profile: &Profile) -> usize {
    profile.sub.len() * 2 + usize::from(!profile.needs.is_empty())
}

fn condition(meaning: &Meaning, stdout: &str, stderr: &str) -> bool {
    let holds = |texts: &[String], stream: &str| {
        texts.is_empty() || texts.iter().any(|text| stream.contains(text.as_str()))
    };
    holds(&meaning.stderr_contains, stderr)
        && holds(&meaning.stdout_contains, stdout)
        && (!meaning.silent || stderr.trim().is_empty())
}

fn outcome(meaning: &Meaning) -> Outcome {
    match meaning.outcome {
        Kind::Succeeded => Outcome::Succeeded,
        Kind::Negative => Outcome::Negative { meaning: meaning.meaning.clone() },
        Kind::Failed => failed(meaning.class.unwrap_or(Class::Unknown), &meaning.meaning),
    }
}

/// What codes mean by convention, whatever the command.
fn conventional(code: i32) -> Outcome {
    match code {
        124 => failed(Class::Transient, "a time limit ended a command (the code of timeout)"),
        // sysexits(3)
        69 => failed(Class::Transient, "a service is unavailable (EX_UNAVAILABLE)"),
        75 => failed(Class::Transient, "it may succeed later (EX_TEMPFAIL)"),
        126 => failed(Class::Environment, "a command was found but could not be executed"),
        127 => failed(Class::Environment, "a command was not found"),
        141 => failed(Class::Logic, "a command wrote into a pipe that nobody read any more (SIGPIPE)"),
        129..=192 => signaled(code - 128),
        _ => Outcome::Failed { class: Class::Unknown, meaning: None },
    }
}

/// Signals by number on Linux, with what they usually mean for a job.
fn signaled(signal: i32) -> Outcome {
    let (class, meaning) = match signal {
        1 => (Class::Transient, "SIGHUP: the terminal or session ended"),
        2 => (Class::Unknown, "SIGINT: interrupted"),
        3 => (Class::Unknown, "SIGQUIT"),
        4 => (Class::Environment, "SIGILL: the program was built for another processor"),
        6 => (Class::Unknown, "SIGABRT: the program gave up"),
        7 => (Class::Resource, "SIGBUS: a mapped file or device failed"),
        8 => (Class::Logic, "SIGFPE: arithmetic error"),
        9 => (Class::Resource, "SIGKILL: ended from outside, often because memory ran out"),
        11 => (Class::Unknown, "SIGSEGV: the program crashed"),
        13 => (Class::Logic, "SIGPIPE: nobody read its output any more"),
        14 => (Class::Transient, "SIGALRM: a timer ran out"),
        15 => (Class::Unknown, "SIGTERM: told to end"),
        24 => (Class::Resource, "SIGXCPU: the limit of processor time was reached"),
        25 => (Class::Resource, "SIGXFSZ: the limit of file size was reached"),
        31 => (Class::Environment, "SIGSYS: a system call was not allowed"),
        _ => return failed(Class::Unknown, &format!("ended by signal {signal}")),
    };
    failed(class, meaning)
}

fn failed(class: Class, meaning: &str) -> Outcome {
    Outcome::Failed { class, meaning: Some(meaning.to_owned()) }
}

/// Says how a profile contradicts an example, if it does.
pub fn contradiction(profiles: &Profiles, example: &Example) -> Option<String> {
    let argv: Vec<OsString> = example.argv.get_ref().split(' ').map(OsString::from).collect();
    let run = run_with(example.code, &example.stdout, &example.stderr);
    let outcome = interpret(profiles, &InterpretInput { argv: &argv, run: &run, script: None, trace: None });
    (!agrees(&outcome, example)).then(|| {
        format!(
            "example `{}` with code {} means {}",
            example.argv.get_ref(),
            example.code,
            in_words(&outcome)
        )
    })
}

/// An outcome as people say it.
pub(super) fn in_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Succeeded => "success".to_owned(),
        Outcome::Negative { meaning } => format!("an answer ({meaning})"),
        Outcome::Failed { class, meaning } => {
            let meaning = meaning.as_ref().map(|meaning| format!(" ({meaning})")).unwrap_or_default();
            format!("failure, {}{meaning}", class.word())
        }
    }
}

/// Whether an outcome is what an example says.
pub fn agrees(outcome: &Outcome, example: &Example) -> bool {
    match (outcome, example.outcome) {
        (Outcome::Succeeded, Kind::Succeeded) | (Outcome::Negative { .. }, Kind::Negative) => true,
        (Outcome::Failed { class, .. }, Kind::Failed) => example.class.is_none_or(|wanted| wanted == *class),
        _ => false,
    }
}

pub(super) fn run_with(code: i32, stdout: &str, stderr: &str) -> Run {
    let capture = |text: &str| Capture { head: text.into(), tail: Vec::new(), total: text.len() as u64 };
    Run {
        id: RunId::new("none"),
        started: Timestamp(0),
        duration_ms: 0,
        ended: Ended::Exited(code),
        stdout: capture(stdout),
        stderr: capture(stderr),
        peak_kib: None,
        left_running: Vec::new(),
        at_deadline: None,
    }
}
