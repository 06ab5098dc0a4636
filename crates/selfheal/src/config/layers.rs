//! Where settings come from, and which files are trusted.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Options;

/// Who wrote a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The machine's administrator.
    Machine,
    /// The user.
    User,
    /// The folder that the job runs in: may only tighten, since whoever brings the folder would speak for the user.
    Project,
}

/// One settings file.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Who wrote it.
    pub origin: Origin,
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub options: Options,
}

/// Reads the layers. What is wrong with a file comes back as a sentence and the file is left out.
#[must_use]
pub fn read_layers(files: &[(Origin, PathBuf)], uid: u32) -> (Vec<Layer>, Vec<String>) {
    let mut layers = Vec::new();
    let mut warnings = Vec::new();
    for (origin, path) in files {
        match read_layer(*origin, path, uid) {
            Ok(None) => {}
            Ok(Some((layer, unknown))) => {
                warnings
                    .extend(unknown.iter().map(|key| format!("{}: unknown setting {key}", path.display())));
                layers.push(layer);
            }
            Err(reason) => warnings.push(format!("{}: {reason}", path.display())),
        }
    }
    (layers, warnings)
}

fn read_layer(origin: Origin, path: &Path, uid: u32) -> Result<Option<(Layer, Vec<String>)>, String> {
    let facts = match std::fs::metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !facts.is_file() {
        return Err("it is not a regular file and is left out".to_owned());
    }
    if (facts.uid() != 0 && facts.uid() != uid) || facts.mode() & 0o022 != 0 {
        return Err("it can be written by somebody else and is left out".to_owned());
    }
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut unknown = Vec::new();
    let mut options = Options::parse(&text, &mut unknown).map_err(|error| first_lines(&error))?;
    vet_contracts(&mut options, origin)?;
    Ok(Some((Layer { origin, path: path.to_owned(), options }, unknown)))
}

/// Contracts must make sense, and a project's file names no command to run.
fn vet_contracts(options: &mut Options, origin: Origin) -> Result<(), String> {
    for job in options.job.iter_mut().chain(options.jobs.values_mut()) {
        let Some(expect) = &mut job.expect else { continue };
        if origin == Origin::Project && expect.command.is_some() {
            return Err("job.expect.command counts only in the user's or the machine's settings".to_owned());
        }
        expect.contract().map_err(|reason| format!("job.expect: {reason}"))?;
    }
    Ok(())
}

/// A TOML error on one line: where, and what.
fn first_lines(error: &str) -> String {
    let mut lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    let place = lines.next().unwrap_or_default().to_owned();
    let reason = lines.next_back().unwrap_or_default();
    if reason.is_empty() { place } else { format!("{place}: {reason}") }
}
