//! The texts of the C library's errors (`strerror`), whatever tool puts them behind its own words, in a few languages.

use std::path::PathBuf;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Class;

use super::{Found, Line, bounded};
use crate::template::{last_quoted, unquote};

/// What an error text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Errno {
    NoEntry,
    NotDir,
    IsDir,
    Exists,
    Access,
    NoSpace,
    Device,
    Memory,
    Again,
    TooLong,
    NotEmpty,
    Busy,
    Invalid,
    BadExec,
    TextBusy,
    Loop,
    CrossDevice,
    ManyFiles,
}

/// Error texts in lower case. Sources: glibc's `sysdeps/gnu/errlist.c` and its translations, musl, macOS.
const TEXTS: [(&str, Errno); 51] = [
    ("no such file or directory", Errno::NoEntry),
    ("datei oder verzeichnis nicht gefunden", Errno::NoEntry),
    ("aucun fichier ou dossier de ce type", Errno::NoEntry),
    ("aucun fichier ou dossier de ce nom", Errno::NoEntry),
    ("no existe el fichero o el directorio", Errno::NoEntry),
    ("没有那个文件或目录", Errno::NoEntry),
    ("沒有此一檔案或目錄", Errno::NoEntry),
    ("そのようなファイルやディレクトリはありません", Errno::NoEntry),
    ("not a directory", Errno::NotDir),
    ("ist kein verzeichnis", Errno::NotDir),
    ("n'est pas un dossier", Errno::NotDir),
    ("不是目录", Errno::NotDir),
    ("is a directory", Errno::IsDir),
    ("ist ein verzeichnis", Errno::IsDir),
    ("est un dossier", Errno::IsDir),
    ("是一个目录", Errno::IsDir),
    ("file exists", Errno::Exists),
    ("die datei existiert bereits", Errno::Exists),
    ("le fichier existe", Errno::Exists),
    ("文件已存在", Errno::Exists),
    ("permission denied", Errno::Access),
    ("operation not permitted", Errno::Access),
    ("keine berechtigung", Errno::Access),
    ("permission non accordée", Errno::Access),
    ("opération non permise", Errno::Access),
    ("die operation ist nicht erlaubt", Errno::Access),
    ("permiso denegado", Errno::Access),
    ("权限不够", Errno::Access),
    ("不允许的操作", Errno::Access),
    ("no space left on device", Errno::NoSpace),
    ("disk quota exceeded", Errno::NoSpace),
    ("auf dem gerät ist kein speicherplatz mehr verfügbar", Errno::NoSpace),
    ("aucun espace disponible sur le périphérique", Errno::NoSpace),
    ("no queda espacio en el dispositivo", Errno::NoSpace),
    ("设备上没有空间", Errno::NoSpace),
    ("file too large", Errno::NoSpace),
    ("input/output error", Errno::Device),
    ("read-only file system", Errno::Device),
    ("eingabe-/ausgabefehler", Errno::Device),
    ("das dateisystem ist nur lesbar", Errno::Device),
    ("cannot allocate memory", Errno::Memory),
    ("resource temporarily unavailable", Errno::Again),
    ("file name too long", Errno::TooLong),
    ("directory not empty", Errno::NotEmpty),
    ("device or resource busy", Errno::Busy),
    ("argument list too long", Errno::Invalid),
    ("exec format error", Errno::BadExec),
    ("text file busy", Errno::TextBusy),
    ("too many levels of symbolic links", Errno::Loop),
    ("invalid cross-device link", Errno::CrossDevice),
    ("too many open files", Errno::ManyFiles),
];

/// Words that tools put before the name that they could not use.
const VERBS: [&str; 22] = [
    "cannot open ",
    "can't open ",
    "could not open ",
    "couldn't open ",
    "unable to open ",
    "failed to open ",
    "cannot access ",
    "cannot stat ",
    "cannot create ",
    "can't create ",
    "cannot read ",
    "can't read ",
    "could not read ",
    "cannot write ",
    "cannot remove ",
    "can't cd to ",
    "open ",
    "stat ",
    "opening ",
    "unlink ",
    "mkdir ",
    "lstat ",
];

/// Finds any of the texts at once: most lines have none.
static ANY: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).build(TEXTS.iter().map(|(text, _)| text)).ok()
});

