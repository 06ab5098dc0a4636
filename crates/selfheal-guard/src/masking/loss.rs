//! What a change quietly loses, whatever the language: values that were used and are only assigned now, conditions that
//! became weaker, patterns of checks that let more through. A run with such a change ends well and produces less or
//! something else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::{Language, diff};

use crate::finding::at;

/// What a change loses.
pub fn compare(language: Language, before: &str, after: &str) -> Vec<Finding> {
    let mut out = Vec::new();
    match language {
        Language::Shell => {
            out.extend(unused(before, after, &shell_names()));
            out.extend(unused_in_functions(before, after));
        }
        Language::Python => out.extend(unused(before, after, &python_names())),
        _ => {}
    }
    let pairs = changed_pairs(before, after);
    out.extend(pairs.iter().filter_map(weaker_condition));
    out.extend(pairs.iter().filter_map(|pair| wider_pattern(pair, after)));
    out
}

/// A line that changed, as it was and as it is.
struct Pair {
    line: u32,
    old: String,
    new: String,
}

/// The lines that take each other's place: those of hunks with as many old as new lines.
fn changed_pairs(before: &str, after: &str) -> Vec<Pair> {
    let same_size = |hunk: &diff::Hunk| hunk.removed.len() == hunk.added.len();
    let hunks = diff::hunks(before, after).into_iter().filter(same_size);
    hunks
        .flat_map(|hunk| {
            let lines = hunk.new.zip(hunk.removed.into_iter().zip(hunk.added));
            lines.map(|(line, (old, new))| Pair { line, old, new })
        })
        .collect()
}

/// How a language writes the names of values.
struct Names {
    /// An assignment; the name is the first group.
    assigned: &'static Regex,
    /// A use; the name is the first group.
    used: &'static Regex,
}

fn compiled(cell: &'static OnceLock<Option<Regex>>, pattern: &str) -> Option<&'static Regex> {
    cell.get_or_init(|| Regex::new(pattern).ok()).as_ref()
}

fn shell_names() -> Option<Names> {
    static ASSIGNED: OnceLock<Option<Regex>> = OnceLock::new();
    static USED: OnceLock<Option<Regex>> = OnceLock::new();
    Some(Names {
        assigned: compiled(&ASSIGNED, r"(?:^|[\s;(])([A-Za-z_][A-Za-z0-9_]*)\+?=")?,
        used: compiled(&USED, r"\$\{?[#!]?([A-Za-z_][A-Za-z0-9_]*)")?,
    })
}

fn python_names() -> Option<Names> {
    static ASSIGNED: OnceLock<Option<Regex>> = OnceLock::new();
    static USED: OnceLock<Option<Regex>> = OnceLock::new();
    Some(Names {
        assigned: compiled(&ASSIGNED, r"(?m)^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=[^=]")?,
        used: compiled(&USED, r"\b([A-Za-z_][A-Za-z0-9_]*)\b")?,
    })
}

/// Values that were used before, are still worked out, and are used nowhere any more: what they did is gone.
fn unused(before: &str, after: &str, names: &Option<Names>) -> Vec<Finding> {
    let Some(names) = names else { return Vec::new() };
    if !may_lose(before, after, names) {
        return Vec::new();
    }
    let still_assigned = all(names.assigned, after);
    let assigned_before = all(names.assigned, before);
    let (had, has) = (uses(names, before), uses(names, after));
    let lost: Vec<&String> = had
        .iter()
        .filter(|name| !has.contains(*name))
        .filter(|name| still_assigned.contains(*name) && assigned_before.contains(*name))
        // Variables that programs read, and those that are only there to be thrown away.
        .filter(|name| !name.starts_with('_') && name.as_str() != name.to_uppercase())
        .collect();
    let Some(first) = lost.first() else { return Vec::new() };
    let line = after.lines().position(|line| line.contains(first.as_str())).map_or(1, |at| at as u32 + 1);
    let why = format!("`{first}` is worked out and no longer used: what was done with it is gone");
    vec![at("masking/value-lost", line, Weight::Refuse, why)]
}

/// Whether a name on a line that is gone may be used nowhere any more. Only such names can be lost, and reading whole texts
/// for them is what takes time.
fn may_lose(before: &str, after: &str, names: &Names) -> bool {
    let removed: Vec<String> = diff::hunks(before, after).into_iter().flat_map(|hunk| hunk.removed).collect();
    let dollar = !in_place(names);
    all(names.used, &removed.join("\n")).iter().any(|name| !dollar || !has_expansion(after, name))
}

/// Whether `$name` or `${name` stands in a text.
fn has_expansion(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (front, behind) = (text.get(..at).unwrap_or_default(), text.get(at + name.len()..));
        let front = front.strip_suffix(['#', '!']).unwrap_or(front);
        let front = front.strip_suffix('{').unwrap_or(front);
        let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        front.ends_with('$') && behind.and_then(|rest| rest.chars().next()).is_none_or(ends)
    })
}

