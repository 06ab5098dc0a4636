//! What exit codes mean, by tables of the user, the project and the program.

use crate::support::{document, env};

const OWN: &str = r#"[[profile]]
command = ["job.sh"]
codes = [{ code = [3], outcome = "negative", meaning = "there was nothing to import" }]
examples = [{ argv = "job.sh", code = 3, outcome = "negative" }]
"#;

fn with_table(name: &str, text: &str) -> selfheal_testkit::TestEnv {
    let env = env();
    let folder = env.home().join(".config/selfheal/profiles");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
    env.script("job.sh", "#!/bin/sh\necho partial >&2\nexit 3\n");
    env
}

#[test]
fn a_users_own_profile_counts() {
    let env = with_table("import.toml", OWN);
    let (run, document) = document(&env, &["--", "./job.sh"]);
    assert_eq!((run.code, document["status"].as_str()), (3, Some("negative")), "{run:?}");
    let (run, behind) = crate::support::document(&env, &["--", "sh", "job.sh"]);
    assert_eq!((run.code, behind["status"].as_str()), (3, Some("negative")), "{run:?}");
    let shown = env.run(&["profile", "show", "job.sh"]);
    assert!(shown.stdout.contains("an answer") && shown.stdout.contains("nothing to import"), "{shown:?}");
    assert_eq!(env.run(&["profile", "test"]).code, 0);
}

#[test]
fn a_broken_profile_is_left_out_with_one_line_that_names_file_and_line() {
    let env = with_table("import.toml", &OWN.replace("codes", "cods"));
    let run = env.run(&["run", "--", "./job.sh"]);
    let told: Vec<&str> = run.stderr.lines().filter(|line| line.contains("import.toml")).collect();
    assert_eq!(run.code, 3);
    assert!(told.len() == 1 && told[0].contains("line 3") && told[0].contains("does not count"), "{run:?}");
    let tested = env.run(&["profile", "test"]);
    assert!(tested.code == 1 && tested.stderr.contains("line 3"), "{tested:?}");
    assert!(!env.run(&["run", "--", "true"]).stderr.contains("import.toml"), "a good run reads no table");
}

#[test]
fn an_example_that_does_not_hold_is_told() {
    let env = env();
    env.write("mine.toml", OWN.replace("code = 3, outcome", "code = 4, outcome"));
    let tested = env.run(&["profile", "test", "mine.toml"]);
    assert!(
        tested.code == 1 && tested.stderr.contains("job.sh") && tested.stderr.contains("hint: "),
        "{tested:?}"
    );
    env.write("mine.toml", OWN);
    assert_eq!(env.run(&["profile", "test", "mine.toml"]).code, 0);
}

#[test]
fn a_project_cannot_call_a_code_harmless() {
    let env = env();
    env.script("job.sh", "#!/bin/sh\necho partial >&2\nexit 3\n");
    env.write("selfheal-profiles.toml", OWN);
    let (run, document) = document(&env, &["--", "./job.sh"]);
    assert_ne!(document["status"], "negative", "{run:?}");
    assert!(run.stderr.contains("a project cannot say so"), "{run:?}");
}

#[test]
fn what_is_learned_is_a_proposal() {
    let env = env();
    if !env.run(&["doctor"]).stdout.contains("rung overlay") {
        return;
    }
    env.script("tools/mytool", "#!/bin/sh\necho 'Usage: mytool'\necho 'Exit status:'\necho ' 0  good'\necho ' 1  nothing found'\necho ' 2  an error'\n");
    let path = format!("{}:{}", env.work().join("tools").display(), std::env::var("PATH").unwrap());
    let env = env.with("PATH", path);
    let learned = env.run(&["profile", "learn", "mytool"]);
    assert!(learned.code == 0 && learned.stdout.contains("accepted = false"), "{learned:?}");
    assert!(learned.stdout.contains("code = [1], outcome = \"negative\""), "{learned:?}");
    env.write("mine.toml", &learned.stdout);
    assert!(learned.stdout.contains("# 1 nothing found"), "what it rests on: {learned:?}");
    assert!(env.run(&["profile", "test", "mine.toml"]).stdout.contains("nothing that is accepted"));
    assert_eq!(env.run(&["profile", "learn", "mytool", "--write"]).code, 0);
    assert_eq!(env.run(&["profile", "show", "mytool"]).code, 1, "it does not count yet");
    let again = env.run(&["profile", "learn", "mytool", "--write"]);
    assert!(again.code == 1 && again.stderr.contains("hint: "), "nothing is overwritten: {again:?}");
    assert_eq!(env.run(&["profile", "accept", "mytool"]).code, 0);
    assert!(env.run(&["profile", "show", "mytool"]).stdout.contains("nothing found"));
    assert_eq!(env.run(&["profile", "accept", "mytool"]).code, 1);
    let nothing = env.run(&["profile", "learn", "true-that-is-not-there"]);
    assert!(nothing.code == 1 && nothing.stderr.contains("hint: "), "{nothing:?}");
}

