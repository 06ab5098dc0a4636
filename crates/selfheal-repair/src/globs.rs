//! Patterns for file names, as shells understand them.

use std::path::{Path, PathBuf};

use selfheal_core::scene::Scene;

/// Whether a text holds a character that makes it a pattern.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether a pattern matches a name. `*` does not match a leading dot.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // Positions in the pattern that are reached after each character of the name: linear in both, never exponential.
    let mut reached = vec![false; pattern.len() + 1];
    mark(&pattern, &mut reached, 0);
    for c in name {
        let mut next = vec![false; pattern.len() + 1];
        for (at, _) in reached.iter().enumerate().filter(|(_, here)| **here) {
            match pattern.get(at) {
                Some('*') => mark(&pattern, &mut next, at),
                Some('?') => mark(&pattern, &mut next, at + 1),
                Some('[') => match class(&pattern, at, c) {
                    Some((true, after)) => mark(&pattern, &mut next, after),
                    Some((false, _)) => {}
                    None if c == '[' => mark(&pattern, &mut next, at + 1),
                    None => {}
                },
                Some(own) if *own == c => mark(&pattern, &mut next, at + 1),
                _ => {}
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

/// Marks a position, and those behind stars, which may match nothing.
fn mark(pattern: &[char], reached: &mut [bool], mut at: usize) {
    loop {
        if let Some(place) = reached.get_mut(at) {
            *place = true;
        }
        if pattern.get(at) != Some(&'*') {
            return;
        }
        at += 1;
    }
}

/// Whether a bracket expression that begins at `at` holds a character, and where it ends.
fn class(pattern: &[char], at: usize, c: char) -> Option<(bool, usize)> {
    let rest = pattern.get(at + 1..)?;
    let negated = matches!(rest.first(), Some('!' | '^'));
    let from = usize::from(negated);
    let close = rest.iter().enumerate().skip(from + 1).find(|(_, c)| **c == ']')?.0;
    let set = rest.get(from..close)?;
    let single = set.contains(&c);
    let ranges = set.windows(3).any(|w| matches!(w, [low, '-', high] if *low <= c && c <= *high));
    Some(((single || ranges) != negated, at + 1 + close + 1))
}

/// The paths that an absolute pattern matches; at most 1,000.
pub(crate) fn expand(scene: &dyn Scene, pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let text = part.as_os_str().to_string_lossy().into_owned();
        let mut next: Vec<PathBuf> = Vec::new();
        for base in &found {
            if is_pattern(&text) {
                let names = scene.names(base);
                next.extend(names.iter().filter(|name| matches(&text, name)).map(|name| base.join(name)));
            } else {
                next.push(base.join(&text));
            }
        }
        next.truncate(1_000);
        found = next;
    }
    found.retain(|path| scene.facts(path).is_some());
    found
}

/// A name that a pattern matches, with `word` where the pattern is free; `None` for patterns that are too special.
pub(crate) fn sample(pattern: &str, word: &str) -> Option<String> {
    let name = pattern.replacen('*', word, 1).replace('*', "").replace('?', "1").replace("[0-9]", "7");
    (!is_pattern(&name) && !name.contains(['{', '$']) && matches(pattern, &name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestScene;

    #[test]
    fn matches_like_a_shell() {
        assert!(
            matches("*.log", "a.log")
                && matches("[0-9]*", "10-x")
                && matches("a?c*", "abc")
                && matches("*", "x")
        );
        assert!(
            !matches("*.log", "a.txt")
                && !matches("*", ".x")
                && !matches("[!a]", "a")
                && !matches("[0-9]", "x")
        );
        assert!(matches("[", "["));
        assert!(!matches("*a*a*a*a*a*a*a*a*b", &"a".repeat(500)));
    }

    #[test]
    fn expands_on_a_machine() {
        let scene = TestScene::new().file("d/a.log", "").file("e/b.log", "").file("d/c", "");
        assert_eq!(expand(&scene, Path::new("/srv/job/*/*.log")).len(), 2);
        assert!(expand(&scene, Path::new("/srv/job/x/*")).is_empty());
    }

    #[test]
    fn samples_match() {
        assert_eq!(sample("*.log", "two words").as_deref(), Some("two words.log"));
        assert_eq!(sample("a-[0-9][0-9]*", "x").as_deref(), Some("a-77x"));
        assert_eq!(sample("{a,b}*", "x"), None);
    }
}
