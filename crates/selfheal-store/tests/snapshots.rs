//! Files are changed and put back to the byte.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::XattrFlags;
use selfheal_core::incident::StoredChange;
use selfheal_core::ports::{Snapshots, Standing, Trouble};
use selfheal_store::Store;

use crate::helpers::{Place, id};

/// All that can be seen of a file, but the inode and its own time of change.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    content: Vec<u8>,
    mode: u32,
    owner: (u32, u32),
    changed: (i64, i64),
    names: u64,
    note: Option<Vec<u8>>,
}

fn seen(path: &Path) -> Seen {
    let meta = fs::symlink_metadata(path).unwrap();
    let mut value = [0; 64];
    let note =
        rustix::fs::lgetxattr(path, "user.note", &mut value).ok().map(|length| value[..length].to_vec());
    Seen {
        content: fs::read(path).unwrap(),
        mode: meta.mode(),
        owner: (meta.uid(), meta.gid()),
        changed: (meta.mtime(), meta.mtime_nsec()),
        names: meta.nlink(),
        note,
    }
}

/// A file with an odd mode, an old time and, where the file system has them, an attribute.
fn script(folder: &Path) -> PathBuf {
    let path = folder.join("job.sh");
    fs::write(&path, "cp a b\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o2750)).unwrap();
    let _ = rustix::fs::lsetxattr(&path, "user.note", b"kept \x00\xff", XattrFlags::empty());
    let old = SystemTime::UNIX_EPOCH + Duration::new(1_234_567_890, 123_456_789);
    fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    path
}

/// The change that writes `after`, its contents saved.
fn change(store: &Store, path: &Path, after: Option<&str>) -> StoredChange {
    let before = fs::read(path).ok();
    StoredChange {
        path: path.to_owned(),
        before: before.map(|content| store.save(&content).unwrap()),
        after: after.map(|content| store.save(content.as_bytes()).unwrap()),
        mode_before: None,
        mode_after: None,
        new_folders: 0,
    }
}

/// The names in a folder: nothing temporary stays.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_changed_file_keeps_all_but_its_content_and_comes_back_to_the_byte() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path());
    let before = seen(&path);
    let change = change(&store, &path, Some("mkdir -p b\ncp a b\n"));
    store.take(&id(1), &path).unwrap();
    assert_eq!(store.state_of(&change).unwrap(), Standing::Before);
    store.apply(&id(1), &change).unwrap();
    let after = seen(&path);
    assert_eq!(after.content, b"mkdir -p b\ncp a b\n");
    assert_eq!((after.mode, after.owner, &after.note), (before.mode, before.owner, &before.note));
    assert_ne!(after.changed, before.changed);
    assert_eq!(store.state_of(&change).unwrap(), Standing::After);
    store.apply(&id(1), &change).unwrap();
    // A second taking, as after a crash, does not spoil the first.
    store.take(&id(1), &path).unwrap();
    place.open().put_back(&id(1), &change).unwrap();
    assert_eq!(seen(&path), before);
    assert_eq!(store.state_of(&change).unwrap(), Standing::Before);
    store.put_back(&id(1), &change).unwrap();
    assert_eq!(seen(&path), before);
    assert_eq!(names(folder.path()), ["job.sh"]);
}

#[test]
fn what_somebody_else_changed_is_left_alone() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path());
    let change = change(&store, &path, Some("new\n"));
    store.take(&id(1), &path).unwrap();
    fs::write(&path, "edited before\n").unwrap();
    assert_eq!(store.apply(&id(1), &change).unwrap_err().trouble, Trouble::Changed);
    assert_eq!(fs::read_to_string(&path).unwrap(), "edited before\n");
    fs::write(&path, "cp a b\n").unwrap();
    store.apply(&id(1), &change).unwrap();
    fs::write(&path, "edited after\n").unwrap();
    let before = seen(&path);
    assert_eq!(store.state_of(&change).unwrap(), Standing::Other);
    assert_eq!(store.put_back(&id(1), &change).unwrap_err().trouble, Trouble::Changed);
    assert_eq!(seen(&path), before);
    fs::write(&path, "new\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(store.put_back(&id(1), &change).unwrap_err().trouble, Trouble::Changed);
    assert_eq!(names(folder.path()), ["job.sh"]);
}

