//! Which job a command line is.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use selfheal_core::ids::JobKey;
use selfheal_core::job::{Job, Repeatable};
use selfheal_exec::resolve_script;

use crate::cli::RunArgs;
use crate::context::Context;

pub(super) fn job_of(context: &Context, args: &RunArgs) -> Job {
    let script = resolve_script(
        &args.command,
        &context.cwd,
        context.env.get(OsStr::new("PATH")).map(OsString::as_os_str),
    );
    let key = match &args.job {
        Some(name) => JobKey::new(name.clone()),
        None => default_key(context, args, script.as_deref()),
    };
    let repeatable = match (args.repeatable, args.once) {
        (true, _) => Repeatable::Declared,
        (_, true) => Repeatable::Forbidden,
        // A run that failed changed nothing.
        _ if args.transaction.is_some() => Repeatable::Declared,
        _ => Repeatable::Unstated,
    };
    Job { key, argv: args.command.clone(), cwd: context.cwd.clone(), script, repeatable }
}

/// User, script and folder; for a command without a script its name. Never the arguments: they may hold dates.
fn default_key(context: &Context, args: &RunArgs, script: Option<&Path>) -> JobKey {
    let program = args.command.first().map(PathBuf::from).unwrap_or_default();
    unnamed_key(context, script.unwrap_or(&program))
}

/// The identity of a job without a name, by its script or program.
pub(crate) fn unnamed_key(context: &Context, what: &Path) -> JobKey {
    let bytes = what.as_os_str().as_bytes();
    JobKey::new(format!("{}:{}@{}", context.uid, String::from_utf8_lossy(bytes), context.cwd.display()))
}
