//! Whether jobs may run again.

use std::path::Path;

use selfheal_core::effects::{Change, Effect};
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::run::{Ended, Run};
use selfheal_core::trace::{Step, Trace};
use selfheal_feedback::repeat::{RepeatInput, Repeatability, repeatable};

use crate::support::{job, run};

/// What is known of a job and its run when nothing else is.
fn known<'a>(job: &'a Job, run: &'a Run) -> RepeatInput<'a> {
    RepeatInput { job, trace: None, effects: None, script: None, failed_line: None, run }
}

/// Judges a script whose line `failed` failed.
fn script(text: &str, failed: Option<u32>) -> Repeatability {
    let job = job("bash x.sh", Path::new("/job"));
    let run = run(1, b"", b"");
    repeatable(&RepeatInput { script: Some(text), failed_line: failed, ..known(&job, &run) })
}

/// Judges a command without a script.
fn command(line: &str) -> bool {
    let job = job(line, Path::new("/job"));
    repeatable(&known(&job, &run(1, b"", b""))).may
}

#[test]
fn the_owners_word_comes_first() {
    let run = run(1, b"", b"");
    let judge = |job: &Job| repeatable(&RepeatInput { script: Some("mail x\n"), ..known(job, &run) }).may;
    let plain = job("bash x.sh", Path::new("/job"));
    assert!(!judge(&plain));
    assert!(judge(&Job { repeatable: Repeatable::Declared, ..plain.clone() }));
    let quiet = "true\n";
    let forbidden = Job { repeatable: Repeatable::Forbidden, ..plain.clone() };
    assert!(repeatable(&RepeatInput { script: Some(quiet), ..known(&plain, &run) }).may);
    assert!(!repeatable(&RepeatInput { script: Some(quiet), ..known(&forbidden, &run) }).may);
}

#[test]
fn what_never_started_may_start_again() {
    let job = job("./x", Path::new("/job"));
    let mut run = run(127, b"", b"");
    assert!(!repeatable(&known(&job, &run)).may);
    run.ended = Ended::NotFound;
    assert!(repeatable(&known(&job, &run)).may);
}

#[test]
fn the_text_counts_up_to_the_line_that_failed() {
    let text = "#!/bin/bash\nset -e\ncurl -fsS https://x > new\nmail -s done y@z < new\n";
    assert!(script(text, Some(3)).may);
    let after = script(text, Some(4));
    assert!(!after.may && after.why.contains("line 4"), "{after:?}");
    assert!(!script(text, None).may);
    let with_function = format!("{text}note() {{\n  :\n}}\n");
    assert!(!script(&with_function, Some(3)).may, "a function may have been called from anywhere");
}

#[test]
fn a_download_into_a_new_name_may_be_repeated() {
    let text = "set -eu\nt=$(mktemp)\ncurl -fsS u -o \"$t\"\nsort \"$t\" > feed.new\nmv feed.new feed\nrm -f \"$t\"\n";
    assert_eq!(script(text, None).why, "its text holds nothing that must not happen twice");
    assert!(!script("sort in > out\nmv in done/\n", None).may);
    assert!(!script("date >> log\nfalse\n", None).may);
}

#[test]
fn text_of_other_languages_is_searched_for_telling_words() {
    assert!(!script("import smtplib\n", None).may);
    assert!(!script("import requests\nrequests.post(url)\n", None).may);
    assert!(script("import csv\nprint(open('x').read())\n", None).may);
}

#[test]
fn known_commands_need_no_script() {
    assert!(command("curl -fsS https://x"));
    assert!(command("nice wget -q https://x"));
    assert!(!command("curl -d x https://x"));
    assert!(!command("sudo apt-get update"));
    assert!(command("apt-get update"));
    assert!(!command("./unknown-program"));
}

#[test]
fn what_a_probe_saw_counts() {
    let job = job("bash x.sh", Path::new("/job"));
    let run = run(1, b"", b"");
    let step = |line, words: &[&str]| Step {
        file: "/job/x.sh".into(),
        line,
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        status: Some(0),
    };
    let judge = |failing| {
        let trace = Trace {
            steps: vec![step(1, &["curl", "-fsS", "u"]), step(2, &["git", "push"]), step(3, &["date"])],
            failing: Some(failing),
            complete: true,
            ..Trace::default()
        };
        let text = "curl -fsS u\ngit push\ndate >> log\n";
        repeatable(&RepeatInput { trace: Some(&trace), script: Some(text), ..known(&job, &run) })
    };
    assert!(judge(0).may);
    assert!(judge(1).why.contains("git push"));
    let only_append =
        Trace { steps: vec![step(3, &["date"])], failing: Some(0), complete: true, ..Trace::default() };
    let text = "curl -fsS u\ngit push\ndate >> log\n";
    let input = RepeatInput { trace: Some(&only_append), script: Some(text), ..known(&job, &run) };
    assert!(repeatable(&input).why.contains("appends"));
}

#[test]
fn files_that_grew_or_went_count() {
    let job = job("bash x.sh", Path::new("/job"));
    let run = run(1, b"", b"");
    let judge = |change| {
        let effects = [Effect { path: "/job/ledger.csv".into(), change, len: 9, content: None, mode: 0o644 }];
        repeatable(&RepeatInput { effects: Some(&effects), script: Some("true\n"), ..known(&job, &run) }).may
    };
    assert!(!judge(Change::Appended));
    assert!(!judge(Change::Deleted));
    assert!(judge(Change::Created));
    assert!(judge(Change::Changed));
}
