//! What a run wrote into log files that its job names: evidence beside its output.
//!
//! Before a run the length and identity of the files are noted, and afterwards only what came after that is read. A log
//! that was rotated meanwhile is followed: the rest of the old file, then the new one. Of a file that only the output
//! names nothing was noted; it counts whole where it was made during the run, else from the first line whose time is not
//! before it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use selfheal_core::ids::Timestamp;
use selfheal_core::job::Job;
use selfheal_core::run::Run;
use selfheal_core::scene::absolute;
use selfheal_feedback::logs::named_in;

/// Bytes of a log that are read, the last ones.
const MOST: u64 = 64 * 1024;
/// Files of settings that are looked through for names.
const SETTINGS: usize = 4;
/// The largest of them, in bytes.
const LARGEST: usize = 64 * 1024;
/// Entries of a folder that are looked at for an old file.
const ENTRIES: usize = 1_000;
/// So much the times of files may lie behind the clock, in milliseconds.
const COARSE_MS: u64 = 50;
/// Lines of a log that a report shows.
const SHOWN_LINES: usize = 6;
/// And so many characters.
const SHOWN: usize = 800;

/// A log as it was before the run.
#[derive(Debug)]
struct Before {
    path: PathBuf,
    /// Device, inode and length; `None` where there was no file.
    seen: Option<(u64, u64, u64)>,
}

/// The logs that a job names, as they were before its run.
#[derive(Debug, Default)]
pub struct Logs {
    before: Vec<Before>,
}

/// What a run wrote to a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The log.
    pub path: PathBuf,
    /// The last of what was written.
    pub text: String,
}

impl Written {
    /// The last lines, for a report: under which name, and the text.
    #[must_use]
    pub fn fact(&self) -> (String, String) {
        let lines: Vec<&str> = self.text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(SHOWN_LINES)..).unwrap_or_default().join("\n");
        let skip = last.chars().count().saturating_sub(SHOWN);
        (format!("log {}", self.path.display()), last.chars().skip(skip).collect())
    }
}

impl Logs {
    /// Looks at the logs that a job's command line, script and settings name.
    #[must_use]
    pub fn before(job: &Job, env: &BTreeMap<OsString, OsString>) -> Self {
        let mut before: Vec<Before> = Vec::new();
        for name in named_by(job, env) {
            let path = absolute(&job.cwd, &name);
            if !before.iter().any(|known| known.path == path) {
                let seen = fs::metadata(&path).ok().filter(Metadata::is_file).map(|facts| identity(&facts));
                before.push(Before { path, seen });
            }
        }
        Self { before }
    }

    /// What the run wrote to them, and to those that its output names.
    #[must_use]
    pub fn written(&self, job: &Job, run: &Run, env: &BTreeMap<OsString, OsString>) -> Vec<Written> {
        let mut out: Vec<Written> = self.before.iter().filter_map(Before::written).collect();
        let output = run.stderr.text() + &run.stdout.text();
        let mut names = named_in(&output, &|name| variable(job, env, name));
        if self.before.is_empty() {
            // Nobody looked before the run.
            names.extend(named_by(job, env));
        }
        for name in names {
            let path = absolute(&job.cwd, &name);
            let known = self.before.iter().any(|before| before.path == path)
                || out.iter().any(|written: &Written| written.path == path);
            let text = (!known).then(|| since(&path, run.started)).flatten();
            out.extend(text.map(|text| Written { path, text }));
        }
        out.retain(|written| !written.text.trim().is_empty());
        out
    }
}

/// The logs that a job's command line, script and settings name.
fn named_by(job: &Job, env: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
    let script = crate::driver::text_of(job.script.as_deref()).unwrap_or_default();
    let line: Vec<String> = job.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let line = line.join(" ");
    let var = |name: &str| variable(job, env, name);
    let mut names = named_in(&line, &var);
    names.extend(named_in(&script, &var));
    for settings in settings(job, &line, &script) {
        names.extend(named_in(&settings, &var));
    }
    names
}

