//! Boxes: as whoever runs the tests, and where that is root also as an ordinary user.

mod basics;
mod commit;
mod copies;
mod doubtful;
mod effects;
mod endings;
mod escapes;
mod killed;
mod large;
mod lowers;
mod options;
mod oracle;
mod probes;
mod setup;
mod traced;
mod walls;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use selfheal_core::effects::Change;
use selfheal_core::ports::{BoxLimits, BoxOrder, BoxedRun, Boxes};
use selfheal_exec::{BoxConfig, BoxRunner};

use crate::common::HELPER;

/// Names the helper program where the tests run as another user, who may not reach where it was built.
const HELPER_VARIABLE: &str = "SELFHEAL_TEST_HELPER";

/// Names a file of root's that everybody may write to.
const SHARED_VARIABLE: &str = "SELFHEAL_TEST_SHARED";

/// The program that plays selfheal.
pub fn helper() -> PathBuf {
    std::env::var_os(HELPER_VARIABLE).map_or_else(|| HELPER.into(), PathBuf::from)
}

/// Root also runs all tests of this module as an ordinary user.
#[test]
fn everything_holds_for_an_ordinary_user() {
    if !is_root() {
        println!("skipped: this is an ordinary user already");
        return;
    }
    let keep = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(keep.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (tests, program, temporary) =
        (keep.path().join("tests"), keep.path().join("helper"), keep.path().join("t"));
    std::fs::copy(std::env::current_exe().unwrap(), &tests).unwrap();
    std::fs::copy(helper(), &program).unwrap();
    std::fs::create_dir(&temporary).unwrap();
    std::os::unix::fs::chown(&temporary, Some(USER), Some(USER)).unwrap();
    let shared = keep.path().join("shared");
    std::fs::write(&shared, "root's, for everybody\n").unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o666)).unwrap();
    let output = Command::new(tests)
        .args(["boxed::", "--nocapture"])
        .env("TMPDIR", &temporary)
        .env("HOME", &temporary)
        .env(HELPER_VARIABLE, program)
        .env(SHARED_VARIABLE, shared)
        .current_dir("/")
        .uid(USER)
        .gid(USER)
        .output()
        .unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{text}");
    assert!(output.status.success() && text.contains("test result: ok"), "{text}");
}

/// An ordinary user; nobody of that number needs to exist.
const USER: u32 = 54_321;

pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A place with a folder for the job and a store, and a runner.
pub struct Place {
    _keep: tempfile::TempDir,
    /// The folder of the job.
    pub work: PathBuf,
    /// The runner.
    pub runner: BoxRunner,
}

impl Place {
    pub fn new() -> Self {
        Self::with(|config| config)
    }

    /// One whose boxes may write so much.
    pub fn with_room(bytes: u64) -> Self {
        Self::with(|config| BoxConfig {
            limits: BoxLimits { room: Some(bytes), ..BoxLimits::default() },
            ..config
        })
    }

    /// One that does without some rungs.
    pub fn forbidding(rungs: &[&str]) -> Self {
        let forbid = rungs.iter().map(|name| (*name).to_owned()).collect();
        Self::with(|config| BoxConfig { forbid, ..config })
    }

    /// One whose helper is started by a line for the shell.
    pub fn by(line: impl FnOnce(String) -> String) -> Self {
        let place = Self::new();
        let wrapper =
            place.write("wrapper", &format!("#!/bin/sh\n{}\n", line(helper().display().to_string())));
        std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
        let store = place.work.parent().unwrap().join("store");
        let config = BoxConfig { program: wrapper, store, ..BoxConfig::default() };
        Self { runner: BoxRunner::new(config), ..place }
    }

    pub fn with(change: impl FnOnce(BoxConfig) -> BoxConfig) -> Self {
        let keep = tempfile::tempdir().unwrap();
        let base = keep.path().canonicalize().unwrap();
        let (work, store) = (base.join("work"), base.join("store"));
        std::fs::create_dir(&work).unwrap();
        std::fs::create_dir(&store).unwrap();
        let config = BoxConfig { program: helper(), store, ..BoxConfig::default() };
        Self { _keep: keep, work, runner: BoxRunner::new(change(config)) }
    }

    /// An order for a command in the folder.
    pub fn order(&self, argv: &[&str]) -> BoxOrder {
        let env =
            ["PATH", "HOME"].iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
        BoxOrder {
            argv: argv.iter().map(OsString::from).collect(),
            cwd: self.work.clone(),
            env: env.collect::<BTreeMap<_, _>>(),
            deadline_ms: 120_000,
            keep: 64 * 1024,
            ..BoxOrder::default()
        }
    }

    pub fn shell(&self, line: &str) -> BoxOrder {
        self.order(&["bash", "-c", line])
    }

    pub fn run(&self, order: &BoxOrder) -> BoxedRun {
        self.runner.run(order).unwrap()
    }

    /// A line for bash, run to its end.
    pub fn sh(&self, line: &str) -> BoxedRun {
        self.run(&self.shell(line))
    }

    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.work.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

/// Effects below a folder, as name and change.
pub fn effects(run: &BoxedRun, below: &Path) -> Vec<(String, Change)> {
    let inside =
        run.effects.iter().filter_map(|effect| Some((effect.path.strip_prefix(below).ok()?, effect)));
    inside.map(|(name, effect)| (name.to_string_lossy().into_owned(), effect.change)).collect()
}

/// The code and both streams.
pub fn said(run: &BoxedRun) -> (i32, String, String) {
    (run.run.ended.code(), run.run.stdout.text(), run.run.stderr.text())
}

/// Whether the machine offers a box; prints why not.
pub fn can_try(place: &Place) -> bool {
    let rung = place.runner.rung();
    if !rung.can_try() {
        println!("skipped: {}", rung.why_not_better.join("; "));
    }
    rung.can_try()
}
