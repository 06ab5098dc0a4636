//! What a task file says, done on the machine.

use std::fs;

use super::{env, lines, outcome, state, with_task};

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
    let (ended, next) = (run.stderr.find("step find: the answer"), run.stderr.find("step calm: started"));
    assert!(ended < next, "{run:?}");
    let shown = env.run(&["task", "status"]).stdout;
    assert!(shown.find("  find ") < shown.find("  calm "), "{shown}");
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

#[test]
fn cleanup_removes_nothing_through_links_and_nothing_that_it_did_not_note() {
    let env = with_task(
        r#"
id = "t"
[cleanup]
remove = ["link/*", "many/*"]
[[steps]]
id = "a"
run = "touch \"$OUTSIDE/new\"; rm many/f000*"
effects = "any"
"#,
    );
    let outside = env.root().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, env.work().join("link")).unwrap();
    for n in 0..1_200 {
        env.write(&format!("many/f{n:04}"), "");
    }
    env.write("t.toml", env.read("t.toml").replace("$OUTSIDE", outside.to_str().unwrap()));
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(outside.join("new").exists(), "{run:?}");
    assert_eq!(fs::read_dir(env.work().join("many")).unwrap().count(), 1_190, "{run:?}");
    for wanted in ["it does not lie where the task works", "more than 999 files of it were there before"] {
        assert!(run.stderr.contains(wanted), "{wanted}: {run:?}");
    }
}

#[test]
fn a_command_that_could_not_be_started_did_nothing_and_runs_again() {
    let env = with_task("id = \"t\"\n[[steps]]\nid = \"a\"\nrun = [\"./send\"]\neffects = \"any\"\n");
    let run = env.run(&["task", "run", "t.toml"]);
    assert!(run.code == 1 && !run.stderr.contains("may have done"), "{run:?}");
    env.script("send", "#!/bin/sh\necho sent >> witness\necho said\nexit 4\n");
    let failed = env.run(&["task", "resume"]);
    assert_eq!((failed.code, lines(&env, "witness").len()), (1, 1), "{failed:?}");
    let at = failed.stderr.find("its output: ").unwrap() + 12;
    let file = failed.stderr[at..].lines().next().unwrap();
    assert!(fs::read_to_string(file).unwrap().contains("said"), "{failed:?}");
    // This time it ran.
    assert_eq!((env.run(&["task", "resume"]).code, lines(&env, "witness").len()), (111, 1));
}

#[test]
fn a_task_of_many_steps_ends() {
    let step = |n: usize| {
        let needs = if n == 0 {
            String::new()
        } else {
            format!("needs = [\"s{}\"]\nwhen = \"outcome == negative\"\n", n - 1)
        };
        format!("[[steps]]\nid = \"s{n}\"\nrun = [\"true\"]\neffects = \"any\"\n{needs}")
    };
    let env = with_task(&format!("id = \"t\"\n{}", (0..1_000).map(step).collect::<String>()));
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!((run.code, state(&env)["completed"].as_array().unwrap().len()), (0, 1_000));
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

/// The examples of a document: what they are for, and their text.
fn examples() -> Vec<(String, String)> {
    let text = include_str!("../../../../docs/tasks.md");
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
