//! `selfheal explain` end to end: for people in two languages, and for programs.

use crate::support::env;
use serde_json::Value;

/// The object for an output, a command and its exit code.
fn object(files: &[(&str, &str)], command: &str, code: &str, output: &str) -> Value {
    let env = env();
    for (name, text) in files {
        env.write(name, text);
    }
    let args = ["explain", "--command", command, "--exit-code", code, "--json"];
    let run = env.run_with_input(&args, output.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.stderr, "");
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

const SCRIPT: &str = "#!/bin/bash\nset -euo pipefail\nfor f in a b; do\n  cp \"$f.txt\" out/\ndone\n";

#[test]
fn a_program_gets_one_object() {
    let said = "job.sh: line 4: tool: command not found\n";
    let object = object(&[("job.sh", SCRIPT)], "bash job.sh --day 3", "127", said);
    assert_eq!(object["outcome"], "failed");
    assert_eq!(object["class"], "environment");
    assert_eq!(object["status"], "exit code 127");
    assert_eq!(object["core_error"], "job.sh: line 4: tool: command not found");
    assert_eq!(object["location"]["file"], "job.sh");
    assert_eq!(object["location"]["line"], 4);
    assert_eq!(object["location"]["column"], Value::Null);
    assert_eq!(object["location"]["command"], "cp \"$f.txt\" out/");
    assert_eq!(object["causes"][0]["id"], "not-installed");
    assert!(!object["causes"][0]["disproved_by"].as_str().unwrap().is_empty());
    assert_eq!(object["confidence"], "high");
}

#[test]
fn the_line_is_found_where_the_message_does_not_name_it() {
    let said = "cp: cannot stat 'a.txt': No such file or directory\n";
    let object = object(&[("job.sh", SCRIPT)], "./run && bash job.sh | tee log", "1", said);
    assert_eq!(object["location"]["line"], 4);
    assert_eq!(object["location"]["command"], "cp \"$f.txt\" out/");
}

#[test]
fn an_answer_and_a_success_are_no_failures() {
    let negative = object(&[], "cat f | grep -q 'a|b'", "1", "");
    assert_eq!(negative["outcome"], "negative");
    assert_eq!(negative["causes"], Value::Array(Vec::new()));
    let succeeded = object(&[], "bash job.sh", "0", "cp: cannot stat 'a'\n");
    assert_eq!((&succeeded["outcome"], &succeeded["class"]), (&"succeeded".into(), &Value::Null));
}

#[test]
fn what_is_not_understood_is_said_with_the_raw_lines() {
    let object = object(&[], "./job", "9", "stage one\nquux went sideways at 0x7f\n");
    assert_eq!(object["understood"], false);
    assert_eq!(object["confidence"], "low");
    assert!(object["lines"].to_string().contains("quux went sideways"));
}

#[test]
fn what_is_not_understood_is_kept_and_labelled() {
    let env = env();
    let said = b"stage one\nquux went sideways at 0x7f with password=hunter2secret\n";
    let args = ["explain", "--command", "./job --all", "--exit-code", "9", "--keep"];
    assert!(env.run_with_input(&args, said).stdout.contains("Not understood"));
    let listed = env.run(&["label"]).stdout;
    assert!(listed.contains("./job --all"), "{listed}");
    let id = listed.split_whitespace().next().unwrap().to_owned();
    let shown = env.run(&["label", &id]).stdout;
    assert!(shown.contains("quux went sideways") && !shown.contains("hunter2"), "{shown}");
    let wrong = env.run(&["label", &id, "--core-error", "not in it"]);
    assert_eq!(wrong.code, 2);
    let done =
        env.run(&["label", &id, "--class", "logic", "--at", "job:7", "--core-error", "quux went sideways"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(env.run(&["label"]).stdout.contains("logic"));
    let file = std::fs::read_dir(env.state().join("unparsed")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("line = 7") && text.contains("core_error = \"quux went sideways\""), "{text}");
    assert_eq!(env.run(&["label", "no-such"]).code, 1);
}

#[test]
fn a_run_that_was_not_understood_is_kept_too() {
    let env = env();
    env.script("job", "#!/bin/sh\nprintf 'fl%s\\n' oo-bar >&2\nexit 3\n");
    env.run(&["run", "--", "./job"]);
    let listed = env.run(&["label"]).stdout;
    assert!(listed.contains("./job"), "{listed}");
}

#[test]
fn people_read_step_reason_and_advice() {
    let env = env();
    env.write("job.sh", SCRIPT);
    let said = b"job.sh: line 4: nosuchtool: command not found\n";
    let args = ["explain", "--command", "bash job.sh", "--exit-code", "127"];
    let english = env.run_with_input(&args, said).stdout;
    insta::assert_snapshot!(english, @r#"
    Step: line 4 of job.sh: cp "$f.txt" out/
    Message: job.sh: line 4: nosuchtool: command not found
    Reason: nosuchtool is not installed.
    To do: Install it.
    "#);
    let chinese = env.with("LC_ALL", "zh_CN.UTF-8").run_with_input(&args, said).stdout;
    insta::assert_snapshot!(chinese, @r#"
    步骤: job.sh 第 4 行：cp "$f.txt" out/
    报错: job.sh: line 4: nosuchtool: command not found
    原因: 没有安装 nosuchtool。
    怎么办: 安装它。
    "#);
}

#[test]
fn a_trace_is_said_without_its_stack() {
    let env = env();
    env.write("x.py", "import json\n\njson.loads('{')\n");
    let said = "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    json.loads('{')\n  File \"/usr/lib/python3.12/json/__init__.py\", line 346, in loads\n    return _default_decoder.decode(s)\njson.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)\n";
    let text = env.run_with_input(&["explain", "--command", "python3 x.py"], said.as_bytes()).stdout;
    assert!(
        text.contains("line 3 of x.py") && !text.contains("__init__") && !text.contains("Traceback"),
        "{text}"
    );
}

#[test]
fn a_command_and_a_file_are_explained_too() {
    let env = env();
    let ran = env.run(&["explain", "--json", "--", "sh", "-c", "echo hello; cat nothing-here"]);
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((object["outcome"].as_str(), object["class"].as_str()), (Some("failed"), Some("logic")));
    assert!(ran.stderr.contains("hello"), "its output is shown: {ran:?}");
    let filler = "all is well\n".repeat(100_000);
    env.write("job.log", format!("{filler}curl: (6) Could not resolve host: db.example\n{filler}"));
    let text = env.run(&["explain", "job.log"]);
    assert!(text.stdout.contains("db.example"), "{text:?}");
    let missing = env.run(&["explain", "no.log"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.starts_with("error: failed to read"), "{missing:?}");
    let nothing = env.run_with_input(&["explain"], b"all is well\n");
    assert_eq!(nothing.stdout, "Nothing in this output looks like an error.\n");
}

#[test]
fn what_failed_on_another_machine_is_not_looked_up_here() {
    for command in ["ssh web1 'grep x y'", "docker exec db sh -c 'grep x y'", "kubectl exec pod -- grep x y"]
    {
        let object = object(&[("y", "x\n")], command, "127", "sh: 1: grep: not found\n");
        assert_ne!(object["location"]["remote"], Value::Null, "{object:#}");
        let ids: Vec<&str> =
            object["causes"].as_array().unwrap().iter().map(|cause| cause["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["not-installed-there"], "{object:#}");
    }
}

#[test]
fn what_only_the_server_says_is_the_message() {
    let body = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>No bucket of that name</Message></Error>\n";
    let object = object(&[], "curl -sS https://store.example/x", "1", body);
    assert_eq!(object["core_error"], "No bucket of that name", "{object:#}");
}

#[cfg(not(feature = "model"))]
#[test]
fn a_picture_without_support_for_models_is_refused() {
    let env = env();
    env.write("shot.png", "\u{89}PNG");
    let run = env.run(&["explain", "--image", "shot.png"]);
    assert_ne!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("built without support for models"), "{run:?}");
}
