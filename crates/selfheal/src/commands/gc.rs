//! `selfheal gc`: drops what is old and needed by nobody. `selfheal tick` does it once a day.

use std::collections::BTreeSet;

use selfheal_core::ids::IncidentId;
use selfheal_core::ports::Clock;
use selfheal_store::{Collection, Retention, Store};

use super::{Ended, print};
use crate::cli::GcArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::tasks::index;
use crate::{drafts, exit_code};

/// Drops what is old, or says what would go.
///
/// # Errors
/// When the store cannot be read or written.
pub fn run(context: &Context, args: &GcArgs) -> Ended {
    let store = context.store()?;
    let retention = retention(context, args.days);
    let plan = store.plan_gc(&retention)?;
    let old_drafts = drafts::old(context, plan.days);
    if args.dry_run {
        name_all(context, &plan);
        old_drafts.iter().for_each(|draft| print(&format!("draft {}\n", draft.id)));
        say(context, "gc-would", &plan, plan.incidents.len());
        return Ok(exit_code::OK);
    }
    let gone = store.gc(&plan, &retention)?;
    drafts::prune(context, plan.days);
    if args.compact {
        store.compact()?;
    }
    store.note_gc(retention.now)?;
    say(context, "gc-done", &plan, gone);
    Ok(exit_code::OK)
}

/// Does it if it was not done for a day; how many incidents went.
///
/// # Errors
/// When the store cannot be read or written.
pub(super) fn daily(context: &Context, store: &Store) -> Result<Option<usize>, CommandError> {
    let retention = retention(context, None);
    if !store.gc_is_due(retention.now) {
        return Ok(None);
    }
    let plan = store.plan_gc(&retention)?;
    let gone = store.gc(&plan, &retention)?;
    drafts::prune(context, plan.days);
    store.note_gc(retention.now)?;
    Ok(Some(gone))
}

fn retention(context: &Context, days: Option<u32>) -> Retention {
    let settings = &context.settings.store;
    Retention {
        days: days.unwrap_or(settings.days),
        size: settings.bytes,
        needed: of_tasks(context),
        now: context.clock.now(),
    }
}

/// The incidents that runs of tasks tell of: those that are over are forgotten by themselves.
fn of_tasks(context: &Context) -> BTreeSet<IncidentId> {
    let all = index::all(context);
    let damaged = all.damaged.into_iter().filter_map(|damaged| damaged.before);
    let runs = all.runs.into_iter().map(|(_, run)| run).chain(damaged);
    runs.flat_map(|run| run.incidents).map(IncidentId::new).collect()
}

fn name_all(context: &Context, plan: &Collection) {
    for (id, updated) in &plan.incidents {
        print(&format!("incident {}  {}\n", id.short(), crate::clock::local_time(*updated)));
    }
    for file in plan.files.iter().chain(&plan.contents) {
        let shown = file.strip_prefix(&context.state).unwrap_or(file);
        print(&format!("file {}\n", shown.display()));
    }
}

fn say(context: &Context, id: &str, plan: &Collection, incidents: usize) {
    let mib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
    let values = [
        ("incidents", incidents.to_string()),
        ("runs", plan.runs.to_string()),
        ("messages", plan.messages.to_string()),
        ("files", (plan.files.len() + plan.contents.len()).to_string()),
        ("mib", mib(plan.bytes)),
        ("days", plan.days.to_string()),
        ("size", mib(plan.size)),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    print(&format!("{}\n", context.texts().say(id, &values)));
}
