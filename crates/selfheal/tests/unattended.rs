//! What happens with nobody there: messages, the watch, the daily limit, the circuit breaker.

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::Outbox;

use crate::support::{BACKUP, backup_env, document, env};

fn settings(env: &selfheal_testkit::TestEnv, text: &str) {
    let folder = env.home().join(".config/selfheal");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("selfheal.toml"), text).unwrap();
}

/// Makes a file look as if nobody had edited it lately.
fn old(env: &selfheal_testkit::TestEnv, name: &str) {
    let file = std::fs::File::options().append(true).open(env.work().join(name)).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(7_200)).unwrap();
}

#[test]
fn a_held_repair_is_told_by_the_next_tick_with_the_line_to_approve() {
    let env = backup_env();
    let teller = env.script("tell", "#!/bin/sh\ncat >> \"$(dirname \"$0\")/told\"\n");
    settings(&env, &format!("[notify]\nprogram = [\"{}\"]\n", teller.display()));
    env.run(&["run", "--", "bash", "backup.sh"]);
    let tick = env.run(&["tick"]);
    assert_eq!(tick.code, 0, "{tick:?}");
    let told = env.read("told");
    assert!(told.contains("selfheal approve "), "{told}");
    env.run(&["tick"]);
    assert_eq!(env.read("told"), told, "a message is delivered once");
}

#[test]
fn a_message_that_nobody_takes_is_kept() {
    let env = backup_env();
    settings(&env, "[notify]\nprogram = [\"/bin/false\"]\n");
    env.run(&["run", "--", "bash", "backup.sh"]);
    let tick = env.run(&["tick"]);
    assert_eq!(tick.code, 0, "{tick:?}");
    assert!(tick.stdout.starts_with("0 delivered"), "{tick:?}");
}

#[test]
fn a_repair_that_does_not_last_is_taken_back() {
    let env = backup_env();
    assert_eq!(env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]).code, 0);
    let healed = env.read("backup.sh");
    assert_ne!(healed, BACKUP);
    // The same failure comes again although the repair is in place: a cp that is broken in the same words.
    env.script(
        "bin/cp",
        "#!/bin/sh\necho \"cp: cannot stat 'logs/*.log': No such file or directory\" >&2\nexit 1\n",
    );
    env.write("logs/a.log", "text\n");
    let path = format!("{}:{}", env.work().join("bin").display(), std::env::var("PATH").unwrap());
    let env = env.with("PATH", path);
    let (outcome, document) = document(&env, &["--apply", "none", "--", "bash", "backup.sh"]);
    assert_ne!(outcome.code, 0);
    assert_eq!(env.read("backup.sh"), BACKUP, "{outcome:?}\n{document:#}");
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
    let store = selfheal_store::Store::open(&env.state(), selfheal_store::StoreOptions::default()).unwrap();
    let late = Timestamp(i64::MAX);
    store.hand_out(&["x"], late).unwrap();
    let told = store.due("x", late, 10).unwrap();
    assert!(told.iter().any(|row| row.message.subject.as_str().contains("did not last")), "{told:?}");
}

