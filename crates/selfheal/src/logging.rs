//! The log of what selfheal does while it heals: INFO for the flow, WARN for decisions, ERROR for anomalies, DEBUG only
//! on request (`SELFHEAL_LOG=debug`). A file in the state directory; a run that succeeds never opens it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use selfheal_core::redact::Redactor;
use tracing::Level;

/// The size at which the log is moved aside, in bytes.
const MOST_BYTES: u64 = 4 << 20;

/// Begins to log. Without a place for the log there is none; that is no reason not to heal.
pub fn start(state: &Path, redactor: Redactor) {
    let file = state.join("selfheal.log");
    if std::fs::metadata(&file).is_ok_and(|facts| facts.len() > MOST_BYTES) {
        let _ = std::fs::rename(&file, state.join("selfheal.log.1"));
    }
    let Ok(file) = OpenOptions::new().create(true).append(true).mode(0o600).open(file) else { return };
    let level = match std::env::var("SELFHEAL_LOG").as_deref() {
        Ok("debug") => Level::DEBUG,
        Ok("warn") => Level::WARN,
        Ok("error") => Level::ERROR,
        _ => Level::INFO,
    };
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_writer(Mutex::new(Clean { file, redactor }))
        .finish();
    // Already set is as good.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Takes secrets out of the lines of the log. An event comes as one piece.
struct Clean {
    file: File,
    redactor: Redactor,
}

impl Write for Clean {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let line = self.redactor.text(&String::from_utf8_lossy(bytes));
        // A log without room is no reason to say anything on standard error, which is the job's.
        let _ = self.file.write_all(line.as_str().as_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}
