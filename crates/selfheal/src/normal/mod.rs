//! What is normal for a job: what its good runs read and left. Kept after good runs of scripts, at most once an hour once
//! there are three, and used to try repairs on earlier inputs, to notice a run that left much less than the ones before,
//! and to propose contracts.

mod inputs;
mod learn;
mod produced;
mod unusual;

pub use inputs::named;
pub use learn::learn;
pub use unusual::{emptied_folder, unusual};

use std::path::Path;
use std::time::{Duration, SystemTime};

use selfheal_core::ids::JobKey;
use selfheal_core::job::Job;
use selfheal_core::ports::PortError;
use selfheal_core::run::Run;
use selfheal_core::verification::SceneEdit;
use selfheal_store::{GoodRun, Store};

/// No more than one run in this time is kept once there are enough, in milliseconds.
const HOUR_MS: i64 = 3_600_000;
/// So many are kept at once.
const FEWEST: usize = 3;

/// What a run left, for the comparison with earlier ones. Looking costs in proportion to how long the run took.
#[must_use]
pub fn left_by(job: &Job, run: &Run) -> Vec<selfheal_store::Produced> {
    produced::find(&job.cwd, began(run), run.duration_ms)
}

/// Keeps a good run, where it is one of a script and no other was kept just now.
///
/// # Errors
/// When it cannot be written.
pub fn keep(store: &Store, job: &Job, run: &Run, left: &[selfheal_store::Produced]) -> Result<(), PortError> {
    let Some(script) = job.script.as_deref() else { return Ok(()) };
    let (newest, count) = store.newest_good(&job.key);
    if count >= FEWEST && newest.is_some_and(|newest| run.started.0 - newest.0 < HOUR_MS) {
        return Ok(());
    }
    let found = inputs::find(job, script, began(run));
    let (inputs, contents): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let good =
        GoodRun { started: run.started, duration_ms: run.duration_ms, inputs, produced: left.to_vec() };
    store.keep_good(&job.key, &good, &contents)
}

/// What turns the files of a job back into those of its last good run: the inputs that were others then, and those that came
/// since beside them. `None` where nothing is known or nothing is different.
#[must_use]
pub fn good_state(store: &Store, job: &JobKey) -> Option<Vec<SceneEdit>> {
    let newest = store.good_runs(job).into_iter().next()?;
    let mut setup = Vec::new();
    for input in &newest.inputs {
        let content = store.good_content(job, &input.content).ok()?;
        if std::fs::read(&input.path).ok().as_ref() != Some(&content) {
            setup.push(SceneEdit::Write { path: input.path.clone(), content, mode: Some(input.mode) });
        }
    }
    setup.extend(inputs::newer_beside(&newest).into_iter().map(|path| SceneEdit::Remove { path }));
    (!setup.is_empty()).then_some(setup)
}

/// Whether a job's runs are looked at: it is a script, in a folder that answers at once.
#[must_use]
pub fn is_watched(job: &Job) -> bool {
    job.script.is_some() && !selfheal_store::on_network(&job.cwd)
}

fn began(run: &Run) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(run.started.0).unwrap_or(0))
}

/// Names of files that hold secrets: their content is not kept.
pub(crate) fn is_secret(path: &Path) -> bool {
    const WORDS: [&str; 10] = [
        "secret",
        "password",
        "passwd",
        "credential",
        "token",
        "private",
        "id_rsa",
        "id_ed25519",
        ".netrc",
        ".pgpass",
    ];
    const ENDINGS: [&str; 6] = ["pem", "key", "p12", "pfx", "kdbx", "jks"];
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    name.starts_with(".env")
        || WORDS.iter().any(|word| name.contains(word))
        || ENDINGS.contains(&ending.as_str())
}
