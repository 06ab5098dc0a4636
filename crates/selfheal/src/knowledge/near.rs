//! What lies beside a job: read when it is needed, little of it, and in a bounded time.
//!
//! First what says what changed, then README files, manuals, programs of the same kind, settings, and the beginnings of
//! data files. Of the two folders above only what says what changed and README files: they may be about the whole project.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selfheal_core::knowledge::{Kind, Piece};
use selfheal_core::redact::Redacted;
use selfheal_repair::knowledge::pieces;

use super::Place;
use super::read::{Sort, read, sort_of};
use super::walk::{Limits, Root, Seen, Walked};

/// The time after which only what tells most is still read: the first so many files.
const FIRST_FILES: usize = 24;
const TIME: Duration = Duration::from_millis(150);
/// Names that are looked at below a folder, and how deep.
const NAMES: usize = 2_000;
const DEPTH: usize = 3;
/// Names that are looked at in a folder above.
const NAMES_ABOVE: usize = 500;
/// Files that are read, and bytes of them in all.
const MOST_FILES: usize = 48;
const MOST_BYTES: usize = 1 << 20;
/// Files of one sort that are read.
const MOST_OF_A_SORT: usize = 16;
/// Folders above the job's own.
const ABOVE: usize = 2;
/// Lines and characters of the folder tree.
const TREE_LINES: usize = 40;
const TREE_CHARS: usize = 600;

/// What was found beside a job.
#[derive(Default)]
pub struct Near {
    /// The pieces of its documents.
    pub pieces: Vec<Piece>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// The names in its folder.
    pub tree: Option<Piece>,
}

/// Looks beside a job.
#[must_use]
pub fn near(place: &Place<'_>) -> Near {
    let until = Instant::now() + TIME;
    let mut out = Near::default();
    let mut room = MOST_BYTES;
    for (at, folder) in folders(place).into_iter().enumerate() {
        let Ok(root) = Root::open(&folder.path) else { continue };
        let (names, depth) = if folder.is_own { (NAMES, DEPTH) } else { (NAMES_ABOVE, 0) };
        let walked = root.walk(Limits { names, depth, until: None });
        if at == 0 {
            out.tree = tree(&folder.path, &walked, place);
        }
        for seen in chosen(&root, &walked, &folder, place) {
            let path = root.full(&seen.path);
            let late = out.files.len() >= FIRST_FILES && Instant::now() >= until;
            if late || room == 0 || out.files.len() >= MOST_FILES || out.files.contains(&path) {
                continue;
            }
            let Ok(found) = read(&root, &seen, place.redactor) else { continue };
            let sort = match sort_of(&path) {
                Sort::Manual if is_worked_on(&seen.path, &found.text, place.text) => Sort::Data,
                sort => sort,
            };
            if sort == Sort::Data && !is_of_the_job(&seen.path, place.text) {
                continue;
            }
            room = room.saturating_sub(found.bytes.len());
            out.pieces.extend(pieces(&path, sort.kind(), sort == Sort::Data, &found.text));
            out.files.push(path);
        }
    }
    out
}

struct Folder {
    path: PathBuf,
    is_own: bool,
}

/// The script's folder, the job's, and those above the script's as far as they can belong to a project.
fn folders(place: &Place<'_>) -> Vec<Folder> {
    let own = place.folder().to_owned();
    let mut out = vec![Folder { path: own.clone(), is_own: true }];
    if !place.cwd.starts_with(&own) && is_of_a_project(place.cwd) {
        out.push(Folder { path: place.cwd.to_owned(), is_own: !own.starts_with(place.cwd) });
    }
    let above =
        own.ancestors().skip(1).take(ABOVE).filter(|path| is_of_a_project(path) && *path != place.cwd);
    out.extend(above.map(|path| Folder { path: path.to_owned(), is_own: false }));
    out
}

/// Whether a folder is deep enough in the tree to be about one thing: not `/`, `/tmp`, `/home/ann`.
fn is_of_a_project(path: &Path) -> bool {
    let shared = ["home", "tmp", "var", "mnt", "media", "usr"];
    let mut parts = path.components().skip(1);
    let Some(first) = parts.next() else { return false };
    let least = if shared.iter().any(|name| first.as_os_str() == *name) { 2 } else { 1 };
    parts.count() >= least
}

