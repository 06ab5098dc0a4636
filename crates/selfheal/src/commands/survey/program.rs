//! The script or program behind a job, looked up below a root folder, never run.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::judge::{Blocker, library_blockers, shell_blockers};
use crate::cron::{is_interpreter, main_words};

/// Scripts are read up to here: 1 MiB.
const LARGEST: u64 = 1 << 20;
/// Where programs are looked for when the table does not say. Source: crontab(5).
const USUAL_PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin";

/// What a job starts.
#[derive(Clone, Debug, Default)]
pub struct Behind {
    /// The script or program, if it was found.
    pub file: Option<PathBuf>,
    /// What stands against trying it.
    pub blockers: Vec<Blocker>,
}

/// Where a job's words are to be looked up.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a> {
    /// The root of the machine or image.
    pub root: &'a Path,
    /// The folder that the job starts in.
    pub home: &'a str,
    /// Where programs are.
    pub path: Option<&'a str>,
}

impl Lookup<'_> {
    /// Looks behind a command line.
    #[must_use]
    pub fn behind(&self, line: &str) -> Behind {
        let mut blockers = shell_blockers(line);
        let words = main_words(line);
        let file = self.file(&words, line);
        match &file {
            None if words.is_empty() => {}
            // A name that only a run can know.
            None if words.iter().take(2).any(|word| word.contains(['$', '`'])) => {}
            None => blockers.extend(self.missing(&words)),
            Some(file) => blockers.extend(self.content(file)),
        }
        blockers.dedup();
        Behind { file, blockers }
    }

    fn missing(&self, words: &[String]) -> Option<Blocker> {
        let first = words.first()?;
        if is_interpreter(first) {
            let script = words.iter().skip(1).find(|word| !word.starts_with('-'))?;
            let inline =
                words.iter().any(|word| word == "-c" || word == "-e" || word == "-m" || word == "-r");
            return (!inline).then(|| Blocker { kind: "missing", what: script.clone() });
        }
        Some(Blocker { kind: "missing", what: first.clone() })
    }

    /// The script of an interpreter, else the program.
    fn file(&self, words: &[String], line: &str) -> Option<PathBuf> {
        let first = words.first()?;
        let folder = folder_of(line).unwrap_or(self.home);
        if is_interpreter(first) {
            let script = words.iter().skip(1).find(|word| !word.starts_with('-'))?;
            return self.existing(folder, script);
        }
        if first.contains('/') {
            return self.existing(folder, first);
        }
        let path = self.path.unwrap_or(USUAL_PATH);
        path.split(':').find_map(|folder| self.existing(folder, first))
    }

    fn existing(&self, folder: &str, name: &str) -> Option<PathBuf> {
        let name =
            name.strip_prefix("~/").map(|rest| format!("{}/{rest}", self.home)).unwrap_or(name.to_owned());
        let name = name.replace("$HOME", self.home).replace("${HOME}", self.home);
        let path = Path::new(folder).join(name);
        let below = self.root.join(path.strip_prefix("/").unwrap_or(&path));
        below.exists().then_some(below)
    }

    fn content(&self, file: &Path) -> Vec<Blocker> {
        let name = || file.display().to_string();
        if file.is_dir() {
            return Vec::new();
        }
        let mut bytes = Vec::new();
        let read = std::fs::File::open(file).and_then(|opened| opened.take(LARGEST).read_to_end(&mut bytes));
        if read.is_err() {
            return vec![Blocker { kind: "unreadable", what: name() }];
        }
        let Ok(text) = String::from_utf8(bytes) else {
            return vec![Blocker { kind: "binary", what: name() }];
        };
        if text.contains('\0') {
            return vec![Blocker { kind: "binary", what: name() }];
        }
        let first = text.lines().next().unwrap_or_default();
        let shell = first.starts_with("#!") && first.contains("sh")
            || file.extension().is_some_and(|ext| ext == "sh");
        if shell || !first.starts_with("#!") && file.extension().is_none() {
            shell_blockers(&text)
        } else {
            library_blockers(&text)
        }
    }
}

/// The folder of a `cd` at the beginning.
fn folder_of(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("cd ")?.trim_start();
    let end = rest.find([' ', ';', '&']).unwrap_or(rest.len());
    rest.get(..end).map(|folder| folder.trim_matches(['"', '\''])).filter(|folder| folder.starts_with('/'))
}