fn variable(job: &Job, env: &BTreeMap<OsString, OsString>, name: &str) -> Option<String> {
    if name == "PWD" {
        return Some(job.cwd.to_string_lossy().into_owned());
    }
    env.get(OsStr::new(name)).map(|value| value.to_string_lossy().into_owned())
}

/// The texts of the settings files that a job names.
fn settings(job: &Job, line: &str, script: &str) -> Vec<String> {
    const ENDS: [&str; 7] = [".conf", ".cfg", ".ini", ".toml", ".yml", ".yaml", ".properties"];
    let breaks = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '=' | '(' | ')' | ',' | ';');
    let words = line.split(breaks).chain(script.split(breaks));
    let mut names: Vec<&str> = words.filter(|word| ENDS.iter().any(|end| word.ends_with(end))).collect();
    names.dedup();
    names.truncate(SETTINGS);
    let read = |name: &str| selfheal_exec::read_regular(&absolute(&job.cwd, Path::new(name)), LARGEST);
    names.into_iter().filter_map(read).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

fn identity(facts: &Metadata) -> (u64, u64, u64) {
    (facts.dev(), facts.ino(), facts.len())
}

impl Before {
    fn written(&self) -> Option<Written> {
        let now = fs::metadata(&self.path).ok().filter(Metadata::is_file);
        let text = match (self.seen, now) {
            (None, Some(_)) => tail(&self.path, 0)?,
            (Some((dev, ino, len)), Some(now))
                if (now.dev(), now.ino()) == (dev, ino) && now.len() >= len =>
            {
                tail(&self.path, len)?
            }
            // Cut short in place, after a copy was made or not: what is there now is new.
            (Some((dev, ino, _)), Some(now)) if (now.dev(), now.ino()) == (dev, ino) => tail(&self.path, 0)?,
            (Some(seen), now) => {
                let mut text = self.rotated(seen).unwrap_or_default();
                text.push_str(&now.and_then(|_| tail(&self.path, 0)).unwrap_or_default());
                text
            }
            (None, None) => return None,
        };
        Some(Written { path: self.path.clone(), text })
    }

    /// The rest of the file that had this name before, wherever it is in the folder now.
    fn rotated(&self, (dev, ino, len): (u64, u64, u64)) -> Option<String> {
        let entries = fs::read_dir(self.path.parent()?).ok()?.flatten().take(ENTRIES);
        let old = entries.map(|entry| entry.path()).find(|path| {
            fs::symlink_metadata(path)
                .is_ok_and(|facts| facts.is_file() && (facts.dev(), facts.ino()) == (dev, ino))
        })?;
        tail(&old, len)
    }
}

/// What stands in a file from a place on: the last of it, in whole lines where it is long.
fn tail(path: &Path, from: u64) -> Option<String> {
    let facts = fs::metadata(path).ok().filter(Metadata::is_file)?;
    let start = from.max(facts.len().saturating_sub(MOST));
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(match start > from {
        true => text.split_once('\n').map_or(String::new(), |(_, rest)| rest.to_owned()),
        false => text,
    })
}

/// What was written to a file of which nothing was noted, as far as that can be told.
fn since(path: &Path, started: Timestamp) -> Option<String> {
    let facts = fs::metadata(path).ok().filter(Metadata::is_file)?;
    let begun_ms = u64::try_from(started.0).ok()?.saturating_sub(COARSE_MS);
    let begun = std::time::UNIX_EPOCH + std::time::Duration::from_millis(begun_ms);
    if facts.modified().ok()? < begun {
        return None;
    }
    let text = tail(path, 0)?;
    if facts.created().is_ok_and(|created| created >= begun) {
        return Some(text);
    }
    let first = stamp_of(started)?;
    let at = text.lines().position(|line| stamp(line).is_some_and(|stamp| stamp >= first))?;
    Some(text.lines().skip(at).map(|line| format!("{line}\n")).collect())
}

