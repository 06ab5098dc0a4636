//! Where paths really lead: through links and bind mounts out of the places that a job may touch.

use std::path::{Path, PathBuf};

use selfheal_core::admission::{Finding, Weight};
use selfheal_core::scene::{Scene, absolute};
use selfheal_syntax::{Language, diff};

use crate::finding::{at, whole};
use crate::scope::{self, Roots};
use crate::size::Change;

/// How many words of a change are looked up.
const MAX_LOOKED_UP: usize = 64;

/// A file that a repair changes and that lies elsewhere than its name says.
#[must_use]
pub fn file(path: &Path, roots: &Roots, scene: &dyn Scene) -> Option<Finding> {
    // A script that is named may be a link, but not into what belongs to the system.
    let of_system = || scene.real(path).filter(|real| real != path && scope::is_system(real));
    let real = elsewhere(path, roots, scene).or_else(of_system)?;
    let why = format!("{} leads to {}, which is outside of the job's places", path.display(), real.display());
    Some(whole("scope/link", Weight::Refuse, why))
}

/// The paths that new lines name, relative ones too, and that lead out of the roots.
#[must_use]
pub fn new_paths(change: Change<'_>, language: Language, roots: &Roots, scene: &dyn Scene) -> Vec<Finding> {
    if language == Language::Sql {
        return Vec::new();
    }
    let mut out = Vec::new();
    let hunks = diff::hunks(change.before, change.after);
    let lines = hunks.iter().flat_map(|hunk| hunk.new.clone().zip(&hunk.added));
    let words = lines.flat_map(|(line, text)| words(text).into_iter().map(move |word| (line, word)));
    let fresh = words.filter(|(_, word)| !change.before.contains(word));
    for (line, word) in fresh.take(MAX_LOOKED_UP) {
        let path = absolute(scene.cwd(), Path::new(word));
        if let Some(real) = elsewhere(&path, roots, scene) {
            let why = format!("it names {word}, which leads to {}", real.display());
            out.push(at("scope/link", line, Weight::Refuse, why));
        }
    }
    out.truncate(16);
    out
}

/// The words of a line that can be paths: with a `/` between names.
fn words(line: &str) -> Vec<&str> {
    let code = line.trim_start();
    if code.starts_with('#') || code.starts_with("//") {
        return Vec::new();
    }
    let is_part = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    let named =
        |word: &&str| word.contains('/') && !word.contains("//") && word.chars().any(char::is_alphanumeric);
    code.split(|c: char| !is_part(c)).map(|word| word.trim_end_matches('.')).filter(named).collect()
}

/// Where a path of the roots really is, when that is outside of them.
fn elsewhere(path: &Path, roots: &Roots, scene: &dyn Scene) -> Option<PathBuf> {
    let real = scene.real(path).filter(|real| real != path)?;
    // A root may be a link itself; what lies below it stays below it.
    let real_roots = roots.folders.iter().chain(&roots.named).filter(|root| !scope::is_too_wide(root));
    let mut real_roots = real_roots.filter_map(|root| scene.real(root));
    let inside = roots.hold(path) || roots.beside(path);
    let leaves = !roots.hold(&real) && !real_roots.any(|root| real.starts_with(root));
    let matters = scope::is_private(&real) || leaves && !scope::is_harmless(&real);
    (inside && matters).then_some(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_a_slash_can_be_paths() {
        assert_eq!(words("cp a \"out/b.csv\" >> log/x"), ["out/b.csv", "log/x"]);
        assert!(words("# out/b").is_empty() && words("curl https://a/b").is_empty());
    }
}