/// Reads a line that holds an error text of the C library.
pub fn line(line: &Line<'_>) -> Option<Found> {
    if line.rest.is_ascii() && ANY.as_ref().is_some_and(|any| !any.is_match(line.rest)) {
        return None;
    }
    let lower = line.rest.to_lowercase();
    let (at, text, errno) = TEXTS
        .iter()
        .filter_map(|(text, errno)| lower.find(text).map(|at| (at, *text, *errno)))
        .min_by_key(|(at, text, _)| (*at, usize::MAX - text.len()))?;
    // Lower-casing keeps the length of all the letters that occur in practice; where it does not, there is no name.
    let before = line.rest.get(..at).unwrap_or_default();
    let after = line.rest.get(at + text.len()..).unwrap_or_default();
    let name = subject(before).or_else(|| subject_behind(after));
    let fault = fault(errno, name, line)?;
    let class = if matches!(fault, Fault::Other { .. }) { class(errno) } else { None };
    Some(match class {
        Some(class) => Found::plain(class, line),
        None => Found::new(fault, line),
    })
}

/// What an error means that no fault stands for.
fn class(errno: Errno) -> Option<Class> {
    match errno {
        Errno::Busy => Some(Class::Transient),
        Errno::ManyFiles => Some(Class::Resource),
        Errno::TooLong
        | Errno::NotEmpty
        | Errno::Invalid
        | Errno::Loop
        | Errno::CrossDevice
        | Errno::NotDir
        | Errno::IsDir
        | Errno::Exists => Some(Class::Logic),
        Errno::BadExec => Some(Class::Environment),
        Errno::NoEntry
        | Errno::Access
        | Errno::NoSpace
        | Errno::Device
        | Errno::Memory
        | Errno::Again
        | Errno::TextBusy => None,
    }
}

/// The name that stands before an error text.
fn subject(before: &str) -> Option<String> {
    let before = before.trim_end_matches(['(', '[', ' ', ':', '-', '–']).trim_end();
    let before = strip_errno(before);
    let before = before.trim_end_matches(" for reading").trim_end_matches(" for writing");
    // In other languages the name stands in the middle: `Aufruf von stat für 'x' nicht möglich`.
    let to_quote = before.rfind(['\'', '’', '"', '»', '“']).and_then(|at| {
        let len = before.get(at..)?.chars().next()?.len_utf8();
        before.get(..at + len)
    });
    if let Some(name) = to_quote.and_then(last_quoted) {
        return (!name.is_empty()).then(|| name.to_owned());
    }
    // A verb alone, as in `tar: x: Cannot open`, stands behind the name.
    let is_verb = |part: &str| VERBS.iter().any(|verb| part.eq_ignore_ascii_case(verb.trim_end()));
    let mut segments = before.rsplit(": ");
    let last = segments.next().unwrap_or(before).trim();
    if is_verb(last) {
        return segments
            .next()
            .filter(|_| before.matches(": ").count() > 1)
            .map(|name| unquote(name).to_owned());
    }
    let name = VERBS
        .iter()
        .filter_map(|verb| find_ignoring_case(last, verb).and_then(|at| last.get(at + verb.len()..)))
        .min_by_key(|name| name.len())
        .unwrap_or(last);
    let name = unquote(name).trim();
    (!name.is_empty() && !is_constant(name) && name.len() < 1_000).then(|| name.to_owned())
}

