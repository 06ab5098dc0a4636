//! What is old goes, and nothing that anybody needs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use selfheal_core::engine::State;
use selfheal_core::ids::{ContentHash, IncidentId, Timestamp};
use selfheal_core::incident::{Incident, Owner, Round, StoredChange};
use selfheal_core::ports::{Delivery, Journal, Ledger, Outbox, Snapshots};
use selfheal_store::{Collection, Retention, Store};

use crate::helpers::{Place, entry, id, incident, job, redacted, run};

const DAY: i64 = 24 * 3_600_000;

/// The present: contents are as old as their files are, so it must be that of the machine.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

fn retention() -> Retention {
    Retention { days: 30, size: u64::MAX, needed: BTreeSet::new(), now: Timestamp(now()) }
}

/// An incident that ended, or not, so many days ago.
fn past(number: u32, days: i64, state: State) -> Incident {
    let updated = Timestamp(now() - days * DAY);
    Incident { state, updated, opened: updated, ..incident(number) }
}

fn round(files: Vec<StoredChange>) -> Round {
    Round {
        number: 1,
        source: None,
        diagnosis: None,
        summary: Vec::new(),
        diff: None,
        files,
        admission: None,
        verification: None,
        risk: None,
        knowledge: Vec::new(),
        effects: Vec::new(),
        installs: Vec::new(),
    }
}

fn change(path: &Path, before: &ContentHash, after: &ContentHash) -> StoredChange {
    let (before, after) = (Some(before.clone()), Some(after.clone()));
    StoredChange { path: path.to_owned(), before, after, mode_before: None, mode_after: None, new_folders: 0 }
}

fn object(place: &Place, hash: &ContentHash) -> PathBuf {
    let (shelf, name) = hash.as_str().split_at(2);
    place.root().join("objects").join(shelf).join(name)
}

/// Makes a file as old as if it had been saved two days ago.
fn age(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(2 * 24 * 3_600)).unwrap();
}

fn saved(place: &Place, store: &Store, text: &str) -> ContentHash {
    let hash = store.save(text.as_bytes()).unwrap();
    age(&object(place, &hash));
    hash
}

fn collect(store: &Store, retention: &Retention) -> Collection {
    let plan = store.plan_gc(retention).unwrap();
    assert_eq!(store.gc(&plan, retention).unwrap(), plan.incidents.len());
    plan
}

fn is_there(store: &Store, number: u32) -> bool {
    store.incident(id(number).as_str()).is_ok()
}

#[test]
fn old_incidents_that_ended_go_and_all_others_stay() {
    let place = Place::new();
    let store = place.open();
    let owner = Owner { pid: 1, boot_id: "b".to_owned(), start_ticks: 1 };
    let kinds = [
        (1, 40, State::HandedOver),
        (2, 40, State::Refused),
        (3, 20, State::HandedOver),
        (4, 400, State::Held),
        (5, 400, State::Watching),
        (6, 400, State::Applying),
        (8, 400, State::HandedOver),
    ];
    for (number, days, state) in kinds {
        store.store(&past(number, days, state), &[entry("opened", number), entry("ended", number)]).unwrap();
    }
    let working = Incident { owner: Some(owner), ..past(7, 400, State::HandedOver) };
    store.store(&working, &[entry("opened", 7)]).unwrap();
    let retention = Retention { needed: BTreeSet::from([id(8)]), ..retention() };
    let plan = store.plan_gc(&retention).unwrap();
    let planned: Vec<&IncidentId> = plan.incidents.iter().map(|(id, _)| id).collect();
    assert_eq!(BTreeSet::from_iter(planned), BTreeSet::from([&id(1), &id(2)]));
    assert!(plan.bytes > 0 && plan.size > plan.bytes, "{plan:?}");
    assert!(is_there(&store, 1), "a plan changes nothing");
    assert_eq!(store.gc(&plan, &retention).unwrap(), 2);
    let left: Vec<u32> = (1..=8).filter(|number| is_there(&store, *number)).collect();
    assert_eq!(left, [3, 4, 5, 6, 7, 8]);
    assert!(store.plan_gc(&retention).unwrap().is_empty());
}

