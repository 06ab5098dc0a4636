//! # A variable that is not set
//!
//! ## What it finds
//! A script that treats unset variables as an error uses one that is not set: one that login shells set and schedulers do
//! not (`USER`, `HOME`, `TMPDIR`, …), or one that is set under a slightly different name in the script or in a file that it
//! sources.
//!
//! ## Why it fails
//! A job that a scheduler starts has a much smaller environment than a shell of a person. And settings get renamed while
//! some of their uses are forgotten.
//!
//! ## Fix
//! For a variable of the environment a default at the head of the script, taken from the system. For a renamed one all its
//! uses are renamed; where it stands in a deleting command it also gets `:?`, so that it can never be empty there.
//!
//! ## Example
//! ```sh
//! set -u
//! echo "made by $USER"
//! ```
//! ```sh
//! set -u
//! USER=${USER:-$(id -un)}
//! echo "made by $USER"
//! ```
//!
//! ## Safety
//! A name is taken for the new one only when it is the only one like it, and it differs by no more than a word or two
//! letters. A variable that anything else sets is left alone.

use std::path::Path;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::shell::{Script, Values, splice};
use crate::text::{self, distance};

rule!(UnsetVariable, "unset_variable", Safe, propose);

/// Variables that login shells set, and how the system tells their value.
const DEFAULTS: &[(&str, &str)] = &[
    ("USER", "$(id -un)"),
    ("LOGNAME", "$(id -un)"),
    ("USERNAME", "$(id -un)"),
    ("HOME", "$(getent passwd \"$(id -u)\" | cut -d: -f6)"),
    ("HOSTNAME", "$(uname -n)"),
    ("HOST", "$(uname -n)"),
    ("TMPDIR", "/tmp"),
    ("TMP", "/tmp"),
    ("TEMP", "/tmp"),
    ("LANG", "C.UTF-8"),
    ("SHELL", "/bin/sh"),
    ("TERM", "dumb"),
    ("COLUMNS", "80"),
    ("LINES", "24"),
    ("UID", "$(id -u)"),
    ("EUID", "$(id -u)"),
    ("XDG_CONFIG_HOME", "$HOME/.config"),
    ("XDG_CACHE_HOME", "$HOME/.cache"),
    ("XDG_DATA_HOME", "$HOME/.local/share"),
    ("XDG_STATE_HOME", "$HOME/.local/state"),
];

fn propose(case: &Case) -> Vec<Candidate> {
    let names = case.faults().filter_map(|fault| match fault {
        Fault::UnsetVariable { name } => Some(name.trim_end_matches("[@]")),
        _ => None,
    });
    let Some(name) = names.into_iter().next() else { return Vec::new() };
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let set_in_script = script.assignments().any(|(known, ..)| known == name);
    if let Some((_, default)) = DEFAULTS.iter().find(|(known, _)| *known == name).filter(|_| !set_in_script) {
        return with_default(&file, &script, name, default).into_iter().collect();
    }
    if set_in_script { Vec::new() } else { renamed(case, &file, &script, name).into_iter().collect() }
}

fn with_default(file: &ScriptFile, script: &Script<'_>, name: &str, default: &str) -> Option<Candidate> {
    let at = script.after_head(false);
    let line = script.line_of(at);
    Draft::new(
        "unset_variable",
        format!("{name} is not set where the job runs, and the script treats that as an error"),
        format!("take {name} from the system when the environment does not have it"),
    )
    .evidence(format!("{name} is not in the job's environment"))
    .rewrite(
        file,
        splice(&file.text, vec![(at..at, format!("{name}=${{{name}:-{default}}}\n"))]),
        format!("line {line}: a default for {name}"),
    )
    .done()
}

