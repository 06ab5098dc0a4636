//! The probe for dash: `sh FILE` becomes `sh -x FILE`, with a trace prompt that no job prints, and the trace is taken
//! out of standard error again. dash does not quote what it traces, so words with blanks cannot be told apart, and most
//! builds of it do not know line numbers: a step has one only where the script names its command once. Such a trace is
//! never complete and tells no lines. Pure.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use selfheal_core::run::Capture;
use selfheal_core::scene::absolute;
use selfheal_core::trace::{Frame, Step};

use super::bash::Ending;
use super::{Findings, shortened};

/// How many files that a script reads in are looked at.
const MOST_READ_IN: usize = 10;

/// Where a command runs a script with dash, and how: the position of the script in its words. Options may stand before
/// it; the text behind `-c` is a script without a file.
pub(crate) fn script_at(argv: &[OsString], first_line: Option<&str>) -> Option<Call> {
    let name = |word: &OsString| Path::new(word).file_name()?.to_str().map(str::to_owned);
    let first = argv.first()?;
    if matches!(name(first)?.as_str(), "sh" | "dash") {
        return after_options(first, argv);
    }
    let shell = first_line?.strip_prefix("#!")?.trim();
    let (shell, option) =
        shell.split_once(' ').map_or((shell, None), |(shell, option)| (shell, Some(option)));
    let known = matches!(shell, "/bin/sh" | "/bin/dash" | "/usr/bin/sh" | "/usr/bin/dash");
    let plain = option.is_none_or(is_plain_option);
    (known && plain).then(|| Call {
        shell: shell.into(),
        options: option.map(OsString::from).into_iter().collect(),
        script: first.clone(),
        words: 1,
        text: String::new(),
        sourced: Vec::new(),
    })
}

fn after_options(shell: &OsString, argv: &[OsString]) -> Option<Call> {
    let rest = argv.get(1..)?;
    let options = rest.iter().take_while(|word| word.to_str().is_some_and(is_plain_option)).count();
    let script = rest.get(options)?;
    let call = |options: &[OsString], script: &OsString, words: usize, text: String| Call {
        shell: shell.clone(),
        options: options.to_vec(),
        script: script.clone(),
        words,
        text,
        sourced: Vec::new(),
    };
    if script.to_str() == Some("-c") {
        let command = rest.get(options + 1)?;
        let text = command.to_string_lossy().into_owned();
        return Some(call(rest.get(..=options)?, &OsString::new(), options + 2, text));
    }
    let plain = !script.to_str().is_some_and(|word| word.starts_with(['-', '+']));
    plain.then(|| call(rest.get(..options).unwrap_or_default(), script, options + 2, String::new()))
}

/// An option that only sets how the shell behaves.
fn is_plain_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| {
        !letters.is_empty()
            && letters.chars().all(|letter| matches!(letter, 'e' | 'u' | 'x' | 'f' | 'C' | 'a'))
    })
}

/// A script that is run by dash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub shell: OsString,
    /// What stands between the shell and the script.
    options: Vec<OsString>,
    /// The script; empty where it has no file.
    pub script: OsString,
    /// How many words of the command come before the script's own arguments, the text of `-c` not counted.
    words: usize,
    /// The script's text, as far as it was read.
    pub text: String,
    /// The files that it reads in, with their texts.
    pub sourced: Vec<(PathBuf, String)>,
}

impl Call {
    /// The command with the trace turned on.
    pub(crate) fn traced(&self, argv: &[OsString]) -> Vec<OsString> {
        let script = Some(&self.script).filter(|script| !script.is_empty());
        let head = [self.shell.clone(), "-x".into()].into_iter();
        let middle = self.options.iter().cloned().chain(script.cloned());
        head.chain(middle).chain(argv.iter().skip(self.words).cloned()).collect()
    }
}

/// The trace prompt.
pub(crate) fn prompt(token: &str) -> String {
    format!("\u{1e}{token}\u{1f}${{LINENO:-0}}\u{1f}")
}

