//! Which rules of the guard's policy count: those of the user, of the machine, and those of the folder that can only
//! tighten.

use std::path::{Path, PathBuf};

use selfheal_guard::Policy;
use selfheal_guard::policy::Trust;

use crate::context::Context;
use crate::tables::{self, Table};

/// Where the machine's administrator puts rules.
const MACHINE_FOLDER: &str = "/etc/selfheal/rules";
/// What a project may bring.
const PROJECT_FILE: &str = "selfheal-rules.toml";

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
    let trusted = |table: Table| {
        let trust = if table.of_project { Trust::Project } else { Trust::Owner };
        (table.file, trust)
    };
    tables::find(folders, context.cwd.join(PROJECT_FILE)).into_iter().map(trusted).collect()
}

fn add(policy: &mut Policy, file: &Path, trust: Trust, uid: u32) -> Result<usize, String> {
    let text = tables::read(file, uid)?;
    policy.add(&text, &file.display().to_string(), trust).map_err(|error| format!("failed to {error}"))
}
