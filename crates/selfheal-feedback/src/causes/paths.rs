//! Causes of failures with files and folders.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::scene::{Kind, absolute};

use super::Likely;
use crate::report::Case;
use crate::similar::close;

/// Likely causes of one fault.
pub fn causes(case: &Case<'_>, fault: &Fault) -> Vec<Likely> {
    match fault {
        Fault::NoSuchPath { path } if path.as_os_str().is_empty() => vec![empty_name()],
        Fault::NoSuchPath { path } => missing(case, path),
        Fault::UnmatchedGlob { pattern } => unmatched(case, pattern),
        Fault::NotADirectory { path } => vec![Likely::usual(
            "not-a-folder",
            format!("Something on the way to {} is a file where a folder was expected.", path.display()),
            "Every part of the path but the last is a folder.",
        )],
        Fault::IsADirectory { path } => vec![Likely::usual(
            "folder-instead-of-file",
            format!(
                "{} is a folder; the command expects a file, or an option to descend into folders.",
                path.display()
            ),
            "The path is a regular file.",
        )],
        Fault::PathExists { path } => vec![Likely::usual(
            "left-from-earlier-run",
            format!("{} is left from an earlier run, and the command does not accept that.", path.display()),
            "It was not there before this run.",
        )],
        Fault::PermissionDenied { path } => refused(case, path.as_deref()),
        Fault::NotExecutable { path } if is_folder(case, path) => vec![folder_as_command(path)],
        Fault::NotExecutable { path } => vec![not_executable(case, path)],
        _ => Vec::new(),
    }
}

/// Why a file that was named by its path could not be started.
pub fn not_started(case: &Case<'_>, path: &Path) -> Vec<Likely> {
    match case.input.scene.facts(&here(case, path)).filter(|_| !case.is_remote()) {
        None => missing(case, path),
        Some(_) if is_folder(case, path) => vec![folder_as_command(path)],
        // It is there, so what it needs to run is not.
        Some(_) => vec![Likely::usual(
            "interpreter-elsewhere",
            format!("{} is there, but what runs it is not where its first line says.", path.display()),
            "The program that its first line names exists.",
        )],
    }
}

/// Whether a path that was named leads to nothing.
pub fn is_missing(case: &Case<'_>, path: &Path) -> bool {
    !path.as_os_str().is_empty() && !case.is_remote() && case.input.scene.facts(&here(case, path)).is_none()
}

fn is_folder(case: &Case<'_>, path: &Path) -> bool {
    !case.is_remote()
        && case.input.scene.facts(&here(case, path)).is_some_and(|facts| facts.kind == Kind::Directory)
}

fn folder_as_command(path: &Path) -> Likely {
    Likely::usual(
        "folder-as-command",
        format!("{} is a folder, and a folder cannot be started.", path.display()),
        "It is a file.",
    )
}

fn not_executable(case: &Case<'_>, path: &Path) -> Likely {
    Likely::usual(
        "no-execute-bit",
        format!("{} lacks its execute bit.", path.display()),
        "The file has its execute bit, or its file system is mounted noexec.",
    )
    .seen_if(mode_of(case, path))
}

fn empty_name() -> Likely {
    Likely::usual(
        "empty-name",
        "The command got an empty name: a variable was empty, or an option took its value from the wrong word.",
        "Every argument of the command has a value.",
    )
}

fn here(case: &Case<'_>, path: &Path) -> PathBuf {
    absolute(case.input.scene.cwd(), path)
}

fn missing(case: &Case<'_>, path: &Path) -> Vec<Likely> {
    if case.is_remote() {
        return vec![Likely::usual(
            "missing-there",
            format!("{} does not exist on the other side.", path.display()),
            "It exists there.",
        )];
    }
    let scene = case.input.scene;
    let full = here(case, path);
    let mut out = Vec::new();
    if scene.missing_mount(&full) {
        out.push(
            Likely::usual(
                "mount-missing",
                "The file system that holds it is not mounted.",
                "The mount point is mounted and the path is still missing.",
            )
            .seen(format!("{} lies below a mount point that is not mounted now", full.display())),
        );
    }
    if let Some(parent) = full.ancestors().skip(1).find(|folder| scene.facts(folder).is_some()) {
        out.push(by_parent(case, &full, parent));
    }
    out.extend(split_name(case, path));
    out.push(
        Likely::usual(
            "relative-to-other-folder",
            "The job runs in another folder than its author had in mind.",
            "The path is absolute, or the same name is missing in the script's folder too.",
        )
        .seen_if(beside_script(case, path)),
    );
    out
}

