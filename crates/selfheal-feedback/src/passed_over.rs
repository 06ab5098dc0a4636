//! What a shell says of its own text and then goes on: a script may end well with it, and what it did is not to be trusted.
//!
//! A value that is no number ends the loop around it, and a test that cannot be made counts as false. The author of a
//! script never means that, unlike a command's failure, which `||` may answer.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::run::Run;

use crate::parsers;

/// The faults of this kind in what a run wrote to standard error, told with the script's name.
#[must_use]
pub fn passed_over(run: &Run, script: &Path) -> Vec<Fault> {
    if run.stderr.total == 0 {
        return Vec::new();
    }
    parsers::read_text(&parsers::kept(&run.stderr))
        .into_iter()
        .filter(|found| {
            let place = found.spots.first();
            place.is_some_and(|spot| spot.file.file_name() == script.file_name())
                && is_evaluation(&found.fault)
        })
        .map(|found| found.fault)
        .collect()
}

fn is_evaluation(fault: &Fault) -> bool {
    match fault {
        // `kill` of what has ended by itself is no fault of the text.
        Fault::BadValue { message, .. } => message != "No such process",
        Fault::Syntax { .. } | Fault::Dialect { .. } | Fault::UnsetVariable { .. } => true,
        _ => false,
    }
}
