//! What a step reads and what its own small program does: inputs that became nothing, filters that pass records over,
//! searches that match more than before.

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::shell::{Command, CommandKind, Word};

use super::Sides;
use super::filters::{find_excludes, jq_lenient};
use super::words::{inner_name, is_step, name_of, plain};
use crate::finding::at;

/// Patterns that match everything.
const MATCH_ALL: &[&str] = &[".", "", ".*", "^", "$", "^.*$", "*"];

/// Programs of one word that can end with a failure, by what says so.
const FAILING: &[(&str, &[&str])] = &[
    ("awk", &["exit 1", "exit 2", "exit(1", "exit bad", "exit err", "exit rc", "exit !", "exit(!"]),
    ("gawk", &["exit 1", "exit 2", "exit(1", "exit bad", "exit err", "exit rc", "exit !", "exit(!"]),
    ("mawk", &["exit 1", "exit 2", "exit(1", "exit bad", "exit err", "exit rc", "exit !", "exit(!"]),
    ("perl", &["die", "exit 1", "exit(1"]),
    ("python3", &["raise", "assert", "sys.exit(1", "exit(1"]),
    ("python", &["raise", "assert", "sys.exit(1", "exit(1"]),
    ("ruby", &["raise", "abort", "exit 1", "exit(1"]),
    ("node", &["throw", "process.exit(1"]),
    ("sed", &["q1", "Q1"]),
    ("jq", &["error(", "halt_error", "error"]),
];

/// Ways of a program of one word to pass over what does not fit.
const PASSING: &[(&str, &[&str])] = &[
    ("jq", &["fromjson?", "// empty", "try ", "[]?", "tonumber?", "// {}", "// []", "// null", "catch"]),
    ("yq", &["// \"\"", "// empty", "// null"]),
    ("python3", &["except", "errors=\"ignore\"", "errors='ignore'"]),
    ("perl", &["eval", "next unless", "next if"]),
    ("ruby", &["rescue"]),
    ("awk", &["NF ==", "NF=="]),
];

/// What became of inputs and small programs.
pub fn compare(sides: &Sides) -> Vec<Finding> {
    let mut out: Vec<Finding> = empty_inputs(sides).into_iter().collect();
    for (index, new) in sides.new.script.commands().iter().enumerate() {
        let origin = sides.origin.get(index).copied().flatten();
        let Some(old) = origin.and_then(|at| sides.old.script.commands().get(at)) else { continue };
        out.extend(program(old, new));
        out.extend(pattern(old, new));
        out.extend(nothing_read(old, new));
        out.extend(with_itself(old, new));
        out.extend(narrowed(old, new));
        out.extend(left_out(old, new));
    }
    out.extend(defaults(sides));
    out.extend(empty_values(sides));
    out
}

/// `done < ids.txt` became `done < /dev/null`.
fn empty_inputs(sides: &Sides) -> Option<Finding> {
    let reads = |side: &super::Side| -> Vec<(String, u32)> {
        let all =
            side.script.redirects().into_iter().filter(|r| r.operator.starts_with('<') && r.operator != "<<");
        all.filter_map(|r| {
            let target = r.target.as_ref()?;
            Some((plain(target), side.script.lines().line_of(target.span.start)))
        })
        .collect()
    };
    let (had, has) = (reads(&sides.old), reads(&sides.new));
    let nothing =
        |all: &[(String, u32)]| all.iter().filter(|(name, _)| name == "/dev/null" || name.is_empty()).count();
    let lost = had.iter().any(|(name, _)| name != "/dev/null" && !has.iter().any(|(other, _)| other == name));
    let line = has.iter().find(|(name, _)| name == "/dev/null" || name.is_empty())?.1;
    (lost && nothing(&has) > nothing(&had))
        .then(|| at("masking/input-made", line, Weight::Refuse, "nothing is read where a file was"))
}

/// An operand of a step became `/dev/null`.
fn nothing_read(old: &Command, new: &Command) -> Option<Finding> {
    let nothing =
        |command: &Command| command.arguments().iter().filter(|word| plain(word) == "/dev/null").count();
    let words = |command: &Command| command.arguments().len();
    (is_step(new) && nothing(new) > nothing(old) && words(new) <= words(old) && inner_name(new) != "grep")
        .then(|| {
            let why = format!("`{}` works on nothing instead of what it worked on", inner_name(new));
            at("masking/input-made", new.lines.0, Weight::Refuse, why)
        })
}

