//! What was sent to language models: every request body, byte for byte, a line each, in one file an incident.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use selfheal_core::ids::IncidentId;
use selfheal_core::ports::PortError;
use selfheal_core::redact::Redacted;

use crate::Store;
use crate::trouble::io;

impl Store {
    /// Notes a request body before it leaves. A body is JSON on one line.
    ///
    /// # Errors
    /// When it cannot be written; then it must not be sent.
    pub fn note_sent(&self, incident: &IncidentId, body: &Redacted) -> Result<(), PortError> {
        let path = self.sent_file(incident);
        let fail = |error| io(format!("note what is sent in {}", path.display()), error);
        let folder = self.root().join("sent");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(fail)?;
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path).map_err(fail)?;
        file.write_all(format!("{}\n", body.as_str().replace('\n', " ")).as_bytes()).map_err(fail)
    }

    /// Every request body that was sent for an incident, in order.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn sent(&self, incident: &IncidentId) -> Result<Vec<String>, PortError> {
        let path = self.sent_file(incident);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(io(format!("read {}", path.display()), error)),
        }
    }

    fn sent_file(&self, incident: &IncidentId) -> PathBuf {
        self.root().join("sent").join(format!("{incident}.jsonl"))
    }
}
