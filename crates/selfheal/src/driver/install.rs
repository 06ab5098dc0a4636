//! Bringing a package that the project declares, where the settings let it: the installer runs in a box, and the files
//! that it added there become the changes of a repair. From then on they go the way of all repairs: judged, proved in a
//! box, held or put in, recorded, taken back.
//!
//! Nothing of a package runs while it is fetched: pip takes wheels only, and npm runs no scripts.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use selfheal_core::diagnosis::{Basis, Diagnosis, What};
use selfheal_core::effects::Change;
use selfheal_core::install::{Install, MOST_BYTES, MOST_FILES, Package};
use selfheal_core::ports::{BoxLimits, BoxOrder, BoxedRun, Clock, DraftOrder};
use selfheal_core::proposal::{FileChange, Proposal, Source as Maker};
use selfheal_core::report::Report;
use selfheal_core::scene::Scene;
use selfheal_core::trace::Trace;
use selfheal_exec::commit::{Draft, Drafts, Entry};
use selfheal_repair::packages::{Plan, Wanted, wanted};
use selfheal_repair::{Candidate, Case, ScriptFile};

use super::Healer;
use super::propose::Source;
use super::trial::scene_edit;
use crate::cli::Part;
use crate::config::Installing;

/// What these repairs are called among the rules.
const NAME: &str = "declared_package";
/// What an installer may take at least, in milliseconds: it fetches over a network.
const LEAST_MS: u64 = 300_000;
/// What an installer left longer ago is nobody's, in milliseconds.
const LEFT_MS: i64 = 3_600_000;
/// Bytes kept of what an installer says, at each end.
const KEEP: usize = 16 << 10;
/// Characters of an installer's own message that are told.
const MESSAGE: usize = 240;
/// npm's list of what it put into `node_modules`.
const NODE_LIST: &str = ".package-lock.json";

/// The facts of a report that say what to install, for whoever reads it.
pub(crate) mod fact {
    /// The package.
    pub const PACKAGE: &str = "package";
    /// Where it is declared, as `FILE:LINE`.
    pub const DECLARED: &str = "package declared in";
    /// Why selfheal does not install it.
    pub const WHY_NOT: &str = "package left to a person because";
    /// What the settings say of it.
    pub const SETTING: &str = "package setting";
    /// The command for a person.
    pub const COMMAND: &str = "package by hand";
}

