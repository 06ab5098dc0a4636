//! What is in the way when a file was changed since: shown from three sides, or saved first.

use std::path::Path;

use selfheal_core::ids::ContentHash;
use selfheal_core::incident::{Incident, StoredChange};
use selfheal_core::ports::{PortError, Snapshots, Trouble};
use selfheal_store::Store;
use selfheal_syntax::diff3;

use crate::command_error::CommandError;
use crate::commands::print;
use crate::context::Context;
use crate::surroundings;
use crate::terminal::{clean, shown_path};

/// Prints what the repair left, what stands there now, and what would be put back, where they differ.
pub(super) fn show(context: &Context, store: &Store, file: &StoredChange) {
    let texts = context.texts();
    let path = shown_path(&file.path);
    print(&format!("{}\n", texts.say("undo-clash", &[("path", &path)])));
    let stored = |hash: &Option<ContentHash>| {
        let content = hash.as_ref().map(|hash| store.load(hash)).transpose().unwrap_or_default();
        String::from_utf8_lossy(&content.unwrap_or_default()).into_owned()
    };
    let now = std::fs::read(&file.path).unwrap_or_default();
    let sides = diff3::Sides {
        base: &stored(&file.after),
        ours: &stored(&file.before),
        theirs: &String::from_utf8_lossy(&now),
    };
    let names = ["undo-side-repair", "undo-side-before", "undo-side-now"].map(|id| texts.say(id, &[]));
    let names = diff3::Sides { base: names[0].as_str(), ours: names[1].as_str(), theirs: names[2].as_str() };
    let shown = diff3::show(&sides, &names);
    let shown = context.redactor().text(&shown);
    shown.as_str().lines().for_each(|line| print(&format!("{}\n", clean(line))));
}

/// The error that says so.
pub(super) fn refused(id: &str) -> CommandError {
    CommandError::new(format!("incident {id} cannot be taken back: a file was changed since"))
        .hint(format!("see the repair with: selfheal show {id} --patch"))
        .hint(format!("take it back all the same: selfheal undo {id} --force saves the file first"))
}

/// The error of a file whose content is as the repair left it, and that is another file all the same. Force does not help: who
/// made it another one must say what it is to be.
pub(super) fn another_file(id: &str, path: &Path, error: PortError) -> CommandError {
    if error.trouble != Trouble::Changed {
        return error.into();
    }
    let what = "it belongs to somebody else than before the repair, or its path leads to another file";
    CommandError::new(format!("incident {id} cannot be taken back: {}: {what}", shown_path(path)))
        .hint(format!("put that right, then: selfheal undo {id}"))
}

/// Saves what stands there now, and makes it what the repair counts as having left: then it is that which is taken back,
/// and that which `redo` brings again.
///
/// # Errors
/// When it cannot be read or saved, or is no file.
pub(super) fn save_first(
    store: &Store,
    incident: &mut Incident,
    changed: &[StoredChange],
) -> Result<(), CommandError> {
    let id = incident.id.clone();
    for file in incident.rounds.last_mut().into_iter().flat_map(|round| &mut round.files) {
        if !changed.contains(file) {
            continue;
        }
        file.after = save(store, &file.path)?;
        file.mode_after = surroundings::mode_of(&file.path);
        store.take(&id, &file.path)?;
    }
    Ok(())
}

fn save(store: &Store, path: &Path) -> Result<Option<ContentHash>, CommandError> {
    match std::fs::read(path) {
        Ok(content) => Ok(Some(store.save(&content)?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CommandError::new(format!("failed to save {}", path.display())).because(&error)),
    }
}
