//! # A rotation stumbles over a generation that is not there yet
//!
//! ## What it finds
//! A Python program keeps numbered generations of a file (`export.1`, `export.2`, …) and removes or renames one that does not
//! exist yet.
//!
//! ## Why it fails
//! In the first runs there are fewer generations than are kept. `os.remove` and `os.rename` fail on what is not there.
//!
//! ## Fix
//! Removing passes over what is not there, and the loop goes over the generations that are: from the highest down, since each
//! would be lost under the one before it otherwise.
//!
//! ## Example
//! ```python
//! os.remove(f"export.{KEEP}")
//! ```
//! ```python
//! pathlib.Path(f"export.{KEEP}").unlink(missing_ok=True)
//! ```
//!
//! ## Safety
//! Only names with a number that the program computes, and only when the missing file is such a generation while the unnumbered file,
//! or another generation, is there. What cannot be removed for any other reason still fails.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python;
use crate::shell::splice;

rule!(AbsentGeneration, "absent_generation", Safe, propose);

const CALLS: &[&str] = &["os.remove", "os.unlink", "os.rename", "os.replace", "shutil.move"];

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::NoSuchPath { path } => Some(path.clone()),
        _ => None,
    });
    let Some(missing) = missing.filter(|path| is_generation(case, path)) else { return Vec::new() };
    let modules = python::modules(case);
    let found = modules.iter().filter_map(|(file, module)| {
        let lines = python::failing_lines(case, &file.path);
        let calls: Vec<Call> =
            module.calls().into_iter().filter(|call| CALLS.contains(&call.resolved.as_str())).collect();
        let line =
            calls.iter().find(|call| lines.contains(&call.line) && guarded(module, call).is_some())?.line;
        let mut parts: Vec<python::Part> = calls.iter().filter_map(|call| guarded(module, call)).collect();
        let needs = |word: &str| parts.iter().any(|(_, new)| new.contains(word));
        let needed: Vec<&str> = [("os.path", "os"), ("pathlib.", "pathlib")]
            .into_iter()
            .filter(|(word, _)| needs(word))
            .map(|(_, module)| module)
            .collect();
        parts.extend(needed.into_iter().filter_map(|name| python::import(module, name)));
        Draft::new(
            "absent_generation",
            format!(
                "line {line}: {} is not there yet: there are fewer generations than are kept",
                missing.display()
            ),
            "remove and rename the generations that are there",
        )
        .evidence(format!("{} does not exist", missing.display()))
        .rewrite(file, splice(&file.text, parts), format!("line {line}: if the generation is there"))
        .done()
    });
    found.take(1).collect()
}

/// Whether a missing path ends in a number, or has one before its ending, and its folder has the same name without it or with another.
fn is_generation(case: &Case, path: &Path) -> bool {
    let stem = |name: &str| -> Option<String> {
        let digits = |c: char| c.is_ascii_digit();
        let at = name.rfind(digits)?;
        let head = name.get(..=at)?.trim_end_matches(digits);
        let tail = name.get(at + 1..)?;
        (!head.is_empty() && (tail.is_empty() || tail.starts_with('.'))).then(|| format!("{head}|{tail}"))
    };
    let Some(own) = path.file_name().and_then(|name| stem(&name.to_string_lossy())) else { return false };
    let bare = own.split('|').next().unwrap_or_default().trim_end_matches(['.', '-', '_']).to_owned();
    case.places(path).iter().filter_map(|place| place.parent()).any(|folder| {
        let mut names = case.scene.names(folder).into_iter();
        names.any(|name| {
            stem(&name).as_deref() == Some(own.as_str()) || name.starts_with(&bare) && !bare.is_empty()
        })
    })
}

/// Whether a name is one that the program computes.
fn computed(path: &str) -> bool {
    (path.contains('{') || path.contains('%') || path.contains(".format(") || path.contains("str("))
        && !path.contains('\n')
}

