//! # A setting that may be left out, says the script, but not its code
//!
//! ## What it finds
//! A Python program takes `os.environ["X"]`, or a strict shell script `$X`, the environment has no X, and the script's own
//! remarks or a text beside it give its default: `PAGE_SIZE (optional, default 2)`.
//!
//! ## Why it fails
//! The default was written down, and never into the code. Whoever set the variable by hand did not notice.
//!
//! ## Fix
//! The code takes the default that is written down when the environment has none.
//!
//! ## Example
//! ```python
//! size = int(os.environ["PAGE_SIZE"])
//! ```
//! ```python
//! size = int(os.environ.get("PAGE_SIZE", "2"))
//! ```
//!
//! ## Safety
//! Only where one value is written down beside the name, as a number, a path or in quotes, and nothing says another one. A
//! variable that the script asks for with `${X:?}` is one that must be set. It changes what is computed, so the risk is medium.

use std::collections::BTreeSet;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::notes::{notes, remarks};
use crate::python::{self, Part};
use crate::shell::{Script, splice};
use crate::text::{is_name, whole_words};

rule!(ToldDefault, "told_default", Unsafe, propose);

/// The longest default, in bytes.
const MOST: usize = 60;

fn propose(case: &Case) -> Vec<Candidate> {
    let name = case.faults().find_map(|fault| match fault {
        Fault::KeyMissing { key } => Some(key.clone()),
        Fault::UnsetVariable { name } => Some(name.clone()),
        _ => None,
    });
    let Some(name) = name.filter(|name| name.len() > 2 && name.chars().all(is_name)) else {
        return Vec::new();
    };
    let Some(file) = case.failing_file() else { return Vec::new() };
    let Some((value, sentence)) = told(case, &file, &name) else { return Vec::new() };
    let parts = match file.language {
        Language::Python => in_python(case, &file, &name, &value),
        language if language.is_shell() => in_shell(&file, &name, &value),
        _ => Vec::new(),
    };
    let Some((first, _)) = parts.first() else { return Vec::new() };
    let line = python::line_of(&file.text, first.start);
    Draft::new(
        "told_default",
        format!("{name} is not set where the job runs, and the code does not know the default that is written down"),
        format!("take {value} where {name} is not set"),
    )
    .evidence(crate::text::shortened(&sentence, 160))
    .meaning()
    .rewrite(&file, splice(&file.text, parts), format!("line {line}: {value} where {name} is not set"))
    .done()
    .into_iter()
    .collect()
}

/// The one default that the script's remarks and the notes give a name, and where they say it.
fn told(case: &Case, file: &ScriptFile, name: &str) -> Option<(String, String)> {
    let heads = file.text.split("\"\"\"").skip(1).step_by(2).collect::<Vec<_>>().join("\n");
    let own = format!("{}\n{heads}", remarks(&file.text));
    let notes = notes(case).into_iter().skip(1).map(|note| note.text);
    let mut found: Vec<(String, String)> = Vec::new();
    for text in std::iter::once(own).chain(notes) {
        for line in text.lines().filter(|line| whole_words(line, name).next().is_some()) {
            found.extend(default_in(line, name).map(|value| (value, line.trim().to_owned())));
        }
    }
    let values: BTreeSet<&String> = found.iter().map(|(value, _)| value).collect();
    (values.len() == 1).then(|| found.first().cloned())?
}

/// The value that stands behind `default` and behind a name.
fn default_in(line: &str, name: &str) -> Option<String> {
    let at = whole_words(line, name).next()? + name.len();
    let behind = line.get(at..)?;
    let lower = behind.to_ascii_lowercase();
    let word = lower.find("default")?;
    // Of another setting, if one stands between.
    let between = behind.get(..word)?;
    let other = |word: &str| word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    if between.split(|c: char| !is_name(c)).any(other) {
        return None;
    }
    let mut rest = behind.get(word + "default".len()..)?.trim_start_matches(['s', ':', '=', ' ']);
    for filling in ["to ", "is ", "value ", "of "] {
        rest = rest.strip_prefix(filling).unwrap_or(rest).trim_start_matches([':', '=', ' ']);
    }
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some(quote) = quote {
        let inner = rest.get(1..)?;
        return usable(inner.get(..inner.find(quote)?)?);
    }
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, ')' | ',' | ';')).unwrap_or(rest.len());
    let value = rest.get(..end)?.trim_end_matches('.');
    let told = value.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-')
        || value.contains('/')
        || rest.get(end..)?.trim_start_matches('.').trim().is_empty()
        || rest.get(end..)?.starts_with(')');
    usable(value).filter(|_| told)
}