/// Whether a language uses names as they are, without a dollar.
fn in_place(names: &Names) -> bool {
    names.used.as_str().starts_with(r"\b")
}

/// The same inside of each function, whose local names others may have, too.
fn unused_in_functions(before: &str, after: &str) -> Vec<Finding> {
    let (old, new) = (functions(before), functions(after));
    let names = shell_names();
    let mut out = Vec::new();
    for (name, (first, body)) in &new {
        let Some((_, was)) = old.get(name).filter(|(_, was)| was != body) else { continue };
        out.extend(
            unused(was, body, &names)
                .into_iter()
                .map(|finding| Finding { line: finding.line.map(|line| line + first), ..finding }),
        );
    }
    out
}

/// The functions of a shell script by name, with the number of lines before each and its text: from its head to the first
/// line that is a closing brace. By text, since a script that does not parse is what is often mended.
fn functions(text: &str) -> BTreeMap<String, (u32, String)> {
    static HEAD: OnceLock<Option<Regex>> = OnceLock::new();
    let Some(head) = compiled(&HEAD, r"^(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)") else {
        return BTreeMap::new();
    };
    let mut out: BTreeMap<String, (u32, String)> = BTreeMap::new();
    let mut inside: Option<String> = None;
    for (number, line) in text.lines().enumerate() {
        let may_begin = line.contains('(');
        if let Some(found) = may_begin.then(|| head.captures(line)).flatten().and_then(|found| found.get(1)) {
            inside = Some(found.as_str().to_owned());
            out.insert(found.as_str().to_owned(), (number as u32, String::new()));
        }
        if let Some((_, body)) = inside.as_ref().and_then(|name| out.get_mut(name)) {
            body.push_str(line);
            body.push('\n');
        }
        if line == "}" {
            inside = None;
        }
    }
    out
}

fn all(pattern: &Regex, text: &str) -> BTreeSet<String> {
    pattern
        .captures_iter(text)
        .filter_map(|found| found.get(1).map(|name| name.as_str().to_owned()))
        .collect()
}

/// Names that stand somewhere as a value: more often than they are assigned.
fn uses(names: &Names, text: &str) -> BTreeSet<String> {
    let quoted = |name: &regex_lite::Match<'_>| {
        let before = text.get(..name.start()).and_then(|front| front.chars().next_back());
        let behind = text.get(name.end()..).and_then(|rest| rest.chars().next());
        matches!((before, behind), (Some('"'), Some('"')) | (Some('\''), Some('\'')))
    };
    let count = |pattern: &Regex| {
        let mut counts = BTreeMap::<String, usize>::new();
        for found in pattern.captures_iter(text) {
            // `"name"` is a key and no value.
            if let Some(name) = found.get(1).filter(|name| !quoted(name)) {
                *counts.entry(name.as_str().to_owned()).or_default() += 1;
            }
        }
        counts
    };
    let assigned = count(names.assigned);
    // In Python the name on the left is matched as a use, too; in shell a use has its dollar.
    let both = in_place(names);
    count(names.used)
        .into_iter()
        .filter(|(name, uses)| !both || *uses > assigned.get(name).copied().unwrap_or(0))
        .map(|(name, _)| name)
        .collect()
}

/// `and` that became `or`: a condition that lets more through.
fn weaker_condition(pair: &Pair) -> Option<Finding> {
    let count = |text: &str, words: &[&str]| {
        let upper = text.to_uppercase();
        let split: Vec<&str> = upper.split(|c: char| c.is_whitespace() || c == '(' || c == ')').collect();
        split.iter().filter(|word| words.contains(*word)).count()
    };
    let (and, or) = (["AND", "&&", "-A"], ["OR", "||", "-O"]);
    let fewer = count(&pair.new, &and) < count(&pair.old, &and);
    let more = count(&pair.new, &or) > count(&pair.old, &or);
    let conditional = |text: &str| {
        let upper = text.to_uppercase();
        ["WHERE", "IF", "WHILE", "[", "AND", "HAVING", "UNLESS", "UNTIL"]
            .iter()
            .any(|word| upper.contains(word))
    };
    (fewer && more && conditional(&pair.old)).then(|| {
        at(
            "masking/condition-weaker",
            pair.line,
            Weight::Refuse,
            "`and` became `or`: more passes the condition",
        )
    })
}