impl Healer<'_> {
    /// Writes down what would bring a missing module, and asks for it later where the settings let it.
    pub(super) fn note_packages(&mut self, report: &mut Report) {
        let script = self.script_file(&self.scene);
        let found = self.wanted(report, script.as_ref(), self.trace.as_ref(), &self.scene);
        let Some(found) = found else { return };
        // That it is declared and not there is the likelier the cause.
        report.causes.sort_by_key(|cause| cause.id != "module-not-installed");
        report.context.extend(facts(&found));
        let setting = self.tools.context.settings.install.word();
        report.context.push((fact::SETTING.to_owned(), setting.to_owned()));
        let allowed = self.tools.context.settings.install != Installing::Never;
        if allowed && found.plan.is_ok() && !self.leaves_out(Part::Rules) && self.permissions.given.is_none()
        {
            let behind = usize::from(self.sources.front() == Some(&Source::Rules));
            self.sources.insert(behind, Source::Packages);
        }
    }

    fn wanted(
        &self,
        report: &Report,
        script: Option<&ScriptFile>,
        trace: Option<&Trace>,
        scene: &dyn Scene,
    ) -> Option<Wanted> {
        let case = Case { job: self.job, argv: &self.job.argv, report, script, trace, scene };
        let mut found = wanted(&case)?;
        let theirs = |plan: &Plan| {
            let there = plan.place.ancestors().find_map(|place| scene.facts(place));
            there.is_none_or(|facts| facts.uid != self.tools.context.uid)
        };
        if found.plan.as_ref().is_ok_and(theirs) {
            found.plan = Err("it would go where another user's files are".to_owned());
        }
        Some(found)
    }

    /// What the package that the failure misses would be as a repair.
    pub(super) fn ask_packages(&mut self) -> Vec<Candidate> {
        let Some(report) = self.report.clone() else { return Vec::new() };
        let script = self.script_file(&self.scene);
        let found = self.wanted(&report, script.as_ref(), self.trace.as_ref(), &self.scene);
        found.and_then(|found| self.fetched(&report, &found, &[])).into_iter().collect()
    }

    /// The same for a failure that a half repaired job stands before.
    pub(super) fn further_packages(
        &mut self,
        report: &Report,
        changes: &[FileChange],
        run: &BoxedRun,
    ) -> Vec<Candidate> {
        let allowed = self.tools.context.settings.install != Installing::Never;
        if !allowed || self.leaves_out(Part::Rules) || self.permissions.given.is_some() {
            return Vec::new();
        }
        let found = {
            let scene = super::patched::PatchedScene { below: &self.scene, changes, effects: &run.effects };
            let script = self.script_file(&scene);
            self.wanted(report, script.as_ref(), run.trace.as_ref(), &scene)
        };
        found.and_then(|found| self.fetched(report, &found, changes)).into_iter().collect()
    }

    /// Runs the installer in a box. What stands in the way is told, in the installer's own words where it says something.
    fn fetched(&mut self, report: &Report, found: &Wanted, before: &[FileChange]) -> Option<Candidate> {
        let plan = found.plan.as_ref().ok()?;
        self.say("progress-install", &[("what", &found.what)]);
        match self.run_installer(plan, before) {
            Ok((changes, packages)) => Some(candidate(report, found, plan, changes, packages)),
            Err(why) => {
                // An installer may name an index with its password.
                let why = self.tools.redactor.text(&why).to_string();
                let values = [("tool", plan.tool), ("what", found.what.as_str()), ("why", why.as_str())];
                self.notes.push(self.tools.texts.say("note-install-failed", &values));
                None
            }
        }
    }

    fn run_installer(
        &mut self,
        plan: &Plan,
        before: &[FileChange],
    ) -> Result<(Vec<FileChange>, Vec<Package>), String> {
        if !self.tools.boxes.rung().can_try() {
            return Err("there is no box on this machine to run it in".to_owned());
        }
        let all = Drafts::new(self.tools.context.state.join("installs"));
        // What a process left that was killed here.
        all.prune(self.tools.context.clock.now().0.saturating_sub(LEFT_MS), 1);
        let id = self.tools.context.clock.fresh_id();
        let order = self.installer_order(plan, before, &all, &id);
        let boxed = self.tools.boxes.run(&order).map_err(|error| error.to_string())?;
        let kept = added(plan, &boxed, &all, &id, &self.scene);
        // What it left was read, or is of no use.
        if boxed.no_draft.is_none()
            && let Err(error) = all.throw_away(&id)
        {
            tracing::warn!(%error, "what an installer left could not be thrown away");
        }
        let mut changes = kept?;
        changes.retain(|change| !before.contains(change));
        let packages = match plan.tool {
            "npm" => node_packages(plan, &changes),
            _ => python_packages(&changes),
        };
        match packages.is_empty() {
            true => Err(format!("it added nothing that is a package{}", said(&boxed))),
            false => Ok((changes, packages)),
        }
    }

    fn installer_order(&self, plan: &Plan, before: &[FileChange], all: &Drafts, id: &str) -> BoxOrder {
        let mut env: BTreeMap<OsString, OsString> = self.env();
        for (name, value) in &plan.env {
            match value {
                Some(value) => env.insert(name.into(), value.into()),
                None => env.remove(OsStr::new(name)),
            };
        }
        BoxOrder {
            argv: plan.argv.iter().map(OsString::from).collect(),
            cwd: plan.cwd.clone(),
            env,
            setup: before.iter().map(scene_edit).collect(),
            deadline_ms: self.tools.context.settings.limits.trial_ms.max(LEAST_MS).min(self.time_left_ms()),
            hidden: vec![self.tools.context.state.clone()],
            keep: KEEP,
            net: true,
            limits: BoxLimits { most_room: Some(self.room), ..BoxLimits::default() },
            draft: Some(DraftOrder {
                folder: all.folder(id),
                id: id.to_owned(),
                command: self.tools.redactor.text(&plan.shown),
            }),
            ..BoxOrder::default()
        }
    }
}

