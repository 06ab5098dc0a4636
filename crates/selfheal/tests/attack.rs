//! What hostile or merely unlucky surroundings do: the job runs as it would without selfheal, and nothing is lost.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use selfheal_testkit::TestEnv;

use crate::support::{BACKUP, backup_env, env, only_incident, wait_for};

/// Runs a line of shell with the program as `$0`, in the environment and folder of a test.
fn shell(env: &TestEnv, line: &str) -> std::process::Output {
    let own = env.command(&[]);
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).arg(own.get_program()).current_dir(env.work()).env_clear();
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).output().unwrap()
}

fn quiet(env: &TestEnv, args: &[&str]) -> Child {
    env.command(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_job_in_a_removed_folder_runs_there_and_nowhere_else() {
    let env = env();
    let ran = shell(
        &env,
        "mkdir d; cd d; rmdir ../d; exec \"$0\" run -- sh -c 'readlink /proc/self/cwd; echo *; exit 5'",
    );
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(5), "{ran:?}");
    assert!(said.ends_with("/d (deleted)\n*\n"), "{said}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("the job runs bare"), "{ran:?}");
}

#[test]
fn a_job_in_a_folder_that_no_path_leads_to_runs() {
    let env = env();
    // Root without its privileges is bound by modes as everybody is.
    let bound = "setpriv --bounding-set=-all --inh-caps=-all true 2>/dev/null && \
        bound='setpriv --bounding-set=-all --inh-caps=-all'";
    let line = "mkdir -p p/q; cd p/q; printf '#!/bin/sh\\nexit 7\\n' > job; chmod 755 job; chmod 000 ../../p
        $bound \"$0\" run -- ./job; code=$?; cd /; chmod 755 \"$OLDPWD/../../p\" 2>/dev/null; exit $code";
    let ran = shell(&env, &format!("{bound}\n{line}"));
    std::fs::set_permissions(env.work().join("p"), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(ran.status.code(), Some(7), "{ran:?}");
}

#[test]
fn a_folder_whose_name_is_not_unicode_is_supervised_like_any_other() {
    let env = env();
    let ran = shell(
        &env,
        "d=$(printf 'a\\n\\377'); mkdir \"$d\"; cd \"$d\"; exec \"$0\" run --log out.log -- sh -c 'echo x; exit 6'",
    );
    assert_eq!(ran.status.code(), Some(6), "{ran:?}");
    assert!(!String::from_utf8_lossy(&ran.stderr).contains("bare"), "{ran:?}");
}

#[test]
fn a_document_never_replaces_what_a_link_or_descriptor_leads_to() {
    let env = env();
    let link = env.work().join("stdout");
    symlink("/proc/self/fd/1", &link).unwrap();
    let ran = shell(&env, "\"$0\" run --json ./stdout -- echo job > out");
    assert!(ran.status.success(), "{ran:?}");
    assert!(link.is_symlink());
    let out = env.read("out");
    assert!(out.starts_with("job\n{") && out.ends_with("}\n"), "{out}");

    env.write("real.json", "old");
    std::fs::set_permissions(env.work().join("real.json"), std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.json", env.work().join("link.json")).unwrap();
    assert_eq!(env.run(&["run", "--json", "link.json", "--", "true"]).code, 0);
    assert!(env.work().join("link.json").is_symlink());
    assert!(env.read("real.json").contains("succeeded"));
    assert_eq!(std::fs::metadata(env.work().join("real.json")).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn pipes_that_nobody_serves_are_not_waited_for() {
    let env = env().with_deadline(Duration::from_secs(60));
    for name in ["document", "script"] {
        assert!(Command::new("mkfifo").arg(env.work().join(name)).status().unwrap().success());
    }
    let run = env.run(&["run", "--json", "document", "--", "sh", "-c", "exit 3"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stderr.contains("failed to write document"), "{run:?}");
    // The job empties it; selfheal must not read it again.
    let mut writer =
        Command::new("sh").arg("-c").arg("echo exit 4 > script").current_dir(env.work()).spawn().unwrap();
    let run = env.run(&["run", "--", "bash", "script"]);
    assert_eq!(run.code, 4, "{run:?}");
    writer.wait().unwrap();
}

#[test]
fn a_run_that_began_before_a_repair_does_not_take_it_back() {
    let env = backup_env();
    let held = BACKUP.replace(
        "set -euo pipefail\n",
        "set -euo pipefail\n[ ! -e hold ] || { : > ready; until [ -e go ]; do sleep 0.02; done; }\n",
    );
    env.write("backup.sh", &held);
    env.write("hold", "");
    let mut early = quiet(&env, &["run", "--apply", "low", "--", "bash", "backup.sh"]);
    wait_for("the job", || env.work().join("ready").exists());
    std::fs::remove_file(env.work().join("hold")).unwrap();
    let healed = env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    assert_eq!(healed.code, 0, "{healed:?}");
    let script = env.read("backup.sh");
    assert_ne!(script, held);
    env.write("go", "");
    early.wait().unwrap();
    assert_eq!(env.read("backup.sh"), script);
}

#[test]
fn of_several_decisions_at_once_one_counts() {
    let env = backup_env();
    env.run(&["run", "--apply", "none", "--", "bash", "backup.sh"]);
    let id = only_incident(&env);
    for command in ["approve", "undo"] {
        let all: Vec<Child> = (0..4).map(|_| quiet(&env, &[command, &id])).collect();
        let good = all.into_iter().filter_map(|mut child| child.wait().ok()).filter(|code| code.success());
        assert_eq!(good.count(), 1, "{command}");
    }
    assert_eq!(env.read("backup.sh"), BACKUP);
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn many_runs_at_once_leave_one_whole_repair() {
    let env = backup_env();
    let all: Vec<Child> =
        (0..6).map(|_| quiet(&env, &["run", "--apply", "low", "--", "bash", "backup.sh"])).collect();
    let codes: Vec<Option<i32>> = all.into_iter().map(|mut child| child.wait().unwrap().code()).collect();
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 1))), "{codes:?}");
    assert!(codes.contains(&Some(0)), "{codes:?}");
    let script = env.read("backup.sh");
    assert_eq!(script.matches("no file matches").count(), 1, "{script}");
    let audit = env.run(&["audit", "verify"]);
    assert_eq!(audit.code, 0, "{audit:?}");
}
