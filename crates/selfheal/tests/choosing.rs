//! A small model chooses by number among changes that were made and tried without it; and what wrong repairs of a model come to.

use selfheal_testkit::{ModelServer, Outcome, Reply, TestEnv};
use serde_json::{Value, json};

use crate::support::{document, env};

/// A tool of the job's own that wants a unit, and says so; the job calls it without one.
const TOOL: &str = "#!/bin/sh\ncase $1 in *s) echo \"waited $1\" ;; *) echo \"ask: invalid value '$1' for 'wait': no unit (e.g. 30s)\" >&2; exit 2 ;; esac\n";
const JOB: &str = "#!/bin/sh\nset -eu\nsh ask.sh 45 > answer\n";

fn waiting() -> TestEnv {
    let env = env();
    env.write("ask.sh", TOOL);
    env.write("job.sh", JOB);
    env
}

fn run(env: &TestEnv, server: &ModelServer, more: &[&str], job: &[&str]) -> (Outcome, Value) {
    let url = server.url();
    let mut words = vec![
        "--apply",
        "medium",
        "--repeatable",
        "--without",
        "rules",
        "--model",
        "openai:m",
        "--model-url",
        &url,
    ];
    words.extend(more);
    words.push("--");
    words.extend(job);
    document(env, &words)
}

fn number(number: u64) -> Reply {
    Reply::json(&json!({ "number": number }))
}

#[test]
fn a_number_is_all_that_a_small_model_must_write() {
    let env = waiting();
    let server = ModelServer::start_with(|_, _| number(1));
    let (outcome, document) = run(&env, &server, &[], &["sh", "job.sh"]);
    assert_eq!(document["status"], "healed", "{outcome:?}\n{document:#}");
    assert_eq!((document["tier"].as_str(), env.read("answer").as_str()), (Some("model"), "waited 45s\n"));
    let requests = server.requests();
    let asked = requests.last().unwrap().json();
    assert_eq!(
        asked["response_format"]["json_schema"]["schema"]["properties"]["number"]["enum"],
        json!([0, 1])
    );
    assert!(asked["max_tokens"].as_u64().unwrap() < 50, "{asked}");
    assert!(asked.to_string().contains("becomes `sh ask.sh 45s > answer`"), "{asked}");
}

#[test]
fn a_model_that_takes_none_is_asked_for_a_repair_of_its_own() {
    for answer in [json!({"number": 0}), json!({"number": 7}), json!({"number": "1"})] {
        let env = waiting();
        let own = Reply::text(
            "CAUSE: line 3 gives no unit.\nREPAIR: line 3 gives one.\n```sh\n#!/bin/sh\nset -eu\nsh ask.sh 30s > answer\n```\n",
        );
        // An answer that does not fit the question is asked for once more.
        let server =
            ModelServer::start_with(move |_, request| match request.body.contains("Possible changes") {
                true => Reply::json(&answer),
                false => own.clone(),
            });
        let (outcome, document) = run(&env, &server, &[], &["sh", "job.sh"]);
        assert_eq!(document["status"], "healed", "{outcome:?}\n{document:#}");
        assert_eq!(env.read("answer"), "waited 30s\n");
    }
}

#[test]
fn what_can_be_left_out_is_left_out() {
    let env = waiting();
    let server = ModelServer::start_with(|_, _| Reply::text("no"));
    let (_, document) = run(&env, &server, &["--without", "choices"], &["sh", "job.sh"]);
    assert_ne!(document["status"], "healed");
    assert!(server.requests().iter().all(|request| !request.body.contains("Possible changes")));
    assert_eq!(env.read("job.sh"), JOB);
}

#[test]
fn a_choice_between_changes_that_do_different_things_is_a_persons() {
    let env = env();
    env.script(
        "dump",
        "#!/bin/sh\ncase ${1:-} in --help) echo 'usage: dump [--kind=bottles|barrels]' ;; --kind=*) echo \"${1#*=} 3\" ;; *) echo 'dump: no kind' >&2; exit 2 ;; esac\n",
    );
    env.write("job.sh", "#!/bin/sh\nset -eu\n./dump > stock\ncat stock\n");
    let server = ModelServer::start_with(|_, _| number(2));
    let (outcome, document) = run(&env, &server, &[], &["sh", "job.sh"]);
    assert_eq!(document["status"], "held", "{outcome:?}\n{document:#}");
    assert!(document["holds"].to_string().contains("tie"), "{document:#}");
    assert!(!env.read("job.sh").contains("--kind"));
}

