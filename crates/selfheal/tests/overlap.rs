//! A run of a job that still runs from before.

use std::process::{Child, Stdio};

use selfheal_core::ids::JobKey;
use selfheal_core::ports::Journal;
use selfheal_store::{Store, StoreOptions};
use selfheal_testkit::TestEnv;

use crate::support::{env, wait_for};

/// Says that it runs, and ends when it is allowed to; asked to end by TERM it ends in order.
const JOB: &str = "#!/bin/bash\ntrap 'echo \"$1 ends early\" >> log; exit 0' TERM\necho \"$1 begins\" >> log\n\
    while [ ! -e go ]; do sleep 0.02; done\necho \"$1 ends\" >> log\n";

/// An environment in which the first run of the job goes on.
fn with_first_run(how: &str) -> (TestEnv, Child) {
    let env = env();
    env.script("job", JOB);
    let mut command = env.command(&["run", "--job", "j", "--overlap", how, "--", "./job", "first"]);
    let first = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the first run", || env.work().join("log").exists());
    (env, first)
}

fn second(env: &TestEnv, args: &[&str]) -> selfheal_testkit::Outcome {
    let mut all = vec!["run", "--job", "j"];
    all.extend_from_slice(args);
    all.extend_from_slice(&["--", "./job", "second"]);
    env.run(&all)
}

/// The outcomes and exit codes that were recorded, sorted.
fn recorded(env: &TestEnv) -> Vec<(String, i32)> {
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    let runs = store.runs(&JobKey::new("j"), 10).unwrap();
    let mut all: Vec<_> = runs.into_iter().map(|run| (run.outcome, run.exit_code)).collect();
    all.sort();
    all
}

#[test]
fn a_run_gives_way_to_one_that_goes_on() {
    let (env, mut first) = with_first_run("skip");
    let skipped = second(&env, &["--overlap", "skip"]);
    assert_eq!((skipped.code, skipped.stdout.as_str()), (0, ""), "{skipped:?}");
    assert_eq!(skipped.stderr.lines().count(), 1, "{skipped:?}");
    assert!(skipped.stderr.contains("still runs from before"), "{skipped:?}");
    env.write("go", "");
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_eq!(env.read("log"), "first begins\nfirst ends\n");
    assert_eq!(recorded(&env), [("skipped".into(), 0), ("succeeded".into(), 0)]);
    assert_eq!(second(&env, &["--overlap", "skip"]).stderr, "", "nothing is in the way any more");
}

#[test]
fn a_run_waits_for_the_end_of_the_one_before() {
    let (env, mut first) = with_first_run("wait");
    let mut command = env.command(&["run", "--job", "j", "--overlap", "wait", "--", "./job", "second"]);
    let mut waiting = command.stdin(Stdio::null()).spawn().unwrap();
    // It cannot run before the first has ended, whenever it comes to look.
    env.write("go", "");
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
    assert_eq!(env.read("log"), "first begins\nfirst ends\nsecond begins\nsecond ends\n");
}

#[test]
fn a_wait_ends_at_the_deadline_of_the_job() {
    let (env, mut first) = with_first_run("wait");
    let late = second(&env, &["--overlap", "wait", "--deadline", "1"]);
    assert_eq!(late.code, 124, "{late:?}");
    assert_eq!(late.stderr.lines().count(), 1, "{late:?}");
    env.write("go", "");
    first.wait().unwrap();
    assert_eq!(env.read("log"), "first begins\nfirst ends\n");
    assert_eq!(recorded(&env), [("failed".into(), 124), ("succeeded".into(), 0)]);
}

#[test]
fn a_run_takes_the_place_of_the_one_before() {
    let (env, mut first) = with_first_run("skip");
    let mut command = env.command(&["run", "--job", "j", "--overlap", "replace", "--", "./job", "second"]);
    let mut instead = command.stdin(Stdio::null()).spawn().unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(0), "ended in order by its own code, with a record");
    wait_for("the second run", || env.read("log").contains("second begins"));
    env.write("go", "");
    assert_eq!(instead.wait().unwrap().code(), Some(0));
    assert_eq!(env.read("log"), "first begins\nfirst ends early\nsecond begins\nsecond ends\n");
    assert_eq!(recorded(&env), [("cancelled".into(), 0), ("succeeded".into(), 0)]);
}

#[test]
fn a_run_that_does_not_listen_is_replaced_too() {
    let env = env();
    env.script("job", "#!/bin/bash\ntrap '' TERM\necho begins >> log\nwhile :; do sleep 1000; done\n");
    let mut command = env.command(&["run", "--job", "j", "--overlap", "skip", "--", "./job"]);
    let mut first = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the first run", || env.work().join("log").exists());
    let instead = env.run(&["run", "--job", "j", "--overlap", "replace", "--", "true"]);
    assert_eq!(instead.code, 0, "{instead:?}");
    assert_eq!(first.wait().unwrap().code(), Some(143));
}

#[test]
fn a_lock_dies_with_its_process_and_the_job() {
    let (env, mut first) = with_first_run("skip");
    first.kill().unwrap();
    first.wait().unwrap();
    // The supervisor may still be ending the tree: then this waits for it.
    env.write("go", "");
    let next = second(&env, &["--overlap", "wait"]);
    assert_eq!((next.code, next.stderr.as_str()), (0, ""));
    assert!(env.read("log").ends_with("second begins\nsecond ends\n"), "{}", env.read("log"));
}

#[test]
fn other_jobs_and_runs_without_the_option_are_not_looked_at() {
    let (env, mut first) = with_first_run("skip");
    env.write("go", "");
    let other = env.run(&["run", "--job", "k", "--overlap", "skip", "--", "./job", "other"]);
    assert_eq!((other.code, other.stderr.as_str()), (0, ""));
    let without = second(&env, &[]);
    assert_eq!((without.code, without.stderr.as_str()), (0, ""));
    first.wait().unwrap();
}

#[test]
fn a_lock_that_cannot_be_made_stops_no_job() {
    let env = env();
    env.script("job", "#!/bin/sh\necho ran\n");
    std::fs::write(env.state().join("running"), "in the way").unwrap();
    let run = env.run(&["run", "--overlap", "skip", "--", "./job"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "ran\n"), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    let strict = env.run(&["run", "--strict", "--overlap", "skip", "--", "./job"]);
    assert_eq!((strict.code, strict.stdout.as_str()), (125, ""), "{strict:?}");
}
