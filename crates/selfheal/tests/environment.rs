//! Works by hand, not in cron: what is recorded of surroundings, and which difference explains a failure.

use serde_json::Value;

use crate::support::{document, env, only_incident};

/// A folder with a program that the job needs.
fn tool(env: &selfheal_testkit::TestEnv) -> String {
    env.script("tools/mytool", "#!/bin/sh\necho worked\n");
    env.work().join("tools").display().to_string()
}

fn notes(document: &Value) -> String {
    document["notes"].to_string()
}

#[test]
fn a_folder_that_the_last_good_run_had_in_its_path_is_the_answer() {
    let plain = env();
    let folder = tool(&plain);
    let path = std::env::var("PATH").unwrap();
    plain.script("job.sh", "#!/bin/bash\nset -e\nmytool > out.txt\n");
    let by_hand = |with: bool, args: &[&str]| {
        let mut command = plain.command(args);
        if with {
            command.env("PATH", format!("{folder}:{path}"));
        }
        command.output().unwrap()
    };
    assert!(by_hand(true, &["run", "--", "./job.sh"]).status.success());
    let failed = by_hand(false, &["run", "--", "./job.sh"]);
    assert_eq!(failed.status.code(), Some(127));
    let told = String::from_utf8(failed.stderr).unwrap();
    assert!(
        told.contains("PATH lacks") && told.contains("where mytool is; the last good run had it"),
        "{told}"
    );
    for job in ["./job.sh", &only_incident(&plain)] {
        let said = plain.run(&["env-diff", job]);
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(said.stdout.lines().count(), 1, "{said:?}");
        assert!(said.stdout.contains(&format!("PATH lacks {folder}, where mytool is")), "{said:?}");
    }
    let all = plain.run(&["env-diff", "./job.sh", "--all"]).stdout;
    assert!(all.contains("compared with the last good run"), "{all}");
    let json: Value = serde_json::from_str(&plain.run(&["env-diff", "./job.sh", "--json"]).stdout).unwrap();
    assert_eq!(json["explanation"]["difference"]["because"], "path_lacks");
    assert_eq!(json["last_good"]["differences"][0]["what"], "PATH");
}

#[test]
fn a_variable_that_a_login_shell_sets_is_the_answer() {
    let env = env();
    std::fs::write(env.home().join(".bash_profile"), "export REGION=north\necho Welcome\n").unwrap();
    env.script("job.sh", "#!/bin/bash\nset -u\necho \"$REGION\"\n");
    let (_, first) = document(&env, &["--", "./job.sh"]);
    let wanted = "REGION is not set; in a login shell it is north";
    let boxed = env.run(&["doctor"]).stdout.contains("rung overlay");
    assert!(!boxed || notes(&first).contains(wanted), "{first}");
    let said = env.run(&["env-diff", "job.sh"]);
    assert_eq!(said.stdout, format!("{wanted}\n"));
}

#[test]
fn what_stands_only_in_bashrc_is_found_too() {
    let env = env();
    let folder = tool(&env);
    std::fs::write(env.home().join(".profile"), ". \"$HOME/.bashrc\"\n").unwrap();
    std::fs::write(env.home().join(".bashrc"), format!("[ -z \"$PS1\" ] && return\nPATH={folder}:$PATH\n"))
        .unwrap();
    env.script("job.sh", "#!/bin/bash\nset -e\nmytool\n");
    assert_eq!(env.run(&["run", "--job", "nightly", "--", "./job.sh"]).code, 127);
    let said = env.run(&["env-diff", "nightly"]);
    assert_eq!(said.stdout, format!("PATH lacks {folder}, where mytool is; a login shell has it\n"));
}

#[test]
fn secrets_are_not_recorded_and_their_change_shows() {
    let with = |env: &selfheal_testkit::TestEnv, secret: &str, code: &str| {
        let mut command = env.command(&["run", "--once", "--job", "x", "--", "sh", "-c", code]);
        assert!(command.env("DB_PASSWORD", secret).output().unwrap().status.code().is_some());
    };
    let env = env();
    with(&env, "correct-horse", "exit 0");
    with(&env, "battery-staple", "exit 3");
    let text = env.run(&["env-diff", "x"]).stdout;
    assert!(text.contains("DB_PASSWORD") && text.contains("[secret]"), "{text}");
    let mut folders = vec![env.state()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let bytes = std::fs::read(entry.path()).unwrap();
            for secret in ["correct-horse", "battery-staple"] {
                let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!found, "{secret} in {}", entry.path().display());
            }
        }
    }
}

