//! Filters that newly stand between the data and a step that was there: `grep`, `sed …d`, `awk 'NF == 5'`, `head`. Blank
//! lines, comments and headings are no data.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::shell::{Command, Statement, StatementKind, Word};

use super::Sides;
use super::words::{inner_name, is_step, key_of, plain};
use crate::finding::at;
use crate::masking::change::compiled;

/// What new filters take away from old steps.
pub fn compare(sides: &Sides) -> Vec<Finding> {
    let mut out = Vec::new();
    visit(sides, sides.new.script.body(), &mut out, 0);
    out.extend(in_a_file(sides));
    out
}

fn visit(sides: &Sides, statements: &[Statement], out: &mut Vec<Finding>, depth: u32) {
    if depth > 64 {
        return;
    }
    for statement in statements {
        match &statement.kind {
            StatementKind::Pipeline(members) => {
                pipeline(sides, members, out);
                visit(sides, members, out, depth + 1);
            }
            StatementKind::Command(index) => {
                let inner = sides.new.script.commands().get(*index).map(|command| command.inner.as_slice());
                visit(sides, inner.unwrap_or_default(), out, depth + 1);
            }
            StatementKind::List { left, right, .. } => {
                visit(sides, std::slice::from_ref(left), out, depth + 1);
                visit(sides, std::slice::from_ref(right), out, depth + 1);
            }
            StatementKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    visit(sides, condition, out, depth + 1);
                    visit(sides, body, out, depth + 1);
                }
                visit(sides, otherwise.as_deref().unwrap_or_default(), out, depth + 1);
            }
            StatementKind::Case { items, .. } => {
                items.iter().for_each(|(_, body)| visit(sides, body, out, depth + 1));
            }
            StatementKind::Loop { body, .. }
            | StatementKind::Function { body, .. }
            | StatementKind::Subshell(body)
            | StatementKind::Group(body) => visit(sides, body, out, depth + 1),
            _ => {}
        }
    }
}

/// The command of a member of a pipeline, and whether it was there before; of a loop or group, whether a step of it was.
fn member<'a>(sides: &'a Sides, statement: &Statement) -> (Option<&'a Command>, bool) {
    let known = |at: usize| sides.origin.get(at).copied().flatten().is_some();
    match statement.kind {
        StatementKind::Command(index) => (sides.new.script.commands().get(index), known(index)),
        _ => {
            let inside = sides.new.script.commands().iter().enumerate();
            let mut inside = inside.filter(|(_, command)| {
                command.span.start >= statement.span.start && command.span.end <= statement.span.end
            });
            (None, inside.any(|(at, command)| is_step(command) && known(at)))
        }
    }
}

fn pipeline(sides: &Sides, members: &[Statement], out: &mut Vec<Finding>) {
    let all: Vec<(Option<&Command>, bool)> = members.iter().map(|one| member(sides, one)).collect();
    let same =
        |command: &Command| sides.old.script.commands().iter().any(|old| key_of(old) == key_of(command));
    // In `$(…)` a value may be worked out in a new way; only what was there word for word had the data before.
    let was_there = |(command, known): &(Option<&Command>, bool)| {
        *known && command.is_none_or(|command| !command.context.substitution || same(command))
    };
    if !all.iter().any(was_there) {
        return;
    }
    let fresh = all.iter().filter(|(_, known)| !known).filter_map(|(command, _)| *command);
    out.extend(fresh.filter(|command| !took_a_place(sides, command)).filter_map(filter));
}

/// Whether a command stands for another filter that is gone: `grep -E` for `egrep`, `awk 'NR <= 5'` for `head`.
fn took_a_place(sides: &Sides, command: &Command) -> bool {
    const FILTERS: &[&str] =
        &["grep", "egrep", "fgrep", "awk", "gawk", "mawk", "sed", "gsed", "head", "tail", "cut", "uniq"];
    let name = inner_name(command);
    let old = sides.old.script.commands().iter().enumerate();
    let mut lost = old.filter(|(at, _)| !sides.origin.contains(&Some(*at)));
    lost.any(|(_, old)| inner_name(old) != name && FILTERS.contains(&inner_name(old).as_str()))
}