/// The files worth reading, the most telling first.
fn chosen(root: &Root, walked: &Walked, folder: &Folder, place: &Place<'_>) -> Vec<Seen> {
    let script = place.script.map(Path::to_owned).unwrap_or_default();
    let ending = script.extension().map(|ending| ending.to_ascii_lowercase());
    let mut files: Vec<(Sort, usize, &Seen)> = walked
        .files
        .iter()
        .map(|seen| (sort_of(&seen.path), seen.path.components().count(), seen))
        .filter(|(sort, depth, seen)| match sort {
            Sort::Notes | Sort::Readme => true,
            Sort::Manual => folder.is_own,
            Sort::Program => {
                let alike = seen.path.extension().map(|ending| ending.to_ascii_lowercase()) == ending;
                folder.is_own && *depth <= 2 && alike && root.full(&seen.path) != script
            }
            Sort::Settings | Sort::Data => folder.is_own && *depth <= 2,
            Sort::Other => false,
        })
        .collect();
    files.sort_by_key(|(sort, depth, _)| (*sort, *depth));
    let mut of_sort = std::collections::BTreeMap::new();
    files.retain(|(sort, _, _)| {
        let count = of_sort.entry(*sort).or_insert(0_usize);
        *count += 1;
        *count <= MOST_OF_A_SORT
    });
    files.into_iter().map(|(_, _, seen)| seen.clone()).collect()
}

/// Words of letters that a line of prose has at least, in the mean.
const PROSE: usize = 3;
/// Words that a text has at least that explains something.
const LEAST_WORDS: usize = 8;

/// Whether a text file is data that the job works on: the script names it, or the folder that it is in, or it is no prose.
fn is_worked_on(path: &Path, text: &Redacted, script: &str) -> bool {
    let ending = path.extension().unwrap_or_default();
    if !ending.is_empty() && ending != "txt" && ending != "text" {
        return false;
    }
    let lines = text.as_str().lines().filter(|line| !line.trim().is_empty()).count();
    let is_word = |word: &&str| word.chars().any(char::is_alphabetic);
    let words = text.as_str().split_whitespace().filter(is_word).count();
    let unspaced = text.as_str().chars().filter(|c| *c >= '\u{3040}').count();
    is_named(path, script) || words + unspaced / 2 < LEAST_WORDS.max(lines * PROSE)
}

fn is_named(path: &Path, script: &str) -> bool {
    let named = |name: Option<&std::ffi::OsStr>| {
        name.is_some_and(|name| !name.is_empty() && script.contains(&*name.to_string_lossy()))
    };
    named(path.file_name()) || named(path.parent().and_then(Path::file_name))
}

/// Whether data has to do with the job: the script names it, or all of its kind, or it is there to be shown. What else lies
/// about is nobody's business, and nobody can tell what of it is secret.
fn is_of_the_job(path: &Path, script: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let kind = path.extension().map(|ending| format!("*.{}", ending.to_string_lossy()));
    if holds_a_secret(path, script) {
        return false;
    }
    is_named(path, script)
        || kind.is_some_and(|kind| script.contains(&kind))
        || ["sample", "example", "fixture", "template"].iter().any(|word| name.contains(word))
}

/// Whether the script takes a secret from this file: a line that names it also names a secret.
fn holds_a_secret(path: &Path, script: &str) -> bool {
    let Some(name) = path.file_name().map(std::ffi::OsStr::to_string_lossy) else { return false };
    let words = |line: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(selfheal_core::redact::names_a_secret)
    };
    script.lines().any(|line| line.contains(&*name) && words(line))
}

/// The names in a folder and in those below it.
fn tree(folder: &Path, walked: &Walked, place: &Place<'_>) -> Option<Piece> {
    let files = walked.files.iter().filter(|seen| seen.path.components().count() <= 2);
    let folders = walked.folders.iter().filter(|path| path.components().count() <= 2);
    let mut names: Vec<String> = files
        .map(|seen| seen.path.display().to_string())
        .chain(folders.map(|path| format!("{}/", path.display())))
        .collect();
    names.sort();
    let left = names.len().saturating_sub(TREE_LINES);
    names.truncate(TREE_LINES);
    if left > 0 {
        names.push(format!("… and {left} more"));
    }
    let text = place.redactor.text(&names.join("\n")).head(TREE_CHARS);
    let heading = Redacted::fixed("what is in the folder");
    let piece = |text| Piece {
        path: folder.to_owned(),
        kind: Kind::Context,
        heading,
        first_line: 0,
        last_line: 0,
        text,
        is_data: false,
    };
    (!names.is_empty()).then(|| piece(text))
}
