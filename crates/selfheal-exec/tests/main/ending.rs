//! How runs end.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use selfheal_core::ports::{Executor, Trouble};
use selfheal_core::run::{Act, Ended};

use crate::common::{Program, folder, kill, lives, pid_in, run, shell, supervisor, wait_for};

#[test]
fn a_signal_death_is_told_as_such() {
    let (_keep, cwd) = folder();
    assert_eq!(run(&shell(&cwd, "kill -SEGV $$")).ended, Ended::Signaled(11));
}

#[test]
fn a_deadline_ends_a_whole_tree_that_does_not_want_to() {
    let (_keep, cwd) = folder();
    // Ignores TERM; one child escapes by a double fork and a session of its own; one is stopped.
    let line = "trap '' TERM; (setsid sh -c 'echo $$ > away; while :; do sleep 1000; done' &) ; \
        sh -c 'echo $$ > stopped; kill -STOP $$' & while :; do sleep 1000; done";
    let mut order = shell(&cwd, line);
    (order.deadline_ms, order.grace_ms) = (3000, 200);
    let run = run(&order);
    assert_eq!(run.ended, Ended::TimedOut { after_ms: 3000 });
    assert!(run.left_running.is_empty());
    for file in ["away", "stopped"] {
        assert!(!lives(pid_in(&cwd.join(file))), "{file}");
    }
}

#[test]
fn what_was_going_on_at_the_deadline_is_told() {
    let (_keep, cwd) = folder();
    let line = "echo begun; exec 3<>pipe 4>open.log; cat <&3 & sleep 1000; :";
    assert!(std::process::Command::new("mkfifo").arg(cwd.join("pipe")).status().unwrap().success());
    let mut order = shell(&cwd, line);
    (order.deadline_ms, order.grace_ms) = (3000, 200);
    let moment = run(&order).at_deadline.unwrap();
    let of = |command: &str| moment.processes.iter().find(|seen| seen.command == command).unwrap();
    let shell = moment.processes.first().unwrap();
    assert!(shell.command.starts_with("sh -c echo begun"), "{moment:?}");
    assert!(shell.files.contains(&cwd.join("open.log")), "{moment:?}");
    assert_eq!((of("sleep 1000").parent, of("cat").parent), (shell.pid, shell.pid));
    // Where the system tells it at all.
    if let Some(waits) = &of("cat").waits {
        assert_eq!((waits.act, waits.on.as_path()), (Act::Read, cwd.join("pipe").as_path()));
    }
    assert_eq!(moment.more, 0);
    assert_eq!(moment.waits_for_terminal(), None);
    order.argv = vec!["true".into()];
    assert!(run(&order).at_deadline.is_none());
}

#[test]
fn a_job_that_stops_itself_is_woken_to_end_in_order() {
    let (_keep, cwd) = folder();
    let mut order = shell(&cwd, "trap 'echo woken > woken; exit' TERM; kill -STOP $$; sleep 1000 & wait");
    order.deadline_ms = 3000;
    assert_eq!(run(&order).ended, Ended::TimedOut { after_ms: 3000 });
    assert!(cwd.join("woken").exists());
}

#[test]
fn what_holds_the_pipe_in_the_background_is_told_of_and_left_running() {
    let (_keep, cwd) = folder();
    let run = run(&shell(&cwd, "sleep 1000 & echo started; exit 2"));
    assert_eq!((run.ended, run.stdout.head.as_slice()), (Ended::Exited(2), &b"started\n"[..]));
    let [left] = run.left_running.as_slice() else { unreachable!("{:?}", run.left_running) };
    assert_eq!(left.command, "sleep 1000");
    assert!(lives(left.pid));
    kill("KILL", left.pid);
}

#[test]
fn what_was_left_running_may_go_on_writing() {
    let (_keep, cwd) = folder();
    let run = run(&shell(
        &cwd,
        "(while [ ! -e go ]; do sleep 0.02; done; echo late; echo late >&2; echo x > survived) &",
    ));
    assert_eq!(run.ended, Ended::Exited(0));
    fs::write(cwd.join("go"), "").unwrap();
    wait_for("the file that it writes last", || cwd.join("survived").exists().then_some(()));
}

/// Whether this process was started with a signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << (signal - 1)) != 0
}

#[test]
fn a_signal_to_the_program_is_passed_on_and_cancels_the_run() {
    for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        if is_ignored(number) {
            // As under nohup: then the job has it ignored as well, and it is passed on to nobody.
            continue;
        }
        let (_keep, cwd) = folder();
        let line = format!(
            "trap 'echo > got; exit 9' {signal}; echo $$ > ready; while :; do sleep 1000 & wait; done"
        );
        // Not with the shell: it would let its children in the background ignore INT, which then wait for the grace.
        let mut program = Program::new(&cwd, 300_000, 1_000, &["bash", "-c", &line]);
        let mut child = program.start();
        pid_in(&cwd.join("ready"));
        kill(signal, child.id());
        assert_eq!(child.wait().unwrap().code(), Some(9), "{signal}: the answer of the job is kept");
        assert_eq!(program.result().ended, Ended::Cancelled { signal: number, own: Some(9) });
        assert!(program.result().left_running.is_empty());
        assert!(cwd.join("got").exists(), "{signal}");
    }
}

