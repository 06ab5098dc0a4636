//! What is allowed, and taking back.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use crate::support::{BACKUP, backup_env, document, only_incident};

#[test]
fn without_a_policy_and_a_terminal_it_parks_and_approve_applies() {
    let env = backup_env();
    let (outcome, document) = document(&env, &["--exit-status", "--", "bash", "backup.sh"]);
    assert_eq!(document["status"], "held", "{document:#}");
    assert_eq!(outcome.code, 110);
    assert_eq!(env.read("backup.sh"), BACKUP);
    let id = only_incident(&env);
    assert_eq!(env.run(&["incidents", "--held"]).code, 0);
    let approved = env.run(&["approve", &id]);
    assert_eq!(approved.code, 0, "{approved:?}");
    assert_ne!(env.read("backup.sh"), BACKUP);
    assert_eq!(env.run(&["run", "--", "bash", "backup.sh"]).code, 0);
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn a_job_that_fails_again_says_that_a_repair_waits_and_makes_no_second_one() {
    let env = backup_env();
    env.run(&["run", "--", "bash", "backup.sh"]);
    let again = env.run(&["run", "--", "bash", "backup.sh"]);
    assert!(again.stderr.contains("selfheal approve"), "{again:?}");
    only_incident(&env);
}

#[test]
fn a_rejected_repair_changes_nothing_and_cannot_be_approved() {
    let env = backup_env();
    env.run(&["run", "--", "bash", "backup.sh"]);
    let id = only_incident(&env);
    assert_eq!(env.run(&["reject", &id]).code, 0);
    let approved = env.run(&["approve", &id]);
    assert_eq!(approved.code, 1);
    assert!(approved.stderr.starts_with("error: ") && approved.stderr.contains("\nhint: "), "{approved:?}");
    assert_eq!(env.read("backup.sh"), BACKUP);
}

#[test]
fn approving_a_file_that_was_changed_since_changes_nothing() {
    let env = backup_env();
    env.run(&["run", "--", "bash", "backup.sh"]);
    let id = only_incident(&env);
    env.write("backup.sh", format!("{BACKUP}# mine\n"));
    let approved = env.run(&["approve", &id]);
    assert_eq!(approved.code, 1, "{approved:?}");
    assert_eq!(env.read("backup.sh"), format!("{BACKUP}# mine\n"));
}

#[test]
fn allow_lets_a_job_heal_unattended() {
    let env = backup_env();
    let allowed = env.run(&["allow", "backup.sh"]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    // The script must not look as if a person were at it just now.
    let old = std::fs::File::options().append(true).open(env.work().join("backup.sh")).unwrap();
    old.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(7_200)).unwrap();
    drop(old);
    let (_, document) = document(&env, &["--", "bash", "backup.sh"]);
    assert_eq!(document["status"], "healed", "{document:#}");
}

#[test]
fn a_file_that_was_edited_just_now_is_held_unless_apply_was_given() {
    let env = backup_env();
    env.run(&["allow", "backup.sh"]);
    let (_, held) = document(&env, &["--", "bash", "backup.sh"]);
    assert_eq!(held["status"], "held");
    assert_eq!(held["holds"], serde_json::json!(["edited_just_now"]));
    let (_, healed) = document(&env, &["--apply", "low", "--", "bash", "backup.sh"]);
    assert_eq!(healed["status"], "healed", "{healed:#}");
}

#[test]
fn a_project_file_cannot_loosen() {
    let env = backup_env();
    env.write("selfheal.toml", "[policy]\nlow = \"apply\"\nmedium = \"apply\"\n");
    let (_, document) = document(&env, &["--", "bash", "backup.sh"]);
    assert_eq!(document["status"], "held");
}

#[test]
fn undo_goes_back_to_the_byte_mode_owner_and_time() {
    let env = backup_env();
    let path = env.work().join("backup.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    let old = std::fs::File::options().append(true).open(&path).unwrap();
    old.set_modified(std::time::UNIX_EPOCH + std::time::Duration::new(1_700_000_000, 123_456_789)).unwrap();
    drop(old);
    let before = std::fs::metadata(&path).unwrap();
    env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    assert_ne!(env.read("backup.sh"), BACKUP);
    assert_eq!(std::fs::metadata(&path).unwrap().mode(), before.mode());
    let id = only_incident(&env);
    let undone = env.run(&["undo", &id]);
    assert_eq!(undone.code, 0, "{undone:?}");
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!(env.read("backup.sh"), BACKUP);
    assert_eq!(
        (after.mode(), after.uid(), after.gid(), after.mtime(), after.mtime_nsec()),
        (before.mode(), before.uid(), before.gid(), before.mtime(), before.mtime_nsec())
    );
    assert!(env.run(&["incidents"]).stdout.contains("rolled_back"));
    assert_eq!(env.run(&["undo", &id]).code, 1, "a second undo has nothing to do");
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn undo_does_not_overwrite_what_somebody_changed_since() {
    let env = backup_env();
    env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    let mine = format!("{}# mine\n", env.read("backup.sh"));
    env.write("backup.sh", &mine);
    let undone = env.run(&["undo", &only_incident(&env)]);
    assert_eq!(undone.code, 1, "{undone:?}");
    assert!(undone.stderr.contains("hint: "), "{undone:?}");
    assert_eq!(env.read("backup.sh"), mine);
}

#[test]
fn a_frozen_selfheal_runs_jobs_bare() {
    let env = backup_env();
    assert_eq!(env.run(&["freeze"]).code, 0);
    let run = env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    assert_eq!(run.code, 1);
    assert_eq!(env.read("backup.sh"), BACKUP);
    assert_eq!(env.run(&["thaw"]).code, 0);
    assert_eq!(env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]).code, 0);
}
