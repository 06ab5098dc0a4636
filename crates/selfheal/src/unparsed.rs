//! Failures that no parser understood, kept for the corpus: one file each below the state folder, in the form of the
//! corpus, redacted. The oldest give way; a failure that cannot be kept is no reason for anything.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use selfheal_core::redact::Redactor;
use selfheal_core::run::Run;
use serde::{Deserialize, Serialize};

use crate::command_error::CommandError;

/// The folder below the state.
const FOLDER: &str = "unparsed";
/// How many are kept.
const MOST: usize = 200;
/// Bytes of an output that are kept.
const LONGEST: usize = 64 * 1024;

/// A failure that was not understood, and what a person said that it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Unparsed {
    /// The command line.
    pub command: String,
    /// Its exit code.
    pub exit_code: i32,
    /// The version of the program, where somebody said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it wrote, both streams.
    pub output: String,
    /// What it is.
    #[serde(default)]
    pub expect: Label,
}

/// What a failure is, in the words of the corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Always `failed` for what was kept by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The file of the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The line of output that says most, or a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_error: Option<String>,
}

impl Unparsed {
    /// From a run; secrets are taken out.
    #[must_use]
    pub fn of(redactor: &Redactor, command: &str, run: &Run) -> Self {
        let mut output = run.stderr.text();
        output.push_str(&run.stdout.text());
        let mut end = LONGEST.min(output.len());
        while !output.is_char_boundary(end) {
            end -= 1;
        }
        output.truncate(end);
        Self {
            command: redactor.text(command).as_str().to_owned(),
            exit_code: run.ended.code(),
            version: None,
            output: redactor.text(&output).as_str().to_owned(),
            expect: Label { outcome: Some("failed".into()), ..Label::default() },
        }
    }
}

/// Keeps one; its name.
///
/// # Errors
/// When it cannot be written.
pub fn keep(state: &Path, name: &str, unparsed: &Unparsed) -> Result<(), CommandError> {
    let folder = state.join(FOLDER);
    let failed = |error: &dyn std::error::Error| {
        CommandError::new(format!("failed to keep an output in {}", folder.display())).because(error)
    };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(|error| failed(&error))?;
    let text = toml::to_string(unparsed).map_err(|error| failed(&error))?;
    let path = folder.join(format!("{name}.toml"));
    let half = folder.join(format!(".{name}.new"));
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&half)
        .map_err(|error| failed(&error))?;
    file.write_all(text.as_bytes()).map_err(|error| failed(&error))?;
    std::fs::rename(&half, &path).map_err(|error| failed(&error))?;
    let kept = names(state);
    for old in kept.iter().take(kept.len().saturating_sub(MOST)) {
        let _ = std::fs::remove_file(folder.join(format!("{old}.toml")));
    }
    Ok(())
}

/// The names of all that are kept, the oldest first.
#[must_use]
pub fn names(state: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(state.join(FOLDER)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok()?.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| !name.starts_with('.'))
        .collect();
    // Names begin with the time.
    names.sort();
    names
}

/// The file of one.
#[must_use]
pub fn path(state: &Path, name: &str) -> PathBuf {
    state.join(FOLDER).join(format!("{name}.toml"))
}

/// One of them.
///
/// # Errors
/// When there is none of that name, or it cannot be read.
pub fn read(state: &Path, name: &str) -> Result<Unparsed, CommandError> {
    let file = path(state, name);
    let text = std::fs::read_to_string(&file)
        .map_err(|error| CommandError::new(format!("failed to read {}", file.display())).because(&error))?;
    toml::from_str(&text).map_err(|error| {
        CommandError::new(format!("failed to understand {}", file.display())).because(&error)
    })
}
