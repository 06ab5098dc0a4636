//! What happens at failpoints in a program that is built for tests: it ends as by `kill -9`, at the one that is asked for.
//!
//! `SELFHEAL_FAILPOINT_LOG=FILE` writes down each that is reached, `SELFHEAL_FAILPOINT=N` ends the process at the N-th.
//! `SELFHEAL_FAILPOINT_PANIC=NAME` panics at the one of that name, as a fault of ours would.
//! Not in release builds. A job does not see these variables, as no other of selfheal's.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use selfheal_core::failpoint;

/// What a test asked for.
struct Asked {
    log: Option<std::fs::File>,
    end_at: Option<u64>,
    panic_at: Option<String>,
}

static ASKED: OnceLock<Asked> = OnceLock::new();
static REACHED: AtomicU64 = AtomicU64::new(0);

/// Registers them, if a test asked for any.
pub fn register() {
    let log = std::env::var_os("SELFHEAL_FAILPOINT_LOG");
    let log = log.and_then(|path| std::fs::File::options().create(true).append(true).open(path).ok());
    let end_at = std::env::var("SELFHEAL_FAILPOINT").ok().and_then(|number| number.parse().ok());
    let panic_at = std::env::var("SELFHEAL_FAILPOINT_PANIC").ok();
    if log.is_some() || end_at.is_some() || panic_at.is_some() {
        let _ = ASKED.set(Asked { log, end_at, panic_at });
        failpoint::register(reached);
    }
}

fn reached(name: &str) {
    let Some(asked) = ASKED.get() else { return };
    assert!(asked.panic_at.as_deref() != Some(name), "a test asked for it at {name}");
    let number = REACHED.fetch_add(1, Ordering::Relaxed) + 1;
    if let Some(mut log) = asked.log.as_ref() {
        let _ = writeln!(log, "{number} {name}");
    }
    if asked.end_at == Some(number) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        loop {
            std::thread::park();
        }
    }
}
