//! What a step has for itself on the machine: a `/tmp` of its run, processes, IPC.

use std::fs;
use std::path::Path;

use selfheal_testkit::TestEnv;

use super::{lines, outcome, started, state, with_task};
use crate::support::{has_box, kill_group, wait_for};

const HEAD: &str = "id = \"t\"\nisolation = \"namespaces\"\n";

fn step(id: &str, rest: &str) -> String {
    format!("[[steps]]\nid = \"{id}\"\n{rest}\n")
}

/// Whether steps had all of it in the newest run; a machine may not permit it, and then it says so.
fn was_apart(env: &TestEnv) -> bool {
    let state = state(env);
    let issues = state["known_issues"].to_string();
    assert_eq!(env.run(&["task", "status"]).stdout.contains("shared more"), issues.contains("shared more"));
    !issues.contains("shared more")
}

/// Processes of this machine whose command line has a word, with their parents.
fn processes(word: &str) -> Vec<(i32, i32)> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let found = pids.filter(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|part| part == word.as_bytes())
    });
    found.filter_map(|pid| Some((pid, parent(pid)?))).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// An argument of `sleep` that no other process has.
fn unique() -> String {
    format!("1000.{}{:?}", std::process::id(), std::time::Instant::now())
        .chars()
        .filter(|c| c.is_ascii_digit() || *c == '.')
        .take(30)
        .fold(
            String::new(),
            |text, c| if c == '.' && text.contains('.') { text } else { text + &c.to_string() },
        )
}

#[test]
fn the_steps_of_a_run_share_a_tmp_that_nobody_else_sees() {
    let name = format!("selfheal-test-{}", unique());
    let text = [
        HEAD.to_owned(),
        step("a", &format!("effects = \"any\"\nrun = \"echo a > /tmp/{name}; echo v > /var/tmp/{name}\"")),
        step("b", &format!("needs = [\"a\"]\nrun = \"cat /tmp/{name} >> seen; echo b >> /tmp/{name}\"")),
        step(
            "c",
            &format!(
                "needs = [\"b\"]\neffects = \"any\"\nrun = \"cat /tmp/{name} /var/tmp/{name} >> seen; mktemp >> seen; ls -d $TASK_TEMP\""
            ),
        ),
    ];
    let env = with_task(&text.concat());
    if !has_box(&env) {
        return;
    }
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!(run.code, 0, "{run:?}");
    let there = ["/tmp", "/var/tmp"].map(|folder| Path::new(folder).join(&name)).map(|path| {
        let there = path.exists();
        let _ = fs::remove_file(path);
        there
    });
    if !was_apart(&env) {
        return;
    }
    assert_eq!(there, [false, false]);
    let seen = lines(&env, "seen");
    assert_eq!(seen.get(..4).unwrap(), ["a", "a", "b", "v"]);
    assert_eq!(state(&env)["steps"]["c"]["isolation"], "own /tmp; own processes and IPC");
    // The folder of the run is gone with it.
    assert_eq!(fs::read_dir(env.root().join("tmp")).unwrap().count(), 0);
}

#[test]
fn what_a_step_leaves_running_ends_with_it_unless_it_shares_its_processes() {
    for (isolation, lives) in [("namespaces", false), ("shared", true)] {
        let word = unique();
        let text = format!(
            "id = \"t\"\n[[steps]]\nid = \"a\"\neffects = \"any\"\nisolation = \"{isolation}\"\nrun = \"sleep {word} > /dev/null 2>&1 &\\nuntil grep -q sleep /proc/$!/comm; do :; done; readlink /proc/self/ns/pid > ns\"\n"
        );
        let env = with_task(&text);
        let run = env.run(&["task", "run", "t.toml"]);
        assert_eq!(run.code, 0, "{run:?}");
        let left = processes(&word);
        for (pid, _) in &left {
            rustix::process::kill_process(
                rustix::process::Pid::from_raw(*pid).unwrap(),
                rustix::process::Signal::KILL,
            )
            .unwrap();
        }
        if !lives && !was_apart(&env) {
            return;
        }
        assert_eq!(!left.is_empty(), lives, "{isolation}");
        let own = fs::read_link("/proc/self/ns/pid").unwrap();
        assert_eq!(env.read("ns").trim() == own.to_str().unwrap(), lives);
        let shown = env.run(&["task", "status"]).stdout;
        assert!(shown.contains(&format!("sleep {word}")), "{shown}");
        assert_eq!(shown.contains("ended with the step"), !lives, "{shown}");
    }
}

