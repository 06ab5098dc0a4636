//! What the steps of a task have for themselves on the machine: a `/tmp` of the run, processes and IPC.
//!
//! A step that says nothing gets all of it where nothing else changes by that, which is so for root; for others the
//! namespaces would take setuid programs (`sudo`, mail) away and make other owners look like nobody. And it gets only what
//! it does not visibly share with the machine: what is there in `/tmp` and named by the task, processes that it looks for.
//! In doubt the machine's is right, since no job may fail because of us.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use selfheal_core::task::{Cleanup, Isolation, Reach, Step, Work};
use selfheal_core::verification::Check;
use selfheal_exec::Apart;

use super::place;
use super::read::TaskFile;
use crate::context::Context;
use crate::terminal::shown_path;
use crate::texts::Texts;

/// Folders for temporary files, which a task may have its own of.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Programs that look for processes of the machine, signal them, or leave some behind on purpose.
const LOOK_OUTSIDE: [&str; 30] = [
    "apache2ctl",
    "apachectl",
    "at",
    "batch",
    "daemonize",
    "disown",
    "fuser",
    "gdb",
    "httpd",
    "invoke-rc.d",
    "killall",
    "lsof",
    "nginx",
    "nohup",
    "nsenter",
    "pg_ctl",
    "pgrep",
    "pidof",
    "pidwait",
    "pkill",
    "postfix",
    "ps",
    "rc-service",
    "screen",
    "service",
    "setsid",
    "start-stop-daemon",
    "strace",
    "tmux",
    "top",
];

/// Whether a path lies in a folder for temporary files.
pub fn is_temporary(path: &Path) -> bool {
    TEMPORARY.iter().any(|folder| path.starts_with(folder))
}

/// What the steps of a run have for themselves.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// What a run with a `/tmp` of its own sees where; or why it cannot have one.
    shown: Option<Result<Vec<(PathBuf, PathBuf)>, String>>,
    /// Why a step that says nothing uses the machine's `/tmp`.
    temp: Option<String>,
    /// What of the machine's processes steps that say nothing name.
    processes: BTreeMap<String, String>,
}

impl Surroundings {
    /// Looks at a task whose folder of the run is there.
    #[must_use]
    pub fn look(context: &Context, file: &TaskFile, temp: &Path) -> Self {
        let steps = &file.task.steps;
        let says = |wanted: Isolation| steps.iter().any(|step| step.isolation == wanted);
        let usual = says(Isolation::Usual) && selfheal_exec::is_unnoticed();
        let mut found = Self::default();
        if !usual && !says(Isolation::Namespaces) {
            return found;
        }
        let kept = kept(context, file, temp);
        if usual {
            let texts: Vec<(&Step, Vec<String>)> =
                steps.iter().map(|step| (step, words(context, file, step))).collect();
            let named =
                texts.iter().flat_map(|(_, texts)| texts).find_map(|text| names_temporary(text, &kept));
            found.temp = declared(file, &kept).map(|path| shown_path(&path)).or(named);
            for (step, texts) in texts.iter().filter(|(step, _)| step.reach == Reach::Any) {
                if let Some(word) = texts.iter().find_map(|text| looks_outside(text)) {
                    found.processes.insert(step.id.clone(), word);
                }
            }
        }
        if found.temp.is_none() || says(Isolation::Namespaces) {
            found.shown = Some(show(kept, temp));
        }
        found
    }

    /// Whether any step sees a `/tmp` of the run.
    #[must_use]
    pub fn has_own_temp(&self) -> bool {
        matches!(self.shown, Some(Ok(_)))
    }

    /// What a step has for itself, and what is said of that in the state.
    #[must_use]
    pub fn of(&self, step: &Step) -> (Apart, String) {
        let usual = step.isolation == Isolation::Usual;
        if step.isolation == Isolation::Shared {
            return (Apart::default(), "shared, as the task file says".to_owned());
        }
        if usual && !selfheal_exec::is_unnoticed() {
            return (Apart::default(), "shared, since namespaces would change who the user is".to_owned());
        }
        let mut said = Vec::new();
        let seen_at = match (&self.temp, &self.shown) {
            (Some(why), _) if usual => Err(format!("the task names {why}")),
            (_, Some(Err(why))) => Err(why.clone()),
            (_, Some(Ok(shown))) => Ok(shown.clone()),
            (_, None) => Ok(Vec::new()),
        };
        said.push(match &seen_at {
            Ok(_) => "own /tmp".to_owned(),
            Err(why) => format!("the machine's /tmp: {why}"),
        });
        let named = self.processes.get(&step.id).filter(|_| usual);
        said.push(match named {
            None => "own processes and IPC".to_owned(),
            Some(word) => format!("the machine's processes: it names {word}"),
        });
        let apart = Apart { seen_at: seen_at.unwrap_or_default(), processes: named.is_none() };
        (apart, said.join("; "))
    }