#[test]
fn the_ledger_stays_whole_without_the_bodies_that_went() {
    let place = Place::new();
    let store = place.open();
    store.store(&past(1, 40, State::HandedOver), &[entry("opened", 1), entry("ended", 1)]).unwrap();
    store.store(&past(2, 4, State::HandedOver), &[entry("opened", 2)]).unwrap();
    collect(&store, &retention());
    let check = store.verify().unwrap();
    assert_eq!((check.records, check.broken), (4, None));
    let bodies = |filter: &str| -> u32 {
        let text = format!("SELECT count(*) FROM ledger WHERE body IS NULL AND {filter}");
        place.sql().query_row(&text, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((bodies("seq < 3"), bodies("seq > 2")), (2, 0));
    // One more body that nobody dropped is missed, and so is the record that says which were.
    place.sql().execute_batch("UPDATE ledger SET body = NULL WHERE seq = 3").unwrap();
    assert_eq!(store.verify().unwrap().broken, Some((3, "its body was removed".to_owned())));
    place.sql().execute_batch("UPDATE ledger SET body = NULL WHERE seq = 4").unwrap();
    assert_eq!(store.verify().unwrap().broken, Some((1, "its body was removed".to_owned())));
}

#[test]
fn contents_go_with_the_last_incident_that_needs_them() {
    let place = Place::new();
    let store = place.open();
    let file = place.folder.path().join("job.sh");
    let (shared, own, held, nobodys) = (
        saved(&place, &store, "shared"),
        saved(&place, &store, "own"),
        saved(&place, &store, "held"),
        saved(&place, &store, "nobody's"),
    );
    let young = store.save(b"saved a moment ago").unwrap();
    let with = |incident: Incident, before: &ContentHash, after: &ContentHash| Incident {
        rounds: vec![round(vec![change(&file, before, after)])],
        ..incident
    };
    store.store(&with(past(1, 40, State::RolledBack), &shared, &own), &[]).unwrap();
    store.store(&with(past(2, 400, State::Held), &shared, &held), &[]).unwrap();
    let plan = collect(&store, &retention());
    assert_eq!(plan.contents.len(), 2, "{plan:?}");
    let there = [&shared, &own, &held, &nobodys, &young].map(|hash| object(&place, hash).exists());
    assert_eq!(there, [true, false, true, false, true]);
}

#[test]
fn what_is_saved_again_meanwhile_stays() {
    let place = Place::new();
    let store = place.open();
    let hash = saved(&place, &store, "text");
    let plan = store.plan_gc(&retention()).unwrap();
    assert_eq!(plan.contents.len(), 1);
    store.save(b"text").unwrap();
    store.gc(&plan, &retention()).unwrap();
    assert_eq!(store.load(&hash).unwrap(), b"text");
}

#[test]
fn a_repair_that_is_in_place_can_be_undone_for_ever() {
    let place = Place::new();
    let store = place.open();
    let file = place.folder.path().join("job.sh");
    fs::write(&file, "before").unwrap();
    let before = store.save(b"before").unwrap();
    let after = store.save(b"after").unwrap();
    let rounds = vec![round(vec![change(&file, &before, &after)])];
    let mended = Incident { rounds, ..past(1, 400, State::Confirmed) };
    store.store(&mended, &[entry("applied", 1)]).unwrap();
    let made = &mended.rounds[0].files[0];
    store.take(&id(1), &file).unwrap();
    store.apply(&id(1), made).unwrap();
    for hash in [&before, &after] {
        age(&object(&place, hash));
    }
    assert!(collect(&store, &retention()).is_empty());
    // Somebody else's by now: nothing could be put back any more.
    fs::write(&file, "a person's").unwrap();
    assert_eq!(collect(&store, &retention()).incidents.len(), 1);
    assert!(!object(&place, &before).exists());
    let rows = |table: &str| -> u32 {
        place.sql().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    assert_eq!((rows("snapshot"), rows("content")), (0, 0));
}

#[test]
fn an_incident_that_changed_since_it_was_planned_stays() {
    let place = Place::new();
    let store = place.open();
    store.store(&past(1, 40, State::RolledBack), &[]).unwrap();
    let plan = store.plan_gc(&retention()).unwrap();
    let again =
        Incident { state: State::Watching, updated: Timestamp(now()), ..past(1, 40, State::RolledBack) };
    store.store(&again, &[]).unwrap();
    assert_eq!(store.gc(&plan, &retention()).unwrap(), 0);
    assert!(is_there(&store, 1));
}

#[test]
fn runs_messages_and_files_go_by_age_and_the_newest_runs_stay() {
    let place = Place::new();
    let store = place.open();
    (1..=60).for_each(|number| store.record_run(&run(number)).unwrap());
    let message = selfheal_core::ports::Message {
        at: Timestamp(1),
        subject: redacted("s"),
        text: redacted("t"),
        html: None,
        incident: None,
    };
    store.put(&message).unwrap();
    store.put(&message).unwrap();
    store.hand_out(&["mail"], Timestamp(now())).unwrap();
    let due = store.due("mail", Timestamp(now()), 1).unwrap();
    store.settle("mail", &[due[0].row], &Delivery::Done(Timestamp(now()))).unwrap();
    store.store(&past(1, 40, State::HandedOver), &[]).unwrap();
    store.note_sent(&id(1), &redacted("{}")).unwrap();
    fs::write(place.root().join("journal.db.7-1.tmp"), "").unwrap();
    age(&place.root().join("journal.db.7-1.tmp"));
    let plan = collect(&store, &retention());
    assert_eq!((plan.runs, plan.messages, plan.files.len()), (10, 1, 2), "{plan:?}");
    assert_eq!(store.runs(&job(), 100).unwrap().len(), 50);
    assert_eq!(store.waiting_messages().unwrap(), 1, "one that is not delivered stays");
    assert!(store.sent(&id(1)).unwrap().is_empty());
    assert!(collect(&store, &retention()).is_empty());
}

#[test]
fn a_store_that_is_too_large_keeps_less_and_never_less_than_a_week() {
    let place = Place::new();
    let store = place.open();
    let large = |number, days| {
        let report = redacted(&format!("{number} {}", "report ".repeat(10_000)));
        Incident { report: Some(report), ..past(number, days, State::HandedOver) }
    };
    for (number, days) in [(1, 29), (2, 16), (3, 9), (4, 5)] {
        store.store(&large(number, days), &[]).unwrap();
    }
    let fits = Retention { size: 10 << 20, ..retention() };
    assert_eq!(store.plan_gc(&fits).unwrap().days, 30);
    let tight = Retention { size: 10_000, ..retention() };
    let plan = collect(&store, &tight);
    assert_eq!((plan.days, plan.incidents.len()), (8, 3));
    assert!(is_there(&store, 4));
    store.compact().unwrap();
    assert!(store.plan_gc(&tight).unwrap().size < plan.size - 3 * 60_000);
}

#[test]
fn two_that_collect_at_once_do_no_harm() {
    let place = Place::new();
    let store = place.open();
    for number in 1..=300 {
        store.store(&past(number, 40, State::HandedOver), &[entry("opened", number)]).unwrap();
    }
    let plan = store.plan_gc(&retention()).unwrap();
    let gone: usize = std::thread::scope(|scope| {
        let collect = || place.open().gc(&plan, &retention()).unwrap();
        let both = [scope.spawn(collect), scope.spawn(collect)];
        both.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(gone, 300);
    assert_eq!(store.verify().unwrap().broken, None);
}

#[test]
fn of_repairs_that_made_the_same_change_the_newest_is_kept_for_the_undo() {
    let place = Place::new();
    let store = place.open();
    let file = place.folder.path().join("job.sh");
    fs::write(&file, "after").unwrap();
    let (before, after) = (saved(&place, &store, "before"), saved(&place, &store, "after"));
    let repair = |number, days, job: &str| Incident {
        job: selfheal_core::ids::JobKey::new(job),
        rounds: vec![round(vec![change(&file, &before, &after)])],
        ..past(number, days, State::Confirmed)
    };
    for (number, days, job) in [(1, 60, "a"), (2, 50, "a"), (3, 40, "a"), (4, 70, "b"), (5, 80, "a")] {
        store.store(&repair(number, days, job), &[]).unwrap();
    }
    collect(&store, &retention());
    let left: Vec<u32> = (1..=5).filter(|number| is_there(&store, *number)).collect();
    assert_eq!(left, [3, 4], "the newest of each job");
    assert_eq!(store.load(&before).unwrap(), b"before");
}

#[test]
fn room_that_is_free_goes_back_to_the_file_system_and_a_crash_or_reader_does_no_harm() {
    let place = Place::new();
    let store = place.open();
    let large = redacted(&"a long report of a job ".repeat(20_000));
    for number in 1..=120 {
        let incident = Incident { report: Some(large.clone()), ..past(number, 40, State::HandedOver) };
        store.store(&incident, &[entry("opened", number)]).unwrap();
    }
    place.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let size = || fs::metadata(place.database()).unwrap().len();
    let full = size();
    assert!(full > 50 << 20, "{full}");
    collect(&store, &retention());
    // What is left is the spare room, and what the log holds still.
    place.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    assert!(size() < full / 2, "{} of {full}", size());
    let check: String = place.sql().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    assert_eq!(store.verify().unwrap().broken, None);
}

/// A file of a selfheal that could not give room back becomes one that can when it is compacted.
#[test]
fn a_compacted_file_can_give_room_back() {
    let place = Place::new();
    drop(place.open());
    let way = || -> u32 { place.sql().query_row("PRAGMA auto_vacuum", [], |row| row.get(0)).unwrap() };
    assert_eq!(way(), 2);
    place.sql().execute_batch("PRAGMA auto_vacuum = NONE; VACUUM").unwrap();
    assert_eq!(way(), 0);
    let store = place.open();
    collect(&store, &retention());
    store.compact().unwrap();
    assert_eq!(way(), 2);
}
