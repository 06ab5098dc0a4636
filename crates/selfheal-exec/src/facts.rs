//! Facts about where a run takes place, without starting a process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::termios::isatty;
use selfheal_core::job::inner_command;
use selfheal_core::run::{Facts, Program};

use crate::{find, script, unix};

/// The limits that are recorded, as `/proc/self/limits` names them, and what they are called here.
const LIMITS: [(&str, &str); 9] = [
    ("Max cpu time", "cpu time"),
    ("Max file size", "file size"),
    ("Max stack size", "stack"),
    ("Max core file size", "core file"),
    ("Max resident set", "resident set"),
    ("Max processes", "processes"),
    ("Max open files", "open files"),
    ("Max locked memory", "locked memory"),
    ("Max address space", "address space"),
];

/// What is known about where a command runs, before it does. The version of the interpreter would take a process and is
/// left to the caller.
#[must_use]
pub fn facts(argv: &[OsString], cwd: &Path, env: &BTreeMap<OsString, OsString>) -> Facts {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    Facts {
        program: program(argv, cwd, env),
        cwd: cwd.to_owned(),
        uid: rustix::process::geteuid().as_raw(),
        umask: umask().unwrap_or(0o022),
        tty: isatty(unix::standard(1)),
        limits: limits(&fs::read_to_string("/proc/self/limits").unwrap_or_default()),
        env: env.iter().map(|(name, value)| (text(name), text(value))).collect(),
    }
}

/// The program that runs the script, or the command itself, and which file it is: a new inode or time means another
/// version.
fn program(argv: &[OsString], cwd: &Path, env: &BTreeMap<OsString, OsString>) -> Option<Program> {
    let search = env.get(OsStr::new("PATH")).map(OsString::as_os_str);
    let word = match script::interpreter_name(argv, cwd, search) {
        Some(name) => OsString::from(name),
        None => inner_command(argv).into_iter().next()?,
    };
    let path = find::command(&word, cwd, search).ok();
    let path = path.and_then(|path| fs::canonicalize(cwd.join(path)).ok());
    let file = path.as_deref().and_then(|path| fs::metadata(path).ok());
    Some(Program {
        name: Path::new(&word).file_name()?.to_string_lossy().into_owned(),
        inode: file.as_ref().map_or(0, MetadataExt::ino),
        modified_s: file.as_ref().map_or(0, MetadataExt::mtime),
        path,
        version: None,
    })
}

/// The mask as `/proc` tells it: asking the system itself would change it for a moment.
fn umask() -> Option<u32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

/// The recorded limits out of the text of `/proc/self/limits`: soft, or soft and hard where they differ.
fn limits(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let Some((known, name)) = LIMITS.iter().find(|(known, _)| line.starts_with(known)) else { continue };
        let mut values = line.get(known.len()..).unwrap_or_default().split_ascii_whitespace();
        if let (Some(soft), Some(hard)) = (values.next(), values.next()) {
            let value = if soft == hard { soft.to_owned() } else { format!("{soft} of {hard}") };
            found.insert((*name).to_owned(), value);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_is_named_by_the_command_or_by_the_first_line() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("job"), "#!/usr/bin/env -S python3 -u\n").unwrap();
        let name = |words: &[&str]| {
            let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
            facts(&argv, folder.path(), &BTreeMap::new()).program.map(|program| program.name)
        };
        assert_eq!(name(&["timeout", "5", "/bin/bash", "x"]).as_deref(), Some("bash"));
        assert_eq!(name(&["./job"]).as_deref(), Some("python3"));
        assert_eq!(name(&["nice", "/bin/true"]).as_deref(), Some("true"));
        assert_eq!(name(&[]), None);
    }

    #[test]
    fn another_file_behind_a_name_is_another_program() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("python3");
        let write = |path: &Path| {
            fs::write(path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        write(&tool);
        let env = BTreeMap::from([("PATH".into(), folder.path().into())]);
        let look = || program(&["python3".into(), "x.py".into()], folder.path(), &env).unwrap();
        let before = look();
        assert_eq!(before.path.as_deref(), Some(fs::canonicalize(&tool).unwrap().as_path()));
        write(&folder.path().join("new"));
        fs::rename(folder.path().join("new"), &tool).unwrap();
        assert_ne!(before.inode, look().inode);
    }

    #[test]
    fn limits_are_read_by_name() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max cpu time              unlimited            unlimited            seconds   \n\
                    Max open files            1024                 524288               files     \n";
        let found = limits(text);
        assert_eq!(found.get("cpu time").map(String::as_str), Some("unlimited"));
        assert_eq!(found.get("open files").map(String::as_str), Some("1024 of 524288"));
        assert!(limits(&fs::read_to_string("/proc/self/limits").unwrap()).contains_key("open files"));
    }
}
