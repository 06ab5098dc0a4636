//! # read takes two tabs for one
//!
//! ## What it finds
//! A loop reads tab-separated fields with `IFS=$'\t' read`, and a line with an empty column shifts all that follow.
//!
//! ## Why it fails
//! A tab counts as white space for `read`, and white space in a row separates only once, even when it is all of `IFS`.
//!
//! ## Fix
//! The tabs become a character that is no white space (the unit separator) on the way into the loop.
//!
//! ## Example
//! ```sh
//! while IFS=$'\t' read -r id note count; do
//!   echo "$count"
//! done < list.tsv
//! ```
//! ```sh
//! while IFS=$'\037' read -r id note count; do
//!   echo "$count"
//! done < <(tr '\t' '\037' < list.tsv)
//! ```
//!
//! ## Safety
//! Only when the file has an empty column. A file that cannot be read still fails the job. It changes what is read, so the
//! risk is medium.

use std::ops::Range;
use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::scene::absolute;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::shell::{Script, Values, splice};

rule!(TabFields, "tab_fields", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let fits = case.faults().any(|fault| {
        matches!(
            fault,
            Fault::Other { .. }
                | Fault::BadValue { .. }
                | Fault::Mismatch { .. }
                | Fault::Syntax { .. }
                | Fault::SilentExit { .. }
        )
    });
    let Some(file) = case.failing_file().filter(|file| fits && file.language == Language::Bash) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    let reads: Vec<Range<usize>> = script
        .commands
        .iter()
        .filter(|command| script.name(command) == "read")
        .flat_map(|command| &command.assigns)
        .filter(|span| is_tab(&script, script.get(span)))
        .cloned()
        .collect();
    if reads.is_empty() {
        return Vec::new();
    }
    let mut parts: Vec<(Range<usize>, String)> = separators(&script, &reads);
    let mut shown = None;
    for command in script.commands.iter().filter(|command| command.words.is_empty()) {
        for (operator, target) in command.redirects.iter().filter(|(operator, _)| script.get(operator) == "<")
        {
            let word = script.get(target);
            let Some(value) = values.word(word).filter(|_| operator.end <= target.start) else { continue };
            if has_empty_column(case, &absolute(&case.base(), Path::new(&value))) {
                parts.push((target.clone(), format!("<(tr '\\t' '\\037' < {word})")));
                let check = format!(
                    "[ -r {word} ] || {{ echo \"{} cannot be read\" >&2; exit 1; }}",
                    word.replace('"', "")
                );
                parts.push(script.put_before(script.statement(command), &check));
                shown = Some((value, script.line_of(operator.start)));
            }
        }
    }
    let Some((value, _)) = shown else { return Vec::new() };
    let line = reads.first().map_or(0, |span| script.line_of(span.start));
    let draft = Draft::new(
        "tab_fields",
        format!("line {line}: {value} has an empty column, and read takes two tabs in a row for one"),
        "read fields that are separated by a character that is no white space",
    )
    .evidence(format!("{value} has two tabs in a row"))
    .meaning()
    .rewrite(&file, splice(&file.text, parts), format!("line {line}: empty columns stay"));
    draft.done().into_iter().collect()
}

/// What makes the loops split at the unit separator. A variable that serves for nothing else gets the other value.
fn separators(script: &Script<'_>, reads: &[Range<usize>]) -> Vec<(Range<usize>, String)> {
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    for span in reads {
        let word = script.get(span).trim_start_matches("IFS=");
        let name = word.trim_matches('"').trim_start_matches('$').trim_matches(['{', '}']);
        let uses = crate::text::whole_words(script.text, name)
            .filter(|at| script.text.get(..*at).is_some_and(|head| head.ends_with(['$', '{'])))
            .count();
        let served = reads.iter().filter(|other| script.get(other) == script.get(span)).count();
        let set = script.assignments().find(|(own, ..)| *own == name).map(|(_, value, _)| value);
        match set.filter(|_| word.contains('$') && !word.starts_with("$'") && uses == served) {
            Some(value) if parts.iter().any(|(known, _)| *known == value) => {}
            Some(value) => {
                // What is worked out by a command goes on being so.
                let old = script.get(&value);
                let octal = if old.contains("echo") { "\\0037" } else { "\\037" };
                let new = if old.contains("\\t") { old.replace("\\t", octal) } else { "$'\\037'".to_owned() };
                parts.push((value, new));
            }
            None => parts.push((span.clone(), "IFS=$'\\037'".to_owned())),
        }
    }
    parts
}

/// Ways to let a command write a tab.
const PRINTED: &[&str] =
    &["$(printf '\\t')", "$(printf \"\\t\")", "$(echo -e '\\t')", "$(echo -e \"\\t\")", "`printf '\\t'`"];

fn has_empty_column(case: &Case, path: &Path) -> bool {
    case.scene
        .read(path, crate::case::LARGEST)
        .is_some_and(|bytes| bytes.windows(2).any(|pair| pair == b"\t\t"))
}

/// Whether an assignment sets `IFS` to a tab, as written or by a variable that the script sets to one.
fn is_tab(script: &Script<'_>, assign: &str) -> bool {
    let tab = |word: &str| {
        let bare = word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(word);
        matches!(word, "$'\\t'" | "\"\t\"" | "'\t'") || PRINTED.contains(&bare)
    };
    let Some(word) = assign.strip_prefix("IFS=") else { return false };
    let name = word.trim_matches('"').trim_start_matches('$').trim_matches(['{', '}']);
    tab(word)
        || script
            .assignments()
            .any(|(own, value, _)| own == name && word.contains('$') && tab(script.get(&value).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const TEXT: &str =
        "set -e\nsheet=h.tsv\nwhile IFS=$'\\t' read -r a b c; do\n  echo \"$c\"\ndone < \"$sheet\"\n";

    fn case(table: &str) -> TestCase {
        TestCase::new("x.sh", TEXT, TestScene::new().file("h.tsv", table))
            .fault(Fault::Other { message: "no number".into() })
    }

    #[test]
    fn keeps_empty_columns() {
        assert_eq!(
            case("1\t\t2\n").healed(&TabFields),
            "set -e\nsheet=h.tsv\n[ -r \"$sheet\" ] || { echo \"$sheet cannot be read\" >&2; exit 1; }\nwhile IFS=$'\\037' read -r a b c; do\n  echo \"$c\"\ndone < <(tr '\\t' '\\037' < \"$sheet\")\n"
        );
    }

    #[test]
    fn knows_a_tab_in_a_variable() {
        for tab in ["$'\\t'", "$(printf '\\t')", "\"$(printf '\\t')\""] {
            let text = format!(
                "#!/bin/bash\nTAB={tab}\nwhile IFS=$TAB read -r a b c; do\n  echo \"$c\"\ndone < h.tsv\n"
            );
            let case = TestCase::new("x.sh", &text, TestScene::new().file("h.tsv", "1\t\t2\n"));
            let healed = case.fault(Fault::Other { message: "no number".into() }).healed(&TabFields);
            let set = format!("TAB={}\n", tab.replace("\\t", "\\037"));
            assert!(healed.contains(&set) && healed.contains("IFS=$TAB read"), "{healed}");
        }
    }

    #[test]
    fn leaves_full_tables_alone() {
        assert!(case("1\tx\t2\n").silent(&TabFields));
    }
}
