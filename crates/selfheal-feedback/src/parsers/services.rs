//! Locks, containers, systemd, cron-like supervisors and cloud clients.

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Class;

use super::{Block, Found, Line, Row, bounded, row};

fn reference(name: &str) -> Option<Fault> {
    let name = crate::template::unquote(name.trim_end_matches(['.', ',', ';']));
    (!name.is_empty()).then(|| Fault::NoSuchReference { name: bounded(name) })
}

fn lock(pid: &str) -> Option<Fault> {
    Some(Fault::LockHeld { path: None, pid: pid.parse().ok() })
}

/// The table.
pub fn rows() -> Vec<Row> {
    let mut rows = lock_rows();
    rows.extend(container_rows());
    rows.extend(supervisor_rows());
    rows
}

/// What would look like something else to the tables of other tools.
pub fn first_rows() -> Vec<Row> {
    vec![
        row("^Failed to connect to bus: Host is down", |_| {
            Some(Fault::Other { message: "Failed to connect to bus: Host is down".into() })
        })
        .class(Class::Environment),
        row("Failed at step CHDIR spawning ", |_| {
            Some(Fault::Other { message: "the working directory of the unit does not exist".into() })
        })
        .class(Class::Logic),
    ]
}

fn lock_rows() -> Vec<Row> {
    vec![
        row("Could not get lock {path:w}. It is held by process {pid:n}", |h| {
            Some(Fault::LockHeld { path: Some(h.path("path")), pid: h.number("pid") })
        }),
        row("Could not get lock {path:w}", |h| {
            let path = h.get("path").trim_end_matches(['.', ',']);
            Some(Fault::LockHeld { path: Some(path.into()), pid: None })
        }),
        row("Unable to acquire the dpkg frontend lock ({path:w})", |h| {
            Some(Fault::LockHeld { path: Some(h.path("path")), pid: None })
        }),
        row("dpkg frontend lock was locked by another process with pid {pid:n}", |h| lock(h.get("pid"))),
        row("already running as process {pid:n}", |h| lock(h.get("pid"))),
        row("already running as PID {pid:n}", |h| lock(h.get("pid"))),
        row("already running with pid {pid:n}", |h| lock(h.get("pid"))),
        row("already running with PID {pid:n}", |h| lock(h.get("pid"))),
        row("already running (pid {pid:n}", |h| lock(h.get("pid"))),
        row("already running (PID {pid:n}", |h| lock(h.get("pid"))),
        row("already running (process {pid:n}", |h| lock(h.get("pid"))),
        row("already running, pid {pid:n}", |h| lock(h.get("pid"))),
        row("already running: {pid:n}", |h| lock(h.get("pid"))),
        row("is running as pid {pid:n}", |h| lock(h.get("pid"))),
        row("is already running", |_| lock("")),
        row("already running", |_| lock("")),
        row("holds the lock", |_| lock("")),
        row("lock is held", |_| lock("")),
        row("another instance is running", |_| lock("")),
        row("Another instance of this program is running", |_| lock("")),
        row("locked by process {pid:n}", |h| lock(h.get("pid"))),
        row("locked by PID {pid:n}", |h| lock(h.get("pid"))),
        row("locked by pid {pid:n}", |h| lock(h.get("pid"))),
        row("held by process {pid:n}", |h| lock(h.get("pid"))),
        row("held by pid {pid:n}", |h| lock(h.get("pid"))),
        row("held by PID {pid:n}", |h| lock(h.get("pid"))),
        row("lock file {path:q} exists", |h| Some(Fault::LockHeld { path: Some(h.path("path")), pid: None })),
        row("lock file {path:q} already exists", |h| {
            Some(Fault::LockHeld { path: Some(h.path("path")), pid: None })
        }),
        row("lockfile {path:q} exists", |h| Some(Fault::LockHeld { path: Some(h.path("path")), pid: None })),
        row("Error acquiring the state lock", |_| lock("")),
        row("unable to lock {path:q}", |h| Some(Fault::LockHeld { path: Some(h.path("path")), pid: None })),
        row("could not acquire lock", |_| lock("")),
        row("failed to acquire lock", |_| lock("")),
        row("database is locked", |_| lock("")),
        row("database table is locked", |_| lock("")),
        row("Lock wait timeout exceeded", |_| lock("")),
        row("Deadlock found when trying to get lock", |_| lock("")),
        row("deadlock detected", |_| lock("")),
        row("Resource temporarily unavailable", |_| lock("")),
        row("Text file busy", |_| lock("")),
        row("waiting for cache lock: Could not get lock {path:w}.", |h| {
            Some(Fault::LockHeld { path: Some(h.path("path")), pid: None })
        }),
        row("Address already in use", |_| lock("")),
        row("address already in use", |_| lock("")),
        row("EADDRINUSE", |_| lock("")),
        row("mount: {path}: target is busy", |h| {
            Some(Fault::LockHeld { path: Some(h.path("path")), pid: None })
        }),
    ]
}

