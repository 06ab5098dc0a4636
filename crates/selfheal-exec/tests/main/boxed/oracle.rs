//! What a box says that a job did, against an independent judge: the same random operations on a plain copy of the tree,
//! whose states before and after are compared by code that knows nothing of boxes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use selfheal_core::effects::{Change, Effect};
use sha2::{Digest, Sha256};

use super::{Place, can_try, helper, is_root};

/// Sequences of operations in one box.
const A_BOX: u64 = 250;

/// Boxes.
const BOXES: u64 = 10;

/// Fixed, so that a failure can be seen again; a variable asks for others.
fn seed() -> u64 {
    std::env::var("SELFHEAL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(4)
}

/// What there is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    kind: char,
    mode: u32,
    owner: (u32, u32),
    changed: (i64, i64),
    attributes: BTreeMap<Vec<u8>, Vec<u8>>,
    content: Vec<u8>,
}

impl State {
    fn of(path: &Path) -> Self {
        let facts = fs::symlink_metadata(path).unwrap();
        let kind = facts.file_type();
        let (kind, content) = if kind.is_dir() {
            ('d', Vec::new())
        } else if kind.is_symlink() {
            ('l', fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec())
        } else if kind.is_fifo() {
            ('p', Vec::new())
        } else if kind.is_socket() {
            ('s', Vec::new())
        } else {
            ('f', fs::read(path).unwrap())
        };
        Self {
            kind,
            mode: facts.mode() & 0o7777,
            owner: (facts.uid(), facts.gid()),
            changed: if matches!(kind, 'd' | 'l') { (0, 0) } else { (facts.mtime(), facts.mtime_nsec()) },
            attributes: attributes(path),
            content,
        }
    }
}

fn attributes(path: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut list = vec![0; 65_536];
    let count = rustix::fs::llistxattr(path, list.as_mut_slice()).unwrap_or(0);
    list.truncate(count);
    let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names
        .map(|name| {
            let mut value = vec![0; 65_536];
            let count = rustix::fs::lgetxattr(path, OsStr::from_bytes(name), value.as_mut_slice()).unwrap();
            value.truncate(count);
            (name.to_vec(), value)
        })
        .collect()
}

type Tree = BTreeMap<PathBuf, State>;

/// Everything below a folder, by the path from there.
fn states(folder: &Path) -> Tree {
    fn walk(base: &Path, folder: &Path, tree: &mut Tree) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let state = State::of(&path);
            if state.kind == 'd' {
                walk(base, &path, tree);
            }
            tree.insert(path.strip_prefix(base).unwrap().to_path_buf(), state);
        }
    }
    let mut tree = Tree::new();
    walk(folder, folder, &mut tree);
    tree
}

fn effect(path: &Path, change: Change, state: Option<&State>) -> Effect {
    let file = state.filter(|state| state.kind == 'f');
    let hex = |content: &[u8]| Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    Effect {
        path: path.to_path_buf(),
        change,
        len: file.map_or(0, |state| state.content.len() as u64),
        content: file.map(|state| hex(&state.content)),
        mode: state.map_or(0, |state| state.mode),
    }
}

/// What leads from one tree to the other.
fn difference(before: &Tree, after: &Tree) -> Vec<Effect> {
    let mut effects = Vec::new();
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    effects.extend(gone.map(|path| effect(path, Change::Deleted, None)));
    for (path, new) in after {
        let made = if new.kind == 'd' { Change::CreatedFolder } else { Change::Created };
        let change = match before.get(path) {
            None => made,
            Some(old) if old == new => continue,
            Some(old) if new.kind == 'd' && old.kind != 'd' => {
                effects.push(effect(path, Change::Deleted, None));
                made
            }
            Some(old) if old.kind == new.kind && old.content == new.content => Change::Attributes,
            Some(old) if old.kind == 'f' && new.kind == 'f' && new.content.starts_with(&old.content) => {
                Change::Appended
            }
            Some(_) => Change::Changed,
        };
        effects.push(effect(path, change, Some(new)));
    }
    effects.sort();
    effects
}

