//! kill -9 at any moment: the store stays whole, and what was said to be stored is.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use selfheal_core::incident::StoredChange;
use selfheal_core::ports::{Journal, Ledger, Snapshots, Standing};

use crate::helpers::{self, Place, entry, id, incident};

/// How often a child is killed. After each kill the store must be whole.
const KILLS: u32 = 25;

fn child(test: &str, root: &Path, start: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("STORE_ROOT", root)
        .env("STORE_START", start.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets a child work until it said `lines` numbers and a moment longer, kills it, and returns the last number that it
/// said. The moments differ, so that the kills are spread over all that the child does.
fn kill_after(mut child: Child, lines: u32, moment: Duration) -> u32 {
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = 0;
    let mut seen = 0;
    let mut note = |line: String| {
        if let Some(number) = line.strip_prefix("stored ").and_then(|word| word.parse().ok()) {
            last = number;
            seen += 1;
        }
        seen >= lines
    };
    while let Some(Ok(line)) = said.next() {
        if note(line) {
            break;
        }
    }
    std::thread::sleep(moment);
    child.kill().unwrap();
    // What it said before it died counts too.
    while let Some(Ok(line)) = said.next() {
        note(line);
    }
    child.wait().unwrap();
    last
}

fn start() -> (PathBuf, u32) {
    let root = PathBuf::from(std::env::var_os("STORE_ROOT").unwrap());
    (root, std::env::var("STORE_START").unwrap().parse().unwrap())
}

#[test]
fn killed_while_storing_it_keeps_what_it_said_it_stored() {
    let place = Place::new();
    let mut last = 0;
    for kill in 0..KILLS {
        last = kill_after(
            child("crash::child_stores", &place.root(), last + 1),
            1 + kill % 4,
            Duration::from_micros(u64::from(kill) * 311),
        );
        let store = place.open();
        let whole: String = place.sql().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(whole, "ok");
        let check = store.verify().unwrap();
        assert_eq!(check.broken, None, "after kill {kill}");
        // It may have stored one more than it could say.
        let stored = store.incident_count().unwrap();
        assert!(u64::from(last) <= stored && stored <= u64::from(last) + 1, "{last} said, {stored} stored");
        assert_eq!(check.records, 2 * stored, "an incident and its records come together");
        last = u32::try_from(stored).unwrap();
        assert_eq!(store.incident(id(last).as_str()).unwrap(), incident(last));
    }
}

#[test]
#[ignore = "runs in a process of its own"]
fn child_stores() {
    let (root, start) = start();
    let store = helpers::open(&root);
    for number in start.. {
        store.store(&incident(number), &[entry("opened", number), entry("held", number)]).unwrap();
        println!("stored {number}");
    }
}

/// The two contents between which the child changes a file, on and on. They are large, so that a kill hits the writing.
fn contents() -> [String; 2] {
    let old = "first\nsecond\nthird\n".repeat(20_000);
    [old.clone(), format!("# a repair that moves everything\n{old}")]
}

fn change(store: &selfheal_store::Store, path: &Path) -> StoredChange {
    let [before, after] = contents().map(|content| Some(store.save(content.as_bytes()).unwrap()));
    StoredChange { path: path.to_owned(), before, after, mode_before: None, mode_after: None, new_folders: 0 }
}

fn changed_and_killed(names: u32) {
    let place = Place::new();
    let folder = place.folder.path().join("jobs");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("job.sh");
    let [old, new] = contents();
    fs::write(&path, &old).unwrap();
    if names == 2 {
        fs::hard_link(&path, folder.join("other.sh")).unwrap();
    }
    let store = place.open();
    store.take(&id(1), &path).unwrap();
    let change = change(&store, &path);
    for kill in 0..KILLS {
        kill_after(
            child("crash::child_changes", &place.root(), 1),
            1 + kill % 5,
            Duration::from_micros(u64::from(kill) * 1_009),
        );
        let standing = store.state_of(&change).unwrap();
        assert_ne!(standing, Standing::Other, "after kill {kill}");
        if kill % 2 == 0 {
            store.put_back(&id(1), &change).unwrap();
            assert!(fs::read_to_string(&path).unwrap() == old, "after kill {kill}");
        } else {
            store.apply(&id(1), &change).unwrap();
            assert!(fs::read_to_string(&path).unwrap() == new, "after kill {kill}");
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), names as usize, "nothing temporary stays");
    }
}

#[test]
fn killed_while_exchanging_a_file_it_leaves_old_or_new() {
    changed_and_killed(1);
}

#[test]
fn killed_while_rewriting_a_file_with_two_names_it_can_be_finished() {
    changed_and_killed(2);
}

#[test]
#[ignore = "runs in a process of its own"]
fn child_changes() {
    let (root, mut number) = start();
    let store = helpers::open(&root);
    let path = root.parent().unwrap().join("jobs/job.sh");
    let change = change(&store, &path);
    loop {
        store.apply(&id(1), &change).unwrap();
        println!("stored {number}");
        store.put_back(&id(1), &change).unwrap();
        println!("stored {}", number + 1);
        number += 2;
    }
}
