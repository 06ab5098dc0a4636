//! The ledger: every way of tampering is named, and no crash looks like one.

use std::fs;

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Journal, Ledger, LedgerCheck, Trouble};
use selfheal_store::{Anchor, Anew, RecordFilter};

use crate::helpers::{Place, entry, id, incident, redacted};

fn filled(records: u32) -> Place {
    let place = Place::new();
    let store = place.open();
    for number in 1..=records {
        store.append(&[entry("kept", number)]).unwrap();
    }
    place
}

fn check(place: &Place) -> LedgerCheck {
    place.open().verify().unwrap()
}

fn sound(records: u64) -> LedgerCheck {
    LedgerCheck { records, broken: None, notes: Vec::new() }
}

/// Tampers with the rows and tells which record is named and why.
fn after(records: u32, tamper: &str) -> (u64, String) {
    let place = filled(records);
    place.sql().execute_batch(tamper).unwrap();
    check(&place).broken.expect("tampering shows")
}

#[test]
fn an_untouched_ledger_is_sound() {
    assert_eq!(check(&Place::new()), sound(0));
    assert_eq!(check(&filled(5)), sound(5));
}

#[test]
fn records_are_stored_with_the_incident_and_read_back() {
    let place = Place::new();
    let store = place.open();
    store.store(&incident(1), &[entry("opened", 1), entry("held", 1)]).unwrap();
    store.append(&[entry("opened", 2)]).unwrap();
    assert_eq!(store.entries(&id(1), 10).unwrap(), [entry("opened", 1), entry("held", 1)]);
    assert_eq!(check(&place), sound(3));
}

#[test]
fn a_changed_record_is_named() {
    assert_eq!(after(5, "UPDATE ledger SET kind = 'lost' WHERE seq = 3"), (3, "it was changed".to_owned()));
    assert_eq!(after(5, "UPDATE ledger SET at = at + 1 WHERE seq = 1").0, 1);
    assert_eq!(after(5, "UPDATE ledger SET incident = NULL WHERE seq = 2").0, 2);
    let (seq, why) = after(5, "UPDATE ledger SET body = '{}' WHERE seq = 5");
    assert_eq!((seq, why.as_str()), (5, "its body was changed"));
    let (seq, why) = after(5, "UPDATE ledger SET body = NULL WHERE seq = 5");
    assert_eq!((seq, why.as_str()), (5, "its body was removed"));
    let (seq, why) = after(5, "UPDATE ledger SET mac = hash WHERE seq = 2");
    assert_eq!((seq, why.as_str()), (2, "its seal is wrong: it was computed without the key"));
}

#[test]
fn a_dropped_record_is_named() {
    assert_eq!(after(5, "DELETE FROM ledger WHERE seq = 3"), (3, "it is missing".to_owned()));
    assert_eq!(after(5, "DELETE FROM ledger WHERE seq < 3").0, 1);
    // The rest is moved up to hide the gap.
    let closed = "DELETE FROM ledger WHERE seq = 3; UPDATE ledger SET seq = seq - 1 WHERE seq > 3";
    assert_eq!(after(5, closed).0, 3);
}

#[test]
fn reordered_records_are_named() {
    let swap = "UPDATE ledger SET seq = -1 WHERE seq = 2;
                UPDATE ledger SET seq = 2 WHERE seq = 3;
                UPDATE ledger SET seq = 3 WHERE seq = -1";
    assert_eq!(after(5, swap).0, 2);
}

#[test]
fn a_truncated_ledger_is_named() {
    let (seq, why) = after(5, "DELETE FROM ledger WHERE seq > 3");
    assert_eq!((seq, why.as_str()), (4, "it and all up to record 5 are missing"));
    assert_eq!(after(5, "DELETE FROM ledger WHERE seq = 5"), (5, "it is missing".to_owned()));
    assert_eq!(after(5, "DELETE FROM ledger").0, 1);
}

