//! # git does not know who commits
//!
//! ## What it finds
//! A script makes a commit, an annotated tag or a merge, and git ends with `Please tell me who you are`: no name and address are
//! set for the user that runs the job.
//!
//! ## Why it fails
//! Every commit names its author. People have theirs in their own settings; the user of a timer, a container or a fresh machine
//! has none.
//!
//! ## Fix
//! The commands that write history name the job as their author, on their own line and for nobody else.
//!
//! ## Example
//! ```sh
//! git commit -q -m "settings of the night"
//! ```
//! ```sh
//! git -c user.name=keep-settings -c user.email=keep-settings@localhost commit -q -m "settings of the night"
//! ```
//!
//! ## Safety
//! Nothing is written to the settings of git, of the user or of the repository. A command that names an author already stays.
//! The author of what is recorded is another one than a person would be, so the risk is medium.

use std::ops::Range;

use selfheal_core::fault::Fault;
use selfheal_core::proposal::Risk;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::python;
use crate::shell::{Command, Script, splice, unquoted};

rule!(GitIdentity, "git_identity", Safe, propose);

/// Commands of git that write down who did it.
const WRITES: &[&str] = &[
    "commit",
    "merge",
    "rebase",
    "am",
    "cherry-pick",
    "revert",
    "tag",
    "commit-tree",
    "stash",
    "pull",
    "notes",
];

fn propose(case: &Case) -> Vec<Candidate> {
    let nobody =
        case.faults().any(|fault| matches!(fault, Fault::KeyMissing { key } if key.starts_with("user.")));
    let Some(file) = case.failing_file().filter(|_| nobody) else { return Vec::new() };
    let who = name_of(&file);
    let parts = match file.language {
        Language::Python => in_python(case, &file, &who),
        language if language.is_shell() => in_shell(&file.text, &who),
        Language::Make => in_recipes(&file.text, &who),
        _ => Vec::new(),
    };
    let Some((first, _)) = parts.first() else { return Vec::new() };
    let line = python::line_of(&file.text, first.start);
    let mut draft = Draft::new(
        "git_identity",
        format!("line {line}: git knows no name and address of who commits"),
        "let the commands that commit name the job as the author",
    )
    .evidence("no user.name and user.email are set where the job runs");
    draft.raise(Risk::Medium);
    draft
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: commits as {who}"))
        .done()
        .into_iter()
        .collect()
}

/// The job's name as that of an author: the script's name without its ending.
fn name_of(file: &ScriptFile) -> String {
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let name = name.trim_matches('-').to_owned();
    if name.is_empty() || name == "makefile" { "job".to_owned() } else { name }
}

fn options(who: &str) -> String {
    format!(" -c user.name={who} -c user.email={who}@localhost")
}

fn in_shell(text: &str, who: &str) -> Vec<(Range<usize>, String)> {
    let script = Script::new(text);
    let place = |command: &Command| {
        let words = script.words(command);
        let named = command.assigns.iter().any(|span| script.get(span).starts_with("GIT_AUTHOR_"));
        (script.name(command) == "git" && !named && writes(&words))
            .then(|| command.words.first().map(|git| (git.end..git.end, options(who))))
            .flatten()
    };
    script.commands.iter().filter_map(place).collect()
}

/// Whether the words of a command, `git` first, are one that writes history and names nobody.
fn writes(words: &[&str]) -> bool {
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match *word {
            "-C" | "--git-dir" | "--work-tree" => drop(rest.next()),
            "-c" if rest.next().is_some_and(|set| unquoted(set).starts_with("user.")) => return false,
            "-c" => {}
            option if option.starts_with('-') => {}
            command => return WRITES.contains(&unquoted(command).as_str()),
        }
    }
    false
}

/// Recipes of a makefile: each line that begins with git, behind the marks of make.
fn in_recipes(text: &str, who: &str) -> Vec<(Range<usize>, String)> {
    let mut at = 0;
    let mut parts = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(recipe) = line.strip_prefix('\t') {
            let command = recipe.trim_start_matches(['@', '-', '+', ' ']);
            let start = at + line.len() - command.len();
            let inner = in_shell(command, who).into_iter();
            parts.extend(inner.map(|(span, new)| (start + span.start..start + span.end, new)));
        }
        at += line.len();
    }
    parts
}

/// `["git", "commit", …]` of a Python program, and whole commands in one text.
fn in_python(case: &Case, file: &ScriptFile, who: &str) -> Vec<(Range<usize>, String)> {
    let modules = python::modules(case);
    let Some((_, module)) = modules.iter().find(|(other, _)| other.path == file.path) else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    for list in module.nodes("list") {
        let mut cursor = list.walk();
        let items: Vec<_> = list.named_children(&mut cursor).collect();
        let words: Vec<String> = items.iter().map(|item| module.string(*item).unwrap_or_default()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let (Some(&"git"), Some(first), true) = (words.first(), items.first(), writes(&words)) {
            let new = format!(", \"-c\", \"user.name={who}\", \"-c\", \"user.email={who}@localhost\"");
            parts.push((first.end_byte()..first.end_byte(), new));
        }
    }
    for node in module.nodes("string") {
        let Some(text) = module.string(node).filter(|text| text.contains("git ")) else { continue };
        let source = module.text_of(node);
        if let (Some((place, new)), true) =
            (in_shell(&text, who).first(), source.matches("git ").count() == 1)
        {
            let Some(at) = source.find("git ").filter(|_| text.get(..place.end).is_some()) else { continue };
            let at = node.start_byte() + at + "git".len();
            parts.push((at..at, new.clone()));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(name: &str, text: &str) -> TestCase {
        TestCase::new(name, text, TestScene::new()).fault(Fault::KeyMissing { key: "user.email".into() })
    }

    #[test]
    fn commands_that_commit_name_the_job() {
        let text = "set -e\ngit add -A\ngit -C repo commit -q -m x\ngit log\n";
        let healed = case("keep conf.sh", text).healed(&GitIdentity);
        assert_eq!(
            healed,
            text.replace("git -C", "git -c user.name=keep-conf -c user.email=keep-conf@localhost -C")
        );
        let text = "all:\n\t@git add .\n\t@git commit -m x\n";
        assert!(
            case("Makefile", text)
                .healed(&GitIdentity)
                .contains("git -c user.name=job -c user.email=job@localhost commit")
        );
    }

    #[test]
    fn programs_that_start_git_name_themselves() {
        let text = "import subprocess\nsubprocess.run([\"git\", \"commit\", \"-m\", \"x\"], check=True)\n";
        let healed = case("save.py", text).healed(&GitIdentity);
        assert!(healed.contains(
            "[\"git\", \"-c\", \"user.name=save\", \"-c\", \"user.email=save@localhost\", \"commit\""
        ));
        let text = "import os\nos.system(\"git add . && git commit -m x\")\n";
        assert!(case("save.py", text).silent(&GitIdentity));
    }

    #[test]
    fn who_names_an_author_and_other_faults_are_left_alone() {
        assert!(case("x.sh", "git -c user.name=a -c user.email=b commit -m x\n").silent(&GitIdentity));
        assert!(case("x.sh", "GIT_AUTHOR_NAME=a git commit -m x\ngit push\n").silent(&GitIdentity));
        let other = TestCase::new("x.sh", "git commit -m x\n", TestScene::new());
        assert!(other.fault(Fault::KeyMissing { key: "name".into() }).silent(&GitIdentity));
    }
}