/// `ENOENT` and its like.
fn is_constant(name: &str) -> bool {
    name.len() > 3 && name.starts_with('E') && name.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Python and node write the name behind: `[Errno 2] No such file or directory: 'x'`, `…, open 'x'`.
fn subject_behind(after: &str) -> Option<String> {
    let after = after.trim_start_matches([')', ':', ',', ' ']);
    let name = match after.split_once(['\'', '"']) {
        Some((_, quoted)) => quoted.split(['\'', '"']).next().unwrap_or_default(),
        None => after.split_once(": ").map_or("", |_| ""),
    };
    (!name.is_empty() && name.len() < 1_000).then(|| name.to_owned())
}

/// Takes `[Errno 2]`, `(2)` and `Error 2` off the end.
fn strip_errno(text: &str) -> &str {
    let cut = text.rfind(['[', '(']).filter(|at| {
        text.get(at + 1..).is_some_and(|inner| {
            let inner = inner.trim_end_matches([']', ')']);
            let number =
                inner.strip_prefix("Errno ").or_else(|| inner.strip_prefix("errno ")).unwrap_or(inner);
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    });
    cut.and_then(|at| text.get(..at)).unwrap_or(text).trim_end_matches([' ', ':'])
}

fn find_ignoring_case(text: &str, word: &str) -> Option<usize> {
    text.to_ascii_lowercase().find(word)
}

fn fault(errno: Errno, name: Option<String>, line: &Line<'_>) -> Option<Fault> {
    let message = bounded(line.rest.trim());
    let path = name.map(PathBuf::from);
    Some(match (errno, path) {
        (Errno::NoEntry, Some(path)) => missing(path),
        (Errno::NotDir, Some(path)) => Fault::NotADirectory { path },
        (Errno::IsDir, Some(path)) => Fault::IsADirectory { path },
        (Errno::Exists, Some(path)) if is_lock(&path) => Fault::LockHeld { path: Some(path), pid: None },
        (Errno::Exists, Some(path)) => Fault::PathExists { path },
        (Errno::Access, path) => refused(path, line),
        (Errno::NoSpace, path) => Fault::NoSpace { path },
        (Errno::Device, _) => Fault::DeviceError { message },
        (Errno::Memory, _) => Fault::OutOfMemory,
        (Errno::Again, path) => Fault::LockHeld { path, pid: None },
        (Errno::BadExec, Some(path)) => Fault::BadInterpreter { script: path, interpreter: String::new() },
        // `sed: can't read : No such file or directory`: the name is there, and empty.
        (Errno::NoEntry, None)
            if line.rest.contains(" : ") || line.rest.contains("''") || line.rest.contains("‘’") =>
        {
            Fault::NoSuchPath { path: PathBuf::new() }
        }
        _ => Fault::Other { message },
    })
}

/// Whether a name is that of a lock, which is in the way because somebody holds it.
fn is_lock(path: &std::path::Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    name == "lock"
        || [".lock", ".lck", ".pid", "-lock", "_lock", "lockdir"].iter().any(|end| name.ends_with(end))
}

/// A missing path that still holds its wildcards is a pattern that matched nothing.
fn missing(path: PathBuf) -> Fault {
    match path.to_str() {
        // BSD's `sed -i ''` takes an empty suffix; GNU takes the program behind it for a file.
        Some(text) if is_substitution(text) => {
            Fault::UnknownOption { command: "sed".to_owned(), option: "-i ''".to_owned() }
        }
        Some(text) if text.contains(['*', '?']) || (text.contains('[') && text.contains(']')) => {
            Fault::UnmatchedGlob { pattern: text.to_owned() }
        }
        _ => Fault::NoSuchPath { path },
    }
}

/// Whether a text is a command of sed that replaces: `s|one|other|g`.
fn is_substitution(text: &str) -> bool {
    let Some(separator) = text.strip_prefix('s').and_then(|rest| rest.chars().next()) else { return false };
    let behind = text.rsplit(separator).next().unwrap_or_default();
    matches!(separator, '/' | '|' | '#' | ',' | '@' | '!' | ':' | ';' | '~')
        && text.matches(separator).count() == 3
        && behind.chars().all(|c| matches!(c, 'g' | 'i' | 'I' | 'p' | 'e' | 'm' | '0'..='9'))
}

/// A shell that may not start a file says the same as a tool that may not open one; only the shell names its line and
/// nothing but the file.
fn refused(path: Option<PathBuf>, line: &Line<'_>) -> Fault {
    let only_name = line.spot.is_some() && line.rest.matches(": ").count() == 1;
    match path {
        Some(path) if only_name && path.to_string_lossy().contains('/') => Fault::NotExecutable { path },
        path => Fault::PermissionDenied { path },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Fault {
        super::super::read_text(text).remove(0).fault
    }

    fn missing(path: &str) -> Fault {
        Fault::NoSuchPath { path: path.into() }
    }

    #[test]
    fn the_name_is_found_wherever_a_tool_puts_it() {
        for text in [
            "cp: cannot stat 'a/b': No such file or directory",
            "cat: a/b: No such file or directory",
            "awk: cannot open a/b (No such file or directory)",
            "awk: fatal: cannot open file `a/b' for reading: No such file or directory",
            "open a/b: no such file or directory",
            "x.sh: line 3: a/b: No such file or directory",
            "python3: can't open file 'a/b': [Errno 2] No such file or directory",
            "cp: Aufruf von stat für 'a/b' nicht möglich: Datei oder Verzeichnis nicht gefunden",
            "cat: a/b: 没有那个文件或目录",
            "x.sh: 3: cd: can't cd to a/b",
        ] {
            assert_eq!(read(text), missing("a/b"), "{text}");
        }
        assert_eq!(read("sed: can't read : No such file or directory"), missing(""));
    }

    #[test]
    fn wildcards_that_are_left_mean_a_pattern_without_match() {
        assert_eq!(
            read("ls: cannot access 'logs/*.gz': No such file or directory"),
            Fault::UnmatchedGlob { pattern: "logs/*.gz".into() }
        );
    }

    #[test]
    fn a_refused_start_is_not_a_refused_read() {
        assert_eq!(
            read("run.sh: line 3: ./steps/b: Permission denied"),
            Fault::NotExecutable { path: "./steps/b".into() }
        );
        assert_eq!(
            read("cat: /etc/shadow: Permission denied"),
            Fault::PermissionDenied { path: Some("/etc/shadow".into()) }
        );
    }
}
