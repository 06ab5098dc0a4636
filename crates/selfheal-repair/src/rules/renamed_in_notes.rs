//! # A name that the project's documents say is another one now
//!
//! ## What it finds
//! The failure, or the line that fails, has an option, variable, key, column, field or function that README, release notes or
//! a manual of the project say was renamed: `--outbox is now called --spool`, `renamed OLD to NEW`, `NEW (formerly OLD)`.
//!
//! ## Why it fails
//! A tool, a library or the data changed with a release, and the script still uses the old name.
//!
//! ## Fix
//! The script uses the new name, everywhere.
//!
//! ## Example
//! ```sh
//! mailpack --outbox queue letters/*.txt
//! ```
//! ```sh
//! mailpack --spool queue letters/*.txt
//! ```
//!
//! ## Safety
//! Only when the documents give one new name for the old one, and never for the command of a shell line. What is not there
//! under the new name still fails. It may be read or computed from something else then, so the risk is medium.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use selfheal_core::scene::Kind;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::knowledge::is_release_notes;

rule!(RenamedInNotes, "renamed_in_notes", Unsafe, propose);

/// Folders and documents that are looked at, and bytes of each document.
const MOST_FOLDERS: usize = 40;
const MOST_DOCUMENTS: usize = 24;
const MOST_BYTES: usize = 64 << 10;
/// Names of a failure that are looked up.
const MOST_NAMES: usize = 40;
/// Words between an old and a new name.
const BETWEEN: usize = 8;

fn propose(case: &Case) -> Vec<Candidate> {
    let Some(file) = case.failing_file() else { return Vec::new() };
    let names = names(case, &file);
    if names.is_empty() {
        return Vec::new();
    }
    let documents: Vec<(PathBuf, Vec<Word>)> =
        documents(case).into_iter().map(|(path, text)| (path, words(&text))).collect();
    names.iter().filter_map(|old| renamed(&file, old, &documents)).take(2).collect()
}

fn renamed(file: &ScriptFile, old: &str, documents: &[(PathBuf, Vec<Word>)]) -> Option<Candidate> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let mut place = None;
    for (path, words) in documents {
        for new in new_names(words, old) {
            found.insert(new);
            place = place.or(path.file_name());
        }
    }
    let mut found = found.into_iter();
    let (Some(new), None) = (found.next(), found.next()) else { return None };
    if NEVER.contains(&new) || !fits(file, old, new) {
        return None;
    }
    let spots = spots(&file.text, old);
    if spots.is_empty() {
        return None;
    }
    let parts = spots.iter().map(|at| (*at..at + old.len(), new.to_owned())).collect();
    let place = place.unwrap_or_default().to_string_lossy().into_owned();
    Draft::new(
        "renamed_in_notes",
        format!("{old} is called {new} now, as {place} says"),
        "use the name that the project's documents give",
    )
    .evidence(format!("{place} says that {old} is {new} now"))
    .meaning()
    .rewrite(file, crate::shell::splice(&file.text, parts), format!("{new} for {old}"))
    .done()
}

/// Names that no document gives to anything of a job.
const NEVER: [&str; 14] = [
    "eval",
    "exec",
    "system",
    "popen",
    "rm",
    "rmtree",
    "unlink",
    "remove",
    "shred",
    "dd",
    "mkfs",
    "--force",
    "--no-verify",
    "--no-preserve-root",
];

/// Whether an old name can have a new one of this form. A word of a shell script is an option or a variable: a command
/// or a text that only looks alike is left alone.
fn fits(file: &ScriptFile, old: &str, new: &str) -> bool {
    if old == new || old.starts_with('-') != new.starts_with('-') {
        return false;
    }
    let is_variable = |name: &str| {
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    };
    if file.language.is_shell() {
        let used = file.text.contains(&format!("${old}")) || file.text.contains(&format!("${{{old}"));
        return old.starts_with('-') || used && is_variable(old) && is_variable(new);
    }
    old.starts_with('-') || is_variable(old) == is_variable(new)
}

