//! # cp leaves a folder out
//!
//! ## What it finds
//! `cp` ends the job because there is a folder among what it should copy: "-r not specified; omitting directory".
//!
//! ## Why it fails
//! Without `-r`, `cp` copies files only. The folder came later than the script.
//!
//! ## Fix
//! `cp -r`.
//!
//! ## Example
//! ```sh
//! cp app/* stage/
//! ```
//! ```sh
//! cp -r app/* stage/
//! ```
//!
//! ## Safety
//! More is copied than before, so the risk is medium. Only where the script copies a whole folder's content or names the folder.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::scene::Kind;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, splice};

rule!(CopiedFolder, "copied_folder", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let folder = case.faults().find_map(|fault| match fault {
        Fault::IsADirectory { path } => case.find(path),
        _ => None,
    });
    let is_folder = |path: &Path| case.scene.facts(path).is_some_and(|facts| facts.kind == Kind::Directory);
    let Some(folder) = folder.filter(|path| is_folder(path)) else { return Vec::new() };
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let line = case.line_in(&file);
    let here = |command: &Command| line.is_none_or(|line| line == 0 || script.covers(command, line));
    let found = script.commands.iter().find(|command| here(command) && copies_files(&script, command));
    let Some(name) = found.and_then(|command| command.words.first()) else { return Vec::new() };
    let number = script.line_of(name.start);
    Draft::new(
        "copied_folder",
        format!("line {number}: there is a folder among what is copied, and cp copies only files"),
        "copy folders, too",
    )
    .meaning()
    .evidence(format!("{} is a folder", folder.display()))
    .rewrite(
        &file,
        splice(&file.text, vec![(name.end..name.end, " -r".to_owned())]),
        format!("line {number}: cp -r"),
    )
    .done()
    .into_iter()
    .collect()
}

/// Whether a command is a `cp` that copies files only and decides nothing.
fn copies_files(script: &Script<'_>, command: &Command) -> bool {
    let words = script.words(command);
    let deep = |word: &&str| {
        matches!(*word, "--recursive" | "--archive")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R', 'a']))
    };
    script.name(command) == "cp" && !words.iter().skip(1).any(deep) && !script.in_condition(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str) -> TestCase {
        TestCase::new("x.sh", &format!("{line}\n"), TestScene::new().folder("app/lib").file("app/f", ""))
            .fault(Fault::IsADirectory { path: "app/lib".into() })
            .at(1)
    }

    #[test]
    fn copies_folders_too() {
        assert_eq!(case("cp app/* stage/").healed(&CopiedFolder), "cp -r app/* stage/\n");
        assert_eq!(case("cp -p app/lib \"$D\"").healed(&CopiedFolder), "cp -r -p app/lib \"$D\"\n");
    }

    #[test]
    fn leaves_other_commands_alone() {
        assert!(case("cp -a app/* stage/").silent(&CopiedFolder));
        assert!(case("cp app/* stage/ || echo some").silent(&CopiedFolder));
        assert!(case("cat app/*").silent(&CopiedFolder));
    }
}
