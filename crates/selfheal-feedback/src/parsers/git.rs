//! git.

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Class;

use super::{Row, bounded, row};

fn reference(name: &str) -> Option<Fault> {
    (!name.is_empty()).then(|| Fault::NoSuchReference { name: bounded(name) })
}

/// Nobody is named as who commits.
fn identity() -> Option<Fault> {
    Some(Fault::KeyMissing { key: "user.email".into() })
}

/// The table. Texts from git's source (`builtin/`, `transport.c`, `refs.c`), 2.30 to 2.47.
pub fn rows() -> Vec<Row> {
    messages().into_iter().map(|row| row.of("git")).collect()
}

fn messages() -> Vec<Row> {
    vec![
        row("fatal: ambiguous argument {name:q}: unknown revision", |h| reference(h.get("name"))),
        row("fatal: bad revision {name:q}", |h| reference(h.get("name"))),
        row("merge: {name:w} - not something we can merge", |h| reference(h.get("name"))),
        row("There is no tracking information for the current branch", |_| reference("upstream branch")),
        row("fatal: No remote repository specified", |_| reference("remote")),
        row("fatal: invalid reference: {name:w}", |h| reference(h.get("name"))),
        row("fatal: Needed a single revision", |_| reference("revision")),
        row("fatal: not a valid object name: {name:q}", |h| reference(h.get("name"))),
        row("fatal: invalid object name {name:q}", |h| reference(h.get("name"))),
        row("fatal: Not a valid object name {name:w}", |h| reference(h.get("name").trim_end_matches('.'))),
        row("fatal: invalid upstream {name:q}", |h| reference(h.get("name"))),
        row("fatal: couldn't find remote ref {name:w}", |h| reference(h.get("name"))),
        row("fatal: Remote branch {name:w} not found in upstream", |h| reference(h.get("name"))),
        row("warning: Could not find remote branch {name:w} to clone", |h| reference(h.get("name"))),
        row("error: pathspec {name:q} did not match any file", |h| reference(h.get("name"))),
        row("fatal: pathspec {name:q} did not match any file", |h| {
            Some(Fault::NoSuchPath { path: h.path("name") })
        }),
        row("error: src refspec {name:w} does not match any", |h| reference(h.get("name"))),
        row("error: src refspec {name:w} matches more than one", |h| reference(h.get("name"))),
        row("fatal: {name:q} does not appear to be a git repository", |h| reference(h.get("name"))),
        row("fatal: No such remote {name:q}", |h| reference(h.get("name"))),
        row("error: No such remote {name:q}", |h| reference(h.get("name"))),
        row("error: branch {name:q} not found", |h| reference(h.get("name").trim_end_matches('.'))),
        row("fatal: path {name:q} does not exist in {reference:q}", |h| {
            Some(Fault::NoSuchPath { path: h.path("name") })
        }),
        row("fatal: repository {name:q} does not exist", |h| reference(h.get("name"))),
        row("fatal: repository {name:q} not found", |h| reference(h.get("name"))),
        row("ERROR: Repository not found", |_| reference("repository")),
        row("Author identity unknown", |_| identity()).class(Class::Environment),
        row("Committer identity unknown", |_| identity()).class(Class::Environment),
        row("fatal: unable to auto-detect email address", |_| identity()).class(Class::Environment),
        row("fatal: no email was given and auto-detection is disabled", |_| identity())
            .class(Class::Environment),
        row("fatal: no name was given and auto-detection is disabled", |_| identity())
            .class(Class::Environment),
        row("fatal: empty ident name (for", |_| identity()).class(Class::Environment),
        row("fatal: not a git repository", |_| {
            Some(Fault::Other { message: "fatal: not a git repository".into() })
        })
        .class(Class::Environment),
        row("fatal: detected dubious ownership in repository at {path:q}", |h| {
            Some(Fault::PermissionDenied { path: Some(h.path("path")) })
        }),
        row("fatal: Unable to create {path:q}: File exists", |h| {
            Some(Fault::LockHeld { path: Some(h.path("path")), pid: None })
        }),
        row("Another git process seems to be running in this repository", |_| {
            Some(Fault::LockHeld { path: None, pid: None })
        }),
        row("fatal: destination path {path:q} already exists and is not an empty directory", |h| {
            Some(Fault::PathExists { path: h.path("path") })
        }),
        row("fatal: Authentication failed for {url:q}", |_| Some(Fault::PermissionDenied { path: None })),
        row("fatal: unrecognized argument: {option:w}", |h| {
            Some(Fault::UnknownOption { command: "git".into(), option: h.text("option") })
        }),
        row("git: {name:q} is not a git command", |h| {
            Some(Fault::UnknownOption { command: "git".into(), option: h.text("name") })
        }),
        row("CONFLICT (", |h| Some(Fault::Mismatch { message: bounded(&format!("CONFLICT ({}", h.after)) })),
        row("[rejected]", |_| Some(Fault::Mismatch { message: "push rejected".into() }))
            .class(Class::Dependency),
        row("fatal: Not possible to fast-forward, aborting", |_| {
            Some(Fault::Mismatch { message: "not possible to fast-forward".into() })
        }),
        row("fatal: refusing to merge unrelated histories", |_| {
            Some(Fault::Mismatch { message: "refusing to merge unrelated histories".into() })
        }),
        row("error: Your local changes to the following files would be overwritten", |_| {
            Some(Fault::Mismatch { message: "local changes would be overwritten".into() })
        }),
        row("error: The following untracked working tree files would be", |_| {
            Some(Fault::Mismatch { message: "untracked files would be overwritten".into() })
        }),
        row("Please tell me who you are", |_| identity()).class(Class::Environment),
        row("fatal: early EOF", |_| Some(Fault::Network { how: "reset".into(), host: None })),
        row("fatal: The remote end hung up unexpectedly", |_| {
            Some(Fault::Network { how: "reset".into(), host: None })
        }),
    ]
}
