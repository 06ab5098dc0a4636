//! What people wrote down around a job: documents beside it, remarks in its settings and data, and what the failure says.

pub(crate) mod renames;

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use selfheal_core::scene::Kind;

use crate::case::Case;
use crate::knowledge::is_release_notes;

/// Folders that are looked at.
const MOST_FOLDERS: usize = 40;
/// Documents, and files with remarks, that are read.
const MOST_DOCUMENTS: usize = 24;
/// Bytes of each document.
const MOST_BYTES: usize = 64 << 10;
/// Bytes of each file with remarks: they stand at its head, or beside what they are about.
const MOST_OF_SETTINGS: usize = 16 << 10;

/// A text that people wrote.
pub(crate) struct Note {
    /// What it is called in a sentence: the name of its file.
    pub(crate) place: String,
    /// What it says.
    pub(crate) text: String,
}

/// The notes of the job's own folders, the failure's message first.
pub(crate) fn notes(case: &Case) -> Vec<Note> {
    let message =
        Note { place: "the message".to_owned(), text: case.report.core_error.chars().take(2_000).collect() };
    let mut out = vec![message];
    let named: String = case.script.map(|script| script.text.clone()).unwrap_or_default();
    for path in texts(case) {
        if out.len() > 2 * MOST_DOCUMENTS {
            break;
        }
        out.extend(note(case, &path, &named));
    }
    out
}

fn note(case: &Case, path: &Path, script: &str) -> Option<Note> {
    let place = path.file_name()?.to_string_lossy().into_owned();
    let read = |most| {
        let bytes = case.scene.read(path, most).filter(|bytes| !bytes.contains(&0))?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = match kind(path) {
        Written::Document => read(MOST_BYTES)?,
        // A text that the job itself reads is its data.
        Written::Text if !script.contains(&place) => read(MOST_OF_SETTINGS).filter(|text| speaks(text))?,
        Written::Settings | Written::Text => remarks(&read(MOST_OF_SETTINGS)?),
        Written::Other => return None,
    };
    (!text.trim().is_empty()).then_some(Note { place, text })
}

/// What a file may be, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// Written for people.
    Document,
    /// Perhaps.
    Text,
    /// Settings, a schema or a table, which may hold remarks.
    Settings,
    /// Anything else.
    Other,
}

fn kind(path: &Path) -> Written {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match ending.as_str() {
        "md" | "rst" | "adoc" | "markdown" => Written::Document,
        "" | "txt" => {
            let told = ["README", "NOTE", "CHANGE", "MIGRAT", "UPGRAD", "RELEASE"];
            let known = is_release_notes(path) || told.iter().any(|word| name.contains(word));
            if known { Written::Document } else { Written::Text }
        }
        "conf" | "cfg" | "cnf" | "ini" | "env" | "toml" | "yaml" | "yml" | "properties" | "sql" | "csv"
        | "tsv" | "rc" | "settings" => Written::Settings,
        _ if name.ends_with("ENV") => Written::Settings,
        _ => Written::Other,
    }
}

/// Whether a text has whole sentences on how something is called or written now.
fn speaks(text: &str) -> bool {
    const SAYS: [&str; 14] = [
        "called",
        "renamed",
        "replaced",
        "formerly",
        "previously",
        "since",
        "from now on",
        "no longer",
        "instead",
        "(was",
        "now ",
        "before",
        "changed",
        "new:",
    ];
    let lower = text.to_lowercase();
    SAYS.iter().any(|word| lower.contains(word))
}

/// The lines of a file of settings or of a script that are remarks, without their marks.
pub(crate) fn remarks(text: &str) -> String {
    let remark = |line: &str| {
        let line = line.trim_start();
        let mark = ["#", ";", "--", "//"].into_iter().find(|mark| line.starts_with(mark))?;
        Some(line.trim_start_matches(mark).trim().to_owned())
    };
    text.lines().filter_map(remark).collect::<Vec<_>>().join("\n")
}

/// The files of the job's own folders that may say something.
fn texts(case: &Case) -> Vec<PathBuf> {
    let mut waiting: VecDeque<(PathBuf, usize)> =
        case.home().into_iter().chain([case.job.cwd.clone()]).map(|folder| (folder, 0)).collect();
    let (mut seen, mut documents, mut others) = (BTreeSet::new(), Vec::new(), Vec::new());
    while let Some((folder, depth)) = waiting.pop_front() {
        if seen.len() >= MOST_FOLDERS || !case.owns(&folder) || !seen.insert(folder.clone()) {
            continue;
        }
        for name in case.scene.names(&folder) {
            let path = folder.join(&name);
            match case.scene.facts(&path).map(|facts| facts.kind) {
                Some(Kind::Directory) if depth < 2 && !name.starts_with('.') && name != "node_modules" => {
                    waiting.push_back((path, depth + 1));
                }
                Some(Kind::File) => match kind(&path) {
                    Written::Document if documents.len() < MOST_DOCUMENTS => documents.push(path),
                    Written::Text | Written::Settings if others.len() < MOST_DOCUMENTS => others.push(path),
                    _ => {}
                },
                _ => {}
            }
        }
    }
    documents.extend(others);
    documents
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    #[test]
    fn documents_remarks_and_the_message_are_notes_but_data_are_not() {
        let scene = TestScene::new()
            .file("README.md", "hello")
            .file("letter.txt", "the list is called stock from now on")
            .file("input.txt", "a is now called b")
            .file("words.txt", "x\ny\n")
            .file("job.conf", "# old_a -> new_a\nnew_a = 1\n");
        let case = TestCase::new("x.sh", "cat input.txt\n", scene);
        let said: Vec<(String, String)> =
            notes(&case.case()).into_iter().map(|note| (note.place, note.text)).collect();
        let of = |name: &str| said.iter().find(|(place, _)| place == name).map(|(_, text)| text.as_str());
        assert_eq!((of("README.md"), of("job.conf")), (Some("hello"), Some("old_a -> new_a")));
        assert!(of("letter.txt").is_some() && of("input.txt").is_none() && of("words.txt").is_none());
        assert!(of("the message").is_some());
    }
}
