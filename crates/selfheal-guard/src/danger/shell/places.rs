//! Where an operand of a command leads.

use std::path::{Path, PathBuf};

use selfheal_core::scene::absolute;
use selfheal_syntax::values::{Piece, Unknown, Value};

use crate::scope::{Roots, is_private, is_system};

/// Stands for an unknown part in a path that is put together.
const GAP: &str = "\u{1}";

/// Where an operand leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A folder or file that the script itself made with `mktemp`.
    OwnTemporary,
    /// Below the working folder, or inside of the job's roots.
    Inside,
    /// A fixed name in a temporary folder.
    Temporary,
    /// An absolute path outside of all this.
    Outside,
    /// In somebody's home.
    Home,
    /// A system folder or file.
    System,
    /// A device with content.
    Device,
    /// Keys, passwords, or what runs by itself.
    Private,
    /// The top of the tree, or everything in it.
    Top,
    /// Above the working folder.
    Above,
    /// Below something that may be empty, so that it may be the top of the tree.
    PerhapsTop,
    /// Below something unknown of which the script makes sure that it is not empty.
    Guarded,
    /// An unknown operand as a whole: an empty one fails.
    Unknown,
    /// An unknown list that comes from a file, a pipe or another command.
    UnknownList,
    /// No path.
    Nothing,
}

/// The folder that commands run in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cwd {
    /// The job's own, or one below it.
    Own,
    /// One that `mktemp` made.
    OwnTemporary,
    /// This one.
    At(PathBuf),
    /// Nobody knows.
    Unknown,
}

/// Looks operands up.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The roots of the job.
    pub roots: &'a Roots,
    /// The folder that the command runs in.
    pub cwd: &'a Cwd,
}

impl Places<'_> {
    /// Where a value leads.
    pub fn of(&self, value: &Value) -> Place {
        let Some(first) = value.pieces.first() else { return Place::Nothing };
        match first {
            Piece::Unknown(unknown) => self.behind(unknown, value.pieces.get(1..).unwrap_or_default()),
            Piece::Text(_) | Piece::Glob(_) => self.text(&spelled(&value.pieces)),
        }
    }

    fn behind(&self, unknown: &Unknown, rest: &[Piece]) -> Place {
        let tail = spelled(rest);
        let commands = unknown.commands.as_deref().map(str::trim_start);
        if commands.is_some_and(|commands| commands.starts_with("mktemp")) {
            return if climbs(&tail) { Place::Above } else { Place::OwnTemporary };
        }
        match unknown.name.as_deref() {
            Some("PWD") => return self.text(&format!(".{tail}")),
            Some("TMPDIR" | "TMP" | "TEMP" | "RUNNER_TEMP") => {
                return if climbs(&tail) { Place::Above } else { Place::Temporary };
            }
            Some("HOME") => return home(&tail),
            Some(name) if name.starts_with('~') => return home(&tail),
            _ => {}
        }
        if commands
            .is_some_and(|commands| commands.starts_with("pwd") || commands.starts_with("git rev-parse"))
        {
            return self.text(&format!(".{tail}"));
        }
        if commands.is_some() && tail.is_empty() {
            return Place::UnknownList;
        }
        if is_private(Path::new(tail.trim_start_matches('/'))) {
            return Place::Private;
        }
        if tail.starts_with('/') || tail.starts_with(GAP) {
            return if unknown.nonempty { Place::Guarded } else { Place::PerhapsTop };
        }
        Place::Unknown
    }

    /// Where a path leads that is known but for gaps and patterns.
    pub fn text(&self, path: &str) -> Place {
        if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
            return Place::Device;
        }
        if path.starts_with('/') {
            return self.absolute(&absolute(Path::new("/"), Path::new(path)));
        }
        if path.starts_with('-') && path.len() > 1 && !path.contains('/') {
            return Place::Nothing;
        }
        match self.cwd {
            Cwd::At(folder) => self.absolute(&absolute(folder, Path::new(path))),
            Cwd::Unknown => {
                if climbs(path) {
                    Place::Above
                } else {
                    Place::UnknownList
                }
            }
            Cwd::Own if is_private(Path::new(path)) => Place::Private,
            Cwd::Own => {
                if climbs(path) {
                    Place::Above
                } else {
                    Place::Inside
                }
            }
            Cwd::OwnTemporary => {
                if climbs(path) {
                    Place::Above
                } else {
                    Place::OwnTemporary
                }
            }
        }
    }

    fn absolute(&self, path: &Path) -> Place {
        let text = path.to_string_lossy();
        let depth = path.components().count();
        let everything = depth <= 2
            && text
                .trim_start_matches('/')
                .chars()
                .next()
                .is_none_or(|c| c == '*' || c == '.' || c == '?' || c == '\u{1}' || c == '[');
        if everything {
            return Place::Top;
        }
        if text.starts_with("/dev/") {
            return if is_system(path) { Place::Device } else { Place::Nothing };
        }
        if is_private(path) || SECRET_FILES.iter().any(|known| alike(known, &text)) {
            return Place::Private;
        }
        if !is_default(self.roots) && self.roots.hold(path) {
            return Place::Inside;
        }
        if is_system(path) || SYSTEM_LOGS.iter().any(|log| text.starts_with(log)) {
            return Place::System;
        }
        let below = TEMPORARY.iter().find_map(|folder| text.strip_prefix(folder)?.strip_prefix('/'));
        if let Some(below) = below.filter(|below| !below.is_empty()) {
            // A pattern for everything there takes what belongs to others, too.
            return if below.starts_with(['*', '?', '[']) { Place::Outside } else { Place::Temporary };
        }
        if (path.starts_with("/home") || path.starts_with("/root") || path.starts_with("/Users"))
            && depth <= 3 + usize::from(!path.starts_with("/root"))
        {
            return Place::Home;
        }
        Place::Outside
    }
}

