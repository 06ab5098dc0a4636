//! What stands in front of a job is never why it did not run, and never hides how it went.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use selfheal_core::ids::JobKey;
use selfheal_core::ports::Journal;
use selfheal_store::{Store, StoreOptions};
use selfheal_testkit::TestEnv;

use crate::support::{document, env};

/// Runs a line of shell with the program as `$0`, in the environment and folder of a test.
fn shell(env: &TestEnv, line: &str) -> Output {
    let own = env.command(&[]);
    let mut command = Command::new("bash");
    command.arg("-c").arg(line).arg(own.get_program()).current_dir(env.work()).env_clear();
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn closed_streams_are_as_they_are_for_the_bare_command() {
    let env = env();
    let ran = shell(&env, "\"$0\" run --json doc -- sh -c 'echo ran > ran; exit 3' <&- >&- 2>&-");
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert_eq!(env.read("ran"), "ran\n");
    assert!(env.read("doc").contains("\"job_exit_code\": 3"));
}

#[test]
fn output_that_a_full_disk_swallowed_is_no_success() {
    for how in ["live", "final"] {
        let env = env();
        let line = format!("\"$0\" run --job j --stdout {how} -- sh -c 'echo dump' > /dev/full");
        let ran = shell(&env, &line);
        assert_eq!(ran.status.code(), Some(125), "{how}: {ran:?}");
        assert!(text(&ran.stderr).contains("No space left on device"), "{how}: {ran:?}");
    }
    let env = env();
    shell(&env, "\"$0\" run --job j -- sh -c 'echo dump' > /dev/full");
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    let runs = store.runs(&JobKey::new("j"), 10).unwrap();
    assert_eq!((runs[0].outcome.as_str(), runs[0].exit_code), ("failed", 125));
    drop(store);
    let gone = shell(&env, "\"$0\" run -- sh -c 'echo unread' | true; exit ${PIPESTATUS[0]}");
    assert_eq!(gone.status.code(), Some(0), "a reader that went away is no fault: {gone:?}");
}

#[test]
fn a_job_runs_however_few_descriptors_there_are() {
    let env = env();
    for most in [4, 6, 8, 9, 10, 11, 12, 13, 14, 16, 20] {
        let ran = shell(&env, &format!("ulimit -n {most}; \"$0\" run --job j -- sh -c 'echo ran; exit 0'"));
        assert_eq!((ran.status.code(), text(&ran.stdout).as_str()), (Some(0), "ran\n"), "{most}: {ran:?}");
    }
}

#[test]
fn files_that_may_not_grow_stop_neither_the_job_nor_its_exit_code() {
    let env = env();
    let ran = shell(&env, "ulimit -f 0; \"$0\" run --log log -- sh -c 'echo ran; exit 0'");
    assert_eq!((ran.status.code(), text(&ran.stdout).as_str()), (Some(0), "ran\n"), "{ran:?}");
    let limited = shell(&env, "ulimit -f 0; \"$0\" run --once --apply none -- sh -c 'echo x > file; exit 0'");
    let bare = shell(&env, "ulimit -f 0; sh -c 'echo x > file; exit 0'; exit $?");
    assert_eq!(limited.status.code(), bare.status.code(), "the job has the signal as it was: {limited:?}");
}

#[test]
fn a_job_runs_in_no_environment_at_all() {
    let env = env();
    let line =
        "exec env -i SELFHEAL_STATE_DIR=\"$SELFHEAL_STATE_DIR\" \"$0\" run -- /bin/sh -c 'echo ran; exit 0'";
    let ran = shell(&env, line);
    assert_eq!((ran.status.code(), text(&ran.stdout).as_str()), (Some(0), "ran\n"), "{ran:?}");
}

#[test]
fn a_job_runs_where_proc_is_not() {
    let env = env();
    let line = "unshare -rm true 2>/dev/null || exit 99; \
        exec unshare -rm sh -c 'mount -t tmpfs none /proc && exec \"$0\" run -- sh -c \"echo ran; exit 5\"' \"$0\"";
    let ran = shell(&env, line);
    if ran.status.code() == Some(99) || text(&ran.stderr).contains("mount:") {
        eprintln!("skipped: no mount namespace of one's own here");
        return;
    }
    assert_eq!((ran.status.code(), text(&ran.stdout).as_str()), (Some(5), "ran\n"), "{ran:?}");
}

#[test]
fn links_that_lead_to_each_other_are_one_clear_error() {
    let env = env();
    std::os::unix::fs::symlink("loop", env.work().join("loop")).unwrap();
    let ran = env.run(&["run", "--", "./loop"]);
    assert_eq!(ran.code, 126, "{ran:?}");
    assert!(ran.stderr.contains("Too many levels of symbolic links\nhint: mend the links"), "{ran:?}");
}

#[test]
fn a_job_that_asks_and_waits_is_named_while_it_does() {
    let env = env();
    env.script(
        "job",
        "#!/bin/bash\nexec 0<>fifo\nprintf 'Password for db: '\nread answer\n[ \"$answer\" = it ]\n",
    );
    assert!(Command::new("mkfifo").arg(env.work().join("fifo")).status().unwrap().success());
    let file = env.root().join("run.json");
    let mut command = env.command(&["run", "--json", file.to_str().unwrap(), "--", "./job"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(
        lines.next().unwrap().unwrap(),
        "selfheal: the job seems to wait for an answer: Password for db:"
    );
    // It could not have ended before.
    std::fs::write(env.work().join("fifo"), "it\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(std::fs::read_to_string(file).unwrap().contains("seems to wait for an answer"));
}

#[test]
fn a_good_run_is_recorded_with_where_it_took_place() {
    let env = env();
    let (outcome, _) = document(&env, &["--job", "j", "--", "true"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    let facts = store.runs(&JobKey::new("j"), 1).unwrap().remove(0).facts.unwrap();
    for part in ["\"cwd\"", "\"limits\"", "\"program\"", "\"name\":\"true\"", "\"umask\""] {
        assert!(facts.as_str().contains(part), "{part}: {}", facts.as_str());
    }
}

#[test]
fn a_run_that_was_told_to_end_is_recorded_as_cancelled() {
    let env = env();
    // The job tells the supervisor's parent, that is selfheal, to end, and answers the signal with 0.
    let line = "\"$0\" run --job j --json doc -- sh -c 'trap \"exit 0\" TERM; : > up; while :; do sleep 0.05; done' & \
        until [ -e up ]; do sleep 0.05; done; kill -TERM $!; wait $!";
    let ran = shell(&env, line);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let document: serde_json::Value = serde_json::from_str(&env.read("doc")).unwrap();
    assert_eq!(document["status"], "cancelled", "{document}");
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    let runs = store.runs(&JobKey::new("j"), 10).unwrap();
    assert_eq!((runs[0].outcome.as_str(), runs[0].exit_code), ("cancelled", 0));
}

#[test]
fn what_a_job_leaves_in_the_background_is_recorded_and_named() {
    let env = env();
    // It ends when the test's folder is gone, at the latest.
    let job = "while [ -e here ]; do sleep 0.05; done > /dev/null 2>&1 & exit 0";
    env.write("here", "");
    let (ran, document) = document(&env, &["--job", "j", "--", "bash", "-c", job]);
    std::fs::remove_file(env.work().join("here")).unwrap();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let notes = document["notes"].to_string();
    assert!(
        notes.contains("still running in the background") && notes.contains("while [ -e here ]"),
        "{notes}"
    );
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    let runs = store.runs(&JobKey::new("j"), 10).unwrap();
    let facts: serde_json::Value = serde_json::from_str(runs[0].facts.as_ref().unwrap().as_str()).unwrap();
    assert!(facts["left_running"][0].as_str().unwrap().contains("while [ -e here ]"), "{facts}");
}

#[test]
fn a_deadline_is_told_in_a_sentence() {
    let env = env();
    let job = "trap '' TERM; trap - TERM; bash -c \"trap '' INT; frobnicate x 2> /dev/null; exec sleep 60\"";
    let ran = env.run(&["run", "--deadline", "1", "--", "bash", "-c", job]);
    assert_eq!(ran.code, 124, "{ran:?}");
    assert!(ran.stderr.contains(" failed: ended at its deadline after 1 s"), "{ran:?}");
    let note = ran.stderr.lines().find(|line| line.contains("not run again")).unwrap_or_default();
    assert!(note.contains("not run again: line 1 runs `frobnicate x`"), "{ran:?}");
}

#[test]
fn the_end_of_a_note_is_not_cut_off() {
    let env = env();
    let job = "echo row >> ledger.csv; echo 'curl: (28) Connection timed out' >&2; exit 28";
    let ran = env.run(&["run", "--", "bash", "-c", job]);
    let words: Vec<&str> = ran.stderr.split_whitespace().collect();
    assert!(words.join(" ").contains("--repeatable says that it may)"), "{ran:?}");
}