/// What a report says of a package, as facts.
fn facts(found: &Wanted) -> Vec<(String, String)> {
    let mut out = vec![(fact::PACKAGE.to_owned(), found.what.clone())];
    if let Some(place) = &found.declared {
        out.push((fact::DECLARED.to_owned(), format!("{}:{}", place.file.display(), place.line)));
    }
    if let Err(why) = &found.plan {
        out.push((fact::WHY_NOT.to_owned(), why.clone()));
    }
    out.push((fact::COMMAND.to_owned(), found.by_hand.clone()));
    out
}

/// What an installer did below its place, as changes of files.
fn added(
    plan: &Plan,
    boxed: &BoxedRun,
    all: &Drafts,
    id: &str,
    scene: &dyn Scene,
) -> Result<Vec<FileChange>, String> {
    if boxed.run.ended.code() != 0 {
        let why = boxed.inconclusive.clone().map(|why| format!(" ({why})")).unwrap_or_default();
        return Err(format!("it ended with exit code {}{}{why}", boxed.run.ended.code(), said(boxed)));
    }
    if let Some(why) = &boxed.no_draft {
        return Err(why.clone());
    }
    let draft = all.find(id).map_err(|error| error.to_string())?;
    let cache = |path: &Path| path.components().any(|part| part.as_os_str() == "__pycache__");
    let entries: Vec<(usize, &Entry)> = (0..)
        .zip(&draft.entries)
        .filter(|(_, entry)| entry.path.starts_with(&plan.place) && !cache(&entry.path))
        .filter(|(_, entry)| !matches!(entry.change, Change::CreatedFolder | Change::Attributes))
        .collect();
    let bytes: u64 = entries.iter().map(|(_, entry)| entry.len).sum();
    if entries.len() > MOST_FILES || bytes > MOST_BYTES {
        let mib = bytes >> 20;
        return Err(format!(
            "it is {} files of {mib} MiB together, and a repair brings at most {MOST_FILES} of {} MiB",
            entries.len(),
            MOST_BYTES >> 20
        ));
    }
    let modes = boxed.effects.iter().map(|effect| (effect.path.as_path(), effect.mode)).collect();
    let kept = Kept { all, draft: &draft, modes, scene };
    entries.into_iter().map(|(number, entry)| kept.change(number, entry)).collect()
}

/// What an installer did, kept as a draft.
struct Kept<'a> {
    all: &'a Drafts,
    draft: &'a Draft,
    /// The permission bits of each file.
    modes: BTreeMap<&'a Path, u32>,
    scene: &'a dyn Scene,
}

impl Kept<'_> {
    fn change(&self, number: usize, entry: &Entry) -> Result<FileChange, String> {
        let limit = usize::try_from(MOST_BYTES).unwrap_or(usize::MAX);
        let before = self.scene.read(&entry.path, limit);
        let after = match entry.change {
            Change::Deleted => None,
            _ => Some(self.content(number, &entry.path)?),
        };
        let mode = self.modes.get(entry.path.as_path()).map(|mode| mode & 0o777);
        Ok(FileChange { path: entry.path.clone(), before, mode: mode.filter(|_| after.is_some()), after })
    }

    fn content(&self, number: usize, path: &Path) -> Result<Vec<u8>, String> {
        let strange = || format!("{} is no plain file", path.display());
        let file = self.all.open_new(self.draft, number).map_err(|_| strange())?;
        if !file.metadata().is_ok_and(|facts| facts.is_file()) {
            return Err(strange());
        }
        let mut content = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut content).map_err(|error| error.to_string())?;
        Ok(content)
    }
}

/// The installer's own message: its lines that begin with an error, else its last one.
fn said(boxed: &BoxedRun) -> String {
    let text = boxed.run.stdout.text() + &boxed.run.stderr.text();
    let plain = |line: &&str| !line.trim().is_empty() && !line.contains("A complete log of this run");
    let mut lines: Vec<&str> = text.lines().filter(plain).collect();
    let errors: Vec<&str> = lines
        .iter()
        .filter_map(|line| {
            line.trim().strip_prefix("ERROR:").or_else(|| line.trim().strip_prefix("npm error"))
        })
        .map(str::trim)
        .take(4)
        .collect();
    if !errors.is_empty() {
        lines = errors;
    } else {
        lines = lines.into_iter().rev().take(1).collect();
    }
    let message: String = lines.join("; ").chars().take(MESSAGE).collect();
    if message.is_empty() { message } else { format!(": {message}") }
}

