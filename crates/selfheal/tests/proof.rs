//! What could not be tried says what a person would have to allow, and what a repair is shown to do besides.

use std::net::TcpListener;

use selfheal_testkit::TestEnv;
use serde_json::Value;

use crate::support::{document, env};

/// A job that fails for want of a folder; what comes behind it is never reached before the repair.
fn job(env: &TestEnv, rest: &str) {
    env.write("in.txt", "x\n");
    env.write("job.sh", format!("#!/bin/bash\nset -eu\ncp in.txt out/in.txt\n{rest}"));
}

fn settings(env: &TestEnv, text: &str) {
    let folder = env.home().join(".config/selfheal");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("selfheal.toml"), text).unwrap();
}

fn healed(env: &TestEnv) -> Value {
    document(env, &["--apply", "medium", "--", "bash", "job.sh"]).1
}

/// The reasons of the checks that could not be tried.
fn untried(document: &Value) -> String {
    assert_eq!(document["verdict"], "inconclusive", "{document:#}");
    assert_eq!(document["status"], "held", "{document:#}");
    assert_eq!(document["rounds"], 1, "held is no failed round: {document:#}");
    let checks = document["checks"].as_array().unwrap();
    let open = checks.iter().filter(|check| check["showed"] == "inconclusive");
    open.map(|check| check["why"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join("\n")
}

fn check<'d>(document: &'d Value, name: &str) -> &'d Value {
    let checks = document["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {document:#}"))
}

#[test]
fn a_job_that_needs_the_network_says_so() {
    let env = env();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    job(&env, &format!("exec 3<>/dev/tcp/127.0.0.1/{port}\n"));
    let why = untried(&healed(&env));
    assert!(why.contains("it needs the network"), "{why}");
}

#[test]
fn a_job_that_needs_a_secret_says_so() {
    let env = env().with("API_TOKEN", "s3cr3t-and-long-enough");
    job(&env, "echo \"${#API_TOKEN}\" > out/length\n");
    let why = untried(&healed(&env));
    assert!(why.contains("API_TOKEN") && why.contains("it needs the secret"), "{why}");
}

#[test]
fn a_job_that_takes_longer_than_a_trial_says_so() {
    let env = env();
    settings(&env, "[limits]\ntrial = 2\n");
    job(&env, "sleep 600\n");
    let why = untried(&healed(&env));
    assert!(why.contains("`trial` under [limits]"), "{why}");
}

#[test]
fn a_job_that_writes_more_than_trials_may_says_so() {
    let env = env();
    settings(&env, "[limits]\ntrial-disk = 1\n");
    job(&env, "head -c 9000000 /dev/zero > out/large\n");
    let why = untried(&healed(&env));
    assert!(why.contains("`trial-disk` under [limits]"), "{why}");
}

#[test]
fn what_runs_beside_the_step_is_made_to_fail_too() {
    let env = env();
    job(&env, "sort in.txt > out/sorted\n. ./settings.conf\n");
    env.write("settings.conf", "colour=red\n");
    let document = healed(&env);
    assert_eq!(document["status"], "healed", "{document:#}");
    let checks = document["checks"].as_array().unwrap();
    let beside = checks.iter().filter(|check| check["name"] == "neighbour-made-to-fail");
    let passed: Vec<&str> = beside
        .filter(|check| check["showed"] == "passed")
        .filter_map(|check| check["title"].as_str())
        .collect();
    assert!(passed.iter().any(|title| title.starts_with("sort,")), "{document:#}");
    assert_eq!(check(&document, "derived-missing-file")["showed"], "passed", "{document:#}");
}

#[test]
fn what_cannot_be_injected_is_not_called_passed() {
    let env = env();
    env.write("job.py", "open('out/x.txt', 'w').write('x')\n");
    let (_, document) = document(&env, &["--apply", "medium", "--", "python3", "job.py"]);
    assert_eq!(document["status"], "healed", "{document:#}");
    for name in ["made-to-fail", "neighbour-made-to-fail", "derived-missing-file"] {
        assert_eq!(check(&document, name)["showed"], "not_tested", "{name}: {document:#}");
    }
}

#[test]
fn a_loud_failure_does_not_become_a_quiet_one() {
    // The first value behind the missing folder is no number for the shell, which leaves the loop and ends well.
    let env = env();
    let sum = "sum=0\nwhile read -r n; do sum=$((sum + n)); done < numbers\necho \"$sum\" > out/sum\n";
    job(&env, sum);
    env.write("numbers", "4\n08\n1\n");
    let document = healed(&env);
    assert_eq!(document["status"], "healed", "both are mended: {document:#}");
    assert_eq!(env.read("out/sum"), "13\n");
    let env = self::env();
    job(&env, sum);
    env.write("numbers", "4\n1x\n1\n");
    let document = healed(&env);
    assert_ne!(document["status"], "healed", "{document:#}");
    assert!(!env.read("job.sh").contains("mkdir"), "{document:#}");
}
