//! The loop around a model: what goes round in circles, lies far from the failure, or changes how the job is run; and what the
//! person gets who takes over.

use selfheal_testkit::{ModelServer, Reply, TestEnv};
use serde_json::{Value, json};

use crate::support::{document, env, only_incident};

fn settings(env: &TestEnv, url: &str, more: &str) {
    let folder = env.home().join(".config/selfheal");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("[model]\nname = \"openai:m\"\nurl = \"{url}\"\nway = \"full\"\n{more}");
    std::fs::write(folder.join("selfheal.toml"), text).unwrap();
}

fn run(env: &TestEnv) -> (selfheal_testkit::Outcome, Value) {
    document(env, &["--apply", "medium", "--repeatable", "--without", "rules", "--", "bash", "job.sh"])
}

fn diagnosis(line: u32, what: &str, strategy: &str) -> Value {
    json!({
        "basis": "project",
        "evidence": ["The error output says so."],
        "line": line,
        "root_cause": format!("Line {line} fails, and so the shell ends with an exit code that is not zero."),
        "strategy": strategy,
        "verify": [],
        "what": what,
    })
}

fn proposal(find: &str, replace: &str) -> Value {
    json!({
        "changes_meaning": false,
        "change_summary": ["The failing line does what it should."],
        "edits": [{ "find": find, "replace": replace }],
        "risk_assessment": "low",
        "rollback_plan": "Put the old text back.",
    })
}

/// A job that wants a number of slots which the file `least` names, and the repair of one number by another.
const SLOTS: &str = "#!/bin/bash\nset -eu\nslots=3\nleast=$(cat least)\n[ \"$slots\" -eq \"$least\" ] || { echo \"wrong number of slots: $slots\" >&2; exit 4; }\necho fine > out\n";

#[test]
fn a_repair_that_takes_an_earlier_one_back_is_sent_back_and_not_applied_again() {
    let env = env();
    env.write("job.sh", SLOTS);
    env.write("least", "6\n");
    let to = |old: &str, new: &str| Reply::json(&proposal(&format!("slots={old}"), &format!("slots={new}")));
    let say = |text: &str| Reply::json(&diagnosis(5, "script", text));
    let first = ModelServer::start([say("Let slots be what the file least asks for."), to("3", "6")]);
    settings(&env, &first.url(), "");
    let (outcome, healed) = run(&env);
    assert_eq!(healed["status"], "healed", "{outcome:?}\n{healed:#}");
    // Now the other way round: the model turns the value back, and insists.
    env.write("least", "3\n");
    let second = ModelServer::start([
        say("Let slots be smaller again, as the file least asks."),
        to("6", "3"),
        to("6", "3"),
    ]);
    settings(&env, &second.url(), "");
    let (outcome, document) = run(&env);
    assert_ne!(document["status"], "healed", "{outcome:?}\n{document:#}");
    assert!(document["notes"][0].as_str().unwrap().contains("an earlier repair"), "{document:#}");
    let requests = second.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests[2].body.contains("earlier repair of this job"), "{}", requests[2].body);
}

#[test]
fn an_environment_that_lacks_something_is_set_in_the_head_of_the_script_with_its_reason() {
    let env = env();
    let job =
        "#!/bin/bash\n# Counts the words of the stage.\nset -eu\n\necho \"stage is $STAGE_NAME\" > out\n";
    env.write("job.sh", job);
    let mut change = proposal("x", "y");
    change["edits"] = json!([]);
    change["run"] = json!({
        "environment": [{ "name": "STAGE_NAME", "value": "it's night" }],
        "reason": "Nobody sets the stage where this job is started.",
    });
    let server = ModelServer::start([
        Reply::json(&diagnosis(5, "environment", "Set the variable STAGE_NAME before it is used.")),
        Reply::json(&change),
    ]);
    settings(&env, &server.url(), "");
    let (outcome, document) = run(&env);
    assert_eq!(document["status"], "healed", "{outcome:?}\n{document:#}");
    assert!(server.requests()[1].body.contains("\"run\""), "the schema offers it");
    assert_eq!(env.read("out"), "stage is it's night\n");
    let now = env.read("job.sh");
    assert!(
        now.contains("set -eu\n\n# Nobody sets the stage where this job is started.\n[ -n \"${STAGE_NAME+set}\" ] || export STAGE_NAME='it'\\''s night'\n"),
        "{now}"
    );
    let undone = env.run(&["undo", &only_incident(&env)]);
    assert_eq!((undone.code, env.read("job.sh")), (0, job.to_owned()), "{undone:?}");
}

#[test]
fn a_change_far_from_the_failure_is_sent_back_once_for_its_reason() {
    let env = env();
    let filler: String = (1..40).map(|n| format!("step_{n}=\"{n}\"\n")).collect();
    env.write("job.sh", format!("#!/bin/bash\nset -eu\n{filler}total=$(cat total)\ncount=$(cat count)\necho $((total / count)) > mean\n"));
    env.write("total", "10\n");
    env.write("count", "0\n");
    let mended =
        "if [ \"$count\" -eq 0 ]; then mean=0; else mean=$((total / count)); fi\necho \"$mean\" > mean";
    let mut far = proposal("echo $((total / count)) > mean", mended);
    far["edits"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "find": "step_3=\"3\"", "replace": "step_3=\"three\"" }));
    let good = proposal("echo $((total / count)) > mean", mended);
    let server = ModelServer::start([
        Reply::json(&diagnosis(44, "script", "Write a mean of zero when there is nothing to count.")),
        Reply::json(&far),
        Reply::json(&good),
    ]);
    settings(&env, &server.url(), "");
    let (outcome, document) = run(&env);
    assert_eq!(document["status"], "healed", "{outcome:?}\n{document:#}");
    assert!(server.requests()[2].body.contains("far from line 44"), "{}", server.requests()[2].body);
    assert!(env.read("job.sh").contains("step_3=\"3\""));
}

#[test]
fn whoever_takes_over_is_told_what_was_tried_what_it_showed_and_the_best_guess() {
    let env = env();
    env.write("job.sh", SLOTS);
    env.write("least", "6\n");
    let note = env.root().join("told");
    let program = env.script("tell", &format!("#!/bin/sh\ncat >> '{}'\n", note.display()));
    let server = ModelServer::start([
        Reply::json(&diagnosis(5, "script", "Let slots be four, which is one more than now.")),
        Reply::json(&proposal("slots=3", "slots=4")),
        Reply::refusal(),
    ]);
    settings(&env, &server.url(), &format!("[notify]\nprogram = [\"{}\"]\n", program.display()));
    let (outcome, document) = run(&env);
    assert_eq!(document["status"], "failed", "{outcome:?}\n{document:#}");
    let shown = env.run(&["show", &only_incident(&env)]).stdout;
    assert!(shown.contains("tried      Let slots be four, which is one more than now (m): "), "{shown}");
    assert!(shown.contains("best guess "), "{shown}");
    env.run(&["tick"]);
    let told = std::fs::read_to_string(&note).unwrap();
    assert!(told.contains("tried: Let slots be four") && told.contains("best guess: "), "{told}");
}
