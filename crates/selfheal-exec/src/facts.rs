//! Facts about where a run takes place, without starting a process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use rustix::termios::isatty;
use selfheal_core::run::Facts;

use crate::{process, script, unix};

/// What is known about where a command runs, before it does. The interpreter is given by name alone: its version would
/// take a process.
#[must_use]
pub fn facts(argv: &[OsString], cwd: &Path, env: &BTreeMap<OsString, OsString>) -> Facts {
    let search = env.get(OsStr::new("PATH")).map(OsString::as_os_str);
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    Facts {
        interpreter: script::interpreter_name(argv, cwd, search),
        cwd: cwd.to_owned(),
        uid: rustix::process::geteuid().as_raw(),
        umask: umask().unwrap_or(0o022),
        tty: isatty(unix::standard(1)),
        env: env.iter().map(|(name, value)| (text(name), text(value))).collect(),
        boot_id: process::boot_id(),
    }
}

/// The mask as `/proc` tells it: asking the system itself would change it for a moment.
fn umask() -> Option<u32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
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
            facts(&argv, folder.path(), &BTreeMap::new()).interpreter
        };
        assert_eq!(name(&["timeout", "5", "/bin/bash", "x"]).as_deref(), Some("bash"));
        assert_eq!(name(&["./job"]).as_deref(), Some("python3"));
        assert_eq!(name(&["./nothing"]), None);
    }
}
