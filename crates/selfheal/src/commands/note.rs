//! `selfheal note`: keeps with an incident what a person learnt from it, or improved.

use selfheal_core::incident::Remark;
use selfheal_core::ports::{Clock, Journal};
use serde_json::json;

use super::{Ended, print};
use crate::cli::NoteArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::driver_entry as entry;
use crate::exit_code;

/// The longest text, in characters.
const LONGEST: usize = 4_000;
/// The most notes of one incident.
const MOST: usize = 100;

/// Adds the text to what is known of the incident.
///
/// # Errors
/// When there is no such incident, the text is empty or too long, or it cannot be stored.
pub fn run(context: &Context, args: &NoteArgs) -> Ended {
    let text = args.text.join(" ");
    let text = text.trim();
    if text.is_empty() || text.chars().count() > LONGEST {
        return Err(CommandError::usage(format!("a note has 1 to {LONGEST} characters")));
    }
    let store = context.store()?;
    let job = store.incident(&args.id)?.job;
    // What else changes the incident must not be overwritten.
    let _lock = crate::lock::lock_job(&context.state, &job)?;
    let mut incident = store.incident(&args.id)?;
    if incident.remarks.len() >= MOST {
        return Err(CommandError::new(format!("incident {} has {MOST} notes already", incident.id.short())));
    }
    let text = context.redactor().text(text);
    let details = json!({ "uid": context.uid, "text": text });
    incident.remarks.push(Remark { at: context.clock.now(), uid: context.uid, text });
    store.store(&incident, &[entry(context, &incident, "noted", details)?])?;
    print(&format!("{}\n", context.texts().say("noted", &[("id", incident.id.short())])));
    Ok(exit_code::OK)
}
