//! What changed since the job's last good run: its script, the program that runs it, the files that the failure is about.

use std::path::{Path, PathBuf};

use selfheal_core::facts::RecordedFacts;
use selfheal_core::report::{About, Cause, Report};
use selfheal_core::scene::Scene;

use super::Healer;
use crate::environment;

/// The cause's stable name.
const ID: &str = "changed-since-good";
/// How many causes a report names.
const MOST: usize = 3;
/// How many files are looked at.
const FILES: usize = 6;

impl Healer<'_> {
    /// Says in the report what changed since the last good run, as far as file times tell.
    pub(super) fn note_changes(&self, report: &mut Report) {
        if report.location.as_ref().is_some_and(|place| place.remote.is_some()) {
            return;
        }
        let runs = environment::runs(self.tools.store, &self.job.key);
        let Some(good) = environment::last_good(&runs, Some(&self.run.id)) else { return };
        let started = good.run.started.0;
        let files = named(self.job.script.as_deref(), report);
        let mut changed: Vec<String> = files
            .iter()
            .filter(|path| self.scene.facts(path).is_some_and(|facts| facts.modified_ms > started))
            .map(|path| path.display().to_string())
            .collect();
        changed.extend(self.other_program(&good.facts));
        if changed.is_empty() {
            return;
        }
        let what = changed.join(", ");
        report.context.push(("changed since the last good run".to_owned(), what.clone()));
        let cause = Cause {
            id: ID.to_owned(),
            text: format!("It changed since the last run that went well: {what}."),
            evidence: vec![format!("changed since the last good run: {what}")],
            disproved_by: "It fails in the same way with what was there before.".to_owned(),
            about: About::default(),
        };
        let at = report.causes.len().min(1);
        report.causes.insert(at, cause);
        report.causes.truncate(MOST);
    }

    /// The program that runs the script, where it is not the file that it was.
    fn other_program(&self, good: &RecordedFacts) -> Option<String> {
        let now = environment::of_job(self.tools.context, self.job, &self.env()).program?;
        let then = good.program.as_ref()?;
        let same = now.path == then.path && now.inode == then.inode && now.modified_s == then.modified_s;
        (!same).then_some(now.name)
    }
}

/// The script, and the files that the failing command and its arguments name.
fn named(script: Option<&Path>, report: &Report) -> Vec<PathBuf> {
    let words = report.command.iter().flat_map(|command| command.words.iter().skip(1));
    let named = words.filter(|word| !word.starts_with('-') && word.contains(['.', '/'])).map(PathBuf::from);
    script.map(Path::to_path_buf).into_iter().chain(named).take(FILES).collect()
}
