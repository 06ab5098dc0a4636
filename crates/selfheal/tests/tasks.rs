//! Tasks through the program: what survives, what is never done twice, what people are told.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use selfheal_testkit::{Outcome, TestEnv};
use serde_json::Value;

use crate::support::{BACKUP, env};

/// Waits for a condition, for a time that no healthy machine needs.
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(100), "{what} did not come");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

fn has_box(env: &TestEnv) -> bool {
    env.run(&["try", "--", "true"]).code != 125
}

fn with_task(text: &str) -> TestEnv {
    let env = env();
    env.write("t.toml", text);
    env
}

/// The state of the newest run.
fn state(env: &TestEnv) -> Value {
    let shown = env.run(&["task", "status", "--json"]);
    serde_json::from_str(&shown.stdout).unwrap_or_else(|error| panic!("{error}: {shown:?}"))
}

fn outcome(state: &Value, step: &str) -> String {
    let step = &state["steps"][step];
    let ended = step["result"]["outcome"].as_str().filter(|_| step["stage"] == "ended");
    ended.or(step["stage"].as_str()).unwrap_or_default().to_owned()
}

fn lines(env: &TestEnv, file: &str) -> Vec<String> {
    fs::read_to_string(env.work().join(file)).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn steps_run_in_order_and_a_negative_answer_chooses_the_way() {
    let env = with_task(
        r#"
id = "t"
[[steps]]
id = "find"
run = ["grep", "ERROR", "log"]
effects = "any"
[[steps]]
id = "alarm"
run = ["false"]
effects = "any"
needs = ["find"]
when = "outcome == succeeded"
[[steps]]
id = "calm"
run = "echo all is well > said"
effects = "any"
needs = ["find"]
when = "find.outcome == negative"
outputs = ["said"]
"#,
    );
    env.write("log", "fine\n");
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    assert_eq!(env.read("said"), "all is well\n");
    let state = state(&env);
    assert_eq!(outcome(&state, "find"), "negative");
    assert_eq!(outcome(&state, "alarm"), "skipped");
    assert_eq!(state["stage"], "succeeded");
    assert_eq!(state["steps"]["calm"]["result"]["output"][0]["bytes"], 12);
    assert!(run.stderr.contains("step calm: done in "), "{run:?}");
    let left: Vec<_> = fs::read_dir(env.root().join("tmp")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(env.run(&["task", "list"]).stdout.contains("succeeded"));
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_file_line_and_hint() {
    let env = with_task("id = \"t\"\n[[steps]]\nid = \"a\"\nrun = [\"true\"]\nneeds = [\"b\"]\n");
    env.write("t.yaml", "id: t\nsteps:\n  - id: a\n    run: [\"true\"]\n    nees: []\n");
    let toml = env.run(&["task", "validate", "t.toml"]);
    assert_eq!(toml.code, 2);
    assert!(toml.stderr.contains("t.toml:5: `a` needs `b`, and there is no such step\nhint: "), "{toml:?}");
    let yaml = env.run(&["task", "run", "t.yaml"]);
    assert!(yaml.stderr.contains("t.yaml:5: unknown key `nees`\nhint: did you mean `needs`?"), "{yaml:?}");
    env.write(
        "t.yaml",
        "id: t\nsteps:\n  - id: a\n    run: [\"true\"]\n  - id: b\n    run: \"true\"\n    needs: [a]\n",
    );
    assert_eq!(env.run(&["task", "validate", "t.yaml"]).code, 0);
    assert_eq!(env.run(&["task", "graph", "t.yaml"]).stdout, "a\nb  after a\n");
    assert!(env.run(&["task", "graph", "--dot", "t.yaml"]).stdout.contains("\"a\" -> \"b\""));
}

#[test]
fn the_environment_is_clean_and_says_whose_step_it_is() {
    let env = with_task(
        r#"
id = "t"
pass = ["GIVEN"]
[env]
OWN = "yes"
[[steps]]
id = "a"
run = "env | sort > out; test -d \"$TASK_TEMP\" && test \"$TMPDIR\" = \"$TASK_TEMP\""
effects = "any"
"#,
    )
    .with("GIVEN", "1")
    .with("NOISE", "2");
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 0);
    let out = env.read("out");
    for wanted in ["GIVEN=1\n", "OWN=yes\n", "TASK_ID=t\n", "TASK_STEP=a\n", "HOME="] {
        assert!(out.contains(wanted), "{wanted}: {out}");
    }
    assert!(!out.contains("NOISE") && !out.contains("SELFHEAL_") && !out.contains("XDG_STATE"), "{out}");
}

#[test]
fn a_failure_is_told_in_plain_words_and_resumed_at_its_step() {
    let env = with_task(
        r#"
id = "t"
[[steps]]
id = "one"
run = "echo one >> witness"
effects = "any"
[[steps]]
id = "two"
run = ["cat", "missing.txt"]
effects = "any"
idempotent = true
needs = ["one"]
[[steps]]
id = "three"
run = "echo three >> witness"
effects = "any"
needs = ["two"]
"#,
    );
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!(run.code, 1, "{run:?}");
    for wanted in ["step two", "probable reason: ", "what to do: ", "selfheal task resume ", "left behind: "]
    {
        assert!(run.stderr.contains(wanted), "{wanted}: {run:?}");
    }
    assert_eq!(outcome(&state(&env), "three"), "blocked");
    let env = env.with("LC_ALL", "zh_CN.UTF-8");
    let chinese = env.run(&["task", "resume"]);
    assert!(chinese.code == 1 && chinese.stderr.contains("可能的原因"), "{chinese:?}");
    env.write("missing.txt", "here\n");
    let resumed = env.run(&["task", "resume", "t"]);
    assert_eq!(
        (resumed.code, lines(&env, "witness")),
        (0, vec!["one".to_owned(), "three".to_owned()]),
        "{resumed:?}"
    );
    assert_eq!(env.run(&["task", "resume", "t"]).code, 1, "nothing is left to be done");
}

#[test]
fn a_stand_in_and_a_check_decide() {
    let env = with_task(
        r#"
id = "t"
[[steps]]
id = "fetch"
run = "echo bad > data"
effects = "any"
retry = "none"
fallback = "cache"
[steps.expect]
files = [{ path = "data", matches = "good" }]
[[steps]]
id = "cache"
run = "echo good > data"
effects = "any"
[[steps]]
id = "use"
run = ["cp", "data", "used"]
effects = "any"
needs = ["fetch"]
"#,
    );
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!((run.code, env.read("used").as_str()), (0, "good\n"), "{run:?}");
    assert_eq!(outcome(&state(&env), "fetch"), "failed");
}

#[test]
fn cleanup_removes_only_what_the_task_made_and_its_failure_hides_nothing() {
    let env = with_task(
        r#"
id = "t"
[cleanup]
remove = ["tmp-*", "kept", "/etc/hostname"]
run = ["false"]
[[steps]]
id = "a"
run = "touch tmp-a kept; echo $TASK_ID > made; exit 7"
effects = "any"
[steps.cleanup]
run = ["sh", "-c", "echo $TASK_OUTCOME > ended"]
"#,
    );
    env.write("kept", "mine\n");
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(!env.work().join("tmp-a").exists() && env.work().join("kept").exists());
    assert!(env.work().join("ended").exists());
    assert!(run.stderr.contains("cleaning up did not work: run false"), "{run:?}");
    assert_eq!(state(&env)["steps"]["a"]["result"]["code"], 7);
}

/// Says that it runs, and ends when it is allowed to.
const WAITS: &str =
    "run = \"echo began >> witness; while [ ! -e go ]; do sleep 0.02; done; echo ended >> witness\"\n";

fn started(env: &TestEnv, args: &[&str]) -> Child {
    let child =
        env.command(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the step", || !lines(env, "witness").is_empty());
    child
}

#[test]
fn a_task_that_is_cancelled_cleans_up_and_a_deadline_does_the_same() {
    let text = format!(
        "id = \"t\"\n[cleanup]\nremove = [\"made\"]\n[[steps]]\nid = \"a\"\neffects = \"any\"\n{WAITS}"
    );
    let env = with_task(&text.replace("echo began", "touch made; echo began"));
    let mut child = started(&env, &["task", "run", "t.toml"]);
    assert_eq!(env.run(&["task", "cancel", "t"]).code, 0);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!((state(&env)["stage"].as_str(), env.work().join("made").exists()), (Some("cancelled"), false));
    let over = env.run(&["task", "cancel", "t"]);
    assert!(over.code == 0 && over.stdout.contains("is over"), "{over:?}");
    // Nobody knows how much of it was done.
    let resumed = env.run(&["task", "resume"]);
    assert!(resumed.code == 111 && resumed.stderr.contains("--done a or --again a"), "{resumed:?}");
    env.write("t.toml", text.replace("id = \"t\"", "id = \"t\"\ntimeout = 1"));
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 111, "the earlier run waits for a decision");
    let late = env.run(&["task", "run", "--anew", "t.toml"]);
    assert!(late.code == 124 && late.stderr.contains("deadline"), "{late:?}");
}

#[test]
fn a_step_that_may_have_run_is_handed_over_and_a_person_decides() {
    let text = format!(
        "id = \"t\"\n[[steps]]\nid = \"send\"\neffects = \"any\"\n{WAITS}[[steps]]\nid = \"next\"\nneeds = [\"send\"]\neffects = \"any\"\nrun = \"echo next >> witness\"\n"
    );
    let env = with_task(&text);
    let mut child = started(&env, &["task", "run", "t.toml"]);
    kill_group(&mut child);
    let resumed = env.run(&["task", "resume"]);
    assert!(resumed.code == 111 && resumed.stderr.contains("step send"), "{resumed:?}");
    assert_eq!(lines(&env, "witness"), ["began"]);
    assert_eq!(env.run(&["task", "resume"]).code, 111, "it stays so");
    let done = env.run(&["task", "resume", "--done", "send"]);
    assert_eq!((done.code, lines(&env, "witness").join(" ")), (0, "began next".to_owned()), "{done:?}");
    assert_eq!(state(&env)["decisions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_step_goes_on_when_only_the_runner_is_killed_and_its_end_counts() {
    let env = with_task(&format!("id = \"t\"\n[[steps]]\nid = \"send\"\neffects = \"any\"\n{WAITS}"));
    let mut child = started(&env, &["task", "run", "t.toml"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut resumed =
        env.command(&["task", "resume"]).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    env.write("go", "");
    assert_eq!(resumed.wait().unwrap().code(), Some(0));
    assert_eq!(lines(&env, "witness"), ["began", "ended"]);
}

#[test]
fn a_new_run_names_what_a_broken_one_left() {
    let text = format!(
        "id = \"t\"\n[[steps]]\nid = \"a\"\neffects = \"any\"\nidempotent = true\noutputs = [\"out\"]\n{WAITS}"
    );
    let env = with_task(&text.replace("echo began", "echo half > out; echo began"));
    let mut child = started(&env, &["task", "run", "t.toml"]);
    kill_group(&mut child);
    env.write("go", "");
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!(run.code, 0, "{run:?}");
    for wanted in [
        "was broken off at: a",
        "may be half written: out",
        "temporary folder of that run is removed",
        "still marked as held by task t",
    ] {
        assert!(
            run.stderr.replace(&format!("{}/", env.work().display()), "").contains(wanted),
            "{wanted}: {run:?}"
        );
    }
}

#[test]
fn a_changed_file_is_told_and_policy_decides() {
    let env = with_task(
        "id = \"t\"\n[[steps]]\nid = \"a\"\nrun = \"echo a >> witness\"\neffects = \"any\"\n[[steps]]\nid = \"b\"\nrun = [\"false\"]\nneeds = [\"a\"]\neffects = \"any\"\nidempotent = true\n",
    );
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 1);
    let text =
        env.read("t.toml").replace("echo a >>", "echo A >>").replace("[\"false\"]", "\"echo b >> witness\"");
    env.write(
        "t.toml",
        text + "[[steps]]\nid = \"c\"\nrun = \"echo c >> witness\"\nneeds = [\"b\"]\neffects = \"any\"\n",
    );
    let asked = env.run(&["task", "resume"]);
    assert!(asked.code == 1 && asked.stderr.contains("changed: a, changed: b, new: c"), "{asked:?}");
    assert_eq!(lines(&env, "witness"), ["a"]);
    let resumed = env.run(&["task", "resume", "--changed", "go-on"]);
    assert_eq!((resumed.code, lines(&env, "witness").join("")), (0, "abc".to_owned()), "{resumed:?}");
    assert!(state(&env)["known_issues"][0].as_str().unwrap().contains("not run again"));
}

#[test]
fn a_failing_step_is_healed_and_the_task_goes_on() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    env.write("backup.sh", BACKUP);
    fs::create_dir(env.work().join("logs")).unwrap();
    env.write("t.toml", "id = \"t\"\n[[steps]]\nid = \"backup\"\nrun = [\"bash\", \"backup.sh\"]\n[[steps]]\nid = \"next\"\nrun = \"echo next > said\"\nneeds = [\"backup\"]\noutputs = [\"said\"]\n");
    let held = env.run(&["task", "run", "t.toml"]);
    assert_eq!(held.code, 1, "{held:?}");
    assert!(held.stderr.contains("a proved repair waits: selfheal approve "), "{held:?}");
    let healed = env.run(&["task", "resume", "--apply", "medium"]);
    assert_eq!(healed.code, 0, "{healed:?}");
    assert!(healed.stderr.contains("(healed: "), "{healed:?}");
    let state = state(&env);
    assert_eq!(state["steps"]["backup"]["result"]["healing"]["status"], "healed");
    assert_eq!(env.read("said"), "next\n");
}

#[test]
fn a_boxed_step_writes_where_it_may_and_all_or_nothing() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    let one = |rest: &str| {
        env.write("t.toml", format!("id = \"t\"\n[[steps]]\nid = \"a\"\nretry = \"none\"\n{rest}"))
    };
    one("run = \"echo x > half; exit 3\"\n");
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 1);
    assert!(!env.work().join("half").exists());
    one("paths = [\"out\"]\nrun = \"mkdir -p out; echo x > out/x; echo y > elsewhere\"\n");
    let outside = env.run(&["task", "run", "t.toml"]);
    assert!(outside.code == 1 && outside.stderr.contains("none of its paths"), "{outside:?}");
    assert!(!env.work().join("out").exists());
    one("paths = [\"out\"]\nrun = \"mkdir -p out; echo x > out/x\"\n");
    let inside = env.run(&["task", "run", "t.toml"]);
    assert_eq!((inside.code, env.read("out/x").as_str()), (0, "x\n"), "{inside:?}");
    one("run = \"exec 3<>/dev/tcp/127.0.0.1/9\"\n");
    let network = env.run(&["task", "run", "t.toml"]);
    assert!(network.code == 1 && network.stderr.contains("effects = \"any\""), "{network:?}");
}

#[test]
fn two_tasks_with_the_same_output_do_not_run_at_once() {
    let text =
        format!("id = \"t\"\n[[steps]]\nid = \"a\"\neffects = \"any\"\noutputs = [\"witness\"]\n{WAITS}");
    let env = with_task(&text);
    env.write("other.toml", text.replace("id = \"t\"", "id = \"other\"\ntimeout = \"1s\""));
    let mut child = started(&env, &["task", "run", "t.toml"]);
    let other = env.run(&["task", "run", "other.toml"]);
    assert_eq!(other.code, 124, "{other:?}");
    assert!(other.stderr.contains("is held by task t, process "), "{other:?}");
    env.write("go", "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    env.write("other.toml", text.replace("id = \"t\"", "id = \"other\""));
    assert_eq!(env.run(&["task", "run", "other.toml"]).code, 0);
}

#[test]
fn steps_that_change_the_same_file_at_once_lose_nothing() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    let step = |n: usize| format!("[[steps]]\nid = \"s{n}\"\nrun = \"echo {n} >> shared\"\n");
    env.write("shared", "begin\n");
    env.write("t.toml", format!("id = \"t\"\nconcurrency = 4\n{}", (0..4).map(step).collect::<String>()));
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!(run.code, 0, "{run:?}");
    let mut all = lines(&env, "shared");
    all.sort();
    assert_eq!(all, ["0", "1", "2", "3", "begin"]);
}

