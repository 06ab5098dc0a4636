//! What is known of a failure beside its output: logs, the same in English, the network, a model's reading.

use std::net::TcpListener;

use serde_json::Value;

use crate::support::{document, env};

/// A fact of a report, by the beginning of its name.
fn fact(document: &Value, name: &str) -> Option<String> {
    let facts = document["report"]["context"].as_array()?;
    let hit = facts.iter().find(|fact| fact[0].as_str().is_some_and(|one| one.starts_with(name)))?;
    hit[1].as_str().map(str::to_owned)
}

const LOGGING: &str = "#!/bin/bash\nLOG=log/import.log\nmkdir -p log in\nstage() {\n  cp in/rates.csv in/done.csv >> \"$LOG\" 2>&1 || exit 7\n}\nstage\n";

#[test]
fn a_log_that_the_script_names_says_what_its_output_does_not() {
    let env = env();
    env.write("job.sh", LOGGING);
    env.write("log/import.log", "cp: cannot stat 'old.csv': No such file or directory\n");
    let (_, document) = document(&env, &["--once", "--", "bash", "job.sh"]);
    let log = fact(&document, "log ").unwrap_or_else(|| panic!("{document:#}"));
    assert!(log.contains("rates.csv") && !log.contains("old.csv"), "{log}");
    let core = document["report"]["core_error"].as_str().unwrap();
    assert_eq!(core, "cp: cannot stat 'in/rates.csv': No such file or directory");
    assert_eq!(document["report"]["location"]["line"], 5, "{document:#}");
}

#[test]
fn explain_reads_the_log_of_a_command_that_it_runs() {
    let env = env();
    env.write("job.sh", LOGGING);
    env.write("log/import.log", "cp: cannot stat 'old.csv': No such file or directory\n");
    let run = env.run(&["explain", "--json", "--", "bash", "job.sh"]);
    let object: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert_eq!(object["core_error"], "cp: cannot stat 'in/rates.csv': No such file or directory");
    assert!(!object["context"].to_string().contains("old.csv"), "{object:#}");
}

#[test]
fn secrets_in_a_log_are_not_told() {
    let env = env().with("DB_PASSWORD", "canary-5512ef");
    env.write("job.sh", "#!/bin/bash\necho \"connected with canary-5512ef\" >> run.log\nexit 3\n");
    let (_, document) = document(&env, &["--once", "--", "bash", "job.sh"]);
    let log = fact(&document, "log ").unwrap_or_else(|| panic!("{document:#}"));
    assert!(log.contains("connected with") && !log.contains("canary-5512ef"), "{log}");
}

#[test]
fn what_is_said_in_another_language_is_read_in_english() {
    let env = env().with("LANG", "xx_YY.UTF-8");
    env.script(
        "frob",
        "#!/bin/sh\ncase $LC_ALL in\nC*) echo \"frob: cannot open 'rates.csv': No such file or directory\" >&2 ;;\n*) echo 'frob: kwyjibo äöü' >&2 ;;\nesac\nexit 4\n",
    );
    env.write("job.sh", "#!/bin/bash\nset -e\nunset LC_CTYPE\n./frob\n");
    // The test's own environment may have the variable that decides.
    let env = env.without("LC_ALL");
    if !env.run(&["doctor"]).stdout.contains("rung overlay") {
        return;
    }
    let (_, document) = document(&env, &["--once", "--", "bash", "job.sh"]);
    let core = document["report"]["core_error"].as_str().unwrap();
    assert!(core.contains("rates.csv"), "{document:#}");
    assert!(fact(&document, "read").is_some_and(|how| how.contains("LC_ALL=C.UTF-8")), "{document:#}");
}

/// A port at which nothing listens: it was given to somebody who went away.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_host_that_refuses_is_looked_at_unless_that_is_off() {
    for (settings, looked) in [("", true), ("look-at-hosts = false\n", false)] {
        let env = env();
        env.write("selfheal.toml", format!("[run]\n{settings}[limits]\ntransient-retries = 0\n"));
        let port = closed_port();
        let said = format!(
            "curl: (7) Failed to connect to 127.0.0.1 port {port} after 0 ms: Couldn't connect to server"
        );
        env.write("job.sh", format!("#!/bin/bash\necho \"{said}\" >&2\nexit 7\n"));
        let (_, document) = document(&env, &["--once", "--", "bash", "job.sh"]);
        let answer = fact(&document, &format!("127.0.0.1 port {port} now"));
        assert_eq!(answer.is_some(), looked, "{document:#}");
        assert_eq!(fact(&document, "way to 127.0.0.1").is_some(), looked, "{document:#}");
    }
}

#[test]
fn a_host_that_answers_again_makes_the_failure_a_thing_of_the_past() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let env = env();
    env.write("selfheal.toml", "[limits]\ntransient-retries = 0\n");
    let said = format!(
        "curl: (7) Failed to connect to 127.0.0.1 port {port} after 0 ms: Couldn't connect to server"
    );
    env.write("job.sh", format!("#!/bin/bash\necho \"{said}\" >&2\nexit 7\n"));
    let (_, document) = document(&env, &["--once", "--", "bash", "job.sh"]);
    assert_eq!(document["report"]["causes"][0]["id"], "network-passed", "{document:#}");
    drop(listener);
}

#[test]
fn a_command_line_without_a_script_has_a_place_that_reads_well() {
    let env = env();
    let run = env.run(&["run", "--", "bash", "-c", "set -e\ncd /nowhere/at/all\nls"]);
    assert!(!run.stderr.contains(" :"), "{}", run.stderr);
}

#[cfg(feature = "model")]
#[test]
fn a_model_fills_in_what_stands_in_the_output_and_nothing_else() {
    use selfheal_testkit::{ModelServer, Reply};
    use serde_json::json;
    let answer =
        |file: &str| json!({ "command": "", "core_error": "quux went sideways", "file": file, "line": "3" });
    for (file, filled) in [("stage.txt", true), ("/etc/passwd", false)] {
        let env = env();
        env.write("stage.txt", "a\nb\nc\n");
        env.write("job.sh", "#!/bin/bash\ncat said.txt >&2\nexit 9\n");
        env.write("said.txt", "quux went sideways\n stage.txt has it 3\nbye\n");
        let server = ModelServer::start_with(move |_, _| Reply::json(&answer(file)));
        let (_, document) =
            document(&env, &["--model", "openai:test", "--model-url", &server.url(), "--", "bash", "job.sh"]);
        let by_model = fact(&document, "filled in by a model").is_some();
        assert_eq!(by_model, filled, "{document:#}");
        assert_ne!(document["report"]["confidence"], "high");
        if filled {
            assert_eq!(document["report"]["core_error"], "quux went sideways");
        }
    }
}
