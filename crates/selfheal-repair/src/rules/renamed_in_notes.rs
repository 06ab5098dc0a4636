//! # A name that the project's documents say is another one now
//!
//! ## What it finds
//! The failure, or the line that fails, has an option, variable, key, column, section, value, program or function that README,
//! release notes, a manual, a remark in the settings or the message itself says was renamed: `--outbox is now called --spool`,
//! `renamed OLD to NEW`, `NEW (formerly OLD)`; or it has the new name, and the script still the old one.
//!
//! ## Why it fails
//! A tool, a library or the data changed with a release, and the script still uses the old name.
//!
//! ## Fix
//! The script uses the new name, everywhere. Of a plain word, only where it is a text or a key.
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
//! Only when the documents give one new name for the old one. The command of a shell line is replaced only where it is not
//! there any more and the new one lies in its place. A name that says another unit than before is taken only where a Python
//! program reads it as a key, and the number is taken back to the unit that it was in. What is not there under the new name still fails. It may be read or
//! computed from something else then, so the risk is medium.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_syntax::python::Module;

use super::{renamed_column, renamed_key};
use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::notes::renames::{Word, is_file_name, is_of_a_name, renames, words};
use crate::notes::{Note, notes};
use crate::python::Part;
use crate::units::{self, Change};

rule!(RenamedInNotes, "renamed_in_notes", Unsafe, propose);

/// Names of a failure that are looked up, and those of a file.
const MOST_NAMES: usize = 60;
const MOST_IN_FILE: usize = 20_000;
/// Candidates of this rule.
const MOST: usize = 2;

fn propose(case: &Case) -> Vec<Candidate> {
    // Where more than the name of a column changed, the new name alone would read something else.
    if crate::rules::replaced_column::told(case).is_some() {
        return Vec::new();
    }
    let notes: Vec<(Note, Vec<Word>)> = notes(case)
        .into_iter()
        .map(|note| {
            let words = words(&note.text);
            (note, words)
        })
        .collect();
    let mut files: Vec<ScriptFile> = Vec::new();
    let named = case.named_file().map(|(file, _)| file);
    for file in case.failing_file().into_iter().chain(named).chain(case.script.cloned()) {
        if !files.iter().any(|known| known.path == file.path) {
            files.push(file);
        }
    }
    let found = files.iter().flat_map(|file| in_file(case, file, &notes));
    found.take(MOST).collect()
}

/// What the notes say of a name: the new names, and who says so.
#[derive(Default)]
struct Said<'n> {
    new: BTreeSet<&'n str>,
    place: &'n str,
}

fn in_file(case: &Case, file: &ScriptFile, notes: &[(Note, Vec<Word>)]) -> Vec<Candidate> {
    let mut in_file: BTreeSet<&str> = tokens(&file.text).take(MOST_IN_FILE).collect();
    let mut told = told(case, file);
    let missing = missing_name(case).filter(|name| is_file_name(name) && file.text.contains(name));
    if let Some(name) = missing {
        in_file.insert(name);
        told.insert(0, name.to_owned());
    }
    let in_data = names_of_data(case, file);
    let mut said: BTreeMap<&str, Said> = BTreeMap::new();
    for (note, words) in notes {
        for pair in renames(words, &|name| in_file.contains(name), &|name| in_data.contains(name)) {
            let entry = said.entry(pair.old).or_default();
            entry.new.insert(pair.new);
            if entry.place.is_empty() {
                entry.place = &note.place;
            }
        }
    }
    // Those that the failure names come first, in its order.
    let mut order: Vec<(usize, &str, &Said)> = said
        .iter()
        .filter_map(|(old, said)| {
            let rank = |name: &str| told.iter().position(|word| word == name);
            let new = said.new.first().filter(|_| said.new.len() == 1)?;
            Some((rank(old).or_else(|| rank(new).map(|at| at + MOST_NAMES))?, *old, said))
        })
        .collect();
    order.sort_by_key(|(rank, _, _)| *rank);
    order.into_iter().filter_map(|(_, old, said)| renamed(case, file, old, said)).collect()
}

