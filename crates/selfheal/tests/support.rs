//! What the tests of the program share.

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
