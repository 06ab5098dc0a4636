//! Masking in shell scripts.

mod checks;
mod classify;
mod data;
mod exits;
mod filters;
mod flags;
mod guards;
mod handling;
mod left_out;
mod options;
mod programs;
mod reach;
mod steps;
mod switches;
mod words;

use std::rc::Rc;

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::shell::Script;

use crate::finding::whole;
use handling::Handling;

/// Both sides of a change, looked at once.
pub struct Sides {
    pub old: Side,
    pub new: Side,
    /// For each command of the new script the one of the old that it was.
    pub origin: Vec<Option<usize>>,
}

/// One script with all that the checks need.
pub struct Side {
    pub script: Rc<Script>,
    /// What happens when a command fails, by command.
    pub handling: Vec<Handling>,
    /// Whether a command can be reached at all, by command.
    pub reached: Vec<bool>,
}

impl Side {
    fn of(text: &str) -> Option<Self> {
        let script = Script::shared(text).ok()?;
        let handling = handling::of(&script);
        let reached = reach::of(&script);
        Some(Self { script, handling, reached })
    }
}

/// What in a change hides a failure.
pub fn compare(before: &str, after: &str) -> Vec<Finding> {
    let (Some(old), Some(new)) = (Side::of(before), Side::of(after)) else {
        return vec![whole("masking/unjudged", Weight::Hold, "the script is too large to be judged")];
    };
    let origin = steps::origins(&old, &new);
    let sides = Sides { old, new, origin };
    let mut out = Vec::new();
    if sides.new.script.has_error() && !sides.old.script.has_error() {
        out.push(whole("masking/incomplete", Weight::Medium, "the changed script is not wholly understood"));
    }
    out.extend(handling::compare(&sides));
    out.extend(options::compare(&sides));
    out.extend(steps::compare(&sides));
    out.extend(exits::compare(&sides));
    out.extend(checks::compare(&sides));
    out.extend(flags::compare(&sides));
    out.extend(data::compare(&sides));
    out.extend(switches::compare(&sides));
    out.extend(left_out::compare(&sides));
    out.extend(filters::compare(&sides));
    out.extend(programs::compare(&sides));
    out
}