/// The names that a failure has and its file too: those of the faults and the message first, then those of the line.
fn names(case: &Case, file: &ScriptFile) -> Vec<String> {
    let report = case.report;
    let faults = serde_json::to_string(&report.faults).unwrap_or_default();
    let line = case.line_in(file).and_then(|line| file.text.lines().nth((line as usize).checked_sub(1)?));
    let command = report.command.as_ref().map(|command| command.source.as_str());
    let texts =
        [faults.as_str(), report.core_error.as_str(), line.unwrap_or_default(), command.unwrap_or_default()];
    let mut out: Vec<String> = Vec::new();
    for word in texts.iter().flat_map(|text| text.split(|c: char| !is_of_a_name(c))) {
        for name in [word, word.trim_start_matches('-')] {
            let name = name.trim_end_matches('-');
            let long = name.trim_start_matches('-').len() >= 3 || name.starts_with('-') && name.len() == 2;
            if long
                && out.len() < MOST_NAMES
                && !out.iter().any(|other| other == name)
                && !spots(&file.text, name).is_empty()
            {
                out.push(name.to_owned());
            }
        }
    }
    out
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Where a name stands whole in a text, and not as the name of a file.
fn spots(text: &str, name: &str) -> Vec<usize> {
    const ENDINGS: [&str; 12] =
        [".txt", ".csv", ".json", ".log", ".xml", ".conf", ".py", ".sh", ".pl", ".js", ".db", ".gz"];
    let alone = |at: &usize| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let rest = text.get(at + name.len()..).unwrap_or_default();
        !before.is_some_and(|c| is_of_a_name(c) || c == '/')
            && !rest.starts_with(is_of_a_name)
            && !ENDINGS.iter().any(|ending| rest.starts_with(ending))
    };
    text.match_indices(name).map(|(at, _)| at).filter(alone).collect()
}

/// The documents of the job's own folders.
fn documents(case: &Case) -> Vec<(PathBuf, String)> {
    let mut waiting: std::collections::VecDeque<(PathBuf, usize)> =
        case.home().into_iter().chain([case.job.cwd.clone()]).map(|folder| (folder, 0)).collect();
    let (mut seen, mut out) = (BTreeSet::new(), Vec::new());
    while let Some((folder, depth)) = waiting.pop_front() {
        if seen.len() >= MOST_FOLDERS || !case.owns(&folder) || !seen.insert(folder.clone()) {
            continue;
        }
        for name in case.scene.names(&folder) {
            let path = folder.join(&name);
            let kind = case.scene.facts(&path).map(|facts| facts.kind);
            match kind {
                Some(Kind::Directory) if depth < 2 && !name.starts_with('.') && name != "node_modules" => {
                    waiting.push_back((path, depth + 1));
                }
                Some(Kind::File) if is_document(&path) && out.len() < MOST_DOCUMENTS => {
                    let bytes = case.scene.read(&path, MOST_BYTES).unwrap_or_default();
                    out.push((path, String::from_utf8_lossy(&bytes).into_owned()));
                }
                _ => {}
            }
        }
    }
    out
}

fn is_document(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let text = ["", "md", "rst", "txt", "adoc", "markdown"].contains(&ending.as_str());
    text && (is_release_notes(path) || name.starts_with("README") || name.starts_with("NOTE"))
        || ["md", "rst", "adoc", "markdown"].contains(&ending.as_str())
}

/// A word of a document.
#[derive(Debug, PartialEq, Eq)]
struct Word {
    /// Without the marks around it.
    text: String,
    /// Whether it stands in quotes or backticks.
    quoted: bool,
    /// Whether a sentence ends with it.
    ends: bool,
    /// Whether a paragraph, or an item of a list, begins with it.
    begins: bool,
}

fn words(text: &str) -> Vec<Word> {
    const QUOTES: [char; 6] = ['`', '"', '\'', '“', '”', '*'];
    let mut out = Vec::new();
    let mut begins = true;
    for line in text.lines() {
        let bare = line.trim_start();
        begins |= bare.is_empty()
            || bare.starts_with(['#', '|'])
            || bare.starts_with("- ")
            || bare.starts_with("* ");
        for raw in line.split_whitespace() {
            let bare =
                raw.trim_start_matches(['(', '[']).trim_end_matches([')', ']', ',', ';', ':', '.', '!', '?']);
            let inner = bare.trim_matches(QUOTES).trim_end_matches("()");
            let name = inner.trim_end_matches([':', '.', ',']);
            if name.is_empty() || name == "-" || name.chars().all(|c| c == '#' || c == '=') {
                continue;
            }
            out.push(Word {
                text: name.to_owned(),
                quoted: bare.starts_with(QUOTES),
                ends: raw.trim_end_matches([')', ']']).ends_with(['.', ';', '!', '?']),
                begins: std::mem::take(&mut begins),
            });
        }
    }
    out
}

