//! A state folder without room: what is known stays known, it is said what to do, and nothing is done twice.

use std::fs;

use super::{lines, outcome, state, with_task};
use crate::room::Small;

const TASK: &str = r#"
id = "t"
[[steps]]
id = "read"
run = "cat app.log > a"
outputs = ["a"]
[[steps]]
id = "send"
needs = ["read"]
effects = "any"
run = "echo sent >> witness; FILL"
[[steps]]
id = "report"
needs = ["send"]
run = "wc -l < a > c"
outputs = ["c"]
"#;

#[test]
fn a_task_that_finds_no_room_between_its_steps_goes_on_when_there_is_some() {
    for kib in [0, 4, 12, 24, 60, 200] {
        let env = with_task("");
        env.write("app.log", "one\ntwo\n");
        let Some(small) = Small::mount(&env.state(), "3m") else { return };
        let fill = small.path().join("fill");
        let fill = format!(
            "dd if=/dev/zero of={0} bs=4k 2>/dev/null; truncate -s -{1} {0}",
            fill.display(),
            kib * 1_024
        );
        env.write("t.toml", TASK.replace("FILL", &fill));
        let run = env.run(&["task", "run", "t.toml"]);
        if run.code != 0 {
            for wanted in ["make room on the disk", "selfheal task resume "] {
                assert!(run.stderr.contains(wanted), "{kib} KiB: {wanted}: {run:?}");
            }
            let again = env.run(&["task", "resume"]);
            assert!(again.code == 1 && again.stderr.contains("make room"), "{kib} KiB: {again:?}");
        }
        small.leave(2_048);
        if run.code != 0 {
            let resumed = env.run(&["task", "resume"]);
            assert_eq!(resumed.code, 0, "{kib} KiB: {run:?} {resumed:?}");
        }
        assert_eq!(lines(&env, "witness"), ["sent"], "{kib} KiB: {run:?}");
        assert_eq!((env.read("c").trim(), outcome(&state(&env), "report").as_str()), ("2", "succeeded"));
    }
}

#[test]
fn a_task_that_finds_no_room_to_begin_leaves_nothing() {
    let env = with_task(&TASK.replace("FILL", "true"));
    env.write("app.log", "one\n");
    let Some(small) = Small::mount(&env.state(), "3m") else { return };
    env.run(&["run", "--", "true"]);
    for kib in [0, 4, 12, 24] {
        small.leave(kib);
        let run = env.run(&["task", "run", "t.toml"]);
        if run.code == 0 {
            continue;
        }
        assert!(run.stderr.contains("make room on the disk"), "{kib} KiB: {run:?}");
        if lines(&env, "a").is_empty() && !run.stderr.contains("started") {
            let left = |path: std::path::PathBuf| fs::read_dir(path).into_iter().flatten().count();
            let left = (left(env.root().join("tmp")), left(env.state().join("tasks/runs")));
            assert_eq!(left, (0, 0), "{kib} KiB: {run:?}");
        }
    }
}
