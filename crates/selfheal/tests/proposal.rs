//! A repair made by hand (`run --proposal DIR`): judged, proved and applied like any other, and nothing else is tried.

use std::os::unix::fs::PermissionsExt;

use selfheal_testkit::TestEnv;

use crate::support::{BACKUP, backup_env, document, env, only_incident};

/// The backup job as a careful person would mend it.
fn mended() -> String {
    BACKUP.replace(
        "for f in \"$LOG_SRC\"/*.log; do\n",
        "[ -d \"$LOG_SRC\" ] || { echo \"$LOG_SRC is missing\" >&2; exit 1; }\nmkdir -p \"$BACKUP_DIR\"\nfor f in \"$LOG_SRC\"/*.log; do\n  [ -e \"$f\" ] || continue\n",
    )
}

fn give(env: &TestEnv, path: &str, content: &str) {
    let file = env.root().join("given").join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

#[test]
fn an_honest_repair_is_proved_applied_and_can_be_undone() {
    let env = backup_env();
    give(&env, "backup.sh", &mended());
    let (outcome, document) =
        document(&env, &["--apply", "medium", "--proposal", "../given", "--", "bash", "backup.sh"]);
    assert_eq!(document["status"], "healed", "{document:#}\n{outcome:?}");
    assert_eq!(outcome.code, 0);
    assert_eq!(document["tier"], "given");
    assert_eq!(document["verdict"], "passed");
    assert_eq!(env.read("backup.sh"), mended());
    assert_eq!(env.run(&["undo", &only_incident(&env)]).code, 0);
    assert_eq!(env.read("backup.sh"), BACKUP);
}

#[test]
fn a_repair_that_hides_the_failure_is_refused() {
    let env = backup_env();
    give(&env, "backup.sh", &BACKUP.replace("set -euo pipefail", "set -uo pipefail"));
    let (outcome, document) = document(
        &env,
        &["--apply", "medium", "--exit-status", "--proposal", "../given", "--", "bash", "backup.sh"],
    );
    assert_eq!(document["status"], "refused", "{document:#}");
    assert_eq!(outcome.code, 112);
    assert_eq!(env.read("backup.sh"), BACKUP);
}

#[test]
fn a_repair_that_does_not_help_fails_and_no_rule_takes_its_place() {
    let env = backup_env();
    let useless = BACKUP.replace("TODAY=", "umask 077\nTODAY=");
    assert_ne!(useless, BACKUP);
    give(&env, "backup.sh", &useless);
    let (_, document) =
        document(&env, &["--apply", "medium", "--proposal", "../given", "--", "bash", "backup.sh"]);
    assert_eq!(document["status"], "failed", "{document:#}");
    assert_eq!(document["verdict"], "failed");
    assert_eq!(document["rounds"], 1);
    assert_eq!(env.read("backup.sh"), BACKUP);
}

#[test]
fn what_may_change_the_meaning_waits_for_a_person_when_only_low_risk_is_allowed() {
    let env = backup_env();
    give(&env, "backup.sh", &mended());
    let (_, document) =
        document(&env, &["--apply", "low", "--proposal", "../given", "--", "bash", "backup.sh"]);
    assert_eq!(document["status"], "held", "{document:#}");
    assert_eq!(document["holds"][0], "changes_meaning");
    assert_eq!(env.read("backup.sh"), BACKUP);
}

#[test]
fn the_same_files_and_a_job_that_is_well_are_said() {
    let env = backup_env();
    give(&env, "backup.sh", BACKUP);
    let (_, same) = document(&env, &["--proposal", "../given", "--", "bash", "backup.sh"]);
    assert!(same["notes"].to_string().contains("changes nothing"), "{same:#}");
    let (well, _) = document(&env, &["--proposal", "../given", "--", "true"]);
    assert_eq!(well.code, 0);
    assert!(well.stderr.contains("was not needed"), "{well:?}");
}

#[test]
fn files_of_sub_folders_and_new_files_are_part_of_it() {
    let env = env();
    env.write("job.sh", "set -eu\n. lib/names.sh\necho \"$greeting\" > out.txt\n");
    env.write("lib/names.sh", "greetin=hello\n");
    give(&env, "lib/names.sh", ". ./lib/more.sh\n");
    give(&env, "lib/more.sh", "greeting=hello\n");
    let (outcome, document) =
        document(&env, &["--apply", "medium", "--proposal", "../given", "--", "sh", "job.sh"]);
    assert_eq!(document["status"], "healed", "{document:#}\n{outcome:?}");
    assert_eq!(env.read("out.txt"), "hello\n");
    assert_eq!(env.run(&["undo", &only_incident(&env)]).code, 0);
    assert!(!env.work().join("lib/more.sh").exists());
}

#[test]
fn what_is_no_proposal_is_an_error_and_runs_nothing() {
    let env = backup_env();
    let refused = |what: &str| {
        let outcome = env.run(&["run", "--proposal", what, "--", "touch", "ran"]);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.stderr.starts_with("error: ") && outcome.stderr.contains("\nhint: "), "{outcome:?}");
        assert!(!env.work().join("ran").exists());
    };
    refused("../nowhere");
    std::fs::create_dir(env.root().join("empty")).unwrap();
    refused("../empty");
    std::fs::create_dir(env.root().join("linked")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", env.root().join("linked/backup.sh")).unwrap();
    refused("../linked");
}

#[test]
fn a_mode_is_part_of_it_only_where_it_makes_a_file_executable() {
    let env = env();
    env.write("step", "#!/bin/sh\necho done > out.txt\n");
    env.write("job.sh", "set -e\n./step\n");
    give(&env, "step", "#!/bin/sh\necho done > out.txt\n");
    let given = env.root().join("given/step");
    std::fs::set_permissions(&given, std::fs::Permissions::from_mode(0o777)).unwrap();
    let (outcome, document) =
        document(&env, &["--apply", "medium", "--proposal", "../given", "--", "sh", "job.sh"]);
    assert_eq!(document["status"], "healed", "{document:#}\n{outcome:?}");
    let mode = std::fs::metadata(env.work().join("step")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o100);
    assert_eq!(mode & 0o022, 0);
}

/// Adds up the numbers in the files of a folder.
const SUM: &str = "import os\nnames = sorted(os.listdir('in'))\ntotal = sum(int(open('in/' + name).read()) for name in names)\nopen('total', 'w').write(str(total))\n";

fn sum_env(fixed: &str) -> TestEnv {
    let env = env();
    env.write("sum.py", SUM);
    env.write("in/a.txt", "1,000\n");
    give(&env, "sum.py", fixed);
    env
}

fn showed<'a>(document: &'a serde_json::Value, name: &str) -> &'a str {
    let checks = document["checks"].as_array().unwrap();
    let check =
        checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {document:#}"));
    check["showed"].as_str().unwrap()
}

#[test]
fn start_states_are_derived_from_what_the_job_reads() {
    let env = sum_env(&SUM.replace(".read())", ".read().replace(',', ''))"));
    let (_, document) =
        document(&env, &["--apply", "medium", "--proposal", "../given", "--", "python3", "sum.py"]);
    assert_eq!(document["status"], "healed", "{document:#}");
    for name in ["derived-empty-folder", "derived-blank-in-name", "derived-second-run"] {
        assert_eq!(showed(&document, name), "passed", "{document:#}");
    }
}

#[test]
fn a_repair_that_breaks_an_empty_folder_fails() {
    let fixed =
        SUM.replace(".read())", ".read().replace(',', ''))").replace("total =", "first = names[0]\ntotal =");
    let env = sum_env(&fixed);
    let (_, document) =
        document(&env, &["--apply", "medium", "--proposal", "../given", "--", "python3", "sum.py"]);
    assert_eq!(document["status"], "failed", "{document:#}");
    assert_eq!(showed(&document, "derived-empty-folder"), "failed");
    assert_eq!(env.read("sum.py"), SUM);
}
