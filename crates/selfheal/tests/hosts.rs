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
    assert!(notes.contains("it failed on web1: reported, tried again if it may be"), "{document}");
}

/// Refuses `unshare` with EPERM from here on, as Docker's default profile does, then becomes the command.
const FILTER: &str = r#"
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
unshare = {"x86_64": 272, "aarch64": 97}[os.uname().machine]
def op(code, jt, jf, k): return struct.pack("HBBI", code, jt, jf, k)
code = op(0x20, 0, 0, 0) + op(0x15, 0, 1, unshare) + op(0x06, 0, 0, 0x00050001) + op(0x06, 0, 0, 0x7fff0000)
buffer = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.create_string_buffer(program), 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn behind_a_filter_that_refuses_namespaces_a_job_runs_and_nothing_is_applied() {
    let env = env();
    let front = ["python3", "-c", FILTER];
    env.script("job.sh", "#!/bin/bash\nset -eu\ncp in.txt out/in.txt\n");
    env.write("in.txt", "x\n");
    let Some(run) = in_front(&env, &front, &["run", "--apply", "low", "--", "./job.sh"]) else { return };
    assert_eq!(run.status.code(), Some(1), "{}", text(&run));
    let doctor = text(&in_front(&env, &front, &["doctor"]).unwrap());
    assert!(doctor.contains("* seccomp"), "{doctor}");
    if !doctor.contains("rung overlay") {
        assert_eq!(env.read("job.sh"), "#!/bin/bash\nset -eu\ncp in.txt out/in.txt\n", "{doctor}");
    }
}

#[test]
fn under_sudo_the_doctor_says_whose_record_it_is() {
    let doctor = env().with("SUDO_USER", "alice").run(&["doctor"]).stdout;
    assert!(doctor.contains("run for alice") && doctor.contains("* sudo"), "{doctor}");
    assert_eq!(env().with("SUDO_USER", "alice").run(&["run", "--", "true"]).code, 0);
}

#[test]
fn another_user_than_root_runs_jobs_with_a_record_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let env = env();
    for path in [env.root().to_path_buf(), env.work(), env.home()] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let state = format!("SELFHEAL_STATE_DIR={}", env.work().join("state").display());
    let front = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", &state];
    let Some(run) = in_front(&env, &front, &["run", "--once", "--", "sh", "-c", "exit 7"]) else { return };
    // A binary in a folder of root's cannot be started by anybody else; then there is nothing to see.
    if run.status.code() == Some(126) {
        return;
    }
    assert_eq!(run.status.code(), Some(7), "{}", text(&run));
    let doctor = text(&in_front(&env, &front, &["doctor"]).unwrap());
    assert!(doctor.contains("* not root"), "{doctor}");
}
