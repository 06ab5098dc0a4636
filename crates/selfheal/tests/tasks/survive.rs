//! Ends from outside, and going on after them.

use std::process::Stdio;

use selfheal_testkit::TestEnv;

use super::{WAITS, lines, started, state, with_task};
use crate::support::{kill_group, wait_for};

#[test]
fn a_task_that_is_cancelled_cleans_up_and_a_deadline_does_the_same() {
    let text = format!(
        "id = \"t\"\n[cleanup]\nremove = [\"made\"]\n[[steps]]\nid = \"a\"\neffects = \"any\"\n{WAITS}"
    );
    let env = with_task(&text.replace("echo began", "touch made; echo began"));
    let mut child = started(&env, &["task", "run", "t.toml"]);
    assert_eq!(env.run(&["task", "cancel", "t"]).code, 0);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!((state(&env)["stage"].as_str(), env.work().join("made").exists()), (Some("cancelled"), false));
    let over = env.run(&["task", "cancel", "t"]);
    assert!(over.code == 0 && over.stdout.contains("is over"), "{over:?}");
    // Nobody knows how much of it was done.
    let resumed = env.run(&["task", "resume"]);
    assert!(resumed.code == 111 && resumed.stderr.contains("--done a or --again a"), "{resumed:?}");
    env.write("t.toml", text.replace("id = \"t\"", "id = \"t\"\ntimeout = 1"));
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 111, "the earlier run waits for a decision");
    let late = env.run(&["task", "run", "--anew", "t.toml"]);
    assert!(late.code == 124 && late.stderr.contains("deadline"), "{late:?}");
}

/// The subjects of what people are told, without the runs.
fn messages(env: &TestEnv) -> Vec<String> {
    let lines = env.run(&["export", "--kind", "message"]).stdout;
    let subject = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let subject = line.pointer("/subject").or(line.pointer("/row/subject")).unwrap().as_str().unwrap();
        subject.split(" (run").next().unwrap().to_owned()
    };
    lines.lines().map(subject).collect()
}

#[test]
fn a_step_that_may_have_run_is_handed_over_and_a_person_decides() {
    let text = format!(
        "id = \"t\"\n[[steps]]\nid = \"send\"\neffects = \"any\"\n{WAITS}[[steps]]\nid = \"next\"\nneeds = [\"send\"]\neffects = \"any\"\nrun = \"echo next >> witness\"\n"
    );
    let env = with_task(&text);
    let mut child = started(&env, &["task", "run", "t.toml"]);
    kill_group(&mut child);
    let resumed = env.run(&["task", "resume"]);
    assert!(resumed.code == 111 && resumed.stderr.contains("step send"), "{resumed:?}");
    assert_eq!(lines(&env, "witness"), ["began"]);
    assert_eq!(messages(&env), ["selfheal: task t needs a decision"], "{resumed:?}");
    assert_eq!(env.run(&["task", "resume"]).code, 111, "it stays so");
    let done = env.run(&["task", "resume", "--done", "send"]);
    assert_eq!((done.code, lines(&env, "witness").join(" ")), (0, "began next".to_owned()), "{done:?}");
    assert_eq!(state(&env)["decisions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_step_goes_on_when_only_the_runner_is_killed_and_its_end_counts() {
    let env = with_task(&format!("id = \"t\"\n[[steps]]\nid = \"send\"\neffects = \"any\"\n{WAITS}"));
    let mut child = started(&env, &["task", "run", "t.toml"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut resumed =
        env.command(&["task", "resume"]).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    env.write("go", "");
    assert_eq!(resumed.wait().unwrap().code(), Some(0));
    assert_eq!(lines(&env, "witness"), ["began", "ended"]);
}

#[test]
fn a_new_run_names_what_a_broken_one_left() {
    let text = format!(
        "id = \"t\"\n[[steps]]\nid = \"a\"\neffects = \"any\"\nidempotent = true\noutputs = [\"out\"]\n{WAITS}"
    );
    let env = with_task(&text.replace("echo began", "echo half > out; echo began"));
    let mut child = started(&env, &["task", "run", "t.toml"]);
    kill_group(&mut child);
    env.write("go", "");
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!(run.code, 0, "{run:?}");
    for wanted in [
        "was broken off at: a",
        "may be half written: out",
        "temporary folder of that run is removed",
        "still marked as held by task t",
    ] {
        assert!(
            run.stderr.replace(&format!("{}/", env.work().display()), "").contains(wanted),
            "{wanted}: {run:?}"
        );
    }
}

#[test]
fn of_two_that_go_on_at_once_one_does() {
    let env = with_task(&format!("id = \"t\"\n[[steps]]\nid = \"send\"\neffects = \"any\"\n{WAITS}"));
    let mut child = started(&env, &["task", "run", "t.toml"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let resume =
        || env.command(&["task", "resume"]).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut both = [resume(), resume()];
    wait_for("the one that gives way", || {
        both.iter_mut().any(|resumed| resumed.try_wait().unwrap().is_some())
    });
    env.write("go", "");
    let mut codes = both.map(|mut resumed| resumed.wait().unwrap().code().unwrap());
    codes.sort_unstable();
    assert_eq!((codes, lines(&env, "witness")), ([0, 1], vec!["began".to_owned(), "ended".to_owned()]));
}
