//! Several tasks at once.

use std::process::{Child, Stdio};

use super::{WAITS, env, started, with_task};

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
