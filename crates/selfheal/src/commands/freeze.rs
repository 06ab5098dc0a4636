//! `selfheal freeze` and `thaw`: every run bare at once. A file in the state directory, so that it works with a broken
//! database too.

use super::{Ended, print};
use crate::context::Context;
use crate::exit_code;

/// Freezes or thaws.
///
/// # Errors
/// When the state directory cannot be written.
pub fn run(context: &Context, frozen: bool) -> Ended {
    selfheal_store::set_frozen(&context.state, frozen)?;
    let id = if frozen { "frozen" } else { "thawed" };
    print(&format!("{}\n", context.texts().say(id, &[])));
    Ok(exit_code::OK)
}
