//! Cheap second looks at a change, before anything of it runs: does it still parse, and does it touch what was reported?

use std::collections::BTreeSet;
use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::report::Report;
use selfheal_syntax::check::syntax_errors;
use selfheal_syntax::diff::changed_line_numbers;
use selfheal_syntax::language::Language;

use super::citations::cited_lines;
use super::clean;

/// Lines around the reported place that belong to it.
const NEAR: u32 = 3;
/// Lines around the reported place within which a change needs no reason of its own.
const AROUND: u32 = 12;
/// Lines above a message in which its condition stands.
const GUARD: usize = 4;
/// The shortest fixed part of a message, in characters.
const FIXED: usize = 14;
/// A shorter word says nothing about what two lines have in common.
const LEAST: usize = 3;
/// Words that stand in every script.
const COMMON: [&str; 28] = [
    "echo", "for", "then", "done", "else", "elif", "while", "read", "exit", "return", "import", "from",
    "def", "with", "open", "print", "printf", "self", "local", "export", "true", "false", "None", "True",
    "False", "and", "not", "set",
];

/// Refuses a text that is not a program any more.
///
/// # Errors
/// Where and why it does not parse, in words for the model. What was broken before, and what cannot be parsed here, passes.
pub(super) fn parses(path: &Path, before: &str, after: &str) -> Result<(), String> {
    let language = Language::of(path, after.lines().next().unwrap_or_default(), None);
    let broken = |text: &str| syntax_errors(language, text).ok().and_then(|errors| errors.into_iter().next());
    match broken(after) {
        Some(problem) if broken(before).is_none() => Err(format!(
            "it does not parse, here is why: line {}: {}",
            problem.line,
            clean::line(&problem.message, 160)
        )),
        _ => Ok(()),
    }
}

/// Refuses a change that has nothing to do with what was reported: it lies elsewhere, and no name of the failing line or of the
/// message stands in a line that it changes.
///
/// # Errors
/// In words for the model.
pub(super) fn touches(path: &Path, before: &str, after: &str, report: &Report) -> Result<(), String> {
    let Some(place) = report.location.as_ref().filter(|place| place.file == path && place.remote.is_none())
    else {
        return Ok(());
    };
    let near = |numbers: Vec<u32>, line: u32| numbers.into_iter().any(|number| number.abs_diff(line) <= NEAR);
    // Lines that only became part of the text have numbers of the new one.
    let grown = after.lines().count() as i64 - before.lines().count() as i64;
    let moved = u32::try_from(i64::from(place.line) + grown.max(0)).unwrap_or(place.line);
    if near(changed_line_numbers(before, after), place.line)
        || near(changed_line_numbers(after, before), place.line)
        || near(changed_line_numbers(before, after), moved)
    {
        return Ok(());
    }
    let told = told(before, place.line, report);
    let changed =
        changed_words(before, after).union(&changed_words(after, before)).cloned().collect::<BTreeSet<_>>();
    if told.is_empty() || told.iter().any(|word| changed.contains(word)) {
        return Ok(());
    }
    Err(format!("it changes nothing near line {}, which failed, and nothing that this line uses", place.line))
}

/// Refuses lines that change far from the failure for no stated reason: none of the sentences names the line, no comment of the
/// change stands beside it, and it has no name in common with what failed.
///
/// # Errors
/// In words for the model.
pub(super) fn stays_near(
    change: (&Path, &str, &str),
    report: &Report,
    said: &[String],
) -> Result<(), String> {
    let (path, before, after) = change;
    let here = |place: &&selfheal_core::report::Location| place.file == path && place.remote.is_none();
    let Some(place) = report.location.as_ref().filter(here) else { return Ok(()) };
    let grown = after.lines().count() as i64 - before.lines().count() as i64;
    let moved = u32::try_from(i64::from(place.line) + grown.max(0)).unwrap_or(place.line);
    let named: Vec<u64> = said.iter().flat_map(|sentence| cited_lines(sentence)).collect();
    let told = told(before, place.line, report);
    let numbers = changed_line_numbers(before, after);
    let lines: Vec<&str> = after.lines().collect();
    let text = |number: u32| lines.get((number as usize).saturating_sub(1)).copied().unwrap_or_default();
    let is_comment = |number: u32| text(number).trim_start().starts_with(['#', '/']);
    let excused = |number: u32| {
        let near = number.abs_diff(place.line) <= AROUND || number.abs_diff(moved) <= AROUND;
        near || named.iter().any(|line| line.abs_diff(u64::from(number)) <= u64::from(NEAR))
            || numbers.iter().any(|other| other.abs_diff(number) <= NEAR && is_comment(*other))
            || names(text(number)).any(|word| told.contains(&word))
            || text(number).trim().is_empty()
    };
    match numbers.iter().find(|number| !excused(**number)) {
        Some(number) => Err(format!(
            "it changes line {number}, far from line {} which failed, and does not say why; leave it, or give the reason with the \
             number of the line",
            place.line
        )),
        None => Ok(()),
    }
}

