//! # An interpreter at another place
//!
//! ## What it finds
//! The first line of a script of the job names an interpreter at a path that does not exist here, while a program of that
//! name (or its known other name) is on the PATH.
//!
//! ## Why it fails
//! The kernel starts exactly the program that the first line names. Systems keep interpreters at different places.
//!
//! ## Fix
//! The path is replaced by the place where the interpreter is. Options after it stay.
//!
//! ## Example
//! ```sh
//! #!/usr/pkg/bin/bash
//! ```
//! ```sh
//! #!/bin/bash
//! ```
//!
//! ## Safety
//! Only the first line, and only to an interpreter of the same language: never `bash` to `sh`, never Python 2 to 3.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile, interpreter_name};
use crate::text;

rule!(InterpreterPath, "interpreter_path", Safe, propose);

/// Interpreters that go by two names.
const OTHER_NAMES: &[(&str, &str)] =
    &[("python", "python3"), ("nodejs", "node"), ("node", "nodejs"), ("gawk", "awk")];

fn propose(case: &Case) -> Vec<Candidate> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for fault in case.faults() {
        match fault {
            Fault::BadInterpreter { script, .. } => paths.extend(case.find(script)),
            Fault::NoSuchPath { path } => paths.extend(case.find(path)),
            Fault::CommandNotFound { name } => paths.extend(case.find(Path::new(name))),
            _ => {}
        }
    }
    // `env: 'python': No such file or directory` names the interpreter, not the script.
    paths.extend(case.files().into_iter().map(|file| file.path));
    let broken = paths
        .iter()
        .filter_map(|path| case.file(path))
        .find_map(|file| replacement(case, &file).map(|new| (file, new)));
    let Some((file, new)) = broken else { return Vec::new() };
    let first = text::line(&file.text, 1).unwrap_or_default();
    let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let draft = Draft::new(
        "interpreter_path",
        format!(
            "line 1 of {name} names an interpreter that is not there: {}",
            first.trim_start_matches("#!")
        ),
        "name the place where the interpreter is",
    )
    .evidence(format!("{} exists", new.trim_start_matches("#!")))
    .edit(&file, &[text::replace(1, new.clone())], format!("{name}, line 1: {new}"));
    draft.done().into_iter().collect()
}

/// The first line as it has to be, if it names an interpreter that does not exist while there is one elsewhere.
fn replacement(case: &Case, file: &ScriptFile) -> Option<String> {
    if !case.faults().any(|fault| concerns(fault, file)) {
        return None;
    }
    let first = text::line(&file.text, 1)?;
    let rest = first.strip_prefix("#!")?;
    let name = interpreter_name(rest);
    let program = rest.split_whitespace().next()?;
    let via_env = program.ends_with("/env");
    let there = |path: &str| case.scene.facts(Path::new(path)).is_some();
    if name.is_empty()
        || (via_env && there(program) && !case.scene.which(name).is_empty())
        || (!via_env && there(program))
    {
        return None;
    }
    let others = OTHER_NAMES.iter().filter(|(known, _)| *known == name).map(|(_, other)| *other);
    let found = std::iter::once(name).chain(others).find_map(|name| Some((name, best(case, name)?)));
    let (new_name, place) = found?;
    if via_env && there(program) {
        return Some(format!("#!{}", rest.replacen(name, new_name, 1)));
    }
    let options = rest.trim_start().get(program.len()..).unwrap_or_default();
    let options = if via_env { options.split_once(name).map_or("", |(_, after)| after) } else { options };
    let usual =
        ["/bin", "/usr/bin"].iter().any(|folder| Path::new(&place).parent() == Some(Path::new(folder)));
    let env = Path::new("/usr/bin/env");
    // What one account has in a place of its own, another has elsewhere.
    if !usual && options.trim().is_empty() && case.scene.facts(env).is_some() {
        return Some(format!("#!{} {new_name}", env.display()));
    }
    Some(format!("#!{place}{options}"))
}

fn concerns(fault: &Fault, file: &ScriptFile) -> bool {
    let first = file.text.lines().next().unwrap_or_default();
    let same = |path: &Path| file.path.ends_with(path.strip_prefix("./").unwrap_or(path));
    match fault {
        Fault::BadInterpreter { script, .. } => same(script),
        Fault::NoSuchPath { path } => same(path) || first.contains(&*path.to_string_lossy()),
        Fault::CommandNotFound { name } => {
            same(Path::new(name)) || (first.contains("env") && interpreter_name(first) == name)
        }
        _ => false,
    }
}

/// The place to name: the usual one in `/bin` or `/usr/bin` when it is there.
fn best(case: &Case, name: &str) -> Option<String> {
    let places = case.scene.which(name);
    let usual = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
    let found = usual.iter().find(|place| places.contains(place)).or(places.first())?;
    Some(found.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    #[test]
    fn names_the_place_of_the_interpreter() {
        let scene = TestScene::new()
            .command("bash", "/usr/bin/bash")
            .file("steps/a", "#!/usr/pkg/bin/bash -e\necho\n");
        let fault =
            Fault::BadInterpreter { script: "./steps/a".into(), interpreter: "/usr/pkg/bin/bash".into() };
        let case = TestCase::new("run.sh", "./steps/a\n", scene).fault(fault);
        assert_eq!(case.healed(&InterpreterPath), "#!/usr/bin/bash -e\necho\n");
    }

    #[test]
    fn an_interpreter_of_one_account_is_left_to_the_path() {
        let scene = || {
            TestScene::new()
                .command("python3", "/home/a/.local/bin/python3")
                .file("t.py", "#!/opt/py/bin/python\nprint(1)\n")
        };
        let fault =
            || Fault::BadInterpreter { script: "./t.py".into(), interpreter: "/opt/py/bin/python".into() };
        let case =
            TestCase::new("run.sh", "./t.py\n", scene().raw("/usr/bin/env", b"", 0o755)).fault(fault());
        assert_eq!(case.healed(&InterpreterPath), "#!/usr/bin/env python3\nprint(1)\n");
        let case = TestCase::new("run.sh", "./t.py\n", scene()).fault(fault());
        assert_eq!(case.healed(&InterpreterPath), "#!/home/a/.local/bin/python3\nprint(1)\n");
    }

    #[test]
    fn knows_other_names_behind_env() {
        let scene = TestScene::new()
            .command("python3", "/usr/bin/python3")
            .raw("/usr/bin/env", b"", 0o755)
            .file("tool.py", "#!/usr/bin/env python\nprint(1)\n");
        let case = TestCase::new("run.sh", "./tool.py\n", scene)
            .fault(no_such("python"))
            .fault(no_such("./tool.py"));
        assert_eq!(case.healed(&InterpreterPath), "#!/usr/bin/env python3\nprint(1)\n");
    }

    #[test]
    fn leaves_good_interpreters_and_unknown_ones_alone() {
        let scene =
            TestScene::new().raw("/bin/sh", b"", 0o755).file("a", "#!/bin/sh\n").file("b", "#!/opt/q/lua5\n");
        let case = TestCase::new("run.sh", "./a\n", scene).fault(no_such("./a")).fault(no_such("./b"));
        assert!(case.silent(&InterpreterPath));
    }
}
