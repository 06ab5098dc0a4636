//! The main job: the backup job and its relatives are healed without a model, and their dangerous neighbours are not.

use crate::support::{BACKUP, backup_env, document, env};

/// Runs a script named `job.sh` with an empty source folder, and returns the document.
fn heal(text: &str, folders: &[&str]) -> (selfheal_testkit::TestEnv, serde_json::Value) {
    let env = env();
    env.write("job.sh", text);
    for folder in folders {
        std::fs::create_dir_all(env.work().join(folder)).unwrap();
    }
    let (outcome, document) = document(&env, &["--apply", "low", "--", "bash", "job.sh"]);
    assert_eq!(document["status"], "healed", "{outcome:?}\n{document:#}");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    (env, document)
}

/// Puts two files into a folder, one with a blank in its name, runs the healed script bare, and lists the destination.
fn with_files(env: &selfheal_testkit::TestEnv, source: &str, suffix: &str, destination: &str) -> Vec<String> {
    std::fs::remove_dir_all(env.work().join(destination)).ok();
    for name in ["app", "night shift"] {
        env.write(&format!("{source}/{name}.{suffix}"), "text\n");
    }
    let status = std::process::Command::new("bash").arg("job.sh").current_dir(env.work()).status().unwrap();
    assert!(status.success());
    let mut names: Vec<String> = std::fs::read_dir(env.work().join(destination))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_backup_job_is_healed_proved_applied_and_run_again() {
    let env = backup_env();
    let (outcome, document) = document(&env, &["--apply", "low", "--", "bash", "backup.sh"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(document["status"], "healed");
    assert_eq!(document["tier"], "rule");
    assert_eq!(document["risk"], "low");
    let script = env.read("backup.sh");
    assert!(script.contains("set -euo pipefail"), "{script}");
    let added = document["diff"].as_str().unwrap().lines().filter(|line| line.starts_with('+')).count();
    assert!(added <= 11, "at most ten changed lines and the header: {}", document["diff"]);
    let passed: Vec<&str> = document["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["showed"] == "passed")
        .map(|check| check["name"].as_str().unwrap())
        .collect();
    assert!(passed.len() >= 4, "{passed:?}");
    for scenario in ["empty-source", "files-present", "destination-missing", "missing-source"] {
        assert!(passed.contains(&scenario), "{scenario} of {passed:?}");
    }
    assert!(env.work().join("backup").is_dir());
}

#[test]
fn a_missing_source_still_fails() {
    let env = backup_env();
    env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    std::fs::remove_dir(env.work().join("logs")).unwrap();
    let status =
        std::process::Command::new("bash").arg("backup.sh").current_dir(env.work()).status().unwrap();
    assert!(!status.success());
}

#[test]
fn a_destination_on_a_mount_that_is_not_there_is_handed_over() {
    let env = env();
    env.write("backup.sh", BACKUP.replace("BACKUP_DIR:-backup", "BACKUP_DIR:-/mnt/selfheal-test-nas/backup"));
    std::fs::create_dir(env.work().join("logs")).unwrap();
    env.write("logs/a.log", "text\n");
    let (outcome, document) = document(&env, &["--apply", "medium", "--", "bash", "backup.sh"]);
    assert_ne!(outcome.code, 0);
    assert_ne!(document["status"], "healed", "{document:#}");
    assert!(!std::path::Path::new("/mnt/selfheal-test-nas").exists());
}

#[test]
fn mv_for_cp_and_other_names() {
    let (env, _) = heal(
        "#!/bin/bash\nset -euo pipefail\nINBOX=${INBOX:-in}\nDONE=${DONE:-done/today}\nfor item in \"$INBOX\"/*.csv; do\n  mv \"$item\" \"$DONE/$(basename \"$item\")\"\ndone\n",
        &["in"],
    );
    assert_eq!(with_files(&env, "in", "csv", "done/today"), ["app.csv", "night shift.csv"]);
}

#[test]
fn gzip_into_a_redirection() {
    let (env, _) = heal(
        "#!/bin/bash\nset -euo pipefail\nsrc=data\nout=packed\nfor f in \"$src\"/*.txt; do\n    gzip -c \"$f\" > \"$out/$(basename \"$f\").gz\"\ndone\necho packed >&2\n",
        &["data"],
    );
    assert_eq!(with_files(&env, "data", "txt", "packed"), ["app.txt.gz", "night shift.txt.gz"]);
}

#[test]
fn two_loops() {
    let (env, _) = heal(
        "#!/bin/bash\nset -euo pipefail\nA=a\nB=b\nDST=out\nfor f in \"$A\"/*.log; do\n  cp \"$f\" \"$DST/\"\ndone\nfor g in \"$B\"/*.txt; do\n  cp \"$g\" \"$DST/\"\ndone\n",
        &["a", "b"],
    );
    env.write("b/two.txt", "text\n");
    assert_eq!(with_files(&env, "a", "log", "out"), ["app.log", "night shift.log", "two.txt"]);
}

#[test]
fn a_function_around_it() {
    let (env, _) = heal(
        "#!/bin/bash\nset -euo pipefail\n\nsave() {\n  local from=$1 to=$2\n  for f in \"$from\"/*.log; do\n    cp \"$f\" \"$to/$(basename \"$f\").old\"\n  done\n}\n\nsave logs vault\necho saved >&2\n",
        &["logs"],
    );
    assert_eq!(with_files(&env, "logs", "log", "vault"), ["app.log.old", "night shift.log.old"]);
}

#[test]
fn a_file_in_the_place_of_the_destination_still_fails() {
    let env = backup_env();
    env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    std::fs::remove_dir_all(env.work().join("backup")).unwrap();
    env.write("backup", "in the way");
    env.write("logs/a.log", "text\n");
    let status =
        std::process::Command::new("bash").arg("backup.sh").current_dir(env.work()).status().unwrap();
    assert!(!status.success());
}
