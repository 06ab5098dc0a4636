//! Jobs that are too much for any machine, and trees that are larger than usual.

use selfheal_core::ports::{BoxLimits, BoxOrder};
use selfheal_core::run::Ended;

use super::{Place, can_try, effects, said};

/// A tree of a hundred thousand files costs nothing when a job changes few of them, and what it deletes is bounded.
#[test]
fn a_tree_of_very_many_files() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    // Names of one file are as many entries, and quicker to make than files.
    let script = "mkdir many; cd many; perl -e 'for $d (1 .. 20) { mkdir $d; open F, \">\", \"$d/0\"; close F; \
        link \"$d/0\", \"$d/$_\" for 1 .. 4999 }'; ls | wc -l";
    let status = std::process::Command::new("bash").args(["-c", script]).current_dir(&place.work).output();
    assert!(status.unwrap().status.success());
    let run = place.sh("find many -type f | wc -l; echo x > many/7/new; rm many/9/4000");
    assert_eq!(said(&run), (0, "100000\n".to_owned(), String::new()));
    assert_eq!((run.inconclusive.as_deref(), effects(&run, &place.work).len()), (None, 2));
    let run = place.sh("rm -r many");
    assert!(
        run.inconclusive.as_deref().unwrap_or_default().contains("listed completely"),
        "{:?}",
        said(&run)
    );
    assert!(place.work.join("many/20/4999").exists());
}

#[test]
fn a_sparse_file_of_five_gigabytes() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let line = "truncate -s 5G big; echo end | dd of=big bs=1 seek=5368709000 conv=notrunc status=none; \
        stat -c %s big; tail -c 120 big | tr -d '\\0'";
    let run = place.sh(line);
    assert_eq!(run.run.stdout.text(), "5368709120\nend\n", "{:?}", said(&run));
    assert_eq!((run.inconclusive.as_deref(), run.run.ended), (None, Ended::Exited(0)));
    let big = run.effects.iter().find(|effect| effect.path.ends_with("big")).unwrap();
    assert_eq!((big.len, &big.content), (5_368_709_120, &None));
}

/// Neither the look at the effects nor the fetching of contents opens a FIFO, on which both would wait for ever.
#[test]
fn a_reader_that_waits_on_a_fifo_is_not_met() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let mut order =
        place.shell("mkfifo made; (cat made > got &); (exec 3<>made; sleep 9999) & sleep 0.1; exit 0");
    order.fetch = vec!["made".into(), "got".into()];
    let run = place.run(&order);
    assert_eq!(run.run.ended, Ended::Exited(0));
    assert!(run.effects.iter().any(|effect| effect.path.ends_with("made")));
    assert!(!run.fetched.keys().any(|path| path.ends_with("made")));
}

/// Everything at once, and the machine has as many processes and as much room afterwards.
#[test]
fn a_job_that_wants_everything_gets_its_share() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let limits = BoxLimits {
        processes: Some(64),
        memory: Some(256 << 20),
        file_size: Some(64 << 20),
        room: Some(16 << 20),
        most_room: None,
    };
    for (line, word) in [
        (
            "perl -e 'for (1 .. 10000) { my $p = fork; if (defined $p && !$p) { sleep 9999; exit } } sleep 9999'",
            "processes",
        ),
        (":() { : | : & }; : 2> /dev/null; sleep 9999", "processes"),
        ("head -c 100000000 /dev/zero > fill", "more than the box may hold"),
        ("i=0; while :; do : > file$((i++)) || exit 1; done", "more than the box may hold"),
        ("perl -e '@a = (); push @a, \"x\" x 1_000_000 while 1'", "memory"),
        ("truncate -s 100M sparse", "larger file"),
        ("while :; do :; done", "did not end"),
        ("yes", "did not end"),
    ] {
        let order = BoxOrder {
            limits,
            deadline_ms: if word == "did not end" { 2000 } else { 120_000 },
            ..place.shell(line)
        };
        let run = place.run(&order);
        assert!(
            run.inconclusive.as_deref().unwrap_or_default().contains(word),
            "{line}: {:?} {:?}",
            run.inconclusive,
            run.run.ended
        );
    }
}
