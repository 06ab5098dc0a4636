//! The files of a run: the truth, its index, and what is damaged.

use std::fs;
use std::path::PathBuf;

use selfheal_testkit::TestEnv;
use serde_json::Value;

use super::{lines, state, with_task};

const ONE: &str = "id = \"t\"\n[[steps]]\nid = \"a\"\neffects = \"any\"\nrun = \"echo a >> witness\"\n";

/// The state files of all runs, the newest first.
fn state_files(env: &TestEnv) -> Vec<PathBuf> {
    let folders = fs::read_dir(env.state().join("tasks/runs")).unwrap();
    let mut files: Vec<PathBuf> = folders.map(|entry| entry.unwrap().path().join("state.json")).collect();
    files.sort();
    files.reverse();
    files
}

fn listed(env: &TestEnv) -> Vec<Value> {
    serde_json::from_str(&env.run(&["task", "list", "--json"]).stdout).unwrap()
}

#[test]
fn the_index_follows_the_files_and_is_made_anew_when_it_is_lost() {
    let env = with_task(ONE);
    for _ in 0..2 {
        assert_eq!(env.run(&["task", "run", "t.toml"]).code, 0);
    }
    let before = listed(&env);
    assert_eq!((before.len(), before[0]["stage"].as_str()), (2, Some("succeeded")));
    // What the file says counts, and not what the index knew.
    let [newest, oldest] = &state_files(&env)[..] else { panic!("{before:?}") };
    let text = fs::read_to_string(newest).unwrap();
    fs::write(
        newest,
        text.replace("\"stage\": \"succeeded\",\n  \"stopping\"", "\"stage\": \"failed\",\n  \"stopping\""),
    )
    .unwrap();
    assert_eq!(listed(&env)[0]["stage"], "failed");
    fs::remove_dir_all(oldest.parent().unwrap()).unwrap();
    assert_eq!(listed(&env).len(), 1);
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        let _ = fs::remove_file(env.state().join(name));
    }
    assert_eq!(listed(&env)[0]["stage"], "failed");
    assert!(env.run(&["task", "status"]).stdout.contains("failed"));
}

#[test]
fn a_damaged_state_is_named_and_nothing_is_begun_anew_unasked() {
    for damage in ["", "{\"version\": 1, \"task\": \"t\"", "\u{0}\u{0}\u{0}", "[]"] {
        let env = with_task(ONE);
        assert_eq!(env.run(&["task", "run", "t.toml"]).code, 0);
        let file = state_files(&env).remove(0);
        fs::write(&file, damage).unwrap();
        let run = env.run(&["task", "run", "t.toml"]);
        assert_eq!((run.code, lines(&env, "witness").len()), (111, 1), "{damage:?}: {run:?}");
        assert!(run.stderr.contains("cannot be used, so nobody knows how far it got"), "{run:?}");
        assert!(env.run(&["task", "list"]).stdout.contains("cannot be used"));
        let resumed = env.run(&["task", "resume"]);
        assert!(resumed.code == 1 && resumed.stderr.contains("state.json"), "{resumed:?}");
        let anew = env.run(&["task", "run", "--anew", "t.toml"]);
        assert_eq!((anew.code, lines(&env, "witness").len()), (0, 2), "{anew:?}");
        assert_eq!(env.run(&["task", "run", "t.toml"]).code, 0, "a later run counts");
    }
}

#[test]
fn a_state_of_a_newer_selfheal_is_left_alone() {
    let env = with_task(ONE);
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 0);
    let file = state_files(&env).remove(0);
    let mut value = state(&env);
    value["version"] = 999.into();
    value["more"] = "new".into();
    fs::write(&file, value.to_string()).unwrap();
    for args in [&["task", "status"][..], &["task", "resume"]] {
        let told = env.run(args);
        assert!(told.code == 1 && told.stderr.contains("was written by a newer selfheal"), "{told:?}");
    }
    assert_eq!(serde_json::from_slice::<Value>(&fs::read(&file).unwrap()).unwrap(), value);
}
