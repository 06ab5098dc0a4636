//! What is allowed, the freeze and the circuit breaker.

use std::fs;

use selfheal_core::ids::{JobKey, Signature};
use selfheal_core::incident::Status;
use selfheal_core::ports::Journal;
use selfheal_store::{Level, frozen, set_frozen};

use crate::helpers::{Place, id, incident, job};

#[test]
fn what_a_job_is_allowed_stays() {
    let place = Place::new();
    let store = place.open();
    assert_eq!(store.allowed(&job()).unwrap(), None);
    store.allow(&job(), Level::Low).unwrap();
    store.allow(&JobKey::new("other"), Level::None).unwrap();
    assert_eq!(place.open().allowed(&job()).unwrap(), Some(Level::Low));
    store.allow(&job(), Level::Medium).unwrap();
    assert_eq!(store.allowed(&job()).unwrap(), Some(Level::Medium));
    assert_eq!(store.allowed(&JobKey::new("other")).unwrap(), Some(Level::None));
}

#[test]
fn a_freeze_needs_no_database() {
    let place = Place::new();
    assert!(!frozen(&place.root()));
    set_frozen(&place.root(), true).unwrap();
    fs::write(place.database(), "not a database").unwrap();
    assert!(frozen(&place.root()));
    set_frozen(&place.root(), true).unwrap();
    set_frozen(&place.root(), false).unwrap();
    assert!(!frozen(&place.root()));
    set_frozen(&place.root(), false).unwrap();
    fs::create_dir_all(place.root()).unwrap();
    fs::write(place.root().join("frozen"), "").unwrap();
    assert!(frozen(&place.root()), "a file that a person made freezes too");
}

#[test]
fn incidents_that_end_alike_are_seen() {
    let place = Place::new();
    let store = place.open();
    for number in 1..=4 {
        let mut one = incident(number);
        one.status = if number == 1 { Status::Healed } else { Status::Failed };
        store.store(&one, &[]).unwrap();
        assert_eq!(store.ended_alike(&job(), 3).unwrap(), number == 4, "{number}");
    }
    let ends = store.last_ends(&job(), 2).unwrap();
    assert_eq!(ends.iter().map(|end| end.incident.clone()).collect::<Vec<_>>(), [id(4), id(3)]);
    assert_eq!(ends[0].status, "failed");
    let other = Some(Signature::new("another failure"));
    store.store(&selfheal_core::incident::Incident { signature: other, ..incident(5) }, &[]).unwrap();
    assert!(!store.ended_alike(&job(), 3).unwrap());
    assert!(!store.ended_alike(&JobKey::new("nobody"), 3).unwrap());
}
