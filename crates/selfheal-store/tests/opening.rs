//! Opening: new, old, newer, damaged, full, read-only and hostile places.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use rusqlite::Connection;
use selfheal_core::ids::{Signature, Timestamp};
use selfheal_core::incident::StoredChange;
use selfheal_core::ports::{Journal, Ledger, Memory, Outbox, PortError, Snapshots, Trouble};
use selfheal_store::{Store, StoreOptions};

use crate::helpers::{self, Place, entry, id, incident, job, run};

fn refused(root: &Path) -> PortError {
    Store::open(root, StoreOptions::default()).unwrap_err()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn everything_is_private() {
    let place = Place::new();
    let store = place.open();
    store.store(&incident(1), &[entry("opened", 1)]).unwrap();
    let hash = store.save(b"content").unwrap();
    assert_eq!(mode(&place.root()), 0o700);
    let mut seen = 0;
    for name in fs::read_dir(place.root()).unwrap() {
        let path = name.unwrap().path();
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), wanted, "{}", path.display());
        seen += 1;
    }
    // Database, its log and index, lock, three files of the ledger, objects.
    assert_eq!(seen, 8);
    assert_eq!(mode(&place.root().join("objects").join(&hash.as_str()[..2])), 0o700);
    fs::set_permissions(place.root(), fs::Permissions::from_mode(0o755)).unwrap();
    place.open();
    assert_eq!(mode(&place.root()), 0o700, "an open folder is closed again");
}

#[test]
fn a_newer_store_is_left_alone() {
    let place = Place::new();
    drop(place.open());
    place.sql().execute_batch("PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let before = fs::read(place.database()).unwrap();
    let error = refused(&place.root());
    assert_eq!(error.trouble, Trouble::Newer);
    assert_eq!(error.to_string(), "use a store of version 999; this selfheal knows versions up to 5");
    assert_eq!(fs::read(place.database()).unwrap(), before);
}

#[test]
fn a_damaged_store_is_told_from_others() {
    let place = Place::new();
    fs::create_dir(place.root()).unwrap();
    fs::write(place.database(), "this is not a database, but it is long enough to have a header".repeat(20))
        .unwrap();
    assert_eq!(refused(&place.root()).trouble, Trouble::Corrupt);
    let place = Place::new();
    drop(place.open());
    place.sql().execute_batch("PRAGMA user_version = -3").unwrap();
    assert_eq!(refused(&place.root()).trouble, Trouble::Corrupt);
}

#[test]
fn damage_behind_the_header_shows_when_it_is_met() {
    let place = Place::new();
    let store = place.open();
    for number in 1..200 {
        store.store(&incident(number), &[]).unwrap();
    }
    drop(store);
    place.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let mut bytes = fs::read(place.database()).unwrap();
    bytes.iter_mut().skip(4096).for_each(|byte| *byte = 0xa5);
    fs::write(place.database(), bytes).unwrap();
    let store = place.open();
    let error = store.incidents(&selfheal_core::ports::IncidentFilter::default()).unwrap_err();
    assert_eq!(error.trouble, Trouble::Corrupt, "{error:?}");
    assert_eq!(store.record_run(&run(1)).unwrap_err().trouble, Trouble::Corrupt);
    assert_eq!(store.store(&incident(1), &[entry("x", 1)]).unwrap_err().trouble, Trouble::Corrupt);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let place = Place::new();
    fs::create_dir(place.root()).unwrap();
    let theirs = Connection::open(place.database()).unwrap();
    theirs.execute_batch("CREATE TABLE run (their TEXT)").unwrap();
    assert_eq!(refused(&place.root()).trouble, Trouble::Corrupt);
    theirs.execute("INSERT INTO run VALUES ('still theirs')", []).unwrap();
}

#[test]
fn a_place_where_nothing_can_be_written_is_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(refused(&file).trouble, Trouble::NoRoom);
    assert_eq!(refused(&file.join("state")).trouble, Trouble::NoRoom);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    assert_eq!(refused(&link).trouble, Trouble::NoRoom);
    let state = folder.path().join("state");
    fs::create_dir_all(state.join("journal.db")).unwrap();
    assert_eq!(refused(&state).trouble, Trouble::NoRoom);
}

