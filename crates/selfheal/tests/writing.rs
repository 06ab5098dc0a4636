//! Scripts from a stated need: the wire is real, the model's words are scripted.

use selfheal_testkit::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::model::{diagnosis, job_env, proposal, settings};
use crate::support::{env, has_box};

fn answer(script: &str) -> Value {
    json!({ "approach": "plainly", "script": script, "summary": "It joins the parts." })
}

fn of_step(script: &str, completed: &[&str], pending: &[&str]) -> Value {
    let mut answer = answer(script);
    answer["state_update"] = json!({
        "completed": completed, "decisions": ["join by name"], "known_issues": ["parts may be large"], "pending": pending,
    });
    answer
}

const GOOD: &str = "#!/bin/bash\nset -euo pipefail\ncat part-1 part-2 > whole\n";

#[test]
fn a_script_is_judged_tried_shown_and_kept_only_then() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    env.write("part-1", "one\n");
    env.write("part-2", "two\n");
    let server = ModelServer::start([
        Reply::json(&answer("set -e\ncat part-1 part-3 > whole\n")),
        Reply::json(&answer("rm -rf / --no-preserve-root\n")),
        Reply::json(&answer(GOOD)),
    ]);
    let url = server.url();
    let asked = env.run(&["write", "join the parts", "--model", "openai:test", "--model-url", &url]);
    assert_eq!(asked.code, 110, "{asked:?}");
    for wanted in ["cat part-1 part-2 > whole", "created whole", "It joins the parts."] {
        assert!(asked.stdout.contains(wanted), "{wanted}: {asked:?}");
    }
    assert!(!env.work().join("whole").exists(), "a trial changes nothing");
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    let sent = |n: usize| requests[n].json().to_string();
    assert!(sent(0).contains("join the parts") && sent(0).contains("part-1"), "{}", sent(0));
    assert!(sent(1).contains("ended with exit code 1"), "{}", sent(1));
    assert!(sent(2).contains("line 1 is refused"), "{}", sent(2));
    let at = asked.stderr.find("--keep ").unwrap() + 7;
    let id = asked.stderr[at..].split_whitespace().next().unwrap();
    let kept = env.run(&["write", "--keep", id]);
    assert_eq!((kept.code, env.read("join-the-parts.sh").as_str()), (0, GOOD), "{kept:?}");
    assert_eq!(env.run(&["write", "--keep", id]).code, 1, "it does not write over a file");
    assert!(env.run(&["write", "--show", id]).stdout.contains("need: join the parts"));
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn what_never_does_is_not_kept() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    let server = ModelServer::start_with(|_, _| Reply::json(&answer("if true; then\n")));
    let url = server.url();
    let asked = env.run(&["write", "join the parts", "--model", "openai:test", "--model-url", &url]);
    assert_eq!((asked.code, server.requests().len()), (1, 3), "{asked:?}");
    assert!(asked.stderr.contains("does not parse"), "{asked:?}");
    assert_eq!(env.run(&["write", "join"]).code, 2, "without a model");
}

/// What hides a failure, leaves the folder or is no script is sent back; what does nothing is said to do nothing.
#[test]
fn what_hides_a_failure_or_leaves_the_folder_is_sent_back() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    env.write("part-1", "one\n");
    let hidden = "set -euo pipefail\ntrap 'exit 0' EXIT\ncat part-9 > whole\n";
    let away = "set -euo pipefail\nd=$(cat part-1)\necho x > \"$HOME/$d-x\"\n";
    let server = ModelServer::start([
        Reply::json(&answer(hidden)),
        Reply::json(&answer(away)),
        Reply::json(&answer("set -euo pipefail\ntrue\n")),
    ]);
    let url = server.url();
    let asked = env.run(&["write", "join the parts", "--model", "openai:test", "--model-url", &url]);
    assert_eq!(asked.code, 110, "{asked:?}");
    let requests = server.requests();
    let sent = |n: usize| requests[n].json().to_string();
    assert!(sent(1).contains("it would hide a failure: line 2"), "{}", sent(1));
    assert!(sent(2).contains("outside of"), "{}", sent(2));
    for wanted in
        ["what it did to files in a box:\n  nothing", "it neither changed a file nor printed anything"]
    {
        assert!(asked.stdout.contains(wanted), "{wanted}: {asked:?}");
    }
    assert!(fs_names(&env.home()).iter().all(|name| !name.contains("one-x")));
}

