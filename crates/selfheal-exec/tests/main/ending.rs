//! How runs end.

use selfheal_core::run::Ended;

use crate::common::{folder, lives, pid_in, run, shell};

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
    (order.deadline_ms, order.grace_ms) = (1500, 200);
    let run = run(&order);
    assert_eq!(run.ended, Ended::TimedOut { after_ms: 1500 });
    assert!(run.left_running.is_empty());
    for file in ["away", "stopped"] {
        assert!(!lives(pid_in(&cwd.join(file))), "{file}");
    }
}
