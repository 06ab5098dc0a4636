//! `selfheal cron wrap` and `unwrap`: shows the difference, and writes it when told to.
//!
//! A system file is saved, then exchanged in one step; a user's table goes through `crontab`, is compared with what it
//! was before and with what was wanted afterwards. Its old bytes are saved too, and both are in the record.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use selfheal_core::ids::IncidentId;
use selfheal_core::incident::StoredChange;
use selfheal_core::ports::{Clock, Entry as LedgerEntry, Ledger, PortError, Snapshots};
use selfheal_store::Store;
use selfheal_syntax::diff;
use serde_json::json;

use super::super::{Ended, print, tell};
use super::places::{self, Source};
use crate::cli::{ApplyUpTo, CronUnwrapArgs, CronWhich, CronWrapArgs};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::cron::{
    Entry, Form, Refusal, Table, Wish, derived_name, shell_of, unwrap as unwrap_command,
    wrap as wrap_command, wrapped_in,
};
use crate::exit_code;
use crate::terminal::clean;

/// Where the table is.
enum Place {
    /// A user's table; `None` is the caller's own.
    User(Option<String>),
    /// A system file.
    File(PathBuf),
}

/// A table with its changes, not yet written.
struct Change {
    place: Place,
    source: Source,
    before: Vec<u8>,
    after: Table,
    /// The jobs that are changed: name and line.
    done: Vec<(String, usize)>,
    /// The lines that are left as they are, and why.
    refused: Vec<(usize, Refusal)>,
}

/// Puts selfheal in front of jobs.
///
/// # Errors
/// When there is no such job, it cannot be wrapped, or the table cannot be read or written.
pub fn wrap(context: &Context, args: &CronWrapArgs) -> Ended {
    let mut change = Change::open(&args.which)?;
    let program = program_word(&context.program);
    let apply = args.apply.map(|limit| match limit {
        ApplyUpTo::None => "none".to_owned(),
        ApplyUpTo::Low => "low".to_owned(),
        ApplyUpTo::Medium => "medium".to_owned(),
    });
    let mut names = change.names();
    change.each(&args.which, |table, line, command| {
        let shell = shell_of(table.setting_at("SHELL", line));
        let job = unique(&derived_name(command), &names);
        let wish = Wish { program: program.clone(), job: job.clone(), apply: apply.clone() };
        let fresh = wrap_command(command, &wish, shell.as_deref())?;
        names.push(job.clone());
        Ok((job, fresh))
    })?;
    change.finish(context, &args.which, "cron_wrapped")
}

/// Takes selfheal away from jobs.
///
/// # Errors
/// When there is no such job, it is not wrapped, or the table cannot be read or written.
pub fn unwrap(context: &Context, args: &CronUnwrapArgs) -> Ended {
    let mut change = Change::open(&args.which)?;
    change.each(&args.which, |_, _, command| {
        let name = wrapped_in(command).and_then(|found| found.job).unwrap_or_default();
        Ok((name, unwrap_command(command)?))
    })?;
    change.finish(context, &args.which, "cron_unwrapped")
}

/// A name that is not taken yet.
fn unique(name: &str, taken: &[String]) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|one| !taken.contains(one)).unwrap_or_default()
}

/// The program as a word for cron and for the shell.
fn program_word(program: &Path) -> String {
    let text = program.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''").replace('%', r"\%"))
}

impl Change {
    fn open(which: &CronWhich) -> Result<Self, CommandError> {
        let (place, source, before) = match &which.file {
            Some(file) => {
                let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                let bytes = std::fs::read(&file).map_err(|error| {
                    CommandError::new(format!("failed to read {}", file.display())).because(&error)
                })?;
                let source = source_of(file.display().to_string(), Form::System, &bytes);
                (Place::File(file), source, bytes)
            }
            None => {
                let bytes = places::read_own(which.user.as_deref())?.ok_or_else(|| {
                    CommandError::new("there is no crontab of this user")
                        .hint("name a system table with --file, or another user with --user")
                })?;
                let source = source_of("crontab".to_owned(), Form::User, &bytes);
                (Place::User(which.user.clone()), source, bytes)
            }
        };
        let after = source.table.clone();
        Ok(Self { place, source, before, after, done: Vec::new(), refused: Vec::new() })
    }

    /// The names that wrapped jobs have.
    fn names(&self) -> Vec<String> {
        let jobs = self.source.jobs();
        jobs.into_iter().filter(|job| job.wrapped.is_some()).map(|job| job.name).collect()
    }

    /// Changes the jobs that were asked for.
    fn each(
        &mut self,
        which: &CronWhich,
        mut fresh: impl FnMut(&Table, usize, &str) -> Result<(String, String), Refusal>,
    ) -> Result<(), CommandError> {
        let form = self.source.form;
        for line in self.lines(which)? {
            let Some(entry) = self.source.table.entry(line) else { continue };
            let Some(command) = entry.command() else { continue };
            match fresh(&self.source.table, line, command) {
                Ok((name, command)) => {
                    let changed: Entry = entry.with_command(&command, form);
                    self.after.replace(line, changed);
                    self.done.push((name, line));
                }
                Err(refusal) => self.refused.push((line, refusal)),
            }
        }
        Ok(())
    }

