//! What a failing job prints is hostile: huge, broken, or made to be slow to read.

use std::path::Path;

use selfheal_core::run::Capture;
use selfheal_feedback::profiles::documented::documented_exit_codes;
use selfheal_feedback::profiles::{InterpretInput, Profiles};
use selfheal_feedback::repeat::{RepeatInput, repeatable};

use crate::support::{job, report_on, run};

/// Reads an output in every way that there is.
fn read(output: &[u8]) {
    let job = job("bash x.sh", Path::new("/nonexistent"));
    let run = run(1, output, output);
    let text = String::from_utf8_lossy(output).into_owned();
    let report = report_on(&job, &run, Some((Path::new("/nonexistent/x.sh"), &text)));
    assert!(!report.faults.is_empty());
    assert!(report.core_error.chars().count() <= 400);
    assert!(report.signature.as_str().chars().count() <= 240);
    assert!(report.causes.len() <= 3);
    let input = InterpretInput { argv: &job.argv, run: &run, script: Some(&text), trace: None };
    let _ = Profiles::builtin().interpret(&input);
    let input = RepeatInput {
        job: &job,
        trace: None,
        effects: None,
        script: Some(&text),
        failed_line: None,
        run: &run,
        scene: None,
    };
    assert!(!repeatable(&input).why.is_empty());
}

#[test]
fn long_output_without_a_line_end_is_read() {
    for piece in [
        "x",
        "'",
        ": ",
        "Traceback (most recent call last):",
        "File \"a\", line 1",
        "{",
        "${",
        "((",
        "\"$(",
        "`",
        "\u{0}",
    ] {
        read(piece.repeat(250_000 / piece.len()).as_bytes());
    }
}

#[test]
fn many_short_lines_are_read() {
    for line in [
        "x.sh: line 1: y: No such file or directory\n",
        "Traceback (most recent call last):\n",
        "  File \"x\", line 1, in y\n",
        "    at x (y.js:1:1)\n",
        "TypeError: x\n",
        "a\\\n",
        "\n",
        "# 1 found\n",
        "> x >> y\n",
    ] {
        read(line.repeat(120_000 / line.len()).as_bytes());
    }
}

#[test]
fn bytes_that_are_no_text_are_read() {
    read(&(0..=255_u8).cycle().take(300_000).collect::<Vec<_>>());
    read(b"\xff\xfe: \xe9: No such file or directory\n");
    read("\u{130}\u{130}: no such file or directory \u{1e9e}\n".as_bytes());
    read("x: ‘’’’’“”„“«»: Permission denied\nline :1:1:1: x\n:1: y\n".as_bytes());
}

#[test]
fn a_stream_with_a_gap_is_read_at_both_ends() {
    let job = job("bash x.sh", Path::new("/nonexistent"));
    let mut run = run(1, b"", b"");
    run.stderr = Capture {
        head: b"go\nhalf a li".to_vec(),
        tail: b"ne\ncp: cannot stat 'x': No such file or directory\n".to_vec(),
        total: 9_000_000,
    };
    assert_eq!(report_on(&job, &run, None).core_error, "cp: cannot stat 'x': No such file or directory");
}

#[test]
fn a_script_that_pretends_to_document_is_bounded() {
    let text = format!("# exit 1  {}\n", "found ".repeat(500_000));
    let codes = documented_exit_codes(&text);
    assert!(codes.iter().all(|(_, meaning, _)| meaning.chars().count() <= 400));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(100))]

    #[test]
    fn nothing_that_is_printed_makes_it_panic(text in "(?s)[ -~\n\r\t:'\"`$(){}‘’é世]{0,400}") {
        read(text.as_bytes());
    }
}
