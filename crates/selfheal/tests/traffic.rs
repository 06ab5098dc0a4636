//! Model traffic: written down without secrets, played again without a server, and played on the wire with faults.

use selfheal_testkit::{Fault, ModelServer, Reply, TestEnv};
use serde_json::{Value, json};

use crate::support::{document, env};

const JOB: &str =
    "#!/bin/bash\nset -eu\ntotal=$(cat total)\ncount=$(cat count)\necho $((total / count)) > mean\n";
const GOOD: &str =
    "if [ \"$count\" -eq 0 ]; then mean=0; else mean=$((total / count)); fi\necho \"$mean\" > mean\n";
const SECRET: &str = "canary-traffic-81c2";

fn job_env() -> TestEnv {
    let env = env().with("DB_PASSWORD", SECRET);
    env.write("mean.sh", JOB);
    env.write("total", "10\n");
    env.write("count", "0\n");
    crate::model::settings(&env, "[policy]\ngeneral-knowledge = \"apply\"\n");
    env
}

/// The replies of a model that is right at its second answer, says the same again, and says a secret.
fn replies() -> Vec<Reply> {
    let answer = |last: &str| {
        let script = JOB.replace("echo $((total / count)) > mean\n", last);
        Reply::text(&format!(
            "CAUSE: Line 5 divides total by count, which is 0 ({SECRET}).\nREPAIR: Write a mean of zero when count is zero.\n```bash\n{script}```\n"
        ))
    };
    vec![answer("echo $((total / (count - count))) > mean\n"), answer(GOOD), answer(GOOD)]
}

fn run(env: &TestEnv, url: &str, extra: &[&str]) -> (selfheal_testkit::Outcome, Value) {
    let mut words = vec!["--apply", "medium", "--model", "openai:test", "--model-url", url];
    words.extend(extra);
    words.extend(["--", "bash", "mean.sh"]);
    document(env, &words)
}

/// A recording of a run that was healed in three calls.
fn recorded() -> (TestEnv, std::path::PathBuf) {
    let env = job_env();
    let server = ModelServer::start(replies());
    let (outcome, document) = run(&env, &server.url(), &["--record", "traffic.jsonl"]);
    assert_eq!(document["status"], "healed", "{outcome:?}\n{document:#}");
    let file = env.work().join("traffic.jsonl");
    (env, file)
}

#[test]
fn a_recording_holds_every_call_and_no_secret_and_is_played_without_a_server() {
    let (first, file) = recorded();
    let text = first.read("traffic.jsonl");
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(!text.contains(SECRET) && text.contains("[secret"), "{text}");
    let again = job_env();
    let (outcome, document) = run(&again, &ModelServer::down(), &["--replay", file.to_str().unwrap()]);
    assert_eq!(document["status"], "healed", "{outcome:?}\n{document:#}");
    assert_eq!(document["model_calls"], 3);
    assert_eq!(again.read("mean.sh"), first.read("mean.sh"));
}

#[test]
fn a_recording_that_does_not_fit_or_is_none_is_told() {
    let env = job_env();
    env.write("none.jsonl", "{\"model\": 1}\n");
    let (outcome, document) = run(&env, &ModelServer::down(), &["--replay", "none.jsonl"]);
    assert_eq!(document["status"], "failed", "{document:#}");
    assert!(outcome.stderr.contains("line 1"), "{}", outcome.stderr);
    let other = json!({
        "model": "m", "request": "something else altogether", "millis": 1,
        "reply": { "answer": { "status": 200, "mime": "application/json", "body": "{}" } },
    });
    env.write("other.jsonl", format!("{other}\n"));
    let (outcome, document) = run(&env, &ModelServer::down(), &["--replay", "other.jsonl"]);
    assert_eq!(document["status"], "failed", "{document:#}");
    assert!(outcome.stderr.contains("the recording has no"), "{}", outcome.stderr);
}

#[test]
fn faults_on_the_wire_cost_a_call_and_nothing_else() {
    let (_first, file) = recorded();
    for fault in Fault::ALL {
        let env = job_env();
        let server = ModelServer::play(&file, &[(1, fault)]);
        let (outcome, document) = run(&env, &server.url(), &[]);
        assert_eq!(document["status"], "healed", "{fault:?}: {outcome:?}\n{document:#}");
        let more = usize::from(!matches!(fault, Fault::Slow(_)));
        assert_eq!(server.requests().len(), 3 + more, "{fault:?}");
    }
}

#[test]
fn a_bench_records_and_replays() {
    let env = env();
    let case = env.root().join("cases/mean");
    std::fs::create_dir_all(case.join("work")).unwrap();
    std::fs::write(case.join("work/mean.sh"), JOB).unwrap();
    std::fs::write(case.join("work/total"), "10\n").unwrap();
    std::fs::write(case.join("work/count"), "0\n").unwrap();
    // What the repair brings stands in a document, so that nobody need be asked.
    std::fs::write(case.join("work/README"), "Compare numbers with -eq.\n").unwrap();
    std::fs::write(case.join("check.sh"), "grep -qx 0 mean\n").unwrap();
    let about = "title = \"A mean of nothing\"\nkind = \"logic\"\nlanguage = \"bash\"\ncommand = [\"bash\", \"mean.sh\"]\nexpect = \"repaired\"\nrule = \"none\"\n";
    std::fs::write(case.join("case.toml"), about).unwrap();
    let cases = env.root().join("cases");
    let bench = |url: &str, extra: [&str; 2]| {
        let mut words = vec!["bench", cases.to_str().unwrap(), "--quiet", "--json", "figures.json"];
        words.extend(["--model", "openai:test", "--model-url", url, "--limit", "600"]);
        words.extend(extra);
        let ran = env.run(&words);
        let figures: Value = serde_json::from_str(&env.read("figures.json"))
            .unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        assert_eq!(figures["rows"][0]["ok"], true, "{figures:#}");
        assert_eq!(figures["rows"][0]["calls"], 3);
    };
    let server = ModelServer::start(replies());
    bench(&server.url(), ["--record", "traffic.jsonl"]);
    bench(&ModelServer::down(), ["--replay", "traffic.jsonl"]);
}