/// Commands that compare their operands.
const COMPARERS: &[&str] = &["diff", "cmp", "comm", "sdiff", "colordiff"];

/// Commands that run tests, or check files, as far as their operands say.
const RUNNERS: &[&str] = &[
    "pytest",
    "py.test",
    "jest",
    "mocha",
    "rspec",
    "phpunit",
    "prove",
    "bats",
    "shellcheck",
    "flake8",
    "pylint",
    "mypy",
    "eslint",
    "ruff",
    "yamllint",
    "ctest",
    "tox",
    "nosetests",
];

fn operands(command: &Command) -> Vec<String> {
    command.arguments().iter().map(plain).filter(|word| !word.starts_with('-')).collect()
}

/// `diff a a`.
fn with_itself(old: &Command, new: &Command) -> Option<Finding> {
    let same = |command: &Command| matches!(operands(command).as_slice(), [one, other] if one == other);
    (COMPARERS.contains(&inner_name(new).as_str()) && same(new) && !same(old)).then(|| {
        at("masking/check-weakened", new.lines.0, Weight::Refuse, "something is compared with itself")
    })
}

/// `pytest tests/` became `pytest tests/test_a.py`.
fn narrowed(old: &Command, new: &Command) -> Option<Finding> {
    let name = inner_name(new);
    let (before, after) = (operands(old), operands(new));
    let below = |file: &String| {
        before.iter().any(|folder| file != folder && file.starts_with(folder.trim_end_matches('/')))
    };
    let all_below = !after.is_empty()
        && after.iter().all(|file| before.contains(file) || below(file))
        && after.iter().any(below);
    let fewer =
        !after.is_empty() && after.len() < before.len() && after.iter().all(|file| before.contains(file));
    let first = before.is_empty() && !after.is_empty();
    (RUNNERS.contains(&name.as_str()) && (all_below || fewer || first)).then(|| {
        at("masking/test-skipped", new.lines.0, Weight::Refuse, format!("`{name}` looks at less than before"))
    })
}

/// `find` with a new `! -name`, `-size`, `-mtime`; where it deletes, less is safer.
fn left_out(old: &Command, new: &Command) -> Option<Finding> {
    let words = |command: &Command| command.arguments().iter().map(plain).collect::<Vec<_>>();
    let (before, after) = (words(old), words(new));
    let deletes = after.iter().any(|word| word == "-delete" || word == "rm");
    let fewer = find_excludes(&after) > find_excludes(&before);
    (inner_name(new) == "find" && fewer && !deletes).then(|| {
        at("masking/input-narrowed", new.lines.0, Weight::Refuse, "`find` leaves out what it found before")
    })
}

/// A value that the script computes is replaced by a constant where it is empty: `${n:-0}`, `[ -z "$n" ] && n=0`.
fn defaults(sides: &Sides) -> Vec<Finding> {
    let script = &sides.new.script;
    let computed = |name: &str| {
        sides.old.script.assignments().any(|a| {
            a.name == name
                && a.value.as_ref().is_some_and(|value| {
                    let text = value.text.trim_matches('"');
                    // A count of matches is 0 where there are none.
                    (text.starts_with("$(") || text.starts_with('`'))
                        && !text.contains("grep -c")
                        && !text.contains("wc ")
                })
        })
    };
    let had = |name: &str, text: &str| {
        sides
            .old
            .script
            .assignments()
            .any(|a| a.name == name && a.value.as_ref().is_some_and(|value| value.text == text))
    };
    let fixed = script.assignments().filter(|a| {
        let literal = a.value.as_ref().and_then(Word::literal).is_some_and(|text| !text.is_empty());
        literal
            && computed(&a.name)
            && !had(&a.name, a.value.as_ref().map_or("", |value| value.text.as_str()))
    });
    // Before it is computed, a constant is only the first value.
    let later = fixed.filter(|a| {
        script.assignments().any(|other| other.name == a.name && other.span.start < a.span.start)
    });
    let mut out: Vec<Finding> = later
        .map(|a| {
            at(
                "masking/default",
                a.line,
                Weight::Refuse,
                format!("`{}` was computed and may be a constant now", a.name),
            )
        })
        .collect();
    let words =
        script.commands().iter().flat_map(|command| command.words.iter().map(move |word| (command, word)));
    for (command, word) in words {
        let test = matches!(command.kind, CommandKind::Test { .. }) || command.is("test");
        let found = word.expansions().any(|e| {
            matches!(e.operator.as_deref(), Some(":-" | "-" | ":=" | "="))
                && !e.operand.is_empty()
                && !e.operand.contains('$')
                && computed(&e.name)
                && !sides.old.script.text().contains(&format!("{{{}:-", e.name))
        });
        if found && !test && is_step(command) {
            out.push(at(
                "masking/default",
                command.lines.0,
                Weight::Refuse,
                "a constant takes the place of a value that was computed",
            ));
        }
    }
    out
}