/// Takes the trace out of standard error; gives it.
pub(crate) fn take_out(stderr: &mut Capture, token: &str) -> Vec<(u32, String)> {
    let mark = format!("\u{1e}{token}\u{1f}");
    let mut traced = Vec::new();
    let mut rest: Vec<u8> = Vec::new();
    let whole = [stderr.head.as_slice(), stderr.tail.as_slice()].concat();
    for line in whole.split_inclusive(|byte| *byte == b'\n') {
        match find(line, mark.as_bytes()) {
            None => rest.extend_from_slice(line),
            Some(at) => {
                rest.extend_from_slice(line.get(..at).unwrap_or_default());
                let text =
                    String::from_utf8_lossy(line.get(at + mark.len()..).unwrap_or_default()).into_owned();
                if let Some((number, command)) = text.trim_end().split_once('\u{1f}') {
                    traced.push((number.parse().unwrap_or(0), command.to_owned()));
                }
            }
        }
    }
    let lost = stderr.total.saturating_sub(whole.len() as u64);
    *stderr = Capture { total: rest.len() as u64 + lost, head: rest, tail: Vec::new() };
    traced
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// Keeps so many bytes of each end.
pub(crate) fn bound(stream: &mut Capture, keep: usize) {
    if stream.head.len() > keep {
        let mut rest = stream.head.split_off(keep);
        let over = rest.len().saturating_sub(keep);
        stream.tail = rest.split_off(over);
    }
}

/// Sums up: the last command is the one that failed.
pub(crate) fn findings(call: &Call, cwd: &Path, traced: Vec<(u32, String)>, ending: &Ending<'_>) -> Findings {
    let named = !call.script.is_empty();
    let file: PathBuf = if named { absolute(cwd, Path::new(&call.script)) } else { PathBuf::new() };
    let texts: Vec<(&PathBuf, &str)> = std::iter::once((&file, call.text.as_str()))
        .chain(call.sourced.iter().map(|(file, text)| (file, text.as_str())))
        .collect();
    let places = places(&texts);
    let place =
        |words: &[String]| words.first().and_then(|word| places.get(word.as_str()).copied().flatten());
    let steps: Vec<Step> = traced
        .into_iter()
        .map(|(line, text)| {
            let words: Vec<String> = text.split(' ').filter(|word| !word.is_empty()).map(shortened).collect();
            let found = place(&words).and_then(|(at, line)| Some((texts.get(at)?.0.clone(), line)));
            // The number that the shell gives counts in whatever file it reads just now.
            let (file, line) = match (line, found) {
                (0, found) => found.unwrap_or((file.clone(), 0)),
                (line, Some((file, same))) if line == same => (file, line),
                (line, _) => (file.clone(), line),
            };
            Step { file, line, words, status: None }
        })
        .collect();
    let mut steps = steps;
    let mut findings = Findings::default();
    if let Some(line) = line_in_message(ending.stderr, call) {
        match steps.last_mut().filter(|last| last.line == line || last.line == 0) {
            Some(last) => last.line = line,
            // The shell stopped at something that it could not read as a command.
            None => steps.push(Step { file: file.clone(), line, words: Vec::new(), status: None }),
        }
    }
    if ending.code != 0
        && let Some(last) = steps.last()
    {
        findings.failing = Some(steps.len() - 1);
        let source = last.words.join(" ");
        let (file, line) = (last.file.clone(), last.line);
        findings.frames = vec![Frame { file, line, function: "main".into(), source, ..Frame::default() }];
    }
    findings.steps = steps;
    findings
}

/// The line number in the last message of dash about the script: `SCRIPT: N: …`. A test that cannot be made counts as false
/// and the script goes on, so what is said after `[: ` ends it only where nothing else is said later.
fn line_in_message(stderr: &str, call: &Call) -> Option<u32> {
    let prefix =
        format!("{}: ", Some(call.script.to_str()?).filter(|name| !name.is_empty()).or(call.shell.to_str())?);
    let mut said = stderr.lines().rev().filter(|line| !line.trim().is_empty()).enumerate();
    said.find_map(|(later, line)| {
        let (number, message) = line.strip_prefix(&prefix)?.split_once(": ")?;
        (later == 0 || !message.starts_with("[: ")).then(|| number.parse().ok()).flatten()
    })
}

/// Each word of the texts with the text and the line that it is on, where that is only one.
fn places<'t>(texts: &[(&PathBuf, &'t str)]) -> HashMap<&'t str, Option<(usize, u32)>> {
    let mut places: HashMap<&str, Option<(usize, u32)>> = HashMap::new();
    let lines = texts.iter().enumerate().flat_map(|(at, (_, text))| {
        (1_u32..).zip(text.lines()).map(move |(number, line)| ((at, number), line))
    });
    for (here, line) in lines {
        let code = if line.trim_start().starts_with('#') { "" } else { line };
        for word in code.split(|c: char| c.is_whitespace() || "();|&`$\"'".contains(c)) {
            places
                .entry(word)
                .and_modify(|place| *place = place.filter(|seen| *seen == here))
                .or_insert(Some(here));
        }
    }
    places
}

