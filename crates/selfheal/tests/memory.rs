//! What is learnt: a repair is remembered, recalled for another day and another script, counted against when it is taken
//! back, and can be looked at, dropped and taken elsewhere.

use serde_json::Value;

use crate::support::{document, env, only_incident};

const JOB: &str = "set -e\nprintf 'a\\n' > out/list\n";

fn listed(env: &selfheal_testkit::TestEnv) -> Vec<Value> {
    let list = env.run(&["memory", "list", "--json"]);
    serde_json::from_str(&list.stdout).unwrap()
}

#[test]
fn a_repair_that_worked_mends_another_script_without_a_rule() {
    let env = env();
    env.write("job.sh", JOB);
    let (_, first) = document(&env, &["--apply", "low", "--repeatable", "--", "bash", "job.sh"]);
    assert_eq!((first["status"].as_str(), first["tier"].as_str()), (Some("healed"), Some("rule")), "{first}");
    assert_eq!(listed(&env).len(), 1);
    std::fs::remove_dir_all(env.work().join("out")).unwrap();
    env.write("other.sh", JOB);
    let (_, second) = document(
        &env,
        &["--apply", "medium", "--repeatable", "--without", "rules", "--", "bash", "other.sh"],
    );
    assert_eq!(
        (second["status"].as_str(), second["tier"].as_str()),
        (Some("healed"), Some("memory")),
        "{second}"
    );
    assert_eq!(listed(&env)[0]["wins"], 2);
    let stats = env.run(&["stats"]);
    assert!(stats.stdout.contains("missing_folder") && stats.stdout.contains("memory 1"), "{}", stats.stdout);
}

#[test]
fn a_repair_that_was_taken_back_is_not_tried_again() {
    let env = env();
    env.write("job.sh", JOB);
    let (_, first) = document(&env, &["--apply", "low", "--repeatable", "--", "bash", "job.sh"]);
    assert_eq!(first["status"], "healed");
    assert_eq!(env.run(&["undo", &only_incident(&env)]).code, 0);
    assert_eq!(listed(&env)[0]["losses"], 1);
    let stats = env.run(&["stats"]).stdout;
    assert_eq!(env.run(&["redo", &only_incident(&env)]).code, 0);
    assert_eq!(listed(&env)[0]["losses"], 0, "what came again was not wrong");
    assert_ne!(env.run(&["stats"]).stdout, stats);
    assert_eq!(env.run(&["undo", &only_incident(&env)]).code, 0);
    assert_eq!(env.run(&["stats"]).stdout, stats, "counted once, however often it goes to and fro");
    std::fs::remove_dir_all(env.work().join("out")).unwrap();
    let (_, again) = document(&env, &["--apply", "medium", "--without", "rules", "--", "bash", "job.sh"]);
    assert_ne!(again["status"], "healed", "{again}");
}

#[test]
fn what_a_repair_lost_stays_with_it_when_a_rule_finds_it_again() {
    let env = env();
    env.write("job.sh", JOB);
    document(&env, &["--apply", "low", "--repeatable", "--", "bash", "job.sh"]);
    assert_eq!(env.run(&["undo", &only_incident(&env)]).code, 0);
    let out = env.work().join("out");
    if out.exists() {
        std::fs::remove_dir_all(&out).unwrap();
    }
    let (_, again) = document(&env, &["--apply", "low", "--repeatable", "--", "bash", "job.sh"]);
    assert_eq!((again["status"].as_str(), again["tier"].as_str()), (Some("healed"), Some("rule")), "{again}");
    let entries = listed(&env);
    assert_eq!(entries.len(), 1, "the same repair is one entry: {entries:?}");
    assert_eq!((&entries[0]["wins"], &entries[0]["losses"]), (&2.into(), &1.into()));
}

#[test]
fn what_was_learnt_goes_to_another_machine_and_is_forgotten_there() {
    let (env, other) = (env(), crate::support::env());
    env.write("job.sh", JOB);
    document(&env, &["--apply", "low", "--repeatable", "--", "bash", "job.sh"]);
    other.write("learnt", &env.run(&["memory", "export"]).stdout);
    assert_eq!(other.run(&["memory", "import", "learnt"]).code, 0);
    other.run(&["memory", "import", "learnt"]);
    let entries = listed(&other);
    assert_eq!(entries.len(), 1, "the same twice is one");
    let id = entries[0]["entry"].as_str().unwrap().to_owned();
    let shown = other.run(&["memory", "show", &id[id.len() - 8..]]);
    assert!(shown.stdout.contains("+mkdir -p") || shown.stdout.contains("mkdir -p"), "{}", shown.stdout);
    assert_eq!(other.run(&["memory", "forget", &id]).code, 0);
    assert!(listed(&other).is_empty());
    assert_eq!(other.run(&["memory", "forget", &id]).code, 1);
    other.write("wrong", "{\"entry\": 1}\n");
    let wrong = other.run(&["memory", "import", "wrong"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("line 1"), "{}", wrong.stderr);
}
