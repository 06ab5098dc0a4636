//! # CRLF line ends
//!
//! ## What it finds
//! A script, a file that it reads settings from, or a step that it starts, has the line ends of another system (CRLF), and
//! the failure shows it: a carriage return in a word, in an interpreter's name, or where a syntax error is.
//!
//! ## Why it fails
//! To a shell the carriage return is part of the last word of a line: `set -e\r` names no option, `OUT=lists\r` names
//! another folder, `#!/bin/bash\r` another interpreter.
//!
//! ## Fix
//! The carriage returns before line ends are taken away in the job's scripts and in the files that they source. Others
//! that the failure names are mended, too.
//!
//! ## Example
//! ```text
//! set -e\r
//! . ./settings.conf\r
//! ```
//! ```text
//! set -e
//! . ./settings.conf
//! ```
//!
//! ## Safety
//! Only carriage returns right before a line end go, and only in files of the job's own folders that are text. A file in
//! which only some lines have them is left alone unless the failure names it. Data files are left alone unless the
//! failure names them. Where a loop of the script reads such a list, the script takes the carriage return away, which
//! counts as a change of what is read.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::shell::{Block, BlockKind, Script, Values, splice};

rule!(CarriageReturns, "carriage_returns", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let Some(named) = named_files(case) else { return Vec::new() };
    let mut files: Vec<ScriptFile> = Vec::new();
    for path in &named {
        if let Some(file) = case.file(path).filter(|file| file.text.contains("\r\n"))
            && !files.iter().any(|known| known.path == file.path)
        {
            files.push(file);
        }
    }
    for file in case.files().into_iter().chain(sourced(case)).chain(steps(case)) {
        let known = files.iter().any(|known| known.path == file.path);
        let read_by_shell = file.language != Language::Other || is_sourced(case, &file.path);
        if !known && read_by_shell && all_lines(&file.text) {
            files.push(file);
        }
    }
    let Some(first) = files.first() else { return in_loops(case).into_iter().collect() };
    let cause =
        format!("{} has CRLF line ends; the carriage returns became part of words", shown(&first.path));
    let mut draft =
        Draft::new("carriage_returns", cause, "take the carriage returns before the line ends away");
    for file in &files {
        let count = file.text.matches("\r\n").count();
        draft = draft.evidence(format!("{count} lines of {} end in CRLF", shown(&file.path)));
        draft = draft.rewrite(
            file,
            file.text.replace("\r\n", "\n"),
            format!("{}: LF line ends", shown(&file.path)),
        );
    }
    // The word that the failure shows may come from a list that a loop reads.
    let script = case.script.filter(|script| !files.iter().any(|file| file.path == script.path));
    let found =
        script.filter(|_| shows_return(case)).and_then(|file| Some((file, loops_over_lists(case, file)?)));
    if let Some((script, found)) = found {
        let how = format!("line {}: the last field without it", found.lines.join(", "));
        draft = draft.meaning().rewrite(script, splice(&script.text, found.parts), how);
    }
    draft.done().into_iter().collect()
}

/// Whether the failure shows a word with a carriage return: bash writes `25\r: syntax error`.
fn shows_return(case: &Case) -> bool {
    ["\r", "\\r:", "\\r\"", "\\r'"].iter().any(|shown| case.report.core_error.contains(shown))
}

