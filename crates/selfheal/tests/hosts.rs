//! Hosts that are not like others: confined, without a home, with a read-only root, as another user.

use std::process::Command;

use crate::support::{document, env};

/// A command in front of the program, in the environment of a test; `None` where this machine cannot do it.
fn in_front(env: &selfheal_testkit::TestEnv, words: &[&str], args: &[&str]) -> Option<std::process::Output> {
    let (first, rest) = words.split_first().unwrap();
    let can = Command::new(first).args(rest).arg("true").output().is_ok_and(|output| output.status.success());
    if !can {
        return None;
    }
    let inner = env.command(args);
    let mut command = Command::new(first);
    command.args(rest).arg(inner.get_program()).args(inner.get_args()).current_dir(env.work()).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(command.output().unwrap())
}

fn text(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn without_new_privileges_a_job_runs_and_the_doctor_says_so() {
    let env = env();
    let front = ["setpriv", "--no-new-privs"];
    let Some(run) = in_front(&env, &front, &["run", "--once", "--", "sh", "-c", "exit 7"]) else { return };
    assert_eq!(run.status.code(), Some(7), "{}", text(&run));
    let doctor = in_front(&env, &front, &["doctor"]).unwrap();
    assert!(text(&doctor).contains("no new privileges"), "{}", text(&doctor));
}

#[test]
fn without_a_home_a_job_runs_and_is_recorded() {
    let env = env().without("HOME").without("XDG_CONFIG_HOME").without("XDG_STATE_HOME");
    assert_eq!(env.run(&["run", "--job", "x", "--", "true"]).code, 0);
    assert_eq!(env.run(&["env-diff", "x"]).code, 0);
    assert!(env.run(&["doctor"]).stdout.contains("no HOME"));
}

#[test]
fn on_a_read_only_root_a_job_runs() {
    let env = env();
    let script = "mount -o remount,bind,ro / && exec \"$@\"";
    let front = ["unshare", "-m", "sh", "-c", script, "sh"];
    let Some(run) = in_front(&env, &front, &["run", "--once", "--", "sh", "-c", "exit 7"]) else { return };
    assert_eq!(run.status.code(), Some(7), "{}", text(&run));
    let doctor = in_front(&env, &front, &["doctor"]).unwrap();
    assert!(text(&doctor).contains("read-only root"), "{}", text(&doctor));
}

#[test]
fn what_failed_on_another_machine_is_told_so() {
    let env = env();
    env.script("tools/ssh", "#!/bin/sh\necho 'cat: /srv/x: No such file or directory' >&2\nexit 1\n");
    let path = format!("{}:{}", env.work().join("tools").display(), std::env::var("PATH").unwrap());
    let env = env.with("PATH", path);
    let (run, document) = document(&env, &["--once", "--", "ssh", "web1", "cat", "/srv/x"]);
    assert_eq!(run.code, 1, "{run:?}");
    let notes = document["notes"].to_string();
    assert!(notes.contains("it failed on web1: nothing here can be edited"), "{document}");
}
