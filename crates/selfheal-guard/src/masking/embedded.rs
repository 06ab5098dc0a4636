//! Masking in the shell of other files: recipes, instructions, steps, package scripts.
//!
//! All pieces of a file are put together into one script that ends where the host would stop, and both scripts are compared
//! like any others.

use selfheal_core::admission::Finding;
use selfheal_syntax::{Language, embedded};

use super::shell;

/// What in the shell inside of a file hides a failure.
pub fn compare(language: Language, before: &str, after: &str) -> Vec<Finding> {
    let (old, new) = (embedded::as_script(language, before), embedded::as_script(language, after));
    if old.text == new.text {
        return Vec::new();
    }
    let found = shell::compare(&old.text, &new.text).into_iter();
    found.map(|one| Finding { line: one.line.map(|line| new.host_line(line)), ..one }).collect()
}
