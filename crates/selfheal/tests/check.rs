//! `selfheal check`: what it prints, for people and programs, and how it ends.

use serde_json::Value;

use crate::support::env;

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_snippet_of_every_language_is_judged_from_standard_input() {
    let env = env();
    for (language, high, low) in [
        ("bash", "rm -rf \"$UNSET\"/*\n", "echo 'rm -rf /'\n"),
        ("python", "import shutil\nshutil.rmtree('/')\n", "print('rm -rf /')\n"),
        ("perl", "system('rm -rf /');\n", "print \"rm -rf /\\n\";\n"),
        ("node", "require('fs').rmSync('/etc', {recursive: true});\n", "console.log('rm -rf /');\n"),
        ("ruby", "FileUtils.rm_rf('/etc')\n", "puts 'rm -rf /'\n"),
        ("sql", "DROP TABLE customers;\n", "SELECT 'DROP TABLE x';\n"),
        ("make", "clean:\n\trm -rf /usr\n", "all:\n\techo done\n"),
        ("yaml", "steps:\n  - run: rm -rf /usr\n", "steps:\n  - run: echo done\n"),
        ("docker", "FROM x\nRUN rm -rf /etc\n", "FROM x\nRUN echo done\n"),
    ] {
        let run = env.run_with_input(&["check", "--language", language, "--json", "-"], high.as_bytes());
        let judged = object(&run.stdout);
        assert_eq!((judged["danger"].as_str(), run.code), (Some("high"), 120), "{language}: {run:?}");
        let finding = &judged["findings"][0];
        assert!(finding["line"].is_u64() && finding["rule"].is_string() && finding["why"].is_string());
        let run = env.run_with_input(&["check", "--language", language, "--json", "-"], low.as_bytes());
        assert_eq!(object(&run.stdout)["danger"], "low", "{language}: {run:?}");
        assert_eq!(run.code, 0, "{language}");
    }
}

#[test]
fn a_change_is_judged_by_what_it_hides() {
    let env = env();
    env.write("old.sh", "#!/bin/bash\nset -e\ncp a b\necho copied\n");
    env.write("mask.sh", "#!/bin/bash\nset -e\ncp a b || true\necho copied\n");
    env.write("good.sh", "#!/bin/bash\nset -e\nmkdir -p b\ncp a b\necho copied\n");
    let run = env.run(&["check", "--diff", "old.sh", "mask.sh", "--json"]);
    let judged = object(&run.stdout);
    assert_eq!((judged["masked"].as_bool(), judged["risk"].as_str()), (Some(true), Some("high")));
    assert_eq!((judged["findings"][0]["line"].as_u64(), run.code), (Some(3), 121), "{run:?}");
    let run = env.run(&["check", "--diff", "old.sh", "good.sh", "--language", "bash", "--json"]);
    let judged = object(&run.stdout);
    assert_eq!((judged["masked"].as_bool(), judged["risk"].as_str()), (Some(false), Some("low")));
    assert_eq!(run.code, 0);
}

#[test]
fn new_harm_in_a_change_is_of_high_risk_and_hides_nothing() {
    let env = env();
    env.write("old.sh", "#!/bin/sh\ncp a b\n");
    env.write("new.sh", "#!/bin/sh\ncp a b\nrm -rf /opt/old\n");
    let run = env.run(&["check", "--diff", "old.sh", "new.sh", "--json"]);
    let judged = object(&run.stdout);
    assert_eq!((judged["masked"].as_bool(), judged["risk"].as_str()), (Some(false), Some("high")));
    assert_eq!(run.code, 120);
}

#[test]
fn a_hook_needs_only_file_names_and_the_exit_code() {
    let env = env();
    env.write("a.sh", "echo fine\n");
    env.write("b", "#!/usr/bin/env python3\nimport os\nos.system('rm -rf /usr')\n");
    env.write("c.txt", "rm -rf /\n");
    let run = env.run(&["check", "a.sh", "b", "c.txt"]);
    assert_eq!(run.code, 120, "{run:?}");
    insta::assert_snapshot!(run.stdout);
    assert_eq!(env.run(&["check", "a.sh", "c.txt"]).code, 0);
    assert_eq!(env.run(&["check", "--fail-on", "never", "b"]).code, 0);
    env.write("m.sh", "git reset --hard\n");
    assert_eq!(env.run(&["check", "m.sh"]).code, 0);
    assert_eq!(env.run(&["check", "--fail-on", "medium", "m.sh"]).code, 120);
}

#[test]
fn findings_of_files_are_told_apart_in_json_and_sarif() {
    let env = env();
    env.write("a b.sh", "rm -rf /usr\n");
    let judged = object(&env.run(&["check", "--json", "a b.sh"]).stdout);
    assert_eq!(
        (&judged["findings"][0]["file"], &judged["findings"][0]["danger"]),
        (&"a b.sh".into(), &"high".into())
    );
    let run = env.run(&["check", "--sarif", "a b.sh"]);
    let document = object(&run.stdout);
    assert_eq!((document["version"].as_str(), run.code), (Some("2.1.0"), 120));
    let first = &document["runs"][0];
    let result = &first["results"][0];
    assert_eq!(result["level"], "error");
    assert_eq!(result["ruleId"], first["tool"]["driver"]["rules"][0]["id"]);
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.sh");
    assert_eq!(place["region"]["startLine"], 1);
}

