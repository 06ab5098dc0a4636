//! Remembered repairs.

use std::path::{Path, PathBuf};

use selfheal_core::ids::Signature;
use selfheal_core::ports::{Memory, Remembered, Trouble};

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
    let recalled = place.open().recall(&signature, Path::new("/srv/job.sh")).unwrap();
    assert_eq!(recalled, [repair("best", 5, 1), repair("fair", 3, 2)]);
    assert_eq!(store.recall(&signature, Path::new("/srv/other.sh")).unwrap(), []);
    assert_eq!(store.recall(&Signature::new("other"), Path::new("/srv/job.sh")).unwrap(), []);
}

#[test]
fn wins_and_losses_are_counted() {
    let place = Place::new();
    let store = place.open();
    store.remember(&repair("one", 1, 0)).unwrap();
    store.count("one", true).unwrap();
    store.count("one", false).unwrap();
    let recall = || store.recall(&Signature::new("no-such-path"), Path::new("/srv/job.sh")).unwrap();
    assert_eq!(recall(), [repair("one", 2, 1)]);
    store.count("one", false).unwrap();
    assert_eq!(recall(), []);
    assert_eq!(store.count("none", true).unwrap_err().trouble, Trouble::Missing);
}

#[test]
fn a_script_whose_name_is_not_text_is_remembered() {
    use std::os::unix::ffi::OsStringExt;
    let place = Place::new();
    let script = PathBuf::from(std::ffi::OsString::from_vec(b"/srv/\xff.sh".to_vec()));
    let one = Remembered { script: script.clone(), ..repair("odd", 1, 0) };
    place.open().remember(&one).unwrap();
    assert_eq!(place.open().recall(&Signature::new("no-such-path"), &script).unwrap(), [one]);
}