fn usable(value: &str) -> Option<String> {
    let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "._-/:@+%".contains(c));
    let vague = ["none", "empty", "unset", "off", "required", "see", "the", "no"]
        .contains(&value.to_lowercase().as_str());
    (!value.is_empty() && value.len() <= MOST && plain && !vague).then(|| value.to_owned())
}

/// `os.environ["X"]`, wherever it is read.
fn in_python(case: &Case, file: &ScriptFile, name: &str, value: &str) -> Vec<Part> {
    let modules = python::modules(case);
    let Some((_, module)) = modules.iter().find(|(other, _)| other.path == file.path) else {
        return Vec::new();
    };
    let read = module.subscripts().into_iter().filter(|access| access.key == name && !access.stored);
    let of_environment = read.filter(|access| access.object.ends_with("environ"));
    of_environment.map(|it| (it.span, format!("{}.get(\"{name}\", \"{value}\")", it.object))).collect()
}

fn in_shell(file: &ScriptFile, name: &str, value: &str) -> Vec<Part> {
    let must = [":?", "?"].iter().any(|how| file.text.contains(&format!("${{{name}{how}")));
    let script = Script::new(&file.text);
    if must || script.assignments().any(|(known, ..)| known == name) {
        return Vec::new();
    }
    let at = script.after_head(false);
    vec![(at..at, format!("{name}=${{{name}:-{value}}}\n"))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    #[test]
    fn a_program_takes_the_default_that_its_head_names() {
        let text = "\"\"\"Sends.\n\nPAGE_SIZE (optional, default 2) says how many.\n\"\"\"\nimport os\nn = int(os.environ[\"PAGE_SIZE\"])\n";
        let case = TestCase::new("x.py", text, TestScene::new())
            .fault(Fault::KeyMissing { key: "PAGE_SIZE".into() });
        assert!(case.at(6).healed(&ToldDefault).contains("int(os.environ.get(\"PAGE_SIZE\", \"2\"))"));
    }

    #[test]
    fn a_script_takes_the_default_of_the_notes() {
        let scene =
            TestScene::new().file("README.md", "- `SPOOL`: where letters wait; defaults to `var/spool`\n");
        let case = TestCase::new("x.sh", "#!/bin/sh\nset -eu\nls \"$SPOOL\"\n", scene);
        let healed = case.fault(Fault::UnsetVariable { name: "SPOOL".into() }).healed(&ToldDefault);
        assert_eq!(healed, "#!/bin/sh\nset -eu\nSPOOL=${SPOOL:-var/spool}\nls \"$SPOOL\"\n");
    }

    #[test]
    fn what_is_vague_or_contradicted_or_must_be_set_is_left_alone() {
        let silent = |text: &str, notes: &str| {
            let case = TestCase::new("x.sh", text, TestScene::new().file("README.md", notes));
            case.fault(Fault::UnsetVariable { name: "SIZE".into() }).silent(&ToldDefault)
        };
        assert!(silent("set -u\necho $SIZE\n", "SIZE is required; the default of WIDTH is 3\n"));
        assert!(silent("set -u\necho $SIZE\n", "SIZE: the default is the size of the page\n"));
        assert!(silent("# SIZE, default 2\nset -u\necho $SIZE\n", "SIZE (default 3)\n"));
        assert!(silent("# SIZE, default 2\nset -u\n: ${SIZE:?}\n", ""));
    }
}
