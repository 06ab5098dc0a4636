//! Runs and incidents.

use selfheal_core::engine::State;
use selfheal_core::ids::{JobKey, Timestamp};
use selfheal_core::incident::Status;
use selfheal_core::ports::{Entry, IncidentFilter, Journal, Ledger, Trouble};

use crate::helpers::{Place, entry, id, incident, job, redacted, run};

#[test]
fn an_incident_comes_back_as_it_was_stored_and_changed() {
    let place = Place::new();
    let mut wanted = incident(1);
    place.open().store(&wanted, &[entry("opened", 1)]).unwrap();
    assert_eq!(place.open().incident(wanted.id.as_str()).unwrap(), wanted);
    wanted.state = State::Rerunning { pid: 7, boot_id: "boot".to_owned() };
    wanted.status = Status::Healed;
    wanted.note = Some(redacted("healed"));
    place.open().store(&wanted, &[]).unwrap();
    assert_eq!(place.open().incident(wanted.id.as_str()).unwrap(), wanted);
    assert_eq!(place.open().incident_count().unwrap(), 1);
}

#[test]
fn the_end_of_an_identity_names_an_incident_when_only_one_fits() {
    let place = Place::new();
    let store = place.open();
    store.store(&incident(0xa_0001), &[]).unwrap();
    store.store(&incident(0xb_0001), &[]).unwrap();
    assert_eq!(store.incident("b0001").unwrap().id, id(0xb_0001));
    assert_eq!(store.incident("B0001").unwrap().id, id(0xb_0001));
    let short = store.incident("001").unwrap_err();
    assert_eq!(short.trouble, Trouble::Missing);
    let several = store.incident("0001").unwrap_err();
    assert_eq!(several.trouble, Trouble::Other);
    let text = several.to_string();
    assert!(text.contains(id(0xa_0001).as_str()) && text.contains(id(0xb_0001).as_str()), "{text}");
    assert_eq!(store.incident("a_001").unwrap_err().trouble, Trouble::Missing);
    assert_eq!(store.incident("%0001").unwrap_err().trouble, Trouble::Missing);
}

#[test]
fn incidents_are_listed_newest_first_and_filtered() {
    let place = Place::new();
    let store = place.open();
    for number in 1..=5 {
        let mut one = incident(number);
        if number % 2 == 0 {
            one.job = JobKey::new("other");
        }
        if number == 5 {
            one.state = State::Confirmed;
        }
        store.store(&one, &[]).unwrap();
    }
    let numbers = |filter: &IncidentFilter| -> Vec<i64> {
        store.incidents(filter).unwrap().iter().map(|one| one.opened.0 - 1_000).collect()
    };
    assert_eq!(numbers(&IncidentFilter::default()), [5, 4, 3, 2, 1]);
    assert_eq!(numbers(&IncidentFilter { most: 2, ..IncidentFilter::default() }), [5, 4]);
    let job = IncidentFilter { job: Some(job()), ..IncidentFilter::default() };
    assert_eq!(numbers(&job), [5, 3, 1]);
    let held = IncidentFilter { states: vec!["held", "applying"], ..job };
    assert_eq!(numbers(&held), [3, 1]);
}

#[test]
fn runs_come_back_newest_first_and_their_facts_are_kept_once() {
    let place = Place::new();
    let store = place.open();
    for number in 1..=4 {
        store.record_run(&run(number)).unwrap();
    }
    store.record_run(&run(4)).unwrap();
    let runs = place.open().runs(&job(), 3).unwrap();
    assert_eq!(runs, [run(4), run(3), run(2)]);
    let facts: i64 = place.sql().query_row("SELECT count(*) FROM facts", [], |row| row.get(0)).unwrap();
    assert_eq!(facts, 1);
    assert_eq!(store.runs(&JobKey::new("nobody"), 3).unwrap(), []);
}

#[test]
fn the_log_stays_short_though_every_process_writes_once() {
    let place = Place::new();
    let log = place.root().join("journal.db-wal");
    for number in 0..600 {
        place.open().record_run(&run(number)).unwrap();
        assert!(std::fs::metadata(&log).unwrap().len() < 2 << 20);
    }
    assert!(place.database().metadata().unwrap().len() > 16 << 10, "some of it was moved into the database");
    assert_eq!(place.open().runs(&job(), 1_000).unwrap().len(), 600);
}

#[test]
fn only_what_policy_applied_since_then_is_counted() {
    let place = Place::new();
    let store = place.open();
    let applied = |at: i64, body: &str| Entry {
        at: Timestamp(at),
        kind: "applied".to_owned(),
        incident: None,
        body: redacted(body),
    };
    store
        .append(&[
            applied(10, r#"{"by":"policy"}"#),
            applied(20, r#"{"by":"policy"}"#),
            applied(21, r#"{"by":"person"}"#),
            applied(22, "not json"),
            applied(23, r#""policy""#),
            entry("verified", 1),
        ])
        .unwrap();
    assert_eq!(store.applied_by_policy_since(Timestamp(0)).unwrap(), 2);
    assert_eq!(store.applied_by_policy_since(Timestamp(20)).unwrap(), 1);
    assert_eq!(store.applied_by_policy_since(Timestamp(21)).unwrap(), 0);
}

#[test]
fn an_incident_that_cannot_be_read_is_named() {
    let place = Place::new();
    let store = place.open();
    store.store(&incident(1), &[]).unwrap();
    place.sql().execute("UPDATE incident SET body = '{}'", []).unwrap();
    let error = store.incident(id(1).as_str()).unwrap_err();
    assert_eq!(error.trouble, Trouble::Corrupt);
    assert!(error.to_string().contains(id(1).as_str()));
}
