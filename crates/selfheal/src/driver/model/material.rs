//! What a model sees of a job: its script, the files near it that bear on the failure, the ends of its output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use selfheal_core::diagnosis::Diagnosis;
use selfheal_core::run::Capture;
use selfheal_core::scene::{Kind, Scene};
use selfheal_repair::prompts::{Document, PastRound, template_names};

use crate::config::ModelSettings;
use crate::driver::{Healer, record};

/// Characters of each stream that are looked at.
const ENDS: usize = 2_000;
/// Files beside the script that are shown.
const MOST_FILES: usize = 4;
/// The largest of them, in bytes; of a larger one with data the beginning is shown.
const LARGEST: usize = 16 * 1024;
/// So much of a file with data is shown: its heading and a few rows.
const ROWS: usize = 900;
const MOST_ROWS: usize = 8;
/// Folders below the script's that are looked into.
const MOST_FOLDERS: usize = 12;

/// What the model sees of the job, owned.
pub(super) struct Material {
    pub(super) command: String,
    pub(super) language: String,
    pub(super) script: Option<Document>,
    pub(super) project: Vec<Document>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) nonce: String,
    pub(super) history: Vec<PastRound>,
    pub(super) templates: BTreeMap<String, String>,
}

impl Healer<'_> {
    pub(super) fn material(&self, settings: &ModelSettings) -> Result<Material, String> {
        let script = self.job.script.clone().zip(self.script_text());
        let script = script.map(|(path, text)| Document { path, text, is_data: false });
        Ok(Material {
            command: record::command_line(&self.job.argv),
            language: script.as_ref().map(language).unwrap_or_default(),
            project: self.project(),
            script,
            stdout: self.end_of(&self.run.stdout),
            stderr: self.end_of(&self.run.stderr),
            nonce: self.nonce.clone(),
            history: self.history(),
            templates: templates(settings)?,
        })
    }

    /// The end of a stream. It is redacted whole: what is cut in half does not look like a secret.
    fn end_of(&self, stream: &Capture) -> String {
        let text = self.tools.redactor.text(&stream.text()).to_string();
        let skipped = text.chars().count().saturating_sub(ENDS);
        text.chars().skip(skipped).collect()
    }

    /// Small text files that the script or the documents near it name, in the script's folder and in folders below it.
    fn project(&self) -> Vec<Document> {
        let Some(script) = self.job.script.as_deref() else { return Vec::new() };
        let Some(folder) = script.parent() else { return Vec::new() };
        let text = self.script_text().unwrap_or_default();
        let named: String = std::iter::once(text.as_str())
            .chain(self.report.iter().map(|report| report.core_error.as_str()))
            .chain(std::iter::once(record::command_line(&self.job.argv).as_str()))
            .collect::<Vec<_>>()
            .join("\n");
        // What documents name is looked at, too: the file that takes the place of another.
        let documents = self
            .files_near(folder, &named, script)
            .into_iter()
            .filter(|path| is_documentation(&name_of(path)));
        let read = documents
            .take(MOST_FILES)
            .filter_map(|path| String::from_utf8(self.scene.read(&path, LARGEST)?).ok());
        let named = read.fold(named, |all, text| all + "\n" + &text);
        // What the documents themselves say, the knowledge tells.
        let files = self.files_near(folder, &named, script).into_iter();
        let files = files.filter(|path| !is_documentation(&name_of(path)));
        files.filter_map(|path| self.document(path)).take(MOST_FILES).collect()
    }

    fn files_near(&self, folder: &Path, named: &str, script: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![folder.to_owned()];
        let mut looked = 0;
        while let Some(folder) = folders.pop() {
            looked += 1;
            for name in self.scene.names(&folder) {
                let path = folder.join(&name);
                let is_named = named.contains(name.as_str());
                match self.scene.facts(&path).map(|facts| facts.kind) {
                    Some(Kind::Directory) if is_named && looked + folders.len() < MOST_FOLDERS => {
                        folders.push(path)
                    }
                    Some(Kind::File)
                        if path != script
                            && (is_named || is_documentation(&name) || stem_is_named(&name, named)) =>
                    {
                        files.push(path);
                    }
                    _ => {}
                }
            }
        }
        files
    }

    fn document(&self, path: PathBuf) -> Option<Document> {
        let text = String::from_utf8(self.scene.read(&path, LARGEST)?).ok()?;
        if text.contains('\0') {
            return None;
        }
        let is_data = !is_program_or_settings(&name_of(&path));
        let text = if is_data { first_rows(&text) } else { text };
        Some(Document { path, text, is_data })
    }

    /// The rounds before this one.
    fn history(&self) -> Vec<PastRound> {
        self.incident
            .rounds
            .iter()
            .filter_map(|round| {
                let diagnosis: Diagnosis = serde_json::from_str(round.diagnosis.as_ref()?.as_str()).ok()?;
                let diff = round.diff.as_ref().map(|diff| diff.as_str().to_owned()).unwrap_or_default();
                Some(PastRound { diagnosis, diff, failed_because: crate::driver::tried::why_failed(round) })
            })
            .collect()
    }
}

/// The user's templates; one that cannot be read is an error, because the built-in one is not what was wanted.
pub(super) fn templates(settings: &ModelSettings) -> Result<BTreeMap<String, String>, String> {
    let Some(folder) = &settings.prompts else { return Ok(BTreeMap::new()) };
    let mut out = BTreeMap::new();
    for name in template_names() {
        let path = folder.join(format!("{name}.jinja"));
        match std::fs::read_to_string(&path) {
            Ok(text) => drop(out.insert(name, text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    Ok(out)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether the script names a file of the same kind: `auth.log` of which there is `auth-2024-05.log` now.
fn stem_is_named(name: &str, named: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let head: String = stem.chars().take_while(char::is_ascii_alphabetic).collect();
    head.len() >= 4 && named.contains(&format!("{head}.{ending}"))
}

fn is_documentation(name: &str) -> bool {
    let upper = name.to_uppercase();
    ["README", "CHANGES", "CHANGELOG", "RELEASE", "NOTES", "NEWS", "UPGRADING"]
        .iter()
        .any(|word| upper.starts_with(word))
}

fn is_program_or_settings(name: &str) -> bool {
    let endings = [
        ".sh", ".py", ".pl", ".js", ".rb", ".awk", ".conf", ".cfg", ".ini", ".toml", ".env", ".mk", ".md",
        ".sql",
    ];
    endings.iter().any(|ending| name.ends_with(ending)) || is_documentation(name) || name == "Makefile"
}

/// The beginning of a file with data.
fn first_rows(text: &str) -> String {
    let rows = text.split_inclusive('\n').take(MOST_ROWS);
    rows.flat_map(str::chars).take(ROWS).collect()
}

fn language(script: &Document) -> String {
    let first = script.text.lines().next().unwrap_or_default();
    format!("{:?}", selfheal_syntax::language::Language::of(&script.path, first, None)).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_files_by_their_names() {
        assert!(
            is_documentation("RELEASE-NOTES.md") && is_documentation("Changes") && !is_documentation("data")
        );
        assert!(is_program_or_settings("a.sh") && !is_program_or_settings("stock.db"));
        assert!(stem_is_named("auth-2024-05.log", "LOG=logs/auth.log") && !stem_is_named("a-1.log", "a.log"));
        assert_eq!(first_rows(&"row\n".repeat(50)).lines().count(), MOST_ROWS);
    }
}
