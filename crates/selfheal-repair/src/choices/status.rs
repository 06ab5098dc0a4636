//! Answers that a strict script takes for failures, and orders of lines that a tool does not take.

use selfheal_core::edit::apply;
use selfheal_core::fault::Fault;

use super::Offer;
use super::near::Near;
use crate::case::{Case, Language, ScriptFile};
use crate::text;

pub(super) fn offers(case: &Case, near: &Near) -> Vec<Offer> {
    let scripts: Vec<&ScriptFile> = near.editable.iter().filter(|file| file.language.is_shell()).collect();
    let unsorted = case.faults().any(|fault| matches!(fault, Fault::NotSorted { .. }));
    let mut out: Vec<Offer> = Vec::new();
    for script in scripts {
        out.extend(counted(script));
        if unsorted {
            out.extend(by_line(script, "lines are sorted as numbers, and compared as text", |line| {
                let head = line.trim_start();
                head.starts_with("sort -n ").then(|| line.replacen("sort -n ", "sort ", 1))
            }));
            out.extend(sorted_first(script));
        }
    }
    out
}

/// `grep -c` counts; that it counted none is an answer.
fn counted(script: &ScriptFile) -> Option<Offer> {
    by_line(script, "grep ends with 1 where it counts none, which is an answer", |line| {
        let line = line.trim_end();
        let counts = ["grep -c ", "grep -ci ", "grep -ic ", "grep -cE ", "grep -cv "]
            .iter()
            .any(|word| line.contains(word));
        let alone = !line.contains(['|', '&', ';', '#']) && !line.trim_start().starts_with("if ");
        (counts && alone).then(|| format!("{line} || [ $? -eq 1 ]"))
    })
}

/// `join` and `comm` of two files that nobody sorted.
fn sorted_first(script: &ScriptFile) -> Option<Offer> {
    if script.language != Language::Bash {
        return None;
    }
    by_line(script, "the files are not sorted by what they are joined by", |line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first() != Some(&"join") {
            return None;
        }
        let end = words.iter().position(|word| word.starts_with(['>', '|', '<'])).unwrap_or(words.len());
        let (first, second) = (*words.get(end.checked_sub(2)?)?, *words.get(end - 1)?);
        if first.starts_with('-') || second.starts_with('-') {
            return None;
        }
        let field = |side: &str| {
            let at = words.iter().position(|word| *word == side);
            at.and_then(|at| words.get(at + 1)).copied().unwrap_or("1").to_owned()
        };
        let mark =
            words.iter().find(|word| word.starts_with("-t") && word.len() > 2).copied().unwrap_or_default();
        let sorted = |file: &str, side: &str| {
            let key = field(side);
            let mark = if mark.is_empty() { String::new() } else { format!("{mark} ") };
            format!("<(LC_ALL=C sort {mark}-k{key},{key} {file})")
        };
        let indent = line.get(..line.len() - line.trim_start().len())?;
        let mut new: Vec<String> = vec!["LC_ALL=C".to_owned()];
        new.extend(words.iter().take(end - 2).map(|word| (*word).to_owned()));
        new.extend([sorted(first, "-1"), sorted(second, "-2")]);
        new.extend(words.iter().skip(end).map(|word| (*word).to_owned()));
        // A failure inside of `<(…)` ends no job.
        let there = |file: &str| format!("{indent}[ -r {file} ] || exit 1\n");
        Some(format!("{}{}{indent}{}", there(first), there(second), new.join(" ")))
    })
}

fn by_line(
    script: &ScriptFile,
    cause: &str,
    mut change: impl FnMut(&str) -> Option<String>,
) -> Option<Offer> {
    let edits = text::edits_by_line(&script.text, |_, line| change(line));
    let after = apply(&script.text, &edits).ok().filter(|_| !edits.is_empty())?;
    Some(Offer::new(script, after, cause))
}
