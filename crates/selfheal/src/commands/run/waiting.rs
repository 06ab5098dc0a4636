//! A job that waits for a person.

use std::sync::OnceLock;

use selfheal_core::run::Idle;
use selfheal_feedback::{Wait, waits_for_a_person};

use crate::commands::tell;
use crate::context::Context;

/// Tells, once, that a job waits for a person.
pub(super) fn tell_wait(context: &Context, idle: &Idle, told: &OnceLock<String>) {
    let Some(wait) = waits_for_a_person(idle).filter(|_| told.get().is_none()) else { return };
    let clean =
        |text: Option<String>| context.redactor().text(&crate::terminal::clean(&text.unwrap_or_default()));
    let id = match &wait {
        Wait { process: Some(_), asked: Some(_) } => "waits-answer",
        Wait { process: Some(_), asked: None } => "waits-terminal",
        Wait { process: None, .. } => "waits-question",
    };
    let (process, asked) = (clean(wait.process), clean(wait.asked));
    let line = context.texts().say(id, &[("process", process.as_str()), ("asked", asked.as_str())]);
    // The terminal of a person is raw while a job runs at it, and the question stands in its last line.
    match context.terminal.error {
        true => tell(&format!("\r\nselfheal: {line}\r")),
        false => tell(&format!("selfheal: {line}")),
    }
    // Nobody else sets it: there is one supervisor.
    let _ = told.set(line);
}
