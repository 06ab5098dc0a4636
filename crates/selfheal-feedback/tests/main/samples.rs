//! Samples of what real tools print, each with the fault that must be read from it.

use std::collections::BTreeMap;
use std::path::Path;

use selfheal_core::report::Report;

use crate::support::{job, report_on, run};

const FILES: [(&str, &str); 9] = [
    ("build", include_str!("samples/build.txt")),
    ("coreutils", include_str!("samples/coreutils.txt")),
    ("data", include_str!("samples/data.txt")),
    ("git", include_str!("samples/git.txt")),
    ("network", include_str!("samples/network.txt")),
    ("python", include_str!("samples/python.txt")),
    ("scripts", include_str!("samples/scripts.txt")),
    ("services", include_str!("samples/services.txt")),
    ("shells", include_str!("samples/shells.txt")),
];

#[test]
fn every_sample_is_read_as_what_it_is() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (file, text) in FILES {
        for block in text.split("\n--- ").skip(1) {
            count += 1;
            let (expected, output) = block.split_once('\n').unwrap();
            let report = report_on(&job("bash x", Path::new("/job")), &run(1, b"", output.as_bytes()), None);
            for problem in problems(expected, &report) {
                wrong.push(format!(
                    "{file}: {expected}\n    {problem}\n    {}",
                    output.lines().last().unwrap_or("")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} samples:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 80, "only {count} samples were found");
}

/// What of the expectation does not hold.
fn problems(expected: &str, report: &Report) -> Vec<String> {
    let mut words = expected.split(' ');
    let kind = words.next().unwrap();
    let wanted: BTreeMap<&str, &str> = words.map(|word| word.split_once('=').unwrap()).collect();
    let fault = serde_json::to_value(report.fault().unwrap()).unwrap();
    let mut out = Vec::new();
    if fault["fault"] != kind {
        return vec![format!("read as {fault}")];
    }
    for (name, value) in wanted {
        let value = value.replace("\\r", "\r");
        let got = match name {
            "class" => report.class.word().to_owned(),
            "at" => report.location.as_ref().map_or("nowhere".to_owned(), |at| {
                let file = at.file.strip_prefix("/job").unwrap_or(&at.file);
                format!("{}:{}", file.display(), at.line)
            }),
            field => fault[field]
                .as_str()
                .map_or_else(|| fault[field].to_string(), str::to_owned)
                .replace(' ', "_"),
        };
        let value = value.strip_prefix("/job/").filter(|_| name == "at").unwrap_or(&value).to_owned();
        if got != value.replace(' ', "_") {
            out.push(format!("{name} is {got:?}, not {value:?}"));
        }
    }
    out
}
