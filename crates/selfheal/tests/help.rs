//! The whole command line as one snapshot, and the generated files in `docs/`.

use crate::support::env;

const COMMANDS: &[&str] = &[
    "run",
    "demo",
    "incidents",
    "show",
    "try",
    "explain",
    "label",
    "env-diff",
    "profile",
    "profile show",
    "profile test",
    "profile learn",
    "check",
    "approve",
    "reject",
    "undo",
    "allow",
    "audit",
    "limits",
    "freeze",
    "thaw",
    "tick",
    "doctor",
    "init",
    "cron",
    "cron list",
    "cron wrap",
    "cron unwrap",
    "survey",
    "knowledge",
    "knowledge add",
    "knowledge list",
    "knowledge search",
    "knowledge refresh",
    "knowledge remove",
    "generate",
];

#[test]
fn the_command_line() {
    let env = env().with("COLUMNS", "100");
    let mut all = env.run(&["--help"]).stdout;
    for command in COMMANDS {
        let args: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        all.push_str(&format!("\n$ selfheal {command} --help\n{}", env.run(&args).stdout));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn what_is_wrong_with_a_command_line_is_told_with_a_hint() {
    let env = env();
    for args in [
        &["run"][..],
        &["run", "--apply", "high", "--", "true"],
        &["run", "--deadline", "0", "--", "true"],
        &["run", "--", ""],
        &["run", "--model-url", "http://127.0.0.1:1", "--", "true"],
        &["frobnicate"],
    ] {
        let run = env.run(args);
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains("\nhint: "), "{args:?}: {run:?}");
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn a_wrong_command_line_is_told_without_the_words_of_the_grammar() {
    let env = env();
    for (args, error, hint) in [
        (&[][..], "a command is missing", "selfheal --help"),
        (&["cron"], "a command is missing", "selfheal --help"),
        (&["run", "true"], "unexpected argument 'true' found", "selfheal run -- COMMAND"),
        (&["run", "bash", "x.sh", "--fast"], "unexpected argument 'bash' found", "selfheal run -- COMMAND"),
        (&["run", "--deadline", "-1", "--", "true"], "unexpected argument '-1' found", "selfheal --help"),
        (
            &["run", "--deadline", "soon", "--", "true"],
            "invalid value 'soon' for '--deadline <SECONDS>': invalid digit found in string",
            "selfheal --help",
        ),
    ] {
        let run = env.run(args);
        let mut lines = run.stderr.lines();
        assert_eq!(lines.next(), Some(format!("error: {error}").as_str()), "{args:?}: {run:?}");
        assert!(lines.next().is_some_and(|line| line.contains(hint)), "{args:?}: {run:?}");
        assert_eq!((run.code, lines.next()), (2, None), "{args:?}: {run:?}");
    }
}

#[test]
fn generated_documents_are_up_to_date() {
    let env = env();
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (what, file) in [
        ("run-schema", "run.schema.json"),
        ("task-schema", "task.schema.json"),
        ("rules", "rules.md"),
        ("profiles", "profiles.md"),
    ] {
        let now = env.run(&["generate", what]).stdout;
        let kept = std::fs::read_to_string(docs.join(file)).unwrap_or_default();
        assert!(now == kept, "cargo run -- generate {what} > docs/{file}");
    }
}

#[test]
fn limits_and_doctor_speak() {
    let env = env();
    insta::assert_snapshot!(env.run(&["limits"]).stdout);
    let doctor = env.run(&["doctor"]);
    for point in ["box", "state", "interpreters", "model", "timer", "policy"] {
        assert!(doctor.stdout.contains(point), "{point}: {}", doctor.stdout);
    }
}

#[test]
fn init_writes_a_file_that_counts_and_never_overwrites_one() {
    let env = env();
    assert_eq!(env.run(&["init"]).code, 2, "there is nobody to ask");
    let written = env.run(&["init", "--yes"]);
    assert_eq!(written.code, 0, "{written:?}");
    assert!(env.run(&["doctor"]).stdout.contains("low apply, medium park"));
    let again = env.run(&["init", "--yes"]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("hint: "), "{again:?}");
}
