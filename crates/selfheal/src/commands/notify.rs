//! `selfheal notify test`: a message to try the channels with. It does not go through the outbox.

use selfheal_core::ports::{Clock, Message};

use super::{Ended, print};
use crate::cli::{NotifyArgs, NotifyCommand};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::notify::{Channel, channels, host};
use crate::terminal::clean;

/// Sends a test message to all channels, or to one, and says how each took it.
///
/// # Errors
/// When there is no (such) channel.
pub fn run(context: &Context, args: &NotifyArgs) -> Ended {
    let NotifyCommand::Test { channel } = &args.command;
    let all = channels(context);
    let chosen: Vec<&Channel> =
        all.iter().filter(|one| channel.as_ref().is_none_or(|name| *name == one.name)).collect();
    if chosen.is_empty() {
        return Err(none(channel.as_deref(), &all));
    }
    let message = message(context);
    let mut code = exit_code::OK;
    for channel in chosen {
        let told = match channel.send(&message) {
            Ok(()) => "ok".to_owned(),
            Err(why) => {
                code = exit_code::ERROR;
                clean(context.redactor().text(&why).as_str())
            }
        };
        print(&format!("{} ({}): {told}\n", clean(&channel.name), clean(&channel.kind)));
    }
    Ok(code)
}

fn none(name: Option<&str>, all: &[Channel]) -> CommandError {
    match name {
        Some(name) if !all.is_empty() => {
            let known: Vec<&str> = all.iter().map(|channel| channel.name.as_str()).collect();
            CommandError::usage(format!("there is no channel {}", clean(name)))
                .hint(format!("the settings name {}", clean(&known.join(", "))))
        }
        _ => CommandError::usage("the settings name nobody who is told")
            .hint("add [notify] to the settings: docs/notifications.md"),
    }
}

fn message(context: &Context) -> Message {
    let (texts, redactor) = (context.message_texts(), context.redactor());
    let subject = texts.say("message-test", &[("host", &host())]);
    let text = format!("{subject}\n{}\n", texts.say("message-test-text", &[]));
    Message {
        at: context.clock.now(),
        subject: redactor.text(&subject),
        text: redactor.text(&text),
        html: None,
        incident: None,
    }
}
