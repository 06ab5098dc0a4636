//! A model file of the user's, served by `llama-server`: started when it is first needed, one on a machine, niced, and ended
//! when the questions are over, with the incident at the latest, however selfheal itself ends.
//!
//! A shell stands between: it waits for the server and for the end of a pipe from here at once, so that the server does not outlive
//! a selfheal that was killed. The server listens on this machine only, on a free port, and wants a key that nobody else has.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use selfheal_core::ports::Clock;

use crate::config::{ModelProvider, ModelSettings};
use crate::context::Context;

/// How long it waits for another selfheal's server to end, and for its own to be ready.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often it looks.
const LOOK: Duration = Duration::from_millis(100);
/// Memory beside the model itself: its context, and what the machine needs besides.
const BESIDE: u64 = 768 * 1024 * 1024;
/// Tokens of context: the longest question with its answer.
const CONTEXT: &str = "16384";
/// Runs the server until it ends or the pipe does.
const WATCHED: &str = r#"exec 3<&0
"$@" </dev/null 3<&- & server=$!
{ read -r _ <&3; kill "$server"; } & watch=$!
wait "$server"; code=$?
kill "$watch" 2>/dev/null
exit "$code""#;

/// The server of one incident, if it was needed.
#[derive(Debug, Default)]
pub struct Server {
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    settings: ModelSettings,
    /// Held as long as the server runs.
    _lock: File,
}

impl Drop for Running {
    fn drop(&mut self) {
        // The end of the pipe ends the server.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

impl Server {
    /// Ends the server until it is needed again: nothing is asked while a person decides and while the repaired job runs.
    pub fn rest(&mut self) {
        self.running = None;
    }

    /// Whether a model needs a server of ours.
    #[must_use]
    pub fn wanted(settings: &ModelSettings) -> bool {
        settings.provider == ModelProvider::Llama
    }

    /// The settings with the address and key of the server, which is started if it does not run.
    ///
    /// # Errors
    /// In words: no such file, not enough memory, another server runs, or it does not come up.
    pub fn started(&mut self, context: &Context, settings: &ModelSettings) -> Result<ModelSettings, String> {
        if let Some(running) = self.running.as_mut().filter(|running| running.settings.name == settings.name)
            && matches!(running.child.try_wait(), Ok(None))
        {
            return Ok(running.settings.clone());
        }
        self.running = None;
        let running = start(context, settings)?;
        let ready = running.settings.clone();
        self.running = Some(running);
        Ok(ready)
    }
}

fn start(context: &Context, settings: &ModelSettings) -> Result<Running, String> {
    let model = Path::new(&settings.name);
    let size = std::fs::metadata(model).map_err(|error| format!("{}: {error}", model.display()))?.len();
    let lock = locked(&std::env::temp_dir().join("selfheal-llama-server.lock"))?;
    enough_memory(size)?;
    let port = free_port().map_err(|error| format!("no free port: {error}"))?;
    let key_file = write_key(context)?;
    let log = context.state.join("llama-server.log");
    let output = private(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let mut command = Command::new("sh");
    command.args(["-c", WATCHED, "sh", "nice", "-n", "10"]).arg(&settings.program);
    command.arg("-m").arg(model).args(["--host", "127.0.0.1", "--port", &port.to_string()]);
    command.args(["-c", CONTEXT, "-t", &threads().to_string(), "--parallel", "1"]);
    command.arg("--api-key-file").arg(&key_file);
    if knows_ngrams(&settings.program) {
        // An answer repeats most of the script: it is guessed from the question, and only checked.
        command.args(["--spec-type", "ngram-mod"]);
    }
    let same = output.try_clone().map_err(|error| error.to_string())?;
    command.stdin(Stdio::piped()).stdout(same).stderr(output).process_group(0);
    let child = command.spawn().map_err(|error| format!("sh: {error}"))?;
    let url = format!("http://127.0.0.1:{port}/v1");
    let settings = ModelSettings { url, key_file: Some(key_file), ..settings.clone() };
    let mut running = Running { child, settings, _lock: lock };
    ready(&mut running.child, port, &log)?;
    Ok(running)
}

/// One server on a machine: the lock of all selfheals here. It needs no right to write, so that it is one for all users.
fn locked(path: &Path) -> Result<File, String> {
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    let open =
        || OpenOptions::new().read(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32).open(path);
    let file = match open() {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let made = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path);
            made.or_else(|_| open()).map_err(fail)?
        }
        Err(error) => return Err(fail(error)),
    };
    let until = Instant::now() + PATIENCE;
    while file.try_lock().is_err() {
        if Instant::now() >= until {
            return Err("another selfheal uses the model server of this machine".to_owned());
        }
        std::thread::sleep(LOOK);
    }
    Ok(file)
}

fn enough_memory(size: u64) -> Result<(), String> {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = available(&text).unwrap_or(u64::MAX);
    let need = size.saturating_add(BESIDE);
    if available < need {
        let mib = |bytes: u64| bytes / (1024 * 1024);
        return Err(format!("the model needs {} MiB of memory, and {} are free", mib(need), mib(available)));
    }
    Ok(())
}

/// The bytes of memory that are available, of the text of `/proc/meminfo`.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// A fresh key in a file that only its owner reads.
fn write_key(context: &Context) -> Result<PathBuf, String> {
    let path = context.state.join("llama-server.key");
    let key = format!("{}{}", context.clock.fresh_id(), context.clock.fresh_id()).replace('-', "");
    let written = private(&path).and_then(|mut file| file.write_all(key.as_bytes()));
    written.map(|()| path.clone()).map_err(|error| format!("{}: {error}", path.display()))
}

fn private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// The processors that are not busy, and one at least: threads that wait for each other are slower than a single one.
fn threads() -> usize {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let busy = load.split(' ').next().and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0);
    all.saturating_sub(busy.round() as usize).max(1)
}

