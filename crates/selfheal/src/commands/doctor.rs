//! `selfheal doctor`: what this machine offers, and how to mend what is missing.

use std::path::PathBuf;

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Boxes, Clock};

use super::{Ended, print};
use crate::context::Context;
use crate::exit_code;
use crate::terminal::{Paint, clean};

/// Interpreters whose scripts selfheal knows best.
const INTERPRETERS: [&str; 8] = ["bash", "sh", "python3", "perl", "node", "ruby", "awk", "make"];

/// How a point stands.
enum Standing {
    Good,
    Missing,
    Note,
}

/// Prints a line a point; ends with 1 when something that matters is missing.
///
/// # Errors
/// Never: what cannot be found out is a point of its own.
pub fn run(context: &Context) -> Ended {
    let paint = Paint::new(context.terminal.output && context.terminal.colour);
    let mut missing = 0;
    let mut point = |standing: Standing, what: &str, text: &str| {
        let mark = match standing {
            Standing::Good => paint.green("ok     "),
            Standing::Missing => paint.red("missing"),
            Standing::Note => paint.yellow("note   "),
        };
        missing += i32::from(matches!(standing, Standing::Missing));
        print(&format!("{mark} {what:<12} {text}\n"));
    };
    boxes(context, &mut point);
    state(context, &mut point);
    interpreters(context, &mut point);
    let traits = crate::hosts::traits(context);
    for (what, text) in &traits {
        point(Standing::Note, "host", &format!("{what}: {text}"));
    }
    model(context, &mut point);
    notify(context, &mut point);
    timer(&mut point);
    settings(context, &mut point);
    if selfheal_store::frozen(&context.state) {
        point(Standing::Note, "frozen", "every job runs bare; end it with: selfheal thaw");
    }
    matrix(&traits);
    Ok(if missing == 0 { exit_code::OK } else { exit_code::ERROR })
}

/// What each kind of host means, with a mark at those that this one is.
fn matrix(traits: &[crate::hosts::Trait]) {
    print("\nhosts (* is this one)   runs                               boxes, so proofs and repairs\n");
    for row in &crate::hosts::MATRIX {
        let mark = if traits.iter().any(|(word, _)| *word == row.word) { '*' } else { ' ' };
        print(&format!("{mark} {:<21} {:<34} {}\n", row.word, row.runs, row.boxes));
        print(&format!("{:24}tested: {}\n", "", row.tested));
    }
}

type Point<'a> = dyn FnMut(Standing, &str, &str) + 'a;

fn boxes(context: &Context, point: &mut Point<'_>) {
    let runner = crate::boxes::runner(context);
    let rung = runner.rung();
    let standing = if rung.can_try() { Standing::Good } else { Standing::Missing };
    point(standing, "box", &format!("rung {}", rung.name));
    for reason in &rung.why_not_better {
        point(Standing::Note, "", reason);
    }
}

fn state(context: &Context, point: &mut Point<'_>) {
    match context.store() {
        Ok(_) => point(Standing::Good, "state", &context.state.display().to_string()),
        Err(error) => {
            point(Standing::Missing, "state", &error.one_line());
            point(Standing::Note, "", "set SELFHEAL_STATE_DIR to a folder of your own on a local disk");
        }
    }
}

fn interpreters(context: &Context, point: &mut Point<'_>) {
    let path = context.var("PATH").unwrap_or_default();
    let here = |name: &&str| std::env::split_paths(&path).any(|folder: PathBuf| folder.join(name).is_file());
    let found: Vec<&str> = INTERPRETERS.iter().copied().filter(|name| here(name)).collect();
    let standing = if found.contains(&"bash") { Standing::Good } else { Standing::Note };
    point(standing, "interpreters", &found.join(" "));
}

#[cfg(feature = "model")]
fn model(context: &Context, point: &mut Point<'_>) {
    let Some(settings) = &context.settings.model else {
        point(Standing::Note, "model", "none: rules and memory only; selfheal init sets one");
        return;
    };
    match crate::driver::model::client(context, settings)
        .and_then(|_| crate::driver::model::reachable(settings))
    {
        Ok(()) => point(Standing::Good, "model", &format!("{} at {}", settings.name, settings.url)),
        Err(reason) => point(Standing::Missing, "model", &reason),
    }
}

#[cfg(not(feature = "model"))]
fn model(_: &Context, point: &mut Point<'_>) {
    point(Standing::Note, "model", "this selfheal was built without model support");
}

/// How far back messages that nobody took are told, in milliseconds: thirty days.
pub(super) const UNDELIVERED_MS: i64 = 30 * 86_400_000;

fn notify(context: &Context, point: &mut Point<'_>) {
    let channels = crate::notify::channels(context);
    if channels.is_empty() {
        point(Standing::Note, "notify", "nobody is told; [notify] in the settings: docs/notifications.md");
    }
    for channel in &channels {
        let name = format!("{} ({})", clean(&channel.name), clean(&channel.kind));
        match channel.wrong() {
            None => point(Standing::Good, "notify", &format!("{name}; try it: selfheal notify test")),
            Some(why) => {
                let why = context.redactor().text(why);
                point(Standing::Missing, "notify", &format!("{name}: {}", clean(why.as_str())));
            }
        }
    }
    for line in undelivered(context) {
        point(Standing::Missing, "notify", &line);
    }
}

/// A line for each channel that never took messages of late.
pub(super) fn undelivered(context: &Context) -> Vec<String> {
    let since = Timestamp(context.clock.now().0 - UNDELIVERED_MS);
    let found = context.store().ok().and_then(|store| store.undelivered(since).ok()).unwrap_or_default();
    let texts = context.texts();
    let line = |one: selfheal_store::Undelivered| {
        let (n, channel, why) = (one.messages.to_string(), clean(&one.channel), clean(one.error.as_str()));
        texts.say("undelivered", &[("n", &n), ("channel", &channel), ("why", &why)])
    };
    found.into_iter().map(line).collect()
}

fn timer(point: &mut Point<'_>) {
    match crate::timer::installed() {
        Some(how) => point(Standing::Good, "timer", &how),
        None => point(
            Standing::Note,
            "timer",
            "none: watches and messages wait for the next command; selfheal init installs one",
        ),
    }
}

fn settings(context: &Context, point: &mut Point<'_>) {
    let policy = match context.settings.policy {
        Some(policy) => format!("low {}, medium {}, high {}", policy.low, policy.medium, policy.high),
        None => "none: unattended repairs wait for a person".to_owned(),
    };
    point(Standing::Good, "policy", &policy);
    for warning in &context.warnings {
        point(Standing::Missing, "settings", warning);
    }
}
