//! The names of users in the paths of their homes.

use std::ops::Range;

/// What stands before the name.
const ROOTS: [&str; 5] = ["/home/", "/Users/", "/export/home/", "\\Users\\", "/var/home/"];

/// Names that say nothing about anybody.
const NOBODY: [&str; 10] =
    ["runner", "ubuntu", "user", "root", "app", "node", "vagrant", "Public", "Shared", "linuxbrew"];

/// Finds the names.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = ROOTS.iter().flat_map(|root| below(text, root)).collect();
    found.sort_by_key(|span| span.start);
    found.dedup();
    found
}

fn below<'a>(text: &'a str, root: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    text.match_indices(root).filter_map(move |(at, _)| {
        let start = at + root.len();
        let rest = text.get(start..)?;
        let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let name = rest.get(..length)?;
        let telling = name.chars().any(char::is_alphanumeric) && !NOBODY.contains(&name);
        telling.then_some(start..start + length)
    })
}
