//! `selfheal tick`: does what is due. Run by a timer, and in a short form by every other command first.

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Clock, Notifier, Outbox};
use selfheal_notify::{Program, ProgramSettings};
use selfheal_store::Store;

use super::{Ended, print, tell};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::driver::{recover, watch};
use crate::exit_code;
use crate::missed;
use crate::texts::Texts;

/// Minutes before a message that was not accepted is tried again.
const AGAIN_MS: i64 = 10 * 60_000;
/// Messages that one tick delivers.
const MOST_MESSAGES: usize = 50;

/// Does what is due and says how much it was.
///
/// # Errors
/// When the store cannot be used.
pub fn run(context: &Context) -> Ended {
    let store = context.store()?;
    let texts = context.texts();
    let recovered = recover::recover_all(context, &store)?;
    for line in &recovered {
        print(&format!("{line}\n"));
    }
    let confirmed = watch::confirm_due(context, &store)?;
    match missed::tell_once(context, &texts, &store) {
        Ok(said) => said.iter().for_each(|line| print(&format!("{line}\n"))),
        // What else is due must be done all the same.
        Err(error) => tell(&format!("selfheal: {}", error.one_line())),
    }
    if let Err(error) = crate::knowledge::indexed::follow(context) {
        tell(&format!("selfheal: {}", CommandError::from(error).one_line()));
    }
    for line in crate::examples::look_again(context, &crate::boxes::runner(context)) {
        print(&format!("{line}\n"));
    }
    match super::gc::daily(context, &store) {
        Ok(gone) => said_gone(&texts, gone),
        // What else is due must be done all the same.
        Err(error) => tell(&format!("selfheal: {}", error.one_line())),
    }
    let delivered = deliver(context, &store)?;
    let values = [
        ("messages", delivered.to_string()),
        ("confirmed", confirmed.to_string()),
        ("recovered", recovered.len().to_string()),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    print(&format!("{}\n", texts.say("tick-done", &values)));
    Ok(exit_code::OK)
}

fn said_gone(texts: &Texts, gone: Option<usize>) {
    if let Some(gone) = gone.filter(|gone| *gone > 0) {
        print(&format!("{}\n", texts.say("gc-daily", &[("n", &gone.to_string())])));
    }
}

/// The short form before a run: only what must not wait, and never a reason that a job does not run.
pub fn before_run(context: &Context, store: &Store) {
    match recover::recover_all(context, store) {
        Ok(said) => said.iter().for_each(|line| tell(&format!("selfheal: {line}"))),
        Err(error) => tell(&format!("selfheal: {}", error.one_line())),
    }
}

fn deliver(context: &Context, store: &Store) -> Result<usize, CommandError> {
    let Some(command) = context.settings.notify.clone() else { return Ok(0) };
    let command = command.into_iter().map(Into::into).collect();
    let notifier = Program::from_settings(ProgramSettings { command, ..ProgramSettings::default() })?;
    let now = context.clock.now();
    let mut delivered = 0;
    for (row, message) in store.due(now, MOST_MESSAGES)? {
        match notifier.notify(&message) {
            Ok(()) => {
                store.settle(row, None)?;
                delivered += 1;
            }
            Err(error) => {
                tell(&format!("selfheal: {}", CommandError::from(error).one_line()));
                store.settle(row, Some(Timestamp(now.0 + AGAIN_MS)))?;
            }
        }
    }
    Ok(delivered)
}
