//! What a redactor learns from a job before anything of it is recorded: the secrets that stand in its command line, its
//! script and the settings beside it, so that they are found wherever else they turn up.

use std::path::Path;

use selfheal_core::job::Job;
use selfheal_core::redact::Redactor;
use selfheal_core::trace::Trace;

/// Endings and names of files that hold settings.
const SETTINGS: [&str; 14] = [
    ".env",
    ".conf",
    ".cfg",
    ".ini",
    ".toml",
    ".yaml",
    ".yml",
    ".json",
    ".properties",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".cnf",
    ".secrets",
];

/// So many files are looked at, and so many bytes of each.
const MOST: usize = 16;
const MOST_BYTES: usize = 64 * 1024;

/// So many names of a folder are looked through.
const MOST_NAMES: usize = 1_000;

/// Takes note of the secrets of a job.
pub fn learn(redactor: &Redactor, job: &Job) {
    redactor.learn(&crate::driver_command_line(&job.argv));
    if let Some(text) = crate::driver::text_of(job.script.as_deref()) {
        redactor.learn(&text);
    }
    let beside = job.script.as_deref().and_then(Path::parent);
    let folders = beside.into_iter().chain(Some(job.cwd.as_path()).filter(|cwd| Some(*cwd) != beside));
    for file in folders.flat_map(settings_in).take(MOST) {
        let bytes = selfheal_exec::read_regular(&file, MOST_BYTES).unwrap_or_default();
        redactor.learn(&String::from_utf8_lossy(&bytes));
    }
}

/// Takes note of the values that a probe saw under telling names.
pub fn learn_values(redactor: &Redactor, trace: &Trace) {
    for (name, value) in trace.frames.iter().flat_map(|frame| &frame.values) {
        let bare = value.trim_matches(['"', '\'']);
        redactor.learn(&format!("{name}='{bare}'"));
    }
}

fn settings_in(folder: &Path) -> Vec<std::path::PathBuf> {
    let names = std::fs::read_dir(folder).into_iter().flatten().take(MOST_NAMES).flatten();
    let mut files: Vec<_> = names
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            SETTINGS.iter().any(|ending| name.ends_with(ending)) || name.starts_with(".env")
        })
        .collect();
    files.sort();
    files
}
