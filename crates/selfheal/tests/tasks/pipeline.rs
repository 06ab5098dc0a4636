//! A pipeline that is killed at any moment.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use selfheal_testkit::{Outcome, TestEnv};

use super::{lines, outcome, state, with_task};
use crate::support::{has_box, kill_group, wait_for};

/// Five stages over a log. The last one does something that no journal can take back.
const PIPELINE: &str = r#"
id = "logs"
[[steps]]
id = "read"
run = "mkdir -p work; cp app.log work/raw; echo read >> witness"
outputs = ["work/raw"]
[[steps]]
id = "extract"
run = "grep -E 'ERROR|WARN' work/raw > work/lines; echo extract >> witness"
needs = ["read"]
inputs = ["work/raw"]
outputs = ["work/lines"]
[[steps]]
id = "classify"
run = "cut -d' ' -f2,3 work/lines | sort | uniq -c > work/classes; echo classify >> witness"
needs = ["extract"]
outputs = ["work/classes"]
[[steps]]
id = "propose"
language = "python"
run = """
import pathlib
rows = [line.split() for line in pathlib.Path('work/classes').read_text().splitlines()]
text = ''.join(f'{kind} {part}: look at {count} lines\\n' for count, kind, part in rows)
pathlib.Path('work/proposals').write_text(text)
with open('witness', 'a') as witness:
    witness.write('propose\\n')
"""
needs = ["classify"]
outputs = ["work/proposals"]
[[steps]]
id = "report"
run = ["bash", "-c", "echo report >> witness; cat work/proposals > report.txt"]
effects = "any"
needs = ["propose"]
outputs = ["report.txt"]
[steps.expect]
files = [{ path = "report.txt", min-lines = 3 }]
"#;

const STAGES: [&str; 5] = ["read", "extract", "classify", "propose", "report"];

fn pipeline() -> TestEnv {
    let env = with_task(PIPELINE);
    let kinds = ["ERROR disk", "WARN net", "INFO all", "ERROR mail", "WARN disk"];
    let line = |n: usize| format!("{n:04} {} text {n}\n", kinds[n * 7 % 5]);
    env.write("app.log", (0..400).map(line).collect::<String>());
    env
}

fn result(env: &TestEnv) -> Vec<Vec<u8>> {
    let files = ["work/raw", "work/lines", "work/classes", "work/proposals", "report.txt"];
    files.iter().map(|file| fs::read(env.work().join(file)).unwrap()).collect()
}

/// What became of a killed pipeline after it was resumed: whether it was handed over.
fn settled(env: &TestEnv, wanted: &[Vec<u8>], at: &str) -> bool {
    let mut last: Outcome = env.run(&["task", "resume"]);
    if last.stderr.contains("no task was run yet") {
        last = env.run(&["task", "run", "t.toml"]);
    }
    let done = lines(env, "witness");
    let once: BTreeSet<&String> = done.iter().collect();
    assert_eq!(once.len(), done.len(), "killed {at}: done twice: {done:?}: {last:?}");
    let stage = state(env)["stage"].as_str().unwrap().to_owned();
    let over = last.stderr.contains("nothing is left to be done");
    if stage == "handed_over" {
        assert_eq!(outcome(&state(env), "report"), "handed_over", "killed {at}: {last:?}");
        return true;
    }
    assert!(last.code == 0 || over, "killed {at}: {last:?}");
    assert_eq!(result(env), wanted, "killed {at}: {last:?}");
    assert_eq!(done.len(), STAGES.len(), "killed {at}: {done:?}");
    false
}

#[test]
fn a_pipeline_killed_at_any_moment_ends_the_same_and_does_nothing_twice() {
    let reference = pipeline();
    if !has_box(&reference) {
        return;
    }
    let began = Instant::now();
    let run = reference.run(&["task", "run", "t.toml"]);
    assert_eq!(run.code, 0, "{run:?}");
    let (took, wanted) = (began.elapsed(), result(&reference));
    let kills: u32 = std::env::var("SELFHEAL_TASK_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let mut handed_over = 0;
    for stage in STAGES {
        let env = pipeline();
        let mut child = env.command(&["task", "run", "t.toml"]).stderr(Stdio::null()).spawn().unwrap();
        wait_for(stage, || {
            lines(&env, "witness").iter().any(|line| line == stage) || child.try_wait().unwrap().is_some()
        });
        kill_group(&mut child);
        handed_over += u32::from(settled(&env, &wanted, &format!("after {stage}")));
    }
    for kill in 0..kills {
        let env = pipeline();
        let mut child = env.command(&["task", "run", "t.toml"]).stderr(Stdio::null()).spawn().unwrap();
        let moment = Instant::now() + took * (2 * kill + 1) / (2 * kills);
        while Instant::now() < moment && child.try_wait().unwrap().is_none() {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        if kill % 4 == 3 {
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            kill_group(&mut child);
        }
        handed_over += u32::from(settled(&env, &wanted, &format!("at {kill} of {kills}")));
    }
    println!("{handed_over} of {} kills were handed over", kills + 5);
    // A share says something only of many.
    assert!(kills < 100 || handed_over * 20 <= kills + 5, "{handed_over} of {} were handed over", kills + 5);
}