/// What passes over a generation that is not there: a removal that may find nothing, or the loop around a renaming.
fn guarded(module: &Module, call: &Call) -> Option<python::Part> {
    let path = call.arguments.first().map(|argument| argument.text.clone()).filter(|path| computed(path))?;
    let node = python::node_at(module, &call.span)?;
    let statement = python::statement(node);
    let whole = statement.kind() == "expression_statement" && statement.end_byte() == call.span.end;
    if !whole {
        return None;
    }
    if matches!(call.resolved.as_str(), "os.remove" | "os.unlink") {
        return Some((call.span.clone(), format!("pathlib.Path({path}).unlink(missing_ok=True)")));
    }
    let around = std::iter::successors(Some(statement), |node| node.parent())
        .find(|node| node.kind() == "for_statement")?;
    let (name, over) = (around.child_by_field_name("left")?, around.child_by_field_name("right")?);
    let (name, text) = (module.text_of(name), module.text_of(over));
    let plain = name.chars().all(crate::text::is_name) && path.contains(name) && !text.contains("exists(");
    let to = call.arguments.get(1).map(|argument| argument.text.as_str()).unwrap_or_default();
    let shifted = upwards(text) && [" + 1", "+1"].iter().any(|next| to.contains(&format!("{name}{next}")));
    let order = if shifted { format!("reversed({text})") } else { text.to_owned() };
    plain.then(|| {
        (
            over.start_byte()..over.end_byte(),
            format!("({name} for {name} in {order} if os.path.exists({path}))"),
        )
    })
}

/// Whether a loop goes from the lowest number up: `range` without a step, or numbers one by one.
fn upwards(over: &str) -> bool {
    if let Some(inner) = over.strip_prefix("range(").and_then(|rest| rest.strip_suffix(')')) {
        return python::commas(&python::code_only(inner)).len() < 2;
    }
    let inner = over.trim_matches(['(', ')', '[', ']']);
    let numbers: Option<Vec<u32>> = inner.split(',').map(|number| number.trim().parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.len() > 1 && numbers.is_sorted())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    const TEXT: &str = "import os\nos.remove(f\"export.{KEEP}\")\nfor n in range(2, 0, -1):\n    os.rename(f\"export.{n}\", f\"export.{n + 1}\")\n";

    #[test]
    fn generations_that_are_there_are_moved() {
        let case = TestCase::new("x.py", TEXT, TestScene::new().file("export.csv", "x"))
            .fault(no_such("export.3"))
            .at(2);
        let healed = case.healed(&AbsentGeneration);
        assert!(healed.contains("pathlib.Path(f\"export.{KEEP}\").unlink(missing_ok=True)\n"), "{healed}");
        assert!(
            healed.contains("for n in (n for n in range(2, 0, -1) if os.path.exists(f\"export.{n}\")):\n"),
            "{healed}"
        );
        assert!(healed.contains("import os\nimport pathlib\n"), "{healed}");
    }

    #[test]
    fn other_ways_to_write_names_are_known() {
        let text = "import os\nfor n in (3, 2, 1):\n    os.rename('s-%d.json' % n, 's-%d.json' % (n + 1))\n";
        let case =
            TestCase::new("x.py", text, TestScene::new().file("s-1.json", "x")).fault(no_such("s-3.json"));
        let healed = case.at(3).healed(&AbsentGeneration);
        assert!(
            healed.contains("for n in (n for n in (3, 2, 1) if os.path.exists('s-%d.json' % n)):\n"),
            "{healed}"
        );
    }

    #[test]
    fn generations_are_shifted_from_the_highest_down() {
        for over in ["range(0, KEEP - 1)", "range(3)", "(1, 2, 3)"] {
            let text = format!("import os\nfor i in {over}:\n    os.rename('s.%d' % i, 's.%d' % (i + 1))\n");
            let case = TestCase::new("x.py", &text, TestScene::new().file("s.9", "x")).fault(no_such("s.0"));
            let healed = case.at(3).healed(&AbsentGeneration);
            assert!(
                healed.contains(&format!("(i for i in reversed({over}) if os.path.exists('s.%d' % i))")),
                "{healed}"
            );
        }
    }

    #[test]
    fn leaves_other_files_alone() {
        let case = TestCase::new("x.py", "import os\nos.remove('lock')\n", TestScene::new())
            .fault(no_such("lock"))
            .at(2);
        assert!(case.silent(&AbsentGeneration));
        let case = TestCase::new("x.py", TEXT, TestScene::new()).fault(no_such("in/data.3")).at(2);
        assert!(case.silent(&AbsentGeneration));
    }
}