/// Refuses a change of the very check that reported the failure: the script's own message, and the condition above it. It told
/// the truth; what it looked at must be mended.
///
/// # Errors
/// In words for the model.
pub(super) fn keeps_own_check(before: &str, after: &str, report: &Report) -> Result<(), String> {
    let lines: Vec<&str> = before.lines().collect();
    let Some(at) = lines.iter().position(|line| says(line, &report.core_error)) else { return Ok(()) };
    let from = at.saturating_sub(GUARD);
    let guard = lines.get(from..at).unwrap_or_default().iter().rposition(|line| is_condition(line));
    let kept = |line: Option<&&str>| line.is_none_or(|line| after.lines().any(|other| other == *line));
    match kept(lines.get(at)) && guard.is_none_or(|guard| kept(lines.get(from + guard))) {
        true => Ok(()),
        false => Err(format!(
            "it changes the check in line {} that reported the failure, and not what it reports",
            at + 1
        )),
    }
}

/// Lines that end a script well, or let it go on after errors, whatever happened before.
const SILENCING: [&str; 9] = [
    "exit 0",
    "exit",
    "set +e",
    "set +o errexit",
    "true",
    ":",
    "sys.exit(0)",
    "sys.exit()",
    "process.exit(0)",
];

/// Refuses a new line that only ends the script well or lets it go on after errors.
///
/// # Errors
/// In words for the model.
pub(super) fn silences_nothing(before: &str, after: &str) -> Result<(), String> {
    let count = |text: &str, sign: &str| {
        text.lines().filter(|line| line.trim().trim_end_matches(';') == sign).count()
    };
    match SILENCING.iter().find(|sign| count(after, sign) > count(before, sign)) {
        Some(sign) => Err(format!("the new line `{sign}` hides the failure; mend its cause")),
        None => Ok(()),
    }
}

/// Refuses a new line that sets a variable, which the job missed, also where it is set: what it was told would count no more.
///
/// # Errors
/// In words for the model.
pub(super) fn keeps_given_values(before: &str, after: &str, report: &Report) -> Result<(), String> {
    let missed = report.faults.iter().filter_map(|fault| match fault {
        Fault::UnsetVariable { name } => Some(name.as_str()),
        _ => None,
    });
    for name in missed {
        let sets = |line: &&str| {
            let line = line.trim_start();
            let line = line.strip_prefix("export ").unwrap_or(line);
            line.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')).is_some_and(|value| {
                !value.contains(&format!("${{{name}")) && !value.contains(&format!("${name}"))
            })
        };
        if after.lines().any(|line| sets(&line)) && !before.lines().any(|line| sets(&line)) {
            return Err(format!(
                "it sets {name} even where it is set already; write {name}=${{{name}:-…}} instead"
            ));
        }
    }
    Ok(())
}

/// Refuses a change after which a command no longer asks the remote side that it asked before, but what is here already.
///
/// # Errors
/// In words for the model.
pub(super) fn keeps_remote(before: &str, after: &str) -> Result<(), String> {
    const FROM_THERE: [&str; 5] = ["@{u", "FETCH_HEAD", "ls-remote", "symbolic-ref", "refs/remotes"];
    let count = |text: &str| {
        let code = text.lines().filter(|line| !line.trim_start().starts_with('#') && line.contains("git"));
        code.map(|line| line.matches("origin/").count()).sum::<usize>()
    };
    let asks = FROM_THERE.iter().any(|sign| after.contains(sign));
    match count(after) < count(before) && !asks {
        true => {
            Err("it takes what is here already instead of what is at origin; name what is there".to_owned())
        }
        false => Ok(()),
    }
}

