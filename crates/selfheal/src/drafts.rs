//! Drafts as the program uses them: where they lie, and the record of what was put in place.

use std::path::PathBuf;

use selfheal_core::ports::{BoxOrder, Clock, DraftOrder, Entry, Ledger, Order, PortError, Trouble};
use selfheal_exec::commit::{CommitError, Conflict, Draft, Drafts, Recovered, Standing};
use selfheal_store::Store;
use serde_json::json;

use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::terminal::shown_path;

/// A day, in milliseconds.
const DAY_MS: i64 = 24 * 3_600_000;

/// So many drafts are kept at most.
const MOST: usize = 100;

/// The drafts of this program.
#[must_use]
pub fn all(context: &Context) -> Drafts {
    Drafts::new(context.state.join("drafts"))
}

/// Puts a draft in place, all of it or only some paths, records it, and removes old drafts. Gives how many paths were changed.
///
/// # Errors
/// When it could not be; nothing was changed then, unless the error says so.
pub fn commit(
    context: &Context,
    store: &Store,
    id: &str,
    only: Option<&[PathBuf]>,
) -> Result<usize, PortError> {
    let paths = put(context, store, id, only)?;
    prune(context, context.settings.store.days);
    Ok(paths)
}

/// The same, without a look at old drafts.
///
/// # Errors
/// When it could not be; nothing was changed then, unless the error says so.
pub fn put(context: &Context, store: &Store, id: &str, only: Option<&[PathBuf]>) -> Result<usize, PortError> {
    let drafts = all(context);
    let command = drafts.find(id).map(|draft| draft.command).map_err(port_error)?;
    note(context, store, "try_committing", &json!({ "try": id, "command": command }))?;
    let changed = drafts.commit(id, only).map_err(port_error)?;
    note(context, store, "try_committed", &json!({ "try": id, "paths": changed.paths }))?;
    Ok(changed.paths)
}

/// Puts a draft in place again that was taken back, and records it.
///
/// # Errors
/// When it was not, or cannot be put in place.
pub fn redo(context: &Context, store: &Store, id: &str) -> Result<usize, PortError> {
    let draft = all(context).find(id).map_err(port_error)?;
    if draft.state != Standing::Undone {
        let doing = format!("put {} back in place: it is {}", short(&draft.id), draft.state.word());
        return Err(PortError::plain(doing, Trouble::Other));
    }
    commit(context, store, &draft.id, None)
}

/// The drafts that are older than so many days, or more than are kept.
#[must_use]
pub fn old(context: &Context, days: u32) -> Vec<Draft> {
    let before = context.clock.now().0 - i64::from(days) * DAY_MS;
    let drafts = all(context).list().unwrap_or_default().into_iter().enumerate();
    drafts.filter(|(n, draft)| draft.made < before || *n >= MOST).map(|(_, draft)| draft).collect()
}

/// Removes them.
pub fn prune(context: &Context, days: u32) {
    all(context).prune(context.clock.now().0 - i64::from(days) * DAY_MS, MOST);
}

/// Takes back what was put in place of a draft, and records it.
///
/// # Errors
/// When it could not be.
pub fn undo(context: &Context, store: &Store, id: &str) -> Result<usize, PortError> {
    let changed = all(context).undo(id).map_err(port_error)?;
    note(context, store, "try_undone", &json!({ "try": changed.id, "paths": changed.paths }))?;
    Ok(changed.paths)
}

fn note(context: &Context, store: &Store, kind: &str, details: &serde_json::Value) -> Result<(), PortError> {
    let body =
        context.redactor().json(details).map_err(|error| PortError::new("write a ledger record", error))?;
    let (at, kind) = (context.clock.now(), kind.to_owned());
    store.append(&[Entry { at, kind, incident: None, body }])
}

/// Ends what a crash of an earlier process left half in place: done before anything else. Says what it did.
pub fn recover(context: &Context) -> Option<String> {
    // The texts are read only where there is something to say: it is in front of every job.
    let say = |id, draft: &str| Some(context.texts().say(id, &[("id", short(draft))]));
    match all(context).recover() {
        Ok(None) => None,
        Ok(Some(Recovered::Ended(changed))) => {
            say(if changed.back { "try-recovered-back" } else { "try-recovered" }, &changed.id)
        }
        Ok(Some(Recovered::AsBefore(id))) => say("try-recovered-not", &id),
        Err(error) => Some(error_of(error).one_line()),
    }
}

/// The end of an identity, which people see and type.
#[must_use]
pub fn short(id: &str) -> &str {
    let cut = id.char_indices().rev().nth(7).map_or(0, |(at, _)| at);
    id.get(cut..).unwrap_or(id)
}

/// What stood in the way of a commit, for people.
#[must_use]
pub fn error_of(error: CommitError) -> CommandError {
    let code = match error {
        CommitError::Missing(_) | CommitError::State { .. } => exit_code::ERROR,
        _ => exit_code::NOT_IN_PLACE,
    };
    CommandError { code, ..port_error(error).into() }
}

/// The same for a port.
#[must_use]
pub fn port_error(error: CommitError) -> PortError {
    let trouble = match &error {
        CommitError::Missing(_) => Trouble::Missing,
        CommitError::Conflicts(_) => Trouble::Changed,
        CommitError::Busy => Trouble::Locked,
        CommitError::Io { source, .. } if is_full(source) => Trouble::NoRoom,
        CommitError::State { .. } | CommitError::Io { .. } | CommitError::Half { .. } => Trouble::Other,
    };
    let doing = match &error {
        CommitError::Conflicts(list) => format!("{error}; nothing was changed: {}", named(list)),
        CommitError::Half { left, .. } => {
            let paths: Vec<String> = left.iter().map(|path| shown_path(path)).collect();
            format!("{error}: {} stay changed", paths.join(", "))
        }
        other => other.to_string(),
    };
    match error {
        CommitError::Io { source, .. } => PortError { trouble, ..PortError::new(doing, source) },
        CommitError::Half { source, .. } => PortError { trouble, ..PortError::new(doing, *source) },
        _ => PortError::plain(doing, trouble),
    }
}

fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem)
}

fn named(conflicts: &[Conflict]) -> String {
    let one = |conflict: &Conflict| format!("{} ({})", shown_path(&conflict.path), conflict.why.word());
    conflicts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// An order whose changes are kept as a draft: the command runs live in a box, with the environment as the order wants it.
pub fn live_order(context: &Context, script: Option<PathBuf>, order: &Order, id: &str) -> BoxOrder {
    let mut env = context.env.clone();
    for (name, value) in &order.env {
        match value {
            Some(value) => env.insert(name.clone(), value.clone()),
            None => env.remove(name),
        };
    }
    let words = crate::driver_command_line(&order.argv);
    BoxOrder {
        argv: order.argv.clone(),
        cwd: order.cwd.clone(),
        env,
        deadline_ms: order.deadline_ms,
        script,
        keep: order.keep,
        live: true,
        draft: Some(DraftOrder {
            folder: all(context).folder(id),
            id: id.to_owned(),
            command: context.redactor().text(&words),
        }),
        ..BoxOrder::default()
    }
}
