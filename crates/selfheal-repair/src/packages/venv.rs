//! The interpreter that ran a Python program, and the virtual environment that it belongs to.

use std::path::{Path, PathBuf};

use selfheal_core::scene::absolute;

use crate::case::Case;

/// The most lines of a script in which an environment is looked for.
const MOST_LINES: usize = 2_000;

/// A virtual environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Environment {
    /// Its folder, with `pyvenv.cfg` in it.
    pub root: PathBuf,
    /// Its interpreter.
    pub python: PathBuf,
}

/// The environment that the job's interpreter belongs to.
pub(super) fn of(case: &Case<'_>, folders: &[PathBuf]) -> Option<Environment> {
    let named = named(case, folders).into_iter().find_map(|program| at_program(case, &program));
    named.or_else(|| {
        let active = case.scene.var("VIRTUAL_ENV").filter(|root| root.starts_with('/'))?;
        at_root(case, Path::new(&active))
    })
}

/// An environment that lies beside the program under one of the usual names, and that its job does not use.
pub(super) fn beside(case: &Case<'_>, folders: &[PathBuf]) -> Option<Environment> {
    let places = folders.iter().flat_map(|folder| [".venv", "venv"].map(|name| folder.join(name)));
    places.into_iter().find_map(|root| at_root(case, &root))
}

/// The interpreters that the job names, then the one that its PATH leads to.
fn named(case: &Case<'_>, folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let bases: Vec<PathBuf> = std::iter::once(case.base()).chain(folders.iter().cloned()).collect();
    let mut name = |word: &str| {
        out.extend(bases.iter().map(|base| absolute(base, Path::new(word))));
    };
    let command = case.report.command.as_ref().and_then(|command| command.words.first());
    let argv = case.argv.iter().take(4).filter_map(|word| word.to_str());
    for word in command.map(String::as_str).into_iter().chain(argv).filter(|word| is_python(word)) {
        name(word);
    }
    let script = case.script.map_or("", |script| script.text.as_str());
    let file = case.failing_file();
    let file = file.as_ref().map_or("", |file| file.text.as_str());
    for text in [file, script] {
        let first = text.lines().next().unwrap_or_default();
        for word in
            first.strip_prefix("#!").unwrap_or_default().split_whitespace().filter(|word| is_python(word))
        {
            name(word);
        }
    }
    for word in words_of_environments(script) {
        name(&word);
    }
    let bare = ["python3", "python"].into_iter().filter_map(|name| case.scene.which(name).into_iter().next());
    out.extend(bare);
    out
}

/// Whether a word is a path to a Python.
fn is_python(word: &str) -> bool {
    word.rsplit_once('/').is_some_and(|(_, name)| name.starts_with("python"))
}

/// The interpreters and activations that a shell script names, as paths of interpreters. What stands behind a variable is
/// taken from its end: `$HERE/.venv/bin/python`.
fn words_of_environments(script: &str) -> Vec<String> {
    let mut out = Vec::new();
    let lines = script.lines().take(MOST_LINES).filter(|line| !line.trim_start().starts_with('#'));
    for line in lines {
        let line = line.replace(['"', '\''], "");
        for word in line.split(|c: char| c.is_whitespace() || "`;()=&|".contains(c)) {
            let word = match word.rsplit_once('$') {
                Some((_, tail)) => tail.split_once('/').map_or("", |(_, tail)| tail),
                None => word,
            };
            if let Some(root) = word.strip_suffix("bin/activate") {
                out.push(format!("{root}bin/python"));
            } else if word.contains("bin/") && is_python(word) {
                out.push(word.to_owned());
            }
        }
    }
    out
}

fn at_program(case: &Case<'_>, program: &Path) -> Option<Environment> {
    let root = program.parent()?.parent()?;
    case.scene.facts(&root.join("pyvenv.cfg"))?;
    case.scene.facts(program)?;
    Some(Environment { root: root.to_path_buf(), python: program.to_path_buf() })
}

fn at_root(case: &Case<'_>, root: &Path) -> Option<Environment> {
    at_program(case, &root.join("bin/python"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_are_found_in_shell_scripts() {
        let script = "# . old/bin/activate\n. \"$HERE\"/.venv/bin/activate\n$HERE/tools/bin/python3 x.py\npython y.py\n";
        assert_eq!(
            words_of_environments(script),
            [".venv/bin/python", "tools/bin/python3"].map(String::from)
        );
    }
}
