//! `selfheal generate`: prints the files in `docs/` that are made from the program. A test holds them to it.

use super::{Ended, print};
use crate::cli::{GenerateArgs, Generated};
use crate::document;
use crate::exit_code;

/// Prints one of them.
///
/// # Errors
/// Never.
pub fn run(args: &GenerateArgs) -> Ended {
    match args.what {
        Generated::RunSchema => print(&document::schema()),
        Generated::TaskSchema => print(&crate::tasks::schema()),
        Generated::Profiles => print(&selfheal_feedback::profiles::Profiles::manual()),
        Generated::Rules => print(&selfheal_repair::manual()),
    }
    Ok(exit_code::OK)
}
