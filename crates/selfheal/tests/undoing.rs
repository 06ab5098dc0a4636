//! Taking back and putting back: by id, the newest, all of a job, and where somebody changed the file since.

use std::os::unix::ffi::OsStrExt;

use selfheal_testkit::TestEnv;

use crate::support::{BACKUP, backup_env, env, only_incident};

/// Heals the backup job, and gives what the repair made of the script.
fn healed(env: &TestEnv) -> String {
    let run = env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    assert_eq!(run.code, 0, "{run:?}");
    let script = env.read("backup.sh");
    assert_ne!(script, BACKUP);
    script
}

#[test]
fn the_newest_repair_is_undone_and_comes_again() {
    let env = backup_env();
    assert_eq!(env.run(&["undo", "--last"]).code, 1, "there is none yet");
    let repaired = healed(&env);
    let undone = env.run(&["undo", "--last"]);
    assert_eq!((undone.code, env.read("backup.sh")), (0, BACKUP.to_owned()), "{undone:?}");
    assert_eq!(env.run(&["undo", "--last"]).code, 1, "it is not in place any more");
    let id = only_incident(&env);
    let redone = env.run(&["redo", &id]);
    assert_eq!((redone.code, env.read("backup.sh")), (0, repaired), "{redone:?}");
    assert_eq!(env.run(&["redo", &id]).code, 1, "it is in place");
    assert_eq!(env.run(&["undo", &id]).code, 0);
    assert_eq!(env.read("backup.sh"), BACKUP);
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn all_repairs_of_a_job_are_undone_by_its_script() {
    let env = backup_env();
    healed(&env);
    let other = env.run(&["undo", "--job", "another"]);
    assert_eq!(other.code, 1, "{other:?}");
    let undone = env.run(&["undo", "--job", "backup.sh"]);
    assert_eq!((undone.code, env.read("backup.sh")), (0, BACKUP.to_owned()), "{undone:?}");
    assert_eq!(env.run(&["undo", "--job", "backup.sh"]).code, 1);
}

#[test]
fn all_repairs_of_a_named_job_are_undone_the_newest_first() {
    let env = backup_env();
    let other = "#!/bin/bash\r\nset -eu\r\necho begin\r\ncd logs\r\n";
    env.write("other.sh", other);
    for (script, text) in [("backup.sh", BACKUP), ("other.sh", other)] {
        let run = env.run(&["run", "--apply", "low", "--job", "nightly", "--", "bash", script]);
        assert_ne!(env.read(script), text, "{run:?}");
    }
    let last = env.run(&["undo", "--job", "nightly", "--last"]);
    assert_eq!((last.code, env.read("other.sh").as_str()), (0, other), "{last:?}");
    assert_ne!(env.read("backup.sh"), BACKUP);
    assert_eq!(env.run(&["redo", &newest(&env)]).code, 0);
    let all = env.run(&["undo", "--job", "nightly"]);
    assert_eq!(all.stdout.lines().count(), 2, "{all:?}");
    assert_eq!((env.read("backup.sh").as_str(), env.read("other.sh").as_str()), (BACKUP, other));
}

/// The short id of the newest incident.
fn newest(env: &TestEnv) -> String {
    env.run(&["incidents"]).stdout.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_file_that_was_changed_since_is_shown_from_three_sides_and_kept() {
    let env = backup_env();
    let repaired = healed(&env);
    let mine = format!("{repaired}# mine\n");
    env.write("backup.sh", &mine);
    let refused = env.run(&["undo", "--last"]);
    assert_eq!((refused.code, env.read("backup.sh")), (1, mine.clone()), "{refused:?}");
    assert!(refused.stdout.contains("+# mine"), "{refused:?}");
    assert!(refused.stdout.contains("before the repair"), "{refused:?}");
    assert!(refused.stderr.contains("--force"), "{refused:?}");
    let forced = env.run(&["undo", "--last", "--force"]);
    assert_eq!((forced.code, env.read("backup.sh")), (0, BACKUP.to_owned()), "{forced:?}");
    let id = only_incident(&env);
    assert!(forced.stdout.contains(&format!("selfheal redo {id}")), "{forced:?}");
    let redone = env.run(&["redo", &id]);
    assert_eq!(
        (redone.code, env.read("backup.sh")),
        (0, mine),
        "what was forced away comes again: {redone:?}"
    );
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn redo_does_not_overwrite_what_somebody_changed_since() {
    let env = backup_env();
    healed(&env);
    let id = only_incident(&env);
    env.run(&["undo", &id]);
    let mine = format!("{BACKUP}# mine\n");
    env.write("backup.sh", &mine);
    let refused = env.run(&["redo", &id]);
    assert_eq!((refused.code, env.read("backup.sh")), (1, mine), "{refused:?}");
}

#[test]
fn a_file_that_was_removed_since_comes_back_by_force_only() {
    let env = backup_env();
    healed(&env);
    let path = env.work().join("backup.sh");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(env.run(&["undo", "--last"]).code, 1);
    assert!(!path.exists());
    let forced = env.run(&["undo", "--last", "--force"]);
    assert_eq!((forced.code, env.read("backup.sh")), (0, BACKUP.to_owned()), "{forced:?}");
}

#[test]
fn a_try_is_undone_as_the_newest_and_comes_again() {
    let env = env();
    let kept = env.run(&["try", "--commit", "--", "bash", "-c", "echo x >made"]);
    if kept.code == 125 {
        // No boxes here.
        return;
    }
    let made = env.work().join("made");
    assert!(made.exists(), "{kept:?}");
    let undone = env.run(&["undo", "--last"]);
    assert_eq!((undone.code, made.exists()), (0, false), "{undone:?}");
    let listed = env.run(&["try", "--list"]);
    let id = listed.stdout.split_whitespace().next().unwrap().to_owned();
    let redone = env.run(&["redo", &id]);
    assert_eq!((redone.code, made.exists()), (0, true), "{redone:?}");
    assert_eq!(env.run(&["redo", &id]).code, 1);
}

#[test]
fn a_script_whose_name_is_no_text_is_healed_and_undone() {
    let env = backup_env();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.sh");
    let path = env.work().join(name);
    std::fs::rename(env.work().join("backup.sh"), &path).unwrap();
    let run = env.command(&["run", "--apply", "low", "--", "bash"]).arg(name).output().unwrap();
    assert!(run.status.success(), "{run:?}");
    assert_ne!(std::fs::read_to_string(&path).unwrap(), BACKUP);
    for args in [vec!["incidents", "--json"], vec!["export"], vec!["audit", "show"]] {
        let shown = env.run(&args);
        assert_eq!(shown.code, 0, "{shown:?}");
    }
    let undone = env.run(&["undo", "--last"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), BACKUP);
}

/// The content is what the repair left, and the file is another one.
#[test]
fn a_path_that_leads_to_another_file_now_is_told_and_the_undo_waits() {
    let env = backup_env();
    let repaired = healed(&env);
    let path = env.work().join("backup.sh");
    std::fs::rename(&path, env.work().join("moved.sh")).unwrap();
    std::os::unix::fs::symlink("moved.sh", &path).unwrap();
    for args in [vec!["undo", "--last"], vec!["undo", "--last", "--force"]] {
        let refused = env.run(&args);
        assert_eq!((refused.code, env.read("moved.sh")), (1, repaired.clone()), "{refused:?}");
        assert!(refused.stderr.contains("leads to another file"), "{refused:?}");
    }
    std::fs::rename(env.work().join("moved.sh"), &path).unwrap();
    let undone = env.run(&["undo", "--last"]);
    assert_eq!((undone.code, env.read("backup.sh")), (0, BACKUP.to_owned()), "{undone:?}");
}

#[test]
fn an_undo_that_could_not_be_done_can_be_done_when_nothing_is_in_the_way_any_more() {
    let env = backup_env();
    let repaired = healed(&env);
    let objects = env.state().join("objects");
    let away = env.root().join("objects");
    std::fs::rename(&objects, &away).unwrap();
    std::fs::create_dir(&objects).unwrap();
    let failed = env.run(&["undo", "--last"]);
    assert_eq!((failed.code, env.read("backup.sh")), (1, repaired), "{failed:?}");
    std::fs::remove_dir_all(&objects).unwrap();
    std::fs::rename(&away, &objects).unwrap();
    // Without a tick between: nothing is left that a dead process would own.
    let undone = env.run(&["undo", "--last"]);
    assert_eq!((undone.code, env.read("backup.sh")), (0, BACKUP.to_owned()), "{undone:?}");
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}
