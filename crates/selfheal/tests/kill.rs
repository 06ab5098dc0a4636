//! kill -9 while files are put in place or taken back, and disks that are full: after the next start every file is old
//! or every file is new.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use selfheal_testkit::TestEnv;

use crate::support::env;

/// The kills of each direction.
const KILLS: u32 = 60;

/// Changes of every kind, many enough that putting them in place takes a while.
const CHANGES: &str = "for i in $(seq 40); do echo new$i >>f$i; done; for i in $(seq 41 60); do rm f$i; done; rm -r d; \
    mkdir -p n/m; for i in $(seq 30); do echo $i >n/m/$i; done; rm x; mkdir x; echo in >x/in; ln -sf f2 l; echo more >>two";

const BEFORE: &str = "for i in $(seq 60); do echo old$i >f$i; done; mkdir -p d/e; echo y >d/e/y; echo x >x; ln -s f1 l; \
    echo names >two; ln two names";

fn bash(folder: &Path, line: &str) {
    assert!(Command::new("bash").args(["-c", line]).current_dir(folder).status().unwrap().success());
}

/// Every path with its content or what it leads to.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let facts = fs::symlink_metadata(&path).unwrap();
        if facts.is_dir() {
            all.insert(path.clone(), b"folder".to_vec());
            all.extend(tree(&path));
        } else if facts.is_symlink() {
            all.insert(path.clone(), fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

/// Keeps the changes and gives their id; `None` without boxes.
fn kept(env: &TestEnv, folder: &str) -> Option<String> {
    let line = format!("cd {folder} && {CHANGES}");
    let outcome = env.run(&["try", "--keep", "--", "bash", "-c", &line]);
    let at = outcome.stderr.find("--commit ")?;
    outcome.stderr[at + 9..].split_whitespace().next().map(str::to_owned)
}

/// Runs a command and kills it after a part of the time that it takes.
fn killed(env: &TestEnv, args: &[&str], after: Duration) {
    let mut child = env.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let moment = Instant::now() + after;
    while Instant::now() < moment && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(100));
    }
    child.kill().ok();
    child.wait().unwrap();
}

fn kill_all_the_way(env: &TestEnv, folder: &str, kills: u32) {
    let place = env.work().join(folder);
    bash(&place, BEFORE);
    let Some(id) = kept(env, folder) else {
        return;
    };
    let old = tree(&place);
    let began = Instant::now();
    assert_eq!(env.run(&["try", "--commit", &id]).code, 0);
    let took = began.elapsed();
    let new = tree(&place);
    assert_ne!(old, new);
    assert_eq!(env.run(&["undo", &id]).code, 0);
    assert_eq!(tree(&place), old);
    let mut seen = [0_u32; 2];
    for part in 0..kills {
        let after = took * (part + 1) / kills;
        let is_new = tree(&place) == new;
        let args = if is_new { vec!["undo", &id] } else { vec!["try", "--commit", &id] };
        killed(env, &args, after);
        let next = env.run(&["try", "--list"]);
        assert_eq!(next.code, 0, "{next:?}");
        let now = tree(&place);
        let word = if now == new { " in place " } else { " undone " };
        assert!(now == old || now == new, "killed at {part}/{kills} ({args:?}): {next:?}");
        assert!(next.stdout.contains(word), "killed at {part}/{kills}: {next:?}");
        assert!(!env.state().join("drafts/journal.json").exists());
        seen[usize::from(now == new)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 0), "both ends were reached: {seen:?}");
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn killed_while_it_commits_or_undoes_all_is_old_or_all_is_new() {
    let env = env();
    fs::create_dir(env.work().join("w")).unwrap();
    kill_all_the_way(&env, "w", 2 * KILLS);
}

/// A small file system that only this machine's root can mount.
struct Small(PathBuf);

impl Small {
    fn mount(at: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let options = format!("size={size}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "none"]).arg(at).stderr(Stdio::null());
        let done = mount.status().is_ok_and(|status| status.success());
        done.then(|| Self(at.to_path_buf()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn killed_across_file_systems_the_same_holds() {
    let env = env();
    let Some(_small) = Small::mount(&env.work().join("w"), "8m") else { return };
    kill_all_the_way(&env, "w", KILLS);
    let left: Vec<_> =
        tree(&env.work()).into_keys().filter(|path| path.to_string_lossy().contains(".selfheal-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Fills a folder's file system up to the last byte.
fn fill(folder: &Path) {
    let _ = Command::new("dd")
        .args(["if=/dev/zero", "bs=4k"])
        .arg(format!("of={}", folder.join("fill").display()))
        .stderr(Stdio::null())
        .status();
}

#[test]
fn a_full_disk_under_the_target_changes_nothing() {
    let env = env();
    let place = env.work().join("w");
    let Some(_small) = Small::mount(&place, "1m") else { return };
    bash(&place, BEFORE);
    let Some(id) = kept(&env, "w") else { return };
    fill(&place);
    let old = tree(&place);
    let outcome = env.run(&["try", "--commit", &id]);
    assert_eq!(outcome.code, 115, "{outcome:?}");
    assert!(outcome.stderr.contains("No space left"), "{outcome:?}");
    assert_eq!(tree(&place), old);
    fs::remove_file(place.join("fill")).unwrap();
    assert_eq!(env.run(&["try", "--commit", &id]).code, 0);
}

#[test]
fn a_full_disk_under_the_state_changes_nothing() {
    let env = env();
    let Some(_small) = Small::mount(&env.state(), "2m") else { return };
    fs::create_dir(env.work().join("w")).unwrap();
    let place = env.work().join("w");
    bash(&place, BEFORE);
    let Some(id) = kept(&env, "w") else { return };
    let old = tree(&place);
    fill(&env.state());
    let outcome = env.run(&["try", "--commit", &id]);
    assert!(outcome.code != 0 && tree(&place) == old, "{outcome:?}");
    let more = env.run(&["try", "--commit", "--", "bash", "-c", "head -c 100000 /dev/zero >w/large"]);
    assert!(more.code == 115 && tree(&place) == old, "{more:?}");
    fs::remove_file(env.state().join("fill")).unwrap();
    assert_eq!(env.run(&["try", "--commit", &id]).code, 0);
}

#[test]
fn a_read_only_target_changes_nothing() {
    let env = env();
    let place = env.work().join("w");
    let Some(_small) = Small::mount(&place, "1m") else { return };
    bash(&place, BEFORE);
    let Some(id) = kept(&env, "w") else { return };
    let old = tree(&place);
    let read_only = |how: &str| Command::new("mount").args(["-o", how]).arg(&place).status().unwrap();
    assert!(read_only("remount,ro").success());
    let outcome = env.run(&["try", "--commit", &id]);
    assert_eq!((outcome.code, tree(&place)), (115, old), "{outcome:?}");
    assert!(read_only("remount,rw").success());
    assert_eq!(env.run(&["try", "--commit", &id]).code, 0);
}
