//! Where crontabs are: the system's files, the spool of users' tables, and the caller's own by `crontab -l`. Only
//! reading; a table is written by `change.rs`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, Stdio};

use selfheal_core::ids::Timestamp;

use crate::command_error::CommandError;
use crate::context::Context;
use crate::cron::{Command, Form, Kind, Table, Wrapped, derived_name, unwrap, wrapped_in};

/// Crontabs larger than this are not read: 4 MiB.
const LARGEST: u64 = 4 << 20;

/// Where users' tables lie: Debian, Red Hat, SUSE.
const SPOOLS: [&str; 3] = ["var/spool/cron/crontabs", "var/spool/cron", "var/spool/cron/tabs"];

/// One crontab.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file, or the user whose table it is.
    pub label: String,
    /// Its form.
    pub form: Form,
    /// The user of all its jobs, for a user's table.
    pub owner: Option<String>,
    /// When it was changed last, where that can be known.
    pub modified: Option<Timestamp>,
    /// Its lines.
    pub table: Table,
}

/// All that could be read, and a sentence for each that could not.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The tables.
    pub sources: Vec<Source>,
    /// What could not be read, and why.
    pub unreadable: Vec<String>,
}

/// One job of a crontab.
#[derive(Clone, Debug)]
pub struct CronJob {
    /// The file or table.
    pub place: String,
    /// The line, from 1.
    pub line: usize,
    /// Five fields or a nickname.
    pub schedule: String,
    /// The user that it runs as.
    pub user: String,
    /// The command without selfheal, as it stands there.
    pub command: String,
    /// Its name: the one that it was wrapped with, else one made of its script.
    pub name: String,
    /// How it is wrapped, if it is.
    pub wrapped: Option<Wrapped>,
    /// `MAILTO`, if the table sets it.
    pub mailto: Option<String>,
    /// `PATH`, if the table sets it.
    pub path: Option<String>,
    /// `HOME`, if the table sets it.
    pub home: Option<String>,
    /// `CRON_TZ`, if the table sets it.
    pub zone: Option<String>,
    /// Whether something before selfheal decides if it starts at all (`[ -x F ] &&`).
    pub guarded: bool,
}

impl CronJob {
    /// The line as the shell gets it.
    #[must_use]
    pub fn shell_text(&self) -> String {
        Command::divide(&self.command).shell_text()
    }
}

impl Source {
    /// Its jobs.
    #[must_use]
    pub fn jobs(&self) -> Vec<CronJob> {
        self.table.jobs().map(|(line, entry)| self.job(line, entry)).collect()
    }

    fn job(&self, line: usize, entry: &crate::cron::Entry) -> CronJob {
        let command = entry.command().unwrap_or_default();
        let wrapped = wrapped_in(command);
        let before = wrapped.as_ref().and_then(|found| command.get(..found.span.start)).unwrap_or_default();
        let guarded = ["||", "[", "test ", "if "].iter().any(|word| before.contains(word));
        let bare = unwrap(command).unwrap_or_else(|_| command.to_owned());
        let setting = |name| self.table.setting_at(name, line).map(str::to_owned);
        CronJob {
            place: self.label.clone(),
            line,
            schedule: entry.schedule().unwrap_or_default().to_owned(),
            user: entry.user().map(str::to_owned).or_else(|| self.owner.clone()).unwrap_or_default(),
            name: wrapped.as_ref().and_then(|one| one.job.clone()).unwrap_or_else(|| derived_name(&bare)),
            command: bare,
            wrapped,
            mailto: setting("MAILTO"),
            path: setting("PATH"),
            home: setting("HOME"),
            zone: setting("CRON_TZ"),
            guarded,
        }
    }

    /// The lines that are neither comment nor setting nor job, from 1.
    #[must_use]
    pub fn unknown_lines(&self) -> Vec<usize> {
        let lines = (1..).zip(self.table.entries());
        lines.filter(|(_, entry)| entry.kind == Kind::Unknown).map(|(line, _)| line).collect()
    }
}

/// Reads every crontab below a folder; without one those of this machine, the caller's own by `crontab -l`.
#[must_use]
pub fn all(context: &Context, below: Option<&Path>) -> Found {
    let root = below.unwrap_or(Path::new("/"));
    let mut found = Found::default();
    found.file(&root.join("etc/crontab"), Form::System, None);
    for file in files_in(&root.join("etc/cron.d")) {
        found.file(&file, Form::System, None);
    }
    let own = user_name(context.uid);
    if below.is_none() {
        found.own(&own);
    }
    let read: Vec<Option<String>> = found.sources.iter().map(|source| source.owner.clone()).collect();
    for spool in SPOOLS {
        for file in files_in(&root.join(spool)) {
            let user = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if !read.contains(&Some(user.clone())) {
                found.file(&file, Form::User, Some(user));
            }
        }
    }
    found
}

impl Found {
    fn file(&mut self, path: &Path, form: Form, owner: Option<String>) {
        match read_file(path) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                let table = Table::read(&bytes, form);
                let label = path.display().to_string();
                self.sources.push(Source { label, form, owner, modified: modified(path), table });
            }
            Err(error) => self.unreadable.push(format!("{}: {error}", path.display())),
        }
    }

    fn own(&mut self, user: &str) {
        if let Ok(Some(bytes)) = read_own(None) {
            self.sources.push(Source {
                label: format!("crontab of {user}"),
                form: Form::User,
                owner: Some(user.to_owned()),
                modified: None,
                table: Table::read(&bytes, Form::User),
            });
        }
    }
}

/// A crontab's bytes; `None` when there is no such file.
fn read_file(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let file = match std::fs::metadata(path) {
        Ok(facts) if facts.is_file() => std::fs::File::open(path)?,
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn modified(path: &Path) -> Option<Timestamp> {
    let time = std::fs::metadata(path).and_then(|facts| facts.modified()).ok()?;
    let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp(i64::try_from(since.as_millis()).ok()?))
}

/// The regular files of a folder in the order of their names, without hidden ones and what editors and packages leave.
pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let left = [".dpkg-old", ".dpkg-dist", ".dpkg-new", ".rpmsave", ".rpmnew", ".rpmorig", "~", ".swp"];
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            !name.starts_with('.') && !left.iter().any(|end| name.ends_with(end))
        })
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

/// A user's table as `crontab -l` prints it; `None` when there is none.
///
/// # Errors
/// When there is no `crontab` program.
pub fn read_own(user: Option<&str>) -> Result<Option<Vec<u8>>, CommandError> {
    let output = crontab(user)
        .arg("-l")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|error| CommandError::new("failed to run crontab").because(&error))?;
    Ok(output.status.success().then_some(output.stdout))
}

/// The `crontab` program, for a user.
pub(crate) fn crontab(user: Option<&str>) -> Program {
    let mut command = Program::new("crontab");
    if let Some(user) = user {
        command.args(["-u", user]);
    }
    command
}

/// A user's name by number, as the password file has it.
#[must_use]
pub fn user_name(uid: u32) -> String {
    let number = uid.to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find(|line| line.split(':').nth(2) == Some(number.as_str()));
    named.and_then(|line| line.split(':').next()).map_or(number.clone(), str::to_owned)
}