#[test]
fn equal_surroundings_are_kept_once_and_nothing_is_different() {
    let env = env();
    for _ in 0..3 {
        assert_eq!(env.run(&["run", "--job", "x", "--", "true"]).code, 0);
    }
    let text = env.run(&["env-diff", "x"]).stdout;
    assert!(
        text.contains("compared with the last good run") && text.contains("nothing is different"),
        "{text}"
    );
    let script = "import sqlite3,sys; print(*sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM facts').fetchone())";
    let database = env.state().join("journal.db");
    let counted = std::process::Command::new("python3").args(["-c", script]).arg(database).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&counted.stdout).trim(), "1");
}

#[test]
fn a_job_that_is_not_known_is_an_error_with_a_hint() {
    let said = env().run(&["env-diff", "nothing"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.starts_with("error: ") && said.stderr.contains("\nhint: "), "{said:?}");
}

/// One thing that is different where a schedule starts a job, and the answer.
struct Other {
    /// The script, which fails where the thing is different.
    script: &'static str,
    /// How the good run is started: a line for a shell, `RUN` for the run itself.
    good: &'static str,
    /// How the other one is.
    bad: &'static str,
    /// What the one line must say.
    answer: &'static str,
}

const OTHERS: [Other; 6] = [
    Other {
        script: "set -u\necho \"$REGION\"\n",
        good: "REGION=north RUN",
        bad: "RUN",
        answer: "REGION is not set",
    },
    Other {
        script: "set -u\necho \"$HOME\"\n",
        good: "RUN",
        bad: "unset HOME; RUN",
        answer: "HOME is not set",
    },
    Other { script: "cat conf/list\n", good: "RUN", bad: "cd / && RUN", answer: "the folder" },
    Other {
        script: "[ \"$(umask)\" != 0077 ] || { echo \"cp: cannot open 'x': Permission denied\" >&2; exit 1; }\n",
        good: "umask 0022; RUN",
        bad: "umask 0077; RUN",
        answer: "the umask",
    },
    Other {
        script: "[ \"$(ulimit -n)\" -gt 64 ] || { echo 'job: accept: Too many open files' >&2; exit 1; }\n",
        good: "RUN",
        bad: "ulimit -n 60; RUN",
        answer: "the limit of open files",
    },
    Other {
        script: "case ${HTTPS_PROXY-} in p*) ;; *) echo 'curl: (7) Failed to connect to h port 1' >&2; exit 7 ;; esac\n",
        good: "HTTPS_PROXY=p:1 RUN",
        bad: "RUN",
        answer: "HTTPS_PROXY is not set",
    },
];

#[test]
fn each_thing_that_is_different_for_a_schedule_is_told_in_one_line() {
    for other in &OTHERS {
        let env = env();
        let job = env.script("job.sh", &format!("#!/bin/bash\n{}", other.script));
        env.write("conf/list", "x\n");
        let run = format!("{} run --once --job j -- {}", env!("CARGO_BIN_EXE_selfheal"), job.display());
        let start = |line: &str| {
            let plain = env.command(&[]);
            let mut command = std::process::Command::new("sh");
            command.env_clear().current_dir(env.work()).arg("-c").arg(line.replace("RUN", &run));
            for (name, value) in plain.get_envs() {
                if let Some(value) = value {
                    command.env(name, value);
                }
            }
            command.output().unwrap()
        };
        assert!(start(other.good).status.success(), "{}: {:?}", other.good, start(other.good));
        let failed = start(other.bad);
        assert!(!failed.status.success(), "{}", other.bad);
        let said = env.run(&["env-diff", "j"]);
        let first = said.stdout.lines().next().unwrap_or_default();
        assert!(first.contains(other.answer), "{}: {said:?} {failed:?}", other.bad);
        assert_eq!(said.stdout.lines().count(), 1, "{said:?}");
    }
}
