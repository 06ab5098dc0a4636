//! A hermetic environment: a program runs where nothing of the machine's user shows, and ends at a deadline.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::normalise::normalise;

/// After this a run is ended; long enough for a loaded machine.
const DEADLINE: Duration = Duration::from_secs(120);
/// So long output is waited for after the end, when somebody else still holds the pipe.
const DRAIN: Duration = Duration::from_secs(2);

/// Folders of its own, a known environment, and one program.
pub struct TestEnv {
    root: TempDir,
    program: PathBuf,
    vars: BTreeMap<OsString, OsString>,
    deadline: Duration,
}

impl TestEnv {
    /// A fresh environment for a program: empty home, state and work folders, and only these variables: PATH as it is,
    /// `LC_ALL=C.UTF-8`, `TZ=UTC`, and what points at the folders.
    ///
    /// # Panics
    /// When the folders cannot be made.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let root = tempfile::Builder::new().prefix("selfheal-test-").tempdir().expect("a temporary folder");
        let mut vars = BTreeMap::new();
        for (name, value) in [("LC_ALL", "C.UTF-8"), ("TZ", "UTC")] {
            vars.insert(name.into(), value.into());
        }
        vars.insert("PATH".into(), std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
        let folders = [
            ("HOME", "home"),
            ("TMPDIR", "tmp"),
            ("XDG_CONFIG_HOME", "home/.config"),
            ("XDG_STATE_HOME", "state"),
            ("STATE_DIRECTORY", "state/selfheal"),
        ];
        for (name, folder) in folders {
            let path = root.path().join(folder);
            fs::create_dir_all(&path).expect("a writable temporary folder");
            vars.insert(name.into(), path.into());
        }
        fs::create_dir_all(root.path().join("job")).expect("a writable temporary folder");
        Self { root, program: program.into(), vars, deadline: DEADLINE }
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.vars.insert(name.into(), value.as_ref().to_owned());
        self
    }

    /// Removes a variable.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.vars.remove(OsStr::new(name));
        self
    }

    /// Ends runs after this long.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The folder that holds everything else.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The user's home.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The program's state folder.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.root().join("state/selfheal")
    }

    /// The folder that the program is started in.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root().join("job")
    }

    /// Writes a file below the work folder, its parents included, and returns its path.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap_or(&path)).expect("a writable work folder");
        fs::write(&path, text).expect("a writable work folder");
        path
    }

    /// Writes an executable file below the work folder and returns its path.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an own file");
        path
    }

    /// The text of a file below the work folder.
    ///
    /// # Panics
    /// When it cannot be read as text.
    #[must_use]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work().join(name)).expect("a readable text file")
    }

    /// Runs the program in the work folder with nothing on standard input (`/dev/null`).
    ///
    /// # Panics
    /// When it cannot be started, or does not end before the deadline.
    pub fn run(&self, args: &[&str]) -> Outcome {
        self.finish(self.command(args).stdin(Stdio::null()), args, b"")
    }

    /// Runs the program in the work folder with this on its standard input.
    ///
    /// # Panics
    /// When it cannot be started, or does not end before the deadline.
    pub fn run_with_input(&self, args: &[&str], input: &[u8]) -> Outcome {
        self.finish(self.command(args).stdin(Stdio::piped()), args, input)
    }

    fn finish(&self, command: &mut Command, args: &[&str], input: &[u8]) -> Outcome {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{} cannot be started: {error}", self.program.display()));
        let stdout = Drain::start(child.stdout.take());
        let stderr = Drain::start(child.stderr.take());
        feed(&mut child, input);
        let status = self.wait(child, args);
        let until = Instant::now() + DRAIN;
        Outcome {
            stdout: stdout.text(until),
            stderr: stderr.text(until),
            code: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            root: self.root().to_owned(),
        }
    }

    /// The program with the known environment, for tests that need more than [`Self::run`]. In a process group of its
    /// own.
    #[must_use]
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().envs(&self.vars).current_dir(self.work()).process_group(0);
        command
    }

    fn wait(&self, mut child: Child, args: &[&str]) -> ExitStatus {
        let group = child.id();
        let (send, ended) = mpsc::channel();
        std::thread::spawn(move || send.send(child.wait()));
        match ended.recv_timeout(self.deadline) {
            Ok(status) => status.expect("an own child can be waited for"),
            Err(_) => {
                drop(Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status());
                panic!("{} {args:?} did not end within {:?}", self.program.display(), self.deadline);
            }
        }
    }
}

/// Writes the input from a thread, so that a child that does not read it cannot hold the test up.
fn feed(child: &mut Child, input: &[u8]) {
    let Some(mut stdin) = child.stdin.take() else { return };
    if input.is_empty() {
        return;
    }
    let input = input.to_vec();
    // A child may close its input early; that is its affair.
    std::thread::spawn(move || drop(stdin.write_all(&input)));
}

/// Reads a stream in a thread, and gives out what came even if somebody keeps the stream open.
struct Drain {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: mpsc::Receiver<()>,
}

impl Drain {
    fn start(stream: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (send, ended) = mpsc::channel();
        let filling = Arc::clone(&bytes);
        std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            let Some(mut stream) = stream else { return };
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                let mut bytes = filling.lock().unwrap_or_else(PoisonError::into_inner);
                bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
            }
            // Nobody may wait any more.
            let _ = send.send(());
        });
        Self { bytes, ended }
    }

    fn text(&self, until: Instant) -> String {
        let _ = self.ended.recv_timeout(until.saturating_duration_since(Instant::now()));
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// What a run showed.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Standard output, lossy where it is no text.
    pub stdout: String,
    /// Standard error, lossy where it is no text.
    pub stderr: String,
    /// The exit code; 128+n for a signal.
    pub code: i32,
    root: PathBuf,
}

impl Outcome {
    /// The run as text for a snapshot: both streams, with what differs from run to run replaced, and
    /// `[exit status: N]` at the end.
    #[must_use]
    pub fn normalised(&self) -> String {
        let mut out = String::new();
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if text.is_empty() {
                continue;
            }
            out.push_str(&format!("--- {name} ---\n{}", self.own(text)));
            if !out.ends_with('\n') {
                out.push('\n');
            }
        }
        out.push_str(&format!("[exit status: {}]", self.code));
        out
    }

    fn own(&self, text: &str) -> String {
        let real = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
        let text = text.replace(&*real.to_string_lossy(), "[TEST]");
        normalise(&text.replace(&*self.root.to_string_lossy(), "[TEST]"))
    }
}