#[test]
fn a_read_only_folder_is_no_room() {
    if rustix::process::geteuid().is_root() {
        // Permission bits do not hold root back: the test with the full disk covers it.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(refused(&folder.path().join("state")).trouble, Trouble::NoRoom);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_folder_of_another_user_is_not_used() {
    if !rustix::process::geteuid().is_root() {
        // Only root can make one.
        assert_eq!(refused(Path::new("/proc")).trouble, Trouble::Other);
        return;
    }
    let place = Place::new();
    fs::create_dir(place.root()).unwrap();
    std::os::unix::fs::chown(place.root(), Some(4711), None).unwrap();
    let error = refused(&place.root());
    assert_eq!(error.trouble, Trouble::Other);
    assert!(error.to_string().contains("belongs to user 4711"), "{error}");
}

#[test]
fn a_lock_is_waited_for_and_then_told() {
    let place = Place::new();
    let store = Store::open(&place.root(), StoreOptions { patience_ms: 20 }).unwrap();
    let ours = fs::File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(place.root().join("write.lock"))
        .unwrap();
    ours.lock().unwrap();
    assert_eq!(store.record_run(&run(1)).unwrap_err().trouble, Trouble::Locked);
    assert_eq!(store.append(&[entry("x", 1)]).unwrap_err().trouble, Trouble::Locked);
    drop(ours);
    // Somebody at work with sqlite3.
    let theirs = place.sql();
    theirs.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(store.record_run(&run(1)).unwrap_err().trouble, Trouble::Locked);
    theirs.execute_batch("COMMIT").unwrap();
    store.record_run(&run(1)).unwrap();
}

/// A database that an older version wrote, with the ledger's files that belong to it.
struct Old {
    version: u32,
    database: &'static [u8],
    files: [(&'static str, &'static str); 3],
}

mod store_1 {
    include!("fixtures/store-1.rs");
}
mod store_2 {
    include!("fixtures/store-2.rs");
}
mod store_3 {
    include!("fixtures/store-3.rs");
}

mod store_4 {
    include!("fixtures/store-4.rs");
}
mod store_5 {
    include!("fixtures/store-5.rs");
}

/// The present version.
const VERSION: u32 = 5;

/// Every version there ever was, each written by the selfheal of its time.
const OLD: [Old; 5] = [
    Old { version: 1, database: include_bytes!("fixtures/store-1.db"), files: store_1::FIXTURE_FILES },
    Old { version: 2, database: include_bytes!("fixtures/store-2.db"), files: store_2::FIXTURE_FILES },
    Old { version: 3, database: include_bytes!("fixtures/store-3.db"), files: store_3::FIXTURE_FILES },
    Old { version: 4, database: include_bytes!("fixtures/store-4.db"), files: store_4::FIXTURE_FILES },
    Old { version: 5, database: include_bytes!("fixtures/store-5.db"), files: store_5::FIXTURE_FILES },
];

/// A new version cannot be forgotten here.
#[test]
fn there_is_a_fixture_of_every_version() {
    let place = Place::new();
    drop(place.open());
    let version: u32 = place.sql().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, VERSION);
    assert_eq!(OLD.map(|old| old.version).to_vec(), (1..=version).collect::<Vec<_>>());
}

#[test]
fn an_old_database_is_opened_with_all_that_it_holds() {
    for old in &OLD {
        let place = Place::new();
        fs::create_dir(place.root()).unwrap();
        fs::write(place.database(), old.database).unwrap();
        let version =
            || -> u32 { place.sql().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap() };
        assert_eq!(version(), old.version);
        for (name, line) in old.files {
            fs::write(place.root().join(name), line).unwrap();
        }
        let store = place.open();
        assert_eq!(store.incident(id(1).as_str()).unwrap(), incident(1));
        assert_eq!(store.runs(&job(), 9).unwrap(), [run(2), run(1)]);
        assert_eq!(store.allowed(&job()).unwrap(), Some(selfheal_store::Level::Low));
        assert_eq!(store.entries(&id(1), 9).unwrap(), [entry("opened", 1), entry("held", 1)]);
        assert_eq!(store.verify().unwrap().broken, None);
        assert_eq!(store.recall(&Signature::new("s"), Path::new("/srv/job.sh"), "").unwrap().len(), 1);
        assert_eq!(store.hand_out(&["mail"], Timestamp(10)).unwrap(), 1);
        assert_eq!(store.due("mail", Timestamp(10), 9).unwrap().len(), 1);
        store.store(&incident(2), &[entry("opened", 2)]).unwrap();
        assert_eq!(store.verify().unwrap().broken, None);
        assert_eq!(version(), VERSION);
    }
}

