//! `selfheal undo`: puts every file that a repair, a try or a transaction changed back as it was, to the byte, mode, owner and time stamp.

use selfheal_core::engine::{Event, State};
use selfheal_core::ports::{Journal, Trouble};
use selfheal_exec::commit::Draft;
use selfheal_store::Store;

use super::approve::Decider;
use super::{Ended, print};
use crate::cli::UndoArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::drafts;
use crate::driver::take_back_all;
use crate::exit_code;

/// The try that an id means, when it is no incident.
fn of_try(context: &Context, store: &Store, id: &str) -> Option<Draft> {
    let missing = store.incident(id).is_err_and(|error| error.trouble == Trouble::Missing);
    missing.then(|| drafts::all(context).find(id).ok()).flatten()
}

fn take_back_try(context: &Context, store: &Store, draft: &Draft) -> Ended {
    let paths = drafts::undo(context, store, &draft.id)?;
    let values = [("n", paths.to_string()), ("id", drafts::short(&draft.id).to_owned())];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    print(&format!("{}\n", context.texts().say("try-undone", &values)));
    Ok(exit_code::OK)
}

/// Takes a repair, a try or a transaction back.
///
/// # Errors
/// When the repair is not in place, or somebody changed a file since: nothing is overwritten then.
pub fn run(context: &Context, args: &UndoArgs) -> Ended {
    let store = context.store()?;
    if let Some(draft) = of_try(context, &store, &args.id) {
        return take_back_try(context, &store, &draft);
    }
    // The incident is looked at under the lock of its job: somebody else may be taking it back now.
    let _lock = crate::lock::lock_job(&context.state, &store.incident(&args.id)?.job)?;
    let mut incident = store.incident(&args.id)?;
    if !matches!(incident.state, State::Applied | State::Watching | State::Confirmed) {
        let what = format!(
            "incident {} has no repair in place: it is {}",
            incident.id.short(),
            incident.state.word()
        );
        return Err(CommandError::new(what).hint(format!("selfheal show {}", incident.id.short())));
    }
    let files = incident.rounds.last().map(|round| round.files.clone()).unwrap_or_default();
    take_back_all(&store, &incident.id, &files).map_err(|error| {
        let changed = error.trouble == Trouble::Changed;
        let failed = CommandError::from(error);
        if changed {
            failed.hint(format!(
                "it was changed since; see the repair with: selfheal show {} --patch",
                incident.id.short()
            ))
        } else {
            failed
        }
    })?;
    crate::driver::taken_back(&store, &incident);
    Decider::new(context, &store).go(&mut incident, Event::Undone, "undone")?;
    let values = [("n", files.len().to_string()), ("id", incident.id.short().to_owned())];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    print(&format!("{}\n", context.texts().say("undone", &values)));
    Ok(exit_code::OK)
}
