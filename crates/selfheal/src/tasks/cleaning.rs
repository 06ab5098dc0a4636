//! The end of a run: hooks, and what of the run's own is removed. Conservative: a path is removed only if it was not there
//! when the run began and lies where the task works; what does not work is recorded and hides nothing.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use selfheal_core::incident::Owner;
use selfheal_core::task::{Cleanup, CleanupRecord, Stage, Task, TaskState};

use super::files;
use super::keep::RunFolder;
use crate::terminal::shown_path;

/// The end of a hook.
const LONGEST: Duration = Duration::from_secs(60);
/// How often it is looked whether a hook has ended.
const LOOK: Duration = Duration::from_millis(10);

/// What a cleanup works with.
pub struct Cleaner<'a> {
    /// The task.
    pub task: &'a Task,
    /// The folder of its file.
    pub folder: &'a Path,
    /// The folder of the run.
    pub run: &'a RunFolder,
    /// The folder of the run alone.
    pub temp: &'a Path,
    /// Variables for the commands.
    pub env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
}

/// Whether so many files of a pattern were there before that not all were noted.
fn is_crowded(path: &Path, before: Option<&BTreeSet<PathBuf>>) -> bool {
    files::is_pattern(path) && before.is_some_and(|before| before.contains(path))
}

fn kill_group(leader: u32) {
    let group = i32::try_from(leader).ok().and_then(Pid::from_raw);
    group.map(|group| kill_process_group(group, Signal::KILL));
}

/// Where a path is, with links on the way to it resolved, and not the path itself.
fn real(path: &Path) -> Option<PathBuf> {
    Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?))
}

/// The same for a root; one that is a pattern stays as far as its folder is there.
fn real_of(root: &Path) -> Option<PathBuf> {
    fs::canonicalize(root).ok().or_else(|| real(root))
}

impl Cleaner<'_> {
    fn hooks(&self) -> impl Iterator<Item = (Option<&str>, &Cleanup)> {
        let steps = self.task.steps.iter().map(|step| (Some(step.id.as_str()), &step.cleanup));
        steps.chain([(None, &self.task.cleanup)]).filter(|(_, hook)| !hook.is_empty())
    }

    /// Notes what is there before anything runs: none of it will be removed.
    ///
    /// # Errors
    /// When it cannot be noted.
    pub fn remember(&self) -> std::io::Result<()> {
        let mut there = BTreeSet::new();
        for path in self.hooks().flat_map(|(_, hook)| &hook.remove) {
            let named = files::named(path);
            if files::is_pattern(path) && named.len() >= files::MOST {
                // There may be more, which would be taken for the task's own later.
                there.insert(path.clone());
            }
            there.extend(named);
        }
        super::keep::replace(&self.run.path().join("present.json"), &serde_json::to_vec(&there)?)
    }

    /// Whether it was noted.
    #[must_use]
    pub fn has_noted(&self) -> bool {
        self.remembered().is_some()
    }

    fn remembered(&self) -> Option<BTreeSet<PathBuf>> {
        let text = fs::read(self.run.path().join("present.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Runs every hook whose step had begun, and the task's own.
    #[must_use]
    pub fn clean(&self, state: &TaskState, ended: Stage) -> Vec<CleanupRecord> {
        self.wait_for_earlier();
        let before = self.remembered();
        let begun = |step: &str| state.steps.get(step).is_some_and(|step| step.attempt > 0);
        let mut records = Vec::new();
        for (step, hook) in self.hooks().filter(|(step, _)| step.is_none_or(begun)) {
            let mut record = |what: String, failed: Option<String>| {
                records.push(CleanupRecord { step: step.map(str::to_owned), what, failed });
            };
            let (crowded, known): (Vec<&PathBuf>, Vec<&PathBuf>) =
                hook.remove.iter().partition(|path| is_crowded(path, before.as_ref()));
            for path in crowded {
                let why = format!("more than {} files of it were there before", files::MOST - 1);
                record(format!("remove {}", shown_path(path)), Some(why));
            }
            for path in known.into_iter().flat_map(|path| files::named(path)) {
                let what = format!("remove {}", shown_path(&path));
                match &before {
                    None => record(what, Some("nobody noted what was there before".to_owned())),
                    Some(before) if before.contains(&path) => {}
                    Some(_) => record(what, self.remove(&path).err()),
                }
            }
            if !hook.run.is_empty() {
                record(format!("run {}", hook.run.join(" ")), self.command(&hook.run, ended).err());
            }
        }
        records
    }

    fn hook_file(&self) -> PathBuf {
        self.run.path().join("hook")
    }

    /// Notes which process runs a hook, for whoever cleans up after this process was killed.
    fn name_hook(&self, pid: u32) {
        let start_ticks = selfheal_exec::process_start_ticks(pid).unwrap_or_default();
        let owner = Owner { pid, start_ticks, ..selfheal_exec::owner_of_self() };
        // Without it two may run at once, no worse.
        let _ = serde_json::to_vec(&owner).map(|text| fs::write(self.hook_file(), text));
    }

    /// A hook of a process that was killed may still run: it is waited for, as long as it may take.
    fn wait_for_earlier(&self) {
        let hook =
            fs::read(self.hook_file()).ok().and_then(|text| serde_json::from_slice::<Owner>(&text).ok());
        let Some(hook) = hook else { return };
        let until = Instant::now() + LONGEST;
        while super::lives(&hook) {
            if Instant::now() >= until {
                kill_group(hook.pid);
            }
            std::thread::sleep(LOOK);
        }
        let _ = fs::remove_file(self.hook_file());
    }

    fn remove(&self, path: &Path) -> Result<(), String> {
        let outputs = self.task.steps.iter().flat_map(|step| step.outputs.iter().chain(&step.paths));
        let mut roots: Vec<PathBuf> = outputs.cloned().collect();
        roots.extend([self.folder.to_owned(), self.temp.to_owned()]);
        // Neither by its name nor by where links on the way lead.
        let real = real(path).ok_or("it cannot be found")?;
        let real_roots: Vec<PathBuf> = roots.iter().filter_map(|root| real_of(root)).collect();
        let inside = files::is_below(path, &roots) && files::is_below(&real, &real_roots);
        if !inside || path == self.folder {
            return Err("it does not lie where the task works".to_owned());
        }
        let facts = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
        let gone = if facts.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        gone.map_err(|error| error.to_string())
    }

    fn command(&self, words: &[String], ended: Stage) -> Result<(), String> {
        let log = fs::File::options().create(true).append(true).open(self.run.path().join("cleanup.log"));
        let log = log.map_err(|error| error.to_string())?;
        let (program, arguments) = words.split_first().ok_or("it is empty")?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder).env_clear().envs(self.env.iter().cloned());
        command.env("TASK_OUTCOME", ended.word()).stdin(Stdio::null()).process_group(0);
        command.stdout(log.try_clone().map_err(|error| error.to_string())?).stderr(log);
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        self.name_hook(child.id());
        let until = Instant::now() + LONGEST;
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(status.to_string()),
                Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
                Ok(None) => {
                    kill_group(child.id());
                    let _ = child.wait();
                    return Err(format!("it did not end within {} s", LONGEST.as_secs()));
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}
