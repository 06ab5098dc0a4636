//! What a box reports of what a job did to files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use selfheal_core::effects::Change;

use super::{Place, can_try, effects, is_root};

/// A folder with one of each, and what a line for bash did to it.
fn after(line: &str) -> Option<Vec<(String, Change)>> {
    let place = Place::new();
    if !can_try(&place) {
        return None;
    }
    place.write("file", "one\ntwo\n");
    std::fs::create_dir_all(place.work.join("folder/inner")).unwrap();
    place.write("folder/a", "a");
    place.write("folder/inner/b", "b");
    std::os::unix::fs::symlink("file", place.work.join("link")).unwrap();
    let run = place.sh(&format!("set -e\n{line}"));
    assert_eq!(
        (run.run.ended.code(), run.inconclusive.as_deref()),
        (0, None),
        "{line}: {:?}",
        run.run.stderr.text()
    );
    let seen = effects(&run, &place.work);
    assert_eq!(seen.len(), run.effects.len(), "{line}: {:?}", run.effects);
    assert_eq!(std::fs::read_to_string(place.work.join("file")).unwrap(), "one\ntwo\n");
    Some(seen)
}

fn check(line: &str, expected: &[(&str, Change)]) {
    if let Some(seen) = after(line) {
        let seen: Vec<_> = seen.iter().map(|(name, change)| (name.as_str(), *change)).collect();
        assert_eq!(seen, expected, "{line}");
    }
}

#[test]
fn files_that_are_new_changed_or_longer() {
    use Change::{Appended, Attributes, Changed, Created};
    check("echo x > new", &[("new", Created)]);
    check("echo three >> file", &[("file", Appended)]);
    check("echo other > file", &[("file", Changed)]);
    check(": > file", &[("file", Changed)]);
    check("printf 'one\\ntwo\\nthree' > x; mv x file", &[("file", Appended)]);
    check("sed -i s/one/uno/ file", &[("file", Changed)]);
    check("chmod 600 file", &[("file", Attributes)]);
    check("touch -d 2001-01-01 file", &[("file", Attributes)]);
    check("truncate -s 5G big", &[("big", Created)]);
}

#[test]
fn what_only_looks_touched_is_no_effect() {
    check("cat file > /dev/null; ls -R . > /dev/null; exec 3<>file; exec 3>&-", &[]);
    check("echo x > new; rm new; mkdir d; rmdir d", &[]);
    check("chmod 600 file; chmod \"$(stat -c %a link)\" file; chmod 644 file", &[]);
}

#[test]
fn folders_and_deletions() {
    use Change::{Created, CreatedFolder, Deleted};
    check(
        "mkdir -p x/y; echo 1 > x/y/z",
        &[("x", CreatedFolder), ("x/y", CreatedFolder), ("x/y/z", Created)],
    );
    check("rm file link", &[("file", Deleted), ("link", Deleted)]);
    let all =
        [("folder", Deleted), ("folder/a", Deleted), ("folder/inner", Deleted), ("folder/inner/b", Deleted)];
    check("rm -r folder", &all);
    check("rm -r folder/inner", &[("folder/inner", Deleted), ("folder/inner/b", Deleted)]);
}

#[test]
fn folders_that_are_replaced() {
    use Change::{Changed, Created, CreatedFolder, Deleted};
    check(
        "rm -r folder; mkdir folder; echo n > folder/n; echo changed > folder/a",
        &[
            ("folder/a", Changed),
            ("folder/inner", Deleted),
            ("folder/inner/b", Deleted),
            ("folder/n", Created),
        ],
    );
    check(
        "rm -r folder; echo now a file > folder",
        &[("folder", Changed), ("folder/a", Deleted), ("folder/inner", Deleted), ("folder/inner/b", Deleted)],
    );
    check("rm file; mkdir file", &[("file", CreatedFolder), ("file", Deleted)]);
    check(
        "mkdir new; echo x > new/a; rm -r folder; mv new folder",
        &[("folder/a", Changed), ("folder/inner", Deleted), ("folder/inner/b", Deleted)],
    );
}

