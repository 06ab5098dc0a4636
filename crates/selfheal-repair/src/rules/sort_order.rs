//! # Input that is sorted in another order
//!
//! ## What it finds
//! `join` or `comm` refuses an input as not sorted: a file that came sorted under another locale, or was never sorted.
//!
//! ## Why it fails
//! What counts as sorted depends on the locale. `sort`, `join` and `comm` have to agree, and a file from elsewhere was made
//! with another order.
//!
//! ## Fix
//! All of them work in the byte order (`LC_ALL=C`), and the input that came from elsewhere is sorted before it is used.
//!
//! ## Example
//! ```sh
//! join -t'|' own.sorted vendor/prices.txt > priced
//! ```
//! ```sh
//! export LC_ALL=C
//! sort -t'|' -k1,1 vendor/prices.txt | join -t'|' own.sorted - > priced
//! ```
//!
//! ## Safety
//! Files are not changed. With `pipefail`, an input that is missing still fails the job; without it, a check is added.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, splice, unquoted};

rule!(SortOrder, "sort_order", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let unsorted = case.faults().any(|fault| matches!(fault, Fault::NotSorted { .. }));
    let Some(file) = case.failing_file().filter(|file| unsorted && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let made = sorted_files(&script);
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    for command in script.commands.iter().filter(|c| matches!(script.name(c).as_str(), "join" | "comm")) {
        parts.extend(sorted_input(&script, command, &made));
    }
    if parts.is_empty() {
        return Vec::new();
    }
    let lines: Vec<String> = parts.iter().map(|(span, _)| script.line_of(span.start).to_string()).collect();
    // Of what is put at the same place, the later must come nearer to the command.
    parts.sort_by_key(|(_, new)| (!new.contains("cannot be read"), new.ends_with("| ")));
    if !file.text.contains("LC_ALL=C") {
        let at = script.after_head(false);
        parts.insert(
            0,
            (at..at, "export LC_ALL=C # sort, join and comm have to agree on the order\n".to_owned()),
        );
    }
    let draft = Draft::new(
        "sort_order",
        format!(
            "line {}: an input is not in the order that the tools expect",
            lines.first().cloned().unwrap_or_default()
        ),
        "sort the input here, in the same order as all the rest",
    )
    .rewrite(
        &file,
        splice(&file.text, parts),
        format!("line {}: inputs are sorted in byte order", lines.join(", ")),
    );
    draft.done().into_iter().collect()
}

/// The files that the script itself sorts.
fn sorted_files(script: &Script<'_>) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for command in script.commands.iter().filter(|command| script.name(command) == "sort") {
        files.extend(command.redirects.iter().map(|(_, target)| unquoted(script.get(target))));
        let words = script.words(command);
        let outputs = words.windows(2).filter(|pair| pair.first() == Some(&"-o"));
        files.extend(outputs.filter_map(|pair| pair.get(1)).map(|word| unquoted(word)));
    }
    files
}

/// The edits for the inputs of one command that are not sorted by the script.
fn sorted_input(script: &Script<'_>, command: &Command, made: &[String]) -> Vec<(Range<usize>, String)> {
    let mut parts = Vec::new();
    let key = sort_options(script, command);
    let inputs: Vec<&Range<usize>> = operands(script, command);
    let mut piped = command.before == "|" || inputs.iter().any(|span| script.get(span) == "-");
    for span in inputs {
        let word = script.get(span);
        if let Some(inner) = word.strip_prefix("<(").and_then(|rest| rest.strip_suffix(')')) {
            let last = inner.rsplit('|').next().unwrap_or_default().trim();
            if !last.starts_with("sort") {
                parts.push((span.clone(), format!("<({} | sort{key})", inner.trim())));
            }
        } else if word != "-" && !made.contains(&unquoted(word)) {
            if piped {
                parts.push((span.clone(), format!("<(sort{key} {word})")));
                parts.push(script.put_before(script.statement(command), &readable(word)));
            } else {
                piped = true;
                let start = command.span.start;
                if !script.strict('\0', "pipefail") {
                    parts.push(script.put_before(script.statement(command), &readable(word)));
                }
                parts.push((start..start, format!("sort{key} {word} | ")));
                parts.push((span.clone(), "-".to_owned()));
            }
        }
    }
    parts
}

fn readable(word: &str) -> String {
    format!("[ -r {word} ] || {{ echo \"{} cannot be read\" >&2; exit 1; }}", word.replace('"', ""))
}

/// The inputs: the last two words.
fn operands<'c>(script: &Script<'_>, command: &'c Command) -> Vec<&'c Range<usize>> {
    let takes_value = |word: &str| {
        matches!(word, "-t" | "-1" | "-2" | "-j" | "-o" | "-a" | "-v" | "-e" | "--output-delimiter")
    };
    let mut out = Vec::new();
    let mut skip = false;
    for span in command.words.iter().skip(1) {
        let word = script.get(span);
        if skip {
            skip = false;
        } else if word.starts_with('-') && word != "-" {
            skip = takes_value(word) && script.name(command) == "join";
        } else {
            out.push(span);
        }
    }
    if out.len() == 2 { out } else { Vec::new() }
}

/// Separator and key as options of `sort`; `comm` compares whole lines.
fn sort_options(script: &Script<'_>, command: &Command) -> String {
    if script.name(command) == "comm" {
        return String::new();
    }
    let words = script.words(command);
    let joined =
        words.iter().find(|word| word.starts_with("-t") && word.len() > 2).map(|word| format!(" {word}"));
    let apart = words
        .windows(2)
        .find(|pair| pair.first() == Some(&"-t"))
        .and_then(|pair| pair.get(1))
        .map(|word| format!(" -t {word}"));
    let fields: Vec<&str> = words
        .windows(2)
        .filter(|pair| matches!(pair.first(), Some(&"-1" | &"-2" | &"-j")))
        .filter_map(|p| p.get(1).copied())
        .collect();
    let field = match fields.as_slice() {
        [] => "1",
        [first, rest @ ..] if rest.iter().all(|other| other == first) => first,
        _ => "1",
    };
    format!("{} -k{field},{field}", joined.or(apart).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new())
            .fault(Fault::NotSorted { path: Some("v.txt".into()) })
            .at(3)
    }

    #[test]
    fn sorts_what_came_from_elsewhere() {
        let text = "set -euo pipefail\nsort -t'|' -k1,1 c > c.sorted\njoin -t'|' c.sorted v.txt > p\ncomm -23 <(cut -d'|' -f1 c.sorted) <(cut -f1 v.txt) > u\n";
        assert_eq!(
            case(text).healed(&SortOrder),
            "set -euo pipefail\nexport LC_ALL=C # sort, join and comm have to agree on the order\nsort -t'|' -k1,1 c > c.sorted\nsort -t'|' -k1,1 v.txt | join -t'|' c.sorted - > p\ncomm -23 <(cut -d'|' -f1 c.sorted | sort) <(cut -f1 v.txt | sort) > u\n"
        );
    }

    #[test]
    fn a_missing_input_still_fails_without_pipefail() {
        let healed = case("comm -12 a \"$b\"\n").healed(&SortOrder);
        assert!(healed.contains("[ -r a ] || {") && healed.contains("[ -r \"$b\" ] || {"), "{healed}");
        assert!(healed.contains("sort a | comm -12 - <(sort \"$b\")\n"), "{healed}");
    }

    #[test]
    fn leaves_other_failures_alone() {
        assert!(
            TestCase::new("x.sh", "join a b\n", TestScene::new())
                .fault(Fault::SilentExit { code: 1 })
                .silent(&SortOrder)
        );
    }
}
