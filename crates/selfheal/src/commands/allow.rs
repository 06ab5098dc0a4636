//! `selfheal allow`: what is applied unattended for one job.

use selfheal_core::ids::JobKey;
use selfheal_store::Level;
use serde_json::json;

use super::{Ended, print};
use crate::cli::{AllowArgs, ApplyUpTo};
use crate::context::Context;
use crate::exit_code;

/// Sets it.
///
/// # Errors
/// When the store cannot be written.
pub fn run(context: &Context, args: &AllowArgs) -> Ended {
    let store = context.store()?;
    // A script is known by its whole path, as in the job's identity.
    let path = context.cwd.join(&args.job);
    let job = if path.is_file() {
        std::fs::canonicalize(&path).unwrap_or(path).display().to_string()
    } else {
        args.job.clone()
    };
    let level = match args.up_to {
        ApplyUpTo::None => Level::None,
        ApplyUpTo::Low => Level::Low,
        ApplyUpTo::Medium => Level::Medium,
    };
    let risk = level.limit();
    store.allow(&JobKey::new(job.clone()), level)?;
    let body = context.redactor().json(&json!({ "job": job, "up_to": risk, "by": context.uid })).map_err(
        |error| crate::command_error::CommandError::new("failed to write a ledger record").because(&error),
    )?;
    use selfheal_core::ports::{Clock, Entry, Ledger};
    store.append(&[Entry { at: context.clock.now(), kind: "allowed".to_owned(), incident: None, body }])?;
    let texts = context.texts();
    let text = match risk {
        Some(risk) => {
            let word = texts.say(&format!("risk-{}", risk.word()), &[]);
            texts.say("allowed", &[("job", &job), ("risk", &word)])
        }
        None => texts.say("allowed-none", &[("job", &job)]),
    };
    print(&format!("{text}\n"));
    Ok(exit_code::OK)
}
