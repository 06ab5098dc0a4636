//! What is to be taken back: by its id, the newest, or all of a job.

use selfheal_core::engine::State;
use selfheal_core::ids::JobKey;
use selfheal_core::incident::Incident;
use selfheal_core::ports::{IncidentFilter, Journal, Snapshots, Standing, Trouble};
use selfheal_exec::commit::{Draft, Standing as DraftStanding};
use selfheal_store::Store;

use crate::cli::UndoArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::drafts;

/// The states of incidents whose repair may be in place.
const IN_PLACE: [&str; 4] = ["applied", "watching", "confirmed", "handed_over"];
/// How many of them are looked through.
const MOST: usize = 1_000;

/// One thing that was put in place.
pub(super) enum Which {
    /// A repair.
    Repair(Box<Incident>),
    /// A try or transaction.
    Try(Box<Draft>),
}

/// What the arguments mean, in the order in which it is to be taken back.
///
/// # Errors
/// When there is nothing of the kind.
pub(super) fn chosen(context: &Context, store: &Store, args: &UndoArgs) -> Result<Vec<Which>, CommandError> {
    if let Some(id) = &args.id {
        return of_id(context, store, id).map(|which| vec![which]);
    }
    let job = args.job.as_deref();
    let mut repairs = in_place(store)?;
    repairs.retain(|incident| job.is_none_or(|job| is_of(context, &incident.job, job)));
    if repairs.is_empty() && job.is_some() {
        let what = format!("no repair of {} is in place", job.unwrap_or_default());
        return Err(CommandError::new(what).hint("selfheal incidents"));
    }
    if !args.last {
        return Ok(repairs.into_iter().map(|incident| Which::Repair(Box::new(incident))).collect());
    }
    let draft = newest_try(context).filter(|_| job.is_none());
    let newest = match (repairs.into_iter().next(), draft) {
        (Some(repair), Some(draft)) if draft.made > repair.updated.0 => Which::Try(Box::new(draft)),
        (Some(repair), _) => Which::Repair(Box::new(repair)),
        (None, Some(draft)) => Which::Try(Box::new(draft)),
        (None, None) => {
            return Err(
                CommandError::new("nothing that selfheal changed is in place").hint("selfheal incidents")
            );
        }
    };
    Ok(vec![newest])
}

/// An incident, or the try that an id means when it is no incident.
fn of_id(context: &Context, store: &Store, id: &str) -> Result<Which, CommandError> {
    match store.incident(id) {
        Ok(incident) => Ok(Which::Repair(Box::new(incident))),
        Err(error) if error.trouble == Trouble::Missing => match drafts::all(context).find(id) {
            Ok(draft) => Ok(Which::Try(Box::new(draft))),
            Err(_) => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// Whether a job has that name, or that script in whatever folder it ran.
fn is_of(context: &Context, job: &JobKey, word: &str) -> bool {
    let path = context.cwd.join(word);
    let script = std::fs::canonicalize(&path).unwrap_or(path);
    job.as_str() == word || job.as_str().starts_with(&format!("{}:{}@", context.uid, script.display()))
}

/// The repairs that are in place, the one that was put in last first.
fn in_place(store: &Store) -> Result<Vec<Incident>, CommandError> {
    let filter = IncidentFilter { job: None, states: IN_PLACE.to_vec(), most: MOST };
    let mut all = store.incidents(&filter)?;
    all.retain(|incident| {
        let files = incident.rounds.last().map(|round| round.files.as_slice()).unwrap_or_default();
        let made = |file| matches!(store.state_of(file), Ok(Standing::After));
        !files.is_empty() && (incident.state != State::HandedOver || files.iter().any(made))
    });
    // Ids begin with the time, so they tell two of the same moment apart.
    all.sort_by_key(|incident| std::cmp::Reverse((incident.updated, incident.id.clone())));
    Ok(all)
}

fn newest_try(context: &Context) -> Option<Draft> {
    let all = drafts::all(context).list().unwrap_or_default();
    all.into_iter().filter(|draft| draft.state == DraftStanding::Committed).max_by_key(|draft| draft.made)
}
