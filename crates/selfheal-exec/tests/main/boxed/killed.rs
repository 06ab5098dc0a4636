//! What is left when programs that run boxes are killed at any moment: nothing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use selfheal_core::effects::Change;
use selfheal_core::ports::Boxes;

use super::{Place, can_try, effects};
use crate::common::{lives, wait_for};

/// Programs that are killed.
const KILLS: u32 = 60;

/// Processes whose command line holds a text, or whose working folder or root it leads to.
fn processes_with(text: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    pids.filter(|pid| *pid != std::process::id()).filter(has).filter(|pid| lives(*pid)).collect()
}

/// Mounts in any namespace that some process is in, whose line holds a text.
fn mounts_with(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let tables = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("mountinfo")).ok());
    let lines = tables.flat_map(|table| table.lines().map(str::to_owned).collect::<Vec<_>>());
    lines.filter(|line| line.contains(text)).collect()
}

#[test]
fn a_program_killed_at_any_moment_leaves_no_mount_and_no_process() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let base = place.work.parent().unwrap().to_str().unwrap().to_owned();
    let word = format!("kill-{}", base.rsplit('/').next().unwrap().trim_start_matches('.'));
    let mut caught = 0;
    for number in 0..KILLS {
        let mut program = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "boxed::killed::a_program_that_runs_boxes", "--ignored"])
            .env("SELFHEAL_TEST_WORD", &word)
            .env("SELFHEAL_TEST_STORE", &place.work)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Every other one is caught with a job in its box for certain; the others somewhere on the way there.
        if number % 2 == 0 {
            wait_for("a job in a box", || (!processes_with(&word).is_empty()).then_some(()));
        }
        std::thread::park_timeout(Duration::from_millis(u64::from(number * 37 % KILLS) * 3));
        caught += usize::from(!processes_with(&word).is_empty());
        program.kill().unwrap();
        program.wait().unwrap();
        wait_for("the end of all processes of the box", || processes_with(&word).is_empty().then_some(()));
    }
    wait_for("the end of all mounts of the boxes", || mounts_with(&base).is_empty().then_some(()));
    let store = place.work.join("store");
    let left = std::fs::read_dir(&store).unwrap().count();
    // The next program that starts sweeps what is left of them: empty folders.
    let next = Place::with(|config| selfheal_exec::BoxConfig { store: store.clone(), ..config });
    assert!(next.runner.rung().can_try());
    assert_eq!(std::fs::read_dir(&store).unwrap().count(), 0);
    println!(
        "{KILLS} programs killed, {caught} with a job in its box: 0 mounts and 0 processes left; {left} empty folders swept"
    );
}

/// Not a test of its own: what the test above kills. It leaves daemons behind in each box, as jobs do.
#[test]
#[ignore = "is started by another test"]
fn a_program_that_runs_boxes() {
    let (Ok(word), Some(work)) =
        (std::env::var("SELFHEAL_TEST_WORD"), std::env::var_os("SELFHEAL_TEST_STORE"))
    else {
        return;
    };
    let store = Path::new(&work).join("store");
    let place = Place::with(|config| selfheal_exec::BoxConfig { store, ..config });
    loop {
        let line = format!(
            "(setsid bash -c 'trap \"\" HUP TERM; exec -a {word}-1 sleep 9999' &); echo x > new; exec -a {word}-2 sleep 0.05"
        );
        place.sh(&line);
    }
}

#[test]
fn eight_boxes_over_one_tree_do_not_see_each_other() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    place.write("shared", "same\n");
    // Each waits until it has written, looks, and writes again; they overlap as far as the machine lets them.
    let one = |number: usize| {
        let line = format!(
            "echo {number} >> shared; for i in 1 2 3 4 5; do echo $i > own-{number}-$i; sleep 0.02; done; cat shared; ls"
        );
        place.sh(&line)
    };
    let runs: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8).map(|number| scope.spawn(move || one(number))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for (number, run) in runs.iter().enumerate() {
        assert_eq!((run.run.ended.code(), &run.inconclusive), (0, &None));
        let mut expected: Vec<_> =
            (1..=5).map(|file| (format!("own-{number}-{file}"), Change::Created)).collect();
        expected.push(("shared".to_owned(), Change::Appended));
        assert_eq!(effects(run, &place.work), expected);
        let names = expected.iter().map(|(name, _)| format!("{name}\n")).collect::<String>();
        assert_eq!(run.run.stdout.text(), format!("same\n{number}\n{names}"));
    }
    assert_eq!(std::fs::read_dir(&place.work).unwrap().count(), 1);
}
