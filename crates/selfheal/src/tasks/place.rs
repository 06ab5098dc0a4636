//! Where a task runs: a folder for each run alone, and a clean environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use selfheal_core::task::{Step, TaskContext};

use super::keep;
use crate::context::Context;

/// Where programs are looked for when the caller does not say.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Variables of the caller that every step gets: who it is, where its programs are, its language and time zone.
const KEPT: [&str; 11] = [
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_MESSAGES",
    "TZ",
    "SHELL",
    "XDG_CONFIG_HOME",
    "SSL_CERT_FILE",
];
/// A file that marks a folder as one of ours, with the run's identity.
const MARK: &str = ".selfheal-task";

/// The folder of a run, beside other temporary files: what a box hides is not there.
#[must_use]
pub fn temp(context: &Context, run: &str) -> PathBuf {
    let base = context.var("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    base.join(format!("selfheal-task-{run}"))
}

/// Makes the folder of a run, if it is not there.
///
/// # Errors
/// When it cannot be made, or is somebody else's.
pub fn make_temp(path: &Path, run: &str) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    keep::private_folder(path)?;
    let facts = std::fs::symlink_metadata(path)?;
    let own = std::fs::metadata("/proc/self")?.uid();
    if !facts.is_dir() || facts.uid() != own || facts.mode() & 0o077 != 0 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is somebody else's"));
    }
    std::fs::write(path.join(MARK), run)
}

/// What a run sees as `/tmp` and `/var/tmp` where it has its own: folders in its own folder, in which everybody may make files
/// and nobody outside may look.
///
/// # Errors
/// When they cannot be made.
pub fn own_temp(temp: &Path) -> io::Result<[(PathBuf, PathBuf); 2]> {
    use std::os::unix::fs::PermissionsExt;
    let all = [("tmp", "/tmp"), ("var-tmp", "/var/tmp")].map(|(name, at)| (temp.join(name), at.into()));
    for (folder, _) in &all {
        keep::private_folder(folder)?;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o1777))?;
    }
    Ok(all)
}

/// Removes the folder of a run, if it is ours; whether there was one.
///
/// # Errors
/// When it cannot be removed.
pub fn remove_temp(path: &Path, run: &str) -> io::Result<bool> {
    match std::fs::read(path.join(MARK)) {
        Ok(mark) if mark == run.as_bytes() => std::fs::remove_dir_all(path).map(|()| true),
        _ => Ok(false),
    }
}

/// The environment of a step's process, with the names that are selfheal's alone. The step itself gets it without those and
/// without what begins with `SELFHEAL_`.
#[must_use]
pub fn environment(
    context: &Context,
    step: &Step,
    (pass, temp): (&[String], &Path),
    whole: &TaskContext,
) -> (BTreeMap<OsString, OsString>, Vec<String>) {
    let caller = |name: &str| context.env.get(OsStr::new(name)).cloned();
    let mut env: BTreeMap<OsString, OsString> = BTreeMap::from([("PATH".into(), PATH.into())]);
    let named = KEPT.iter().copied().chain(pass.iter().map(String::as_str));
    env.extend(named.filter_map(|name| Some((OsString::from(name), caller(name)?))));
    env.insert("TMPDIR".into(), temp.into());
    env.extend(step.env.iter().map(|(name, value)| (name.into(), value.into())));
    env.extend(of_task(whole, temp));
    let own = context.env.iter().filter(|(name, _)| name.to_string_lossy().starts_with("SELFHEAL_"));
    env.extend(own.map(|(name, value)| (name.clone(), value.clone())));
    env.insert("SELFHEAL_STATE_DIR".into(), context.state.clone().into());
    let key = context.settings.model.as_ref().and_then(|model| model.key_env.clone());
    let hidden: Vec<String> = key.into_iter().filter(|name| !env.contains_key(OsStr::new(name))).collect();
    env.extend(hidden.iter().filter_map(|name| Some((OsString::from(name), caller(name)?))));
    (env, hidden)
}

/// What a step is told of its task.
fn of_task(whole: &TaskContext, temp: &Path) -> Vec<(OsString, OsString)> {
    let deadline = whole.deadline.map(|end| (end.0 / 1_000).to_string()).unwrap_or_default();
    let roots: Vec<String> = whole.roots.iter().map(|root| root.display().to_string()).collect();
    [
        ("TASK_ID", whole.task.clone()),
        ("TASK_RUN", whole.run.clone()),
        ("TASK_STEP", whole.step.clone()),
        ("TASK_STATE", whole.state.display().to_string()),
        ("TASK_ROOTS", roots.join(":")),
        ("TASK_TEMP", temp.display().to_string()),
        ("TASK_DEADLINE", deadline),
        ("TASK_RETRIES", whole.retries.to_string()),
    ]
    .into_iter()
    .map(|(name, value)| (name.into(), value.into()))
    .collect()
}