fn renamed(case: &Case, file: &ScriptFile, script: &Script<'_>, name: &str) -> Option<Candidate> {
    let (new, place) = other_name(case, file, script, name)?;
    let mut parts = Vec::new();
    for at in text::whole_words(&file.text, name).collect::<Vec<_>>() {
        let before = file.text.get(..at).unwrap_or_default();
        if !before.ends_with('$') && !before.ends_with("${") {
            continue;
        }
        let end = at + name.len();
        let guarded = before.ends_with('$')
            && deletes(script, at)
            && file.text.get(end..).is_some_and(|r| r.starts_with(['/', '"']));
        let braced = before.ends_with("${") && file.text.get(end..).is_some_and(|rest| rest.starts_with('}'));
        if guarded {
            parts.push((at..end, format!("{{{new}:?}}")));
        } else if braced && deletes(script, at) {
            parts.push((at..end, format!("{new}:?")));
        } else {
            parts.push((at..end, new.clone()));
        }
    }
    let count = parts.len();
    let lines: Vec<String> = parts.iter().map(|(span, _)| script.line_of(span.start).to_string()).collect();
    Draft::new(
        "unset_variable",
        format!("{name} is not set; {place} sets {new} instead"),
        format!("use {new} in all {count} places"),
    )
    .evidence(format!("{new} is set in {place}, {name} nowhere"))
    .rewrite(file, splice(&file.text, parts), format!("{name} becomes {new} in lines {}", lines.join(", ")))
    .done()
}

/// Whether a byte lies in a command that deletes.
fn deletes(script: &Script<'_>, at: usize) -> bool {
    script.commands.iter().any(|command| {
        let inside = command.span.start <= at && at < command.span.end;
        inside
            && matches!(script.name(command).as_str(), "rm" | "rmdir" | "find" | "rsync" | "unlink" | "shred")
    })
}

/// The one name like the missing one that the script or a file that it sources sets, and where.
fn other_name(case: &Case, file: &ScriptFile, script: &Script<'_>, name: &str) -> Option<(String, String)> {
    let mut known: Vec<(String, String)> =
        script.assignments().map(|(name, ..)| (name.to_owned(), "the script".to_owned())).collect();
    for (path, text) in sourced(case, file, script) {
        let settings = Script::new(&text);
        known.extend(settings.assignments().map(|(name, ..)| (name.to_owned(), path.clone())));
    }
    known.retain(|(other, _)| alike(name, other));
    known.dedup_by(|a, b| a.0 == b.0);
    let unused = |other: &str| !uses(&file.text, other);
    let mut best: Vec<&(String, String)> = known.iter().filter(|(other, _)| unused(other)).collect();
    if best.is_empty() {
        best = known.iter().filter(|(other, _)| same_letters(name, other)).collect();
    }
    match best.as_slice() {
        [only] => Some((*only).clone()),
        _ => None,
    }
}

fn uses(text: &str, name: &str) -> bool {
    text::whole_words(text, name)
        .any(|at| text.get(..at).is_some_and(|b| b.ends_with('$') || b.ends_with("${")))
}

fn same_letters(a: &str, b: &str) -> bool {
    let bare = |name: &str| name.replace('_', "").to_lowercase();
    a != b && bare(a) == bare(b)
}

/// Whether two names are alike: same letters, one more word at an end, the words in another order, or up to two letters.
fn alike(name: &str, other: &str) -> bool {
    if name == other {
        return false;
    }
    let words = |name: &str| {
        let mut words: Vec<String> = name.to_lowercase().split('_').map(str::to_owned).collect();
        words.sort();
        words
    };
    // In one word two letters make another word: TMP and TOP.
    if !name.contains('_') && !other.contains('_') && name.len().min(other.len()) < 5 {
        return same_letters(name, other);
    }
    let (longer, shorter) = if other.len() > name.len() { (other, name) } else { (name, other) };
    let more = longer.strip_prefix(shorter).is_some_and(|rest| rest.starts_with('_'))
        || longer.strip_suffix(shorter).is_some_and(|rest| rest.ends_with('_'));
    let abbreviated =
        name.len() >= 4 && other.len() >= 4 && (other.starts_with(name) || name.starts_with(other));
    let close = close_by_words(name, other);
    same_letters(name, other) || more || abbreviated || close || words(name) == words(other)
}

