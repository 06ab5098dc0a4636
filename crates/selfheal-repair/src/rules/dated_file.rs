//! # One file became one for each day or month
//!
//! ## What it finds
//! A shell script reads a file that is not there, and one folder of the job's own holds files of that name with a date in
//! it: `error-2024-05.log` for `error.log`. A variable of the script has the date.
//!
//! ## Why it fails
//! The program that writes the file was changed to begin a new one each day or month.
//!
//! ## Fix
//! The script names the file with its own variable for the date.
//!
//! ## Example
//! ```sh
//! log=gateway/log/error.log
//! ```
//! ```sh
//! log=gateway/logs/error-$month.log
//! ```
//!
//! ## Safety
//! Only when the variable was set before and has, in the failing run, the date of a file that is there; of a day it takes
//! the month where the files are one a month. A date without a file still fails. It changes what is read, so the risk is
//! medium.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::scene::Kind;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::folders::is_aside;
use crate::shell::{Script, Values, splice};

rule!(DatedFile, "dated_file", Unsafe, propose);

/// Folders that are looked into, at most.
const MOST_FOLDERS: usize = 200;

/// Files of one name but for a date.
struct Dated {
    folder: PathBuf,
    /// What stands before and behind the date.
    head: String,
    tail: String,
    dates: Vec<String>,
}

fn propose(case: &Case) -> Vec<Candidate> {
    let paths = case.faults().filter_map(|fault| match fault {
        Fault::NoSuchPath { path } => Some(path.clone()),
        _ => None,
    });
    paths.filter_map(|path| named(case, &path)).take(1).collect()
}

fn named(case: &Case, path: &Path) -> Option<Candidate> {
    let old = path.to_string_lossy().into_owned();
    if case.find(path).is_some() || crate::globs::is_pattern(&old) {
        return None;
    }
    let dated = dated(case, path)?;
    let shells = case.files().into_iter().filter(|file| file.language.is_shell());
    shells.into_iter().find_map(|file| in_script(case, &file, path, &dated))
}

fn in_script(case: &Case, file: &ScriptFile, path: &Path, dated: &Dated) -> Option<Candidate> {
    let old = path.to_string_lossy().into_owned();
    let script = Script::new(&file.text);
    let at = file.text.find(&old).filter(|at| {
        let line = script.get(&(script.line_start(*at)..*at));
        !line.contains(['#', '\''])
    })?;
    let values = Values::new(case, &script, file.folder());
    let set = script.assignments().filter(|(_, value, _)| value.end <= at).map(|(name, ..)| name);
    let read =
        script.commands.iter().filter(|command| script.name(command) == "read" && command.span.end <= at);
    let read =
        read.flat_map(|command| script.words(command)).filter(|word| word.chars().all(crate::text::is_name));
    let date = set.chain(read).find_map(|name| {
        let seen = case.trace.and_then(|trace| trace.value(name)).map(str::to_owned);
        let seen =
            seen.or_else(|| values.variable(name)).or_else(|| first_word(case, &script, &values, name));
        with_date(name, &seen?, &dated.dates)
    })?;
    let folder = match path.is_absolute() {
        true => dated.folder.clone(),
        false => dated.folder.strip_prefix(case.base()).ok()?.to_path_buf(),
    };
    let new = folder.join(format!("{}{date}{}", dated.head, dated.tail)).to_string_lossy().into_owned();
    let shown = folder.join(format!("{}…{}", dated.head, dated.tail)).display().to_string();
    Draft::new(
        "dated_file",
        format!("{old} is not there; there is one file for each date: {shown}"),
        "name the file with the date that the script has",
    )
    .evidence(format!("{} files of that name with a date", dated.dates.len()))
    .meaning()
    .rewrite(file, splice(&file.text, vec![(at..at + old.len(), new.clone())]), format!("{new} for {old}"))
    .done()
}

/// The first word of the file that `read NAME < FILE` reads.
fn first_word(case: &Case, script: &Script<'_>, values: &Values<'_>, name: &str) -> Option<String> {
    let reads = |command: &&crate::shell::Command| {
        script.name(command) == "read" && script.words(command).last().is_some_and(|word| *word == name)
    };
    let command = script.commands.iter().find(reads)?;
    let (_, target) = command.redirects.iter().find(|(operator, _)| script.get(operator) == "<")?;
    let bytes = case.scene.read(&case.find(Path::new(&values.word(script.get(target))?))?, 4096)?;
    String::from_utf8_lossy(&bytes).split_whitespace().next().map(str::to_owned)
}