#[test]
fn a_command_without_a_profile_is_an_error_with_a_hint() {
    let shown = env().run(&["profile", "show", "nothing-known"]);
    assert!(shown.code == 1 && shown.stderr.contains("hint: selfheal profile learn"), "{shown:?}");
    assert!(env().run(&["profile", "show", "grep"]).stdout.contains("no line matched"));
}

#[test]
fn examples_are_run_against_the_command_that_is_here_once_a_version() {
    let env = env();
    if !env.run(&["doctor"]).stdout.contains("rung overlay") {
        return;
    }
    assert!(env.run(&["profile", "show", "grep"]).stdout.contains("verified with "));
    let tool = |code: u32, version: &str| {
        let text =
            format!("#!/bin/sh\n[ \"$1\" = --version ] && {{ echo mytool {version}; exit; }}\nexit {code}\n");
        // Both exist for a moment, so that the new one is another file.
        let new = env.script("tools/new", &text);
        std::fs::rename(new, env.work().join("tools/mytool")).unwrap();
    };
    let folder = env.home().join(".config/selfheal/profiles");
    std::fs::create_dir_all(&folder).unwrap();
    let table = "[[profile]]\ncommand = [\"mytool\"]\n\
        codes = [{ code = [4], outcome = \"negative\", meaning = \"nothing new\" }]\n\
        examples = [{ argv = \"mytool x\", code = 4, outcome = \"negative\", files = {} }]\n";
    std::fs::write(folder.join("mine.toml"), table).unwrap();
    tool(4, "1.0");
    let path = format!("{}:{}", env.work().join("tools").display(), std::env::var("PATH").unwrap());
    let shown = |env: &selfheal_testkit::TestEnv| {
        let mut command = env.command(&["profile", "show", "mytool"]);
        String::from_utf8(command.env("PATH", &path).output().unwrap().stdout).unwrap()
    };
    let first = shown(&env);
    assert!(first.contains("verified with mytool 1.0 (1 of 1 examples)"), "{first}");
    tool(5, "2.0");
    let changed = shown(&env);
    assert!(changed.contains("unverified with mytool 2.0") && changed.contains("5 and not 4"), "{changed}");
    std::fs::remove_file(env.work().join("tools/mytool")).unwrap();
    assert!(shown(&env).contains("not on this machine"));
}

#[test]
fn a_code_may_be_declared_an_answer_on_the_command_line() {
    let env = env();
    env.script("job.sh", "#!/bin/sh\necho partial >&2\nexit 3\n");
    let (run, document) = document(&env, &["--answer", "3", "--answer", "4", "--", "./job.sh"]);
    assert_eq!((run.code, document["status"].as_str()), (3, Some("negative")), "{run:?}");
    assert_eq!(env.run(&["run", "--answer", "0", "--", "true"]).code, 2);
}

#[test]
fn a_profile_that_is_wrong_is_told_with_its_line() {
    let env = env();
    let table = |codes: &str| format!("[[profile]]\ncommand = [\"x\"]\ncodes = [\n{codes}]\n");
    let failed = "{ code = [1], outcome = \"failed\", meaning = \"m\" },\n";
    for (codes, line, what) in [
        ("{ code = [300], outcome = \"failed\", meaning = \"m\" }\n".to_owned(), 4, "no code of 1 to 255"),
        (format!("{failed}{failed}"), 5, "overlaps"),
        (format!("{failed}{{ code = [2], outcome = \"bad\", meaning = \"m\" }}\n"), 5, "unknown variant"),
        (format!("{failed}{{ code = [2], outcome = \"failed\", meaning = \"\" }}\n"), 5, "needs a meaning"),
        (format!("{failed}{{ cod = [2], outcome = \"failed\", meaning = \"m\" }}\n"), 5, "unknown field"),
    ] {
        env.write("mine.toml", table(&codes));
        let tested = env.run(&["profile", "test", "mine.toml"]);
        let told = format!("mine.toml: line {line}: ");
        assert!(
            tested.code == 1 && tested.stderr.contains(&told) && tested.stderr.contains(what),
            "{tested:?}"
        );
    }
}