/// Whether a model's repair, given whenever a text is asked for, comes into a script.
fn taken(env: &TestEnv, script: &str, repaired: &str, job: &[&str]) -> bool {
    let before = env.read(script);
    let text = format!(
        "CAUSE: a line of the script fails with this input.\nREPAIR: the line is written otherwise.\n```\n{repaired}```\n"
    );
    let server = ModelServer::start_with(move |_, request| match request.body.contains("Possible changes") {
        true => number(0),
        false => Reply::text(&text),
    });
    let (outcome, document) = run(env, &server, &[], job);
    assert!(!server.requests().is_empty());
    assert_ne!(document["status"], "healed", "{outcome:?}\n{document:#}");
    env.read(script) != before
}

#[test]
fn another_folder_by_a_new_default_is_not_taken() {
    let env = env();
    let other = env.home().join("other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("a.log"), "a\n").unwrap();
    let job = "#!/bin/bash\nset -eu\ncat \"$LOG_SOURCE\"/*.log > all\n";
    env.write("job.sh", job);
    let repaired = job.replace("$LOG_SOURCE", &format!("${{LOG_SOURCE:-{}}}", other.display()));
    assert!(!taken(&env, "job.sh", &repaired, &["bash", "job.sh"]));
}

#[test]
fn a_variable_set_over_what_the_job_is_given_is_not_taken() {
    let env = env();
    let job = "#!/bin/bash\nset -eu\necho \"for $STAGE_OWNER\" > note\n";
    env.write("job.sh", job);
    for line in ["STAGE_OWNER=root\n", "export STAGE_OWNER=nobody\n"] {
        let repaired = job.replace("set -eu\n", &format!("set -eu\n{line}"));
        assert!(!taken(&env, "job.sh", &repaired, &["bash", "job.sh"]), "{line}");
    }
}

#[test]
fn what_is_here_in_place_of_what_is_at_origin_is_not_taken() {
    let env = env();
    let git =
        |words: &str| format!("git -c user.name=a -c user.email=a@b -c init.defaultBranch=main {words}");
    let set_up = format!(
        "set -e; {}; echo 1 > up/f; cd up; git add f; {}; cd ..; {}",
        git("init -q up"),
        git("commit -q -m one"),
        git("clone -q up copy")
    );
    assert!(
        std::process::Command::new("sh")
            .args(["-c", &set_up])
            .current_dir(env.work())
            .status()
            .unwrap()
            .success()
    );
    let job = "#!/bin/bash\nset -eu\ncd copy\ngit fetch -q origin\ngit reset -q --hard origin/master\ncp f ../out\n";
    env.write("job.sh", job);
    for other in ["HEAD", "main"] {
        assert!(!taken(&env, "job.sh", &job.replace("origin/master", other), &["bash", "job.sh"]), "{other}");
    }
}

#[test]
fn a_made_up_result_is_not_taken() {
    let env = env();
    env.write("values", "");
    let job = "values = [float(v) for v in open('values').read().split()]\nmean = sum(values) / len(values)\nopen('mean', 'w').write('%.1f' % mean)\n";
    env.write("job.py", job);
    let line = "mean = sum(values) / len(values)\n";
    for repaired in [
        "if values:\n    mean = sum(values) / len(values)\nelse:\n    mean = 0\n",
        "mean = sum(values) / len(values) if values else 0\n",
        "mean = sum(values) / max(len(values), 1)\n",
        "try:\n    mean = sum(values) / len(values)\nexcept ZeroDivisionError:\n    mean = 0.0\n",
    ] {
        assert!(!taken(&env, "job.py", &job.replace(line, repaired), &["python3", "job.py"]), "{repaired}");
    }
}
