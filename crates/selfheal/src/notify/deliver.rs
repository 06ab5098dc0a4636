//! Delivers what waits: everything that is due for a channel as one message, within a limit.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Clock, Delivery, Due, Message, Outbox};
use selfheal_core::redact::Redacted;
use selfheal_store::Store;

use super::channels::{Channel, channels, host};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::terminal::clean;

/// The most messages that go to one channel at once.
const MOST: usize = 200;
/// So many of them are told whole; the others are counted.
const WHOLE: usize = 20;
/// Seconds between two deliveries to one channel, when nothing is said.
const PAUSE_S: u64 = 300;
/// Seconds that a run may take at its end to deliver, when nothing is said.
const AT_END_S: u64 = 5;
/// How long a tick waits for all channels together.
const TICK: Duration = Duration::from_secs(60);
/// Seconds to the next try after the n-th that failed; after the last one it is given up, three days later.
const AGAIN_S: [i64; 9] = [60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 86_400];

/// What a delivery did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Messages that a channel took.
    pub taken: usize,
    /// What went wrong, a sentence a channel.
    pub troubles: Vec<String>,
}

/// One channel's part of a delivery.
struct Part {
    channel: String,
    due: Vec<Due>,
}

/// Delivers in a tick, and gives up what channels have not taken that are not in the settings any more.
///
/// # Errors
/// When the store cannot be used.
pub fn in_tick(context: &Context, store: &Store) -> Result<Sent, CommandError> {
    let names: Vec<String> = channels(context).into_iter().map(|channel| channel.name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    store.drop_channels_but(&names, &Redacted::fixed("the channel is not in the settings any more"))?;
    deliver(context, store, TICK)
}

/// How long a run may take at its end to tell others.
#[must_use]
pub fn time_at_end(context: &Context) -> Duration {
    Duration::from_secs(context.settings.notify.at_end.unwrap_or(AT_END_S))
}

/// Delivers at the end of a run that left a message, for a short time. What is not done by then, a tick does.
pub fn at_end(context: &Context, store: &Store) {
    let within = time_at_end(context);
    if within.is_zero() {
        return;
    }
    match deliver(context, store, within) {
        Ok(sent) => sent.troubles.iter().for_each(|trouble| tracing::warn!(trouble, "not delivered yet")),
        Err(error) => tracing::warn!(error = error.one_line(), "messages could not be delivered"),
    }
}

/// Delivers what is due, all channels at once, within a time.
///
/// # Errors
/// When the store cannot be used.
fn deliver(context: &Context, store: &Store, within: Duration) -> Result<Sent, CommandError> {
    let channels = channels(context);
    let names: Vec<&str> = channels.iter().map(|channel| channel.name.as_str()).collect();
    let now = context.clock.now();
    store.hand_out(&names, now)?;
    let (tell, told) = mpsc::channel();
    let mut open = Vec::new();
    for channel in channels {
        let due = due(context, store, &channel, now)?;
        if due.is_empty() {
            continue;
        }
        let message = Arc::new(grouped(context, &due));
        open.push(Part { channel: channel.name.clone(), due });
        let tell = tell.clone();
        std::thread::spawn(move || {
            let result = channel.send(&message);
            // Nobody may be waiting any more.
            let _ = tell.send((channel.name, result));
        });
    }
    drop(tell);
    let until = Instant::now() + within;
    let mut sent = Sent::default();
    while let Ok((channel, result)) = told.recv_timeout(until.saturating_duration_since(Instant::now())) {
        let Some(at) = open.iter().position(|part| part.channel == channel) else { continue };
        let part = open.swap_remove(at);
        settle(context, store, &part, result, &mut sent)?;
    }
    for part in open {
        settle(context, store, &part, Err("it did not take the message in time".to_owned()), &mut sent)?;
    }
    Ok(sent)
}

/// What is due for a channel that does not rest.
fn due(
    context: &Context,
    store: &Store,
    channel: &Channel,
    now: Timestamp,
) -> Result<Vec<Due>, CommandError> {
    let pause = context.settings.notify.pause.unwrap_or(PAUSE_S).saturating_mul(1_000);
    let rests =
        store.last_delivery(&channel.name)?.is_some_and(|last| now.0.abs_diff(last.0) < pause && now >= last);
    if rests || store.in_trouble_until(&channel.name, now)?.is_some() {
        return Ok(Vec::new());
    }
    Ok(store.due(&channel.name, now, MOST)?)
}

fn settle(
    context: &Context,
    store: &Store,
    part: &Part,
    result: Result<(), String>,
    sent: &mut Sent,
) -> Result<(), CommandError> {
    let now = context.clock.now();
    let why = match result {
        Ok(()) => {
            let rows: Vec<i64> = part.due.iter().map(|due| due.row).collect();
            sent.taken += rows.len();
            return Ok(store.settle(&part.channel, &rows, &Delivery::Done(now))?);
        }
        Err(why) => context.redactor().text(&clean(&why)),
    };
    for due in &part.due {
        store.settle(&part.channel, &[due.row], &after(due.attempts, now, &why))?;
    }
    sent.troubles.push(format!("{}: {why}", part.channel));
    Ok(())
}

/// What becomes of a message that was not taken.
fn after(attempts: u32, now: Timestamp, why: &Redacted) -> Delivery {
    match AGAIN_S.get(attempts as usize) {
        Some(seconds) => {
            Delivery::Again { at: Timestamp(now.0.saturating_add(seconds * 1_000)), error: why.clone() }
        }
        None => Delivery::GivenUp { error: why.clone() },
    }
}

/// Several messages as one; a single one as it is. The machine's name stands in front.
fn grouped(context: &Context, due: &[Due]) -> Message {
    let redactor = context.redactor();
    let host = host();
    if let [one] = due {
        let subject = redactor.text(&format!("[{host}] {}", one.message.subject));
        let text = redactor.text(&format!("[{host}] {}", one.message.text));
        return Message { subject, text, ..one.message.clone() };
    }
    let texts = context.message_texts();
    let count = due.len().to_string();
    let subject = texts.say("message-several", &[("n", &count)]);
    let mut text = format!("[{host}] {subject}\n");
    for one in due.iter().take(WHOLE) {
        text.push_str(&format!("\n{}\n", one.message.text.as_str().trim_end()));
    }
    let more = due.len().saturating_sub(WHOLE);
    if more > 0 {
        text.push_str(&format!("\n{}\n", texts.say("message-more", &[("n", &more.to_string())])));
    }
    Message {
        at: due.iter().map(|one| one.message.at).max().unwrap_or_default(),
        subject: redactor.text(&format!("[{host}] {subject}")),
        text: redactor.text(&text),
        html: None,
        incident: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_taken_is_tried_ten_times_in_three_days_and_then_given_up() {
        let why = Redacted::fixed("no");
        let (mut now, mut tries) = (Timestamp(0), 0);
        while let Delivery::Again { at, .. } = after(tries, now, &why) {
            assert!(at > now);
            (now, tries) = (at, tries + 1);
        }
        assert_eq!(tries + 1, 10);
        assert!((2..=4).contains(&(now.0 / 86_400_000)), "{now:?}");
    }
}
