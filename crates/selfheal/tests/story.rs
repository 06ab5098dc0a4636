//! What people read.

use crate::support::{backup_env, document, env, only_incident};

#[test]
fn the_story_of_the_backup_job() {
    let env = backup_env();
    let run = env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    assert!(run.stderr.lines().count() <= 26, "{}", run.stderr);
    insta::assert_snapshot!(run.normalised());
}

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let demo = env().run(&["demo"]);
    assert_eq!(demo.code, 0, "{demo:?}");
    let readme = include_str!("../../../README.md");
    let recording = readme.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let told: String = demo.stderr.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    assert_eq!(selfheal_testkit::normalise(recording), selfheal_testkit::normalise(&told));
}

#[test]
fn the_story_in_chinese() {
    // A Chinese locale in which no tool has messages: what the job says is the same on every machine.
    let env = backup_env().with("LC_ALL", "zh_SG.UTF-8");
    let run = env.run(&["run", "--", "bash", "backup.sh"]);
    insta::assert_snapshot!(run.normalised());
}

#[test]
fn an_incident_shown_whole() {
    let env = backup_env();
    env.run(&["run", "--", "bash", "backup.sh"]);
    let id = only_incident(&env);
    insta::assert_snapshot!(env.run(&["show", &id]).normalised());
    let patch = env.run(&["show", &id, "--patch"]);
    assert!(patch.stdout.starts_with("--- "), "{patch:?}");
    assert!(env.run(&["show", &id, "--sent"]).stdout.contains("nothing was sent"));
}

#[test]
fn the_document_has_what_its_schema_promises() {
    let env = backup_env();
    let (_, document) = document(&env, &["--apply", "low", "--", "bash", "backup.sh"]);
    for field in ["status", "incident", "exit_code", "rounds", "tier", "risk", "diff", "checks"] {
        assert!(!document[field].is_null(), "{field}: {document:#}");
    }
    assert_eq!(document["exit_code"], 0);
}

#[test]
fn hostile_output_does_not_reach_the_terminal_as_it_is() {
    let env = env();
    env.script("job", "#!/bin/bash\nprintf 'cp: cannot stat \\033[2J\\033]0;owned\\007x: No such file or directory\\n' >&2\nexit 1\n");
    let run = env.run(&["run", "--", "bash", "job"]);
    let own: Vec<&str> = run.stderr.lines().skip(1).collect();
    assert!(!own.join("\n").contains('\u{1b}'), "{run:?}");
}

#[test]
fn secrets_are_in_no_file_of_the_state() {
    let secret = "canary-5f1d0c77";
    let env = env().with("DB_PASSWORD", secret);
    env.script(
        "job",
        "#!/bin/bash\necho \"cp: cannot stat '$DB_PASSWORD': No such file or directory\" >&2\nexit 1\n",
    );
    env.run(&["run", "--", "bash", "job", "--token", secret]);
    let mut folders = vec![env.state()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                let held = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
                assert!(!held, "{}", path.display());
            }
        }
    }
}
