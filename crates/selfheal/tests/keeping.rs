//! What is kept, for how long, and how it is taken elsewhere: gc, export, the record, accepted rules.

use std::os::unix::net::UnixDatagram;

use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::ports::Journal;
use selfheal_store::{Store, StoreOptions};
use selfheal_testkit::TestEnv;

use crate::support::{BACKUP, backup_env, document, env, only_incident};

const DAY: i64 = 24 * 3_600_000;

/// The settings of the user.
fn settings(env: &TestEnv, text: &str) {
    let folder = env.home().join(".config/selfheal");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("selfheal.toml"), text).unwrap();
}

/// Settings of the user count for root, too, where they are asked for.
fn with_settings(text: &str) -> TestEnv {
    let env = backup_env();
    settings(&env, text);
    let folder = env.home().join(".config");
    env.with("XDG_CONFIG_HOME", folder)
}

/// Makes the only incident as old as that.
fn age(env: &TestEnv, days: i64) -> IncidentId {
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    let mut incident = store.incident(&only_incident(env)).unwrap();
    incident.updated = Timestamp(incident.updated.0 - days * DAY);
    incident.opened = Timestamp(incident.opened.0 - days * DAY);
    store.store(&incident, &[]).unwrap();
    incident.id
}

#[test]
fn gc_says_what_would_go_then_drops_it_and_the_record_stays_whole() {
    let env = backup_env();
    env.run(&["run", "--", "bash", "backup.sh"]);
    env.run(&["reject", &only_incident(&env)]);
    let id = age(&env, 100);
    let before = env.run(&["audit", "show"]).stdout.lines().count();
    let would = env.run(&["gc", "--dry-run"]);
    assert!(would.stdout.contains(&format!("incident {}", id.short())), "{would:?}");
    only_incident(&env);
    let gone = env.run(&["gc", "--compact"]);
    assert_eq!(gone.code, 0, "{gone:?}");
    assert!(env.run(&["incidents"]).stdout.contains("no incidents"));
    let audit = env.run(&["audit", "verify"]);
    assert_eq!(audit.code, 0, "{audit:?}");
    let shown = env.run(&["audit", "show"]).stdout;
    assert_eq!(shown.lines().count(), before + 1, "{shown}");
    assert!(shown.contains("collected") && shown.contains("(dropped by gc)"), "{shown}");
}

#[test]
fn gc_keeps_what_waits_and_what_can_be_undone() {
    let env = backup_env();
    env.run(&["run", "--", "bash", "backup.sh"]);
    age(&env, 1_000);
    assert_eq!(env.run(&["gc"]).code, 0);
    let id = only_incident(&env);
    assert_eq!(env.run(&["approve", &id]).code, 0, "a held repair can be approved however old it is");
    age(&env, 1_000);
    assert_eq!(env.run(&["gc", "--days", "1"]).code, 0);
    assert_eq!(env.run(&["undo", &id]).code, 0);
    assert_eq!(env.read("backup.sh"), BACKUP);
}

#[test]
fn tick_drops_what_is_old_once_a_day() {
    let env = with_settings("[store]\ndays = 5\n");
    env.run(&["run", "--", "bash", "backup.sh"]);
    env.run(&["reject", &only_incident(&env)]);
    age(&env, 4);
    assert_eq!(env.run(&["tick"]).code, 0);
    age(&env, 4);
    assert_eq!(env.run(&["tick"]).code, 0);
    only_incident(&env);
    std::fs::remove_file(env.state().join("collected")).unwrap();
    let tick = env.run(&["tick"]);
    assert!(tick.stdout.contains("1 old incidents dropped"), "{tick:?}");
}

