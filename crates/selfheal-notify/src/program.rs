//! The notifier that runs a program: the message is one JSON document on its standard input.
//!
//! The document: `version` (1), `at` (milliseconds since 1970), `subject`, `text`, `incident` (identity or null). The
//! program accepts the message by exit code 0; anything else, and taking too long, means that it did not, and the outbox
//! tries again later. No shell is involved.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::MemfdFlags;
use selfheal_core::ids::IncidentId;
use selfheal_core::ports::{Message, Notifier, PortError, Trouble};
use serde::Serialize;

use crate::child::{self, Ended};

/// How long a program may take when nobody says.
const USUAL_LIMIT_MS: u64 = 20_000;
/// How long it may take at most. The outbox lends a message for five minutes; several must fit into that.
const LONGEST_LIMIT_MS: u64 = 60_000;

/// What the user set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSettings {
    /// The program, absolute or a name on the PATH, and its arguments.
    pub command: Vec<OsString>,
    /// How long it may take, in milliseconds; at most 60 s.
    pub limit_ms: u64,
}

impl Default for ProgramSettings {
    fn default() -> Self {
        Self { command: Vec::new(), limit_ms: USUAL_LIMIT_MS }
    }
}

/// Delivers each message by running a program.
#[derive(Clone, Debug)]
pub struct Program {
    program: PathBuf,
    arguments: Vec<OsString>,
    limit: Duration,
}

/// Why a program did not accept a message.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("it ended with exit code {code}{said}")]
    Code { code: i32, said: String },
    #[error("it was ended by signal {signal}{said}")]
    Signal { signal: i32, said: String },
    #[error("it did not end within {ms} ms and was killed{said}")]
    TooLong { ms: u128, said: String },
}

/// The document that the program reads.
#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    at: i64,
    subject: &'a str,
    text: &'a str,
    incident: Option<&'a str>,
}

impl Program {
    /// A notifier from what the user set. Nothing is run yet.
    ///
    /// # Errors
    /// When no program is named, or by a relative path: it would depend on the folder of the job.
    pub fn from_settings(settings: ProgramSettings) -> Result<Self, PortError> {
        let mut words = settings.command.into_iter();
        let program = PathBuf::from(words.next().unwrap_or_default());
        if program.as_os_str().is_empty() {
            return Err(PortError::plain("use a notifier without a program", Trouble::Missing));
        }
        if program.is_relative() && program.components().count() > 1 {
            let doing = format!("use the notifier {}: its path is not absolute", program.display());
            return Err(PortError::plain(doing, Trouble::Other));
        }
        let limit = Duration::from_millis(settings.limit_ms.clamp(1, LONGEST_LIMIT_MS));
        Ok(Self { program, arguments: words.collect(), limit })
    }

    /// Runs the program with these bytes on its standard input; it took them when it ends with 0.
    ///
    /// # Errors
    /// When it cannot be run, ends otherwise, or takes too long; `doing` is what was to be done by that.
    pub fn give(&self, doing: &str, input: &[u8]) -> Result<(), PortError> {
        let doing = format!("{doing} by {}", self.program.display());
        let failed = |error: std::io::Error| PortError::new(&doing, error);
        let input = in_memory(input).map_err(failed)?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            // The job's folder may be gone or hold a file system busy.
            .current_dir(Path::new("/"))
            .stdin(input)
            // The job's output is the job's.
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let (ended, said) = child::run(&mut command, self.limit).map_err(failed)?;
        self.refused(ended, said).map_err(|refusal| PortError::new(&doing, refusal))
    }

    fn refused(&self, ended: Ended, said: String) -> Result<(), Refusal> {
        Err(match ended {
            Ended::Code(0) => return Ok(()),
            Ended::Code(code) => Refusal::Code { code, said },
            Ended::Signal(signal) => Refusal::Signal { signal, said },
            Ended::Killed => Refusal::TooLong { ms: self.limit.as_millis(), said },
        })
    }
}

impl Notifier for Program {
    fn notify(&self, message: &Message) -> Result<(), PortError> {
        let doing = "notify";
        let document = document(message).map_err(|error| PortError::new(doing, error))?;
        self.give(doing, &document)
    }
}

fn document(message: &Message) -> serde_json::Result<Vec<u8>> {
    let document = Document {
        version: 1,
        at: message.at.0,
        subject: message.subject.as_str(),
        text: message.text.as_str(),
        incident: message.incident.as_ref().map(IncidentId::as_str),
    };
    let mut line = serde_json::to_vec(&document)?;
    line.push(b'\n');
    Ok(line)
}

/// Bytes as a file in memory: a program that does not read it cannot make us wait, as it could with a pipe.
fn in_memory(document: &[u8]) -> std::io::Result<Stdio> {
    let mut file = File::from(rustix::fs::memfd_create("selfheal-message", MemfdFlags::CLOEXEC)?);
    file.write_all(document)?;
    file.rewind()?;
    Ok(Stdio::from(file))
}
