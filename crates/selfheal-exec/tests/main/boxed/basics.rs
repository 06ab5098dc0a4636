//! What a box is: the machine as it is, and nothing reaches it.

use selfheal_core::effects::Change;
use selfheal_core::ports::{BoxOrder, Boxes};
use selfheal_core::verification::SceneEdit;
use selfheal_exec::BoxConfig;

use super::{Place, can_try, effects, is_root, said};

#[test]
fn writes_do_not_reach_the_machine() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    place.write("old", "old\n");
    let run = place.sh("echo hello; echo err >&2; echo more >> old; echo new > new; pwd; exit 3");
    assert_eq!(said(&run), (3, format!("hello\n{}\n", place.work.display()), "err\n".to_owned()));
    assert_eq!(run.inconclusive, None);
    assert_eq!(std::fs::read_to_string(place.work.join("old")).unwrap(), "old\n");
    assert!(!place.work.join("new").exists());
    let expected = [("new".to_owned(), Change::Created), ("old".to_owned(), Change::Appended)];
    assert_eq!(effects(&run, &place.work), expected);
}

/// Root of a container has the number of root and little else.
#[test]
fn root_without_might_gets_a_box_too() {
    if !is_root() {
        return;
    }
    let place =
        Place::by(|program| format!("exec setpriv --bounding-set=-all --inh-caps=-all {program} \"$@\""));
    if !can_try(&place) {
        return;
    }
    let run = place.sh("id -u; echo x > new; grep CapEff /proc/self/status; cat /root/.profile > /dev/null; echo y > /etc/new");
    assert_eq!(run.run.ended.code(), 0, "{:?}", said(&run));
    assert!(run.run.stdout.text().starts_with("0\n"));
    assert_eq!(effects(&run, &place.work), [("new".to_owned(), Change::Created)]);
    assert!(!std::path::Path::new("/etc/new").exists());
}

/// Where the kernel gives no namespaces, nothing is run at all.
#[test]
fn without_namespaces_there_is_no_rung() {
    let place = Place::by(|program| {
        format!(
            "ulimit -u 100000; exec unshare -r sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; echo 0 > /proc/sys/user/max_mnt_namespaces; exec {program} \"$@\"' x \"$@\""
        )
    });
    let rung = place.runner.rung();
    assert_eq!(rung.name, "none", "{rung:?}");
    assert!(rung.why_not_better.join(" ").contains("namespace"), "{rung:?}");
    assert!(place.runner.run(&place.shell("echo x > new")).is_err());
    assert!(!place.work.join("new").exists());
}

/// A folder in shared memory, or none where the machine has none.
fn in_memory() -> Option<tempfile::TempDir> {
    tempfile::tempdir_in("/dev/shm").ok()
}

#[test]
fn a_folder_in_shared_memory_is_there_and_nothing_reaches_the_machines() {
    let place = Place::new();
    let Some(memory) = in_memory().filter(|_| can_try(&place)) else { return };
    std::fs::write(memory.path().join("old"), "old\n").unwrap();
    let segment = tempfile::Builder::new().prefix("segment").tempfile_in("/dev/shm").unwrap();
    let line = format!("pwd; cat old set; echo new > made; rm old; test ! -e {}", segment.path().display());
    let setup = vec![SceneEdit::Write { path: "set".into(), content: b"set\n".to_vec(), mode: None }];
    let order = BoxOrder { cwd: memory.path().to_path_buf(), setup, ..place.shell(&line) };
    let run = place.run(&order);
    assert_eq!(said(&run), (0, format!("{}\nold\nset\n", memory.path().display()), String::new()));
    let expected = [("made", Change::Created), ("old", Change::Deleted)];
    let expected: Vec<_> = expected.map(|(name, change)| (name.to_owned(), change)).into();
    assert_eq!(effects(&run, memory.path()), expected);
    assert!(memory.path().join("old").exists() && !memory.path().join("made").exists());
}

#[test]
fn what_a_box_lacks_and_the_machine_has_is_no_end_of_the_job() {
    let place = Place::new();
    let Some(memory) = in_memory().filter(|_| can_try(&place)) else { return };
    let inner = memory.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let hidden = Place::with(|config| BoxConfig { hidden: vec![memory.path().to_path_buf()], ..config });
    let order = BoxOrder { cwd: inner.clone(), ..hidden.shell("true") };
    let error = hidden.runner.run(&order).unwrap_err().to_string();
    assert!(error.contains("start it in a box: the folder") && error.contains("inner"), "{error}");
    let program = memory.path().join("program");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = hidden.runner.run(&hidden.order(&[program.to_str().unwrap()])).unwrap_err().to_string();
    assert!(error.contains("it has no ") && error.contains("program"), "{error}");
}
