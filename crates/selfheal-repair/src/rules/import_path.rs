//! # A module that lies beside the project and is not found
//!
//! ## What it finds
//! A Python program imports a module of its own project that lies in the folder above, or in `lib` or `src` beside it.
//!
//! ## Why it fails
//! Python looks in the script's own folder and in its library. It worked with a PYTHONPATH that a scheduler does not set, or
//! when started from another folder with `-m`.
//!
//! ## Fix
//! The folder is added to `sys.path` right before the first import of the module, relative to the script.
//!
//! ## Example
//! ```python
//! from common.titles import load
//! ```
//! ```python
//! sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
//! from common.titles import load
//! ```
//!
//! ## Safety
//! Only folders of the job that hold a module of exactly that name.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::scene::Kind;
use selfheal_syntax::python::Module;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::python;
use crate::shell::splice;

rule!(ImportPath, "import_path", Safe, propose);

/// Where modules of a project are, seen from its scripts.
const PLACES: &[&str] = &[
    "..",
    "lib",
    "src",
    "../lib",
    "../src",
    "../..",
    "../../lib",
    "../../src",
    "../python",
    "../modules",
    "../vendor",
    "python",
    "modules",
    "vendor",
];

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::MissingModule { name } => name.split('.').next().map(str::to_owned),
        _ => None,
    });
    let Some(name) = missing.filter(|name| !name.is_empty() && !name.contains('/')) else {
        return Vec::new();
    };
    let modules = python::modules(case);
    let Some((file, module)) =
        modules.into_iter().find(|(_, m)| m.imports().iter().any(|i| first_part(&i.module) == name))
    else {
        return Vec::new();
    };
    let home = file.folder();
    if let Some(candidate) = relative_entry(case, &file, &module, &name) {
        return vec![candidate];
    }
    let Some(place) = PLACES.iter().find(|place| holds(case, home, place, &name)) else { return Vec::new() };
    let expression = format!("os.path.join(os.path.dirname(os.path.abspath(__file__)), \"{place}\")");
    let Some(first) = module.imports().into_iter().find(|import| first_part(&import.module) == name) else {
        return Vec::new();
    };
    let start = python::line_start(&file.text, first.statement.start);
    let indent = file.text.get(start..first.statement.start).unwrap_or_default();
    let mut parts = vec![(start..start, format!("{indent}sys.path.insert(0, {expression})\n"))];
    parts.extend(["os", "sys"].iter().filter_map(|name| python::import(&module, name)).map(|(at, line)| {
        // Both must come before they are used.
        (at.start.min(start)..at.start.min(start), line)
    }));
    parts.sort_by_key(|(span, text)| (span.start, !text.starts_with("import")));
    let mut merged: Vec<python::Part> = Vec::new();
    for (span, text) in parts {
        match merged.last_mut().filter(|(last, _)| *last == span) {
            Some((_, known)) => known.push_str(&text),
            None => merged.push((span, text)),
        }
    }
    let draft = Draft::new(
        "import_path",
        format!(
            "line {}: the module {name} lies in {place} beside the script, where Python does not look",
            first.line
        ),
        "look there, too",
    )
    .evidence(format!("{place} holds {name}"))
    .rewrite(
        &file,
        splice(&file.text, merged),
        format!("before line {}: {place} on sys.path", first.line),
    );
    draft.done().into_iter().collect()
}

/// A folder that the program adds to `sys.path` by a path that is relative to where it is started.
fn relative_entry(case: &Case, file: &ScriptFile, module: &Module, name: &str) -> Option<Candidate> {
    let entries = module.calls().into_iter().filter_map(|call| {
        let at = match call.resolved.as_str() {
            "sys.path.append" => 0,
            "sys.path.insert" => 1,
            _ => return None,
        };
        let argument = call.arguments.get(at)?.clone();
        let place = argument.string.clone().filter(|place| !place.is_empty() && !place.starts_with('/'))?;
        holds(case, file.folder(), &place, name).then_some((call.span.start, argument.span, place))
    });
    let (start, span, place) = entries.into_iter().next()?;
    let mut parts =
        vec![(span, format!("os.path.join(os.path.dirname(os.path.abspath(__file__)), \"{place}\")"))];
    if let Some((at, line)) = python::import(module, "os") {
        let before = python::line_start(&file.text, start).min(at.start);
        parts.push((before..before, line));
    }
    let line = python::line_of(&file.text, start);
    Draft::new(
        "import_path",
        format!(
            "line {line}: {place} on sys.path is taken from where the job is started, and {name} is not found"
        ),
        "take the folder from where the script lies",
    )
    .evidence(format!("{place}, seen from the script, holds {name}"))
    .rewrite(file, splice(&file.text, parts), format!("line {line}: {place} from the script's folder"))
    .done()
}

fn first_part(module: &str) -> &str {
    module.split('.').next().unwrap_or_default()
}

fn holds(case: &Case, home: &Path, place: &str, name: &str) -> bool {
    let folder = selfheal_core::scene::absolute(home, Path::new(place));
    let kind = |path: &Path| case.scene.facts(path).map(|facts| facts.kind);
    let package = kind(&folder.join(name)) == Some(Kind::Directory)
        && case.scene.names(&folder.join(name)).iter().any(|file| file.ends_with(".py"));
    let near = case.owns(&folder) || case.owns(&home.join(".")) && folder.components().count() > 2;
    near && (package || kind(&folder.join(format!("{name}.py"))) == Some(Kind::File))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    #[test]
    fn looks_in_the_folder_above() {
        let scene = TestScene::new().file("common/__init__.py", "").file("common/titles.py", "");
        let text = "\"\"\"D.\"\"\"\nimport json\nimport os\n\nfrom common.titles import load\n";
        let case =
            TestCase::new("jobs/x.py", text, scene).fault(Fault::MissingModule { name: "common".into() });
        assert_eq!(
            case.healed(&ImportPath),
            "\"\"\"D.\"\"\"\nimport json\nimport os\nimport sys\n\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), \"..\"))\nfrom common.titles import load\n"
        );
    }

    #[test]
    fn a_folder_on_the_path_is_taken_from_the_script() {
        let scene = TestScene::new().file("shared/teams.py", "");
        let text = "import sys\n\nsys.path.append(\"../shared\")\nfrom teams import Team\n";
        let case = TestCase::new("tools/x.py", text, scene)
            .fault(Fault::MissingModule { name: "teams".into() })
            .at(4);
        assert_eq!(
            case.healed(&ImportPath),
            "import os\nimport sys\n\nsys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), \"../shared\"))\nfrom teams import Team\n"
        );
    }

    #[test]
    fn imports_what_it_needs_first() {
        let scene = TestScene::new().file("lib/feeds.py", "");
        let case = TestCase::new("x.py", "import feeds\nimport json\n", scene)
            .fault(Fault::MissingModule { name: "feeds".into() });
        let healed = case.healed(&ImportPath);
        assert!(healed.starts_with("import os\nimport sys\nsys.path.insert(0, "), "{healed}");
    }

    #[test]
    fn leaves_foreign_modules_alone() {
        let case = TestCase::new("x.py", "import requests\n", TestScene::new())
            .fault(Fault::MissingModule { name: "requests".into() });
        assert!(case.silent(&ImportPath));
    }
}