/// What older versions did not know of an incident is found in its body.
#[test]
fn an_upgrade_finds_who_works_on_an_incident_and_what_it_needs() {
    let place = Place::new();
    fs::create_dir(place.root()).unwrap();
    fs::write(place.database(), OLD[1].database).unwrap();
    let owned = r#"{"owner":{"pid":1},"rounds":[{"files":[{"path":"/a","before":"aa","after":null}]}]}"#;
    place.sql().execute("UPDATE incident SET body = ?1", [owned]).unwrap();
    drop(place.open());
    let db = place.sql();
    let found: (bool, String) = db
        .query_row("SELECT owned, hash FROM incident JOIN content ON content.incident = id", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(found, (true, "aa".to_owned()));
}

/// Writes the fixture of the present version; run by hand once per version, see docs/store.md.
#[test]
#[ignore = "writes a fixture"]
fn write_the_fixture() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::create_dir_all(&folder).unwrap();
    let place = Place::new();
    let store = place.open();
    store.store(&incident(1), &[entry("opened", 1), entry("held", 1)]).unwrap();
    store.record_run(&run(1)).unwrap();
    store.record_run(&run(2)).unwrap();
    store.allow(&job(), selfheal_store::Level::Low).unwrap();
    store
        .remember(&selfheal_core::ports::Remembered {
            entry: "e".to_owned(),
            signature: Signature::new("s"),
            script: "/srv/job.sh".into(),
            edits: vec![("a".to_owned(), "b".to_owned())],
            summary: "b for a".to_owned(),
            wins: 1,
            losses: 0,
            conditions: selfheal_core::ports::Conditions::default(),
        })
        .unwrap();
    store
        .put(&selfheal_core::ports::Message {
            at: Timestamp(1),
            subject: helpers::redacted("subject"),
            text: helpers::redacted("text"),
            html: None,
            incident: Some(id(1)),
        })
        .unwrap();
    drop(store);
    place.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE; VACUUM; PRAGMA journal_mode = WAL").unwrap();
    let version: u32 = place.sql().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    fs::copy(place.database(), folder.join(format!("store-{version}.db"))).unwrap();
    let lines: String = ["ledger.seal", "ledger.key", "ledger.head"]
        .iter()
        .map(|name| format!("    ({name:?}, {:?}),\n", fs::read_to_string(place.root().join(name)).unwrap()))
        .collect();
    let text = format!(
        "/// The ledger's files that belong to the old database.\npub const FIXTURE_FILES: [(&str, &str); 3] = [\n{lines}];\n"
    );
    fs::write(folder.join(format!("store-{version}.rs")), text).unwrap();
}

#[test]
fn every_table_and_column_is_documented() {
    let page = include_str!("../../../docs/store.md");
    let place = Place::new();
    drop(place.open());
    let db = place.sql();
    let mut tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let names: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(names.len() > 5, "{names:?}");
    for table in names {
        let (_, from) = page.split_once(&format!("### `{table}`")).expect(&table);
        let section = from.split("### ").next().unwrap();
        let mut columns = db.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
        for column in columns.query_map([&table], |row| row.get::<_, String>(0)).unwrap() {
            let column = column.unwrap();
            assert!(section.contains(&format!("`{column}`")), "{table}.{column}");
        }
    }
}

/// Runs a test of this binary in another process, behind some words of a shell.
fn rerun(test: &str, root: &Path, before: &str) -> Output {
    Command::new("sh")
        .args(["-c", &format!(r#"{before}; exec "$0" --exact {test} --ignored --nocapture"#)])
        .arg(std::env::current_exe().unwrap())
        .env("STORE_ROOT", root)
        .output()
        .unwrap()
}

#[test]
fn a_full_disk_is_no_room_and_loses_nothing() {
    let place = Place::new();
    fs::create_dir(place.root()).unwrap();
    // A small disk of its own where mounting is allowed, else a limit for files.
    let mount = r#"mount -t tmpfs -o size=1m,mode=0700 tmpfs "$STORE_ROOT""#;
    let test = "opening::child_fills_the_disk";
    let unshared = Command::new("unshare")
        .args(["-rm", "sh", "-c"])
        .arg(format!(r#"{mount} || exit 77; exec "$0" --exact {test} --ignored --nocapture"#))
        .arg(std::env::current_exe().unwrap())
        .env("STORE_ROOT", place.root())
        .output();
    let output = match unshared {
        Ok(output) if output.status.code() != Some(77) && !output.stdout.is_empty() => output,
        _ => rerun(test, &place.root(), "trap '' XFSZ; ulimit -f 1024"),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("filled"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "runs in a process of its own"]
fn child_fills_the_disk() {
    let root = std::path::PathBuf::from(std::env::var_os("STORE_ROOT").unwrap());
    let store = Store::open(&root, StoreOptions::default()).unwrap();
    let mut large = incident(1);
    large.report = Some(helpers::redacted(&"report ".repeat(10_000)));
    let mut stored = 0;
    let error = loop {
        large.id = id(stored + 1);
        match store.store(&large, &[entry("opened", stored + 1)]) {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 1_000, "the disk has no limit");
    };
    assert_eq!(error.trouble, Trouble::NoRoom, "{error:?}");
    // Whatever room is left is used up too.
    for power in (0..21).rev() {
        let _ = store.save(&vec![power; 1 << power]);
    }
    for _ in 0..2_000 {
        if store.record_run(&run(1)).is_err() {
            break;
        }
    }
    let change = StoredChange {
        path: root.join("objects"),
        before: None,
        after: None,
        mode_before: None,
        mode_after: None,
        new_folders: 0,
    };
    assert!(store.apply(&id(1), &change).is_err());
    drop(store);
    let again = Store::open(&root, StoreOptions::default());
    let check = match again {
        // Not even the index of the log has room.
        Err(error) => {
            assert_eq!(error.trouble, Trouble::NoRoom, "{error:?}");
            println!("filled");
            return;
        }
        Ok(store) => {
            assert_eq!(store.incident_count().unwrap(), u64::from(stored));
            store.verify().unwrap()
        }
    };
    assert_eq!((check.broken, check.records), (None, u64::from(stored)));
    println!("filled");
}