#[test]
fn truncation_shows_for_ever() {
    let place = filled(5);
    place.sql().execute_batch("DELETE FROM ledger WHERE seq > 3").unwrap();
    place.open().append(&[entry("later", 9)]).unwrap();
    place.open().append(&[entry("later", 10)]).unwrap();
    let shown = check(&place);
    assert_eq!(shown.broken, Some((4, "it and all up to record 5 are missing".to_owned())));
    assert_eq!(shown.records, 5);
}

#[test]
fn truncation_shows_even_with_the_anchor_put_back() {
    let place = filled(3);
    let early = fs::read(place.root().join("ledger.head")).unwrap();
    place.open().append(&[entry("kept", 4), entry("kept", 5)]).unwrap();
    place.sql().execute_batch("DELETE FROM ledger WHERE seq > 3").unwrap();
    fs::write(place.root().join("ledger.head"), early).unwrap();
    assert_eq!(check(&place).broken.unwrap().0, 4);
}

#[test]
fn a_replaced_database_does_not_pass_for_a_new_one() {
    let place = filled(3);
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(place.root().join(format!("journal.db{end}")));
    }
    assert_eq!(check(&place).broken.unwrap().0, 1);
    place.open().append(&[entry("later", 9)]).unwrap();
    assert_eq!(check(&place).broken, Some((1, "it and all up to record 3 are missing".to_owned())));
}

#[test]
fn a_chain_computed_anew_without_the_key_is_named() {
    let (ours, theirs) = (filled(3), filled(3));
    let rows = theirs.database();
    theirs.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    ours.sql()
        .execute_batch(&format!(
            "ATTACH '{}' AS other; DELETE FROM main.ledger; INSERT INTO main.ledger SELECT * FROM other.ledger;",
            rows.display()
        ))
        .unwrap();
    let (seq, why) = check(&ours).broken.unwrap();
    assert_eq!((seq, why.as_str()), (1, "its seal is wrong: it was computed without the key"));
}

#[test]
fn missing_files_show() {
    let place = filled(3);
    fs::remove_file(place.root().join("ledger.head")).unwrap();
    assert_eq!(check(&place).broken.unwrap().0, 4);
    place.open().append(&[entry("later", 9)]).unwrap();
    assert_eq!(check(&place).broken.unwrap().0, 5, "a new record does not make a new anchor");
    let place = filled(3);
    fs::remove_file(place.root().join("ledger.seal")).unwrap();
    assert_eq!(check(&place).broken.unwrap().0, 1);
}

#[test]
fn a_lost_key_is_found_again_from_the_sealed_one() {
    let place = filled(3);
    fs::remove_file(place.root().join("ledger.key")).unwrap();
    place.open().append(&[entry("kept", 4)]).unwrap();
    assert_eq!(check(&place), sound(4));
}

#[test]
fn a_crash_before_the_files_were_moved_is_harmless_and_mended() {
    let place = filled(2);
    let saved: Vec<_> = ["ledger.head", "ledger.key"]
        .map(|name| (place.root().join(name), fs::read(place.root().join(name)).unwrap()))
        .into();
    place.open().append(&[entry("kept", 3), entry("kept", 4)]).unwrap();
    for (path, content) in saved {
        fs::write(path, content).unwrap();
    }
    let lagging = check(&place);
    assert_eq!(lagging.broken, None);
    assert_eq!(lagging.notes, ["2 records after the anchor: a crash kept it from being moved"]);
    place.open().append(&[entry("kept", 5)]).unwrap();
    assert_eq!(check(&place), sound(5));
}

#[test]
fn damaged_files_neither_hang_nor_pass() {
    for text in ["", "v1 4000000000 00", "v1 3 zz", "\u{fffd}", "v1 -1 00"] {
        for name in ["ledger.head", "ledger.key", "ledger.seal"] {
            let place = filled(3);
            fs::write(place.root().join(name), text).unwrap();
            let shown = check(&place);
            assert_eq!(shown.broken.is_some(), name != "ledger.key", "{name} {text:?}");
        }
    }
    let place = filled(3);
    fs::write(place.root().join("ledger.head"), format!("v1 4000000000 {}\n", "0".repeat(64))).unwrap();
    let error = place.open().append(&[entry("later", 9)]).unwrap_err();
    assert_eq!(error.trouble, Trouble::Corrupt);
}

