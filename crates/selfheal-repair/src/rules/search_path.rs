//! # A tool that is not on the job's PATH
//!
//! ## What it finds
//! A command is not found, but is installed on this machine: in one of the usual folders, or in a folder of tools below the
//! script's own.
//!
//! ## Why it fails
//! Schedulers start jobs with a short PATH. What a person's shell adds (`/usr/local/bin`, the project's own tools) is
//! missing.
//!
//! ## Fix
//! The folder of the tool is added at the end of the PATH, at the head of the script. A folder below the script's own, or
//! beside it in the tree that the job runs in, is named relative to it.
//!
//! ## Example
//! ```sh
//! set -eu
//! orderstat queue/*.order
//! ```
//! ```sh
//! set -eu
//! PATH="$PATH:/opt/orders/bin"
//! orderstat queue/*.order
//! ```
//!
//! ## Safety
//! Only folders that hold an executable file of exactly that name. Added at the end, the folder changes no other command.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::scene::Kind;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::shell::{Script, splice};

rule!(SearchPath, "search_path", Safe, propose);

/// Folders below the script's own that are looked into, at most.
const MOST_FOLDERS: usize = 200;

/// Folders that are as near and offered as alternatives, at most.
const MOST_ALTERNATIVES: usize = 3;

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::CommandNotFound { name } if !name.contains('/') => Some(name.clone()),
        _ => None,
    });
    let Some(name) = missing else { return Vec::new() };
    let file = case
        .failing_file()
        .filter(|file| file.language.is_shell())
        .or_else(|| case.script.cloned().filter(|script| script.language.is_shell()));
    let Some(file) = file else { return Vec::new() };
    let found = case.scene.which(&name).first().and_then(|place| place.parent()).map(Path::to_path_buf);
    let folders = found.map_or_else(|| below(case, &name), |folder| vec![folder]);
    folders.iter().filter_map(|folder| with_folder(case, &file, &name, folder)).collect()
}

fn with_folder(case: &Case, file: &ScriptFile, name: &str, folder: &Path) -> Option<Candidate> {
    let script = Script::new(&file.text);
    let entry = entry(case, file, &script, folder);
    let at = script.after_head(true);
    let line = format!("PATH=\"$PATH:{entry}\"\n");
    let draft = Draft::new(
        "search_path",
        format!("{name} is in {}, which is not on the job's PATH", folder.display()),
        "add the folder at the end of the PATH",
    )
    .evidence(format!("{} exists", folder.join(name).display()))
    .rewrite(
        file,
        splice(&file.text, vec![(at..at, line)]),
        format!("line {}: {entry} on the PATH", script.line_of(at)),
    );
    draft.done()
}

/// The nearest folders at or below the script's own with an executable file of that name. Where several are as near, trials
/// show which one does the job; when more than one does, and otherwise, a person decides.
fn below(case: &Case, name: &str) -> Vec<PathBuf> {
    let mut waiting: Vec<PathBuf> = case.home().into_iter().chain([case.job.cwd.clone()]).collect();
    let mut seen = 0;
    while !waiting.is_empty() && seen < MOST_FOLDERS {
        let (mut next, mut found) = (Vec::new(), Vec::new());
        for folder in waiting {
            seen += 1;
            let facts = case.scene.facts(&folder.join(name));
            if facts.is_some_and(|facts| facts.kind == Kind::File && facts.mode & 0o111 != 0)
                && case.owns(&folder)
            {
                found.push(folder);
                continue;
            }
            let depth = folder.components().count();
            let home = case.home().map_or(0, |home| home.components().count());
            if depth < home + 3 {
                let names = case.scene.names(&folder);
                let folders = names
                    .iter()
                    .filter(|name| !name.starts_with('.') && !is_for_show(name))
                    .map(|name| folder.join(name));
                next.extend(
                    folders.filter(|path| case.scene.facts(path).is_some_and(|f| f.kind == Kind::Directory)),
                );
            }
        }
        if !found.is_empty() {
            found.sort();
            found.dedup();
            found.truncate(MOST_ALTERNATIVES);
            return found;
        }
        next.truncate(MOST_FOLDERS);
        waiting = next;
    }
    Vec::new()
}

/// Whether a folder's name says that what is in it is for tests or examples, or is no longer used.
fn is_for_show(name: &str) -> bool {
    let name = name.to_lowercase();
    let starts =
        ["test", "fake", "mock", "stub", "example", "sample", "fixture", "backup", "archive", "attic"];
    starts.iter().any(|start| name.starts_with(start))
        || matches!(name.as_str(), "old" | "node_modules" | "spec" | "demo")
}