/// Whether a line says a message of its own: a fixed part of it, long enough, stands in the message.
fn says(line: &str, message: &str) -> bool {
    let speaks = ["echo", "printf", "print", "die", "raise", "throw", "exit(", "warn", "console.error"];
    speaks.iter().any(|word| line.contains(word))
        && line
            .split(['"', '\'', '`'])
            .flat_map(|part| part.split(['$', '%', '{', '}']))
            .map(str::trim)
            .any(|part| part.chars().count() >= FIXED && message.contains(part))
}

fn is_condition(line: &str) -> bool {
    let line = line.trim_start();
    ["if ", "elif ", "if(", "unless ", "case ", "[ ", "[[ ", "test "]
        .iter()
        .any(|word| line.starts_with(word))
}

/// The names in the failing line, the failing command and the message.
fn told(before: &str, line: u32, report: &Report) -> BTreeSet<String> {
    let failing = before.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default();
    let command = report.command.as_ref().map(|command| command.source.as_str()).unwrap_or_default();
    [failing, command, report.core_error.as_str()].into_iter().flat_map(names).collect()
}

/// The names in the lines of `text` that are not lines of `other`.
fn changed_words(text: &str, other: &str) -> BTreeSet<String> {
    let known: BTreeSet<&str> = other.lines().collect();
    text.lines().filter(|line| !known.contains(line)).flat_map(names).collect()
}

fn names(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.chars().count() >= LEAST && !COMMON.contains(word))
        .filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_broke_is_refused_and_one_that_was_broken_is_not() {
        let path = Path::new("/x/a.sh");
        let good = "#!/bin/bash\nif true; then\n  echo a\nfi\n";
        let bad = "#!/bin/bash\nif true; then\n  echo a\n";
        let told = parses(path, good, bad).unwrap_err();
        assert!(told.starts_with("it does not parse, here is why: line "), "{told}");
        assert_eq!(parses(path, bad, bad), Ok(()));
        assert_eq!(parses(path, bad, good), Ok(()));
        assert!(parses(Path::new("/x/a.py"), "a = 1\n", "a = (1\n").is_err());
    }

    #[test]
    fn a_missed_variable_keeps_its_given_value_and_what_is_remote_stays_so() {
        let mut report = super::super::tests::report(Path::new("/x/a.sh"));
        report.faults = vec![Fault::UnsetVariable { name: "USER".to_owned() }];
        let before = "set -u\necho $USER\n";
        for (line, fine) in [
            ("USER=$(id -un)", false),
            ("export USER=root", false),
            ("USER=${USER:-$(id -un)}", true),
            (": \"${USER:=$(id -un)}\"", true),
        ] {
            let after = format!("{line}\n{before}");
            assert_eq!(keeps_given_values(before, &after, &report).is_ok(), fine, "{line}");
        }
        let reset = "git fetch origin\ngit reset --hard origin/master\n";
        assert!(keeps_remote(reset, &reset.replace("origin/master", "HEAD")).is_err());
        assert_eq!(keeps_remote(reset, &reset.replace("master", "main")), Ok(()));
        assert_eq!(keeps_remote(reset, &reset.replace("origin/master", "FETCH_HEAD")), Ok(()));
    }

    #[test]
    fn lines_that_only_silence_are_refused() {
        assert!(silences_nothing("a\nb\n", "a\nexit 0\n").is_err());
        assert_eq!(silences_nothing("a\nexit 0\n", "b\nexit 0\n"), Ok(()));
    }

    #[test]
    fn words_that_say_something() {
        let words: Vec<String> = names("for f in \"$LOG_SRC\"/*.log; do cp 123 x").collect();
        assert_eq!(words, ["LOG_SRC", "log"]);
    }

    #[test]
    fn the_check_that_reported_it_is_not_what_is_mended() {
        let script = "sum=$(total)\nif [ \"$sum\" = 0.00 ]; then\n  rm -f out\n  echo \"job: nothing was counted at all\" >&2\n  exit 6\nfi\n";
        let path = Path::new("/x/a.sh");
        let mut report = super::super::tests::report(path);
        report.core_error = "job: nothing was counted at all".to_owned();
        let weaker = script.replace("= 0.00", "= 9.99");
        assert!(keeps_own_check(script, &weaker, &report).unwrap_err().contains("line 4"));
        let silent = script.replace("counted at all", "to do");
        assert!(keeps_own_check(script, &silent, &report).is_err());
        let mended = script.replace("$(total)", "$(total all)");
        assert_eq!(keeps_own_check(script, &mended, &report), Ok(()));
    }
}
