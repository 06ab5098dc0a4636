//! `selfheal model test`: each configured model is asked about a small failure, and what that takes is told.

use selfheal_testkit::{ModelServer, Reply, TestEnv};
use serde_json::json;

use crate::support::env;

fn settings(env: &TestEnv, text: &str) {
    let folder = env.home().join(".config/selfheal");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("selfheal.toml"), text).unwrap();
}

/// The whole small script with the folder made before the loop.
fn repaired() -> Reply {
    Reply::text(
        "CAUSE: Line 7 writes into archive, which does not exist.\nREPAIR: Make the folder before the loop in line 6.\n```bash\n#!/bin/bash\n# Packs the texts that came in.\nset -eu\nIN=incoming\nOUT=archive\nmkdir -p \"$OUT\"\nfor file in \"$IN\"/*.txt; do\n  gzip -c \"$file\" > \"$OUT/$(basename \"$file\").gz\"\ndone\necho \"packed\"\n```\n",
    )
}

#[test]
fn without_a_model_it_says_how_to_set_one() {
    let ran = env().run(&["model", "test"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.stderr.contains("no language model is configured") && ran.stderr.contains("hint:"),
        "{ran:?}"
    );
}

#[test]
fn each_model_of_the_ladder_is_asked_and_its_seconds_and_money_are_told() {
    let env = env();
    let small = ModelServer::start([repaired()]);
    let large = ModelServer::start([
        Reply::json(&json!({
            "basis": "project", "evidence": ["archive is missing"], "line": 7,
            "root_cause": "Line 7 writes into the folder archive, which does not exist.",
            "strategy": "Make the folder before the loop begins.", "verify": [], "what": "script",
        })),
        Reply::json(&json!({
            "changes_meaning": false, "change_summary": ["Line 6: the folder is made."],
            "edits": [{ "find": "OUT=archive\n", "replace": "OUT=archive\nmkdir -p \"$OUT\"\n" }],
            "risk_assessment": "low", "rollback_plan": "Take line 6 out.",
        })),
    ]);
    settings(
        &env,
        &format!(
            "[model]\nname = \"openai:small\"\nurl = \"{}\"\n[[model.larger]]\nname = \"openai:large\"\nurl = \"{}\"\nway = \"full\"\nprice-in = 10.0\nprice-out = 50\n[[model.larger]]\nname = \"openai:gone\"\nurl = \"{}\"\n",
            small.url(),
            large.url(),
            ModelServer::down()
        ),
    );
    let ran = env.run(&["model", "test"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((ran.code, lines.len()), (1, 3), "{ran:?}");
    assert!(
        lines[0].starts_with("small: ") && lines[0].contains("1 call, 100 tokens read and 20 written"),
        "{ran:?}"
    );
    assert!(lines[0].contains("a repair that can be tried"), "{ran:?}");
    assert!(lines[1].contains("0.004 of money") && lines[1].contains("2 calls"), "{ran:?}");
    assert!(lines[2].starts_with("gone: cannot be asked: "), "{ran:?}");
}

#[test]
fn what_is_no_answer_is_told_and_what_it_took_counts_for_the_day() {
    let env = env();
    let server = ModelServer::start(vec![Reply::text("I would rather not say."); 2]);
    let model = format!("name = \"openai:m\"\nurl = \"{}\"\nprice-in = 100\nprice-out = 100\n", server.url());
    settings(&env, &format!("[model]\n{model}[limits]\nday-calls = 1\n"));
    let first = env.run(&["model", "test"]);
    assert!(first.code == 1 && first.stdout.contains("an answer that cannot be used"), "{first:?}");
    let second = env.run(&["model", "test"]);
    assert!(second.stdout.contains("1 calls a day"), "{second:?}");
    assert_eq!(server.requests().len(), 1);
}
