//! The files around a job, as far as choices look at them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use selfheal_core::scene::Kind;

use crate::case::{Case, Language, ScriptFile};

/// Folders and files that are looked at.
const MOST_FOLDERS: usize = 30;
const MOST_FILES: usize = 120;
/// How deep below the job's folders.
const DEPTH: usize = 3;
/// Bytes of a file that are read for its words.
const BYTES: usize = 32 << 10;
/// Files whose words are read.
const MOST_READ: usize = 24;
/// Endings of texts that are no programs and may be changed: settings and queries, never data.
const SETTINGS: [&str; 10] = ["conf", "cfg", "cnf", "ini", "env", "toml", "yaml", "yml", "properties", "sql"];

/// The files around a job.
pub(super) struct Near {
    /// All files in the job's own folders, shallow ones first.
    pub(super) files: Vec<PathBuf>,
    /// Those that a choice may change: where it failed, the script, what the script names.
    pub(super) editable: Vec<ScriptFile>,
}

impl Near {
    pub(super) fn of(case: &Case) -> Self {
        let files = walk(case);
        let named_in = |text: &str, path: &Path| {
            path.file_name().is_some_and(|name| text.contains(name.to_string_lossy().as_ref()))
        };
        let mut editable = case.files();
        editable.extend(case.named_file().map(|(file, _)| file));
        let told: String = editable
            .iter()
            .map(|file| file.text.as_str())
            .chain([case.report.core_error.as_str()])
            .collect::<Vec<_>>()
            .join("\n");
        let more = files.iter().filter(|path| may_change(path) && named_in(&told, path));
        let more: Vec<ScriptFile> = more.filter_map(|path| case.file(path)).take(6).collect();
        for file in more {
            if !editable.iter().any(|known| known.path == file.path) {
                editable.push(file);
            }
        }
        editable.dedup_by(|a, b| a.path == b.path);
        Self { files, editable }
    }

    /// The words of the files around, of data and databases too.
    pub(super) fn words(&self, case: &Case) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        for path in self.files.iter().take(MOST_READ) {
            let bytes = case.scene.read(path, BYTES).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let found = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            words.extend(
                found
                    .filter(|word| (3..60).contains(&word.len()))
                    .map(|word| word.trim_matches('-').to_owned()),
            );
        }
        words
    }
}

fn may_change(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    SETTINGS.contains(&ending.as_str()) || Language::of(path, "") != Language::Other
}

fn walk(case: &Case) -> Vec<PathBuf> {
    let mut waiting: std::collections::VecDeque<(PathBuf, usize)> = case
        .home()
        .into_iter()
        .chain([case.base(), case.job.cwd.clone()])
        .map(|folder| (folder, 0))
        .collect();
    let (mut seen, mut files) = (BTreeSet::new(), Vec::new());
    while let Some((folder, depth)) = waiting.pop_front() {
        if seen.len() >= MOST_FOLDERS
            || files.len() >= MOST_FILES
            || !case.owns(&folder)
            || !seen.insert(folder.clone())
        {
            continue;
        }
        for name in case.scene.names(&folder).into_iter().filter(|name| !name.starts_with('.')) {
            let path = folder.join(&name);
            match case.scene.facts(&path).map(|facts| facts.kind) {
                Some(Kind::Directory) if depth < DEPTH && name != "node_modules" => {
                    waiting.push_back((path, depth + 1))
                }
                Some(Kind::File) => files.push(path),
                _ => {}
            }
        }
    }
    files
}
