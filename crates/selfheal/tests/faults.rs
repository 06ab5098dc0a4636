//! selfheal's own faults never stop a job: one line on standard error, the job runs, its exit code is kept.

use crate::support::env;

/// Runs a job that prints and ends with 7, and checks that it did, with at most one line from selfheal.
fn runs_all_the_same(env: &selfheal_testkit::TestEnv) -> String {
    env.script("job", "#!/bin/sh\necho out; exit 7\n");
    let run = env.run(&["run", "--", "./job"]);
    assert_eq!(run.code, 7, "{run:?}");
    assert_eq!(run.stdout, "out\n");
    let own: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.contains("runs bare") || line.contains("does not count"))
        .collect();
    assert_eq!(own.len(), 1, "{}", run.stderr);
    let strict = env.run(&["run", "--strict", "--", "./job"]);
    assert_ne!(strict.code, 7, "{strict:?}");
    assert!(strict.stderr.starts_with("error: ") && strict.stderr.contains("hint: "), "{strict:?}");
    own[0].to_owned()
}

#[test]
fn a_broken_settings_file() {
    let env = env();
    let folder = env.home().join(".config/selfheal");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("selfheal.toml"), "[policy\nlow = 1\n").unwrap();
    let line = runs_all_the_same(&env);
    assert!(line.contains("selfheal.toml") && line.contains("line 1"), "{line}");
}

#[test]
fn an_unknown_setting_is_named_as_people_write_it() {
    let env = env();
    env.write("selfheal.toml", "[limits]\ngrace-ms = 1\n");
    let line = runs_all_the_same(&env);
    assert!(line.contains("unknown setting limits.grace-ms"), "{line}");
}

#[test]
fn a_corrupt_store() {
    let env = env();
    env.run(&["run", "--", "true"]);
    let database = database(&env);
    std::fs::write(&database, "this is no database, not at all, by no means, never ever\n".repeat(100))
        .unwrap();
    for side in ["-wal", "-shm"] {
        std::fs::remove_file(format!("{}{side}", database.display())).ok();
    }
    runs_all_the_same(&env);
}

#[test]
fn a_store_of_a_newer_selfheal_is_left_alone() {
    let env = env();
    env.run(&["run", "--", "true"]);
    let database = database(&env);
    let changed = std::process::Command::new("python3")
        .arg("-c")
        .arg("import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); d.execute('PRAGMA user_version=9999'); d.close()")
        .arg(&database)
        .status()
        .unwrap();
    assert!(changed.success());
    runs_all_the_same(&env);
}

#[test]
fn a_state_directory_that_cannot_be_used() {
    let env = env();
    std::fs::remove_dir_all(env.state()).ok();
    std::fs::write(env.state(), "a file in the way").unwrap();
    runs_all_the_same(&env);
}

fn database(env: &selfheal_testkit::TestEnv) -> std::path::PathBuf {
    std::fs::read_dir(env.state())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ext| ext == "db" || ext == "sqlite"))
        .unwrap()
}
