//! # A path that is relative to another folder
//!
//! ## What it finds
//! A script reads a file by a relative path that exists beside the script, but not in the folder that the job runs in.
//!
//! ## Why it fails
//! Relative paths are taken from the folder that a job is started in. Schedulers start jobs in a home folder or in `/`.
//!
//! ## Fix
//! The script changes into its own folder (or the one above, when its paths begin there) before anything is read.
//!
//! ## Example
//! ```sh
//! set -eu
//! . ./settings.conf
//! ```
//! ```sh
//! set -eu
//! cd "$(dirname "$0")"
//! . ./settings.conf
//! ```
//!
//! ## Safety
//! Not when the job is given relative paths as arguments, and not when the file exists in both places.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::scene::absolute;
use selfheal_syntax::python::Module;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::python;
use crate::shell::{Script, splice};

rule!(WorkingFolder, "working_folder", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let (Some(script), Some(home)) = (case.script, case.home()) else { return Vec::new() };
    if case.base() == home || home == case.job.cwd || given_relative_paths(case, &script.path) {
        return Vec::new();
    }
    let wanted: Vec<PathBuf> = wanted(case, script);
    let found = ["", ".."].into_iter().find_map(|up| {
        let folder = absolute(&home, Path::new(up));
        let path = wanted
            .iter()
            .find(|path| is_there(case, &folder, path) && !is_there(case, &case.job.cwd, path))?;
        Some((up, path.clone()))
    });
    let Some((up, path)) = found.filter(|(up, _)| absolute(&home, Path::new(up)) != case.job.cwd) else {
        return Vec::new();
    };
    let Some((after, how)) = changed(script, up) else { return Vec::new() };
    let place = if up.is_empty() { "the script's folder" } else { "the folder above the script's" };
    let draft = Draft::new(
        "working_folder",
        format!("{} is relative to {place}, and the job runs in {}", path.display(), case.job.cwd.display()),
        format!("change into {place} first"),
    )
    .evidence(format!("{} exists in {place} and not where the job runs", path.display()))
    .rewrite(script, after, how);
    draft.done().into_iter().collect()
}

/// The relative paths that were not found: of the faults, and of settings that a Python program read without complaint.
fn wanted(case: &Case, script: &ScriptFile) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for fault in case.faults() {
        match fault {
            Fault::NoSuchPath { path } if path.is_relative() => paths.push(path.clone()),
            Fault::KeyMissing { .. } if script.language == Language::Python => {
                paths.extend(read_settings(&script.text))
            }
            Fault::CommandNotFound { name } if name.contains('/') && !name.starts_with('/') => {
                paths.push(name.into())
            }
            _ => {}
        }
    }
    paths
}

/// The files that `ConfigParser.read` is given, which says nothing when they are missing.
fn read_settings(text: &str) -> Vec<PathBuf> {
    let Ok(module) = Module::parse(text) else { return Vec::new() };
    let calls = module.calls_of(".read").into_iter();
    calls
        .filter_map(|call| call.arguments.first().and_then(|a| a.string.clone()))
        .map(PathBuf::from)
        .collect()
}

fn is_there(case: &Case, folder: &Path, path: &Path) -> bool {
    case.scene.facts(&absolute(folder, path)).is_some()
}

/// Whether the job's arguments name files relative to where it runs.
fn given_relative_paths(case: &Case, script: &Path) -> bool {
    case.argv.iter().skip(1).any(|word| {
        let path = Path::new(word);
        let place = absolute(&case.job.cwd, path);
        path.is_relative() && place != script && case.scene.facts(&place).is_some()
    })
}

fn changed(script: &ScriptFile, up: &str) -> Option<(String, String)> {
    let text = &script.text;
    match script.language {
        Language::Bash | Language::Sh => {
            let parsed = Script::new(text);
            let at = parsed.after_head(false);
            let tail = if up.is_empty() { String::new() } else { format!("/{up}") };
            let check = if parsed.strict('e', "errexit") { "" } else { " || exit 1" };
            let line = format!("cd \"$(dirname \"$0\"){tail}\"{check}\n");
            Some((
                splice(text, vec![(at..at, line)]),
                format!("line {}: change into the folder first", parsed.line_of(at)),
            ))
        }
        Language::Python => {
            let module = Module::parse(text).ok()?;
            let at = python::after_imports(&module);
            let folder = "os.path.dirname(os.path.abspath(__file__))";
            let folder =
                if up.is_empty() { folder.to_owned() } else { format!("os.path.join({folder}, \"{up}\")") };
            let mut parts = vec![(at..at, format!("\nos.chdir({folder})\n"))];
            if let Some((span, line)) = python::import(&module, "os") {
                if span.start == at {
                    parts = vec![(at..at, format!("{line}\nos.chdir({folder})\n"))];
                } else {
                    parts.push((span, line));
                }
            }
            Some((
                splice(text, parts),
                format!("line {}: change into the folder first", python::line_of(text, at)),
            ))
        }
        Language::Node | Language::Perl | Language::Make | Language::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    #[test]
    fn changes_into_the_scripts_folder() {
        let text = "#!/bin/bash\nset -eu\ncat settings\n";
        let case = TestCase::new("jobs/x.sh", text, TestScene::new().file("jobs/settings", ""))
            .fault(no_such("settings"));
        assert_eq!(
            case.healed(&WorkingFolder),
            "#!/bin/bash\nset -eu\ncd \"$(dirname \"$0\")\"\ncat settings\n"
        );
    }

    #[test]
    fn sees_settings_that_were_silently_not_read() {
        let text = "import configparser\n\ns = configparser.ConfigParser()\ns.read(\"s.ini\")\nx = s['a']\n";
        let case = TestCase::new("jobs/x.py", text, TestScene::new().file("jobs/s.ini", ""))
            .fault(Fault::KeyMissing { key: "a".into() });
        let healed = case.healed(&WorkingFolder);
        assert!(
            healed.starts_with(
                "import configparser\nimport os\n\nos.chdir(os.path.dirname(os.path.abspath(__file__)))\n"
            ),
            "{healed}"
        );
    }

    #[test]
    fn leaves_jobs_with_relative_arguments_and_missing_files_alone() {
        let scene = || TestScene::new().file("jobs/in", "").file("list", "");
        let case = TestCase::new("jobs/x.sh", "cat in\n", scene())
            .argv(&["bash", "jobs/x.sh", "list"])
            .fault(no_such("in"));
        assert!(case.silent(&WorkingFolder));
        assert!(TestCase::new("jobs/x.sh", "cat q\n", scene()).fault(no_such("q")).silent(&WorkingFolder));
        assert!(TestCase::new("x.sh", "cat q\n", scene()).fault(no_such("q")).silent(&WorkingFolder));
    }
}