/// `grep -v BAD in > part; load part`: the filtered file stands where the step read the whole one.
fn in_a_file(sides: &Sides) -> Vec<Finding> {
    let script = &sides.new.script;
    let mut out = Vec::new();
    for (command, _) in script.commands().iter().zip(&sides.origin).filter(|(_, origin)| origin.is_none()) {
        let target =
            command.redirects.iter().find(|one| one.operator == ">").and_then(|one| one.target.as_ref());
        let Some(target) = target.map(plain).filter(|target| target.len() > 1) else { continue };
        let old_text = sides.old.script.text();
        let mut steps = script.commands().iter().zip(&sides.origin).filter(|(_, origin)| origin.is_some());
        let read = steps.any(|(step, _)| {
            let redirected = step.redirects.iter().filter_map(|one| one.target.as_ref());
            step.arguments().iter().chain(redirected).any(|word| plain(word) == target)
        });
        let named =
            command.arguments().iter().any(|word| old_text.contains(&plain(word)) && plain(word).len() > 1);
        if read && named && !old_text.contains(&target) {
            out.extend(filter(command));
        }
    }
    out
}

/// What a command takes out of what flows through it.
fn filter(command: &Command) -> Option<Finding> {
    let name = inner_name(command);
    let words: Vec<String> = command.arguments().iter().map(plain).collect();
    let weight = match name.as_str() {
        "grep" | "egrep" | "fgrep" => grep(&words),
        "sed" => words.iter().filter_map(|word| sed(word)).max(),
        // With its braces: `{ print $1 }` is no condition.
        "awk" | "gawk" | "mawk" => {
            let raw = |word: &Word| word.text.trim_matches(['\'', '"']).to_owned();
            let words: Vec<String> = command.arguments().iter().map(raw).collect();
            awk_program(&words).and_then(awk)
        }
        "head" => head(&words),
        "tail" if !words.iter().any(|word| word.contains('+')) => Some(Weight::Medium),
        _ => None,
    }?;
    let why = format!("`{name}` takes out rows that the step had before");
    Some(at("masking/rows-dropped", command.lines.0, weight, why))
}