#[test]
fn a_repair_is_confirmed_after_its_time_and_its_good_runs_and_not_before() {
    let env = backup_env();
    let state = |env: &selfheal_testkit::TestEnv| {
        assert_eq!(env.run(&["tick"]).code, 0);
        let listed: serde_json::Value =
            serde_json::from_str(&env.run(&["incidents", "--json"]).stdout).unwrap();
        listed[0]["state"]["state"].clone()
    };
    settings(&env, "[limits]\nwatch = 0\nwatch-runs = 2\n");
    assert_eq!(env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]).code, 0);
    // The run that showed the repair to work for real is not counted: it was the repair's own.
    let watched = || state(&env);
    assert_eq!(watched(), "watching");
    for _ in 0..2 {
        assert_eq!(env.run(&["run", "--", "bash", "backup.sh"]).code, 0);
    }
    settings(&env, "[limits]\nwatch-runs = 2\n");
    assert_eq!(watched(), "watching", "a day has not passed");
    settings(&env, "[limits]\nwatch = 0\nwatch-runs = 9\n");
    assert_eq!(watched(), "watching", "nine runs have not been good");
    settings(&env, "[limits]\nwatch = 0\nwatch-runs = 2\n");
    assert_eq!(watched(), "confirmed");
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn policy_alone_applies_only_so_many_repairs_a_day() {
    let env = env();
    settings(&env, "[policy]\nlow = \"apply\"\n[limits]\napplies-per-day = 1\n");
    for name in ["one", "two"] {
        env.write(
            &format!("{name}.sh"),
            "#!/bin/bash\nset -eu\ncp in.txt \"$(basename \"$0\" .sh)-out/in.txt\"\n",
        );
        old(&env, &format!("{name}.sh"));
    }
    env.write("in.txt", "x\n");
    let (_, first) = document(&env, &["--", "bash", "one.sh"]);
    assert_eq!(first["status"], "healed", "{first:#}");
    let (_, second) = document(&env, &["--", "bash", "two.sh"]);
    assert_eq!(second["status"], "held", "{second:#}");
    let (_, now) = document(&env, &["--apply", "low", "--", "bash", "two.sh"]);
    assert_eq!(now["status"], "healed", "what is allowed on the command line does not count: {now:#}");
}

#[test]
fn a_job_that_keeps_ending_the_same_bad_way_is_left_alone() {
    let env = env();
    env.script("job", "#!/bin/bash\necho 'frobnicator: it is broken' >&2\nexit 9\n");
    for _ in 0..3 {
        assert_eq!(env.run(&["run", "--once", "--", "bash", "job"]).code, 9);
    }
    let fourth = env.run(&["run", "--once", "--", "bash", "job"]);
    assert_eq!(fourth.code, 9);
    assert!(fourth.stderr.contains("3 times in a row"), "{fourth:?}");
    env.script("job", "#!/bin/bash\nexit 0\n");
    assert_eq!(env.run(&["run", "--once", "--", "bash", "job"]).code, 0);
    env.script("job", "#!/bin/bash\necho 'frobnicator: it is broken' >&2\nexit 9\n");
    let closed = env.run(&["run", "--once", "--", "bash", "job"]);
    assert!(!closed.stderr.contains("in a row"), "{closed:?}");
}

#[test]
fn a_repair_that_worked_is_remembered() {
    let env = backup_env();
    env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    // Somebody lays the old script out again; the backup folder is gone too.
    env.write("backup.sh", BACKUP);
    std::fs::remove_dir_all(env.work().join("backup")).unwrap();
    let (outcome, document) = document(&env, &["--apply", "medium", "--", "bash", "backup.sh"]);
    assert_eq!(document["status"], "healed", "{outcome:?}");
    assert_eq!(document["tier"], "memory", "{document:#}");
}

#[test]
fn people_are_told_once_of_a_run_that_takes_much_longer_than_ever() {
    let env = env();
    settings(&env, "[run]\nslow-after = 1\n");
    env.script("job", "#!/bin/sh\n[ ! -e slow ] || while [ ! -e go ]; do sleep 0.02; done\n");
    for _ in 0..3 {
        assert_eq!(env.run(&["run", "--", "./job"]).code, 0);
    }
    env.write("slow", "");
    let mut slow = env.command(&["run", "--", "./job"]).stdin(std::process::Stdio::null()).spawn().unwrap();
    let store = selfheal_store::Store::open(&env.state(), selfheal_store::StoreOptions::default()).unwrap();
    let told = || {
        store.hand_out(&["x"], Timestamp(i64::MAX)).unwrap();
        store.due("x", Timestamp(i64::MAX), 10).unwrap()
    };
    let begin = std::time::Instant::now();
    while told().is_empty() {
        assert!(begin.elapsed() < std::time::Duration::from_secs(100), "nobody was told");
        std::thread::park_timeout(std::time::Duration::from_millis(10));
    }
    env.write("go", "");
    assert_eq!(slow.wait().unwrap().code(), Some(0));
    let told = told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].message.subject.as_str().contains("./job has been running for"), "{told:?}");
}