/// A set of characters in a pattern of a check that grew, while nothing in the text deals with the new ones.
fn wider_pattern(pair: &Pair, after: &str) -> Option<Finding> {
    static SET: OnceLock<Option<Regex>> = OnceLock::new();
    let set = compiled(&SET, r"\[(\^?[^\]\s]+)\]")?;
    let sets = |text: &str| -> Vec<String> {
        set.captures_iter(text).filter_map(|found| found.get(1).map(|set| set.as_str().to_owned())).collect()
    };
    let (old, new) = (sets(&pair.old), sets(&pair.new));
    if old.len() != new.len() || !is_check(&pair.new) {
        return None;
    }
    let grown = old.iter().zip(&new).find_map(|(old, new)| {
        let added: Vec<char> = new.chars().filter(|c| !old.contains(*c)).collect();
        let kept = old.chars().all(|c| new.contains(c));
        (kept && !added.is_empty() && added.iter().all(|c| c.is_ascii_punctuation())).then_some(added)
    })?;
    let dealt_with = |c: &char| {
        after.lines().filter(|line| *line != pair.new).any(|line| {
            line.contains(*c)
                && ["gsub", "sub(", "replace", "tr ", "translate", "s/", "y/", "//"]
                    .iter()
                    .any(|word| line.contains(word))
        })
    };
    (!grown.iter().all(dealt_with)).then(|| {
        let shown: String = grown.iter().collect();
        let why = format!("the check lets `{shown}` through, and nothing deals with it");
        at("masking/pattern-wider", pair.line, Weight::Refuse, why)
    })
}

/// Whether a line matches something against a pattern.
fn is_check(line: &str) -> bool {
    ["!~", "=~", " ~ ", "re.match", "re.fullmatch", "re.search", "grep", ".test(", ".match("]
        .iter()
        .any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(language: Language, before: &str, after: &str) -> Vec<String> {
        compare(language, before, after).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_value_that_is_only_worked_out_now_is_lost() {
        let before = "who=$1 when=$2\ncat <<EOF\nDear $who, on $when\nEOF\n";
        assert_eq!(
            rules(Language::Shell, before, "who=$1 when=$2\necho \"Dear $who\"\n"),
            ["masking/value-lost"]
        );
        let python = "rate = 3\ntotal = 4\nprint(total * rate)\n";
        assert_eq!(
            rules(Language::Python, python, "rate = 3\ntotal = 4\nprint(total)\n"),
            ["masking/value-lost"]
        );
    }

    #[test]
    fn a_local_value_counts_in_its_own_function() {
        let say = |text: &str| {
            format!("say() {{\n  local a=$1 b=$2\n  {text}\n}}\nread -r a b\nsay \"$a\" \"$b\"\n")
        };
        let (before, after) = (say("echo \"$a at $b\""), say("echo \"$a\""));
        assert_eq!(rules(Language::Shell, &before, &after), ["masking/value-lost"]);
    }

    #[test]
    fn a_value_that_goes_with_its_use_or_is_for_other_programs_is_not() {
        let before = "old=1\nLC_ALL=C\necho \"$old $LC_ALL\"\n";
        assert!(rules(Language::Shell, before, "LC_ALL=C\necho 1\n").is_empty());
        assert!(rules(Language::Shell, "n=1\necho $n\n", "n=1\necho \"${n}\"\n").is_empty());
    }

    #[test]
    fn and_that_became_or_is_weaker() {
        let old = "q = \"WHERE a >= ? AND b < ? AND c = 1\"\n";
        assert_eq!(
            rules(Language::Python, old, "q = \"WHERE a >= ? OR b < ? AND c = 1\"\n"),
            ["masking/condition-weaker"]
        );
        assert!(rules(Language::Python, old, "q = \"WHERE x >= ? AND b < ? AND c = 1\"\n").is_empty());
    }

    #[test]
    fn a_check_that_lets_more_through_is_wider_unless_it_is_dealt_with() {
        let old = "$3 !~ /^[0-9.]+$/ { exit 1 }\n{ n += $3 }\n";
        assert_eq!(
            rules(Language::Other, old, "$3 !~ /^[0-9.,]+$/ { exit 1 }\n{ n += $3 }\n"),
            ["masking/pattern-wider"]
        );
        let honest = "$3 !~ /^[0-9.,]+$/ { exit 1 }\n{ gsub(/,/, \".\", $3); n += $3 }\n";
        assert!(rules(Language::Other, old, honest).is_empty());
    }
}