fn is_default(roots: &Roots) -> bool {
    roots.folders.is_empty() && roots.named.is_empty()
}

/// Folders in which everybody keeps temporary files.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// System files that hold passwords or keys; `*` stands for one part.
const SECRET_FILES: &[&str] = &[
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/ssh/ssh_host_",
    "/etc/shadow-",
    "/proc/*/environ",
    "/proc/*/mem",
    "/etc/krb5.keytab",
    "/var/run/secrets",
    "/run/secrets",
    "/etc/kubernetes/admin.conf",
];

/// What the system itself and its logins write.
const SYSTEM_LOGS: &[&str] = &[
    "/var/log/auth.log",
    "/var/log/wtmp",
    "/var/log/btmp",
    "/var/log/lastlog",
    "/var/log/syslog",
    "/var/log/messages",
    "/var/log/secure",
    "/var/log/kern.log",
    "/var/log/audit",
    "/var/log/journal",
    "/var/log/faillog",
    "/var/log/dpkg.log",
    "/var/log/daemon.log",
];

fn alike(pattern: &str, path: &str) -> bool {
    match pattern.split_once("/*/") {
        Some((begin, end)) => path.strip_prefix(begin).is_some_and(|rest| rest.ends_with(&format!("/{end}"))),
        None => path.starts_with(pattern),
    }
}

fn home(tail: &str) -> Place {
    let path = tail.trim_start_matches('/');
    if is_private(Path::new(path))
        || path.starts_with(".config/systemd")
        || path.starts_with(".config/autostart")
        || path.contains("Login Data")
    {
        return Place::Private;
    }
    if climbs(path) { Place::Above } else { Place::Home }
}

/// Whether a relative path leads above where it starts.
fn climbs(path: &str) -> bool {
    let mut depth = 0_i32;
    for part in path.split('/') {
        match part {
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

/// A value as a path with gaps for what is unknown.
pub fn spelled(pieces: &[Piece]) -> String {
    let one = |piece: &Piece| match piece {
        Piece::Text(text) | Piece::Glob(text) => text.clone(),
        Piece::Unknown(_) => GAP.to_owned(),
    };
    pieces.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_paths_find_their_place() {
        let roots = Roots::default();
        let places = Places { roots: &roots, cwd: &Cwd::Own };
        for (path, place) in [
            ("/", Place::Top),
            ("/*", Place::Top),
            ("/tmp/../..", Place::Top),
            ("/etc/passwd", Place::System),
            ("/etc/shadow", Place::Private),
            ("/dev/null", Place::Nothing),
            ("/dev/sdb", Place::Device),
            ("/tmp/x", Place::Temporary),
            ("/srv/app/x", Place::Outside),
            ("build/x", Place::Inside),
            ("./a/../b", Place::Inside),
            ("../x", Place::Above),
            (".ssh/id", Place::Private),
            ("/proc/1/environ", Place::Private),
        ] {
            assert_eq!(places.text(path), place, "{path}");
        }
    }
}