    /// What a person should know before it begins.
    #[must_use]
    pub fn said(&self, texts: &Texts) -> Vec<String> {
        let named = self.temp.as_ref().map(|what| texts.say("task-shares-temp", &[("what", what.as_str())]));
        let failed = self.shown.as_ref().and_then(|shown| shown.as_ref().err());
        let temp = failed.map(|why| texts.say("task-no-own-temp", &[("why", why.as_str())])).or(named);
        let processes = self.processes.iter().map(|(step, what)| {
            texts.say("task-shares-processes", &[("step", step.as_str()), ("what", what.as_str())])
        });
        temp.into_iter().chain(processes).collect()
    }
}

/// Folders that a run keeps at their places, whatever `/tmp` is.
fn kept(context: &Context, file: &TaskFile, temp: &Path) -> Vec<PathBuf> {
    let home = context.var("HOME").map(PathBuf::from);
    let all = [file.folder.clone(), temp.to_owned(), context.state.clone()].into_iter().chain(home);
    let mut all: Vec<PathBuf> = all.filter(|path| is_temporary(path) && path.is_dir()).collect();
    all.sort();
    all.dedup();
    // What lies in one of them comes with it.
    let outer = all.clone();
    all.retain(|path| !outer.iter().any(|other| other != path && path.starts_with(other)));
    all
}

/// What a run with its own `/tmp` sees where.
fn show(kept: Vec<PathBuf>, temp: &Path) -> Result<Vec<(PathBuf, PathBuf)>, String> {
    if let Some(whole) = kept.iter().find(|path| TEMPORARY.iter().any(|folder| *path == Path::new(folder))) {
        return Err(format!("{} is a folder that it works in", shown_path(whole)));
    }
    let own = place::own_temp(temp).map_err(|error| format!("it cannot have its own: {error}"))?;
    Ok(own.into_iter().chain(kept.into_iter().map(|path| (path.clone(), path))).collect())
}

/// A path in a folder for temporary files that the task file declares.
fn declared(file: &TaskFile, kept: &[PathBuf]) -> Option<PathBuf> {
    let hooks = file.task.steps.iter().map(|step| &step.cleanup).chain([&file.task.cleanup]);
    let removed = hooks.flat_map(|hook: &Cleanup| &hook.remove);
    let paths = file.task.steps.iter().flat_map(|step| {
        let checked = step.checks.iter().filter_map(Check::path);
        step.inputs.iter().chain(&step.outputs).chain(&step.paths).map(PathBuf::as_path).chain(checked)
    });
    let outside = |path: &&Path| is_temporary(path) && !kept.iter().any(|folder| path.starts_with(folder));
    paths.chain(removed.map(PathBuf::as_path)).find(outside).map(Path::to_owned)
}

/// All words of a step: its command, its variables, its script.
fn words(context: &Context, file: &TaskFile, step: &Step) -> Vec<String> {
    let mut words: Vec<String> = step.env.values().cloned().collect();
    let caller = |name: &String| context.var(name);
    words.extend(file.pass.iter().filter_map(caller));
    words.extend(context.var("PATH"));
    match &step.work {
        Work::Command(argv) => {
            words.extend(argv.iter().cloned());
            let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
            let path = context.env.get(OsStr::new("PATH")).map(OsString::as_os_str);
            let script = selfheal_exec::resolve_script(&argv, &file.folder, path);
            words.extend(crate::driver::text_of(script.as_deref()));
        }
        Work::Script { text, .. } => words.push(text.clone()),
        Work::Need { need, .. } => words.push(need.clone()),
    }
    words.extend(step.check_command.iter().flatten().cloned());
    words
}

/// What of the machine's `/tmp` a text names: the folder itself, or something in it that is there.
fn names_temporary(text: &str, kept: &[PathBuf]) -> Option<String> {
    TEMPORARY.iter().find_map(|folder| {
        text.match_indices(folder).find_map(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let path = path_at(before, text.get(at..).unwrap_or_default())?;
            is_there(path, folder, kept).then(|| path.0.to_owned())
        })
    })
}

