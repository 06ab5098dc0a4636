//! Many writers at once: nothing is lost.

use std::process::{Child, Command, Stdio};

use selfheal_core::ports::{Count, Journal, Ledger, Memory, Remembered, Trouble};

use crate::helpers::{self, Place, entry, incident, job, run};

const WRITERS: u32 = 20;
const EACH: u32 = 10;

fn write_all(store: &selfheal_store::Store, writer: u32) {
    for number in 0..EACH {
        let number = writer * 1_000 + number;
        store.record_run(&run(number)).unwrap();
        store.store(&incident(number), &[entry("opened", number), entry("held", number)]).unwrap();
        store.count("shared", Count::Win).unwrap();
    }
}

fn prepare(place: &Place) {
    let shared = Remembered {
        entry: "shared".to_owned(),
        signature: selfheal_core::ids::Signature::new("s"),
        script: "/srv/job.sh".into(),
        edits: Vec::new(),
        summary: String::new(),
        wins: 0,
        losses: 0,
        conditions: selfheal_core::ports::Conditions::default(),
    };
    let store = place.open();
    assert_eq!(store.count("shared", Count::Win).unwrap_err().trouble, Trouble::Missing);
    store.remember(&shared).unwrap();
}

fn all_is_there(place: &Place) {
    let store = place.open();
    let all = u64::from(WRITERS * EACH);
    assert_eq!(store.incident_count().unwrap(), all);
    assert_eq!(store.runs(&job(), 10_000).unwrap().len() as u64, all);
    let check = store.verify().unwrap();
    assert_eq!((check.broken, check.records, check.notes), (None, 2 * all, Vec::new()));
    let wins: u64 = place
        .sql()
        .query_row("SELECT wins FROM memory WHERE entry = 'shared'", [], |row| row.get::<_, i64>(0))
        .unwrap()
        .try_into()
        .unwrap();
    assert_eq!(wins, all);
}

#[test]
fn twenty_threads_lose_nothing() {
    let place = Place::new();
    prepare(&place);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let root = place.root();
            scope.spawn(move || write_all(&helpers::open(&root), writer));
        }
    });
    all_is_there(&place);
}

#[test]
fn twenty_processes_lose_nothing() {
    let place = Place::new();
    prepare(&place);
    let children: Vec<Child> = (0..WRITERS)
        .map(|writer| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "writers::child_writes", "--ignored"])
                .env("STORE_ROOT", place.root())
                .env("STORE_WRITER", writer.to_string())
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    all_is_there(&place);
}

#[test]
fn twenty_that_open_a_new_store_at_once_all_get_it() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let root = place.root();
            scope.spawn(move || helpers::open(&root).record_run(&run(writer)).unwrap());
        }
    });
    assert_eq!(place.open().runs(&job(), 100).unwrap().len(), WRITERS as usize);
}

#[test]
fn one_store_serves_several_threads() {
    let place = Place::new();
    let store = place.open();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = &store;
            scope.spawn(move || store.append(&[entry("x", writer)]).unwrap());
        }
    });
    assert_eq!(store.verify().unwrap().records, 4);
}

#[test]
#[ignore = "runs in a process of its own"]
fn child_writes() {
    let root = std::path::PathBuf::from(std::env::var_os("STORE_ROOT").unwrap());
    let writer = std::env::var("STORE_WRITER").unwrap().parse().unwrap();
    write_all(&helpers::open(&root), writer);
}
