//! What became of a step whose process is gone, by its journal and its draft.

use std::path::Path;

use selfheal_core::task::{Found, Step, StepOutcome, StepResult};
use selfheal_exec::commit::Standing;

use super::files;
use super::journal::{Journal, Mark};
use crate::context::Context;
use crate::drafts;

/// Finds out what became of one start of a step.
#[must_use]
pub fn settle(context: &Context, step: &Step, folder: &Path, attempt: u32) -> Found {
    if !Journal::is_there(folder) {
        // Whoever removed it took away what would tell.
        return Found::MayHaveRun;
    }
    let marks = Journal::marks(folder, attempt);
    match marks.last() {
        None | Some(Mark::Taken { .. } | Mark::Undone { .. }) => Found::NotBegun,
        Some(Mark::Ended { result }) => Found::Ended(result.clone()),
        Some(Mark::Boxed { draft }) => {
            drop_draft(context, draft);
            Found::NotBegun
        }
        Some(Mark::Committing { draft, result }) => committed(context, step, draft, result),
        Some(Mark::OnMachine) => Found::MayHaveRun,
        Some(Mark::Failed { code }) => {
            let why = "it failed, and selfheal was ended while it looked for a repair".to_owned();
            let plain = StepResult::plain(StepOutcome::Failed, *code);
            Found::Ended(Box::new(StepResult {
                repeatable: step.is_harmless(false),
                why: Some(why),
                ..plain
            }))
        }
    }
}

/// Whether a commit that was begun is done: a draft is in place as a whole or not at all.
fn committed(context: &Context, step: &Step, draft: &str, result: &StepResult) -> Found {
    if let Some(said) = drafts::recover(context) {
        crate::commands::tell(&format!("selfheal: {said}"));
    }
    match drafts::all(context).find(draft) {
        Ok(found) if found.state == Standing::Committed => {
            let output = files::summaries(&step.outputs);
            Found::Ended(Box::new(StepResult { output, ..result.clone() }))
        }
        Ok(_) => {
            drop_draft(context, draft);
            Found::NotBegun
        }
        // Who removed the draft by hand took away what would tell.
        Err(_) => Found::MayHaveRun,
    }
}

fn drop_draft(context: &Context, draft: &str) {
    // It may never have been made; what stays is removed when drafts grow old.
    let _ = drafts::all(context).throw_away(draft);
}