fn grep(words: &[String]) -> Option<Weight> {
    let short = |letter: char| {
        words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let pattern = words.iter().find(|word| !word.starts_with('-'))?;
    let said = pattern.replace("[:space:]", "").replace("\\s", "").replace("[:blank:]", "");
    let blank = !said.chars().any(char::is_alphanumeric);
    if blank || pattern == "grep" || short('q') || short('c') || short('o') || short('l') {
        return None;
    }
    Some(Weight::Refuse)
}

/// `/BAD/d`, `-n '/x/p'`.
fn sed(script: &str) -> Option<Weight> {
    static DELETES: OnceLock<Option<Regex>> = OnceLock::new();
    let deletes = compiled(
        &DELETES,
        r"(?:^|[;{}]\s*)(/(?:[^/\\]|\\.)*/|\d+|\$)(?:,(?:/[^/]*/|\d+|\$))?\s*!?\s*(d|p)\b",
    )?;
    let found = deletes.captures(script)?;
    let address = found.get(1).map_or("", |address| address.as_str());
    let said = address.replace("[:space:]", "").replace("\\s", "");
    match said.chars().any(char::is_alphabetic) {
        true => Some(Weight::Refuse),
        false if address == "1" || !said.chars().any(char::is_alphanumeric) => None,
        false => Some(Weight::Medium),
    }
}

/// The program among the words of `awk`: the first that is no option and no value of one.
fn awk_program(words: &[String]) -> Option<&str> {
    let mut value = false;
    let mut plain = words.iter().filter(|word| {
        let takes = matches!(word.as_str(), "-v" | "-F" | "-f" | "--assign" | "--field-separator");
        let is_value = std::mem::replace(&mut value, takes);
        !is_value && !word.starts_with('-')
    });
    plain.next().map(String::as_str)
}

/// A program that is only a condition: `NF == 5`, `$3 > 0 { print }`.
fn awk(program: &str) -> Option<Weight> {
    let tight: String = program.chars().filter(|c| !c.is_whitespace()).collect();
    let condition =
        tight.strip_suffix("{print}").or_else(|| tight.strip_suffix("{print$0}")).unwrap_or(&tight);
    if condition.contains(['{', '}']) || tight.starts_with('-') {
        return None;
    }
    let about_data = condition.contains(['$', '/', '~'])
        || condition.starts_with("NF") && condition.len() > 2
        || condition.starts_with("length");
    match condition {
        "NF" | "1" | "NF>0" | "NR>1" | "FNR>1" => None,
        _ if condition.starts_with("!seen[") || condition.starts_with("!a[") => Some(Weight::Medium),
        _ if condition == "!/^#/" || condition == "!/^$/" || condition == "/./" => None,
        _ => about_data.then_some(Weight::Refuse),
    }
}

fn head(words: &[String]) -> Option<Weight> {
    let digits = words.iter().map(|word| word.trim_start_matches("-n").trim_start_matches('-'));
    let count = digits.filter_map(|word| word.parse::<u64>().ok()).next().unwrap_or(10);
    Some(if count > 1 { Weight::Refuse } else { Weight::Medium })
}

/// How often a program for `jq` lets something be missing: `// 0`, `.a[]?`. `.a // .b` asks for another field.
pub fn jq_lenient(text: &str) -> usize {
    static DEFAULT: OnceLock<Option<Regex>> = OnceLock::new();
    let default = compiled(&DEFAULT, r#"//\s*(?:"|'|-?\d|null|false|true|\[|\{|empty)"#);
    default.map_or(0, |default| default.find_iter(text).count()) + text.matches('?').count()
}

/// How many of what `find` finds are newly left out by size, age or name.
pub fn find_excludes(words: &[String]) -> usize {
    const BY: &[&str] = &["-size", "-newer", "-newermt", "-mtime", "-mmin", "-ctime", "-anewer"];
    let place = |word: &String| BY.contains(&word.as_str());
    let negated = words.windows(3).filter(|three| {
        matches!(three, [not, by, what]
            if matches!(not.as_str(), "!" | "-not")
                && matches!(by.as_str(), "-name" | "-iname" | "-path" | "-empty")
                && !what.contains(".git") && !what.contains("node_modules"))
    });
    words.iter().filter(|word| place(word)).count() + negated.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_of_data_are_told_from_those_of_blank_lines_and_comments() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(grep(&words("-v ^BAD in")), Some(Weight::Refuse));
        assert_eq!(grep(&words("-v ^# in")), None);
        assert_eq!(grep(&words("-vE ^[[:space:]]*$ in")), None);
        assert_eq!(sed("/BAD/d"), Some(Weight::Refuse));
        assert_eq!((sed("/^#/d"), sed("/^$/d"), sed("1d"), sed("s/d/e/")), (None, None, None, None));
        assert_eq!(awk("NF==5"), Some(Weight::Refuse));
        assert_eq!((awk("NF"), awk("{ print $1 }"), awk("!/^#/")), (None, None, None));
        assert_eq!(awk_program(&words("-v top=$1 -F , NF>3 in")), Some("NF>3"));
        assert_eq!(head(&words("-n 100")), Some(Weight::Refuse));
    }

    #[test]
    fn leniency_of_jq_and_find_is_counted() {
        assert_eq!((jq_lenient(".a // 0"), jq_lenient(".a // .b"), jq_lenient(".a[]?")), (1, 0, 1));
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(find_excludes(&words("in -name *.csv ! -name bad*")), 1);
        assert_eq!(find_excludes(&words("in -type f -name *.csv")), 0);
    }
}
