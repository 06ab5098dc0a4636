//! Remembered repairs.

use std::path::{Path, PathBuf};

use selfheal_core::ids::{IncidentId, Signature, Timestamp};
use selfheal_core::ports::{Conditions, Count, Memory, Priors, Remembered, Tally, TallyKey, Trouble};

use crate::helpers::Place;

fn repair(entry: &str, wins: u32, losses: u32) -> Remembered {
    Remembered {
        entry: entry.to_owned(),
        signature: Signature::new("no-such-path"),
        script: PathBuf::from("/srv/job.sh"),
        edits: vec![("cp a b".to_owned(), "mkdir -p b\ncp a b".to_owned())],
        summary: "make the folder".to_owned(),
        wins,
        losses,
        conditions: Conditions { language: "bash".to_owned(), ..Conditions::default() },
    }
}

#[test]
fn the_best_comes_first_and_what_lost_as_often_does_not_come() {
    let place = Place::new();
    let store = place.open();
    for one in [repair("fair", 3, 2), repair("best", 5, 1), repair("even", 2, 2), repair("new", 0, 0)] {
        store.remember(&one).unwrap();
    }
    let signature = Signature::new("no-such-path");
    let recalled = place.open().recall(&signature, Path::new("/srv/job.sh"), "bash").unwrap();
    assert_eq!(recalled, [repair("best", 5, 1), repair("fair", 3, 2)]);
    assert_eq!(store.recall(&signature, Path::new("/srv/other.sh"), "python").unwrap(), []);
    assert_eq!(store.recall(&Signature::new("other"), Path::new("/srv/job.sh"), "bash").unwrap(), []);
}

#[test]
fn wins_and_losses_are_counted() {
    let place = Place::new();
    let store = place.open();
    store.remember(&repair("one", 1, 0)).unwrap();
    store.count("one", Count::Win).unwrap();
    store.count("one", Count::Loss).unwrap();
    let recall = || store.recall(&Signature::new("no-such-path"), Path::new("/srv/job.sh"), "bash").unwrap();
    assert_eq!(recall(), [repair("one", 2, 1)]);
    store.count("one", Count::Loss).unwrap();
    assert_eq!(recall(), []);
    assert_eq!(store.count("none", Count::Win).unwrap_err().trouble, Trouble::Missing);
}

#[test]
fn a_script_whose_name_is_not_text_is_remembered() {
    use std::os::unix::ffi::OsStringExt;
    let place = Place::new();
    let script = PathBuf::from(std::ffi::OsString::from_vec(b"/srv/\xff.sh".to_vec()));
    let one = Remembered { script: script.clone(), ..repair("odd", 1, 0) };
    place.open().remember(&one).unwrap();
    assert_eq!(place.open().recall(&Signature::new("no-such-path"), &script, "bash").unwrap(), [one]);
}

#[test]
fn a_repair_of_another_script_comes_after_the_scripts_own() {
    let place = Place::new();
    let store = place.open();
    let other = Remembered { script: PathBuf::from("/srv/other.sh"), ..repair("other", 9, 0) };
    store.remember(&other).unwrap();
    store.remember(&repair("own", 1, 0)).unwrap();
    let recall = |language: &str| {
        let found =
            store.recall(&Signature::new("no-such-path"), Path::new("/srv/job.sh"), language).unwrap();
        found.into_iter().map(|one| one.entry).collect::<Vec<_>>()
    };
    assert_eq!(recall("bash"), ["own", "other"]);
    assert_eq!(recall("python"), ["own"]);
}

#[test]
fn what_was_taken_back_expired_or_is_forgotten_is_not_recalled() {
    let place = Place::new();
    let store = place.open();
    let incident = IncidentId::new("0198c0de");
    let conditions =
        Conditions { incident: Some(incident.clone()), learnt: Timestamp(7), ..Conditions::default() };
    store.remember(&Remembered { conditions, ..repair("taken-back", 1, 0) }).unwrap();
    store.remember(&repair("old", 1, 0)).unwrap();
    assert!(store.count_taught(&incident, Count::Loss).unwrap());
    store.count_taught(&incident, Count::LossUndone).unwrap();
    assert_eq!(
        store.recall(&Signature::new("no-such-path"), Path::new("/srv/job.sh"), "bash").unwrap().len(),
        2
    );
    store.count_taught(&incident, Count::LossUndone).unwrap();
    store.count_taught(&incident, Count::Loss).unwrap();
    assert!(!store.count_taught(&IncidentId::new("other"), Count::Loss).unwrap());
    store.expire("old", "the tool changed").unwrap();
    assert_eq!(store.recall(&Signature::new("no-such-path"), Path::new("/srv/job.sh"), "bash").unwrap(), []);
    let all = store.memories().unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].conditions.expired.as_deref(), Some("the tool changed"));
    assert_eq!((all[1].losses, all[1].conditions.learnt), (1, Timestamp(7)));
    store.forget("old").unwrap();
    assert_eq!(store.forget("old").unwrap_err().trouble, Trouble::Missing);
    assert_eq!(store.memories().unwrap().len(), 1);
}

#[test]
fn what_was_right_is_counted_per_class_and_tool() {
    let place = Place::new();
    let store = place.open();
    let word = |text: &str| text.to_owned();
    let key =
        TallyKey { class: word("logic"), tool: word("cp"), kind: word("rule"), name: word("missing_folder") };
    store.tally(&key, Count::Win).unwrap();
    store.tally(&key, Count::Win).unwrap();
    store.tally(&key, Count::Loss).unwrap();
    assert_eq!(place.open().tallies().unwrap(), [Tally { key: key.clone(), won: 2, lost: 1 }]);
    for lost in [0, 0] {
        store.tally(&key, Count::LossUndone).unwrap();
        assert_eq!(store.tallies().unwrap(), [Tally { key: key.clone(), won: 2, lost }]);
    }
    let fresh = TallyKey { name: word("other"), ..key };
    store.tally(&fresh, Count::LossUndone).unwrap();
    assert!(store.tallies().unwrap().contains(&Tally { key: fresh, won: 0, lost: 0 }));
}
