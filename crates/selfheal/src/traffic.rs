//! Model traffic in a file: written down with `--record FILE`, played again with `--replay FILE`.

use std::path::PathBuf;

/// Where model traffic is written to, or comes from.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// Calls and what came of them are appended here.
    pub record: Option<PathBuf>,
    /// Replies come from here; nothing is sent.
    pub replay: Option<PathBuf>,
    /// What was read from there; the same for all clients, so that no reply is given twice.
    #[cfg(feature = "model")]
    recording: std::sync::Arc<std::sync::OnceLock<Result<std::sync::Arc<selfheal_model::Recording>, String>>>,
}

impl Traffic {
    /// The traffic of a command that was started in `cwd`.
    #[must_use]
    pub fn of(cwd: &std::path::Path, record: Option<&PathBuf>, replay: Option<&PathBuf>) -> Self {
        let absolute = |file: Option<&PathBuf>| file.map(|file| cwd.join(file));
        Self {
            record: absolute(record),
            replay: absolute(replay),
            #[cfg(feature = "model")]
            recording: std::sync::Arc::default(),
        }
    }

    /// The same for another process of the program.
    #[must_use]
    pub fn words(&self) -> Vec<std::ffi::OsString> {
        let named = [("--record", &self.record), ("--replay", &self.replay)];
        let given = named.into_iter().filter_map(|(name, file)| Some([name.into(), file.clone()?.into()]));
        given.flatten().collect()
    }
}

#[cfg(feature = "model")]
mod with_model {
    use std::fs::{File, OpenOptions};
    use std::io::{BufReader, Write};
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;
    use std::sync::Arc;

    use selfheal_model::{Client, Exchange, Recording};

    use super::Traffic;

    impl Traffic {
        /// A client whose calls are written down, or answered from a recording.
        ///
        /// # Errors
        /// When the recording cannot be read, in words.
        pub fn kept(&self, client: Client) -> Result<Client, String> {
            let client = match &self.replay {
                Some(file) => {
                    let read = self.recording.get_or_init(|| read(file).map(Arc::new));
                    client.with_recording(Arc::clone(read.as_ref().map_err(String::clone)?))
                }
                None => client,
            };
            Ok(match self.record.clone() {
                Some(file) => client.with_recorder(move |exchange| {
                    if let Err(error) = append(&file, exchange) {
                        tracing::error!(%error, file = %file.display(), "model traffic could not be recorded");
                    }
                }),
                None => client,
            })
        }
    }

    fn read(file: &Path) -> Result<Recording, String> {
        let fail = |reason: String| format!("{}: {reason}", file.display());
        let opened = File::open(file).map_err(|error| fail(error.to_string()))?;
        Recording::read(BufReader::new(opened)).map_err(fail)
    }

    /// One line in one write, so that processes which record at the same time do not mix theirs.
    fn append(file: &Path, exchange: &Exchange) -> std::io::Result<()> {
        let line = serde_json::to_string(exchange)?;
        let mut opened = OpenOptions::new().create(true).append(true).mode(0o600).open(file)?;
        opened.write_all(format!("{line}\n").as_bytes())
    }
}
