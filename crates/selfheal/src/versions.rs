//! What programs say of their version, asked once per file: a new path, inode or time is a new program.
//!
//! The answers lie in `versions.json` in the state folder. They are a cache: a file that cannot be read or written only
//! means that a program is asked again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use selfheal_core::run::Program;
use selfheal_core::scene::Scene;

/// Programs that answer `--version` and nothing else, whatever else is said.
const ASKED: [&str; 20] = [
    "bash", "zsh", "ksh", "fish", "python", "pypy", "perl", "node", "nodejs", "deno", "bun", "ruby", "php",
    "gawk", "sed", "make", "gmake", "lua", "Rscript", "pwsh",
];
/// Programs that are remembered.
const MOST: usize = 500;
/// The longest version that is kept, in characters.
const LONGEST: usize = 120;

/// The version of a program, if it was asked before.
#[must_use]
pub fn known(state: &Path, program: &Program) -> Option<String> {
    load(state).remove(&key(program)?)
}

/// The version of an interpreter: known, or asked in a box and remembered.
#[must_use]
pub fn of_interpreter(state: &Path, program: &Program, scene: &dyn Scene) -> Option<String> {
    let bare = program.name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let asked = ASKED.contains(&program.name.as_str()) || ASKED.contains(&bare);
    known(state, program).or_else(|| asked.then(|| ask(state, program, &["--version"], scene)).flatten())
}

/// Asks a program with these arguments, in a box, and remembers what it says.
pub fn ask(state: &Path, program: &Program, arguments: &[&str], scene: &dyn Scene) -> Option<String> {
    let path = program.path.as_ref()?.to_str()?;
    let words: Vec<&str> = std::iter::once(path).chain(arguments.iter().copied()).collect();
    let said = scene.ask(&words)?;
    let line =
        said.lines().map(str::trim).find(|line| line.contains(|letter: char| letter.is_ascii_digit()))?;
    let version: String = line.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect();
    remember(state, key(program)?, &version);
    Some(version)
}

/// What names this very file of a program: path, inode, time.
pub fn key(program: &Program) -> Option<String> {
    let path = program.path.as_ref()?.to_str()?;
    Some(format!("{path} {} {}", program.inode, program.modified_s))
}

fn file(state: &Path) -> PathBuf {
    state.join("versions.json")
}

fn load(state: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(file(state)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn remember(state: &Path, key: String, version: &str) {
    let mut all = load(state);
    if all.len() >= MOST {
        // Starting anew is simpler than ages, and costs one question a program.
        all.clear();
    }
    all.insert(key, version.to_owned());
    let written = tempfile::NamedTempFile::new_in(state).and_then(|mut new| {
        let text = serde_json::to_string(&all)?;
        std::io::Write::write_all(&mut new, text.as_bytes())?;
        new.persist(file(state)).map_err(|error| error.error)
    });
    if let Err(error) = written {
        tracing::warn!(%error, "versions could not be remembered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfheal_exec::LiveScene;

    #[test]
    fn a_version_is_remembered_for_one_file_only() {
        let folder = tempfile::tempdir().unwrap();
        let program = |inode| Program {
            name: "bash".into(),
            path: Some("/bin/bash".into()),
            inode,
            modified_s: 7,
            version: None,
        };
        let scene = LiveScene::new("/".into(), BTreeMap::new(), None);
        assert_eq!(of_interpreter(folder.path(), &program(1), &scene), None);
        remember(folder.path(), key(&program(1)).unwrap(), "GNU bash 5.2");
        assert_eq!(of_interpreter(folder.path(), &program(1), &scene).as_deref(), Some("GNU bash 5.2"));
        assert_eq!(known(folder.path(), &program(2)), None);
        std::fs::write(file(folder.path()), "broken").unwrap();
        assert_eq!(known(folder.path(), &program(1)), None);
    }
}
