//! Steps and people that take things away: folders, marks, room, the state file. Nothing is done twice unasked, and what
//! is wrong is said.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use selfheal_testkit::TestEnv;

use super::{WAITS, lines, outcome, started, state, with_task};
use crate::support::wait_for;

/// A step on the machine with this script, and one after it.
fn two_steps(first: &str) -> TestEnv {
    with_task(&format!(
        "id = \"t\"\n[[steps]]\nid = \"a\"\neffects = \"any\"\nrun = '''\n{first}\necho a >> witness\n'''\n\
         [[steps]]\nid = \"b\"\neffects = \"any\"\nneeds = [\"a\"]\nrun = \"echo b >> witness\"\n"
    ))
}

fn runs(env: &TestEnv) -> Vec<PathBuf> {
    let entries = fs::read_dir(env.state().join("tasks/runs")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn settings(env: &TestEnv, text: &str) {
    let folder = env.home().join(".config/selfheal");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("selfheal.toml"), text).unwrap();
}

#[test]
fn a_step_that_removes_its_marks_is_handed_over_and_not_repeated() {
    let ways = ["rm -r \"$(dirname \"$TASK_STATE\")\"", "rm -r \"$(dirname \"$TASK_STATE\")/steps\""];
    for way in ways {
        let env = two_steps(way);
        let run = env.run(&["task", "run", "t.toml"]);
        assert_eq!((run.code, outcome(&state(&env), "a").as_str()), (111, "handed_over"), "{way}: {run:?}");
        let resumed = env.run(&["task", "resume"]);
        assert_eq!((resumed.code, lines(&env, "witness").join("")), (111, "a".to_owned()), "{resumed:?}");
        let done = env.run(&["task", "resume", "--done", "a"]);
        assert_eq!((done.code, lines(&env, "witness").join("")), (0, "ab".to_owned()), "{done:?}");
    }
}

#[test]
fn a_step_that_was_handed_over_runs_again_where_a_person_says_so() {
    let env = two_steps("[ -e go ] || rm -r \"$(dirname \"$TASK_STATE\")\"");
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 111);
    env.write("go", "");
    let again = env.run(&["task", "resume", "--again", "a"]);
    assert_eq!((again.code, lines(&env, "witness").join("")), (0, "aab".to_owned()), "{again:?}");
}

#[test]
fn a_step_that_removes_the_state_file_or_the_temporary_folder_stops_nobody() {
    for way in ["rm \"$TASK_STATE\"", "rm -r \"$TASK_TEMP\""] {
        let env = two_steps(way);
        let run = env.run(&["task", "run", "t.toml"]);
        assert_eq!((run.code, lines(&env, "witness").join("")), (0, "ab".to_owned()), "{way}: {run:?}");
        assert_eq!(state(&env)["stage"], "succeeded");
    }
}

#[test]
fn a_step_that_removes_the_folder_of_the_task_is_told_so() {
    let env = two_steps("");
    let text = env.read("t.toml").replace("echo a >> witness", "rm -r \"$PWD\"");
    // Below `/tmp` the folder is a mount point in a `/tmp` of the run, which nobody can remove.
    let text = format!("isolation = \"shared\"\n{text}");
    env.write("sub/t.toml", text);
    let run = env.run(&["task", "run", "sub/t.toml"]);
    assert!(run.code == 1 && run.stderr.contains("is not there any more"), "{run:?}");
    assert!(run.stderr.contains("what to do: put it back"), "{run:?}");
}

#[test]
fn a_state_that_is_of_another_run_is_damaged() {
    let env = two_steps("exit 3");
    env.run(&["task", "run", "t.toml"]);
    let file = runs(&env)[0].join("state.json");
    let text = fs::read_to_string(&file).unwrap();
    let run = state(&env)["run"].as_str().unwrap().to_owned();
    fs::write(&file, text.replace(&run, &format!("f{}", &run[1..]))).unwrap();
    let begun = env.run(&["task", "run", "t.toml"]);
    assert!(begun.code == 111 && begun.stderr.contains("it says that it is of run f"), "{begun:?}");
    assert!(env.run(&["task", "status", "t"]).code != 0);
    fs::write(&file, text.replace("\"task\": \"t\"", "\"task\": \"t\\u001b[31m\"")).unwrap();
    let listed = env.run(&["task", "list"]);
    assert!(listed.stdout.contains("t[31m") && !listed.stdout.contains('\u{1b}'), "{listed:?}");
}

#[test]
fn a_file_that_is_too_large_is_refused_and_not_cut() {
    let env = two_steps("");
    let padding = "# more\n".repeat(150_000);
    env.write("t.toml", padding + &env.read("t.toml"));
    assert!(env.read("t.toml").len() > 1 << 20);
    let step = "[[steps]]\nid = \"c\"\nrun = [\"true\"]\n";
    let padding = "# more\n".repeat(150_000);
    env.write("u.toml", format!("id = \"u\"\n{step}{padding}{}", step.replace("\"c\"", "\"d\"")));
    for file in ["t.toml", "u.toml"] {
        let run = env.run(&["task", "validate", file]);
        assert!(run.code == 2 && run.stderr.contains("larger than 1 MiB"), "{run:?}");
    }
}

#[test]
fn a_step_that_does_not_heed_is_killed_before_the_hooks_run() {
    let env = with_task(
        "id = \"t\"\nisolation = \"shared\"\n[cleanup]\nrun = [\"sh\", \"-c\", \"kill -0 $(cat pid) && echo alive >> witness; echo cleaned >> witness\"]\n\
         [[steps]]\nid = \"a\"\neffects = \"any\"\nrun = '''\ntrap '' TERM\necho $$ > pid\necho began >> witness\nwhile :; do sleep 0.05; done\n'''\n",
    );
    let mut child = started(&env, &["task", "run", "t.toml"]);
    assert_eq!(env.run(&["task", "cancel", "t"]).code, 0);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(lines(&env, "witness"), ["began", "cleaned"]);
    assert_eq!(outcome(&state(&env), "a"), "cancelled");
}

