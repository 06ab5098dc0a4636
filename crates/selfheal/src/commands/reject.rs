//! `selfheal reject`: drops repairs that waited for a decision.

use selfheal_core::engine::Event;

use super::approve::{Decider, waiting};
use super::{Ended, print};
use crate::cli::DecideArgs;
use crate::context::Context;
use crate::exit_code;

/// Rejects each of them.
///
/// # Errors
/// When an incident does not wait for a decision.
pub fn run(context: &Context, args: &DecideArgs) -> Ended {
    let store = context.store()?;
    let decider = Decider::new(context, &store);
    let incidents = args.ids.iter().map(|id| waiting(&store, id)).collect::<Result<Vec<_>, _>>()?;
    for incident in incidents {
        let _lock = crate::lock::lock_job(&context.state, &incident.job)?;
        // Somebody may have decided while the lock was waited for.
        let mut incident = waiting(&store, incident.id.as_str())?;
        crate::driver::taken_back(&store, &incident);
        decider.go(&mut incident, Event::Rejected, "rejected")?;
        print(&format!("{}\n", context.texts().say("rejected", &[("id", incident.id.short())])));
    }
    Ok(exit_code::OK)
}