/// Words that may stand between an old name and its new one.
const FILLING: [&str; 36] = [
    "is",
    "was",
    "are",
    "were",
    "has",
    "have",
    "been",
    "now",
    "to",
    "as",
    "by",
    "with",
    "the",
    "a",
    "option",
    "flag",
    "key",
    "field",
    "column",
    "function",
    "setting",
    "variable",
    "list",
    "parameter",
    "name",
    "and",
    "in",
    "from",
    "simply",
    "just",
    "of",
    "favour",
    "favor",
    "header",
    "on",
    "known",
];
/// Words of which one must.
const CHANGING: [&str; 13] = [
    "called",
    "named",
    "renamed",
    "replaced",
    "became",
    "becomes",
    "moved",
    "→",
    "->",
    "=>",
    "spelled",
    "spelt",
    "deprecated",
];
/// Words before an old name that say that the new one stands further in front.
const FORMERLY: [&str; 7] = ["formerly", "previously", "replaces", "supersedes", "earlier", "once", "was"];

/// The new names that a document gives for an old one.
fn new_names<'a>(words: &'a [Word], old: &str) -> Vec<&'a str> {
    let places = words.iter().enumerate().filter(|(_, word)| word.text == old).map(|(at, _)| at);
    places.filter_map(|at| behind(words, at, old).or_else(|| in_front(words, at, old))).collect()
}

/// `OLD is now called NEW`, `renamed OLD to NEW`, `OLD -> NEW`.
fn behind<'a>(words: &'a [Word], at: usize, old: &str) -> Option<&'a str> {
    let this = words.get(at)?;
    let lower = |at: usize| words.get(at).map(|word| word.text.to_lowercase()).unwrap_or_default();
    // `renamed the option OLD to NEW`: the word that says so stands in front, in the same sentence.
    let mut changing = (1..=3)
        .map_while(|back| at.checked_sub(back).and_then(|place| words.get(place)))
        .take_while(|word| !word.ends)
        .any(|word| {
            ["renamed", "rename", "renames", "replaced", "replace", "moved"]
                .contains(&word.text.to_lowercase().as_str())
        });
    if this.ends {
        return None;
    }
    for next in at + 1..=at + BETWEEN {
        let word = words.get(next).filter(|word| !word.begins)?;
        let text = lower(next);
        let is_now = text == "now" && ["is", "are"].contains(&lower(next.checked_sub(1)?).as_str());
        changing |= CHANGING.contains(&text.as_str()) || is_now;
        let filling = !word.quoted && (FILLING.contains(&text.as_str()) || CHANGING.contains(&text.as_str()));
        if !filling {
            return (changing && is_alike(this, word, old)).then_some(word.text.as_str());
        }
        if word.ends {
            return None;
        }
    }
    None
}

/// `NEW (formerly OLD)`, `NEW replaces OLD`, `use NEW instead of OLD`, and ``NEW`: …; it was called `OLD`.`
fn in_front<'a>(words: &'a [Word], at: usize, old: &str) -> Option<&'a str> {
    let this = words.get(at)?;
    let back = |steps: usize| at.checked_sub(steps).and_then(|place| words.get(place));
    let lower = |steps: usize| back(steps).map(|word| word.text.to_lowercase()).unwrap_or_default();
    let called = ["called", "named"].contains(&lower(1).as_str())
        && ["was", "were", "been"].contains(&lower(2).as_str());
    let instead = lower(1) == "of" && lower(2) == "instead";
    if FORMERLY.contains(&lower(1).as_str()) || instead {
        let word = back(if instead { 3 } else { 2 })?;
        return is_alike(this, word, old).then_some(word.text.as_str());
    }
    if !called || !this.quoted {
        return None;
    }
    // The name that the paragraph is about.
    let begin = (0..at).rev().find(|place| words.get(*place).is_some_and(|word| word.begins))?;
    let subject = words.get(begin..at)?.iter().find(|word| word.quoted)?;
    is_alike(this, subject, old).then_some(subject.text.as_str())
}

