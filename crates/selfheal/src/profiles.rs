//! Which profiles count: the user's, the machine's, what a project may add, then the shipped ones.
//!
//! Nothing is read before the first run that did not end with 0. A table that is broken, or that somebody else can write,
//! is left out and told in one line.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use selfheal_core::run::Program;
use selfheal_core::scene::Scene;
use selfheal_exec::{BoxConfig, BoxRunner, LiveScene};
use selfheal_feedback::profiles::{Profiles, Trust, VersionSource};

use crate::context::Context;
use crate::tables::{self, Table};
use crate::versions;

/// The machine's tables.
const MACHINE_FOLDER: &str = "/etc/selfheal/profiles";
/// What a project may bring.
pub const PROJECT_FILE: &str = "selfheal-profiles.toml";

/// All profiles that count, and what was wrong with the rest, a sentence each.
#[must_use]
pub fn load(context: &Context) -> (Profiles, Vec<String>) {
    let mut profiles = Profiles::builtin();
    let mut complaints = Vec::new();
    for (file, trust) in files(context) {
        match add(&mut profiles, &file, trust, context.uid) {
            Ok(0) => {}
            Ok(n) => complaints.push(format!(
                "{}: {n} codes that it calls harmless do not count: a project cannot say so, a user can",
                file.display()
            )),
            Err(reason) => complaints.push(format!("{reason}; it does not count")),
        }
    }
    (profiles.with_versions(version_source(context)), complaints)
}

/// Where the user's own tables are.
#[must_use]
pub fn own_folder(context: &Context) -> PathBuf {
    let file = context.own_settings_file();
    file.parent().map_or_else(|| PathBuf::from(MACHINE_FOLDER), |folder| folder.join("profiles"))
}

/// Every table, the strongest first.
#[must_use]
pub fn files(context: &Context) -> Vec<(PathBuf, Trust)> {
    let folders = vec![own_folder(context), PathBuf::from(MACHINE_FOLDER)];
    let trusted = |table: Table| {
        let trust = if table.of_project { Trust::Project } else { Trust::Owner };
        (table.file, trust)
    };
    tables::find(folders, context.cwd.join(PROJECT_FILE)).into_iter().map(trusted).collect()
}

fn add(profiles: &mut Profiles, file: &Path, trust: Trust, uid: u32) -> Result<usize, String> {
    let text = tables::read(file, uid)?;
    profiles.add(&text, &file.display().to_string(), trust).map_err(|error| format!("failed to {error}"))
}

/// Asks commands for their version, in a box, once per file.
fn version_source(context: &Context) -> VersionSource {
    let (state, cwd, env) = (context.state.clone(), context.cwd.clone(), context.env.clone());
    // A command that says its version writes nothing.
    let config = BoxConfig { lean: true, ..crate::boxes::config(context) };
    VersionSource::new(move |command| {
        let boxes = BoxRunner::new(config.clone());
        let scene = LiveScene::new(cwd.clone(), env.clone(), Some(&boxes));
        version_of(&state, command, &scene)
    })
}

/// What a command says of its version.
#[must_use]
pub fn version_of(state: &Path, command: &str, scene: &dyn Scene) -> Option<String> {
    let program = program(command, scene)?;
    versions::known(state, &program).or_else(|| versions::ask(state, &program, &["--version"], scene))
}

/// The file of a command.
pub fn program(command: &str, scene: &dyn Scene) -> Option<Program> {
    let path = std::fs::canonicalize(scene.which(command).first()?).ok()?;
    let facts = std::fs::metadata(&path).ok()?;
    Some(Program {
        name: command.to_owned(),
        inode: facts.ino(),
        modified_s: facts.mtime(),
        path: Some(path),
        version: None,
    })
}

/// A look at the machine that may ask commands in a box.
pub fn with_scene<T>(context: &Context, act: impl FnOnce(&dyn Scene) -> T) -> T {
    let boxes = crate::boxes::runner(context);
    let env: BTreeMap<_, _> = context.env.clone();
    act(&LiveScene::new(context.cwd.clone(), env, Some(&boxes)))
}