/// Whether two names have the same words but for one, which is of five letters or more and differs by a letter or its
/// plural.
fn close_by_words(name: &str, other: &str) -> bool {
    let (one, two): (Vec<&str>, Vec<&str>) = (name.split('_').collect(), other.split('_').collect());
    let different: Vec<(&str, &str)> =
        one.iter().zip(&two).filter(|(a, b)| a != b).map(|(a, b)| (*a, *b)).collect();
    match different.as_slice() {
        [(a, b)] => {
            let plural = a.len().abs_diff(b.len()) == 1 && (format!("{a}s") == *b || format!("{b}s") == *a)
                || format!("{a}S") == *b
                || format!("{b}S") == *a;
            one.len() == two.len() && (plural || a.len().min(b.len()) >= 5 && distance(a, b, 1) <= 1)
        }
        _ => false,
    }
}

/// The files that a script sources, with their texts.
fn sourced(case: &Case, file: &ScriptFile, script: &Script<'_>) -> Vec<(String, String)> {
    let values = Values::new(case, script, file.folder());
    let commands = script.commands.iter().filter(|c| matches!(script.name(c).as_str(), "." | "source"));
    commands
        .filter_map(|command| {
            let word = script.words(command).get(1).and_then(|word| values.word(word))?;
            let path = case.find(Path::new(&word))?;
            let text = String::from_utf8(case.scene.read(&path, crate::case::LARGEST)?).ok()?;
            Some((path.file_name()?.to_string_lossy().into_owned(), text))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn unset(name: &str) -> Fault {
        Fault::UnsetVariable { name: name.into() }
    }

    #[test]
    fn gives_a_default_after_the_head() {
        let text = "#!/bin/bash\n# For the auditors.\nset -euo pipefail\ncd \"$(dirname \"$0\")\"\n\necho \"$USER\"\n";
        let case = TestCase::new("x.sh", text, TestScene::new()).fault(unset("USER")).at(6);
        let healed = case.healed(&UnsetVariable);
        assert_eq!(healed, text.replace("pipefail\n", "pipefail\nUSER=${USER:-$(id -un)}\n"));
        let case = TestCase::new("x.sh", "set -u\nT=$(mktemp -p $TMPDIR)\n", TestScene::new())
            .fault(unset("TMPDIR"))
            .at(2);
        assert!(case.healed(&UnsetVariable).contains("\nTMPDIR=${TMPDIR:-/tmp}\n"));
    }

    #[test]
    fn renames_all_uses_of_a_renamed_setting() {
        let scene = TestScene::new().file("site.conf", "TITLE=x\nSTAGE_DIR=stage\n");
        let text =
            "set -eu\n. ./site.conf\nrm -rf \"$B/$STAGE\"/*\nmkdir -p \"${STAGE}/x\"\necho $STAGES $TITLE\n";
        let case = TestCase::new("x.sh", text, scene).fault(unset("STAGE")).at(3);
        let healed = case.healed(&UnsetVariable);
        assert!(
            healed.contains("rm -rf \"$B/${STAGE_DIR:?}\"/*\nmkdir -p \"${STAGE_DIR}/x\"\necho $STAGES"),
            "{healed}"
        );
        let case = TestCase::new("x.sh", "BACKUPDIR=b\nset -u\ncp a \"$BACKUP_DIR\"\n", TestScene::new());
        assert!(case.fault(unset("BACKUP_DIR")).at(3).healed(&UnsetVariable).contains("cp a \"$BACKUPDIR\""));
    }

    #[test]
    fn leaves_unknown_and_ambiguous_names_alone() {
        let case = TestCase::new("x.sh", "set -u\necho $API_TOKEN\n", TestScene::new())
            .fault(unset("API_TOKEN"))
            .at(2);
        assert!(case.silent(&UnsetVariable));
        let text = "OUT_DIR=a\nOUT_FILE=b\nset -u\necho $OUT\n";
        assert!(
            TestCase::new("x.sh", text, TestScene::new()).fault(unset("OUT")).at(4).silent(&UnsetVariable)
        );
    }
}
