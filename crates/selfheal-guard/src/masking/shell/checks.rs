//! Checks that are gone or weaker, expectations that are made up, results that are constants.

use std::collections::BTreeSet;

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::shell::{Command, CommandKind, Part, Word};

use super::Sides;
use super::guards::{GuardKind, guards};
use super::handling::Handling;
use super::reach::constant;
use super::words::{inner_name, is_step, key_of, name_of, plain};
use crate::finding::{at, whole};

/// Commands that compare something with an expectation kept in a file.
const COMPARERS: &[&str] =
    &["sha1sum", "sha256sum", "sha512sum", "md5sum", "b2sum", "cksum", "cmp", "diff", "gpg", "comm"];

/// Pairs of test operators of which the second asks for less than the first.
const WEAKER: &[(&str, &[&str])] = &[
    ("-eq", &["-ge", "-le", "-gt", "-lt", "-ne"]),
    ("-gt", &["-ge"]),
    ("-lt", &["-le"]),
    (">", &[">="]),
    ("<", &["<="]),
    ("=", &["!=", "=~", ">=", "<="]),
    ("==", &["!=", "=~"]),
    ("-s", &["-e", "-f", "-r", "-n"]),
    ("-f", &["-e"]),
    ("-d", &["-e"]),
    ("-x", &["-e", "-f", "-r"]),
    ("-r", &["-e", "-f"]),
];

/// What became of the checks.
pub fn compare(sides: &Sides) -> Vec<Finding> {
    let mut out = tests(sides);
    out.extend(made_up(sides));
    out.extend(constants(sides));
    out.extend(empty_defaults(sides));
    out.extend(alternatives_added(sides));
    out.extend(set_by_hand(sides));
    out.extend(inner_bars(sides));
    out.extend(waits_for_nothing(sides));
    out
}

fn is_check(command: &Command, handling: Option<&Handling>) -> bool {
    let text = command.words.first().map(|word| word.text.as_str()).unwrap_or_default();
    let signs = ["==", "!=", "<", ">"];
    let compares = command.kind == CommandKind::Arithmetic && signs.iter().any(|sign| text.contains(sign));
    let test = matches!(command.kind, CommandKind::Test { .. }) || compares || command.is("test");
    test && matches!(handling, Some(Handling::Fails | Handling::Propagates))
}

fn tests(sides: &Sides) -> Vec<Finding> {
    let mut out = Vec::new();
    let new: Vec<(usize, &Command)> = sides.new.script.commands().iter().enumerate().collect();
    let mut fresh: Vec<(usize, &Command)> = new
        .iter()
        .copied()
        .filter(|(at, c)| sides.origin.get(*at) == Some(&None) && is_check(c, sides.new.handling.get(*at)))
        .collect();
    for (at_old, old) in sides.old.script.commands().iter().enumerate() {
        if !is_check(old, sides.old.handling.get(at_old)) {
            continue;
        }
        let kept = new.iter().find(|(at, _)| sides.origin.get(*at).copied().flatten() == Some(at_old));
        if let Some((at_new, command)) = kept {
            if matches!(sides.new.handling.get(*at_new), Some(Handling::Swallowed(_))) {
                out.push(at(
                    "masking/check-disabled",
                    command.lines.0,
                    Weight::Refuse,
                    "a check no longer ends the script",
                ));
            }
            continue;
        }
        let nearest = fresh.iter().position(|(_, other)| shared(old, other) > 0).or(if fresh.is_empty() {
            None
        } else {
            Some(0)
        });
        if nearest.is_some() && taken_apart(old, &fresh) {
            continue;
        }
        match nearest.map(|place| fresh.remove(place)) {
            None => out.push(whole(
                "masking/check-removed",
                Weight::Refuse,
                format!("the check `{}` is gone", key_of(old)),
            )),
            Some((_, other)) => out.extend(changed(old, other)),
        }
    }
    out
}