#[test]
fn everything_is_exported_as_lines_of_json_and_nothing_secret() {
    let env = backup_env().with("DB_PASSWORD", "tr0ub4dor-and-3-horses");
    env.write("backup.sh", format!("{BACKUP}# uses tr0ub4dor-and-3-horses\n"));
    env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    let all = env.run(&["export"]);
    assert_eq!(all.code, 0, "{all:?}");
    let lines: Vec<serde_json::Value> =
        all.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for kind in ["run", "facts", "incident", "ledger", "snapshot"] {
        assert!(lines.iter().any(|line| line["type"] == kind), "{kind}: {}", all.stdout);
    }
    assert!(!all.stdout.contains("tr0ub4dor"), "{}", all.stdout);
    let runs = env.run(&["export", "--kind", "run,job", "--since", "1h"]);
    assert!(runs.stdout.lines().count() >= 2 && !runs.stdout.contains(r#""type":"ledger""#), "{runs:?}");
    assert_eq!(env.run(&["export", "--kind", "everything"]).code, 2);
    assert_eq!(env.run(&["export", "--since", "soon"]).code, 2);
}

#[test]
fn the_record_is_exported_with_all_that_is_needed_to_check_it() {
    let env = backup_env();
    env.run(&["run", "--", "bash", "backup.sh"]);
    let out = env.run(&["audit", "export"]);
    let first: serde_json::Value = serde_json::from_str(out.stdout.lines().next().unwrap()).unwrap();
    assert_eq!((&first["seq"], first["hash"].as_str().unwrap().len()), (&serde_json::json!(1), 64));
    let one = env.run(&["audit", "show", "--incident", &only_incident(&env), "--most", "2"]);
    assert_eq!(one.stdout.lines().count(), 2, "{one:?}");
}

#[test]
fn a_record_that_lost_its_head_is_begun_anew_with_a_reason() {
    let env = backup_env();
    env.run(&["run", "--", "bash", "backup.sh"]);
    let whole = env.run(&["audit", "reset", "--reason", "for fun"]);
    assert_eq!(whole.code, 1, "{whole:?}");
    std::fs::remove_file(env.state().join("ledger.head")).unwrap();
    let broken = env.run(&["audit", "verify"]);
    assert_eq!(broken.code, 3, "{broken:?}");
    let reset = env.run(&["audit", "reset", "--reason", "the head was on the lost disk"]);
    assert_eq!(reset.code, 0, "{reset:?}");
    let verified = env.run(&["audit", "verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    assert!(verified.stdout.contains("the head was on the lost disk"), "{verified:?}");
    assert_eq!(env.run(&["run", "--", "bash", "backup.sh"]).code, 1);
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn heads_go_to_a_log_and_the_record_is_compared_with_it() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("log");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_nonblocking(true).unwrap();
    let env = with_settings(&format!("[store]\nanchor = [\"{}\"]\n", path.display()));
    env.run(&["run", "--", "bash", "backup.sh"]);
    let mut log = String::new();
    let mut buffer = [0; 512];
    while let Ok(length) = socket.recv(&mut buffer) {
        log.push_str(&format!("Nov 30 18:00:00 host {}\n", String::from_utf8_lossy(&buffer[4..length])));
    }
    assert!(log.lines().count() > 1, "{log}");
    env.write("heads", &log);
    let same = env.run(&["audit", "verify", "--against", "heads"]);
    assert_eq!(same.code, 0, "{same:?}");
    let other = log.lines().next().unwrap();
    let (start, hash) = other.rsplit_once(' ').unwrap();
    env.write("heads", format!("{start} {}\n", "0".repeat(hash.len())));
    let differs = env.run(&["audit", "verify", "--against", "heads"]);
    assert_eq!(differs.code, 3, "{differs:?}");
}

/// Heads that a program keeps show a whole state folder that was put back to an older one, which is whole in itself.
#[test]
fn heads_are_handed_to_a_program_that_keeps_them_and_show_a_state_that_was_put_back() {
    let env = backup_env();
    let kept = env.root().join("kept");
    let broken = env.root().join("broken");
    let keeper = format!(
        "#!/bin/sh\n[ ! -e '{}' ] || {{ echo 'the vault is closed' >&2; exit 1; }}\ncat >>'{}'\n",
        broken.display(),
        kept.display()
    );
    let keeper = env.script("keeper", &keeper);
    settings(
        &env,
        &format!("[store]\nanchor-program = [\"{}\"]\n[notify]\nat-end = 100\n", keeper.display()),
    );
    let env = {
        let folder = env.home().join(".config");
        env.with("XDG_CONFIG_HOME", folder)
    };
    let heads = || std::fs::read_to_string(&kept).unwrap_or_default();
    env.run(&["run", "--", "true"]);
    assert_eq!(heads(), "", "a good run has nothing to be kept");
    env.run(&["run", "--", "bash", "backup.sh"]);
    assert_eq!(heads().lines().count(), 1, "{}", heads());
    let old = env.root().join("old-state");
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        let _ = std::fs::remove_dir_all(to);
        assert!(std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
    };
    copy(&env.state(), &old);
    assert_eq!(env.run(&["approve", &only_incident(&env)]).code, 0);
    std::fs::write(&broken, "").unwrap();
    let tick = env.run(&["tick"]);
    assert!(tick.code == 0 && tick.stderr.contains("the vault is closed"), "{tick:?}");
    let audit = env.run(&["audit", "verify"]);
    assert!(audit.code == 0 && audit.stdout.contains("the vault is closed"), "{audit:?}");
    assert_eq!(heads().lines().count(), 1, "{}", heads());
    std::fs::remove_file(&broken).unwrap();
    env.run(&["tick"]);
    env.run(&["tick"]);
    assert_eq!(heads().lines().count(), 2, "what was not taken comes again, and once: {}", heads());
    let against = ["audit", "verify", "--against", kept.to_str().unwrap()];
    assert_eq!(env.run(&against).code, 0);
    copy(&old, &env.state());
    assert_eq!(env.run(&["audit", "verify"]).code, 0, "an older copy is whole in itself");
    assert_eq!(env.run(&against).code, 3, "{}", heads());
}

#[test]
fn an_anchor_that_is_misspelt_is_told() {
    let env = with_settings("[store]\nanchor = [\"sylog\"]\n");
    let run = env.run(&["run", "--", "true"]);
    assert!(run.code == 0 && run.stderr.contains("anchor: \"sylog\""), "{run:?}");
    let doctor = env.run(&["doctor"]);
    assert!(doctor.stdout.contains("anchor: \"sylog\""), "{doctor:?}");
}

/// As an upgrade would: the prints that were accepted are those of other code.
fn upgrade(env: &TestEnv) {
    let rules = env.run(&["rules", "list"]);
    assert!(rules.stdout.contains("may act"), "{rules:?}");
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    let names = rules.stdout.lines().filter_map(|line| line.split_whitespace().next());
    store.accept_rules(&names.map(|name| (name.to_owned(), "older".to_owned())).collect()).unwrap();
}

#[test]
fn rules_that_an_upgrade_changed_wait_until_they_are_accepted() {
    let env = with_settings("[policy]\nlow = \"apply\"\n");
    upgrade(&env);
    let old = std::fs::File::options().append(true).open(env.work().join("backup.sh")).unwrap();
    old.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(7_200)).unwrap();
    drop(old);
    let (_, held) = document(&env, &["--", "bash", "backup.sh"]);
    assert_eq!((&held["status"], &held["holds"]), (&"held".into(), &serde_json::json!(["changed_rule"])));
    env.run(&["reject", &only_incident(&env)]);
    let accepted = env.run(&["rules", "accept"]);
    assert_eq!(accepted.code, 0, "{accepted:?}");
    assert!(!env.run(&["rules", "list"]).stdout.contains("upgrade"));
    let again = env.run(&["rules", "accept"]);
    assert!(again.stdout.contains("nothing is to be accepted"), "{again:?}");
    let (_, healed) = document(&env, &["--", "bash", "backup.sh"]);
    assert_eq!(healed["status"], "healed", "{healed:#}");
}

#[test]
fn apply_on_the_command_line_speaks_for_a_changed_rule_too() {
    let env = backup_env();
    upgrade(&env);
    assert_eq!(env.run(&["rules", "accept", "no_such_rule"]).code, 1);
    let (_, healed) = document(&env, &["--apply", "low", "--", "bash", "backup.sh"]);
    assert_eq!(healed["status"], "healed", "{healed:#}");
}

#[test]
fn a_newer_store_lets_jobs_run_bare_and_is_not_touched() {
    let env = env();
    env.run(&["run", "--", "true"]);
    let database = env.state().join("journal.db");
    let newer = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('PRAGMA user_version = 999'); \
        db.execute('PRAGMA wal_checkpoint(TRUNCATE)'); db.close()";
    let done = std::process::Command::new("python3").args(["-c", newer]).arg(&database).status().unwrap();
    assert!(done.success());
    let before = std::fs::read(&database).unwrap();
    let run = env.run(&["run", "--apply", "low", "--", "sh", "-c", "echo out; exit 7"]);
    assert_eq!((run.code, run.stdout.as_str()), (7, "out\n"), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "told in one line: {run:?}");
    assert!(run.stderr.contains("version 999"), "{run:?}");
    assert_eq!(std::fs::read(&database).unwrap(), before);
}
