//! Many at once on the same store and the same script: nothing is lost, one repair is put in, and all of them end.
//!
//! `SELFHEAL_CROWD=50` sets how many.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};

use selfheal_core::ids::JobKey;
use selfheal_core::incident::Status;
use selfheal_core::ports::{IncidentFilter, Journal, Ledger};
use selfheal_store::{RecordFilter, Store, StoreOptions};

use crate::support::{BACKUP, backup_env};

const USUAL: usize = 12;

#[test]
fn many_that_fail_at_once_lose_no_record_and_apply_one_after_the_other() {
    let crowd = std::env::var("SELFHEAL_CROWD").ok().and_then(|text| text.parse().ok()).unwrap_or(USUAL);
    let env = backup_env();
    let args = ["run", "--job", "nightly", "--apply", "low", "--", "bash", "backup.sh"];
    let spawn = || env.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let children: Vec<Child> = (0..crowd).map(|_| spawn()).collect();
    let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in &ended {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        assert!(!said.contains("could not be recorded") && !said.contains("failed to"), "{said}");
    }
    let store = Store::open(&env.state(), StoreOptions { patience_ms: 120_000 }).unwrap();
    // Whoever came first opened an incident, and who repaired ran once more.
    let runs = store.runs(&JobKey::new("nightly"), 10_000).unwrap();
    let different: BTreeSet<_> = runs.iter().map(|run| run.id.as_str().to_owned()).collect();
    assert_eq!(different.len(), runs.len());
    let incidents = store.incidents(&IncidentFilter { most: 10_000, ..IncidentFilter::default() }).unwrap();
    let healed = incidents.iter().filter(|incident| incident.status == Status::Healed).count();
    let reruns = count(&store, "rerunning");
    assert_eq!(runs.len(), crowd + reruns, "every run is recorded, and every one more");
    assert!(healed >= 1 && incidents.len() <= crowd, "{healed} of {}", incidents.len());
    assert_eq!(store.owned_incidents().unwrap(), [], "none is left behind");
    // The repair is the one that a single process makes, and it was put in by one.
    let script = env.read("backup.sh");
    let alone = backup_env();
    assert_eq!(alone.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]).code, 0);
    assert_eq!(script, alone.read("backup.sh"));
    assert_ne!(script, BACKUP);
    assert_eq!(store.verify().unwrap().broken, None);
    assert_eq!(env.run(&["undo", "--last"]).code, 0);
    assert_eq!(env.read("backup.sh"), BACKUP);
}

/// How many records of a kind there are.
fn count(store: &Store, kind: &str) -> usize {
    let mut found = 0;
    let mut each = |record: &selfheal_store::LedgerRecord| {
        found += usize::from(record.kind == kind);
        true
    };
    store.ledger_records(&RecordFilter::default(), &mut each).unwrap();
    found
}