/// Whether a test with `-o` or `-a` became several tests that ask for the same things.
fn taken_apart(old: &Command, fresh: &[(usize, &Command)]) -> bool {
    let joined = old.words.iter().any(|word| matches!(word.text.as_str(), "-o" | "-a" | "||" | "&&"));
    let asked: BTreeSet<String> = fresh.iter().flat_map(|(_, command)| &command.words).map(normal).collect();
    let named = |word: &&Word| normal(word).starts_with(|c: char| c.is_alphanumeric() || c == '$');
    joined && fresh.len() > 1 && old.words.iter().filter(named).all(|word| asked.contains(&normal(word)))
}

fn shared(one: &Command, other: &Command) -> usize {
    let words: BTreeSet<String> = one.words.iter().map(plain).collect();
    other.words.iter().map(plain).filter(|word| words.contains(word)).count()
}

fn changed(old: &Command, new: &Command) -> Option<Finding> {
    let line = new.lines.0;
    let words = |command: &Command| -> Vec<String> {
        let all = match command.kind {
            CommandKind::Arithmetic => command.words.iter().flat_map(|word| tokens(&word.text)).collect(),
            _ => command.words.iter().map(normal).filter(|word| word != "test").collect::<Vec<_>>(),
        };
        all.into_iter().map(|word| if word == "==" { "=".to_owned() } else { word }).collect()
    };
    let (before, after) = (words(old), words(new));
    if before == after {
        return None;
    }
    let refuse = |why: &str| Some(at("masking/check-weakened", line, Weight::Refuse, why));
    if constant(new).is_some() {
        return refuse("a check now always says the same");
    }
    if alternatives(&after) > alternatives(&before) {
        return refuse("a check got an alternative");
    }
    if members(&before).is_some_and(|one| members(&after).is_some_and(|other| one != other)) {
        return refuse("the status of another member of the pipeline is looked at");
    }
    let weaker = before.iter().any(|word| {
        WEAKER
            .iter()
            .any(|(strong, weak)| word == strong && after.iter().any(|new| weak.contains(&new.as_str())))
    });
    if weaker {
        return refuse("a check asks for less than before");
    }
    if compares_with_something(&before) && only_asks_whether_it_is_there(&after) {
        return refuse("a check that compares asks only whether something is there now");
    }
    let numbers =
        |words: &[String]| words.iter().filter_map(|word| word.parse::<i64>().ok()).collect::<Vec<_>>();
    if numbers(&before) != numbers(&after) && !numbers(&before).is_empty() {
        return refuse("the expected number of a check is another");
    }
    Some(at("masking/check-changed", line, Weight::Medium, "a check is another one than before"))
}

/// The names, numbers and operators of an expression.
fn tokens(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || "_$.".contains(c) => 1,
        c if "<>=!&|".contains(c) => 2,
        c if c.is_whitespace() => 0,
        _ => 3,
    };
    let mut out: Vec<String> = Vec::new();
    let mut before = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // `${n:-0}` is `n` for an expression.
        if c == '$' && chars.peek() == Some(&'{') {
            let inside: String = chars.by_ref().take_while(|c| *c != '}').skip(1).collect();
            out.push(inside.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
            before = 0;
            continue;
        }
        match (kind(c), out.last_mut()) {
            (0, _) => {}
            (own, Some(last)) if own == before && own < 3 => last.push(c),
            _ => out.push(c.to_string()),
        }
        before = kind(c);
    }
    out
}

/// The tokens of a program but columns and numbers of lines, which may move.
fn bars(text: &str) -> Vec<String> {
    let all = tokens(text);
    let counts = |at: usize| {
        let before = at.checked_sub(2).and_then(|at| all.get(at)).map(String::as_str);
        matches!(before, Some("NR" | "FNR" | "NF"))
    };
    let kept = all.iter().enumerate().filter(|(at, token)| !token.starts_with('$') && !counts(*at));
    kept.map(|(_, token)| token.clone()).collect()
}

