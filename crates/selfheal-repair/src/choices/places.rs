//! A file that is not where it is looked for, by another place of the same name; a program whose interpreter is elsewhere.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;

use super::Offer;
use super::near::Near;
use crate::case::{Case, Language, ScriptFile};
use crate::text;

/// Other places of one file.
const MOST: usize = 4;

pub(super) fn offers(case: &Case, near: &Near) -> Vec<Offer> {
    let mut out = Vec::new();
    for missing in missing(case) {
        let looked = out.len();
        let beside = near.files.iter().filter(|path| path.ends_with(&missing));
        for other in beside.take(MOST) {
            out.extend(near.editable.iter().filter_map(|file| at_home(case, file, &missing, other)));
        }
        if let Some(file) = case.find(&missing).and_then(|path| case.file(&path)) {
            out.extend(interpreter(case, &file).filter(|_| out.len() == looked));
            continue;
        }
        let Some(name) = missing.file_name() else { continue };
        let others = near.files.iter().filter(|path| path.file_name() == Some(name)).take(MOST);
        for other in others {
            for spelt in spellings(case, &missing) {
                let Some(new) = respelt(case, &spelt, other) else { continue };
                let holds = near.editable.iter().filter(|file| stands_alone(&file.text, &spelt));
                out.extend(holds.map(|file| {
                    Offer::new(
                        file,
                        file.text.replace(&spelt, &new),
                        format!("{spelt} is not there; {new} is"),
                    )
                }));
            }
        }
    }
    out
}

/// A program that works in the folder where it lies: what it misses lies beside it, and it was started from elsewhere.
fn at_home(case: &Case, file: &ScriptFile, missing: &Path, other: &Path) -> Option<Offer> {
    let home = file.path.parent()?;
    let beside = missing.is_relative()
        && home.join(missing) == other
        && file.text.contains(&*missing.to_string_lossy());
    if !beside || home == case.base() || file.language != Language::Python || file.text.contains("__file__") {
        return None;
    }
    let last = file.text.lines().take_while(|line| !line.starts_with(['d', 'c', 'w'])).enumerate();
    let (at, _) = last.filter(|(_, line)| line.starts_with("import ") || line.starts_with("from ")).last()?;
    let imports = file.text.lines().any(|line| {
        line.strip_prefix("import ").is_some_and(|names| names.split(',').any(|name| name.trim() == "os"))
    });
    let mut lines: Vec<String> = if imports { Vec::new() } else { vec!["import os".to_owned()] };
    lines.push("os.chdir(os.path.dirname(os.path.abspath(__file__)))".to_owned());
    let number = u32::try_from(at).ok()? + 2;
    let after = selfheal_core::edit::apply(&file.text, &[text::before(number, lines)]).ok()?;
    Some(Offer::new(
        file,
        after,
        format!("{} lies beside the program, and it runs elsewhere", missing.display()),
    ))
}

/// The paths that were looked for.
fn missing(case: &Case) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = Vec::new();
    for fault in case.faults() {
        match fault {
            Fault::NoSuchPath { path } => out.push(path.clone()),
            Fault::CommandNotFound { name } if name.contains('/') => out.push(name.into()),
            Fault::BadInterpreter { script, .. } => out.push(script.clone()),
            _ => {}
        }
    }
    let message = &case.report.core_error;
    let quoted = ['"', '\'', '`'].iter().flat_map(|quote| message.split(*quote).skip(1).step_by(2));
    let bare = message.split_whitespace().map(|word| word.trim_end_matches([':', ',']));
    out.extend(quoted.chain(bare).filter(|word| word.contains('/') && word.len() < 200).map(PathBuf::from));
    out.dedup();
    out.truncate(6);
    out
}

/// How a path may stand in a script: as it is, and from the folders that the job works in.
fn spellings(case: &Case, path: &Path) -> Vec<String> {
    let mut out = vec![path.to_string_lossy().into_owned()];
    for base in [case.base(), case.job.cwd.clone()].into_iter().chain(case.home()) {
        if let Ok(rest) = path.strip_prefix(&base) {
            out.push(rest.to_string_lossy().into_owned());
        }
    }
    out.retain(|text| text.len() > 2);
    out.dedup();
    out
}

fn respelt(case: &Case, spelt: &str, other: &Path) -> Option<String> {
    if spelt.starts_with('/') {
        return Some(other.to_string_lossy().into_owned());
    }
    let base = case.base();
    let rest = other.strip_prefix(&base).ok().filter(|_| case.owns(&base))?.to_string_lossy().into_owned();
    Some(if spelt.starts_with("./") { format!("./{rest}") } else { rest })
}

/// Whether a path stands in a text and is no part of a longer one.
fn stands_alone(text: &str, spelt: &str) -> bool {
    let mut places = text.match_indices(spelt).peekable();
    let path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.');
    places.peek().is_some()
        && places.all(|(at, _)| {
            let left = text.get(..at).and_then(|part| part.chars().next_back());
            let right = text.get(at + spelt.len()..).and_then(|part| part.chars().next());
            !left.is_some_and(path) && !right.is_some_and(path)
        })
}

/// The first line of a program whose interpreter is not at that place, or has a version in its name that is not here.
fn interpreter(case: &Case, file: &ScriptFile) -> Option<Offer> {
    let first = file.text.lines().next()?;
    let (path, more) = match first.strip_prefix("#!")?.trim().split_once(' ') {
        Some((path, more)) => (path, more.trim()),
        None => (first.strip_prefix("#!")?.trim(), ""),
    };
    if case.scene.facts(Path::new(path)).is_some() {
        return None;
    }
    let name = Path::new(path).file_name()?.to_string_lossy().into_owned();
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let known = [name.as_str(), bare]
        .into_iter()
        .find(|name| !name.is_empty() && !case.scene.which(name).is_empty())?;
    let new = match more.is_empty() {
        true => format!("#!/usr/bin/env {known}"),
        false => format!("#!/usr/bin/env -S {known} {more}"),
    };
    let rest = file.text.get(first.len()..)?;
    Some(Offer::new(file, format!("{new}{rest}"), format!("{path} is not there; {known} is on the PATH")))
}