#[test]
fn a_command_that_must_succeed_takes_back_what_was_put_in_place() {
    let env = env();
    if !has_box(&env) {
        return;
    }
    let text = "id = \"t\"\n[[steps]]\nid = \"a\"\nretry = \"none\"\nrun = \"echo x > made\"\n[steps.expect]\ncommand = [\"grep\", \"y\", \"made\"]\n";
    env.write("t.toml", text);
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!((run.code, env.work().join("made").exists()), (1, false), "{run:?}");
    env.write("t.toml", text.replace("\"y\"", "\"x\""));
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!((run.code, env.work().join("made").exists()), (0, true), "{run:?}");
}

#[test]
fn a_step_whose_failures_pass_is_tried_again() {
    let env = with_task(
        "id = \"t\"\n[[steps]]\nid = \"a\"\neffects = \"any\"\nidempotent = true\nretry = \"transient\"\nrun = \"echo try >> witness; [ -e tried ] || { touch tried; exit 9; }\"\n",
    );
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!((run.code, lines(&env, "witness").len()), (0, 2), "{run:?}");
    env.write("t.toml", env.read("t.toml").replace("idempotent = true\n", ""));
    let refused = env.run(&["task", "validate", "t.toml"]);
    assert!(refused.code == 2 && refused.stderr.contains("t.toml:5: `a` may not run twice"), "{refused:?}");
}