/// The files that a text reads in by their plain names.
pub(crate) fn read_in(text: &str) -> Vec<&str> {
    let names = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next().filter(|word| *word == ".").and_then(|_| words.next())?;
        let name = name.trim_end_matches(';').trim_matches(['"', '\'']);
        (!name.is_empty() && !name.contains(['$', '`', '*'])).then_some(name)
    });
    names.take(MOST_READ_IN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn finds_scripts_that_dash_runs() {
        let call = script_at(&words(&["sh", "a.sh", "x"]), None).unwrap();
        assert_eq!(call.traced(&words(&["sh", "a.sh", "x"])), words(&["sh", "-x", "a.sh", "x"]));
        let call = script_at(&words(&["./a.sh", "x"]), Some("#!/bin/sh")).unwrap();
        assert_eq!(call.traced(&words(&["./a.sh", "x"])), words(&["/bin/sh", "-x", "./a.sh", "x"]));
        let call = script_at(&words(&["dash", "-eu", "a.sh", "x"]), None).unwrap();
        assert_eq!(
            call.traced(&words(&["dash", "-eu", "a.sh", "x"])),
            words(&["dash", "-x", "-eu", "a.sh", "x"])
        );
        let call = script_at(&words(&["./a.sh", "x"]), Some("#!/bin/sh -e")).unwrap();
        assert_eq!(call.traced(&words(&["./a.sh", "x"])), words(&["/bin/sh", "-x", "-e", "./a.sh", "x"]));
        let call = script_at(&words(&["sh", "-ec", "cp a b"]), None);
        assert_eq!(call, None);
        let call = script_at(&words(&["sh", "-e", "-c", "cp a b", "name"]), None).unwrap();
        assert_eq!(
            call.traced(&words(&["sh", "-e", "-c", "cp a b", "name"])),
            words(&["sh", "-x", "-e", "-c", "cp a b", "name"])
        );
        for (argv, line) in
            [(&["sh", "-s", "x"][..], None), (&["sh", "-o", "x"], None), (&["./a"], Some("#!/bin/bash"))]
        {
            assert_eq!(script_at(&words(argv), line), None);
        }
    }

    #[test]
    fn a_step_has_a_line_where_its_command_is_named_once() {
        let mut call = script_at(&words(&["sh", "a.sh"]), None).unwrap();
        call.text = "# cp\ncp a b\necho x\n$(echo y)\n".to_owned();
        let traced = vec![(0, "cp a b".to_owned()), (0, "echo x".to_owned())];
        let found = findings(&call, Path::new("/w"), traced.clone(), &Ending { code: 1, stderr: "" });
        assert_eq!(found.steps.iter().map(|step| step.line).collect::<Vec<_>>(), [2, 0]);
        assert_eq!((found.failing, found.lines.len()), (Some(1), 0));
        let stderr = "a.sh: 4: Syntax error: \"(\" unexpected\n";
        let found = findings(&call, Path::new("/w"), traced[..1].to_vec(), &Ending { code: 2, stderr });
        assert_eq!((found.failing, found.steps[1].line), (Some(1), 4));
    }

    #[test]
    fn a_test_that_counts_as_false_is_not_the_end() {
        let call = script_at(&words(&["sh", "a.sh"]), None).unwrap();
        let traced = || vec![(0, "[ 2 == 0 ]".to_owned()), (0, "mv a b".to_owned())];
        let stderr = "a.sh: 3: [: 2: unexpected operator\nmv: cannot stat 'a'\n";
        let found = findings(&call, Path::new("/w"), traced(), &Ending { code: 1, stderr });
        assert_eq!((found.failing, found.steps[1].words[0].as_str()), (Some(1), "mv"));
        let stderr = "a.sh: 3: [: 2: unexpected operator\n";
        let found = findings(&call, Path::new("/w"), traced(), &Ending { code: 2, stderr });
        assert_eq!(found.steps.last().unwrap().line, 3);
    }

    #[test]
    fn a_step_may_be_of_a_file_that_the_script_reads_in() {
        let mut call = script_at(&words(&["sh", "a.sh"]), None).unwrap();
        call.text = "set -e\n. ./lib.sh\ncheck 3\n".to_owned();
        assert_eq!(read_in(&call.text), ["./lib.sh"]);
        call.sourced = vec![("/w/lib.sh".into(), "check() {\n  test \"$1\" -lt 3\n}\n".to_owned())];
        let traced = vec![(0, "check 3".to_owned()), (0, "test 3 -lt 3".to_owned())];
        let found = findings(&call, Path::new("/w"), traced, &Ending { code: 1, stderr: "" });
        let last = &found.steps[1];
        assert_eq!((last.file.as_path(), last.line), (Path::new("/w/lib.sh"), 2));
        assert_eq!(found.frames[0].file, Path::new("/w/lib.sh"));
    }

    #[test]
    fn takes_the_trace_out_of_standard_error() {
        let text = b"one\n\x1eT\x1f3\x1fcp a b\ncp: no\n".to_vec();
        let mut stderr = Capture { total: text.len() as u64, head: text, tail: Vec::new() };
        assert_eq!(take_out(&mut stderr, "T"), [(3, "cp a b".to_owned())]);
        assert_eq!((stderr.text(), stderr.total), ("one\ncp: no\n".to_owned(), 11));
        bound(&mut stderr, 3);
        assert_eq!((stderr.head.as_slice(), stderr.tail.as_slice()), (&b"one"[..], &b"no\n"[..]));
    }
}
