//! How boxed runs end: by themselves, by the limit, by force; and that nothing stays behind.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use selfheal_core::run::Ended;

use super::{Place, can_try, said};
use crate::common::{lives, wait_for};

/// Processes of the machine whose command line holds a text.
fn with(text: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let own = std::process::id();
    let has = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(text))
    };
    pids.filter(|pid| *pid != own).filter(has).filter(|pid| lives(*pid)).collect()
}

fn gone(text: &str) {
    wait_for("the end of all processes of a box", || with(text).is_empty().then_some(()));
}

/// A word that no other process has in its command line.
fn word(place: &Place) -> String {
    format!(
        "box-test-{}",
        place.work.parent().unwrap().file_name().unwrap().to_str().unwrap().replace('.', "")
    )
}

#[test]
fn the_time_limit_ends_everything() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let word = word(&place);
    let mut order = place.shell(&format!(
        "trap '' TERM INT; echo begun; (trap '' TERM; setsid bash -c 'exec -a {word} sleep 9999') & exec -a {word} sleep 9999"
    ));
    order.deadline_ms = 1500;
    let run = place.run(&order);
    assert_eq!(run.run.ended, Ended::TimedOut { after_ms: 1500 });
    assert!(run.inconclusive.unwrap().contains("did not end"));
    gone(&word);
}

#[test]
fn what_a_job_leaves_running_ends_with_the_box() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let word = word(&place);
    let run = place.sh(&format!(
        "(setsid bash -c 'trap \"\" HUP TERM; exec -a {word} sleep 9999' &) ; \
         until grep -q ^{word} /proc/[0-9]*/cmdline 2>/dev/null; do :; done; echo done"
    ));
    assert_eq!(said(&run), (0, "done\n".to_owned(), String::new()));
    assert!(
        run.run.left_running.iter().any(|left| left.command.contains(&word)),
        "{:?}",
        run.run.left_running
    );
    gone(&word);
}

#[test]
fn killing_the_program_kills_the_box() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let word = word(&place);
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "boxed::endings::a_program_that_runs_a_box", "--ignored"])
        .env("SELFHEAL_TEST_WORD", &word)
        .env("TMPDIR", &place.work)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    wait_for("two processes of the box", || (with(&word).len() >= 2).then_some(()));
    program.kill().unwrap();
    program.wait().unwrap();
    gone(&word);
}

/// Not a test of its own: what [`killing_the_program_kills_the_box`] kills.
#[test]
#[ignore = "is started by another test"]
fn a_program_that_runs_a_box() {
    let Ok(word) = std::env::var("SELFHEAL_TEST_WORD") else { return };
    let place = Place::new();
    place.sh(&format!("setsid bash -c 'exec -a {word}-1 sleep 9999' & exec -a {word}-2 sleep 9999"));
}

#[test]
fn exit_codes_signals_and_starts_are_told() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    for (line, ended) in [
        ("exit 0", Ended::Exited(0)),
        ("exit 255", Ended::Exited(255)),
        ("kill -TERM $$", Ended::Signaled(15)),
        ("kill -9 $$", Ended::Signaled(9)),
        ("kill -9 1; exit 5", Ended::Exited(5)),
    ] {
        assert_eq!(place.sh(line).run.ended, ended, "{line}");
    }
    assert_eq!(place.run(&place.order(&["/nowhere/program"])).run.ended, Ended::NotFound);
    place.write("plain", "x");
    let run = place.run(&place.order(&["./plain"]));
    assert!(matches!(run.run.ended, Ended::NotExecutable { .. }), "{:?}", run.run.ended);
    let script = place.write("script", "#!/nowhere/interpreter -x\n");
    std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let interpreter = "/nowhere/interpreter".to_owned();
    assert_eq!(place.run(&place.order(&["./script"])).run.ended, Ended::InterpreterMissing { interpreter });
    let mut order = place.shell("true");
    order.cwd = "/nowhere/at/all".into();
    assert!(matches!(place.run(&order).run.ended, Ended::NotStarted { .. }));
}

#[test]
fn endless_output_is_bounded_and_input_is_empty() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let mut order = place.shell("head -c 30000000 /dev/zero; cat; printf end >&2");
    order.keep = 1000;
    let run = place.run(&order).run;
    assert_eq!((run.stdout.head.len(), run.stdout.tail.len(), run.stdout.total), (1000, 1000, 30_000_000));
    assert_eq!(run.stderr.text(), "end");
}

#[test]
fn boxes_can_run_side_by_side_and_leave_nothing_in_the_store() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..6)
            .map(|n| {
                scope.spawn({
                    let place = &place;
                    move || place.sh(&format!("echo {n} > same; cat same"))
                })
            })
            .collect();
        for (n, run) in runs.into_iter().enumerate() {
            assert_eq!(run.join().unwrap().run.stdout.text(), format!("{n}\n"));
        }
    });
    let store = place.work.parent().unwrap().join("store");
    assert_eq!(std::fs::read_dir(store).unwrap().count(), 0);
}

#[test]
fn folders_of_boxes_that_were_killed_are_removed_later() {
    let place = Place::new();
    let store = place.work.parent().unwrap().join("store");
    let own = format!("box-{}-77", std::process::id());
    for name in ["box-4194304-0", own.as_str(), "something"] {
        std::fs::create_dir(store.join(name)).unwrap();
    }
    can_try(&place);
    let mut left: Vec<_> =
        std::fs::read_dir(store).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [own.as_str(), "something"]);
}
