//! Snapshots of whole reports on runs with a probe.

use std::collections::BTreeMap;

use selfheal_core::report::Report;
use selfheal_core::trace::{Frame, Step, Trace};
use selfheal_feedback::report::{ReportInput, report};

use crate::support::{RealScene, job, run};

/// A folder with a script, its report, and the folder's name taken out.
fn report_with(
    script: &str,
    files: &[(&str, &str)],
    output: &str,
    trace: impl Fn(&str) -> Option<Trace>,
) -> String {
    let folder = tempfile::Builder::new().prefix("job").tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("x.sh"), script).unwrap();
    for (name, content) in files {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), content).unwrap();
    }
    let mut job = job("bash x.sh", &root);
    let path = root.join("x.sh");
    job.script = Some(path.clone());
    let run = run(1, b"", output.as_bytes());
    let name = root.to_string_lossy().into_owned();
    let trace = trace(&name);
    let scene = RealScene(root);
    let report: Report = report(&ReportInput {
        job: &job,
        argv: &job.argv,
        run: &run,
        script: Some((&path, script)),
        trace: trace.as_ref(),
        scene: &scene,
        stdin: None,
        profiles: None,
    });
    serde_json::to_string_pretty(&report).unwrap().replace(&name, "/job")
}

fn step(root: &str, line: u32, words: &[&str], status: i32) -> Step {
    Step {
        file: format!("{root}/x.sh").into(),
        line,
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        status: Some(status),
    }
}

#[test]
fn a_pattern_without_match() {
    let script = "#!/bin/bash\nset -euo pipefail\nfor f in in/*.csv; do\n  cp \"$f\" out/\ndone\n";
    let trace = |root: &str| {
        let frame = Frame {
            file: format!("{root}/x.sh").into(),
            line: 4,
            function: "main".into(),
            source: "cp \"$f\" out/".into(),
            values: BTreeMap::from([("f".to_owned(), "in/*.csv".to_owned())]),
        };
        Some(Trace {
            steps: vec![step(root, 4, &["cp", "in/*.csv", "out/"], 1)],
            frames: vec![frame],
            failing: Some(0),
            complete: true,
            ..Trace::default()
        })
    };
    let text = report_with(script, &[], "cp: cannot stat 'in/*.csv': No such file or directory\n", trace);
    insta::assert_snapshot!(text);
}

#[test]
fn arithmetic_that_ends_a_strict_script() {
    let script = "#!/bin/bash\nset -e\ni=0\n((i++))\necho done\n";
    let trace = |root: &str| {
        Some(Trace {
            steps: vec![step(root, 4, &["((i++))"], 1)],
            failing: Some(0),
            complete: true,
            ..Trace::default()
        })
    };
    insta::assert_snapshot!(report_with(script, &[], "", trace));
}

#[test]
fn a_renamed_file() {
    let script = "#!/bin/bash\nsort data/orders-2024.csv > out\n";
    let files = [("data/orders_2024.csv", "id;total\n")];
    let output = "sort: cannot read: data/orders-2024.csv: No such file or directory\n";
    insta::assert_snapshot!(report_with(script, &files, output, |_| None));
}

#[test]
fn the_stage_of_a_pipe_whose_code_is_an_answer_is_named_without_a_probe() {
    let text = report_with("set -euo pipefail\ngrep x f | sort > out\n", &[("f", "a\n")], "", |_| None);
    assert!(text.contains("With pipefail, `grep x f` in the pipe of line 2"), "{text}");
    assert!(text.contains("no line matched"), "{text}");
    let two = report_with("set -euo pipefail\ngrep x f | grep y > out\n", &[("f", "a\n")], "", |_| None);
    assert!(!two.contains("With pipefail, `"), "which of two it was is not known: {two}");
}

/// A signal names nobody: only a text that speaks of memory makes memory the cause.
#[test]
fn killed_without_a_word() {
    let cause = |output: &str| {
        let told = report_with("#!/bin/bash\npython3 big.py\n", &[], output, |_| None);
        let told: Report = serde_json::from_str(&told).unwrap();
        told.causes.first().map(|cause| cause.id.clone())
    };
    let killed = "x.sh: line 2: 12345 Killed                  python3 big.py\n";
    assert_eq!(cause(killed).as_deref(), Some("killed-outright"));
    let memory = "Traceback (most recent call last):\n  File \"big.py\", line 1, in <module>\nMemoryError\n";
    assert_eq!(cause(memory).as_deref(), Some("memory-used-up"));
}
