//! What is used up or broken: space, memory, devices, time, terminals. It explains whatever else a tool says.

use selfheal_core::fault::Fault;

use super::{Row, bounded, row};

fn space() -> Option<Fault> {
    Some(Fault::NoSpace { path: None })
}

fn memory() -> Option<Fault> {
    Some(Fault::OutOfMemory)
}

fn device(message: &str) -> Option<Fault> {
    Some(Fault::DeviceError { message: bounded(message) })
}

/// The table.
pub fn rows() -> Vec<Row> {
    vec![
        row("^tar: {path}: Cannot write: No space left on device", |h| {
            Some(Fault::NoSpace { path: Some(h.path("path")) })
        }),
        row("ENOSPC: no space left on device", |_| space()),
        row("database or disk is full", |_| space()),
        row("could not extend file {path:q}: No space left on device", |h| {
            Some(Fault::NoSpace { path: Some(h.path("path")) })
        }),
        row("Disk quota exceeded", |h| Some(Fault::NoSpace { path: named(h.before) })),
        row("No space left on device", |h| Some(Fault::NoSpace { path: named(h.before) })),
        row("not enough free disk space", |_| space()),
        row("Out of memory: Killed process", |_| memory()),
        row("oom-kill:", |_| memory()),
        row("JavaScript heap out of memory", |_| memory()),
        row("java.lang.OutOfMemoryError", |_| memory()),
        row("virtual memory exhausted", |_| memory()),
        row("memory exhausted", |_| memory()),
        row("Cannot allocate memory", |_| memory()),
        row("Allowed memory size of {bytes:n} bytes exhausted", |_| memory()),
        row("fatal error: runtime: out of memory", |_| memory()),
        row("std::bad_alloc", |_| memory()),
        row("OOMKilled", |_| memory()),
        row("rite error: Broken pipe", |_| Some(Fault::SilentExit { code: 141 })),
        row("Cannot write: Broken pipe", |_| Some(Fault::SilentExit { code: 141 })),
        row("stdout: Broken pipe", |_| Some(Fault::SilentExit { code: 141 })),
        row("disk I/O error", |h| device(&format!("{}disk I/O error", h.before))),
        row("Structure needs cleaning", |_| device("Structure needs cleaning")),
        row("Stale file handle", |_| device("Stale file handle")),
        row("Remote I/O error", |_| device("Remote I/O error")),
        row("Transport endpoint is not connected", |_| device("Transport endpoint is not connected")),
        row("sudo: a terminal is required to read the password", |_| Some(Fault::NeedsTerminal)),
        row("sudo: a password is required", |_| Some(Fault::NeedsTerminal)),
        row("sudo: no tty present and no askpass program specified", |_| Some(Fault::NeedsTerminal)),
        row("could not read Username for", |_| Some(Fault::NeedsTerminal)),
        row("could not read Password for", |_| Some(Fault::NeedsTerminal)),
        row("the input device is not a TTY", |_| Some(Fault::NeedsTerminal)),
        row("Inappropriate ioctl for device", |_| Some(Fault::NeedsTerminal)),
        row("TERM environment variable not set", |_| Some(Fault::UnsetVariable { name: "TERM".into() })),
        row("Host key verification failed", |_| Some(Fault::NeedsTerminal)).of("ssh"),
        row("Permission denied (publickey", |_| Some(Fault::PermissionDenied { path: None })).of("ssh"),
        row("subsystem request failed on channel", |h| {
            Some(Fault::Other {
                message: super::bounded(&format!("subsystem request failed on channel{}", h.after)),
            })
        })
        .of("ssh")
        .class(selfheal_core::outcome::Class::Environment),
    ]
}

/// The name that stands before the text, in quotes.
fn named(before: &str) -> Option<std::path::PathBuf> {
    let before = before.trim_end_matches([' ', ':']);
    let quoted = crate::template::last_quoted(before);
    let plain = || before.rsplit(": ").next().filter(|name| name.contains(['/', '.']) && !name.contains(' '));
    quoted.or_else(plain).map(Into::into)
}
