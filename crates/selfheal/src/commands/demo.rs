//! `selfheal demo`: the backup example, laid out in a throw-away folder with a state of its own, and healed there. The
//! machine is as before afterwards.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{Ended, print, tell};
use crate::cli::DemoArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;

const SCRIPT: &str = include_str!("../../../../examples/backup/backup.sh");

/// Lays the example out and runs `selfheal run --apply low -- bash backup.sh` in it.
///
/// # Errors
/// When the folder cannot be made.
pub fn run(context: &Context, args: &DemoArgs) -> Ended {
    let fail = |error: std::io::Error| CommandError::new("failed to lay the example out").because(&error);
    let folder = tempfile::Builder::new().prefix("selfheal-demo-").tempdir().map_err(fail)?;
    let work = folder.path().join("backup");
    lay_out(&work).map_err(fail)?;
    let texts = context.texts();
    if !args.keep {
        print(&format!("{}\n", texts.say("demo-folder", &[("folder", &work.display().to_string())])));
    }
    print(&format!("{}\n\n$ {}\n", texts.say("demo-job", &[]), texts.say("demo-run", &[])));
    let status = Command::new(&context.program)
        .args(["run", "--apply", "low", "--", "bash", "backup.sh"])
        .current_dir(&work)
        .env("SELFHEAL_STATE_DIR", folder.path().join("state"))
        .stdin(Stdio::null())
        .status()
        .map_err(fail)?;
    print(&format!("\n{}\n", texts.say("demo-end", &[])));
    if args.keep {
        tell(&format!("selfheal: {}", folder.keep().display()));
    }
    Ok(status.code().unwrap_or(exit_code::ERROR))
}

fn lay_out(work: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(work.join("logs"))?;
    std::fs::write(work.join("backup.sh"), SCRIPT)
}