#[test]
fn a_job_may_take_its_time_to_end_in_order() {
    let (_keep, cwd) = folder();
    // Far longer than the grace, which begins with a second signal only.
    let line =
        "trap 'sleep 0.5; echo > tidy; exit 7' TERM; echo $$ > ready; while :; do sleep 1000 & wait; done";
    let mut program = Program::new(&cwd, 300_000, 1, &["bash", "-c", line]);
    let mut child = program.start();
    pid_in(&cwd.join("ready"));
    kill("TERM", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(7));
    assert_eq!(program.result().ended, Ended::Cancelled { signal: 15, own: Some(7) });
    assert!(cwd.join("tidy").exists());
}

#[test]
fn a_deadline_holds_for_a_job_that_was_told_to_end_too() {
    let (_keep, cwd) = folder();
    let line = "trap '' TERM; echo $$ > ready; while :; do sleep 1000; done";
    let mut program = Program::new(&cwd, 3_000, 200, &["sh", "-c", line]);
    let mut child = program.start();
    pid_in(&cwd.join("ready"));
    kill("TERM", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[test]
fn a_job_that_does_not_listen_is_killed_after_a_second_signal_and_the_grace() {
    let (_keep, cwd) = folder();
    let line = "trap '' TERM; echo $$ > ready; while :; do sleep 1000; done";
    let mut program = Program::new(&cwd, 300_000, 200, &["sh", "-c", line]);
    let mut child = program.start();
    let job = pid_in(&cwd.join("ready"));
    let ended = wait_for("the end", || {
        kill("TERM", child.id());
        child.try_wait().unwrap()
    });
    // One more signal may come when the program is about to end, and end it: a shell says 143 of both.
    let by_signal = std::os::unix::process::ExitStatusExt::signal(&ended).map(|signal| 128 + signal);
    assert_eq!(ended.code().or(by_signal), Some(143));
    assert!(!lives(job));
}

#[test]
fn a_signal_to_the_supervisor_alone_does_the_same() {
    let (_keep, cwd) = folder();
    let mut program =
        Program::new(&cwd, 300_000, 60_000, &["sh", "-c", "echo $PPID > ready; exec sleep 1000"]);
    let mut child = program.start();
    kill("TERM", pid_in(&cwd.join("ready")));
    child.wait().unwrap();
    assert_eq!(program.result().ended, Ended::Cancelled { signal: 15, own: None });
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let (_keep, cwd) = folder();
    let line = "echo $$ > ready; while [ ! -e go ]; do sleep 0.02; done; exit 6";
    let wrap = ["sh", "-c", "trap '' HUP; exec \"$@\"", "x"];
    let mut program = Program::below(&wrap, &cwd, &["sh", "-c", line]);
    let mut child = program.start();
    let job = pid_in(&cwd.join("ready"));
    kill("HUP", child.id());
    kill("HUP", job);
    fs::write(cwd.join("go"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(6));
}

#[test]
fn a_program_that_is_killed_takes_its_job_along() {
    let (_keep, cwd) = folder();
    let line = "setsid sleep 1000 & echo $! > away; echo $$ > ready; exec sleep 1000";
    let mut program = Program::new(&cwd, 300_000, 1_000, &["sh", "-c", line]);
    let mut child = program.start();
    let job = pid_in(&cwd.join("ready"));
    let away = pid_in(&cwd.join("away"));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the end of the tree", || (!lives(job) && !lives(away)).then_some(()));
}

#[test]
fn a_supervisor_that_is_killed_is_an_error_and_the_job_does_not_run_on() {
    let (_keep, cwd) = folder();
    let error =
        supervisor().run(&shell(&cwd, "echo $$ > ready; kill -KILL $PPID; exec sleep 1000")).unwrap_err();
    assert_eq!(error.trouble, Trouble::Other);
    let job = pid_in(&cwd.join("ready"));
    wait_for("the end of the job", || (!lives(job)).then_some(()));
}

#[test]
fn a_deadline_holds_while_nobody_reads_our_output() {
    let (_keep, cwd) = folder();
    let mut program = Program::new(&cwd, 3_000, 1_000, &["yes"]);
    let mut child = program.command().stdout(Stdio::piped()).spawn().unwrap();
    let unread = child.stdout.take();
    assert_eq!(child.wait().unwrap().code(), Some(124));
    drop(unread);
}

#[test]
fn a_job_that_asks_and_waits_is_told_of_while_it_does() {
    let (_keep, cwd) = folder();
    assert!(std::process::Command::new("mkfifo").arg(cwd.join("fifo")).status().unwrap().success());
    let line = "echo begun; exec 0<>fifo; printf 'Password: ' >&2; read answer; echo \"got $answer\"";
    let (fifo, seen) = (cwd.join("fifo"), Arc::new(Mutex::new(Vec::new())));
    let told = Arc::clone(&seen);
    let supervisor = supervisor().with_on_idle(move |idle| {
        told.lock().unwrap().push(idle.clone());
        // It can end only now.
        fs::write(&fifo, "it\n").unwrap();
    });
    let run = supervisor.run(&shell(&cwd, line)).unwrap();
    assert_eq!((run.ended, run.stdout.text().as_str()), (Ended::Exited(0), "begun\ngot it\n"));
    let seen = seen.lock().unwrap();
    assert_eq!((seen[0].stdout.as_slice(), seen[0].stderr.as_slice()), (&b"begun\n"[..], &b"Password: "[..]));
    assert!(seen[0].moment.processes.iter().any(|process| process.command.starts_with("sh -c")));
}

/// A memory cgroup of one's own, with a limit; gone at the end.
struct MemoryGroup(PathBuf);

impl MemoryGroup {
    /// In version 2 or 1 of the hierarchy, where this user may make one.
    fn new() -> Option<Self> {
        let name = format!("selfheal-test-{}", std::process::id());
        let limited = |parent: &str, file: &str| {
            let group = Self(Path::new(parent).join(&name));
            fs::create_dir(&group.0).ok()?;
            // Without the limit it is of no use, and dropped.
            group.set(file, "20000000").ok()?;
            // Not every system has them.
            let _ = group.set("memory.swap.max", "0");
            let _ = group.set("memory.memsw.limit_in_bytes", "20000000");
            Some(group)
        };
        limited("/sys/fs/cgroup", "memory.max")
            .or_else(|| limited("/sys/fs/cgroup/memory", "memory.limit_in_bytes"))
    }

    /// Only a file that is there: a folder of another file system has none.
    fn set(&self, file: &str, value: &str) -> std::io::Result<()> {
        fs::File::options().write(true).open(self.0.join(file))?.write_all(value.as_bytes())
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_job_that_dies_of_memory_is_a_death_by_kill_and_selfheal_lives() {
    let Some(group) = MemoryGroup::new() else {
        eprintln!("skipped: no memory cgroup of one's own here");
        return;
    };
    let (_keep, cwd) = folder();
    // It goes on only in the group, and never takes the memory of the machine.
    let line = format!(
        "echo $$ > {0}/cgroup.procs && grep -q {1} /proc/self/cgroup && ulimit -v 1000000 || exit 77; \
         exec tail /dev/zero",
        group.0.display(),
        group.0.file_name().unwrap().display()
    );
    let run = run(&shell(&cwd, &line));
    if run.ended == Ended::Exited(77) {
        eprintln!("skipped: no process may enter a memory cgroup here");
        return;
    }
    assert_eq!(run.ended, Ended::Signaled(9));
    assert_eq!(run.ended.code(), 137);
}

#[test]
fn whenever_program_or_supervisor_are_killed_nothing_of_the_job_is_left() {
    for turn in 0..12 {
        let (_keep, cwd) = folder();
        let line = "echo $$ >> all; (setsid sh -c 'echo $$ >> all; exec sleep 1000' &); exec sleep 1000";
        let mut program = Program::new(&cwd, 300_000, 1_000, &["sh", "-c", line]);
        let mut child = program.start();
        let front = child.id();
        // From before the supervisor is there to well after the job has begun.
        for _ in 0..turn * 300 {
            std::thread::yield_now();
        }
        let children = fs::read_to_string(format!("/proc/{front}/task/{front}/children")).unwrap_or_default();
        let supervisor = children.split_whitespace().next().and_then(|pid| pid.parse().ok());
        match supervisor.filter(|_| turn % 2 == 0) {
            Some(supervisor) => {
                let supervisor: u32 = supervisor;
                let _ = std::process::Command::new("kill").arg("-KILL").arg(supervisor.to_string()).status();
            }
            None => child.kill().unwrap(),
        }
        child.wait().unwrap();
        // Whatever was begun is gone, though it may take the grace: only what the job itself started in a session of its
        // own outlives a supervisor that is killed.
        let all = fs::read_to_string(cwd.join("all")).unwrap_or_default();
        let job: Option<u32> = all.lines().next().and_then(|pid| pid.parse().ok());
        if let Some(job) = job {
            wait_for("the end of the job", || (!lives(job)).then_some(()));
        }
        for pid in fs::read_to_string(cwd.join("all")).unwrap_or_default().lines() {
            let _ = std::process::Command::new("kill").arg("-KILL").arg(pid).stderr(Stdio::null()).status();
        }
    }
}
