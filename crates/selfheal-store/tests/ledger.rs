//! The ledger: every way of tampering is named, and no crash looks like one.

use std::fs;

use selfheal_core::ports::{Journal, Ledger, LedgerCheck, Trouble};

use crate::helpers::{Place, entry, id, incident};

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