fn shown(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The files that the failure points at; `None` when it shows no carriage return.
fn named_files(case: &Case) -> Option<Vec<PathBuf>> {
    let mut seen = false;
    let mut paths: Vec<PathBuf> = Vec::new();
    let location = case.report.location.as_ref().map(|place| place.file.clone());
    for fault in case.faults() {
        match fault {
            Fault::CarriageReturn { path } => {
                seen = true;
                paths.extend(path.clone());
            }
            Fault::BadInterpreter { script, interpreter } if interpreter.contains('\r') => {
                seen = true;
                paths.push(script.clone());
            }
            Fault::BadInterpreter { script, .. } | Fault::NotExecutable { path: script } => {
                paths.push(script.clone())
            }
            Fault::NoSuchPath { path } if has_return(&path.to_string_lossy()) => seen = true,
            Fault::CommandNotFound { name } if has_return(name) => seen = true,
            Fault::UnknownOption { option, .. } if has_return(option) => seen = true,
            Fault::BadValue { value: Some(value), .. } if has_return(value) => seen = true,
            Fault::Syntax { near: Some(near), .. } if has_return(near) => seen = true,
            // The end of the file comes too early, or a word is odd: the script's own line ends decide.
            Fault::Syntax { .. }
            | Fault::CommandNotFound { .. }
            | Fault::BadValue { .. }
            | Fault::Other { .. } => {}
            _ => {}
        }
    }
    seen |= shows_return(case);
    let script_has =
        case.files().iter().any(|file| file.language != Language::Other && all_lines(&file.text));
    paths.extend(location);
    let paths = paths.iter().filter_map(|path| case.find(path)).filter(|path| case.owns(path)).collect();
    let any = seen || script_has || sourced(case).iter().any(|file| all_lines(&file.text));
    any.then_some(paths)
}

fn has_return(text: &str) -> bool {
    text.contains('\r') || text.ends_with("^M") || text.ends_with("\\r")
}

/// Whether nearly all lines end in CRLF, as after an editor or a transfer of another system.
fn all_lines(text: &str) -> bool {
    let (returns, lines) = (text.matches("\r\n").count(), text.matches('\n').count());
    returns > 0 && returns * 10 >= lines * 9
}

/// The files that the job's shell scripts source.
fn sourced(case: &Case) -> Vec<ScriptFile> {
    let mut out: Vec<ScriptFile> = Vec::new();
    for file in case.files().iter().filter(|file| file.language.is_shell()).take(5) {
        let text = file.text.replace("\r\n", "\n");
        let script = Script::new(&text);
        let values = Values::new(case, &script, file.folder());
        for command in script.commands.iter().filter(|c| matches!(script.name(c).as_str(), "." | "source")) {
            let word = script.words(command).get(1).and_then(|word| values.word(word));
            out.extend(word.and_then(|word| case.find(Path::new(&word))).and_then(|path| case.file(&path)));
        }
    }
    out
}

/// The files of the job that its shell scripts start by a path, and whose first line names an interpreter.
fn steps(case: &Case) -> Vec<ScriptFile> {
    let mut out: Vec<ScriptFile> = Vec::new();
    for file in case.files().iter().filter(|file| file.language.is_shell()).take(5) {
        let script = Script::new(&file.text);
        let values = Values::new(case, &script, file.folder());
        for command in &script.commands {
            let first = script.words(command).first().copied().filter(|word| word.contains('/'));
            let step = first.and_then(|word| values.word(word)).and_then(|word| case.find(Path::new(&word)));
            let step = step.and_then(|path| case.file(&path)).filter(|step| step.text.starts_with("#!"));
            out.extend(step.filter(|step| !out.iter().any(|known| known.path == step.path)));
        }
    }
    out
}

/// Loops that read a list with CRLF line ends, which is somebody's data: the script takes the carriage return away itself.
fn in_loops(case: &Case) -> Option<Candidate> {
    let file = case.failing_file()?;
    let Loops { parts, lists, lines } = loops_over_lists(case, &file)?;
    let list = lists.first()?;
    Draft::new(
        "carriage_returns",
        format!("{} has CRLF line ends; the carriage return became part of the last field", shown(list)),
        "take the carriage return away from what is read",
    )
    .evidence(format!("the lines of {} end in CRLF", shown(list)))
    .meaning()
    .rewrite(
        &file,
        splice(&file.text, parts),
        format!("line {}: the last field without it", lines.join(", ")),
    )
    .done()
}

/// The loops of a script that read lists with CRLF line ends: the edits, the lists and the lines.
struct Loops {
    parts: Vec<(std::ops::Range<usize>, String)>,
    lists: Vec<PathBuf>,
    lines: Vec<String>,
}

fn loops_over_lists(case: &Case, file: &ScriptFile) -> Option<Loops> {
    if !file.language.is_shell() {
        return None;
    }
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    let (mut parts, mut lists, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for block in script.blocks.iter().filter(|block| block.kind == BlockKind::While) {
        let Some(name) = last_name(&script, block) else { continue };
        let Some(list) = list_of(case, &script, &values, block) else { continue };
        let end = if file.language == Language::Bash { "$'\\r'" } else { "\"$(printf '\\r')\"" };
        parts.push(script.put_first(block, &format!("{name}=${{{name}%{end}}}")));
        lines.push(script.line_of(block.span.start).to_string());
        lists.push(list);
    }
    (!lists.is_empty()).then_some(Loops { parts, lists, lines })
}

/// The last variable that the `read` of a loop fills.
fn last_name(script: &Script<'_>, block: &Block) -> Option<String> {
    let inside = |at: usize| block.span.start < at && at < block.body;
    let read = script.commands.iter().find(|c| inside(c.span.start) && script.name(c) == "read")?;
    let words = script.words(read);
    let odd =
        words.iter().any(|word| word.starts_with("-a") || word.starts_with("-d") || word.starts_with("-n"));
    let last = words.last().filter(|_| !odd && words.len() > 1)?;
    (!last.starts_with('-') && last.chars().all(crate::text::is_name)).then(|| (*last).to_owned())
}

/// The file with CRLF line ends that a loop reads, by a redirection or from `cat`.
fn list_of(case: &Case, script: &Script<'_>, values: &Values<'_>, block: &Block) -> Option<PathBuf> {
    let gap = |from: usize, to: usize| script.text.get(from..to).unwrap_or_default().trim().to_owned();
    let behind = script.commands.iter().find(|command| {
        command.words.is_empty()
            && command.span.start >= block.span.end
            && gap(block.span.end, command.span.start).is_empty()
    });
    let redirected =
        behind.into_iter().flat_map(|command| &command.redirects).find(|(o, _)| script.get(o) == "<");
    let feeder = script.commands.iter().find(|c| {
        c.after == "|" && c.span.end <= block.span.start && gap(c.span.end, block.span.start) == "|"
    });
    let fed = feeder.filter(|c| script.name(c) == "cat").and_then(|c| c.words.get(1));
    let word = redirected.map(|(_, target)| target).or(fed)?;
    let path = case.find(Path::new(&values.word(script.get(word))?))?;
    let text = String::from_utf8(case.scene.read(&path, crate::case::LARGEST)?).ok()?;
    all_lines(&text).then_some(path)
}

fn is_sourced(case: &Case, path: &Path) -> bool {
    sourced(case).iter().any(|file| file.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    #[test]
    fn mends_script_and_settings_together() {
        let scene =
            TestScene::new().file("stores.conf", "A=1\r\nOUT=lists\r\n").file("data.csv", "a\r\nb\r\n");
        let case =
            TestCase::new("x.sh", "#!/bin/bash\r\nset -e\r\n. ./stores.conf\r\ncat data.csv\r\n", scene)
                .fault(Fault::CarriageReturn { path: None });
        let candidates = case.ask(&CarriageReturns);
        let changes = &candidates[0].proposal.changes;
        assert_eq!(changes.len(), 2);
        assert!(changes.iter().all(|change| !change.after.as_ref().unwrap().contains(&b'\r')));
    }

    #[test]
    fn mends_a_step_whose_interpreter_has_a_return() {
        let scene = TestScene::new().file("steps/one", "#!/bin/sh\r\necho\r\n");
        let fault = Fault::BadInterpreter { script: "steps/one".into(), interpreter: "/bin/sh\r".into() };
        let case = TestCase::new("x.sh", "steps/one\n", scene).fault(fault);
        assert_eq!(case.healed(&CarriageReturns), "#!/bin/sh\necho\n");
    }

    #[test]
    fn mends_steps_of_other_languages() {
        let scene = TestScene::new().file("tools/sum.py", "#!/usr/bin/env python3\r\nprint(1)\r\n");
        let case =
            TestCase::new("x.sh", "./tools/sum.py < in\n", scene).fault(Fault::CarriageReturn { path: None });
        assert_eq!(case.healed(&CarriageReturns), "#!/usr/bin/env python3\nprint(1)\n");
    }

    #[test]
    fn loops_take_the_return_away_from_lists() {
        let ask = |text: &str, list: &str| {
            TestCase::new("x.sh", text, TestScene::new().file("hosts.csv", list))
                .fault(no_such("t/web\r"))
                .at(2)
        };
        let text = "while IFS=, read -r host kind; do\n  cp \"t/$kind\" \"$host\"\ndone < hosts.csv\n";
        assert_eq!(
            ask(text, "a,web\r\n").healed(&CarriageReturns),
            text.replace("do\n", "do\n  kind=${kind%$'\\r'}\n")
        );
        let text = "#!/bin/sh\ncat hosts.csv | while read -r one; do cp \"$one\" x; done\n";
        assert_eq!(
            ask(text, "a\r\nb\r\n").healed(&CarriageReturns),
            text.replace("do cp", "do one=${one%\"$(printf '\\r')\"}; cp")
        );
        assert!(ask(text, "a\nb\n").silent(&CarriageReturns));
    }

    #[test]
    fn settings_and_the_list_of_a_loop_are_mended_together() {
        let scene = || TestScene::new().file("p.env", "N=3\r\nM=4\r\n").file("h.lst", "a 25\r\nb 80\r\n");
        let text = ". ./p.env\nwhile read -r h p; do\n  d=$((p % N))\ndone < h.lst\n";
        let mut case = TestCase::new("x.sh", text, scene()).fault(Fault::CarriageReturn { path: None }).at(3);
        case.report.core_error = "x.sh: line 3: 25\\r: syntax error".to_owned();
        assert_eq!(case.ask(&CarriageReturns)[0].proposal.changes.len(), 2);
        let case = TestCase::new("x.sh", text, scene()).fault(Fault::CarriageReturn { path: None }).at(3);
        assert_eq!(case.ask(&CarriageReturns)[0].proposal.changes.len(), 1);
    }

    #[test]
    fn mends_settings_whose_values_end_in_returns() {
        let scene = TestScene::new().file("job.env", "DIR=in\r\nOUT=out\r\n").folder("in");
        let case = TestCase::new("x.sh", "source \"$(dirname \"$0\")/job.env\"\ncd \"$DIR\"\n", scene)
            .fault(no_such("in\r"));
        assert_eq!(case.healed(&CarriageReturns), "DIR=in\nOUT=out\n");
    }

    #[test]
    fn leaves_data_and_other_failures_alone() {
        let scene = TestScene::new().file("data.csv", "a\r\nb\r\n");
        let case = TestCase::new("x.sh", "cat data.csv\n", scene).fault(no_such("out/x"));
        assert!(case.silent(&CarriageReturns));
    }
}