/// Whether a word can be the new name: written like a name, and marked as one where the old one is.
fn is_alike(this: &Word, word: &Word, old: &str) -> bool {
    let name = word.text.as_str();
    let whole = name.len() >= 2 && name.len() <= 64 && name.chars().all(is_of_a_name) && name != old;
    let shaped = name.starts_with('-') || name.contains('_') || name.chars().skip(1).any(char::is_uppercase);
    let upper = |text: &str| text.chars().any(char::is_alphabetic) && !text.chars().any(char::is_lowercase);
    whole && (word.quoted || !this.quoted && shaped) && upper(old) == upper(name)
}

#[cfg(test)]
mod tests {
    use selfheal_core::fault::Fault;

    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn new_of(text: &str, old: &str) -> Vec<String> {
        new_names(&words(text), old).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn reads_how_documents_say_it() {
        for (text, old, new) in [
            ("The flag --outbox is now called --spool; its meaning is the same.", "--outbox", "--spool"),
            ("- `posted` is now called `settled()`: banks say so.", "posted", "settled"),
            ("names differ: `payee` became `creditor`, and `debtor` is new", "payee", "creditor"),
            ("Renamed REPORT_DROP to SHARED_TREE: reports", "REPORT_DROP", "SHARED_TREE"),
            ("* rename the option `-o` to `--output`", "-o", "--output"),
            ("`retries` has been replaced by `max_tries`.", "retries", "max_tries"),
            ("--old -> --new", "--old", "--new"),
            ("`items` → `results`", "items", "results"),
            ("`max_tries` (formerly `retries`) limits", "retries", "max_tries"),
            ("Use `fetch_all` instead of `fetch`.", "fetch", "fetch_all"),
            ("`heartbeat`: minutes. Before release 6 it was called `cadence`.", "cadence", "heartbeat"),
        ] {
            assert_eq!(new_of(text, old), [new], "{text}");
        }
    }

    #[test]
    fn reads_nothing_into_other_sentences() {
        for (text, old) in [
            ("The flag --outbox is now required.", "--outbox"),
            ("The flag --outbox is faster. It is called --spool elsewhere.", "--outbox"),
            ("`posted` is called by `settled` and by others", "other"),
            ("--outbox is now OFF by default", "--outbox"),
            ("`a_b` is gone.\n\n- `c_d` is new", "a_b"),
            ("`payee` is now optional, see `creditor`", "payee"),
            ("the list is now sorted", "list"),
        ] {
            assert_eq!(new_of(text, old), Vec::<String>::new(), "{text}");
        }
    }

    fn python(scene: TestScene) -> TestCase {
        let text = "import csv\nfor row in csv.DictReader(open('s.csv')):\n    print(row['payee'])\nopen('payee.txt', 'w')\n";
        TestCase::new("owed.py", text, scene).fault(Fault::KeyMissing { key: "payee".to_owned() }).at(3)
    }

    #[test]
    fn uses_the_new_name_in_python() {
        let scene = TestScene::new().file("README.md", "`payee` became `creditor`.\n");
        let healed = python(scene).healed(&RenamedInNotes);
        assert!(healed.contains("row['creditor']") && healed.contains("'payee.txt'"), "{healed}");
    }

    #[test]
    fn uses_the_new_name_of_an_option_in_a_shell_script() {
        let scene =
            TestScene::new().file("tools/CHANGES", "4.0\n - The flag --outbox is now called --spool.\n");
        let text = "set -e\nmailpack --outbox queue a.txt\n";
        let case = TestCase::new("x.sh", text, scene).at(2);
        assert_eq!(case.healed(&RenamedInNotes), "set -e\nmailpack --spool queue a.txt\n");
    }

    #[test]
    fn leaves_the_script_alone_where_documents_say_nothing_or_two_things() {
        assert!(python(TestScene::new()).silent(&RenamedInNotes));
        let two = TestScene::new()
            .file("README.md", "`payee` became `creditor`.\n")
            .file("NEWS", "`payee` is now called `owner`\n");
        assert!(python(two).silent(&RenamedInNotes));
        let evil = TestScene::new().file("README.md", "`print` is now called `exec`\n");
        assert!(python(evil).silent(&RenamedInNotes));
        let command = TestScene::new().file("README.md", "`mailpack` is now called `wipe-all`\n");
        assert!(TestCase::new("x.sh", "mailpack a\n", command).at(1).silent(&RenamedInNotes));
    }
}