fn sha256(content: &[u8]) -> String {
    format!("sha256:{}", crate::knowledge::hash(content).as_str())
}

/// What pip brought, by the `METADATA` and `RECORD` of each distribution.
fn python_packages(changes: &[FileChange]) -> Vec<Package> {
    let find = |path: PathBuf| changes.iter().find(|change| change.path == path)?.after.as_deref();
    let metadata = changes.iter().filter(|change| {
        let folder = change.path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        change.path.file_name() == Some(OsStr::new("METADATA")) && folder.ends_with(".dist-info")
    });
    let mut out: Vec<Package> = metadata
        .filter_map(|change| {
            let text = String::from_utf8_lossy(change.after.as_deref()?).into_owned();
            let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            let (name, version) = (value("Name:")?.to_owned(), value("Version:")?.to_owned());
            let record = find(change.path.with_file_name("RECORD"))?;
            Some(Package { name, version, hash: sha256(record) })
        })
        .collect();
    out.sort_by(|one, other| one.name.cmp(&other.name));
    out
}

/// What npm brought, by the list that it keeps in `node_modules`.
fn node_packages(plan: &Plan, changes: &[FileChange]) -> Vec<Package> {
    let list = plan.place.join(NODE_LIST);
    let text = changes.iter().find(|change| change.path == list).and_then(|change| change.after.as_deref());
    let root: serde_json::Value = text.and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_default();
    let entries = root.get("packages").and_then(serde_json::Value::as_object).into_iter().flatten();
    let here = |path: &str| {
        let folder = plan.cwd.join(path);
        changes.iter().any(|change| change.path.starts_with(&folder))
    };
    let found = entries.filter(|(path, _)| here(path)).filter_map(|(path, entry)| {
        let text = |name: &str| entry.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
        let name = path.rsplit("node_modules/").next().unwrap_or_default().to_owned();
        let manifest = plan.cwd.join(path).join("package.json");
        let own = || {
            let file = changes.iter().find(|change| change.path == manifest)?;
            file.after.as_deref().map(sha256)
        };
        Some(Package { name, version: text("version")?, hash: text("integrity").or_else(own)? })
    });
    found.collect()
}

fn candidate(
    report: &Report,
    found: &Wanted,
    plan: &Plan,
    changes: Vec<FileChange>,
    packages: Vec<Package>,
) -> Candidate {
    let declared = found.declared.as_ref();
    let place = declared.map_or_else(String::new, |place| format!("{}:{}", place.file.display(), place.line));
    let install = Install {
        tool: plan.tool.to_owned(),
        place: plan.place.clone(),
        command: plan.shown.clone(),
        packages,
    };
    let summary = format!("{} put into {}: {}", install.names(), plan.place.display(), plan.shown);
    Candidate {
        diagnosis: Diagnosis {
            root_cause: format!(
                "The module {} is not installed where the job looks, and {place} declares {}.",
                found.module, found.what
            ),
            evidence: vec![report.core_error.clone(), format!("{place}: {}", found.what)],
            change: What::Environment,
            strategy: format!(
                "The declared package is put into {}: {}.",
                plan.place.display(),
                install.names()
            ),
            verify: Vec::new(),
            basis: Basis::Project,
        },
        proposal: Proposal {
            source: Maker::Rules { names: vec![NAME.to_owned()] },
            summary: vec![summary],
            risk: plan.risk,
            changes_meaning: false,
            rollback: format!("the {} added files are removed", changes.len()),
            changes,
            installs: vec![install],
        },
        scenarios: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> FileChange {
        FileChange { path: path.into(), before: None, after: Some(text.into()), mode: None }
    }

    #[test]
    fn distributions_are_named_by_their_own_words() {
        let site = "/j/.venv/lib/python3.11/site-packages";
        let changes = [
            file(&format!("{site}/b-1.dist-info/METADATA"), "Metadata-Version: 2.1\nName: b\nVersion: 1\n"),
            file(&format!("{site}/b-1.dist-info/RECORD"), "b.py,sha256=x,1\n"),
            file(&format!("{site}/c/METADATA"), "Name: c\nVersion: 1\n"),
        ];
        let found = python_packages(&changes);
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((one.name.as_str(), one.version.as_str()), ("b", "1"));
        assert!(one.hash.starts_with("sha256:") && one.hash.len() == 71);
    }
}
