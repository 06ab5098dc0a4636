//! The timer that runs `selfheal tick`: a systemd timer where systemd runs, else a line in the user's crontab.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command_error::CommandError;

/// The mark of our line in a crontab.
const MARK: &str = "# selfheal tick";

/// The units that packages install, too; they name the program where packages put it.
const SERVICE: &str = include_str!("../../../packaging/systemd/selfheal-tick.service");
const TIMER: &str = include_str!("../../../packaging/systemd/selfheal-tick.timer");
const PACKAGED: &str = "/usr/bin/selfheal";

/// How the timer is installed, if it is.
#[must_use]
pub fn installed() -> Option<String> {
    if Path::new("/etc/systemd/system/selfheal-tick.timer").exists() {
        return Some("systemd timer selfheal-tick.timer".to_owned());
    }
    crontab().filter(|text| text.contains(MARK)).map(|_| "crontab line".to_owned())
}

/// Installs it.
///
/// # Errors
/// When neither systemd nor cron can be used.
pub fn install(program: &Path, uid: u32) -> Result<(), CommandError> {
    if uid == 0 && Path::new("/run/systemd/system").is_dir() {
        with_systemd(program)
    } else {
        with_cron(program)
    }
}

fn with_systemd(program: &Path) -> Result<(), CommandError> {
    let folder = PathBuf::from("/etc/systemd/system");
    let service = SERVICE.replace(PACKAGED, &program.display().to_string());
    for (name, text) in [("selfheal-tick.service", service.as_str()), ("selfheal-tick.timer", TIMER)] {
        let file = folder.join(name);
        std::fs::write(&file, text).map_err(|error| {
            CommandError::new(format!("failed to write {}", file.display())).because(&error)
        })?;
    }
    succeed(Command::new("systemctl").arg("daemon-reload"))?;
    succeed(Command::new("systemctl").args(["enable", "--now", "selfheal-tick.timer"]))
}

fn with_cron(program: &Path) -> Result<(), CommandError> {
    let before = crontab().unwrap_or_default();
    if before.contains(MARK) {
        return Ok(());
    }
    let text = format!("{before}*/10 * * * * '{}' tick >/dev/null {MARK}\n", program.display());
    let mut child = Command::new("crontab")
        .arg("-")
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| no_cron().because(&error))?;
    if let Some(mut input) = child.stdin.take() {
        std::io::Write::write_all(&mut input, text.as_bytes()).map_err(|error| no_cron().because(&error))?;
    }
    let status = child.wait().map_err(|error| no_cron().because(&error))?;
    if status.success() { Ok(()) } else { Err(no_cron()) }
}

fn no_cron() -> CommandError {
    CommandError::new("failed to install the timer")
        .hint("run `selfheal tick` from any scheduler every 10 minutes")
}

fn crontab() -> Option<String> {
    let output =
        Command::new("crontab").arg("-l").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn succeed(command: &mut Command) -> Result<(), CommandError> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(no_cron()),
    }
}