    /// The lines that were asked for.
    fn lines(&self, which: &CronWhich) -> Result<Vec<usize>, CommandError> {
        let jobs = self.source.jobs();
        let Some(wanted) = &which.job else { return Ok(jobs.iter().map(|job| job.line).collect()) };
        let lines: Vec<usize> = match wanted.parse::<usize>() {
            Ok(number) => jobs.iter().map(|job| job.line).filter(|line| *line == number).collect(),
            Err(_) => jobs.iter().filter(|job| job.name == *wanted).map(|job| job.line).collect(),
        };
        match lines.as_slice() {
            [] => {
                Err(CommandError::new(format!("there is no job {} in {}", clean(wanted), self.source.label))
                    .hint("selfheal cron list shows lines and names"))
            }
            [_] => Ok(lines),
            _ => Err(CommandError::new(format!("several jobs are named {}", clean(wanted)))
                .hint("name the job by the number of its line")),
        }
    }

    /// Shows the difference, and writes it when told to.
    fn finish(self, context: &Context, which: &CronWhich, kind: &str) -> Ended {
        let texts = context.texts();
        for (line, refusal) in &self.refused {
            let why = texts.say(&format!("cron-not-{}", refusal.word()), &[]);
            if which.job.is_some() {
                return Err(CommandError::new(format!(
                    "line {line} of {} stays as it is: {why}",
                    self.source.label
                )));
            }
            // That nothing is to be done is worth no word when all were asked for.
            if !matches!(refusal, Refusal::Wrapped | Refusal::NotWrapped) {
                let values = [("line", line.to_string()), ("why", why)];
                let values: Vec<(&str, &str)> =
                    values.iter().map(|(name, value)| (*name, value.as_str())).collect();
                tell(&format!("selfheal: {}", texts.say("cron-left", &values)));
            }
        }
        let after = self.after.bytes();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let shown = diff::unified(&self.source.label, &text(&self.before), &text(&after));
        print(&shown.lines().map(|line| format!("{}\n", clean(line))).collect::<String>());
        let said = match (self.done.is_empty(), which.write) {
            (true, _) => "cron-nothing",
            (false, false) => "cron-preview",
            (false, true) => {
                self.write(context, kind, &after)?;
                "cron-written"
            }
        };
        tell(&texts.say(said, &[("n", &self.done.len().to_string())]));
        Ok(exit_code::OK)
    }

    fn write(&self, context: &Context, kind: &str, after: &[u8]) -> Result<(), CommandError> {
        let store = context.store()?;
        let before = store.save(&self.before)?;
        let saved = store.save(after)?;
        match &self.place {
            Place::File(path) => {
                let change = StoredChange {
                    path: path.clone(),
                    before: Some(before.clone()),
                    after: Some(saved.clone()),
                    mode_before: None,
                    mode_after: None,
                    new_folders: 0,
                };
                exchange(context, &store, &change)?;
            }
            Place::User(user) => write_user(user.as_deref(), &self.before, after)?,
        }
        let jobs: Vec<_> =
            self.done.iter().map(|(name, line)| json!({ "job": name, "line": line })).collect();
        let details = json!({
            "place": self.source.label, "uid": context.uid, "before": before, "after": saved, "jobs": jobs,
        });
        let body = context
            .redactor()
            .json(&details)
            .map_err(|error| CommandError::new("failed to write a ledger record").because(&error))?;
        let entry = LedgerEntry { at: context.clock.now(), kind: kind.to_owned(), incident: None, body };
        Ok(store.append(&[entry])?)
    }
}

fn source_of(label: String, form: Form, bytes: &[u8]) -> Source {
    Source { label, form, owner: None, modified: None, table: Table::read(bytes, form) }
}

/// Saves a file with everything that it has, and exchanges it if it still is what was read.
fn exchange(context: &Context, store: &Store, change: &StoredChange) -> Result<(), PortError> {
    let id = IncidentId::new(context.clock.fresh_id());
    store.take(&id, &change.path)?;
    store.apply(&id, change)
}

/// Gives `crontab` a new table, if the old one still is what was read, and reads it back.
fn write_user(user: Option<&str>, before: &[u8], after: &[u8]) -> Result<(), CommandError> {
    if places::read_own(user)?.as_deref() != Some(before) {
        return Err(
            CommandError::new("the crontab was changed just now; nothing was written").hint("run it again")
        );
    }
    let failed = |error: std::io::Error| CommandError::new("failed to run crontab").because(&error);
    let mut child = places::crontab(user).arg("-").stdin(Stdio::piped()).spawn().map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(after).map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    if !status.success() {
        return Err(CommandError::new("crontab did not take the new table; the old one is in place"));
    }
    match places::read_own(user)? {
        Some(now) if now == after => Ok(()),
        _ => {
            Err(CommandError::new("the crontab is not what was written").hint("look at it with: crontab -l"))
        }
    }
}