/// The columns and tables of a schema, or the keys of the data, where one of these is what is missing.
fn names_of_data(case: &Case, file: &ScriptFile) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for fault in case.faults() {
        match fault {
            Fault::NoSuchObject { .. } => {
                for table in renamed_column::tables(case) {
                    names.extend(table.columns);
                    names.insert(table.name);
                }
            }
            Fault::KeyMissing { .. } => {
                let module = Module::parse(&file.text).ok().filter(|_| file.language == Language::Python);
                names.extend(module.map(|module| renamed_key::data_keys(case, &module)).unwrap_or_default());
            }
            _ => {}
        }
    }
    names
}

fn renamed(case: &Case, file: &ScriptFile, old: &str, said: &Said) -> Option<Candidate> {
    let new = *said.new.first()?;
    if NEVER.contains(&new) || old == new || old.starts_with('-') != new.starts_with('-') {
        return None;
    }
    let mut spots = command_spots(case, file, old, new);
    if spots.is_empty() && fits(file, old, new) {
        spots = spots_of(file, old);
    }
    if spots.is_empty() {
        return None;
    }
    let mut parts: Vec<Part> = spots.iter().map(|at| (*at..at + old.len(), new.to_owned())).collect();
    let converted = match units::change(old, new) {
        Change::None => None,
        Change::Divided(by) => Some(format!(" / {by})")),
        Change::Times(times) => Some(format!(" * {times})")),
        Change::Unknown => return None,
    };
    if let Some(behind) = &converted {
        parts.extend(around_reads(file, old, &spots, behind)?);
    }
    let place = said.place;
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

/// What takes the number back to the unit that it was in, around each place that reads it; `None` when one of them does not.
fn around_reads(file: &ScriptFile, old: &str, spots: &[usize], behind: &str) -> Option<Vec<Part>> {
    let module = Module::parse(&file.text).ok().filter(|_| file.language == Language::Python)?;
    let reads = module.subscripts();
    let read =
        |at: &usize| reads.iter().find(|read| !read.stored && read.key == old && read.key_span.contains(at));
    let mut parts = Vec::new();
    for at in spots {
        let span = &read(at)?.span;
        parts.push((span.start..span.start, "(".to_owned()));
        parts.push((span.end..span.end, behind.to_owned()));
    }
    Some(parts)
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

fn is_variable(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Whether an old name can have a new one of this form. A word of a shell script is an option, a variable or a quoted text:
/// a command that only looks alike is left alone.
fn fits(file: &ScriptFile, old: &str, new: &str) -> bool {
    if old.starts_with('-') {
        return true;
    }
    if file.language.is_shell() || file.language == Language::Make {
        let used = ["$", "${", "$("].iter().any(|mark| file.text.contains(&format!("{mark}{old}")));
        return used && is_variable(old) && is_variable(new) || !texts(&file.text, old).is_empty();
    }
    is_variable(old) == is_variable(new) || !texts(&file.text, old).is_empty()
}

/// Where a name is replaced. A plain word may be anything, so that only a text or key counts if there is one; what looks like
/// a name is one everywhere.
fn spots_of(file: &ScriptFile, old: &str) -> Vec<usize> {
    let plain = old.chars().all(|c| c.is_ascii_lowercase());
    let shell = file.language.is_shell();
    let variable = shell && ["$", "${"].iter().any(|mark| file.text.contains(&format!("{mark}{old}")));
    let texts = texts(&file.text, old);
    if (plain || shell && !old.starts_with('-') && !variable) && !texts.is_empty() {
        return texts;
    }
    spots(&file.text, old)
}

/// Where a name is a whole text in quotes, the key of a perl hash, a key at the beginning of a line, or a member.
fn texts(text: &str, name: &str) -> Vec<usize> {
    let marked = |at: &usize| {
        let before = text.get(..*at).unwrap_or_default();
        let behind = text.get(at + name.len()..).unwrap_or_default();
        let quoted = ['"', '\''].iter().any(|mark| before.ends_with(*mark) && behind.starts_with(*mark));
        let key = before.ends_with('{') && behind.starts_with('}') && !before.ends_with("${");
        let line = before.rsplit('\n').next().unwrap_or_default();
        let leads = line.trim().is_empty() && behind.trim_start_matches(' ').starts_with([':', '=']);
        // In `qw(a b)` every word is a text.
        let open =
            before.rfind("qw(").is_some_and(|open| !before.get(open..).unwrap_or_default().contains(')'));
        quoted || key || open || leads && !behind.starts_with("==")
    };
    spots(text, name).into_iter().filter(marked).collect()
}

/// The path of what is not there.
fn missing<'c>(case: &Case<'c>) -> Option<&'c Path> {
    case.faults().find_map(|fault| match fault {
        Fault::CommandNotFound { name } => Some(Path::new(name)),
        Fault::NoSuchPath { path } | Fault::BadInterpreter { script: path, .. } => Some(path.as_path()),
        // dash, of a file that it is to read in.
        Fault::Other { message } => {
            message.split_once("cannot open ")?.1.strip_suffix(": No such file").map(Path::new)
        }
        _ => None,
    })
}

fn missing_name<'c>(case: &Case<'c>) -> Option<&'c str> {
    missing(case)?.file_name()?.to_str()
}

