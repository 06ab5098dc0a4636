//! `selfheal cron`: lists the jobs of cron, puts selfheal in front of them and takes it away again.

mod change;
mod list;
pub mod places;

use super::Ended;
use crate::cli::{CronArgs, CronCommand};
use crate::context::Context;

/// Does what was asked.
///
/// # Errors
/// When a crontab cannot be read or written, or there is no such job.
pub fn run(context: &Context, args: &CronArgs) -> Ended {
    match &args.command {
        CronCommand::List(args) => list::run(context, args),
        CronCommand::Wrap(args) => change::wrap(context, args),
        CronCommand::Unwrap(args) => change::unwrap(context, args),
    }
}
