//! Steps in boxes, healing, and what happens where there is no box.

use std::fs;
use std::process::Stdio;

use selfheal_testkit::TestEnv;

use super::{env, lines, outcome, state};
use crate::support::{BACKUP, has_box, kill_group, wait_for};

#[test]
fn a_failing_step_is_healed_and_the_task_goes_on() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    env.write("backup.sh", BACKUP);
    fs::create_dir(env.work().join("logs")).unwrap();
    env.write("t.toml", "id = \"t\"\n[[steps]]\nid = \"backup\"\nrun = [\"bash\", \"backup.sh\"]\n[[steps]]\nid = \"next\"\nrun = \"echo next > said\"\nneeds = [\"backup\"]\noutputs = [\"said\"]\n");
    let held = env.run(&["task", "run", "t.toml"]);
    assert_eq!(held.code, 1, "{held:?}");
    assert!(held.stderr.contains("a proved repair waits: selfheal approve "), "{held:?}");
    let healed = env.run(&["task", "resume", "--apply", "medium"]);
    assert_eq!(healed.code, 0, "{healed:?}");
    assert!(healed.stderr.contains("(healed: "), "{healed:?}");
    let state = state(&env);
    assert_eq!(state["steps"]["backup"]["result"]["healing"]["status"], "healed");
    assert_eq!(env.read("said"), "next\n");
}

/// The text of the file stays as it is, and who wrote it must know that.
#[test]
fn a_repair_of_a_script_in_the_task_file_is_said_to_be_of_this_run_only() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    fs::create_dir(env.work().join("logs")).unwrap();
    env.write("t.toml", format!("id = \"t\"\n[[steps]]\nid = \"backup\"\nrun = '''\n{BACKUP}'''\n"));
    let healed = env.run(&["task", "run", "t.toml", "--apply", "medium"]);
    assert_eq!(healed.code, 0, "{healed:?}");
    assert!(healed.stderr.contains("step backup was repaired for this run only"), "{healed:?}");
}

#[test]
fn a_boxed_step_writes_where_it_may_and_all_or_nothing() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    let one = |rest: &str| {
        env.write("t.toml", format!("id = \"t\"\n[[steps]]\nid = \"a\"\nretry = \"none\"\n{rest}"))
    };
    one("run = \"echo x > half; exit 3\"\n");
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 1);
    assert!(!env.work().join("half").exists());
    one("paths = [\"out\"]\nrun = \"mkdir -p out; echo x > out/x; echo y > elsewhere\"\n");
    let outside = env.run(&["task", "run", "t.toml"]);
    assert!(outside.code == 1 && outside.stderr.contains("none of its paths"), "{outside:?}");
    assert!(!env.work().join("out").exists());
    one("paths = [\"out\"]\nrun = \"mkdir -p out; echo x > out/x\"\n");
    let inside = env.run(&["task", "run", "t.toml"]);
    assert_eq!((inside.code, env.read("out/x").as_str()), (0, "x\n"), "{inside:?}");
    one("run = \"exec 3<>/dev/tcp/127.0.0.1/9\"\n");
    let network = env.run(&["task", "run", "t.toml"]);
    assert!(network.code == 1 && network.stderr.contains("effects = \"any\""), "{network:?}");
}

#[test]
fn steps_that_change_the_same_file_at_once_lose_nothing() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    let step = |n: usize| format!("[[steps]]\nid = \"s{n}\"\nrun = \"echo {n} >> shared\"\n");
    env.write("shared", "begin\n");
    env.write("t.toml", format!("id = \"t\"\nconcurrency = 4\n{}", (0..4).map(step).collect::<String>()));
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!(run.code, 0, "{run:?}");
    let mut all = lines(&env, "shared");
    all.sort();
    assert_eq!(all, ["0", "1", "2", "3", "begin"]);
}

#[test]
fn a_command_that_must_succeed_takes_back_what_was_put_in_place() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    let text = "id = \"t\"\n[[steps]]\nid = \"a\"\nretry = \"none\"\nrun = \"echo x > made\"\n[steps.expect]\ncommand = [\"grep\", \"y\", \"made\"]\n";
    env.write("t.toml", text);
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!((run.code, env.work().join("made").exists()), (1, false), "{run:?}");
    env.write("t.toml", text.replace("\"y\"", "\"x\""));
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!((run.code, env.work().join("made").exists()), (0, true), "{run:?}");
}