/// Where a program or file stands that is not there any more, while the new one is where it was.
fn command_spots(case: &Case, file: &ScriptFile, old: &str, new: &str) -> Vec<usize> {
    if !(file.language.is_shell() || file.language == Language::Make || is_file_name(old)) {
        return Vec::new();
    }
    let Some(missing) = missing(case).filter(|path| path.file_name().is_some_and(|name| name == old)) else {
        return Vec::new();
    };
    let folder = missing.parent().filter(|folder| !folder.as_os_str().is_empty());
    let there = match folder {
        None if is_file_name(old) => case.find(Path::new(new)).is_some(),
        Some(folder) => case.find(&folder.join(new)).and_then(|path| case.scene.facts(&path)).is_some(),
        None => !case.scene.which(new).is_empty(),
    };
    let whole = |at: &usize| {
        let before = file.text.get(..*at).and_then(|text| text.chars().next_back());
        let behind = file.text.get(at + old.len()..).unwrap_or_default();
        let led = match folder {
            _ if is_file_name(old) => before.is_none_or(|c| !is_of_a_name(c)),
            Some(_) => before == Some('/'),
            None => before.is_none_or(|c| !is_of_a_name(c) && !['/', '.'].contains(&c)),
        };
        led && !behind.starts_with(is_of_a_name) && !behind.starts_with(['.', '/'])
    };
    let spots = file.text.match_indices(old).map(|(at, _)| at).filter(whole);
    if there { spots.collect() } else { Vec::new() }
}

/// The names that a failure has: those of the faults and the message first, then those of the line.
fn told(case: &Case, file: &ScriptFile) -> Vec<String> {
    let report = case.report;
    let faults = serde_json::to_string(&report.faults).unwrap_or_default();
    let line = case.line_in(file).and_then(|line| file.text.lines().nth((line as usize).checked_sub(1)?));
    let command = report.command.as_ref().map(|command| command.source.as_str());
    let sources =
        [faults.as_str(), report.core_error.as_str(), line.unwrap_or_default(), command.unwrap_or_default()];
    let mut out: Vec<String> = Vec::new();
    for name in sources.iter().flat_map(|text| tokens(text)) {
        let long = name.trim_start_matches('-').len() >= 3 || name.starts_with('-') && name.len() == 2;
        if long && out.len() < MOST_NAMES && !out.iter().any(|other| other == name) {
            out.push(name.to_owned());
        }
    }
    out
}

/// The names of a text, each also without the dashes around it.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_of_a_name(c)).filter(|word| !word.is_empty()).flat_map(|word| {
        let name = word.trim_end_matches('-');
        let bare = name.trim_start_matches('-');
        [Some(name), Some(bare).filter(|bare| bare.len() < name.len())].into_iter().flatten()
    })
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

#[cfg(test)]
mod tests {
    use selfheal_core::fault::Fault;

    use super::*;
    use crate::testing::{TestCase, TestScene};

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

    #[test]
    fn a_number_in_another_unit_is_taken_back() {
        let scene = || {
            TestScene::new().file("API.md", "`waitMinutes` is replaced by `wait_seconds` (not minutes).\n")
        };
        let text = "total = 0\nfor s in sessions:\n    total += s['waitMinutes'] / 60\n";
        let fault = || Fault::KeyMissing { key: "waitMinutes".to_owned() };
        let case = TestCase::new("x.py", text, scene()).fault(fault()).at(3);
        assert_eq!(
            case.healed(&RenamedInNotes),
            text.replace("s['waitMinutes']", "(s['wait_seconds'] / 60)")
        );
        let text = "row = dict(waitMinutes=1)\nprint(row['waitMinutes'])\n";
        assert!(TestCase::new("x.py", text, scene()).fault(fault()).at(2).silent(&RenamedInNotes));
    }