fn fs_names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A script may write where the person said.
#[test]
fn a_folder_that_the_need_names_may_be_written_to() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    let backup = env.root().join("backup");
    std::fs::create_dir(&backup).unwrap();
    env.write("part-1", "one\n");
    let script = format!("import shutil\nshutil.copy('part-1', '{}')\n", backup.display());
    let server = ModelServer::start([Reply::json(&answer(&script))]);
    let url = server.url();
    let need = format!("copy the parts to {}", backup.display());
    let args = ["write", &need, "--lang", "python", "--model", "openai:test", "--model-url", &url];
    let asked = env.run(&args);
    assert!(asked.code == 110 && asked.stdout.contains("backup/part-1"), "{asked:?}");
}

const TASK: &str = "id = \"t\"\n[[steps]]\nid = \"parts\"\nrun = \"echo one > part-1; echo two > part-2\"\neffects = \"any\"\n\
    [[steps]]\nid = \"join\"\nneed = \"join the parts into whole\"\nneeds = [\"parts\"]\noutputs = [\"whole\"]\n";

#[test]
fn a_step_with_a_need_is_written_and_the_state_is_kept_whole() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    env.write("t.toml", TASK);
    let server = ModelServer::start([
        Reply::json(&of_step(GOOD, &[], &["join"])),
        Reply::json(&of_step(GOOD, &["parts"], &["join"])),
    ]);
    let url = server.url();
    let waits = env.run(&["task", "run", "t.toml", "--model", "openai:test", "--model-url", &url]);
    assert_eq!(waits.code, 1, "{waits:?}");
    assert!(waits.stderr.contains("waits for a look: selfheal write --show "), "{waits:?}");
    let requests = server.requests();
    assert!(requests[0].json().to_string().contains("known_issues"), "the state is in the question");
    assert!(
        requests[1].json().to_string().contains("state_update.completed lacks"),
        "{}",
        requests[1].json()
    );
    let at = waits.stderr.find("--keep ").unwrap() + 7;
    let id = waits.stderr[at..].split_whitespace().next().unwrap();
    assert_eq!(env.run(&["write", "--keep", id]).code, 0);
    let resumed = env.run(&["task", "resume"]);
    assert_eq!((resumed.code, env.read("whole").as_str()), (0, "one\ntwo\n"), "{resumed:?}");
    let state: Value = serde_json::from_str(&env.run(&["task", "status", "--json"]).stdout).unwrap();
    assert_eq!(state["decisions"][0]["what"], "join by name");
    assert_eq!(state["known_issues"][0], "parts may be large");
}

#[test]
fn a_step_with_a_need_runs_at_once_where_that_is_allowed() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    env.write("t.toml", TASK);
    let server = ModelServer::start([Reply::json(&of_step(GOOD, &["parts"], &["join"]))]);
    let url = server.url();
    let args = ["task", "run", "t.toml", "--apply", "medium", "--model", "openai:test", "--model-url", &url];
    let run = env.run(&args);
    assert_eq!((run.code, env.read("whole").as_str()), (0, "one\ntwo\n"), "{run:?}");
    // What was kept needs no model any more.
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 0);
}

/// The state of the task goes with the questions about a step that is healed, and must come back whole.
#[test]
fn a_step_that_is_healed_by_a_model_keeps_the_state_whole() {
    let env = job_env();
    if !has_box(&env) {
        return;
    }
    env.write("t.toml", "id = \"t\"\n[[steps]]\nid = \"first\"\nrun = \"true\"\n[[steps]]\nid = \"mean\"\nrun = [\"bash\", \"mean.sh\"]\nneeds = [\"first\"]\noutputs = [\"mean\"]\n");
    let kept = |completed: &[&str]| {
        let mut answer = proposal();
        answer["state_update"] = json!({
            "completed": completed, "decisions": ["a mean of nothing is zero"], "known_issues": ["there may be no numbers"],
            "pending": ["mean"],
        });
        Reply::json(&answer)
    };
    let server = ModelServer::start([Reply::json(&diagnosis()), kept(&[]), kept(&["first"])]);
    let url = server.url();
    settings(&env, &format!("[model]\nname = \"openai:test\"\nurl = \"{url}\"\nway = \"full\"\n"));
    let run = env.run(&["task", "run", "t.toml", "--apply", "medium"]);
    assert_eq!((run.code, env.read("mean").as_str()), (0, "0\n"), "{run:?}");
    let sent: Vec<String> = server.requests().iter().map(|request| request.json().to_string()).collect();
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|sent| sent.contains("It is step mean of a task")), "{sent:?}");
    assert!(
        sent[1].contains("state_update") && sent[2].contains("state_update.completed lacks"),
        "{}",
        sent[2]
    );
    let state: Value = serde_json::from_str(&env.run(&["task", "status", "--json"]).stdout).unwrap();
    assert_eq!(state["decisions"][0]["what"], "a mean of nothing is zero");
    assert_eq!(state["known_issues"][0], "there may be no numbers");
    assert_eq!(state["steps"]["mean"]["result"]["healing"]["status"], "healed");
}