#[test]
fn the_hash_can_be_computed_with_sha256sum() {
    let place = filled(2);
    let (prev, hash, body_hash): (String, String, String) = place
        .sql()
        .query_row("SELECT prev, hash, body_hash FROM ledger WHERE seq = 2", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    let line = format!(r#"{prev}[2,1002,"kept","{}","{body_hash}"]"#, id(2));
    let printed = std::process::Command::new("sh")
        .args(["-c", r#"printf %s "$1" | sha256sum"#, "sh", &line])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap().split(' ').next(), Some(hash.as_str()));
}

/// Every field of every record, and every way of moving records about, in a ledger of a few.
#[test]
fn every_tampering_at_every_place_is_found() {
    const RECORDS: u32 = 5;
    let place = filled(RECORDS);
    let db = place.sql();
    let columns = ["seq", "at", "kind", "incident", "body", "body_hash", "prev", "hash", "mac"];
    let mut tried = 0;
    let mut found = |tamper: String| {
        db.execute_batch("SAVEPOINT whole").unwrap();
        db.execute_batch(&tamper).unwrap();
        // The check reads through its own connection: commit, look, and put everything back.
        db.execute_batch("RELEASE whole").unwrap();
        assert!(check(&place).broken.is_some(), "{tamper}");
        db.execute_batch("DELETE FROM ledger; INSERT INTO ledger SELECT * FROM whole").unwrap();
        tried += 1;
    };
    db.execute_batch("CREATE TEMP TABLE whole AS SELECT * FROM ledger").unwrap();
    for at in 1..=RECORDS {
        for column in columns {
            // One bit of the value, or the value of another type where that is a number.
            let value = match column {
                "seq" => "seq + 100".to_owned(),
                "at" => "at + 1".to_owned(),
                _ => format!("char(unicode({column}) ^ 1) || substr({column}, 2)").replace(
                    &format!("unicode({column}) ^ 1"),
                    &format!("(unicode({column}) | 1) - (unicode({column}) & 1)"),
                ),
            };
            found(format!("UPDATE ledger SET {column} = {value} WHERE seq = {at}"));
        }
        found(format!("UPDATE ledger SET incident = NULL WHERE seq = {at}"));
        found(format!("UPDATE ledger SET body = NULL WHERE seq = {at}"));
        found(format!("DELETE FROM ledger WHERE seq = {at}"));
        found(format!("DELETE FROM ledger WHERE seq >= {at}"));
        found(format!("DELETE FROM ledger WHERE seq <= {at}"));
        for other in at + 1..=RECORDS {
            found(format!(
                "UPDATE ledger SET seq = -1 WHERE seq = {at}; UPDATE ledger SET seq = {at} WHERE seq = {other};
                 UPDATE ledger SET seq = {other} WHERE seq = -1"
            ));
            found(format!(
                "DELETE FROM ledger WHERE seq = {other}; INSERT INTO ledger SELECT {other}, at, kind, incident, body,
                 body_hash, prev, hash, mac FROM ledger WHERE seq = {at}"
            ));
        }
    }
    assert_eq!(check(&place), sound(u64::from(RECORDS)), "whole again");
    assert_eq!(tried, 5 * 14 + 2 * 10);
}

#[test]
fn records_are_given_whole_and_as_they_are_asked_for() {
    let place = filled(3);
    let store = place.open();
    store.append(&[entry("other", 9)]).unwrap();
    let all = |filter: &RecordFilter| {
        let mut out = Vec::new();
        let mut each = |record: &selfheal_store::LedgerRecord| {
            out.push((record.seq, record.kind.clone(), record.hash.len()));
            true
        };
        store.ledger_records(filter, &mut each).unwrap();
        out
    };
    assert_eq!(all(&RecordFilter::default()).len(), 4);
    let newest = RecordFilter { newest: Some(2), ..RecordFilter::default() };
    assert_eq!(all(&newest), [(3, "kept".to_owned(), 64), (4, "other".to_owned(), 64)]);
    let of_one = RecordFilter { incident: Some(id(2)), ..RecordFilter::default() };
    assert_eq!(all(&of_one).len(), 1);
    let since = RecordFilter { since: Some(Timestamp(1_003)), ..RecordFilter::default() };
    assert_eq!(all(&since).len(), 2);
}

fn anew() -> Anew {
    Anew { at: Timestamp(77), reason: redacted("the disk was lost"), uid: 7 }
}

#[test]
fn a_ledger_that_lost_its_head_is_begun_anew_and_says_so() {
    let place = filled(3);
    let whole = place.open().begin_ledger_anew(&anew()).unwrap_err();
    assert_eq!(whole.to_string(), "begin the ledger anew: it is whole");
    fs::remove_file(place.root().join("ledger.head")).unwrap();
    let store = place.open();
    let aside = store.begin_ledger_anew(&anew()).unwrap();
    let kept = fs::read_to_string(&aside).unwrap();
    assert_eq!(kept.lines().count(), 3 + 3, "{kept}");
    store.append(&[entry("kept", 4)]).unwrap();
    let shown = store.verify().unwrap();
    assert_eq!((shown.records, &shown.broken), (2, &None));
    assert!(shown.notes[0].contains("the disk was lost"), "{shown:?}");
    assert!(shown.notes[0].contains("the anchor (ledger.head) is missing"), "{shown:?}");
    // What says so cannot be taken away either.
    place.sql().execute_batch("DELETE FROM ledger WHERE seq = 1").unwrap();
    assert_eq!(check(&place).broken.unwrap().0, 1);
}

#[test]
fn heads_that_were_sent_elsewhere_show_what_the_files_here_cannot() {
    let place = Place::new();
    let log = place.folder.path().join("log");
    let socket = std::os::unix::net::UnixDatagram::bind(&log).unwrap();
    let store = place.open().with_anchors(vec![Anchor::Socket(log.clone())]);
    let mut lines = Vec::new();
    for number in 1..=3 {
        store.append(&[entry("kept", number)]).unwrap();
        let mut buffer = [0; 512];
        let length = socket.recv(&mut buffer).unwrap();
        let line = String::from_utf8_lossy(&buffer[..length]).into_owned();
        assert!(line.starts_with("<85>selfheal["), "{line}");
        lines.push(format!("Nov 30 18:00:00 host {}", &line[4..]));
    }
    let compare =
        |store: &selfheal_store::Store| store.compare_heads(lines.iter().map(String::as_str)).unwrap();
    assert_eq!((compare(&store).agree, compare(&store).differs), (3, None));
    store.send_head().unwrap();
    // Somebody with all rights cuts the record off, and makes rows and files anew.
    drop(store);
    for name in ["ledger.head", "ledger.key"] {
        fs::remove_file(place.root().join(name)).unwrap();
    }
    place.sql().execute_batch("DELETE FROM ledger WHERE seq > 1").unwrap();
    let first: String = place.sql().query_row("SELECT hash FROM ledger", [], |row| row.get(0)).unwrap();
    fs::write(place.root().join("ledger.head"), format!("v1 1 {first}\n")).unwrap();
    let store = place.open();
    assert_eq!(store.verify().unwrap().broken, None, "nothing here shows it");
    assert_eq!(compare(&store).differs, Some(2), "the log elsewhere does");
    // Nobody listens any more: what is recorded is recorded.
    drop(socket);
    fs::remove_file(&log).unwrap();
    let store = store.with_anchors(vec![Anchor::Socket(log)]);
    store.append(&[entry("kept", 9)]).unwrap();
    assert!(store.send_head().is_err());
}