/// What the nearest folder that exists tells about a missing path.
fn by_parent(case: &Case<'_>, full: &Path, parent: &Path) -> Likely {
    let scene = case.input.scene;
    let names = scene.names(parent);
    let wanted = full.strip_prefix(parent).ok().and_then(|rest| rest.components().next());
    let wanted = wanted.map(|part| part.as_os_str().to_string_lossy().into_owned()).unwrap_or_default();
    let alike = close(&wanted, names.iter().map(String::as_str), 3);
    let direct = full.parent() == Some(parent);
    if !alike.is_empty() {
        return Likely::usual(
            "renamed-or-moved",
            format!("{} was renamed or moved.", full.display()),
            "None of the names beside it holds what the job needs.",
        )
        .seen(format!("{} has {}", parent.display(), alike.join(", ")));
    }
    if direct {
        return Likely::usual(
            "not-made-yet",
            format!("{} was never made, was deleted, or has another name.", full.display()),
            "An earlier step made it in this run.",
        )
        .seen_if((names.is_empty()).then(|| format!("{} is empty", parent.display())));
    }
    Likely::usual(
        "folder-missing",
        format!("The folder {} does not exist.", full.parent().unwrap_or(full).display()),
        "The folder exists.",
    )
    .seen(format!("the nearest folder that exists is {}", parent.display()))
}

/// A name with blanks that a shell cut in pieces: something begins with the missing piece.
fn split_name(case: &Case<'_>, path: &Path) -> Option<Likely> {
    let full = here(case, path);
    let folder = full.parent()?;
    let piece = full.file_name()?.to_string_lossy().into_owned();
    let whole = case
        .input
        .scene
        .names(folder)
        .into_iter()
        .find(|name| name.strip_prefix(piece.as_str()).is_some_and(|rest| rest.starts_with(' ')))?;
    Some(
        Likely::usual(
            "name-with-blanks",
            "A name with blanks was cut into words because the variable is not quoted.",
            "The command got the whole name as one argument.",
        )
        .seen(format!("{} has \"{whole}\"", folder.display()))
        .seen("the missing name is its beginning"),
    )
}

fn beside_script(case: &Case<'_>, path: &Path) -> Option<String> {
    let (script, _) = case.input.script?;
    let beside = script.parent()?.join(path);
    let other = path.is_relative() && beside != here(case, path);
    (other && case.input.scene.facts(&beside).is_some()).then(|| format!("{} exists", beside.display()))
}

fn unmatched(case: &Case<'_>, pattern: &str) -> Vec<Likely> {
    let folder = pattern.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let full = here(case, Path::new(folder));
    let state = match case.input.scene.facts(&full) {
        None => format!("{} does not exist", full.display()),
        Some(_) if case.input.scene.names(&full).is_empty() => format!("{} is empty", full.display()),
        Some(_) => format!("{} has other names only", full.display()),
    };
    vec![
        Likely::usual(
            "glob-matched-nothing",
            format!("No file matches {pattern}, and the shell passed the pattern itself on as a name."),
            "A file with that literal name exists.",
        )
        .seen(state),
        Likely::usual(
            "input-not-delivered",
            "The files that the job works on have not arrived.",
            "The job is meant to do nothing when there is nothing to do.",
        ),
    ]
}

fn refused(case: &Case<'_>, path: Option<&Path>) -> Vec<Likely> {
    let mode = path.and_then(|path| mode_of(case, path));
    vec![
        Likely::usual(
            "no-permission",
            "The user that runs the job may not do that.",
            "The same user can do it by hand.",
        )
        .seen_if(mode),
        Likely::usual(
            "other-user",
            "The job runs as another user than before.",
            "Earlier good runs were made by the same user.",
        ),
    ]
}

fn mode_of(case: &Case<'_>, path: &Path) -> Option<String> {
    let full = here(case, path);
    let facts = case.input.scene.facts(&full)?;
    let kind = if facts.kind == Kind::Directory { "folder" } else { "file" };
    Some(format!(
        "{} is a {kind} with mode {:04o} of user {}",
        full.display(),
        facts.mode & 0o7777,
        facts.uid
    ))
}
