//! selfheal is told to end while it works: it ends in order, with a record, and leaves nothing half done.

use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use selfheal_core::ids::JobKey;
use selfheal_core::ports::Journal;
use selfheal_store::{Store, StoreOptions};
use selfheal_testkit::TestEnv;

use crate::support::{env, only_incident, wait_for};

fn tell(child: &Child) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let _ = kill_process(pid, Signal::TERM);
}

fn begun(env: &TestEnv, args: &[&str]) -> Child {
    let mut all = vec!["run", "--job", "j"];
    all.extend_from_slice(args);
    env.command(&all).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn outcomes(env: &TestEnv) -> Vec<String> {
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    store.runs(&JobKey::new("j"), 10).unwrap().into_iter().map(|run| run.outcome).collect()
}

#[test]
fn a_signal_during_the_wait_for_another_try_ends_it_with_a_record() {
    let env = env();
    env.script("fetch", "#!/bin/bash\necho 'fetch: HTTP 503 Service Unavailable' >&2\nexit 22\n");
    let child = begun(&env, &["--", "bash", "fetch"]);
    // The state before a wait is stored: the word is there once it waits.
    wait_for("the wait", || env.run(&["incidents", "--json"]).stdout.contains("retrying"));
    tell(&child);
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(22), "the job's own code: {told}");
    assert!(told.contains("told to end (signal 15)"), "{told}");
    let shown = env.run(&["show", &only_incident(&env), "--json"]);
    assert!(shown.stdout.contains("\"handed_over\""), "{}", shown.stdout);
    assert!(!outcomes(&env).is_empty());
}

#[test]
fn a_signal_during_a_trial_ends_it_and_leaves_the_script() {
    let env = env();
    // The repair is found at once; its trial would go on for ever.
    let script = "#!/bin/bash\nset -e\nif [ -e up ]; then : > trial; fi\n: > up\ncp in.txt out/in.txt\nwhile [ -e hold ]; do sleep 0.05; done\n";
    env.script("job", script);
    env.write("in.txt", "1\n");
    env.write("hold", "");
    let child = begun(&env, &["--apply", "medium", "--", "./job"]);
    wait_for("the trial", || {
        let listed = env.run(&["incidents", "--json"]).stdout;
        listed.contains("admitted") || listed.contains("handed_over")
    });
    tell(&child);
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{told}");
    assert_eq!(env.read("job"), script, "nothing was put in place");
    let shown = env.run(&["show", &only_incident(&env), "--json"]);
    assert!(
        shown.stdout.contains("\"handed_over\"") || shown.stdout.contains("\"held\""),
        "{}",
        shown.stdout
    );
}

#[test]
fn a_rain_of_signals_never_costs_the_record_of_a_run() {
    let env = env();
    for turn in 1..=4 {
        let up = format!("up{turn}");
        let line = format!("trap '' TERM; : > {up}; for i in 1 2 3 4 5; do echo $i; done; exit 7");
        let mut child = begun(&env, &["--once", "--", "bash", "-c", &line]);
        wait_for("the job", || env.work().join(&up).exists());
        let status = loop {
            tell(&child);
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            std::thread::park_timeout(Duration::from_micros(200));
        };
        // By its own code, or as told to end; never by the signal, which would lose the record.
        assert!(status.code().is_some(), "{status:?}");
        assert_eq!(outcomes(&env).len(), turn, "{status:?}");
    }
}

#[cfg(feature = "model")]
#[test]
fn a_signal_while_a_model_thinks_ends_it_at_once() {
    use selfheal_testkit::{ModelServer, Reply};

    let env = env();
    env.script("mean.sh", "#!/bin/bash\nset -eu\ncount=$(cat count)\necho $((10 / count)) > mean\n");
    env.write("count", "0\n");
    // It thinks for much longer than the test may last.
    let server = ModelServer::start_with(|_, _| Reply::silence());
    let child = begun(
        &env,
        &["--model", "openai:test", "--model-url", &server.url(), "--apply", "medium", "--", "./mean.sh"],
    );
    wait_for("the question", || !server.requests().is_empty());
    tell(&child);
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{told}");
    assert!(told.contains("told to end before the model answered"), "{told}");
}
