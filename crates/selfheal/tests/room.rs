//! A state folder without room, and one that cannot be written: the job runs, people are told in one line, and nothing is
//! changed that cannot be recorded.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use selfheal_testkit::TestEnv;

use crate::support::{BACKUP, backup_env, env};

/// A small file system, where mounting is allowed.
pub struct Small(PathBuf);

impl Small {
    pub fn mount(at: &Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let options = format!("size={size},mode=0700");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "none"]).arg(at).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then(|| Self(at.to_path_buf()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    fn remount(&self, how: &str) {
        let done = Command::new("mount").args(["-o", how]).arg(&self.0).status().unwrap();
        assert!(done.success());
    }

    /// Leaves so many KiB.
    pub fn leave(&self, kib: u64) {
        let fill = self.0.join("fill");
        let _ = std::fs::remove_file(&fill);
        let out = format!("of={}", fill.display());
        let dd = |size: &str| {
            let _ = Command::new("dd").args(["if=/dev/zero", size, &out]).stderr(Stdio::null()).status();
        };
        dd("bs=4k");
        let length = std::fs::metadata(&fill).unwrap().len();
        std::fs::File::options()
            .write(true)
            .open(&fill)
            .unwrap()
            .set_len(length.saturating_sub(kib << 10))
            .unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// The job runs as without selfheal, and what selfheal says of itself stands in one line.
fn runs_and_is_told(env: &TestEnv) {
    let run = env.run(&["run", "--", "sh", "-c", "echo out; exit 7"]);
    assert_eq!((run.code, run.stdout.as_str()), (7, "out\n"), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(run.stderr.starts_with("selfheal: failed"), "{run:?}");
}

#[test]
fn a_full_state_folder_lets_jobs_run_and_changes_nothing_that_is_not_recorded() {
    let env = backup_env();
    let Some(small) = Small::mount(&env.state(), "2m") else { return };
    env.run(&["run", "--", "true"]);
    small.leave(0);
    runs_and_is_told(&env);
    let mut ends = [0, 0];
    // From no room at all to enough, so that it runs out at different places.
    for kib in [0, 8, 24, 48, 80, 120, 180, 260, 400, 1_200] {
        small.leave(kib);
        let run = env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
        assert!(run.code <= 1, "{kib} KiB: {run:?}");
        let changed = env.read("backup.sh") != BACKUP;
        let _ = std::fs::remove_file(env.state().join("fill"));
        let tick = env.run(&["tick"]);
        assert_eq!(tick.code, 0, "{kib} KiB: {tick:?}");
        let audit = env.run(&["audit", "verify"]);
        assert_eq!(audit.code, 0, "{kib} KiB: {audit:?}");
        if env.read("backup.sh") != BACKUP {
            let undone = env.run(&["undo", "--last"]);
            assert_eq!(undone.code, 0, "{kib} KiB: what was changed was recorded: {undone:?}");
        }
        assert_eq!(env.read("backup.sh"), BACKUP, "{kib} KiB");
        ends[usize::from(changed)] += 1;
        // The next one starts from nothing, so that no repair waits and no breaker is open.
        for name in std::fs::read_dir(env.state()).unwrap() {
            let path = name.unwrap().path();
            let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        }
        env.run(&["run", "--", "true"]);
    }
    assert!(ends.iter().all(|count| *count > 0), "both ends were reached: {ends:?}");
}

#[test]
fn a_read_only_state_folder_lets_jobs_run_and_changes_nothing() {
    let env = backup_env();
    let Some(small) = Small::mount(&env.state(), "4m") else { return };
    // Empty, and with a store in it.
    for filled in [false, true] {
        if filled {
            small.remount("remount,rw");
            env.run(&["run", "--", "true"]);
        }
        small.remount("remount,ro");
        runs_and_is_told(&env);
        let run = env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
        assert_eq!((run.code, env.read("backup.sh").as_str()), (1, BACKUP), "{run:?}");
    }
}

/// Without the right to mount: a state folder that is a file.
#[test]
fn a_state_folder_that_is_none_lets_jobs_run() {
    let env = env();
    std::fs::create_dir_all(env.state().parent().unwrap()).unwrap();
    let _ = std::fs::remove_dir_all(env.state());
    std::fs::write(env.state(), "").unwrap();
    runs_and_is_told(&env);
}
