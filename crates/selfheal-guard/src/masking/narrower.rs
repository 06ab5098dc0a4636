//! Inputs that are newly fewer: a pattern of file names that matches less than the one in its place.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::Language;

use super::change::{Place, compiled};
use crate::finding::at;

/// Names longer than this are not compared, in characters.
const LONGEST: usize = 200;

/// Patterns of file names that match less than before.
pub fn compare(language: Language, places: &[Place]) -> Vec<Finding> {
    let mut out = Vec::new();
    for place in places.iter().filter(|place| place.old.len() == place.new.len()) {
        for (old, (line, new)) in place.old.iter().zip(&place.new) {
            let (had, has) = (words(language, old), words(language, new));
            let pairs = had.iter().zip(&has).filter(|_| had.len() == has.len());
            let deletes = ["rm ", "-delete", "unlink", "remove"].iter().any(|word| new.contains(word));
            let found = pairs.into_iter().find(|(one, other)| is_narrower(one, other));
            out.extend(found.map(|(one, other)| {
                // Of everything in a folder, some may never have been meant.
                let everything = one.rsplit('/').next() == Some("*");
                let weight = if everything || deletes { Weight::Medium } else { Weight::Refuse };
                let why = format!("`{other}` takes less than `{one}` did");
                at("masking/input-narrowed", *line, weight, why)
            }));
        }
    }
    out
}

/// The words of a line that can be names of files: between quotes, and in the languages of commands all.
fn words(language: Language, line: &str) -> Vec<String> {
    static QUOTED: OnceLock<Option<Regex>> = OnceLock::new();
    static BARE: OnceLock<Option<Regex>> = OnceLock::new();
    let commands = matches!(language, Language::Shell | Language::Make | Language::Yaml | Language::Docker);
    let pattern = if commands {
        compiled(&BARE, r#"([^\s'"()<>|;&=,`]+)"#)
    } else {
        compiled(&QUOTED, r#"['"]([^'"\s]+)['"]"#)
    };
    let found = pattern.map(|pattern| pattern.captures_iter(line).take(200));
    found.into_iter().flatten().filter_map(|found| Some(found.get(1)?.as_str().to_owned())).collect()
}

/// Whether a pattern matches what another one says, and not the other way round. Regular expressions are none of names.
fn is_narrower(old: &str, new: &str) -> bool {
    let plain = |text: &str| {
        !text.contains(".*") && !text.contains(['\\', '^', '+', '|', '(']) && text.len() <= LONGEST
    };
    let named = |text: &str| text.contains(['.', '/']) || text.chars().any(char::is_alphanumeric);
    old.contains('*')
        && old != new
        && plain(old)
        && plain(new)
        && named(old)
        && matches(old, new)
        && !matches(new, old)
}

/// Whether a pattern with `*` (not across `/`) matches a text.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let mut reached = vec![false; text.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for sign in pattern {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            let before = at.checked_sub(1);
            let c = before.and_then(|at| text.get(at));
            let step = before.is_some_and(|at| reached.get(at) == Some(&true));
            let here = reached.get(at) == Some(&true);
            let stays = before.is_some_and(|at| next.get(at) == Some(&true)) && c.is_some_and(|c| *c != '/');
            let found = if sign == '*' { here || stays } else { step && c == Some(&sign) };
            if let Some(place) = next.get_mut(at) {
                *place = found;
            }
        }
        reached = next;
    }
    reached.last() == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_takes_less_is_narrower() {
        assert!(is_narrower("in/*.csv", "in/a*.csv") && is_narrower("in/*.csv", "in/a.csv"));
        assert!(is_narrower("*.log", "app-*.log"));
        for (old, new) in
            [("*.csv", "./*.csv"), ("*.CSV", "*.csv"), ("a*.csv", "*.csv"), ("*", "a b"), ("a", "ab")]
        {
            assert!(!is_narrower(old, new), "{old} {new}");
        }
    }
}
