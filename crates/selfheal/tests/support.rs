//! What the tests of the program share.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use selfheal_testkit::{Outcome, TestEnv};

/// An environment for the built program.
pub fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_selfheal"))
}

/// The well-known backup job: strict mode, empty source, missing destination.
pub const BACKUP: &str = include_str!("../../../examples/backup/backup.sh");

/// An environment with the backup job laid out: an empty `logs`, no `backup`.
pub fn backup_env() -> TestEnv {
    let env = env();
    env.write("backup.sh", BACKUP);
    std::fs::create_dir(env.work().join("logs")).unwrap();
    env
}

/// The JSON document of a run.
pub fn document(env: &TestEnv, args: &[&str]) -> (Outcome, serde_json::Value) {
    let file = env.root().join("run.json");
    let mut all = vec!["run", "--json", file.to_str().unwrap()];
    all.extend_from_slice(args);
    let outcome = env.run(&all);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {outcome:?}"));
    (outcome, serde_json::from_str(&text).unwrap())
}

/// The short id of the only incident.
pub fn only_incident(env: &TestEnv) -> String {
    let listed = env.run(&["incidents", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    let list = all.as_array().unwrap();
    assert_eq!(list.len(), 1, "{}", listed.stdout);
    let id = list[0]["id"].as_str().unwrap();
    id[id.len() - 8..].to_owned()
}

/// Waits for a condition, for a time that no healthy machine needs.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(100), "{what} did not come");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Whether the machine offers a box.
pub fn has_box(env: &TestEnv) -> bool {
    env.run(&["try", "--", "true"]).code != 125
}

/// Kills a process and all that it started in its group, as an end of the machine would.
pub fn kill_group(child: &mut Child) {
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status().unwrap();
    child.wait().unwrap();
}
