//! # A module that the standard library has, too
//!
//! ## What it finds
//! A Python or perl program loads a module that is not installed, and what came with the language does the same: `simplejson` and
//! `json`, `mock` and `unittest.mock`, `JSON` and `JSON::PP`.
//!
//! ## Why it fails
//! The module was needed for old versions of the language, and is not installed on this machine, or not any more.
//!
//! ## Fix
//! The module that came with the language is loaded, under the name that the program uses.
//!
//! ## Example
//! ```python
//! import simplejson as json
//! ```
//! ```python
//! import json
//! ```
//!
//! ## Safety
//! Only pairs of which the second was made from the first or for it, and nothing is installed. They may differ in details, so the
//! risk is medium.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::text::{self, edits_by_line};

rule!(StandardModule, "standard_module", Unsafe, propose);

/// Python modules and what came with the language in their place.
const PYTHON: &[(&str, &str)] = &[
    ("simplejson", "json"),
    ("mock", "unittest.mock"),
    ("unittest2", "unittest"),
    ("importlib_metadata", "importlib.metadata"),
    ("importlib_resources", "importlib.resources"),
    ("backports.zoneinfo", "zoneinfo"),
    ("pathlib2", "pathlib"),
    ("ipaddr", "ipaddress"),
    ("subprocess32", "subprocess"),
    ("contextlib2", "contextlib"),
    ("statistics_backport", "statistics"),
    ("tomli", "tomllib"),
];

/// Perl modules, what came with the language in their place, and functions of the first that the second has not.
const PERL: &[(&str, &str, &[&str])] = &[
    ("JSON", "JSON::PP", &["to_json", "from_json"]),
    ("JSON::XS", "JSON::PP", &[]),
    ("JSON::MaybeXS", "JSON::PP", &["JSON->"]),
    ("Cpanel::JSON::XS", "JSON::PP", &[]),
    ("Digest::SHA1", "Digest::SHA", &[]),
];

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::MissingModule { name } => Some(name.replace('/', "::").trim_end_matches(".pm").to_owned()),
        _ => None,
    });
    let Some(missing) = missing else { return Vec::new() };
    let found = case.files().into_iter().filter_map(|file| {
        let (new, edits) = match file.language {
            Language::Python => {
                let (old, new) = PYTHON
                    .iter()
                    .find(|(old, _)| *old == missing || old.starts_with(&format!("{missing}.")))?;
                (*new, edits_by_line(&file.text, |_, line| python(line, old, new)))
            }
            Language::Perl => {
                let (old, new, lacks) = PERL.iter().find(|(old, ..)| *old == missing)?;
                if lacks.iter().any(|name| text::whole_words(&file.text, name).next().is_some()) {
                    return None;
                }
                (*new, edits_by_line(&file.text, |_, line| perl(line, old, new)))
            }
            _ => return None,
        };
        let line = edits.first()?.first;
        Draft::new(
            "standard_module",
            format!(
                "line {line}: {missing} is not installed; {new}, which does the same, came with the language"
            ),
            format!("load {new}"),
        )
        .evidence(format!("{missing} cannot be loaded"))
        .meaning()
        .edit(&file, &edits, format!("{}: {new}", text::lines_in_words(&edits)))
        .done()
    });
    found.take(1).collect()
}

fn python(line: &str, old: &str, new: &str) -> Option<String> {
    let code = line.trim_start();
    let indent = line.get(..line.len() - code.len())?;
    if let Some(rest) = code.strip_prefix(&format!("from {old} import ")) {
        return Some(format!("{indent}from {new} import {rest}"));
    }
    let rest = code.strip_prefix(&format!("import {old}"))?;
    let name = match rest.trim().strip_prefix("as ") {
        Some(name) => name.trim(),
        None if rest.trim().is_empty() => old,
        None => return None,
    };
    let (parent, leaf) = new.rsplit_once('.').unwrap_or(("", new));
    let start =
        if parent.is_empty() { format!("import {leaf}") } else { format!("from {parent} import {leaf}") };
    Some(if name == leaf { format!("{indent}{start}") } else { format!("{indent}{start} as {name}") })
}

fn perl(line: &str, old: &str, new: &str) -> Option<String> {
    let code = line.trim_start();
    let rest = code.strip_prefix(&format!("use {old}"));
    let whole = |rest: &&str| rest.starts_with([' ', ';', '\t']);
    if let Some(rest) = rest.filter(whole) {
        // A version of the one says nothing about the other.
        let rest = rest.trim_start();
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
        let glue = if rest.starts_with(';') { "" } else { " " };
        return Some(format!("{}use {new}{glue}{rest}", line.get(..line.len() - code.len())?));
    }
    let call = format!("{old}->");
    line.contains(&call).then(|| line.replace(&call, &format!("{new}->")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(script: &str, text: &str, name: &str) -> TestCase {
        TestCase::new(script, text, TestScene::new()).fault(Fault::MissingModule { name: name.into() }).at(1)
    }

    #[test]
    fn loads_what_came_with_the_language() {
        for (name, old, new) in [
            ("simplejson", "import simplejson as json\n", "import json\n"),
            ("simplejson", "import simplejson\n", "import json as simplejson\n"),
            ("mock", "import mock\n", "from unittest import mock\n"),
            ("mock", "from mock import patch, call\n", "from unittest.mock import patch, call\n"),
        ] {
            assert_eq!(case("x.py", old, name).healed(&StandardModule), new);
        }
        let healed =
            case("x.pl", "use JSON 2.0;\nmy $j = JSON->new->decode($t);\n", "JSON").healed(&StandardModule);
        assert_eq!(healed, "use JSON::PP;\nmy $j = JSON::PP->new->decode($t);\n");
    }

    #[test]
    fn leaves_other_modules_and_lacking_functions_alone() {
        assert!(case("x.py", "import requests\n", "requests").silent(&StandardModule));
        assert!(case("x.pl", "use JSON;\nprint to_json($x);\n", "JSON").silent(&StandardModule));
    }
}
