//! Real programs, run here, fail in real ways; the report must say so. Programs that a machine lacks are left out.

use std::ffi::OsString;
use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::outcome::{Class, Outcome};
use selfheal_core::report::{Confidence, Report};
use selfheal_feedback::profiles::{InterpretInput, Profiles};

use crate::support::{job, really_run, report_on};

/// Runs a script and answers the report.
fn of(interpreter: &str, name: &str, text: &str) -> Option<Report> {
    let found = std::process::Command::new(interpreter).arg("-c").arg("").output();
    found.ok()?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let mut job = job(&format!("{interpreter} {name}"), folder.path());
    job.script = Some(path.clone());
    let run = really_run(&job.argv, folder.path());
    assert_ne!(run.ended.code(), 0, "{text}");
    Some(report_on(&job, &run, Some((&path, text))))
}

#[test]
fn bash_says_where() {
    let report = of("bash", "x.sh", "set -euo pipefail\necho go\ncp missing-file elsewhere\n").unwrap();
    assert_eq!(report.fault(), Some(&Fault::NoSuchPath { path: "missing-file".into() }));
    assert_eq!(report.location.map(|at| at.line), Some(3));
    assert_eq!(report.command.unwrap().words, ["cp", "missing-file", "elsewhere"]);
    assert_eq!(report.confidence, Confidence::High);
    let numbers: Vec<u32> = report.snippet.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn a_test_that_counts_as_false_did_not_end_the_job() {
    let text = "set -e\nn=2\nif [ $n == 0 ]; then exit; fi\ncp /dev/null missing/x\n";
    let Some(report) = of("dash", "x.sh", text) else { return };
    assert_eq!(report.location.map(|place| place.line), Some(4), "{}", report.core_error);
    assert!(report.core_error.contains("cp"), "{}", report.core_error);
    assert!(report.faults.contains(&Fault::Dialect { construct: "[ == ]".into() }), "{:?}", report.faults);
}

#[test]
fn a_shell_script_with_windows_line_ends_is_known() {
    let report = of("bash", "x.sh", "set -e\r\ncd /tmp\r\n").unwrap();
    assert!(matches!(report.fault(), Some(Fault::CarriageReturn { .. })), "{:?}", report.faults);
    assert_eq!(report.class, Class::Environment);
    assert_eq!(report.causes[0].id, "crlf-line-ends");
}

#[test]
fn python_says_where() {
    let text = "def read(row):\n    return row['total']\n\nread({'sum': 1})\n";
    if let Some(report) = of("python3", "x.py", text) {
        assert_eq!(report.fault(), Some(&Fault::KeyMissing { key: "total".into() }));
        let at = report.location.unwrap();
        assert_eq!((at.line, at.function.as_deref()), (2, Some("read")));
    }
}

#[test]
fn perl_says_where() {
    if let Some(report) = of("perl", "x.pl", "use strict;\nuse Nope::Module;\n") {
        assert_eq!(report.fault(), Some(&Fault::MissingModule { name: "Nope::Module".into() }));
        assert_eq!(report.location.map(|at| at.line), Some(2));
    }
}

/// What a command that was really run means.
fn outcome(argv: &[&str], folder: &Path) -> Outcome {
    let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
    let run = really_run(&argv, folder);
    Profiles::builtin().interpret(&InterpretInput { argv: &argv, run: &run, script: None, trace: None })
}

#[test]
fn answers_of_real_tools_are_no_failures() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "one\n").unwrap();
    std::fs::write(folder.path().join("b"), "two\n").unwrap();
    for argv in [
        &["grep", "two", "a"][..],
        &["diff", "a", "b"],
        &["cmp", "a", "b"],
        &["test", "-e", "c"],
        &["env", "LC_ALL=C", "nice", "diff", "-q", "a", "b"],
        &["sh", "-c", "grep -q two a"],
        &["sort", "-c", "/dev/stdin", "-C", "c"],
    ] {
        let seen = outcome(argv, folder.path());
        let missing = argv.contains(&"c") && argv[0] == "sort";
        assert_eq!(matches!(seen, Outcome::Negative { .. }), !missing, "{argv:?}: {seen:?}");
    }
    assert_eq!(outcome(&["true"], folder.path()), Outcome::Succeeded);
    assert!(matches!(outcome(&["grep", "x", "c"], folder.path()), Outcome::Failed { .. }));
    assert!(matches!(
        outcome(&["timeout", "0.01", "sleep", "5"], folder.path()),
        Outcome::Failed { class: Class::Transient, .. }
    ));
}

/// Runs a shell script and answers what it means.
fn script_outcome(text: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.sh"), text).unwrap();
    let argv = ["sh", "x.sh"].map(OsString::from);
    let run = really_run(&argv, folder.path());
    Profiles::builtin().interpret(&InterpretInput { argv: &argv, run: &run, script: Some(text), trace: None })
}

#[test]
fn a_script_that_documents_its_answer_is_believed_only_with_evidence() {
    let head = "#!/bin/sh\n# Exit codes:\n#   0  nothing to do\n#   1  changes were found\n#   2  error\n";
    let negative = |text: &str| matches!(script_outcome(&format!("{head}{text}")), Outcome::Negative { .. });
    assert!(negative("echo 'changed: x'\nexit 1\n"));
    assert!(!negative("echo 'error: no input' >&2\nexit 1\n"), "it complained");
    assert!(
        !negative("set -e\nfalse\necho 'changed: x'\nexit 1\n"),
        "strict mode ended it before its answer"
    );
    assert!(
        !negative("set -e\necho checking\nfalse\necho 'changed: x'\nexit 1\n"),
        "the same after some progress"
    );
    assert!(
        !negative("[ -d /nonexistent ] && { echo 'changed: x'; exit 1; }\ngrep x /dev/null\n"),
        "it fell off its end"
    );
    assert!(negative("[ -d / ] && exit 1\nexit 0\n"), "it can end with 1 in no other way");
    assert!(!negative("grep x /dev/null\n"), "it never ends by an explicit exit 1");
    assert!(!negative("exit 2\n"), "2 is an error");
    assert!(matches!(script_outcome("#!/bin/sh\ngrep x /dev/null\n"), Outcome::Failed { .. }));
}