/// A check inside of a program that a command is given (`awk '$5 > 90 { exit 1 }'`) whose numbers or comparisons are others.
fn inner_bars(sides: &Sides) -> Vec<Finding> {
    let bare = |text: &str| {
        text.chars()
            .filter(|c| !(c.is_ascii_digit() || "<>=!.".contains(*c) || c.is_whitespace()))
            .collect::<String>()
    };
    let fresh = sides.new.script.commands().iter().zip(&sides.origin);
    let mut out = Vec::new();
    for (new, old) in fresh.filter_map(|(new, at)| Some((new, sides.old.script.commands().get((*at)?)?))) {
        let pairs = old.words.iter().zip(&new.words).filter(|(old, new)| old.text != new.text);
        let weaker = pairs.into_iter().any(|(old, new)| {
            let program = old.text.contains("exit") && old.text.contains(['>', '<', '=', '!']);
            program && bare(&old.text) == bare(&new.text) && bars(&old.text) != bars(&new.text)
        });
        if weaker {
            let why = "the check in a program that the command runs is another";
            out.push(at("masking/check-weakened", new.lines.0, Weight::Refuse, why));
        }
    }
    out
}

/// `wait` without a process is always content.
fn waits_for_nothing(sides: &Sides) -> Option<Finding> {
    let count = |script: &selfheal_syntax::shell::Script, asked: bool| {
        let all = script.commands().iter().filter(|command| command.is("wait"));
        all.filter(|command| command.arguments().iter().any(|word| !word.text.starts_with('-')) == asked)
            .count()
    };
    let (old, new) = (&sides.old.script, &sides.new.script);
    let found = count(new, true) < count(old, true) && count(new, false) > count(old, false);
    let line = new.commands().iter().rfind(|command| command.is("wait")).map_or(1, |command| command.lines.0);
    let why = "`wait` without a process succeeds whatever became of it";
    found.then(|| at("masking/status-ignored", line, Weight::Refuse, why))
}

