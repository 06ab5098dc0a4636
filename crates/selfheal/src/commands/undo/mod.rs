//! `selfheal undo`: puts every file that a repair, a try or a transaction changed back as it was, to the byte, mode, owner and time stamp.

mod clash;
mod which;

use selfheal_core::engine::{Event, State};
use selfheal_core::incident::Incident;
use selfheal_core::ports::{Journal, Standing, Trouble};
use selfheal_core::{failpoint, ports::Snapshots};
use selfheal_exec::commit::Draft;
use selfheal_store::Store;

use self::which::Which;
use super::approve::Decider;
use super::{Ended, print};
use crate::cli::UndoArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::driver::{recover, take_back_all};
use crate::{drafts, exit_code};

/// Takes repairs, a try or a transaction back.
///
/// # Errors
/// When a repair is not in place, or somebody changed a file since: nothing is overwritten then.
pub fn run(context: &Context, args: &UndoArgs) -> Ended {
    let store = context.store()?;
    for which in which::chosen(context, &store, args)? {
        match which {
            Which::Try(draft) => take_back_try(context, &store, &draft)?,
            Which::Repair(incident) => take_back(context, &store, &incident, args.force)?,
        }
    }
    Ok(exit_code::OK)
}

fn take_back_try(context: &Context, store: &Store, draft: &Draft) -> Result<(), CommandError> {
    let paths = drafts::undo(context, store, &draft.id)?;
    say(context, "try-undone", paths, drafts::short(&draft.id));
    Ok(())
}

fn take_back(context: &Context, store: &Store, found: &Incident, force: bool) -> Result<(), CommandError> {
    // The incident is looked at under the lock of its job: somebody else may be taking it back now.
    let _lock = crate::lock::lock_job(&context.state, &found.job)?;
    let mut incident = store.incident(found.id.as_str())?;
    let id = incident.id.short().to_owned();
    let files = incident.rounds.last().map(|round| round.files.clone()).unwrap_or_default();
    let standing = files.iter().map(|file| store.state_of(file)).collect::<Result<Vec<_>, _>>()?;
    if !in_place(&incident.state, &standing) {
        let what = format!("incident {id} has no repair in place: it is {}", incident.state.word());
        return Err(CommandError::new(what).hint(format!("selfheal show {id}")));
    }
    let mut changed = Vec::new();
    for (file, at) in files.iter().zip(standing) {
        match at {
            Standing::Before => {}
            Standing::Other => changed.push(file.clone()),
            Standing::After | Standing::Torn => store
                .may_put_back(&incident.id, file)
                .map_err(|error| clash::another_file(&id, &file.path, error))?,
        }
    }
    if !changed.is_empty() {
        if !force {
            changed.iter().for_each(|file| clash::show(context, store, file));
            return Err(clash::refused(&id));
        }
        clash::save_first(store, &mut incident, &changed)?;
    }
    let decider = Decider::new(context, store);
    // What is about to happen is stored first, so that a crash is completed.
    decider.go(&mut incident, Event::UndoBegun, "taking_back")?;
    failpoint::hit("undo.begin");
    let files = incident.rounds.last().map(|round| round.files.clone()).unwrap_or_default();
    if let Err(error) = take_back_all(store, &incident.id, &files) {
        recover::not_taken_back(context, store, &mut incident)?;
        return Err(match error.trouble {
            Trouble::Changed => clash::refused(&id),
            _ => error.into(),
        });
    }
    crate::driver::taken_back(store, &incident);
    decider.go(&mut incident, Event::TakenBack, "undone")?;
    failpoint::hit("undo.end");
    say(context, "undone", files.len(), &id);
    if force && !changed.is_empty() {
        print(&format!("{}\n", context.texts().say("undone-force", &[("id", &id)])));
    }
    Ok(())
}

/// Whether a repair is in place: by the state, or, where a crash cut it off from its watch, by the files.
fn in_place(state: &State, standing: &[Standing]) -> bool {
    match state {
        State::Applied | State::Watching | State::Confirmed => true,
        State::HandedOver => standing.iter().any(|at| matches!(at, Standing::After | Standing::Torn)),
        _ => false,
    }
}

fn say(context: &Context, text: &str, count: usize, id: &str) {
    let count = count.to_string();
    print(&format!("{}\n", context.texts().say(text, &[("n", &count), ("id", id)])));
}