#[test]
fn what_cannot_be_judged_is_never_called_harmless() {
    let env = env();
    env.write("big.sh", "echo x\n".repeat(100_000));
    env.write("bytes.sh", [b'#', 0, 1, 2]);
    env.write("broken.sh", "if true; then\n  echo x\n");
    for file in ["big.sh", "bytes.sh", "broken.sh"] {
        let run = env.run(&["check", "--json", file]);
        assert_eq!(run.code, 122, "{file}: {run:?}");
        assert_ne!(object(&run.stdout)["danger"], "low", "{file}");
    }
    env.write("latin.sh", b"# caf\xe9\necho x\n");
    assert_eq!(env.run(&["check", "latin.sh"]).code, 0);
    env.write("old.sh", "echo x\n");
    let run = env.run(&["check", "--diff", "old.sh", "bytes.sh", "--json"]);
    assert_eq!((run.code, object(&run.stdout)["risk"].as_str()), (122, Some("high")));
}

#[test]
fn what_is_wrong_with_the_question_is_told_with_a_hint() {
    let env = env();
    env.write("notes.xyz", "hello\n");
    for (args, code) in [
        (&["check"][..], 2),
        (&["check", "--diff", "a"], 2),
        (&["check", "--language", "cobol", "-"], 2),
        (&["check", "--json", "--sarif", "a"], 2),
        (&["check", "notes.xyz"], 2),
        (&["check", "-"], 2),
        (&["check", "missing.sh"], 1),
        (&["check", "."], 1),
    ] {
        let run = env.run(args);
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{args:?}: {run:?}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains("\nhint: "), "{args:?}: {run:?}");
    }
}

#[test]
fn rules_of_the_user_count_and_those_of_a_folder_only_tighten() {
    use std::os::unix::fs::PermissionsExt;
    let env = env();
    let rule = |name: &str, decision: &str| {
        format!(
            "[[rule]]\nname = \"{name}\"\ndecision = \"{decision}\"\njustification = \"So it was agreed.\"\n\
             command = [\"git\", \"reset\"]\nmatch = [\"git reset --hard\"]\nnot-match = [\"git status\"]\n"
        )
    };
    env.write("a.sh", "git reset --hard\n");
    let danger =
        || object(&env.run(&["check", "--json", "a.sh"]).stdout)["danger"].as_str().map(str::to_owned);
    assert_eq!(danger().as_deref(), Some("medium"));
    let project = env.write("selfheal-rules.toml", rule("fine", "allow"));
    let run = env.run(&["check", "a.sh"]);
    assert!(run.stderr.contains("do not count"), "{run:?}");
    assert_eq!(danger().as_deref(), Some("medium"));
    env.write("selfheal-rules.toml", rule("never", "forbid"));
    assert_eq!(danger().as_deref(), Some("high"));
    std::fs::set_permissions(&project, std::fs::Permissions::from_mode(0o666)).unwrap();
    let run = env.run(&["check", "a.sh"]);
    assert!(run.stderr.contains("can be written by somebody else"), "{run:?}");
    assert_eq!(danger().as_deref(), Some("medium"));
    env.write("selfheal-rules.toml", rule("never", "forbid").replace("git status", "git reset x"));
    std::fs::set_permissions(&project, std::fs::Permissions::from_mode(0o644)).unwrap();
    let run = env.run(&["check", "a.sh"]);
    assert!(run.stderr.contains("should not match and does"), "{run:?}");
}

#[test]
fn encoding_mode_and_owner_of_a_changed_script_stay() {
    use std::os::unix::fs::PermissionsExt;
    let env = env();
    let old = env.write("old.sh", b"#!/bin/sh\n# caf\xe9\ncp a b\n");
    let new = env.write("new.sh", b"#!/bin/sh\n# caf\xe9\ncp -p a b\n");
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let judged = || {
        let judged = object(&env.run(&["check", "--diff", "old.sh", "new.sh", "--json"]).stdout);
        let rules = judged["findings"].as_array().unwrap().iter();
        let rules: Vec<String> = rules.map(|one| one["rule"].as_str().unwrap().to_owned()).collect();
        (judged["risk"].as_str().unwrap().to_owned(), rules.join(" "))
    };
    mode(&old, 0o644);
    mode(&new, 0o755);
    assert_eq!(judged(), ("low".to_owned(), String::new()));
    for (bits, risk) in [(0o664, "medium"), (0o666, "high"), (0o4755, "high")] {
        mode(&new, bits);
        assert_eq!(judged(), (risk.to_owned(), "size/mode".to_owned()), "{bits:o}");
    }
    mode(&new, 0o644);
    env.write("new.sh", "#!/bin/sh\n# café\ncp -p a b\n");
    assert_eq!(judged(), ("medium".to_owned(), "size/encoding".to_owned()));
    if std::os::unix::fs::chown(&new, Some(65_534), None).is_ok() {
        assert_eq!(judged().1, "size/encoding size/owner");
    }
}