#[test]
fn nothing_is_changed_that_was_not_taken() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path());
    let change = change(&store, &path, Some("new\n"));
    assert_eq!(store.apply(&id(1), &change).unwrap_err().trouble, Trouble::Missing);
    store.take(&id(2), &path).unwrap();
    assert_eq!(store.apply(&id(1), &change).unwrap_err().trouble, Trouble::Missing);
    assert_eq!(fs::read_to_string(&path).unwrap(), "cp a b\n");
}

#[test]
fn a_file_that_did_not_exist_is_made_and_removed_again() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.conf");
    let change = StoredChange { mode_after: Some(0o640), ..change(&store, &path, Some("a=1\n")) };
    store.take(&id(1), &path).unwrap();
    store.apply(&id(1), &change).unwrap();
    store.apply(&id(1), &change).unwrap();
    assert_eq!((seen(&path).mode & 0o7777, seen(&path).content), (0o640, b"a=1\n".to_vec()));
    store.put_back(&id(1), &change).unwrap();
    store.put_back(&id(1), &change).unwrap();
    assert_eq!(names(folder.path()), Vec::<String>::new());
    fs::write(&path, "somebody's\n").unwrap();
    assert_eq!(store.apply(&id(1), &change).unwrap_err().trouble, Trouble::Changed);
    assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's\n");
}

#[test]
fn a_removed_file_comes_back_to_the_byte() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path());
    let before = seen(&path);
    let change = change(&store, &path, None);
    store.take(&id(1), &path).unwrap();
    store.apply(&id(1), &change).unwrap();
    assert_eq!(names(folder.path()), Vec::<String>::new());
    assert_eq!(store.state_of(&change).unwrap(), Standing::After);
    store.put_back(&id(1), &change).unwrap();
    assert_eq!(seen(&path), before);
}

#[test]
fn only_permission_bits_can_change() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let before = seen(&path);
    let same = fs::read_to_string(&path).unwrap();
    let change = StoredChange {
        mode_before: Some(0o644),
        mode_after: Some(0o755),
        ..change(&store, &path, Some(&same))
    };
    store.take(&id(1), &path).unwrap();
    assert_eq!(store.state_of(&change).unwrap(), Standing::Before);
    store.apply(&id(1), &change).unwrap();
    assert_eq!(store.state_of(&change).unwrap(), Standing::After);
    store.take(&id(1), &path).unwrap();
    assert_eq!(seen(&path), Seen { mode: before.mode | 0o111, ..seen(&path) });
    assert_eq!(seen(&path).mode & 0o777, 0o755);
    store.put_back(&id(1), &change).unwrap();
    assert_eq!(seen(&path), before);
}

#[test]
fn a_file_with_several_names_keeps_them() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path());
    let other = folder.path().join("other.sh");
    fs::hard_link(&path, &other).unwrap();
    let before = seen(&path);
    let inode = fs::metadata(&path).unwrap().ino();
    for text in ["longer than it was before\n", "short\n", ""] {
        let change = change(&store, &path, Some(text));
        store.take(&id(1), &path).unwrap();
        store.apply(&id(1), &change).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), text);
        assert_eq!(seen(&path).mode, before.mode);
        store.put_back(&id(1), &change).unwrap();
        assert_eq!((seen(&path), seen(&other)), (seen(&other), Seen { names: 2, ..seen(&path) }));
        assert_eq!(seen(&path), before);
        assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
    }
}

