//! From a fault to the class of the failure, and how much a fault says beside others: two tables.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Class;
use selfheal_core::scene::Scene;

/// The weight of a fault that only repeats an unknown message.
pub const VAGUE: u8 = 10;

/// Variables that every login session has and a scheduled job may lack.
const SESSION_VARIABLES: [&str; 16] = [
    "USER",
    "LOGNAME",
    "HOME",
    "SHELL",
    "PATH",
    "LANG",
    "LC_ALL",
    "TERM",
    "DISPLAY",
    "SSH_AUTH_SOCK",
    "XDG_RUNTIME_DIR",
    "HOSTNAME",
    "MAIL",
    "EDITOR",
    "TZ",
    "TMPDIR",
];

/// How much a fault says, 0 to 100: one that explains others stands above them.
#[must_use]
pub fn weight(fault: &Fault) -> u8 {
    match fault {
        Fault::NoSpace { .. } | Fault::DeviceError { .. } | Fault::OutOfMemory => 95,
        Fault::TimedOut => 94,
        Fault::CarriageReturn { .. } | Fault::BadInterpreter { .. } => 93,
        Fault::Dialect { .. } => 92,
        Fault::Syntax { .. } => 90,
        Fault::MissingModule { .. } => 89,
        Fault::MissingName { .. } => 88,
        Fault::UndefinedName { .. } => 87,
        Fault::UnknownOption { .. } => 84,
        Fault::CommandNotFound { .. } | Fault::NotExecutable { .. } => 83,
        Fault::UnsetVariable { .. } => 79,
        Fault::Encoding { .. }
        | Fault::KeyMissing { .. }
        | Fault::IndexOutOfRange { .. }
        | Fault::WrongType { .. }
        | Fault::BadValue { .. }
        | Fault::NoSuchObject { .. }
        | Fault::NoSuchReference { .. }
        | Fault::NotSorted { .. } => 78,
        Fault::LockHeld { .. } | Fault::HttpStatus { .. } | Fault::Network { .. } => 76,
        Fault::UnmatchedGlob { .. } => 74,
        Fault::NoSuchPath { .. }
        | Fault::NotADirectory { .. }
        | Fault::IsADirectory { .. }
        | Fault::PermissionDenied { .. }
        | Fault::NeedsTerminal => 72,
        Fault::Mismatch { .. } => 66,
        Fault::PathExists { .. } => 45,
        Fault::SilentExit { .. } => 30,
        _ => VAGUE,
    }
}

/// The class that a fault means; the scene tells whether a lock's owner lives.
#[must_use]
pub fn class_of(fault: &Fault, scene: &dyn Scene) -> Class {
    match fault {
        Fault::Network { how, .. } if how == "tls" => Class::Environment,
        Fault::Network { .. } | Fault::TimedOut => Class::Transient,
        Fault::HttpStatus { code, .. } => http_class(*code),
        Fault::LockHeld { path, pid } => lock_class(path.as_deref(), *pid, scene),
        Fault::NoSpace { .. } | Fault::DeviceError { .. } | Fault::OutOfMemory => Class::Resource,
        // Node's own two dialects: the project became the other kind of module.
        Fault::Dialect { construct }
            if ["require", "import"].iter().any(|word| construct.starts_with(word)) =>
        {
            Class::Dependency
        }
        // A value is absent where an object was expected: no name was renamed.
        Fault::MissingName { owner, .. } if is_nothing(owner) => Class::Logic,
        Fault::BadInterpreter { .. }
        | Fault::CommandNotFound { .. }
        | Fault::NotExecutable { .. }
        | Fault::PermissionDenied { .. }
        | Fault::CarriageReturn { .. }
        | Fault::Dialect { .. }
        | Fault::Encoding { .. }
        | Fault::NeedsTerminal => Class::Environment,
        Fault::MissingModule { name } if crate::stdlib::removed_in(name).is_some() => Class::Dependency,
        Fault::MissingModule { .. } => Class::Environment,
        Fault::UnsetVariable { name } if SESSION_VARIABLES.contains(&name.as_str()) => Class::Environment,
        Fault::UnknownOption { .. }
        | Fault::MissingName { .. }
        | Fault::KeyMissing { .. }
        | Fault::NoSuchObject { .. }
        | Fault::NoSuchReference { .. }
        | Fault::NotSorted { .. } => Class::Dependency,
        Fault::NoSuchPath { .. }
        | Fault::NotADirectory { .. }
        | Fault::IsADirectory { .. }
        | Fault::PathExists { .. }
        | Fault::UnsetVariable { .. }
        | Fault::Syntax { .. }
        | Fault::UnmatchedGlob { .. }
        | Fault::UndefinedName { .. }
        | Fault::IndexOutOfRange { .. }
        | Fault::WrongType { .. }
        | Fault::BadValue { .. }
        | Fault::Mismatch { .. } => Class::Logic,
        _ => Class::Unknown,
    }
}

/// What languages call a value that is not there.
fn is_nothing(owner: &str) -> bool {
    let owner = owner.split(':').next().unwrap_or(owner);
    ["NoneType", "nil", "NilClass", "null", "undefined"].contains(&owner)
}

/// 408, 425, 429 and most of 5xx pass by themselves; 401, 403 and 407 are a matter of access; other 4xx say that what was
/// asked for is no longer there.
fn http_class(code: u16) -> Class {
    match code {
        408 | 425 | 429 | 500 | 502..=504 | 507..=599 => Class::Transient,
        401 | 403 | 407 => Class::Environment,
        400..=499 | 501 | 505 | 506 => Class::Dependency,
        _ => Class::Unknown,
    }
}

/// A lock whose owner is dead is a mistake of the job that left it, and waiting does not help.
fn lock_class(path: Option<&Path>, pid: Option<u32>, scene: &dyn Scene) -> Class {
    let pid = pid.or_else(|| path.and_then(|path| pid_in(path, scene)));
    match pid {
        Some(pid) if !scene.process_lives(pid) => Class::Logic,
        _ => Class::Transient,
    }
}

/// The process number that a lock file holds, if it holds one.
#[must_use]
pub fn pid_in(path: &Path, scene: &dyn Scene) -> Option<u32> {
    // Some locks are folders with the number in a file.
    let content = scene.read(path, 64).or_else(|| scene.read(&path.join("pid"), 64))?;
    let text = String::from_utf8_lossy(&content);
    text.split_whitespace().next()?.parse().ok().filter(|pid| *pid > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_scene::FakeScene;

    #[test]
    fn a_stale_lock_is_no_reason_to_wait() {
        let scene = FakeScene::new("/job").file("/job/x.lock", "4711\n").alive(42);
        let held = |path: Option<&str>, pid| Fault::LockHeld { path: path.map(Into::into), pid };
        assert_eq!(class_of(&held(Some("x.lock"), None), &scene), Class::Logic);
        assert_eq!(class_of(&held(None, Some(4711)), &scene), Class::Logic);
        assert_eq!(class_of(&held(None, Some(42)), &scene), Class::Transient);
        assert_eq!(class_of(&held(None, None), &scene), Class::Transient);
    }

    #[test]
    fn status_codes_of_servers_have_their_class() {
        let scene = FakeScene::new("/job");
        for (code, class) in [
            (503, Class::Transient),
            (429, Class::Transient),
            (404, Class::Dependency),
            (401, Class::Environment),
            (501, Class::Dependency),
        ] {
            let fault = Fault::HttpStatus { code, retry_after_s: None };
            assert_eq!(class_of(&fault, &scene), class, "{code}");
        }
    }
}