/// Kills a process and all that it started in its group, as an end of the machine would.
fn kill_group(child: &mut Child) {
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status().unwrap();
    child.wait().unwrap();
}

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

#[test]
fn tasks_at_once_with_shared_locks_wait_for_each_other_and_lose_nothing() {
    let tasks: usize = std::env::var("SELFHEAL_TASK_CROWD").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    let env = env();
    env.write("counter", "0\n");
    env.write("ledger", "0\n");
    let adds = |file: &str| format!("n=$(cat {file}); sleep 0.0$((RANDOM % 5)); echo $((n + 1)) > {file}");
    for n in 0..tasks {
        let (first, second) = if n % 2 == 0 { ("a", "b") } else { ("b", "a") };
        let text = format!(
            "id = \"t{n}\"\nconcurrency = 2\n[[steps]]\nid = \"count\"\neffects = \"any\"\nlocks = [\"name:{first}\", \"name:{second}\"]\nrun = \"{}\"\n[[steps]]\nid = \"own\"\nrun = \"echo {n} > own{n}\"\neffects = \"any\"\noutputs = [\"own{n}\"]\n[[steps]]\nid = \"book\"\neffects = \"any\"\nneeds = [\"own\"]\nlocks = [\"name:{second}\", \"file:ledger\"]\nrun = \"{}\"\n",
            adds("counter"),
            adds("ledger")
        );
        env.write(&format!("t{n}.toml"), text);
    }
    let files: Vec<String> = (0..tasks).map(|n| format!("t{n}.toml")).collect();
    let spawn = |file: &String| {
        env.command(&["task", "run", file]).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<Child> = files.iter().map(spawn).collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert_eq!((env.read("counter"), env.read("ledger")), (format!("{tasks}\n"), format!("{tasks}\n")));
}

/// The examples of a document: what they are for, and their text.
fn examples() -> Vec<(String, String)> {
    let text = include_str!("../../../docs/tasks.md");
    let after = text.split("<!-- example: ").skip(1);
    let one = |part: &str| {
        let (what, rest) = part.split_once(" -->").unwrap();
        let block = rest.split_once("```").unwrap().1;
        (what.to_owned(), block.split_once("```").unwrap().0.to_owned())
    };
    after.map(one).collect()
}

#[test]
fn the_examples_of_the_document_work() {
    let all = examples();
    assert_eq!(all.len(), 2);
    for (what, block) in all {
        let (form, text) = block.split_once('\n').unwrap();
        for log in ["one ERROR here\n", "nothing\n"] {
            let env = env();
            let file = format!("example.{form}");
            env.write(&file, text);
            env.write("app.log", log);
            let checked = env.run(&["task", "validate", &file]);
            assert_eq!(checked.code, 0, "{checked:?}");
            if what == "run" {
                let run = env.run(&["task", "run", &file]);
                assert_eq!(run.code, 0, "{run:?}");
                assert_eq!(env.work().join("report.txt").exists(), log.contains("ERROR"), "{run:?}");
            }
        }
    }
}