#[test]
fn a_half_rewritten_file_is_finished_in_either_direction() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path());
    fs::hard_link(&path, folder.path().join("other.sh")).unwrap();
    let before = seen(&path);
    let change = change(&store, &path, Some("QQQQQQQQQQ\n"));
    store.take(&id(1), &path).unwrap();
    let (old, new) = (change.before.as_ref().unwrap(), change.after.as_ref().unwrap());
    fs::write(&path, "QQQa b\n").unwrap();
    assert_eq!(store.state_of(&change).unwrap(), Standing::Other, "nothing was noted");
    assert_eq!(store.apply(&id(1), &change).unwrap_err().trouble, Trouble::Changed);
    place
        .sql()
        .execute(
            "INSERT INTO in_place VALUES (?1, ?2, ?3)",
            (path.canonicalize().unwrap().to_str().unwrap(), old.as_str(), new.as_str()),
        )
        .unwrap();
    for other in ["QQYa b\n", "QQQ", "QQQQQQQQQQ\nmore\n"] {
        fs::write(&path, other).unwrap();
        assert_eq!(store.state_of(&change).unwrap(), Standing::Other, "{other:?} is no mix");
    }
    fs::write(&path, "QQQa b\n").unwrap();
    assert_eq!(store.state_of(&change).unwrap(), Standing::Torn);
    store.apply(&id(1), &change).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "QQQQQQQQQQ\n");
    assert_eq!(store.state_of(&change).unwrap(), Standing::After);
    place
        .sql()
        .execute(
            "INSERT INTO in_place VALUES (?1, ?2, ?3)",
            (path.canonicalize().unwrap().to_str().unwrap(), new.as_str(), old.as_str()),
        )
        .unwrap();
    fs::write(&path, "cp aQQQQQQ\n").unwrap();
    assert_eq!(store.state_of(&change).unwrap(), Standing::Torn);
    store.put_back(&id(1), &change).unwrap();
    assert_eq!(seen(&path), before);
}

#[test]
fn a_link_leads_to_the_file_and_stays() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path());
    let link = folder.path().join("link");
    symlink("job.sh", &link).unwrap();
    let before = seen(&path);
    let change = change(&store, &link, Some("new\n"));
    store.take(&id(1), &link).unwrap();
    store.apply(&id(1), &change).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("job.sh"));
    store.put_back(&id(1), &change).unwrap();
    assert_eq!(seen(&path), before);
}

#[test]
fn a_path_that_leads_elsewhere_now_is_refused() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let (real, elsewhere) = (folder.path().join("jobs"), folder.path().join("elsewhere"));
    fs::create_dir(&real).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    let path = script(&real);
    script(&elsewhere);
    let change = change(&store, &path, Some("new\n"));
    store.take(&id(1), &path).unwrap();
    fs::rename(&real, folder.path().join("moved")).unwrap();
    symlink(&elsewhere, &real).unwrap();
    assert_eq!(store.apply(&id(1), &change).unwrap_err().trouble, Trouble::Changed);
    fs::remove_file(&real).unwrap();
    fs::rename(folder.path().join("moved"), &real).unwrap();
    fs::rename(&path, real.join("job.old")).unwrap();
    symlink("job.old", &path).unwrap();
    assert_eq!(store.apply(&id(1), &change).unwrap_err().trouble, Trouble::Changed);
    assert_eq!(fs::read_to_string(elsewhere.join("job.sh")).unwrap(), "cp a b\n");
    assert_eq!(fs::read_to_string(real.join("job.old")).unwrap(), "cp a b\n");
}

#[test]
fn only_regular_files_are_taken() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let nowhere = folder.path().join("nowhere");
    symlink("gone", &nowhere).unwrap();
    assert_eq!(store.take(&id(1), &fifo).unwrap_err().trouble, Trouble::Changed);
    assert_eq!(store.take(&id(1), folder.path()).unwrap_err().trouble, Trouble::Changed);
    assert_eq!(store.take(&id(1), &nowhere).unwrap_err().trouble, Trouble::Missing);
    assert_eq!(store.take(&id(1), &folder.path().join("no/file")).unwrap_err().trouble, Trouble::Missing);
    assert_eq!(store.take(&id(1), Path::new("relative")).unwrap_err().trouble, Trouble::Other);
}

