//! The head of the ledger goes to a program of the user's own, which keeps it where the user that jobs run as cannot write.
//!
//! The chain makes the newest head vouch for all before it, so nothing is queued: at the end of a run that opened an
//! incident, with each tick, and when the record is checked, the present head is handed over unless it was taken already.

use std::time::Duration;

use selfheal_notify::{Program, ProgramSettings};
use selfheal_store::{Anchor, Store};

use crate::command_error::CommandError;
use crate::config::KeepSettings;
use crate::context::Context;

/// How long the program may take in a tick, and when the record is checked.
pub const PATIENT: Duration = Duration::from_secs(20);

/// Hands the present head over, where the settings name a program and it did not take this head already.
///
/// # Errors
/// When the store cannot be used, or the program did not take the head; it is tried again next time.
pub fn give(context: &Context, store: &Store, within: Duration) -> Result<(), CommandError> {
    let Some(words) = context.settings.store.anchor_program.as_ref().filter(|_| !within.is_zero()) else {
        return Ok(());
    };
    let Some(line) = store.head_to_give()? else { return Ok(()) };
    let limit_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
    let command = words.iter().map(Into::into).collect();
    Program::from_settings(ProgramSettings { command, limit_ms })?
        .give("keep the ledger's head", line.as_bytes())?;
    Ok(store.note_head_given(&line)?)
}

/// What is wrong with the settings of anchors, a sentence each: a misspelt one would anchor nothing.
#[must_use]
pub fn wrong_words(settings: &KeepSettings) -> Vec<String> {
    let wrong = settings.anchors.iter().filter(|word| Anchor::from_word(word).is_none());
    wrong
        .map(|word| {
            format!(
                "[store] anchor: {word:?} is neither syslog, journald, a socket's path nor udp:ADDRESS:PORT"
            )
        })
        .collect()
}
