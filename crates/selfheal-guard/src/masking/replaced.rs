//! Checks that something else stands in for: `npm test` became `npm run lint`, `make check` became `make docs`.

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::Language;

use super::change::Place;
use crate::finding::at;

/// Words for the same kind of check.
const KINDS: &[&[&str]] = &[
    &[
        "test",
        "tests",
        "check",
        "pytest",
        "jest",
        "mocha",
        "rspec",
        "ctest",
        "tox",
        "nosetests",
        "unittest",
        "spec",
        "bats",
        "prove",
        "phpunit",
        "selftest",
        "e2e",
        "vitest",
    ],
    &[
        "lint",
        "shellcheck",
        "eslint",
        "flake8",
        "pylint",
        "ruff",
        "mypy",
        "vet",
        "clippy",
        "yamllint",
        "hadolint",
    ],
    &[
        "verify",
        "validate",
        "verification",
        "validation",
        "audit",
        "attest",
        "sha256sum",
        "md5sum",
        "xmllint",
    ],
];

/// What runs a command in languages that are no shell.
const RUNS: &[&str] = &[
    "subprocess",
    "system",
    "exec",
    "spawn",
    "popen",
    "check_call",
    "check_output",
    "run(",
    "sh(",
    "`",
    "%x",
];

/// Checks that are gone with another command in their place.
pub fn compare(language: Language, places: &[Place], after: &str) -> Vec<Finding> {
    let commands = matches!(language, Language::Shell | Language::Make | Language::Yaml | Language::Docker);
    let after = after.replace("check=True", "").replace("check=False", "");
    let mut out = Vec::new();
    for place in places.iter().filter(|place| !place.old.is_empty() && !place.new.is_empty()) {
        // `check=True` of Python is no check of its own.
        let plain = |text: String| text.replace("check=True", "").replace("check=False", "");
        let (old, new) = (plain(place.old.join("\n")), plain(joined(place)));
        if !commands && !RUNS.iter().any(|word| old.contains(word) && new.contains(word)) {
            continue;
        }
        let lost = KINDS.iter().find(|kind| asks(&old, kind) && !asks(&new, kind) && !asks(&after, kind));
        let Some(kind) = lost else { continue };
        let word = kind.iter().find(|word| has_word(&old, word)).copied().unwrap_or_default();
        let line = place.new.first().map_or(1, |(line, _)| *line);
        let why = format!("another command stands where `{word}` was run");
        out.push(at("masking/step-replaced", line, Weight::Refuse, why));
    }
    out
}

fn joined(place: &Place) -> String {
    place.new.iter().map(|(_, code)| code.as_str()).collect::<Vec<_>>().join("\n")
}

fn asks(text: &str, kind: &[&str]) -> bool {
    kind.iter().any(|word| has_word(text, word))
}

/// Whether a command of a text has this word: not as a name of something that is given a value, a key or a target.
fn has_word(text: &str, word: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start().trim_start_matches(['-', '@', '+', ' ']);
        let line = line.strip_prefix("run:").unwrap_or(line).trim();
        let named = line.ends_with(':') || line.starts_with("name:") || line.starts_with(['[', '#']);
        let name = |c: char| !(c.is_alphanumeric() || c == '_');
        !named && line.split(name).any(|own| own == word) && !line.starts_with("test ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::masking::change::places;

    #[test]
    fn a_check_that_something_else_stands_in_for_is_found() {
        let refused = |before: &str, after: &str| {
            !compare(Language::Yaml, &places(Language::Yaml, before, after), after).is_empty()
        };
        assert!(refused("- run: npm test\n", "- run: npm run lint\n"));
        assert!(refused("- run: ./verify.sh\n", "- run: ./package.sh\n"));
        assert!(!refused("- run: npm test\n", "- run: npm run test:unit\n"));
        assert!(!refused("- run: make check\n", "- run: make test\n"));
        assert!(!refused("- name: Run the tests\n", "- name: Build\n"));
    }
}