/// Whether the program can guess an answer from the question. Older ones cannot, and end at words they do not know.
fn knows_ngrams(program: &str) -> bool {
    let help = Command::new(program).arg("--help").stdin(Stdio::null()).stderr(Stdio::null()).output();
    help.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains("ngram-mod"))
}

/// Waits until the server answers that it is ready.
fn ready(child: &mut Child, port: u16, log: &Path) -> Result<(), String> {
    let until = Instant::now() + PATIENCE;
    loop {
        if is_healthy(port) {
            return Ok(());
        }
        let ended = !matches!(child.try_wait(), Ok(None));
        if ended || Instant::now() >= until {
            let said = std::fs::read_to_string(log).unwrap_or_default();
            let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            let last: String = last.chars().filter(|c| !c.is_control()).take(160).collect();
            return Err(format!("the model server did not start: {last}"));
        }
        std::thread::sleep(LOOK);
    }
}

fn is_healthy(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let Ok(mut stream) = TcpStream::connect_timeout(&address, LOOK) else { return false };
    let asked = stream
        .set_read_timeout(Some(Duration::from_secs(1)))
        .and_then(|()| stream.write_all(b"GET /health HTTP/1.0\r\n\r\n"));
    let mut head = [0; 64];
    asked.is_ok()
        && stream.read(&mut head).is_ok_and(|count| {
            String::from_utf8_lossy(head.get(..count).unwrap_or_default()).contains(" 200 ")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(2 * 1024 * 1024));
        assert_eq!(available("nothing"), None);
        assert!(enough_memory(u64::MAX / 2).unwrap_err().contains("MiB"));
    }

    #[test]
    fn one_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = locked(&path).unwrap();
        assert!(OpenOptions::new().read(true).open(&path).unwrap().try_lock().is_err());
        drop(first);
        assert!(locked(&path).is_ok());
    }
}