#[test]
fn a_run_that_waits_for_its_locks_is_seen_and_can_be_cancelled() {
    let env = with_task(&format!(
        "id = \"t\"\nlocks = [\"name:x\"]\n[[steps]]\nid = \"a\"\neffects = \"any\"\n{WAITS}"
    ));
    env.write("u.toml", "id = \"u\"\nlocks = [\"name:x\"]\n[[steps]]\nid = \"a\"\nrun = [\"true\"]\n");
    let mut first = started(&env, &["task", "run", "t.toml"]);
    let mut second = env.command(&["task", "run", "u.toml"]);
    let mut second = second.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the one that waits", || env.run(&["task", "list"]).stdout.contains(" u  0/1"));
    assert_eq!(env.run(&["task", "cancel", "u"]).code, 0);
    assert_eq!(second.wait().unwrap().code(), Some(143));
    assert!(!env.run(&["task", "list"]).stdout.contains(" u  0/1"));
    env.write("go", "");
    assert_eq!(first.wait().unwrap().code(), Some(0));
}

#[test]
fn a_hook_of_a_killed_run_is_waited_for_before_it_runs_again() {
    let env = with_task(
        "id = \"t\"\n[cleanup]\nrun = [\"sh\", \"-c\", \"echo began >> witness; while [ ! -e go ]; do sleep 0.02; done; echo ended >> witness\"]\n\
         [[steps]]\nid = \"a\"\neffects = \"any\"\nrun = [\"true\"]\n",
    );
    let mut child = started(&env, &["task", "run", "t.toml"]);
    // It is noted which process it is.
    wait_for("the note", || runs(&env)[0].join("hook").metadata().is_ok_and(|facts| facts.len() > 10));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut resumed = env.command(&["task", "resume"]);
    let mut resumed = resumed.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the one that goes on", || {
        let text = fs::read_to_string(runs(&env)[0].join("state.json")).unwrap_or_default();
        text.contains(&format!("\"pid\": {}", resumed.id()))
    });
    env.write("go", "");
    assert_eq!(resumed.wait().unwrap().code(), Some(0));
    assert_eq!(lines(&env, "witness"), ["began", "ended", "began", "ended"]);
}

#[test]
fn what_a_step_writes_is_kept_short_with_its_end() {
    for effects in ["any", "files"] {
        let env = with_task(&format!(
            "id = \"t\"\n[[steps]]\nid = \"a\"\neffects = \"{effects}\"\nrun = \"yes some line | head -c 5000000; echo the end\"\n"
        ));
        settings(&env, "[limits]\nstep-output = 1\n");
        let run = env.run(&["task", "run", "t.toml"]);
        assert_eq!(run.code, 0, "{run:?}");
        let text = fs::read_to_string(runs(&env)[0].join("steps/a/output")).unwrap();
        let end = &text[text.len() - 100..];
        assert!((1 << 20..1_300_000).contains(&text.len()) && end.ends_with("the end\n"), "{end}");
        assert!(text.contains("its output was 5000008 bytes"), "{end}");
        let notes = &state(&env)["steps"]["a"]["result"]["notes"];
        assert!(notes[0].as_str().unwrap().contains("5000008 bytes"), "{notes}");
    }
}

#[test]
fn a_step_that_is_not_tried_again_may_still_be_run_again_by_a_person() {
    let env = with_task(
        "id = \"t\"\n[[steps]]\nid = \"a\"\neffects = \"any\"\nidempotent = true\nretry = \"none\"\nrun = \"echo a >> witness; test -e go\"\n",
    );
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 1);
    env.write("go", "");
    let resumed = env.run(&["task", "resume"]);
    assert_eq!((resumed.code, lines(&env, "witness").len()), (0, 2), "{resumed:?}");
}

#[test]
fn a_run_that_ended_before_it_began_leaves_nothing_for_long() {
    let env = two_steps("");
    let run = "01a00000-0000-7000-8000-000000000001";
    let folder = env.state().join("tasks/runs").join(run);
    fs::create_dir_all(&folder).unwrap();
    let temp = env.root().join("tmp").join(format!("selfheal-task-{run}"));
    fs::create_dir_all(&temp).unwrap();
    fs::write(temp.join(".selfheal-task"), run).unwrap();
    let age = |folder: &Path, age: u64| {
        File::open(folder).unwrap().set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    };
    age(&folder, 60);
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 0);
    assert!(folder.exists(), "it may be about to begin");
    age(&folder, 7_200);
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 0);
    assert!(!folder.exists() && !temp.exists());
}

#[test]
fn a_command_that_is_a_path_is_told_as_a_file() {
    for effects in ["any", "files"] {
        let env = with_task(&format!(
            "id = \"t\"\n[[steps]]\nid = \"a\"\nrun = [\"./send.sh\"]\neffects = \"{effects}\"\n"
        ));
        env.script("sends.sh", "#!/bin/sh\n");
        let run = env.run(&["task", "run", "t.toml"]);
        assert!(run.code == 1 && !run.stderr.contains("installed"), "{run:?}");
        assert!(run.stderr.contains("similar names there: sends.sh"), "{run:?}");
        fs::create_dir(env.work().join("send.sh")).unwrap();
        let run = env.run(&["task", "resume"]);
        assert!(run.stderr.contains("./send.sh is a folder"), "{run:?}");
    }
}