#[test]
fn saved_content_is_private_and_checked() {
    let place = Place::new();
    let store = place.open();
    let hash = store.save(b"secret").unwrap();
    assert_eq!(store.load(&hash).unwrap(), b"secret");
    let (shelf, name) = hash.as_str().split_at(2);
    let object = place.root().join("objects").join(shelf).join(name);
    assert_eq!(fs::metadata(&object).unwrap().permissions().mode() & 0o777, 0o600);
    fs::write(&object, "secreT").unwrap();
    assert_eq!(store.load(&hash).unwrap_err().trouble, Trouble::Corrupt);
    store.save(b"secret").unwrap();
    assert_eq!(store.load(&hash).unwrap(), b"secret");
    fs::remove_file(&object).unwrap();
    assert_eq!(store.load(&hash).unwrap_err().trouble, Trouble::Missing);
}

#[test]
fn an_edit_that_comes_at_the_same_moment_is_never_lost() {
    let place = Place::new();
    let store = place.open();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.sh");
    let theirs = folder.path().join("theirs");
    for round in 0..150_u32 {
        fs::write(&path, "old\n").unwrap();
        let change = change(&store, &path, Some("new\n"));
        store.take(&id(round), &path).unwrap();
        fs::write(&theirs, "edited\n").unwrap();
        let start = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                start.wait();
                // The moments differ from round to round.
                (0..round * 400).for_each(|_| std::hint::spin_loop());
                fs::rename(&theirs, &path).unwrap();
            });
            start.wait();
            let applied = store.apply(&id(round), &change);
            assert!(applied.is_ok() || applied.unwrap_err().trouble == Trouble::Changed);
        });
        assert_eq!(fs::read_to_string(&path).unwrap(), "edited\n", "round {round}");
        assert_eq!(names(folder.path()), ["job.sh"]);
    }
}

/// A user who exists nowhere, and one whose file he may write by his group.
const GUEST: u32 = 47_110;
const OWNER: u32 = 47_111;

#[test]
fn a_file_of_another_user_keeps_its_owner() {
    if !rustix::process::geteuid().is_root() {
        // Only root can make one.
        return;
    }
    let place = Place::new();
    let folder = place.folder.path();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    let path = script(folder);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    std::os::unix::fs::chown(&path, Some(OWNER), Some(GUEST)).unwrap();
    // The build folder may be closed to other users.
    let program = folder.join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let child = std::process::Command::new(&program)
        .args(["--exact", "snapshots::child_changes_a_foreign_file", "--ignored"])
        .env("STORE_ROOT", place.root())
        .current_dir(folder)
        .uid(GUEST)
        .gid(GUEST)
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    let after = seen(&path);
    assert_eq!((after.content, after.owner, after.mode & 0o7777), (b"new\n".to_vec(), (OWNER, GUEST), 0o664));
}

#[test]
#[ignore = "runs in a process of its own"]
fn child_changes_a_foreign_file() {
    let store = crate::helpers::open(Path::new(&std::env::var_os("STORE_ROOT").unwrap()));
    let path = std::env::current_dir().unwrap().join("job.sh");
    let change = change(&store, &path, Some("new\n"));
    store.take(&id(1), &path).unwrap();
    store.apply(&id(1), &change).unwrap();
    // The content comes back; that the times cannot is told.
    let error = store.put_back(&id(1), &change).unwrap_err();
    assert!(error.to_string().contains("the content is in place"), "{error}");
    assert_eq!(store.state_of(&change).unwrap(), Standing::Before);
    store.put_back(&id(1), &change).unwrap();
    store.apply(&id(1), &change).unwrap();
}