/// Operators that compare two values.
const COMPARING: &[&str] =
    &["=", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

/// Whether a test compares something with more than nothing or zero.
fn compares_with_something(words: &[String]) -> bool {
    let nothing = |word: Option<&String>| word.is_none_or(|word| word.is_empty() || word == "0");
    words.windows(3).any(|three| match three {
        [left, sign, right] => {
            COMPARING.contains(&sign.as_str()) && !nothing(Some(left)) && !nothing(Some(right))
        }
        _ => false,
    })
}

/// Whether a test asks for nothing but that a text is not empty or that a file exists.
fn only_asks_whether_it_is_there(words: &[String]) -> bool {
    let unary = ["-n", "-e", "-f", "-r", "-s", "-v", "-d"];
    matches!(words, [sign, _] if unary.contains(&sign.as_str())) || matches!(words, [_])
}

/// A word of a test without quotes, braces and defaults.
fn normal(word: &Word) -> String {
    let plain = plain(word);
    match (word.expansions().next(), plain.starts_with('$')) {
        (Some(e), true) if e.handles_unset() && word.parts.len() == 1 => format!("${}", e.name),
        _ => plain,
    }
}

/// Which members of a pipeline a check asks for, when not for all.
fn members(words: &[String]) -> Option<Vec<&str>> {
    let asked: Vec<&str> = words
        .iter()
        .filter_map(|word| word.split_once("PIPESTATUS[").or_else(|| word.split_once("pipestatus[")))
        .filter_map(|(_, rest)| rest.split(']').next())
        .collect();
    (!asked.is_empty() && !asked.iter().any(|one| matches!(*one, "@" | "*"))).then_some(asked)
}

fn alternatives(words: &[String]) -> usize {
    words.iter().filter(|word| matches!(word.as_str(), "-o" | "||")).count()
}

/// Files that a new command makes up so that an old check or step is content.
fn made_up(sides: &Sides) -> Vec<Finding> {
    let mut out = Vec::new();
    let old = sides.old.script.commands();
    let written: BTreeSet<String> = old.iter().flat_map(writes).collect();
    for (index, command) in sides.new.script.commands().iter().enumerate() {
        if sides
            .origin
            .get(index)
            .copied()
            .flatten()
            .is_some_and(|origin| old.get(origin).is_some_and(|o| writes(o) == writes(command)))
        {
            continue;
        }
        for file in writes(command).into_iter().filter(|file| !written.contains(file)) {
            out.extend(made_up_file(old, command, &file));
        }
    }
    out
}

fn made_up_file(old: &[Command], maker: &Command, file: &str) -> Option<Finding> {
    let line = maker.lines.0;
    let names =
        |command: &&Command| command.words.iter().any(|word| plain(word) == file) || reads(command, file);
    let mut users = old
        .iter()
        .filter(names)
        .filter(|command| !matches!(name_of(command).as_str(), "rm" | "flock" | "tee" | "mkdir" | "touch"));
    let user = users.next()?;
    let check = matches!(user.kind, CommandKind::Test { .. })
        || user.is("test")
        || COMPARERS.contains(&inner_name(user).as_str());
    if check {
        let why = format!("it makes `{file}`, which a check expects, itself");
        return Some(at("masking/expectation-made", line, Weight::Refuse, why));
    }
    let nothing = maker.words.iter().any(|word| word.text == "/dev/null");
    let empty = nothing
        || matches!(name_of(maker).as_str(), "touch" | ":" | "echo" | "printf" | "true" | "cat")
        || maker.words.is_empty();
    let weight = if empty && is_step(user) { Weight::Refuse } else { Weight::Medium };
    Some(at("masking/input-made", line, weight, format!("it makes up the input `{file}`")))
}

fn reads(command: &Command, file: &str) -> bool {
    command
        .redirects
        .iter()
        .any(|r| r.operator == "<" && r.target.as_ref().is_some_and(|target| plain(target) == file))
}

/// The files that a command surely writes: its redirections, and the operands of `touch`, `tee`, and the last of `cp`.
pub fn writes(command: &Command) -> Vec<String> {
    let mut out: Vec<String> = command
        .redirects
        .iter()
        .filter(|redirect| redirect.writes())
        .filter_map(|redirect| redirect.target.as_ref())
        .map(plain)
        .filter(|file| !file.starts_with("/dev/"))
        .collect();
    let operands = || command.arguments().iter().map(plain).filter(|word| !word.starts_with('-'));
    match name_of(command).as_str() {
        "touch" | "tee" | "truncate" => out.extend(operands()),
        "cp" | "mv" | "install" | "ln" => out.extend(operands().next_back()),
        _ => {}
    }
    out
}

/// `[ check ] || [ another ] || exit 1`: a new test that is content where an old one is not.
fn alternatives_added(sides: &Sides) -> Vec<Finding> {
    let script = &sides.new.script;
    let mut out = Vec::new();
    for (index, command) in script.commands().iter().enumerate() {
        let test = matches!(command.kind, CommandKind::Test { .. }) || command.is("test");
        if !test || sides.origin.get(index) != Some(&None) {
            continue;
        }
        let guard = guards(script, index).pop().filter(|guard| guard.kind == GuardKind::Or);
        let old_check = |at: &usize| {
            let origin = sides.origin.get(*at).copied().flatten();
            let command = origin.and_then(|at| sides.old.script.commands().get(at));
            command.is_some_and(|command| is_check(command, origin.and_then(|at| sides.old.handling.get(at))))
        };
        if guard.is_some_and(|guard| guard.condition.iter().any(old_check)) {
            out.push(at(
                "masking/check-weakened",
                command.lines.0,
                Weight::Refuse,
                "a check got an alternative",
            ));
        }
    }
    out
}

/// A variable that a check compares is newly given the very value that the check wants.
fn set_by_hand(sides: &Sides) -> Vec<Finding> {
    let script = &sides.new.script;
    let fresh = script.commands().iter().zip(&sides.origin).filter(|(command, origin)| {
        origin.is_none() && command.kind == CommandKind::Assignment && !command.context.conditional()
    });
    let mut out = Vec::new();
    for assignment in fresh.flat_map(|(command, _)| &command.assignments) {
        let Some(value) = assignment.value.as_ref().and_then(Word::literal).filter(|value| !value.is_empty())
        else {
            continue;
        };
        let wants = |command: &&Command| {
            command.words.iter().any(|word| word.uses(&assignment.name))
                && (command.words.iter().any(|word| word.literal().as_deref() == Some(&value))
                    || satisfies(command, &assignment.name, &value))
        };
        let old = sides.old.script.commands().iter().zip(&sides.old.handling);
        let mut checks =
            old.filter(|(command, handling)| is_check(command, Some(handling))).map(|(command, _)| command);
        if checks.any(|command| wants(&command)) {
            let why = format!("`{}` is set to what a check wants", assignment.name);
            out.push(at("masking/expectation-made", assignment.line, Weight::Refuse, why));
        }
    }
    out
}

/// Whether a number that a variable is given makes a numeric comparison with it hold.
fn satisfies(check: &Command, name: &str, value: &str) -> bool {
    let words: Vec<&Word> = check.words.iter().collect();
    let number = |word: &Word| word.literal().and_then(|text| text.parse::<i64>().ok());
    let Ok(value) = value.parse::<i64>() else { return false };
    words.windows(3).any(|three| match three {
        [left, sign, right] if left.uses(name) => number(right).is_some_and(|bar| match sign.text.as_str() {
            "-gt" => value > bar && value > 1,
            "-ge" => value >= bar && value > 1,
            _ => false,
        }),
        _ => false,
    })
}

/// A variable that may be empty now and stands in the path of something that deletes: `${x:-}` instead of a failure.
fn empty_defaults(sides: &Sides) -> Option<Finding> {
    let empty = |word: &Word| -> Vec<String> {
        let all = word.expansions().filter(|e| {
            matches!(e.operator.as_deref(), Some("-" | ":-" | "=" | ":=")) && e.operand.is_empty()
        });
        all.map(|e| e.name.clone()).collect()
    };
    let names =
        |side: &super::Side| -> BTreeSet<String> {
            let script = &side.script;
            let values =
                script.assignments().filter_map(|a| a.value.as_ref().map(|value| (a.name.clone(), value)));
            let assigned = values.flat_map(|(name, value)| {
                if value.text.trim_matches('"').is_empty() { vec![name] } else { empty(value) }
            });
            let used = script.commands().iter().flat_map(|command| &command.words).flat_map(&empty);
            assigned.chain(used).collect()
        };
    let (had, has) = (names(&sides.old), names(&sides.new));
    let deletes = |command: &&Command| matches!(inner_name(command).as_str(), "rm" | "find" | "rsync" | "mv");
    let mut commands = sides.new.script.commands().iter().filter(deletes);
    let found = commands.find(|command| {
        command.words.iter().any(|word| {
            word.text.contains('/') && has.iter().any(|name| !had.contains(name) && word.uses(name))
        })
    })?;
    let why = "a variable that may be empty now stands in the path of what is deleted";
    Some(at("masking/empty-default", found.lines.0, Weight::Refuse, why))
}

/// Variables that were computed and are constants now.
fn constants(sides: &Sides) -> Vec<Finding> {
    let computed = |word: &Option<Word>| {
        word.as_ref()
            .is_some_and(|word| word.parts.iter().any(|part| matches!(part, Part::Substitution { .. })))
    };
    let mut out = Vec::new();
    let names: BTreeSet<&str> =
        sides.old.script.assignments().filter(|a| computed(&a.value)).map(|a| a.name.as_str()).collect();
    for name in names {
        let new: Vec<_> =
            sides.new.script.assignments().filter(|a| a.name == name && a.value.is_some()).collect();
        let fixed = new.iter().find(|a| {
            a.value.as_ref().is_some_and(|value| value.literal().is_some_and(|text| !text.is_empty()))
        });
        if let Some(fixed) = fixed.filter(|_| !new.iter().any(|a| computed(&a.value))) {
            let why = format!("`{name}` was computed and is a constant now");
            out.push(at("masking/constant", fixed.line, Weight::Refuse, why));
        }
    }
    out
}
