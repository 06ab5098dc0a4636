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
