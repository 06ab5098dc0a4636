//! Which rules of the guard's policy count: those of the user, of the machine, and those of the folder that can only
//! tighten.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use selfheal_guard::Policy;
use selfheal_guard::policy::Trust;

use crate::context::Context;

/// Where the machine's administrator puts rules.
const MACHINE_FOLDER: &str = "/etc/selfheal/rules";
/// What a project may bring.
const PROJECT_FILE: &str = "selfheal-rules.toml";
/// The longest file that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// All rules that count, and what was wrong with the rest, a sentence each.
#[must_use]
pub fn load(context: &Context) -> (Policy, Vec<String>) {
    let mut policy = Policy::default();
    let mut complaints = Vec::new();
    for (file, trust) in files(context) {
        match add(&mut policy, &file, trust, context.uid) {
            Ok(0) => {}
            Ok(n) => complaints.push(format!(
                "{}: {n} rules that allow do not count: a project cannot say so, a user can",
                file.display()
            )),
            Err(reason) => complaints.push(format!("{reason}; it does not count")),
        }
    }
    (policy, complaints)
}

fn files(context: &Context) -> Vec<(PathBuf, Trust)> {
    let own = context.own_settings_file().parent().map(|folder| folder.join("rules"));
    let mut folders: Vec<PathBuf> = own.into_iter().collect();
    folders.push(PathBuf::from(MACHINE_FOLDER));
    folders.dedup();
    let mut files: Vec<(PathBuf, Trust)> =
        folders.iter().flat_map(|folder| rules_in(folder)).map(|file| (file, Trust::Owner)).collect();
    let project = context.cwd.join(PROJECT_FILE);
    if project.exists() {
        files.push((project, Trust::Project));
    }
    files
}

fn rules_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(1_000);
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

fn add(policy: &mut Policy, file: &Path, trust: Trust, uid: u32) -> Result<usize, String> {
    let facts = std::fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?;
    if !facts.is_file() || facts.len() > LONGEST {
        return Err(format!("{}: it is not a regular file of at most 1 MiB", file.display()));
    }
    if (facts.uid() != 0 && facts.uid() != uid) || facts.mode() & 0o022 != 0 {
        return Err(format!("{}: it can be written by somebody else", file.display()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    policy.add(&text, &file.display().to_string(), trust).map_err(|error| format!("failed to {error}"))
}
