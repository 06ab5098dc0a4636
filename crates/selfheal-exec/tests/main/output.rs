//! What comes out of a run.

use selfheal_core::ports::{Executor, Passing};
use selfheal_core::run::Ended;

use crate::common::{folder, order, run, shell, supervisor};

#[test]
fn both_streams_are_kept_apart_and_to_the_byte() {
    let (_keep, cwd) = folder();
    let run = run(&shell(&cwd, r"printf 'a\000\377no newline'; printf 'warned' >&2; exit 3"));
    assert_eq!(run.ended, Ended::Exited(3));
    assert_eq!(run.stdout.head, b"a\0\xffno newline");
    assert_eq!(run.stderr.head, b"warned");
    assert!(run.peak_kib.is_some());
    assert!(run.started.0 > 1_600_000_000_000);
}

#[test]
fn of_a_long_stream_both_ends_are_kept() {
    let (_keep, cwd) = folder();
    let mut order = shell(&cwd, "seq 1 300000");
    order.keep = 10;
    let run = run(&order);
    assert_eq!(run.stdout.head, b"1\n2\n3\n4\n5\n");
    assert_eq!(run.stdout.tail, b"99\n300000\n");
    assert_eq!(run.stdout.total, 1_988_895);
}

#[test]
fn a_spool_holds_everything_until_it_is_emitted() {
    let (_keep, cwd) = folder();
    let supervisor = supervisor().with_spool(&cwd);
    supervisor.run(&shell(&cwd, "seq 1 100000")).unwrap();
    let mut out = Vec::new();
    let spool = supervisor.take_spool().unwrap();
    assert!(std::fs::read_dir(&cwd).unwrap().next().is_none());
    assert_eq!(spool.emit(&mut out).unwrap(), 588_895);
    assert!(out.ends_with(b"\n100000\n"));
    assert!(supervisor.take_spool().is_none());
    supervisor.run(&shell(&cwd, "true")).unwrap();
    assert!(supervisor.take_spool().unwrap().is_empty().unwrap());
}

#[test]
fn a_spool_that_is_full_lets_the_stream_go_live() {
    // The folder of the spool is not there at all: the same as far as the job is concerned.
    let (_keep, cwd) = folder();
    let supervisor = supervisor().with_spool(cwd.join("nothing"));
    let run = supervisor.run(&order(&cwd, &["true"])).unwrap();
    assert_eq!(run.ended, Ended::Exited(0));
    assert!(supervisor.take_spool().is_none());
    assert!(supervisor.take_notes().first().unwrap().contains("cannot be kept back"));
}

#[test]
fn a_job_that_closes_its_streams_still_ends_when_its_process_does() {
    let (_keep, cwd) = folder();
    let run = run(&shell(&cwd, "exec >&- 2>&-; cat /proc/self/stat > done; exit 4"));
    assert_eq!(run.ended, Ended::Exited(4));
    assert!(cwd.join("done").exists());
}

#[test]
fn the_log_has_both_streams_and_is_appended_to() {
    let (_keep, cwd) = folder();
    let mut order = shell(&cwd, "echo out; echo err >&2");
    order.log = Some(cwd.join("log"));
    run(&order);
    run(&order);
    let text = std::fs::read_to_string(cwd.join("log")).unwrap();
    assert_eq!((text.matches("out\n").count(), text.matches("err\n").count()), (2, 2));
}

#[test]
fn a_log_on_a_full_disk_or_a_fifo_does_not_stop_the_job() {
    let (_keep, cwd) = folder();
    let fifo = cwd.join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for (log, words) in [("/dev/full".into(), "No space left"), (fifo, "is not written")] {
        let mut order = shell(&cwd, "seq 1 50000; exit 5");
        order.log = Some(log);
        let supervisor = supervisor();
        let run = supervisor.run(&order).unwrap();
        assert_eq!((run.ended, run.stdout.total), (Ended::Exited(5), 288_894));
        let notes = supervisor.take_notes();
        assert!(notes.iter().any(|note| note.contains(words)), "{notes:?}");
    }
}

#[test]
fn background_output_of_a_process_substitution_is_waited_for() {
    let (_keep, cwd) = folder();
    let mut order = order(&cwd, &["bash", "-c", "exec > >(cat); seq 1 1000"]);
    order.stdout = Passing::Spool;
    assert_eq!(run(&order).stdout.total, 3893);
}
