//! Finds commands in search paths, the way `execvp` does.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

/// The search path where the environment has none (what `execvp` takes).
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Why a command cannot be started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfound {
    /// There is no such thing.
    Missing,
    /// There is one, but it cannot be executed.
    Unusable(String),
}

/// The file that a command word means: a word with a slash is a path, any other is looked for.
///
/// A relative result is relative to `cwd`, and is what a script would see as its own name.
pub(crate) fn command(word: &OsStr, cwd: &Path, search: Option<&OsStr>) -> Result<PathBuf, Unfound> {
    if word.is_empty() {
        return Err(Unfound::Missing);
    }
    if word.as_bytes().contains(&b'/') {
        return check(&cwd.join(word)).map(|()| PathBuf::from(word));
    }
    let mut worst = Unfound::Missing;
    for folder in folders(search) {
        let path = folder.join(word);
        match check(&cwd.join(&path)) {
            Ok(()) => return Ok(path),
            // A folder that may not be entered says nothing about the command: shells call it not found.
            Err(unusable @ Unfound::Unusable(_)) if fs::metadata(cwd.join(&path)).is_ok() => worst = unusable,
            Err(_) => {}
        }
    }
    Err(worst)
}

/// The folders of a search path; an empty entry is the current folder.
pub(crate) fn folders(search: Option<&OsStr>) -> impl Iterator<Item = PathBuf> {
    let search = search.unwrap_or(OsStr::new(DEFAULT_PATH));
    search.as_bytes().split(|byte| *byte == b':').map(|entry| match entry {
        [] => PathBuf::from("."),
        entry => PathBuf::from(OsStr::from_bytes(entry)),
    })
}

/// Whether this user could execute a file.
pub(crate) fn is_executable(path: &Path) -> bool {
    check(path).is_ok()
}

fn check(path: &Path) -> Result<(), Unfound> {
    let facts = fs::metadata(path).map_err(|error| unfound(&error))?;
    if facts.is_dir() {
        return Err(Unfound::Unusable(reason(&io::Error::from(rustix::io::Errno::ISDIR))));
    }
    // Root passes every access check where any execute bit is set; the bits are looked at for files without one.
    if !facts.is_file() || facts.permissions().mode() & 0o111 == 0 {
        return Err(Unfound::Unusable(reason(&io::Error::from(rustix::io::Errno::ACCESS))));
    }
    rustix::fs::access(path, Access::EXEC_OK).map_err(|errno| unfound(&errno.into()))
}

fn unfound(error: &io::Error) -> Unfound {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unfound::Missing,
        _ => Unfound::Unusable(reason(error)),
    }
}

/// The system's word for an error, without Rust's number behind it.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(words, _)| words).to_owned()
}

/// What the first line of a script names to run it, if it names anything: the interpreter and its one argument.
pub(crate) fn shebang(beginning: &[u8]) -> Option<(PathBuf, Option<String>)> {
    let line = beginning.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line.get(..line.len().min(255))?);
    // A carriage return is part of the name: that is how the kernel reads it.
    let line = line.trim_matches([' ', '\t']);
    let (name, argument) =
        line.split_once([' ', '\t']).map_or((line, None), |(name, rest)| (name, Some(rest)));
    let argument = argument.map(|rest| rest.trim_matches([' ', '\t']).to_owned());
    (!name.is_empty()).then(|| (PathBuf::from(name), argument))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shebang_is_read_as_the_kernel_reads_it() {
        assert_eq!(shebang(b"#!/bin/sh\necho"), Some(("/bin/sh".into(), None)));
        let env = Some(("/usr/bin/env".into(), Some("python3 -u".to_owned())));
        assert_eq!(shebang(b"#! /usr/bin/env  python3 -u \n"), env);
        assert_eq!(shebang(b"#!/bin/bash\r\n"), Some(("/bin/bash\r".into(), None)));
        assert_eq!(shebang(b"echo"), None);
        assert_eq!(shebang(b"#!\n"), None);
    }

    #[test]
    fn a_command_is_found_as_execvp_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, mode) in [("run", 0o755), ("plain", 0o644)] {
            fs::write(at(name), "").unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(at("folder")).unwrap();
        let search = folder.path().as_os_str();
        let find = |word: &str| command(OsStr::new(word), Path::new("/"), Some(search));
        assert_eq!(find("run"), Ok(at("run")));
        assert_eq!(find("plain"), Err(Unfound::Unusable("Permission denied".into())));
        assert_eq!(find("folder"), Err(Unfound::Unusable("Is a directory".into())));
        assert_eq!(find("nothing"), Err(Unfound::Missing));
        assert_eq!(find(""), Err(Unfound::Missing));
        assert_eq!(command(OsStr::new("./run"), folder.path(), None), Ok("./run".into()));
    }
}