/// The folder as it is written into PATH: relative to the script when it is below the script's folder.
fn entry(case: &Case, file: &ScriptFile, script: &Script<'_>, folder: &Path) -> String {
    let home = file.folder();
    let Ok(rest) = folder.strip_prefix(home) else {
        return beside(case, home, folder).unwrap_or_else(|| folder.display().to_string());
    };
    let goes_home = case.base() == home
        && script.commands.iter().any(|c| script.name(c) == "cd" && script.get(&c.span).contains("dirname"));
    let start = if goes_home { "$PWD" } else { "$(cd \"$(dirname \"$0\")\" && pwd)" };
    if rest.as_os_str().is_empty() { start.to_owned() } else { format!("{start}/{}", rest.display()) }
}

/// A folder in the tree that the job runs in, relative to the script's folder, which lies in that tree, too: it is still
/// right when the whole tree is moved.
fn beside(case: &Case, home: &Path, folder: &Path) -> Option<String> {
    let tree = case.job.cwd.as_path();
    let common = home.ancestors().find(|ancestor| folder.starts_with(ancestor))?;
    if !common.starts_with(tree) || !case.owns(folder) {
        return None;
    }
    let up = "/..".repeat(home.strip_prefix(common).ok()?.components().count());
    let rest = folder.strip_prefix(common).ok()?.display().to_string();
    let start = format!("$(cd \"$(dirname \"$0\"){up}\" && pwd)");
    Some(if rest.is_empty() { start } else { format!("{start}/{rest}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn missing(name: &str) -> Fault {
        Fault::CommandNotFound { name: name.into() }
    }

    #[test]
    fn offers_folders_that_are_as_near_as_alternatives() {
        let scene = TestScene::new()
            .raw("b/label", b"#!/bin/sh\n", 0o755)
            .raw("a/label", b"#!/bin/sh\n", 0o755)
            .raw("a/far/label", b"#!/bin/sh\n", 0o755);
        let case = TestCase::new("x.sh", "label\n", scene).fault(missing("label")).at(1);
        assert_eq!(case.ask(&SearchPath).len(), 2);
    }

    #[test]
    fn finds_a_tool_below_the_script() {
        let scene = TestScene::new().raw("tools/bin/orderstat", b"#!/bin/sh\n", 0o755);
        let text = "#!/bin/bash\nset -eu\n\ncd \"$(dirname \"$0\")\"\n\norderstat a\n";
        let case = TestCase::new("x.sh", text, scene).fault(missing("orderstat")).at(6);
        assert_eq!(
            case.healed(&SearchPath),
            text.replace("\"\n\nord", "\"\nPATH=\"$PATH:$PWD/tools/bin\"\n\nord")
        );
        let scene = TestScene::new().raw("bin/tool", b"#!/bin/sh\n", 0o755);
        let case = TestCase::new("x.sh", "tool a\n", scene).fault(missing("tool"));
        assert_eq!(
            case.healed(&SearchPath),
            "PATH=\"$PATH:$(cd \"$(dirname \"$0\")\" && pwd)/bin\"\ntool a\n"
        );
    }

    #[test]
    fn names_a_folder_beside_the_scripts_own_relative_to_it() {
        let scene = TestScene::new().raw("bin/tool", b"#!/bin/sh\n", 0o755);
        let case = TestCase::new("jobs/x.sh", "set -e\ntool a\n", scene).fault(missing("tool")).at(2);
        assert_eq!(
            case.healed(&SearchPath),
            "set -e\nPATH=\"$PATH:$(cd \"$(dirname \"$0\")/..\" && pwd)/bin\"\ntool a\n"
        );
    }

    #[test]
    fn finds_a_tool_in_a_usual_folder() {
        let scene = TestScene::new().command("restic", "/usr/local/bin/restic");
        let case = TestCase::new("x.sh", "#!/bin/sh\nrestic backup\n", scene).fault(missing("restic"));
        assert_eq!(case.healed(&SearchPath), "#!/bin/sh\nPATH=\"$PATH:/usr/local/bin\"\nrestic backup\n");
    }

    #[test]
    fn leaves_tools_that_are_not_here_alone() {
        let scene = TestScene::new().raw("tests/fakes/tool", b"#!/bin/sh\n", 0o755);
        assert!(TestCase::new("x.sh", "tool a\n", scene).fault(missing("tool")).silent(&SearchPath));
        let scene = TestScene::new().raw("bin/tool", b"text", 0o644);
        assert!(TestCase::new("x.sh", "tool a\n", scene).fault(missing("tool")).silent(&SearchPath));
    }
}