/// The path that begins here, as far as it is literal, and the character that ends it.
fn path_at<'a>(before: &str, text: &'a str) -> Option<(&'a str, Option<char>)> {
    let within = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '}' | ')' | '~');
    if before.ends_with(within) {
        return None;
    }
    let ends = |c: char| c.is_whitespace() || "\"'`$*?[]{}()|&;<>,:=\\#".contains(c);
    let length = text.find(ends).unwrap_or(text.len());
    Some((text.get(..length)?, text.get(length..)?.chars().next()))
}

fn is_there((path, end): (&str, Option<char>), folder: &str, kept: &[PathBuf]) -> bool {
    let rest = path.strip_prefix(folder).unwrap_or_default();
    let is_pattern = matches!(end, Some('*' | '?' | '['));
    if rest.trim_matches('/').is_empty() {
        // `/tmp/$NAME` and `/tmp/{a,b}` are names in it, as `/tmpfile` is none.
        return rest.is_empty() || is_pattern || !matches!(end, Some('$' | '{' | '\\'));
    }
    if !rest.starts_with('/') || kept.iter().any(|folder| Path::new(path).starts_with(folder)) {
        return false;
    }
    // What lies in a folder that is there is the machine's too, whether it is there yet or not.
    let name = rest.trim_start_matches('/');
    match name.split_once('/') {
        Some((first, _)) => std::fs::symlink_metadata(Path::new(folder).join(first)).is_ok(),
        None if is_pattern => {
            let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.any(|entry| entry.file_name().to_string_lossy().starts_with(name))
        }
        None => std::fs::symlink_metadata(path).is_ok(),
    }
}

/// What in a text speaks of processes of the machine.
fn looks_outside(text: &str) -> Option<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "_-.+/".contains(c)));
    words
        .filter(|word| !word.is_empty())
        .find(|word| {
            let name = word.rsplit('/').next().unwrap_or(word);
            LOOK_OUTSIDE.contains(&name) || (name.ends_with(".pid") && word.contains('/'))
        })
        .map(str::to_owned)
}

/// What a failure may come from that a step has for itself; the id of a text.
pub fn hint(apart: &Apart, stderr: &str) -> Option<&'static str> {
    if apart.processes && stderr.contains("No such process") {
        return Some("task-hint-processes");
    }
    let kept: Vec<PathBuf> =
        apart.seen_at.iter().map(|(_, to)| to.clone()).filter(|to| !is_base(to)).collect();
    (!apart.seen_at.is_empty() && names_temporary(stderr, &kept).is_some()).then_some("task-hint-temp")
}

fn is_base(path: &Path) -> bool {
    TEMPORARY.iter().any(|folder| path == Path::new(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_names_in_the_machines_tmp_is_found() {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        std::fs::write(folder.path().join("in.csv"), "x").unwrap();
        let there = folder.path().to_str().unwrap();
        let named = |text: &str| names_temporary(text, &[]);
        for shares in [
            format!("cat {there}/in.csv > out"),
            format!("mysql --socket={there}/in.csv"),
            format!("rm {there}/*.csv"),
            format!("rm -f {there}*"),
            format!("sort > {there}/made-later"),
            "find /tmp -mtime +7 -delete".to_owned(),
            "cd /tmp".to_owned(),
            "rm -rf /tmp/*".to_owned(),
            "ls '/var/tmp/'".to_owned(),
        ] {
            assert!(named(&shares).is_some(), "{shares}");
        }
        for own in [
            format!("cat {there}-other"),
            format!("ls {there}-x*"),
            "sort > /tmp/sorted-by-a-step-of-mine".to_owned(),
            "x=$(mktemp /tmp/job.XXXXXX)".to_owned(),
            "echo > /tmp/$$.txt".to_owned(),
            "ls \"$HOME/tmp\" /data/tmp /tmpfiles.d".to_owned(),
        ] {
            assert_eq!(named(&own), None, "{own}");
        }
        assert_eq!(names_temporary(&format!("cat {there}/in.csv"), &[folder.path().to_owned()]), None);
    }

    #[test]
    fn what_a_text_says_of_processes_is_found() {
        for outside in
            ["pkill -HUP rsyslogd", "kill -USR1 $(cat /run/nginx.pid)", "/usr/bin/lsof -i", "x; nohup y &"]
        {
            assert!(looks_outside(outside).is_some(), "{outside}");
        }
        for own in ["sleep 1 & kill $!", "tops.txt", "echo caps laps", "cat x.pid", "tar cf ps.tar"] {
            assert_eq!(looks_outside(own), None, "{own}");
        }
    }
}