fn container_rows() -> Vec<Row> {
    vec![
        row("Cannot connect to the Docker daemon", |_| {
            Some(Fault::Network { how: "refused".into(), host: Some("docker".into()) })
        }),
        row("failed to connect to the docker API", |_| {
            Some(Fault::Network { how: "refused".into(), host: Some("docker".into()) })
        }),
        row("No such container: {name:w}", |h| reference(h.get("name"))),
        row("No such image: {name:w}", |h| reference(h.get("name"))),
        row("Unable to find image {name:q} locally", |_| None),
        row("pull access denied for {name:w}", |h| reference(h.get("name"))),
        row("manifest for {name:w} not found", |h| reference(h.get("name"))),
        row("network {name:w} not found", |h| reference(h.get("name"))),
        row("no such service: {name:w}", |h| reference(h.get("name"))),
        row("exec: {name:q}: executable file not found in $PATH", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("Conflict. The container name {name:q} is already in use", |h| {
            Some(Fault::PathExists { path: h.path("name") })
        }),
        row("toomanyrequests: ", |_| Some(Fault::HttpStatus { code: 429, retry_after_s: None })),
        row("You have reached your pull rate limit", |_| {
            Some(Fault::HttpStatus { code: 429, retry_after_s: None })
        }),
        row("Error from server (NotFound): {kind:w} {name:q} not found", |h| reference(h.get("name"))),
        row("Error from server (Forbidden): ", |_| Some(Fault::PermissionDenied { path: None })),
        row("Error from server (ServiceUnavailable)", |_| {
            Some(Fault::HttpStatus { code: 503, retry_after_s: None })
        }),
        row("error: context {name:q} does not exist", |h| reference(h.get("name"))),
        row("The connection to the server {host:w} was refused", |h| {
            Some(Fault::Network { how: "refused".into(), host: Some(h.text("host")) })
        })
        .of("kubectl"),
        row("Unable to connect to the server: ", |_| {
            Some(Fault::Network { how: "refused".into(), host: None })
        }),
        row("error: the path {path:q} does not exist", |h| Some(Fault::NoSuchPath { path: h.path("path") })),
        row("error: timed out waiting for the condition", |_| Some(Fault::TimedOut)),
        row("is invalid: ", |h| {
            let message = bounded(&format!("{}is invalid: {}", h.before, h.after));
            Some(Fault::BadValue { value: None, message })
        }),
        row("dockerfile parse error on line {at:n}: {message}$", |h| {
            Some(Fault::Syntax { near: None, message: bounded(h.get("message")) })
        }),
        row("error: no matching resources found", |_| reference("resource")),
        row("error: the server doesn't have a resource type {name:q}", |h| reference(h.get("name"))),
    ]
}

fn supervisor_rows() -> Vec<Row> {
    vec![
        row("Unit {name:w} could not be found", |h| reference(h.get("name"))),
        row("Unit {name:w} not found", |h| reference(h.get("name"))),
        row("Unit {name:w} not loaded", |h| reference(h.get("name"))),
        row("Unit {name:w} does not exist", |h| reference(h.get("name"))),
        row("System has not been booted with systemd as init system", |_| {
            Some(Fault::Other { message: "System has not been booted with systemd as init system".into() })
        })
        .class(Class::Environment),
        row("^Failed to {act:w} {name:w}: Access denied", |_| Some(Fault::PermissionDenied { path: None })),
        row("^Failed to {act:w} {name:w}: Interactive authentication required", |_| {
            Some(Fault::PermissionDenied { path: None })
        }),
        row("Failed to locate executable {path}: No such file or directory", |h| {
            Some(Fault::CommandNotFound { name: h.text("path") })
        }),
        row("Failed at step EXEC spawning {path}: No such file or directory", |h| {
            Some(Fault::CommandNotFound { name: h.text("path") })
        }),
        row("Failed at step EXEC spawning {path}: Permission denied", |h| {
            Some(Fault::NotExecutable { path: h.path("path") })
        }),
        row("Changing to the requested working directory failed: No such file or directory", |_| {
            Some(Fault::Other { message: "Changing to the requested working directory failed".into() })
        })
        .class(Class::Logic),
        row("killed by the OOM killer", |_| Some(Fault::OutOfMemory)),
        row("Failed with result 'oom-kill'", |_| Some(Fault::OutOfMemory)),
        row("Failed to connect to bus: ", |_| Some(Fault::UnsetVariable { name: "XDG_RUNTIME_DIR".into() })),
        row("Unable to locate package {name:w}", |h| reference(h.get("name"))).of("apt-get"),
        row("^Device {name:q} does not exist", |h| reference(h.get("name"))).of("ip"),
        row("^Cannot find device {name:q}", |h| reference(h.get("name"))).of("ip"),
        row("^sudo: unknown user {name:w}", |h| reference(h.get("name"))),
        row("^sudo: unknown user: {name:w}", |h| reference(h.get("name"))),
        row("Package {name:q} has no installation candidate", |h| reference(h.get("name"))),
        row("No match for argument: {name:w}", |h| reference(h.get("name"))),
        row("ERROR: Could not find a version that satisfies the requirement {name:w}", |h| {
            reference(h.get("name"))
        })
        .of("pip"),
        row("ERROR: No matching distribution found for {name:w}", |h| reference(h.get("name"))).of("pip"),
        row("externally-managed-environment", |_| {
            Some(Fault::Other { message: "error: externally-managed-environment".into() })
        }),
        row("Unable to locate credentials", |_| Some(Fault::PermissionDenied { path: None })),
        row("(AccessDenied)", |_| Some(Fault::PermissionDenied { path: None })),
        row("(NoSuchBucket)", |_| reference("bucket")),
        row("(NoSuchKey)", |_| reference("key")),
        row("mount: {path}: can't find in /etc/fstab", |h| {
            Some(Fault::NoSuchReference { name: h.text("path") })
        }),
        row("mount point {path} does not exist", |h| Some(Fault::NoSuchPath { path: h.path("path") })),
        row("mount: {path}: mount point does not exist", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("invalid user: {name:q}", |h| reference(h.get("name"))),
        row("invalid group: {name:q}", |h| reference(h.get("name"))),
        row("user {name:w} does not exist", |h| reference(h.get("name"))),
        row("group {name:q} does not exist", |h| reference(h.get("name"))),
    ]
}

/// A server's status line or message, with the `Retry-After` header on a line of its own near it.
pub fn block(lines: &[Line<'_>]) -> Block {
    let first = lines.first()?;
    let head = first.rest.trim_start_matches(['<', ' ']);
    head.starts_with("HTTP/").then_some(())?;
    let code: u16 = head.split(' ').nth(1)?.parse().ok().filter(|code| (400..600).contains(code))?;
    let headers = lines.iter().take(40).take_while(|line| line.rest.trim().len() > 1);
    let taken = headers.clone().count();
    let wait = headers.filter_map(|line| {
        let (name, value) = line.rest.trim_start_matches(['<', ' ']).split_once(':')?;
        name.eq_ignore_ascii_case("retry-after").then(|| value.trim().parse().ok())?
    });
    let fault = Fault::HttpStatus { code, retry_after_s: wait.last() };
    Some((vec![Found::new(fault, first)], taken))
}