/// A program in a word (`awk '…'`) that failed on what does not fit, or took everything.
fn program(old: &Command, new: &Command) -> Option<Finding> {
    let name = inner_name(new);
    let text = |command: &Command| {
        command.arguments().iter().map(plain_keeping_braces).collect::<Vec<_>>().join(" ")
    };
    let (before, after) = (text(old), text(new));
    if before == after {
        return None;
    }
    let count = |table: &[(&str, &[&str])], text: &str| -> usize {
        let words = table.iter().filter(|(own, _)| *own == name).flat_map(|(_, words)| words.iter());
        words.map(|word| text.matches(word).count()).sum()
    };
    let lenient = |text: &str| if name == "jq" { jq_lenient(text) } else { 0 };
    let why = if count(FAILING, &after) < count(FAILING, &before) {
        "no longer fails on what does not fit"
    } else if count(PASSING, &after) > count(PASSING, &before) || lenient(&after) > lenient(&before) {
        "passes over what does not fit"
    } else {
        return None;
    };
    Some(at("masking/data-dropped", new.lines.0, Weight::Refuse, format!("`{name}` {why}")))
}

fn plain_keeping_braces(word: &Word) -> String {
    word.literal().unwrap_or_else(|| word.text.clone())
}

/// A search whose pattern matches everything, or more than before.
fn pattern(old: &Command, new: &Command) -> Option<Finding> {
    if !inner_name(new).ends_with("grep") {
        return None;
    }
    let pattern = |command: &Command| {
        command.arguments().iter().find(|word| !word.text.starts_with('-')).map(plain_keeping_braces)
    };
    let (before, after) = (pattern(old)?, pattern(new)?);
    if before == after {
        return None;
    }
    let empty_branch =
        after.starts_with('|') || after.ends_with('|') || after.contains("||") || after.contains("|)");
    let bare = |text: &str| text.trim_start_matches('^').trim_end_matches('$').to_owned();
    let asks = new.arguments().iter().any(|word| word.text.starts_with('-') && word.text.contains('q'));
    let shorter = asks
        && before.len() > after.len()
        && bare(&before).contains(&bare(&after))
        && after.len() < before.len();
    let more = asks && after.matches('|').count() > before.matches('|').count();
    (MATCH_ALL.contains(&after.as_str()) || empty_branch || shorter || more).then(|| {
        at("masking/check-weakened", new.lines.0, Weight::Refuse, "a search matches more than before")
    })
}

/// Under `set -u`: an unset variable that ended the script is taken as nothing now, in the words of a step.
fn empty_values(sides: &Sides) -> Vec<Finding> {
    let strict = super::handling::option_on(&sides.old.script, "nounset", usize::MAX);
    let old_text = sides.old.script.text();
    let defaulted = |word: &Word, quoted_only: bool| {
        word.expansions().any(|e| {
            let nothing = e.operand.is_empty() || plain_operand(&e.operand) == "/dev/null";
            let whole = word.text.starts_with("${") && word.text.ends_with('}') && word.parts.len() == 1;
            let fresh =
                !old_text.contains(&format!("{{{}{}", e.name, e.operator.as_deref().unwrap_or_default()));
            matches!(e.operator.as_deref(), Some("-" | ":-"))
                && nothing
                && fresh
                && !(quoted_only && whole)
                && e.name.starts_with(|c: char| c.is_ascii_uppercase())
        })
    };
    let mut out = Vec::new();
    for command in sides.new.script.commands().iter().filter(|_| strict) {
        let test = matches!(command.kind, CommandKind::Test { .. }) || name_of(command) == "test";
        let target = command.redirects.iter().filter_map(|redirect| redirect.target.as_ref());
        let words = command.arguments().iter().filter(|word| is_step(command) && defaulted(word, true));
        if !test && (words.count() > 0 || target.into_iter().any(|word| defaulted(word, false))) {
            out.push(at(
                "masking/empty-default",
                command.lines.0,
                Weight::Refuse,
                "a variable that must be set is taken as nothing",
            ));
        }
    }
    out
}

fn plain_operand(text: &str) -> String {
    text.trim_matches(['"', '\'']).to_owned()
}