#[test]
fn a_step_whose_keeper_is_killed_leaves_no_process() {
    let word = unique();
    let text = format!(
        "{HEAD}{}",
        step(
            "a",
            &format!(
                "effects = \"any\"\nrun = \"trap '' TERM; (trap '' TERM; exec setsid sleep {word}) & echo began >> witness; wait\""
            )
        )
    );
    let env = with_task(&text);
    let mut child = started(&env, &["task", "run", "t.toml"]);
    wait_for("what the step starts", || processes(&word).iter().any(|(_, parent)| *parent > 0));
    let (sleeper, script) = *processes(&word).first().unwrap();
    let own = fs::read_link("/proc/self/ns/pid").ok();
    if fs::read_link(format!("/proc/{sleeper}/ns/pid")).ok() == own {
        kill_group(&mut child);
        wait_for("its end", || processes(&word).is_empty());
        return;
    }
    // What keeps the script is process 1 of its own processes.
    let keeper = rustix::process::Pid::from_raw(parent(script).unwrap()).unwrap();
    rustix::process::kill_process(keeper, rustix::process::Signal::KILL).unwrap();
    wait_for("the end of all", || processes(&word).is_empty());
    child.wait().unwrap();
    assert_eq!(outcome(&state(&env), "a"), "failed");
    // Nobody knows how far it got, so it is not repeated unasked.
    assert_ne!(env.run(&["task", "resume"]).code, 0);
    assert_eq!(lines(&env, "witness"), ["began"]);
}

#[test]
fn no_process_outlives_a_task_that_is_killed() {
    let word = unique();
    let run =
        format!("effects = \"any\"\nrun = \"(exec setsid sleep {word}) & echo began >> witness; wait\"");
    let env = with_task(&format!("{HEAD}{}", step("a", &run)));
    let mut child = started(&env, &["task", "run", "t.toml"]);
    wait_for("what the step starts", || !processes(&word).is_empty());
    kill_group(&mut child);
    wait_for("the end of all", || processes(&word).is_empty());
}

/// Whether this test runs with root's might: only then is anything apart that does not ask for it.
fn is_usual() -> bool {
    let env = with_task(&format!("id = \"t\"\n{}", step("a", "effects = \"any\"\nrun = [\"true\"]")));
    assert_eq!(env.run(&["task", "run", "t.toml"]).code, 0);
    state(&env)["steps"]["a"]["isolation"].as_str().unwrap().starts_with("own /tmp")
}

#[test]
fn a_step_that_says_nothing_shares_what_it_names() {
    if !is_usual() {
        return;
    }
    let there = tempfile::tempdir_in("/tmp").unwrap();
    fs::write(there.path().join("in"), "of the machine\n").unwrap();
    let input = there.path().join("in");
    let text = [
        "id = \"t\"\n".to_owned(),
        step("a", &format!("effects = \"any\"\nrun = \"cat {} > seen\"", input.display())),
        step("b", "effects = \"any\"\nrun = \"pgrep -f no-such-program-anywhere || true\""),
    ];
    let env = with_task(&text.concat());
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!((run.code, env.read("seen").as_str()), (0, "of the machine\n"), "{run:?}");
    assert!(run.stderr.contains("uses the /tmp of the machine, since it names /tmp/"), "{run:?}");
    assert!(run.stderr.contains("step b shares the processes of the machine: it names pgrep"), "{run:?}");
    let state = state(&env);
    assert!(state["steps"]["a"]["isolation"].as_str().unwrap().ends_with("; own processes and IPC"));
    assert!(state["steps"]["b"]["isolation"].as_str().unwrap().contains("processes: it names pgrep"));
}

#[test]
fn a_failure_that_may_come_from_it_says_so() {
    let text = format!(
        "{HEAD}{}",
        step(
            "a",
            "effects = \"any\"\nretry = \"none\"\nrun = \"kill -0 4000000 || { echo 'kill: No such process' >&2; exit 3; }\""
        )
    );
    let env = with_task(&text);
    let run = env.run(&["task", "run", "t.toml"]);
    assert_eq!(run.code, 1, "{run:?}");
    if was_apart(&env) {
        assert!(env.run(&["task", "status"]).stdout.contains("it sees no processes but its own"));
    }
}

#[test]
fn what_others_are_to_find_in_tmp_cannot_be_in_an_own_one() {
    let env = with_task(&format!("{HEAD}{}", step("a", "run = [\"true\"]\noutputs = [\"/tmp/for-others\"]")));
    let told = env.run(&["task", "validate", "t.toml"]);
    assert_eq!(told.code, 2, "{told:?}");
    assert!(
        told.stderr.contains("t.toml:6: `a` has a /tmp of its own and names /tmp/for-others\nhint: "),
        "{told:?}"
    );
}
