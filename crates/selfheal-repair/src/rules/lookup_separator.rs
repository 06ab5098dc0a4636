//! # A lookup that looks for another separator than the list has
//!
//! ## What it finds
//! A script looks a key up with `grep "^$key "` in a list whose lines separate the key with something else now: a tab, a
//! semicolon, a comma. So it finds nothing, whatever the key.
//!
//! ## Why it fails
//! Whoever keeps the list writes it with another separator. `local x=$(…)` and `export x=$(…)` hide that nothing was found:
//! their own status is 0.
//!
//! ## Fix
//! The pattern, and the `cut` or `awk` behind it, take the separator that the list has. Where a declaration of a strict
//! script hides the status of the lookup, it is made in two steps.
//!
//! ## Example
//! ```sh
//! port_of() { grep "^$1 " ports | cut -d' ' -f2; }
//! open() { local port=$(port_of "$1"); connect "$port"; }
//! ```
//! ```sh
//! port_of() { grep "^$1[[:blank:]]" ports | awk '{ print $2 }'; }
//! open() { local port; port=$(port_of "$1") || return 1; connect "$port"; }
//! ```
//!
//! ## Safety
//! Only when no line of the list has the separator that is looked for, and all have the same other one. A key that is not in
//! the list fails, also where that was hidden before. It changes what is read, so the risk is medium.

use std::ops::Range;
use std::path::Path;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::shell::{Command, Script, Values, splice, substitution, unquoted};

rule!(LookupSeparator, "lookup_separator", Unsafe, propose);

const SEPARATORS: &[char] = &['\t', ';', ',', '|', ':', '=', ' '];

/// A lookup whose list has another separator.
struct Lookup<'s> {
    grep: &'s Command,
    pattern: Range<usize>,
    old: char,
    new: char,
    list: String,
}

fn propose(case: &Case) -> Vec<Candidate> {
    let fits = case.faults().all(|fault| {
        matches!(
            fault,
            Fault::Other { .. }
                | Fault::SilentExit { .. }
                | Fault::BadValue { .. }
                | Fault::Mismatch { .. }
                | Fault::Syntax { .. }
                | Fault::UnsetVariable { .. }
        )
    });
    if !fits {
        return Vec::new();
    }
    let shells = case.files().into_iter().filter(|file| file.language.is_shell());
    shells.filter_map(|file| mended(case, &file)).take(1).collect()
}

fn mended(case: &Case, file: &ScriptFile) -> Option<Candidate> {
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    let lookups: Vec<Lookup> =
        script.commands.iter().filter_map(|command| lookup(case, &script, &values, command)).collect();
    let first = lookups.first()?;
    let line = script.line_of(first.grep.span.start);
    let mut parts = Vec::new();
    let mut stated = false;
    for lookup in &lookups {
        parts.extend(with_separator(&script, lookup));
        let hidden = hidden_status(&script, lookup);
        stated |= !hidden.is_empty();
        parts.extend(hidden);
    }
    let (old, new) = (first.old, first.new);
    let mut draft = Draft::new(
        "lookup_separator",
        format!("line {line}: the lookup wants {old:?} behind the key, and {} has {new:?} there", first.list),
        "look for the separator that the list has",
    )
    .evidence(format!("no line of {} has {old:?}, and every one has {new:?}", first.list))
    .meaning();
    if stated {
        draft = draft.evidence("the declaration hides that nothing was found");
    }
    let more = if stated { ", and a key that is not there is no longer hidden" } else { "" };
    draft.rewrite(file, splice(&file.text, parts), format!("line {line}: {new:?} for {old:?}{more}")).done()
}

fn lookup<'s>(
    case: &Case,
    script: &'s Script<'_>,
    values: &Values<'_>,
    command: &'s Command,
) -> Option<Lookup<'s>> {
    if !matches!(script.name(command).as_str(), "grep" | "egrep") {
        return None;
    }
    let mut words = command.words.iter().skip(1).filter(|span| !script.get(span).starts_with('-'));
    let (pattern, list) = (words.next()?, words.next()?);
    let written = script.get(pattern);
    let inner = written.strip_prefix("\"^").and_then(|rest| rest.strip_suffix('"'))?;
    let old = inner.chars().next_back().filter(|last| SEPARATORS.contains(last) && inner.starts_with('$'))?;
    let path = case.find(Path::new(&values.word(script.get(list))?))?;
    let bytes = case.scene.read(&path, crate::case::LARGEST)?;
    let new = separator(&String::from_utf8_lossy(&bytes), old)?;
    let list = path.file_name()?.to_string_lossy().into_owned();
    Some(Lookup { grep: command, pattern: pattern.clone(), old, new, list })
}

/// The one separator that every line of a list has, where none has the old one.
fn separator(text: &str, old: char) -> Option<char> {
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).collect();
    if lines.is_empty() || lines.iter().any(|line| line.contains(old)) {
        return None;
    }
    let everywhere =
        |mark: &&char| lines.iter().all(|line| line.contains(**mark) && !line.starts_with(**mark));
    let mut found = SEPARATORS.iter().filter(|mark| **mark != old).filter(everywhere);
    let first = *found.next()?;
    found.next().is_none().then_some(first)
}

