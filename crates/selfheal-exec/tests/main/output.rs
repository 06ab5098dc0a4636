//! What comes out of a run.

use std::io::Read;
use std::process::Stdio;

use selfheal_core::ports::{Executor, LogOrder, Passing};
use selfheal_core::run::Ended;

use crate::common::{Program, folder, lives, order, pid_in, run, shell, supervisor, wait_for};

/// A log without a limit.
fn log_in(path: std::path::PathBuf) -> LogOrder {
    LogOrder { path, stamps: false, size: 0, keep: 1 }
}

#[test]
fn a_log_is_stamped_and_rotated_when_asked() {
    let (_keep, cwd) = folder();
    let mut order = shell(&cwd, "echo out; echo err >&2");
    order.log = Some(LogOrder { stamps: true, ..log_in(cwd.join("log")) });
    run(&order);
    let text = std::fs::read_to_string(cwd.join("log")).unwrap();
    let marks: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("Z ").map(|(_, rest)| rest)).collect();
    assert!(marks.contains(&"out| out") && marks.contains(&"err| err"), "{text}");
    order.log = Some(LogOrder { size: 1, ..log_in(cwd.join("log")) });
    run(&order);
    assert!(cwd.join("log.1").exists());
}

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
    order.log = Some(log_in(cwd.join("log")));
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
        order.log = Some(log_in(log));
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

#[test]
fn what_is_passed_on_live_is_the_same_to_the_byte() {
    let (_keep, cwd) = folder();
    let line = r"printf 'a\000\377'; head -c 3000000 /dev/zero; printf 'end'";
    let output = Program::new(&cwd, 300_000, 1_000, &["sh", "-c", line]).command().output().unwrap();
    assert_eq!(output.stdout.len(), 3_000_006);
    assert!(output.stdout.starts_with(b"a\0\xff") && output.stdout.ends_with(b"\0end"));
}

#[test]
fn a_reader_that_goes_away_is_met_by_the_job_itself() {
    let (_keep, cwd) = folder();
    let mut program = Program::new(&cwd, 300_000, 1_000, &["yes"]);
    let mut child = program.command().stdout(Stdio::piped()).spawn().unwrap();
    let mut few = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut few).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(141));
    assert_eq!(program.result().ended, Ended::Signaled(13));
}

#[test]
fn a_full_disk_behind_our_output_is_met_by_the_job_itself() {
    let (_keep, cwd) = folder();
    let mut program = Program::new(&cwd, 300_000, 1_000, &["yes"]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    assert_eq!(program.command().stdout(full).status().unwrap().code(), Some(141));
}

#[test]
fn a_slow_reader_gets_what_a_job_had_written_when_it_ended() {
    let (_keep, cwd) = folder();
    let line = "head -c 150000 /dev/zero; echo $$ > done";
    let mut program = Program::new(&cwd, 300_000, 1_000, &["sh", "-c", line]);
    let mut child = program.command().stdout(Stdio::piped()).spawn().unwrap();
    let job = pid_in(&cwd.join("done"));
    wait_for("the end of the job", || (!lives(job)).then_some(()));
    let mut bytes = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes.len(), 150_000);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn much_output_needs_little_memory() {
    let (_keep, cwd) = folder();
    let line =
        "head -c 200000000 /dev/zero; sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\) kB/\\1/p' /proc/$PPID/status >&2";
    let mut program = Program::new(&cwd, 300_000, 1_000, &["sh", "-c", line]);
    let output = program.command().stdout(Stdio::null()).output().unwrap();
    assert_eq!(program.result().stdout.total, 200_000_000);
    let peak_kib: u64 = String::from_utf8(output.stderr).unwrap().trim().parse().unwrap();
    assert!(peak_kib < 30 << 10, "{peak_kib} KiB");
}

#[test]
fn a_file_that_may_not_grow_ends_neither_supervisor_nor_program() {
    let (_keep, cwd) = folder();
    let wrap = ["bash", "-c", "ulimit -f 100; exec \"$@\"", "x"];
    let mut program = Program::below(&wrap, &cwd, &["yes"]);
    let out = std::fs::File::create(cwd.join("out")).unwrap();
    assert_eq!(program.command().stdout(out).status().unwrap().code(), Some(141));
}

#[test]
fn a_log_has_both_streams_in_the_order_of_their_arrival() {
    let (_keep, cwd) = folder();
    // Each line waits until the one before has reached the log.
    let line = "say() { echo $1 >&$2; until grep -q \"| $1$\" log; do sleep 0.01; done; }; \
        say one 1; say two 2; say three 1; say four 2";
    let mut order = shell(&cwd, line);
    order.log = Some(LogOrder { stamps: true, ..log_in(cwd.join("log")) });
    assert_eq!(run(&order).ended, Ended::Exited(0));
    let text = std::fs::read_to_string(cwd.join("log")).unwrap();
    let (stamps, lines): (Vec<&str>, Vec<&str>) =
        text.lines().filter_map(|line| line.split_once("Z ")).unzip();
    assert_eq!(lines, ["out| one", "err| two", "out| three", "err| four"]);
    assert!(stamps.is_sorted(), "{text}");
}
