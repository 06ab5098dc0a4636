//! Whether what profiles say holds for the commands of this machine: their examples, really run, in a box, in a scratch
//! folder.
//!
//! What was found lies in `examples.json` in the state folder, by the file of the command and by what was tried, so that
//! a new version of a command, or a changed profile, is not verified until its examples ran again. It is a cache: losing
//! it costs another try.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use selfheal_core::ports::{BoxOrder, Boxes};
use selfheal_feedback::profiles::{Profiles, Trial};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::profiles::program;
use crate::terminal::clean;

/// The longest run of one example, in milliseconds.
const LIMIT_MS: u64 = 10_000;
/// Bytes kept of each end of each stream.
const KEEP: usize = 8 * 1024;
/// Commands that are remembered.
const MOST: usize = 500;

/// How the profiles of a command stand on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The command is not on this machine.
    NotHere,
    /// None of its examples can be run.
    NothingToTry,
    /// They could not be run; why.
    NotTried(String),
    /// They ran.
    Tried(Found),
}

/// What the examples of a command showed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// What the command said of its version; empty where it says nothing.
    pub version: String,
    /// How many did what the profile says.
    pub held: usize,
    /// What the others did, a sentence each.
    pub broken: Vec<String>,
    /// The examples that were tried.
    trials: Vec<String>,
}

impl Standing {
    /// In a few words.
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Self::NotHere => "not on this machine".to_owned(),
            Self::NothingToTry => {
                "unverified: none of its examples can be run in a scratch folder".to_owned()
            }
            Self::NotTried(why) => format!("unverified: {why}"),
            Self::Tried(Found { version, held, broken, .. }) => {
                let version = if version.is_empty() { "the version here" } else { version };
                match broken.as_slice() {
                    [] => format!("verified with {} ({held} of {held} examples)", clean(version)),
                    _ => format!(
                        "unverified with {} ({} of {} examples differ): {}",
                        clean(version),
                        broken.len(),
                        held + broken.len(),
                        clean(&broken.join("; "))
                    ),
                }
            }
        }
    }
}

/// Tries the examples of a command unless that was done for this file of it.
pub fn standing(context: &Context, profiles: &Profiles, boxes: &dyn Boxes, command: &str) -> Standing {
    let (here, version) = crate::profiles::with_scene(context, |scene| {
        (program(command, scene), crate::profiles::version_of(&context.state, command, scene))
    });
    let Some(key) = here.as_ref().and_then(crate::versions::key) else { return Standing::NotHere };
    let trials: Vec<Trial<'_>> = profiles.trials(command, version.as_deref()).collect();
    if trials.is_empty() {
        return Standing::NothingToTry;
    }
    let titles: Vec<String> = trials.iter().map(Trial::title).collect();
    if let Some(found) = load(&context.state).remove(&key).filter(|found| found.trials == titles) {
        return Standing::Tried(found);
    }
    if !boxes.rung().can_try() {
        return Standing::NotTried("no box can be built on this machine".to_owned());
    }
    let mut found =
        Found { version: version.clone().unwrap_or_default(), trials: titles, ..Found::default() };
    for trial in &trials {
        match run(context, profiles, boxes, trial) {
            Ok(None) => found.held += 1,
            Ok(Some(what)) => found.broken.push(what),
            Err(why) => return Standing::NotTried(why),
        }
    }
    remember(&context.state, key, &found);
    Standing::Tried(found)
}

fn run(
    context: &Context,
    profiles: &Profiles,
    boxes: &dyn Boxes,
    trial: &Trial<'_>,
) -> Result<Option<String>, String> {
    let broken = |error: &dyn std::error::Error| format!("its examples could not be run: {error}");
    let folder = tempfile::tempdir().map_err(|error| broken(&error))?;
    for (name, content) in trial.files {
        let plain = !name.contains('/') && !name.starts_with('.');
        if plain {
            std::fs::write(folder.path().join(name), content).map_err(|error| broken(&error))?;
        }
    }
    let mut env: BTreeMap<OsString, OsString> = BTreeMap::new();
    env.insert("PATH".into(), context.var("PATH").unwrap_or_default().into());
    env.insert("HOME".into(), folder.path().into());
    env.insert("LC_ALL".into(), "C".into());
    let order = BoxOrder {
        argv: trial.argv(),
        cwd: folder.path().to_path_buf(),
        env,
        deadline_ms: LIMIT_MS,
        hidden: vec![context.state.clone()],
        keep: KEEP,
        ..BoxOrder::default()
    };
    let boxed = boxes.run(&order).map_err(|error| broken(&error))?;
    match boxed.inconclusive {
        Some(why) => Err(format!("`{}` could not be judged in a box: {why}", trial.title())),
        None => Ok(profiles.contradicted(trial, &boxed.run)),
    }
}

/// Tries again what was verified with another version than the one that is here now; a sentence for each that no longer
/// holds. What did not change costs a look at its file.
pub fn look_again(context: &Context, boxes: &dyn Boxes) -> Vec<String> {
    let known = load(&context.state);
    let gone: Vec<&String> = known.keys().filter(|key| !is_there(key)).collect();
    if gone.is_empty() {
        return Vec::new();
    }
    let (profiles, _) = crate::profiles::load(context);
    let mut said = Vec::new();
    for key in &gone {
        let command = path_in(key).and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let Some(command) = command else { continue };
        if let Standing::Tried(found) = standing(context, &profiles, boxes, &command)
            && !found.broken.is_empty()
        {
            said.push(format!("the profile of {command} is {}", Standing::Tried(found).line()));
        }
    }
    let gone: Vec<String> = gone.into_iter().cloned().collect();
    forget(&context.state, &gone);
    said
}

/// `PATH INODE TIME`: whether this very file is still there.
fn is_there(key: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    let facts = path_in(key).and_then(|path| std::fs::metadata(path).ok());
    facts.is_some_and(|facts| key.ends_with(&format!(" {} {}", facts.ino(), facts.mtime())))
}

fn path_in(key: &str) -> Option<PathBuf> {
    let mut words = key.rsplitn(3, ' ');
    words.nth(2).map(PathBuf::from)
}

fn file(state: &Path) -> PathBuf {
    state.join("examples.json")
}

fn load(state: &Path) -> BTreeMap<String, Found> {
    let text = std::fs::read_to_string(file(state)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn remember(state: &Path, key: String, found: &Found) {
    let mut all = load(state);
    if all.len() >= MOST {
        all.clear();
    }
    all.insert(key, found.clone());
    write(state, &all);
}

fn forget(state: &Path, keys: &[String]) {
    let mut all = load(state);
    all.retain(|key, _| !keys.contains(key));
    write(state, &all);
}

fn write(state: &Path, all: &BTreeMap<String, Found>) {
    let written = tempfile::NamedTempFile::new_in(state).and_then(|mut new| {
        std::io::Write::write_all(&mut new, serde_json::to_string(all)?.as_bytes())?;
        new.persist(file(state)).map_err(|error| error.error)
    });
    if let Err(error) = written {
        tracing::warn!(%error, "what examples showed could not be remembered");
    }
}