/// How a variable gives a date that there is a file of.
fn with_date(name: &str, value: &str, dates: &[String]) -> Option<String> {
    if dates.iter().any(|date| date == value) {
        return Some(format!("${{{name}}}"));
    }
    let month = value.rsplit_once('-').filter(|_| is_date(value)).map(|(month, _)| month)?;
    dates.iter().any(|date| date == month).then(|| format!("${{{name}%-*}}"))
}

/// `2024`, `2024-05`, `2024-05-31`, `20240531`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = parts.iter().all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()));
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    digits && matches!(lengths.as_slice(), [4 | 6 | 8] | [4, 2] | [4, 2, 2])
}

/// The files of a name with a date, where one folder alone has them.
fn dated(case: &Case, path: &Path) -> Option<Dated> {
    let stem = path.file_stem()?.to_string_lossy().into_owned();
    let tail = path.extension().map_or(String::new(), |ending| format!(".{}", ending.to_string_lossy()));
    let base = case.base();
    let mut waiting = vec![base.clone()];
    let mut found: Vec<Dated> = Vec::new();
    let mut seen = 0;
    while let Some(folder) = waiting.pop() {
        seen += 1;
        if seen > MOST_FOLDERS || !case.owns(&folder) || is_aside(&base, &folder) {
            continue;
        }
        for entry in case.scene.names(&folder) {
            let place = folder.join(&entry);
            match case.scene.facts(&place).map(|facts| facts.kind) {
                Some(Kind::Directory) if !entry.starts_with('.') && waiting.len() < MOST_FOLDERS => {
                    waiting.push(place)
                }
                Some(Kind::File) => {
                    let Some((head, date)) = parts(&entry, &stem, &tail) else { continue };
                    match found.iter_mut().find(|known| known.folder == folder && known.head == head) {
                        Some(known) => known.dates.push(date),
                        None => {
                            found.push(Dated {
                                folder: folder.clone(),
                                head,
                                tail: tail.clone(),
                                dates: vec![date],
                            });
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let only = found.pop()?;
    found.is_empty().then_some(only)
}

/// What stands before the date in a name, and the date.
fn parts(name: &str, stem: &str, tail: &str) -> Option<(String, String)> {
    let inner = name.strip_prefix(stem)?.strip_suffix(tail)?;
    let mark = inner.chars().next().filter(|mark| matches!(mark, '-' | '_' | '.'))?;
    let date = inner.get(1..)?;
    is_date(date).then(|| (format!("{stem}{mark}"), date.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    fn case(text: &str, scene: TestScene) -> TestCase {
        TestCase::new("x.sh", text, scene).fault(no_such("gw/error.log")).at(2)
    }

    fn months() -> TestScene {
        TestScene::new().file("gw/logs/error-2024-04.log", "a").file("gw/logs/error-2024-05.log", "b")
    }

    #[test]
    fn names_the_file_with_the_date_of_the_script() {
        assert_eq!(
            case("month=2024-05\nlog=gw/error.log\n", months()).healed(&DatedFile),
            "month=2024-05\nlog=gw/logs/error-${month}.log\n"
        );
        assert_eq!(
            case("day=2024-05-02\ncat \"gw/error.log\"\n", months()).healed(&DatedFile),
            "day=2024-05-02\ncat \"gw/logs/error-${day%-*}.log\"\n"
        );
    }

    #[test]
    fn knows_a_date_that_was_read() {
        let values = std::collections::BTreeMap::from([("month".to_owned(), "2024-05".to_owned())]);
        let frame = selfheal_core::trace::Frame { values, ..Default::default() };
        let trace = selfheal_core::trace::Trace { frames: vec![frame], ..Default::default() };
        let text = "read -r month < month\ncat gw/error.log\n";
        let healed = case(text, months()).trace(trace).healed(&DatedFile);
        assert!(healed.contains("cat gw/logs/error-${month}.log"), "{healed}");
    }

    #[test]
    fn knows_a_date_of_a_file_that_is_read() {
        let text = "read -r month < month\ncat gw/error.log\n";
        let healed = case(text, months().file("month", "2024-05\n")).healed(&DatedFile);
        assert!(healed.contains("cat gw/logs/error-${month}.log"), "{healed}");
    }

    #[test]
    fn needs_a_date_that_there_is_a_file_of() {
        assert!(case("month=2024-06\nlog=gw/error.log\n", months()).silent(&DatedFile));
        assert!(case("log=gw/error.log\nmonth=2024-05\n", months()).silent(&DatedFile));
        assert!(case("month=2024-05\nlog=gw/error.log\n", TestScene::new()).silent(&DatedFile));
        let two = months().file("old/error-2024-05.log", "x").file("b/error-2024-05.log", "y");
        assert!(case("month=2024-05\nlog=gw/error.log\n", two).silent(&DatedFile));
    }
}