#[test]
fn links_and_special_files() {
    use Change::{Changed, Created, Deleted};
    check("ln -sf elsewhere link", &[("link", Changed)]);
    check("ln file second", &[("second", Created)]);
    check("mkfifo fifo; ln -s /nowhere dangling", &[("dangling", Created), ("fifo", Created)]);
    check("mv file moved", &[("file", Deleted), ("moved", Created)]);
    check(
        "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un(\"s\"))'",
        &[("s", Created)],
    );
}

#[test]
fn attributes_of_the_kernels_kind_are_not_forged() {
    // What a job sets as `user.overlay.*` is escaped by the kernel or refused; either way nothing is hidden by it.
    let line = "echo x > new; if command -v setfattr > /dev/null; then \
        setfattr -n user.overlay.whiteout -v y new || true; setfattr -n user.overlay.opaque -v y folder || true; fi";
    if let Some(seen) = after(line) {
        assert!(seen.contains(&("new".to_owned(), Change::Created)), "{seen:?}");
        assert!(!seen.iter().any(|(_, change)| *change == Change::Deleted), "{seen:?}");
    }
}

#[test]
fn content_and_mode_are_told() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let run = place.sh("umask 077; printf 'hello\\n' > new; head -c 20000000 /dev/zero > big; ln -s x link");
    let find = |name: &str| run.effects.iter().find(|effect| effect.path.ends_with(name)).unwrap();
    let sum = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    assert_eq!((find("new").content.as_deref(), find("new").len, find("new").mode), (Some(sum), 6, 0o600));
    assert_eq!((find("big").content.as_deref(), find("big").len), (None, 20_000_000));
    assert_eq!((find("link").content.as_deref(), find("link").len), (None, 0));
}

#[test]
fn odd_names_stay_what_they_are() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let names: [&[u8]; 6] =
        [b"new\nline", b"\xff\xfe", b"-rf", b"a b\\040:,'\"", "gr\u{fc}n".as_bytes(), b"..."];
    let script: Vec<String> = names
        .iter()
        .map(|name| {
            let octal: String = name.iter().map(|byte| format!("\\{byte:03o}")).collect();
            format!("echo x > ./$'{octal}'")
        })
        .collect();
    let run = place.sh(&script.join("\n"));
    let mut expected: Vec<_> = names.iter().map(|name| place.work.join(OsStr::from_bytes(name))).collect();
    expected.sort();
    let seen: Vec<_> = run.effects.iter().map(|effect| effect.path.clone()).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_folder_with_an_odd_name_can_be_worked_in() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let odd = place.work.join("a:b\\c,d\n'e");
    std::fs::create_dir(&odd).unwrap();
    let mut order = place.shell("echo x > new");
    order.cwd.clone_from(&odd);
    assert_eq!(effects(&place.run(&order), &odd), [("new".to_owned(), Change::Created)]);
}

#[test]
fn very_deep_and_very_many_are_bounded() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let run = place.sh("for i in {1..400}; do mkdir d && cd d || exit; done");
    assert!(run.inconclusive.unwrap().contains("listed"), "{:?}", run.effects.len());
    let run = place.sh("mkdir many; cd many; for ((i = 0; i < 3000; i++)); do : > $i; done");
    assert_eq!((run.inconclusive, run.effects.len()), (None, 3001));
}

#[test]
fn a_full_box_is_in_doubt() {
    let place = Place::with_room(8 << 20);
    if !can_try(&place) {
        return;
    }
    let run = place.sh("head -c 20000000 /dev/zero > big");
    assert!(run.inconclusive.unwrap().contains("more than the box may hold"));
}

#[test]
fn root_keeps_owners_and_other_users_rights() {
    let place = Place::new();
    if !can_try(&place) || !is_root() {
        return;
    }
    place.write("file", "x");
    let run = place.sh("chown 1234:4321 file; install -o 77 -m 640 /dev/null new; stat -c %u:%g:%a file new");
    assert_eq!(run.run.stdout.text(), "1234:4321:644\n77:0:640\n");
    let seen = effects(&run, &place.work);
    assert_eq!(seen, [("file".to_owned(), Change::Attributes), ("new".to_owned(), Change::Created)]);
}