/// A command line of the program where the kernel gives no namespaces, so that there is no box.
fn without_namespaces(env: &TestEnv, args: &[&str]) -> std::process::Command {
    let program = env!("CARGO_BIN_EXE_selfheal");
    let line = "echo 0 > /proc/sys/user/max_user_namespaces; echo 0 > /proc/sys/user/max_mnt_namespaces; exec \"$@\"";
    let own = env.command(args);
    let mut command = std::process::Command::new("unshare");
    command.args(["-r", "sh", "-c", line, "sh", program]).args(args).current_dir(env.work()).env_clear();
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null());
    command
}

/// Its exit code and what it said; nothing where a user may not even make such a place.
fn boxless(env: &TestEnv, args: &[&str]) -> Option<(i32, String)> {
    let usable = std::process::Command::new("unshare").args(["-r", "true"]).stderr(Stdio::null()).status();
    usable.ok().filter(std::process::ExitStatus::success)?;
    let ended = without_namespaces(env, args).output().unwrap();
    Some((ended.status.code().unwrap(), String::from_utf8_lossy(&ended.stderr).into_owned()))
}

#[test]
fn without_a_box_a_step_runs_on_the_machine_and_says_so() {
    let env = env();
    env.write(
        "t.toml",
        "id = \"t\"\n[[steps]]\nid = \"a\"\nrun = \"echo done >> made\"\noutputs = [\"made\"]\n",
    );
    let Some((code, said)) = boxless(&env, &["task", "run", "t.toml"]) else { return };
    assert_eq!((code, lines(&env, "made").len()), (0, 1), "{said}");
    assert!(said.contains("step a ran on the machine, because there was no box for it"), "{said}");
    let state = state(&env);
    assert!(state["known_issues"][0].as_str().unwrap().contains("no box for it"), "{state}");
    assert_eq!(state["steps"]["a"]["attempt"], 1);
    assert!(env.run(&["task", "status"]).stdout.contains("no box for it"));
}

#[test]
fn without_a_box_a_step_that_is_killed_is_handed_over() {
    let env = env();
    env.write(
        "t.toml",
        "id = \"t\"\n[[steps]]\nid = \"a\"\nrun = \"echo began >> witness; while [ ! -e go ]; do sleep 0.02; done\"\n",
    );
    if boxless(&env, &["--version"]).is_none() {
        return;
    }
    let mut command = without_namespaces(&env, &["task", "run", "t.toml"]);
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    wait_for("the step", || !lines(&env, "witness").is_empty());
    kill_group(&mut child);
    env.write("go", "");
    let resumed = env.run(&["task", "resume"]);
    assert_eq!((resumed.code, lines(&env, "witness").len()), (111, 1), "{resumed:?}");
}

#[test]
fn a_step_that_only_a_box_can_hold_is_refused_without_one() {
    let env = env();
    env.write("t.toml", "id = \"t\"\n[[steps]]\nid = \"a\"\npaths = [\"out\"]\nrun = \"touch made\"\n");
    let Some((code, said)) = boxless(&env, &["task", "run", "t.toml"]) else { return };
    assert_eq!((code, env.work().join("made").exists()), (1, false), "{said}");
    assert!(said.contains("which takes a box; leave them out to run it on the machine"), "{said}");
}

#[test]
fn what_a_box_lacks_is_no_reason_that_a_step_does_not_run() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    let settings = format!("[box]\nhide = [\"{}\"]\n", env.work().display());
    let folder = env.work().join("in");
    fs::create_dir(&folder).unwrap();
    let config = env.root().join("settings");
    fs::create_dir_all(config.join("selfheal")).unwrap();
    fs::write(config.join("selfheal/selfheal.toml"), settings).unwrap();
    let env = env.with("XDG_CONFIG_HOME", config.to_str().unwrap());
    let text = "id = \"t\"\n[[steps]]\nid = \"a\"\nrun = \"echo x > made\"\n";
    env.write("in/t.toml", text);
    let run = env.run(&["task", "run", "in/t.toml"]);
    assert_eq!((run.code, env.read("in/made").as_str()), (0, "x\n"), "{run:?}");
    assert!(run.stderr.contains("step a ran on the machine"), "{run:?}");
}

#[test]
fn a_step_in_shared_memory_runs_in_a_box() {
    let env = env();
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return };
    if !has_box(&env) {
        return;
    }
    let file = memory.path().join("t.toml");
    fs::write(&file, "id = \"t\"\n[[steps]]\nid = \"a\"\nrun = \"echo x > made\"\noutputs = [\"made\"]\n")
        .unwrap();
    let run = env.run(&["task", "run", file.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(fs::read_to_string(memory.path().join("made")).unwrap(), "x\n");
    assert_eq!(
        (outcome(&state(&env), "a").as_str(), state(&env)["known_issues"].to_string().as_str()),
        ("succeeded", "[]")
    );
}
