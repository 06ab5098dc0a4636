//! # Settings that a started program does not get
//!
//! ## What it finds
//! A program that the script starts misses a variable, and the script reads a settings file that sets it.
//!
//! ## Why it fails
//! Reading a file with `.` sets variables of the shell. Programs get only those that are exported.
//!
//! ## Fix
//! All variables of that file are exported.
//!
//! ## Example
//! ```sh
//! . ./app.env
//! ./bin/app
//! ```
//! ```sh
//! set -a; . ./app.env; set +a
//! ./bin/app
//! ```
//!
//! ## Safety
//! Only where the file sets the missing variable and nothing exports it. What is not in the file still fails.

use std::ops::Range;
use std::path::Path;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Script, Values, splice};

rule!(UnexportedSettings, "unexported_settings", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::UnsetVariable { name } => Some(name.clone()),
        Fault::KeyMissing { key } if key.chars().all(|c| c.is_ascii_uppercase() || c == '_') => {
            Some(key.clone())
        }
        _ => None,
    });
    let Some(name) = missing.filter(|name| !name.is_empty()) else { return Vec::new() };
    let Some(file) = case.script.filter(|file| file.language.is_shell()) else { return Vec::new() };
    // In the script itself the variable is there; it is missing in what the script starts.
    if case.report.location.as_ref().is_some_and(|place| case.places(&place.file).contains(&file.path)) {
        return Vec::new();
    }
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    let found = script.commands.iter().find_map(|command| {
        let words = script.words(command);
        let alone = command.before.is_empty() && matches!(command.after.as_str(), "" | ";");
        let ([".", path] | ["source", path]) = words.as_slice() else { return None };
        let path = case.find(Path::new(&values.word(path)?))?;
        let settings = case.file(&path)?;
        (alone && sets(&settings.text, &name)).then(|| (command.span.clone(), path))
    });
    let exported = script.text.contains(&format!("export {name}"))
        || script.text.contains("set -a")
        || script.text.contains("allexport");
    let Some((span, settings)) = found.filter(|_| !exported) else { return Vec::new() };
    let number = script.line_of(span.start);
    let parts: Vec<(Range<usize>, String)> =
        vec![(span.clone(), format!("set -a; {}; set +a", script.get(&span)))];
    Draft::new(
        "unexported_settings",
        format!(
            "{name} is set by {}, and the program that is started does not get it: it is not exported",
            settings.display()
        ),
        "export what the settings file sets",
    )
    .evidence(format!("{} sets {name}", settings.display()))
    .rewrite(file, splice(&file.text, parts), format!("line {number}: set -a around it"))
    .done()
    .into_iter()
    .collect()
}

/// Whether a settings file sets a variable without exporting it.
fn sets(text: &str, name: &str) -> bool {
    text.lines().any(|line| line.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, settings: &str) -> TestCase {
        let scene = TestScene::new().file("app.env", settings).file("bin/app", "#!/bin/sh\necho $DATA\n");
        TestCase::new("x.sh", text, scene)
            .fault(Fault::UnsetVariable { name: "DATA".into() })
            .at_file("bin/app", 2)
    }

    #[test]
    fn exports_what_the_file_sets() {
        assert_eq!(
            case("set -e\n. ./app.env\n./bin/app\n", "DATA=data\n").healed(&UnexportedSettings),
            "set -e\nset -a; . ./app.env; set +a\n./bin/app\n"
        );
        assert_eq!(
            case("E=app.env\nsource \"./$E\"\npython3 app.py\n", "A=1\nDATA=data\n")
                .healed(&UnexportedSettings),
            "E=app.env\nset -a; source \"./$E\"; set +a\npython3 app.py\n"
        );
    }

    #[test]
    fn leaves_variables_that_nobody_sets_and_exported_ones_alone() {
        assert!(case(". ./app.env\n./bin/app\n", "OTHER=1\n").silent(&UnexportedSettings));
        assert!(case(". ./app.env\nexport DATA\n./bin/app\n", "DATA=1\n").silent(&UnexportedSettings));
        let own = case(". ./app.env\necho $DATA\n", "DATA=1\n").at_file("x.sh", 2);
        assert!(own.silent(&UnexportedSettings));
    }
}