/// The pattern, and what takes a field behind it, with the new separator.
fn with_separator(script: &Script<'_>, lookup: &Lookup<'_>) -> Vec<(Range<usize>, String)> {
    let written = script.get(&lookup.pattern);
    let blank = matches!(lookup.new, '\t' | ' ');
    let mark = match lookup.new {
        '\t' | ' ' => "[[:blank:]]".to_owned(),
        other => other.to_string(),
    };
    let head = written.strip_suffix('"').and_then(|rest| rest.strip_suffix(lookup.old)).unwrap_or(written);
    let mut parts = vec![(lookup.pattern.clone(), format!("{head}{mark}\""))];
    let behind = script
        .commands
        .iter()
        .find(|other| other.span.start > lookup.grep.span.end && other.before == "|")
        .filter(|_| lookup.grep.after == "|");
    let Some(behind) = behind else { return parts };
    let words = script.words(behind);
    let given = |option: &str| -> Option<(usize, String)> {
        let at = words.iter().position(|word| word.starts_with(option))?;
        let own = unquoted(words.get(at)?.strip_prefix(option)?);
        if own.is_empty() { Some((at + 1, unquoted(words.get(at + 1)?))) } else { Some((at, own)) }
    };
    match script.name(behind).as_str() {
        "cut" => {
            let delimiter = given("-d").filter(|(_, mark)| *mark == lookup.old.to_string());
            let field = given("-f").filter(|(_, field)| field.chars().all(|c| c.is_ascii_digit()));
            if let (Some((at, _)), Some((_, field))) = (delimiter, field) {
                if blank {
                    parts.push((behind.span.clone(), format!("awk '{{ print ${field} }}'")));
                } else if let Some(span) = behind.words.get(at) {
                    let option = if script.get(span).starts_with("-d") { "-d" } else { "" };
                    parts.push((span.clone(), format!("{option}'{}'", lookup.new)));
                }
            }
        }
        "awk" | "gawk" | "mawk" => {
            let separator = given("-F").filter(|(_, mark)| *mark == lookup.old.to_string());
            match (separator, behind.words.first()) {
                (Some((at, _)), _) if lookup.old != ' ' || !blank => {
                    if let Some(span) = behind.words.get(at) {
                        let option = if script.get(span).starts_with("-F") { "-F" } else { "" };
                        let mark = if lookup.new == '\t' { "\\t".to_owned() } else { lookup.new.to_string() };
                        parts.push((span.clone(), format!("{option}'{mark}'")));
                    }
                }
                (None, Some(name)) if !blank && !words.iter().any(|word| word.starts_with("-F")) => {
                    parts.push((name.end..name.end, format!(" -F'{}'", lookup.new)));
                }
                _ => {}
            }
        }
        _ => {}
    }
    parts
}

/// Declarations of a strict script that hide the status of a lookup, made in two steps.
fn hidden_status(script: &Script<'_>, lookup: &Lookup<'_>) -> Vec<(Range<usize>, String)> {
    if !script.strict('e', "errexit") {
        return Vec::new();
    }
    let function = script.function_of(lookup.grep);
    let of_lookup = |command: &&Command| {
        let [_, assigned] = command.words.as_slice() else { return false };
        let declares = matches!(script.name(command).as_str(), "local" | "declare" | "typeset");
        let inner = script.get(assigned).split_once('=').and_then(|(_, value)| substitution(value));
        let calls = inner.and_then(|inner| inner.split_whitespace().next()) == function && function.is_some();
        let holds = command.span.start <= lookup.grep.span.start && lookup.grep.span.end <= command.span.end;
        declares && inner.is_some() && (calls || holds) && script.in_function(command.block)
    };
    let in_two = |command: &Command| {
        let [declare, assigned] = command.words.as_slice() else { return None };
        let written = script.get(assigned);
        let (name, _) = written.split_once('=')?;
        let start = script.line_start(command.span.start);
        let indent = script.get(&(start..command.span.start));
        let glue = if indent.trim().is_empty() { format!("\n{indent}") } else { "; ".to_owned() };
        let end = assigned.end..assigned.end;
        let between = declare.end..assigned.start;
        Some([(between, format!(" {name}{glue}")), (end, " || return 1".to_owned())])
    };
    script.commands.iter().filter(of_lookup).filter_map(in_two).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const TEXT: &str = "set -euo pipefail\nLIST=r.txt\nrate() {\n  grep \"^$1 \" \"$LIST\" | cut -d' ' -f2\n}\nuse() {\n  local r=$(rate \"$1\")\n  echo \"$r\"\n}\nuse a\n";

    fn case(text: &str, list: &str) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new().file("r.txt", list))
            .fault(Fault::Other { message: "nothing booked".into() })
    }

    #[test]
    fn takes_the_separator_of_the_list_and_hides_nothing() {
        assert_eq!(
            case(TEXT, "a\t1\nb\t2\n").healed(&LookupSeparator),
            "set -euo pipefail\nLIST=r.txt\nrate() {\n  grep \"^$1[[:blank:]]\" \"$LIST\" | awk '{ print $2 }'\n}\nuse() {\n  local r\n  r=$(rate \"$1\") || return 1\n  echo \"$r\"\n}\nuse a\n"
        );
        let healed = case("grep \"^$1:\" r.txt | cut -d: -f3\n", "a;1;2\n").healed(&LookupSeparator);
        assert_eq!(healed, "grep \"^$1;\" r.txt | cut -d';' -f3\n");
    }

    #[test]
    fn leaves_lists_with_the_separator_alone() {
        assert!(case(TEXT, "a 1\nb\t2\n").silent(&LookupSeparator));
        assert!(case(TEXT, "a;1,2\n").silent(&LookupSeparator));
        assert!(case(TEXT, "").silent(&LookupSeparator));
    }
}