/// The tree that every sequence begins with.
fn fill(folder: &Path) {
    fs::create_dir_all(folder.join("folder/inner")).unwrap();
    fs::create_dir(folder.join("empty")).unwrap();
    for (name, content) in [
        ("file", "one\ntwo\n".to_owned()),
        ("long", "0123456789abcdef".repeat(500)),
        ("folder/a", "a".to_owned()),
        ("folder/inner/b", String::new()),
    ] {
        fs::write(folder.join(name), content).unwrap();
    }
    std::os::unix::fs::symlink("file", folder.join("link")).unwrap();
    let fifo = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, folder.join("fifo"), rustix::fs::FileType::Fifo, fifo, 0).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::lsetxattr(folder.join("file"), "user.old", b"v", flags).unwrap();
    let moment = rustix::fs::Timespec { tv_sec: 1_000_000_000, tv_nsec: 0 };
    let times = rustix::fs::Timestamps { last_access: moment, last_modification: moment };
    for name in ["file", "long", "folder/a", "folder/inner/b", "fifo"] {
        rustix::fs::utimensat(rustix::fs::CWD, folder.join(name), &times, rustix::fs::AtFlags::empty())
            .unwrap();
    }
}

/// A folder with the tree for every sequence of one box.
fn fill_all(folder: &Path) {
    for number in 0..A_BOX {
        fill(&folder.join(number.to_string()));
    }
}

/// A folder for the judge's tree: in memory, where that keeps attributes as disks do.
fn plain_folder() -> tempfile::TempDir {
    let memory = tempfile::tempdir_in("/dev/shm").ok().filter(|folder| {
        rustix::fs::lsetxattr(folder.path(), "user.x", b"y", rustix::fs::XattrFlags::empty()).is_ok()
    });
    memory.unwrap_or_else(|| tempfile::tempdir().unwrap())
}

/// The same sequences in a box and in a plain folder: how many effects, and the sequences that differ, in words.
fn compare(boxed: &Place, seed: u64, sockets: bool) -> (usize, Vec<String>) {
    let plain = plain_folder();
    fill_all(plain.path());
    let numbers = [seed, 0, A_BOX, u64::from(sockets)].map(|number| number.to_string());
    let before = states(plain.path());
    assert_eq!(states(&boxed.work), before, "the trees are not alike");
    let program = helper();
    let status = Command::new(&program).arg("operate").args(&numbers).current_dir(plain.path()).status();
    assert!(status.unwrap().success());
    let wanted = difference(&before, &states(plain.path()));
    let words = [program.to_str().unwrap(), "operate"];
    let words: Vec<&str> = words.into_iter().chain(numbers.iter().map(String::as_str)).collect();
    let run = boxed.run(&boxed.order(&words));
    assert_eq!((run.run.ended.code(), run.inconclusive.as_deref()), (0, None), "{}", run.run.stderr.text());
    assert_eq!(states(&boxed.work), before, "the box changed the machine");
    let inside = run.effects.iter().map(|effect| Effect {
        path: effect.path.strip_prefix(&boxed.work).unwrap_or(&effect.path).to_path_buf(),
        ..effect.clone()
    });
    let seen: Vec<Effect> = inside.collect();
    let of = |effects: &[Effect], number: u64| -> Vec<Effect> {
        let folder = PathBuf::from(number.to_string());
        effects.iter().filter(|effect| effect.path.starts_with(&folder)).cloned().collect()
    };
    let differing = (0..A_BOX).filter_map(|number| {
        let (wanted, seen) = (of(&wanted, number), of(&seen, number));
        (wanted != seen).then(|| {
            let only = |these: &[Effect], those: &[Effect]| -> Vec<Effect> {
                these.iter().filter(|effect| !those.contains(effect)).cloned().collect()
            };
            format!(
                "sequence {number}: only wanted {:?}, only seen {:?}",
                only(&wanted, &seen),
                only(&seen, &wanted)
            )
        })
    });
    let differing = differing.collect();
    let elsewhere: Vec<_> = seen.iter().filter(|effect| effect.path.is_absolute()).collect();
    assert!(elsewhere.is_empty(), "outside of the folder: {elsewhere:#?}");
    (wanted.len(), differing)
}

#[test]
fn effects_are_what_an_independent_judge_sees() {
    judge(&Place::new(), BOXES, "overlays", true);
}

#[test]
fn effects_of_copies_are_what_an_independent_judge_sees() {
    // Sockets in the file system are refused there.
    judge(&Place::forbidding(&["overlay"]), 2, "copies", false);
}

fn judge(place: &Place, boxes: u64, kind: &str, sockets: bool) {
    if !can_try(place) {
        return;
    }
    fill_all(&place.work);
    let mut total = 0;
    for number in 0..boxes {
        let (effects, differing) = compare(place, seed() + number, sockets);
        total += effects;
        assert!(differing.is_empty(), "seed {}:\n{}", seed() + number, differing.join("\n"));
    }
    let who = if is_root() { "root" } else { "an ordinary user" };
    let sequences = boxes * A_BOX;
    println!(
        "{sequences} random sequences with {total} effects in {kind}, as {who}: all as the judge sees them"
    );
    assert!(total as u64 > sequences, "{total}");
}
