//! `selfheal export`: everything that is recorded, a line of JSON a row, redacted. docs/store.md names the columns.

use std::io::Write;

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::Clock;
use selfheal_store::ExportFilter;

use super::Ended;
use crate::cli::ExportArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::{clock, exit_code};

/// Prints it.
///
/// # Errors
/// When the store cannot be read, or the lines cannot be written.
pub fn run(context: &Context, args: &ExportArgs) -> Ended {
    let filter = ExportFilter { kinds: args.kind.clone(), since: since(context, args.since.as_deref())? };
    let redactor = context.redactor();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut written = Ok(());
    context.store()?.export(&filter, &mut |row| {
        let line = redactor.json(&row).map_err(std::io::Error::from);
        written = line.and_then(|line| writeln!(out, "{}", line.as_str()));
        written.is_ok()
    })?;
    done(written.and_then(|()| out.flush()))
}

/// A reader that went away is no error.
pub(super) fn done(written: std::io::Result<()>) -> Ended {
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CommandError::new("failed to write to standard output").because(&error))
        }
        _ => Ok(exit_code::OK),
    }
}

/// The moment that an argument means.
///
/// # Errors
/// When it means none.
pub(super) fn since(context: &Context, text: Option<&str>) -> Result<Option<Timestamp>, CommandError> {
    let Some(text) = text else { return Ok(None) };
    let moment = clock::since(text, context.clock.now());
    moment.map(Some).ok_or_else(|| {
        CommandError::usage(format!("--since {text}: not a time")).hint("7d, 12h, 2w, or 2026-11-30")
    })
}
