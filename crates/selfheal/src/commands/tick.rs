//! `selfheal tick`: does what is due. Run by a timer, and in a short form by every other command first.

use selfheal_store::Store;

use super::{Ended, print, tell};
use crate::anchor;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::driver::{recover, watch};
use crate::exit_code;
use crate::missed;
use crate::texts::Texts;

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
    let expired = watch::expire_due(context, &store)?;
    for line in &expired {
        print(&format!("{line}\n"));
    }
    if let Err(error) = super::report::send_weekly(context, &store) {
        tell(&format!("selfheal: {}", error.one_line()));
    }
    if let Err(error) = anchor::give(context, &store, anchor::PATIENT) {
        tell(&format!("selfheal: {}", error.one_line()));
    }
    let sent = crate::notify::in_tick(context, &store)?;
    sent.troubles.iter().for_each(|trouble| tell(&format!("selfheal: {trouble}")));
    let values = [
        ("messages", sent.taken.to_string()),
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