/// A moment of local time as logs write it, down to the second.
fn stamp_of(at: Timestamp) -> Option<String> {
    let utc = chrono::DateTime::from_timestamp_millis(at.0)?;
    Some(utc.with_timezone(&chrono::Local).format("%Y-%m-%d %H:%M:%S").to_string())
}

/// The time at the beginning of a line of a log: `2026-01-31 04:05:06`, with `T` between, in brackets.
fn stamp(line: &str) -> Option<String> {
    let text: String = line.trim_start_matches(['[', '(', '<', ' ']).chars().take(19).collect();
    let text = text.replacen('T', " ", 1);
    let shape = |c: char| if c.is_ascii_digit() { '0' } else { c };
    (text.chars().map(shape).collect::<String>() == "0000-00-00 00:00:00").then_some(text)
}

/// The run with what it wrote to logs behind its complaints.
#[must_use]
pub fn with_logs(run: &Run, written: &[Written]) -> Run {
    let mut stderr = run.stderr.clone();
    for one in written {
        let bytes = one.text.as_bytes();
        stderr.tail.push(b'\n');
        stderr.tail.extend_from_slice(bytes);
        stderr.total += bytes.len() as u64 + 1;
    }
    Run { stderr, ..run.clone() }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn before(path: &Path) -> Before {
        let seen = fs::metadata(path).ok().map(|facts| identity(&facts));
        Before { path: path.to_owned(), seen }
    }

    fn append(path: &Path, text: &str) {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn text(before: &Before) -> String {
        before.written().map(|written| written.text).unwrap_or_default()
    }

    #[test]
    fn only_what_came_after_the_start_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.log");
        let absent = before(&log);
        append(&log, "old error\n");
        assert_eq!(text(&absent), "old error\n");
        let noted = before(&log);
        assert_eq!(text(&noted), "");
        append(&log, "new error\n");
        assert_eq!(text(&noted), "new error\n");
    }

    #[test]
    fn a_log_that_was_rotated_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.log");
        append(&log, "old\n");
        let noted = before(&log);
        append(&log, "before rotation\n");
        fs::rename(&log, folder.path().join("a.log.1")).unwrap();
        append(&log, "after it\n");
        assert_eq!(text(&noted), "before rotation\nafter it\n");
        fs::remove_file(&log).unwrap();
        assert_eq!(text(&noted), "before rotation\n");
    }

    #[test]
    fn a_log_that_was_cut_short_in_place_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.log");
        append(&log, "a long line from before\n");
        let noted = before(&log);
        fs::write(&log, "new\n").unwrap();
        assert_eq!(text(&noted), "new\n");
    }

    #[test]
    fn of_a_long_log_the_last_whole_lines_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.log");
        let noted = before(&log);
        append(&log, &"a line that is written again and again\n".repeat(5_000));
        append(&log, "the last\n");
        let text = text(&noted);
        assert!(text.len() as u64 <= MOST && text.starts_with("a line") && text.ends_with("the last\n"));
    }

    #[test]
    fn times_of_logs_are_read_in_their_forms() {
        for line in ["2026-01-31 04:05:06,123 ERROR x", "[2026-01-31T04:05:06Z] x"] {
            assert_eq!(stamp(line).as_deref(), Some("2026-01-31 04:05:06"), "{line}");
        }
        assert_eq!(stamp("Jan 31 04:05:06 host x"), None);
    }

    #[test]
    fn of_a_log_that_was_not_noted_old_lines_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.log");
        append(&log, "2001-01-01 00:00:00 ERROR old\n2199-01-01 00:00:00 ERROR new\n");
        let age = |ms: i64| Timestamp(chrono::Utc::now().timestamp_millis() + ms);
        assert_eq!(since(&log, age(3_600_000)), None, "it was not written since");
        assert!(since(&log, age(-3_600_000)).unwrap().contains("new"), "it was made since");
    }
}
