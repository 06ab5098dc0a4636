//! Masking in Makefiles besides their recipes: what is asked for, and what is told to ignore errors.

use std::collections::{BTreeMap, BTreeSet};

use selfheal_core::admission::{Finding, Weight};

use crate::finding::at;

/// A rule: its line, its prerequisites.
type Rules = BTreeMap<String, (u32, BTreeSet<String>)>;

/// Targets that are no longer asked for although they are still there, and recipes that became ignored.
pub fn compare(before: &str, after: &str) -> Vec<Finding> {
    let (old, new) = (rules(before), rules(after));
    let mut out = Vec::new();
    for (target, (_, had)) in &old {
        let Some((line, has)) = new.get(target) else { continue };
        // What is a target itself is a step; a plain file may be named wrongly.
        let lost = had.iter().find(|name| !has.contains(*name) && new.contains_key(*name));
        let lost = lost.or_else(|| dropped(had, has));
        if let Some(name) = lost.filter(|_| !reaches(&new, target, had, has)) {
            let why = format!("`{target}` no longer asks for `{name}`");
            out.push(at("masking/step-skipped", *line, Weight::Refuse, why));
        }
    }
    out.extend(ignored(before, after));
    out
}

/// A line of a recipe that begins with `-` now: its failure is ignored. What is indented by blanks is no recipe for make, but
/// was meant to be one.
fn ignored(before: &str, after: &str) -> Option<Finding> {
    let had: Vec<&str> = before.lines().filter_map(ignoring).collect();
    let fresh = |(_, command): &(u32, &str)| !had.contains(command) && !is_cleaning(command);
    let lines = (1_u32..).zip(after.lines());
    let (line, command) = lines.filter_map(|(n, line)| Some((n, ignoring(line)?))).find(fresh)?;
    let name = command.split_whitespace().next().unwrap_or_default();
    let why = format!("the failure of `{name}` is ignored");
    Some(at("masking/swallowed", line, Weight::Refuse, why))
}

/// The command of a line of a recipe that make is told to ignore the failure of.
fn ignoring(line: &str) -> Option<&str> {
    let recipe = line.strip_prefix(['\t', ' '])?.trim_start();
    let command = recipe.trim_start_matches(['@', '+', '-', ' ']);
    let signs = recipe.get(..recipe.len() - command.len())?;
    signs.contains('-').then_some(command)
}

/// Taking away what may be there or not.
fn is_cleaning(command: &str) -> bool {
    let name = command.split_whitespace().next().unwrap_or_default();
    ["rm", "rmdir", "mkdir", "kill", "pkill", "killall", "$(RM)"].contains(&name) || command.contains(" rm ")
}

/// A prerequisite that names a step and is gone with nothing new in its place. What holds a dot, a slash or a variable
/// names a file.
fn dropped<'a>(had: &'a BTreeSet<String>, has: &BTreeSet<String>) -> Option<&'a String> {
    let step = |name: &&String| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let fresh = has.iter().any(|name| !had.contains(name));
    had.iter().filter(step).find(|name| !fresh && !has.contains(*name))
}

/// Whether everything that was asked for is still asked for by way of another prerequisite.
fn reaches(rules: &Rules, target: &str, had: &BTreeSet<String>, has: &BTreeSet<String>) -> bool {
    let mut seen: BTreeSet<&str> = has.iter().map(String::as_str).collect();
    let mut open: Vec<&str> = seen.iter().copied().collect();
    while let Some(next) = open.pop() {
        for name in rules.get(next).map(|(_, all)| all).into_iter().flatten() {
            if name != target && seen.insert(name) {
                open.push(name);
            }
        }
    }
    had.iter().all(|name| seen.contains(name.as_str()))
}

fn rules(text: &str) -> Rules {
    let mut out = Rules::new();
    for (line, number) in text.replace("\\\n", " ").lines().zip(1_u32..) {
        let is_rule = !line.starts_with(['\t', '#', ' ', '.']) && !line.contains('=');
        let Some((targets, sources)) = line.split_once(':').filter(|_| is_rule) else { continue };
        let sources = sources.trim_start_matches(':').split(['#', ';']).next().unwrap_or_default();
        for target in targets.split_whitespace() {
            let (_, all) = out.entry(target.to_owned()).or_insert((number, BTreeSet::new()));
            all.extend(sources.split_whitespace().filter(|word| *word != "|").map(str::to_owned));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_whose_failure_is_ignored_now_is_found_however_it_was_indented() {
        let old = "a:\n    sed s/x/y/ in > out\n";
        assert_eq!(compare(old, "a:\n\t-sed s/x/y/ in > out\n").len(), 1);
        assert_eq!(compare(old, "a:\n\t@-sed s/x/y/ in > out\n").len(), 1);
        assert!(compare(old, "a:\n\tsed s/x/y/ in > out\n").is_empty());
        assert!(compare(old, "a:\n\t-rm -f out\n\tsed s/x/y/ in > out\n").is_empty());
    }

    #[test]
    fn what_is_still_asked_for_by_another_way_is_not_lost() {
        let old = "all: test build\ntest:\n\tt\nbuild:\n\tb\n";
        assert_eq!(compare(old, &old.replace("all: test", "all:")).len(), 1);
        let moved = old.replace("all: test", "all:").replace("build:", "build: test");
        assert!(compare(old, &moved).is_empty());
        assert!(compare("a: x.c\n\tcc\n", "a: y.c\n\tcc\n").is_empty());
    }
}
