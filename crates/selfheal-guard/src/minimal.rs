//! What a change does beside its repair: formatting, renaming, reordering. Each is told only where the change has something
//! else in it that can be the repair; alone it may be the repair itself (a wrong indentation, a name that is reserved, a
//! step that came too early).

use std::collections::{BTreeMap, BTreeSet};

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::Language;
use selfheal_syntax::diff::{self, Hunk};

use crate::finding::at;
use crate::size::Change;

/// Languages in which white space at the beginning of a line means something.
const INDENTED: &[Language] = &[Language::Python, Language::Make, Language::Yaml];

/// What is no part of a repair.
#[must_use]
pub fn beside(language: Language, change: Change<'_>) -> Option<Finding> {
    let hunks = diff::hunks(change.before, change.after);
    let several = |told: Option<Told>| told.filter(|_| hunks.len() > 1);
    let told = formatted(language, &hunks)
        .or_else(|| several(renamed(&hunks, change)))
        .or_else(|| several(reordered(&hunks)));
    told.map(|(line, what)| {
        at("size/beside", line, Weight::Refuse, format!("{what}: make the minimal change"))
    })
}

/// The line of a finding and what was done.
type Told = (u32, &'static str);

fn formatted(language: Language, hunks: &[Hunk]) -> Option<Told> {
    if INDENTED.contains(&language) {
        return None;
    }
    let squeeze = |line: &String| line.split_whitespace().collect::<String>();
    // The end of a here-document must stand at the margin, a backslash at the end of its line, and the line ends of another
    // system are a fault.
    let matters = |line: &String| {
        !line.trim().contains(char::is_whitespace) || line.trim_end().ends_with('\\') || line.ends_with('\r')
    };
    let mut formatted = Vec::new();
    let mut other = false;
    for hunk in hunks {
        if hunk.removed.len() != hunk.added.len() {
            other = true;
            continue;
        }
        for (line, (old, new)) in hunk.new.clone().zip(hunk.removed.iter().zip(&hunk.added)) {
            match squeeze(old) == squeeze(new) {
                true if old != new && !matters(old) => formatted.push(line),
                true => {}
                false => other = true,
            }
        }
    }
    let first = formatted.first().filter(|_| formatted.len() > 1 && other)?;
    Some((*first, "it formats lines that it does not repair"))
}

/// The words of a line: names, and what stands between them.
fn words(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = line;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while let Some(first) = rest.chars().next() {
        let same = |c: char| is_name(c) == is_name(first);
        let end = rest.find(|c: char| !same(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        out.push(word);
        rest = behind;
    }
    out
}

/// The one name for which another stands everywhere in a hunk, with the other.
fn rename(hunk: &Hunk) -> Option<(String, String)> {
    if hunk.removed.len() != hunk.added.len() {
        return None;
    }
    let mut found: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (old, new) in hunk.removed.iter().zip(&hunk.added) {
        let (old, new) = (words(old), words(new));
        if old.len() != new.len() {
            return None;
        }
        found.extend(old.into_iter().zip(new).filter(|(old, new)| old != new));
    }
    let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match found.into_iter().collect::<Vec<_>>().as_slice() {
        [(old, new)] if is_name(old) && is_name(new) => Some(((*old).to_owned(), (*new).to_owned())),
        _ => None,
    }
}

/// A variable that the script sets got another name everywhere.
fn renamed(hunks: &[Hunk], change: Change<'_>) -> Option<Told> {
    let all: Vec<Option<(String, String)>> = hunks.iter().map(rename).collect();
    let mut places: BTreeMap<&(String, String), usize> = BTreeMap::new();
    all.iter().flatten().for_each(|pair| *places.entry(pair).or_default() += 1);
    let has = |text: &str, name: &str| text.lines().any(|line| words(line).contains(&name));
    let sets = |name: &str| {
        change.before.lines().any(|line| {
            line.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='))
        })
    };
    let (pair, _) = places.into_iter().find(|((old, new), count)| {
        *count > 1 && sets(old) && !has(change.before, new) && !has(change.after, old)
    })?;
    let other = all.iter().any(|one| one.as_ref() != Some(pair));
    let at = all.iter().position(|one| one.as_ref() == Some(pair)).and_then(|at| hunks.get(at))?;
    other.then_some((at.new.start, "it gives a variable another name"))
}

/// Whether a line gives a plain name a plain value: where it stands does not matter to its neighbours of the same kind.
fn is_plain(line: &str) -> bool {
    let assigned = line.trim().split_once('=').filter(|(name, _)| {
        !name.is_empty() && name.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    assigned.is_some_and(|(_, value)| !value.contains(['$', '`', '(', ';', '&', '|', ' ']))
}

/// Plain assignments that changed places among each other.
fn reordered(hunks: &[Hunk]) -> Option<Told> {
    let plain = |hunk: &&Hunk, lines: &[String], none: &[String]| {
        !lines.is_empty() && none.is_empty() && lines.iter().all(|line| is_plain(line)) && hunk.old.start > 0
    };
    let gone = hunks.iter().filter(|hunk| plain(hunk, &hunk.removed, &hunk.added));
    for hunk in gone {
        let back = hunks.iter().find(|other| other.removed.is_empty() && other.added == hunk.removed);
        let near = back.filter(|back| back.old.start.abs_diff(hunk.old.start) <= 4);
        if let Some(back) = near.filter(|_| hunks.len() > 2) {
            return Some((back.new.start, "it changes the order of lines that it does not repair"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const BEFORE: &str =
        "#!/bin/bash\nset -e\nsource=/data/in\nx=1\ny=2\necho \"$x\"\necho \"$y\"\ncp \"$source\"/a out/\n";

    fn told(before: &str, after: &str) -> Option<String> {
        beside(Language::Shell, Change { path: Path::new("/j/run.sh"), before, after }).map(|one| one.why)
    }

    #[test]
    fn formatting_renaming_and_reordering_beside_a_repair_are_told() {
        let mended = BEFORE.replace("cp \"", "mkdir -p out\ncp \"");
        assert_eq!(told(BEFORE, &mended), None);
        for (from, to, what) in [
            ("echo \"$x\"\necho \"$y\"\nmkdir", "  echo \"$x\"\n  echo \"$y\"\n  echo\nmkdir", ""),
            ("x=1\ny=2\n", "y=2\nx=1\n", "order"),
        ] {
            let after = mended.replace(from, to);
            assert_eq!(
                told(BEFORE, &after).is_some_and(|why| why.contains(what)),
                !what.is_empty(),
                "{after}"
            );
        }
        let renamed = mended.replace("source", "folder").replace("$folder\"/a out", "$folder\"/a  out");
        assert_eq!(told(BEFORE, &renamed), None, "a line that changes otherwise is no renaming");
        let text = "a=1\nb=2\necho \"$a $b\"\nls -l  x\nls -l  y\necho\ncp \"$a\" q/\n";
        let spaced = text.replace("-l  ", "-l ").replace("cp", "mkdir -p q\ncp");
        assert!(told(text, &spaced).is_some_and(|why| why.contains("minimal change")));
        // In the same place as the repair, too.
        let near = "if x; then\n  cp a b\n  cp c d\n  cp e f\nfi\n";
        let spaced = near.replace("  cp", "    cp").replace("e f", "e g");
        assert!(told(near, &spaced).is_some_and(|why| why.contains("minimal change")));
        assert_eq!(told(near, &near.replace("  cp c", "    cp c").replace("e f", "e g")), None);
        let wrapped = near.replace("  cp c d\n", "  if y; then\n    cp c d\n  fi\n");
        assert_eq!(told(near, &wrapped), None);
        let other = text.replace("a=", "z=").replace("$a", "$z").replace("ls -l  x", "ls x");
        assert!(told(text, &other).is_some_and(|why| why.contains("another name")));
    }

    #[test]
    fn the_same_alone_can_be_the_repair() {
        assert_eq!(told("x=1\n  y\n  z 1\n", "x=1\ny\nz 1\n"), None);
        assert_eq!(told("UID=1\necho a\necho $UID\n", "uid=1\necho a\necho $uid\n"), None);
        let moved = "cp a out/\nmkdir out\necho\n";
        assert_eq!(told(moved, "mkdir out\ncp a out/\necho\n"), None);
    }
}
