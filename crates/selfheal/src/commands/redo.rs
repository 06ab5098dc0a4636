//! `selfheal redo`: puts a repair or a try back in place that was taken back.

use selfheal_core::engine::{Event, State};
use selfheal_core::ports::{Journal, Snapshots, Standing, Trouble};
use selfheal_store::Store;

use super::approve::Decider;
use super::{Ended, print};
use crate::cli::RedoArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::driver::apply_all;
use crate::{drafts, exit_code};

/// Puts it back in place.
///
/// # Errors
/// When it was not taken back, or a file was changed since: nothing is overwritten then.
pub fn run(context: &Context, args: &RedoArgs) -> Ended {
    let store = context.store()?;
    let (text, count, id) = match store.incident(&args.id) {
        Err(error) if error.trouble == Trouble::Missing && drafts::all(context).find(&args.id).is_ok() => {
            ("try-redone", drafts::redo(context, &store, &args.id)?, args.id.clone())
        }
        Err(error) => return Err(error.into()),
        Ok(found) => {
            let count = of_repair(context, &store, found.id.as_str())?;
            ("redone", count, found.id.short().to_owned())
        }
    };
    let count = count.to_string();
    print(&format!("{}\n", context.texts().say(text, &[("n", &count), ("id", drafts::short(&id))])));
    Ok(exit_code::OK)
}

fn of_repair(context: &Context, store: &Store, id: &str) -> Result<usize, CommandError> {
    let _lock = crate::lock::lock_job(&context.state, &store.incident(id)?.job)?;
    let mut incident = store.incident(id)?;
    let short = incident.id.short().to_owned();
    if incident.state != State::RolledBack {
        let what = format!("incident {short} was not taken back: it is {}", incident.state.word());
        return Err(CommandError::new(what).hint(format!("selfheal show {short}")));
    }
    let files = incident.rounds.last().map(|round| round.files.clone()).unwrap_or_default();
    for file in &files {
        if store.state_of(file)? != Standing::Before {
            let what = format!("{} was changed since the repair was taken back", file.path.display());
            return Err(CommandError::new(what).hint(format!("selfheal show {short} --patch")));
        }
    }
    let decider = Decider::new(context, store);
    decider.go(&mut incident, Event::Redone, "redoing")?;
    match apply_all(store, &incident.id, &files) {
        Ok(()) => {
            crate::driver::put_back_in(store, &incident);
            decider.go(&mut incident, Event::ApplyDone, "redone")?;
        }
        Err(error) => {
            decider.go(&mut incident, Event::ApplyFailed, "not_applied")?;
            return Err(error.into());
        }
    }
    Ok(files.len())
}
