//! `selfheal audit verify`: checks the tamper-evident record.

use selfheal_core::ports::Ledger;

use super::{Ended, print};
use crate::cli::{AuditArgs, AuditCommand};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;

/// Checks the whole chain against its anchor.
///
/// # Errors
/// When the record was tampered with or cannot be read.
pub fn run(context: &Context, args: &AuditArgs) -> Ended {
    let AuditCommand::Verify = args.command;
    let store = context.store()?;
    let check = store.verify()?;
    if let Some((record, how)) = check.broken {
        let error = CommandError::new(format!("record {record} of {} is wrong: {how}", check.records));
        return Err(CommandError { code: exit_code::TAMPERED, ..error }
            .hint("what stands before it is whole; compare with a copy kept elsewhere"));
    }
    print(&format!("{}\n", context.texts().say("audit-good", &[("n", &check.records.to_string())])));
    for note in &check.notes {
        print(&format!("{note}\n"));
    }
    Ok(exit_code::OK)
}