    #[test]
    fn a_plain_word_is_replaced_where_it_is_a_text_or_a_key() {
        let scene = TestScene::new().file("CHANGES", "- status \"done\" was renamed to \"completed\"\n");
        let text = "# what is done\nfor j in jobs:\n    if j['status'] == 'done':\n        done.append(j)\n    else:\n        fail(j)\n";
        let case = TestCase::new("x.py", text, scene)
            .fault(Fault::Other { message: "unknown status: completed".to_owned() })
            .at(6);
        assert_eq!(case.healed(&RenamedInNotes), text.replace("'done'", "'completed'"));
        let scene = TestScene::new().file("p.conf", "# 3.0: retention -> keep_days\nkeep_days = 1\n");
        let text = "my $keep = $conf{retention} // die \"no retention is set\";\n";
        let case = TestCase::new("x.pl", text, scene).at(1);
        assert_eq!(case.healed(&RenamedInNotes), text.replace("{retention}", "{keep_days}"));
    }

    #[test]
    fn a_program_that_is_gone_gets_its_new_name_where_that_is() {
        let note = "txt2page was renamed to render-page in spring.\n";
        let text = "a.html: a.txt\n\ttools/txt2page $< > $@\n";
        let fault = || Fault::CommandNotFound { name: "tools/txt2page".to_owned() };
        let there = TestScene::new().file("tools/README", note).file("tools/render-page", "#!/bin/sh\n");
        let case = TestCase::new("Makefile", text, there).fault(fault()).at(2);
        assert_eq!(case.healed(&RenamedInNotes), text.replace("txt2page", "render-page"));
        let gone = TestScene::new().file("tools/README", note);
        assert!(TestCase::new("Makefile", text, gone).fault(fault()).at(2).silent(&RenamedInNotes));
    }

    #[test]
    fn a_file_that_is_gone_gets_its_new_name_where_that_is() {
        let note = "2031: settings.conf was renamed to mirror.conf.\n";
        let text = "set -eu\n. ./settings.conf\n";
        let fault = || Fault::NoSuchPath { path: "./settings.conf".into() };
        let there = TestScene::new().file("README", note).file("mirror.conf", "A=1\n");
        let case = TestCase::new("x.sh", text, there).fault(fault()).at(2);
        assert_eq!(case.healed(&RenamedInNotes), "set -eu\n. ./mirror.conf\n");
        let gone = TestScene::new().file("README", note);
        assert!(TestCase::new("x.sh", text, gone).fault(fault()).at(2).silent(&RenamedInNotes));
        let there = TestScene::new().file("README", note).file("mirror.conf", "A=1\n");
        let message = ".: cannot open ./settings.conf: No such file".to_owned();
        let case = TestCase::new("x.sh", text, there).fault(Fault::Other { message }).at(2);
        assert!(case.heals(&RenamedInNotes));
    }

    #[test]
    fn words_of_a_list_are_texts() {
        let scene = TestScene::new().file("a.conf", "# since 2.2 'recipient' is called 'mail_to'\n");
        let text = "for my $need (qw(recipient threshold)) { die \"$need is missing\" unless $set{$need} }\nprint $set{recipient};\n";
        let mut case = TestCase::new("x.pl", text, scene).at(1);
        case.report.core_error = "a.conf: recipient is missing".to_owned();
        assert_eq!(case.healed(&RenamedInNotes), text.replace("recipient", "mail_to"));
    }

    #[test]
    fn the_message_itself_may_say_it_of_the_file_that_it_names() {
        let scene = TestScene::new().file("proxy.yaml", "name: x\nlisten_port: 80\n");
        let mut case = TestCase::new("x.sh", "proxyd --check proxy.yaml\n", scene).at_file("proxy.yaml", 2);
        case.report.core_error = "proxy.yaml:2: unknown key 'listen_port' (was renamed to 'port')".to_owned();
        let found = case.ask(&RenamedInNotes);
        let change = &found[0].proposal.changes[0];
        assert_eq!(change.after.as_deref(), Some(&b"name: x\nport: 80\n"[..]));
    }
}
