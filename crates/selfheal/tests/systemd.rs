//! The units in `packaging/systemd`: their form, the commands in them, and what systemd itself says of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::env;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd")
}

/// Name and text of every unit and drop-in.
fn units() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|file| {
            (file.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&file).unwrap())
        })
        .collect();
    all.sort();
    all
}

/// The sections that a unit of each kind may have.
fn sections(name: &str) -> &'static [&'static str] {
    if name.ends_with(".timer") { &["[Unit]", "[Timer]", "[Install]"] } else { &["[Unit]", "[Service]"] }
}

#[test]
fn every_line_is_a_comment_a_section_or_a_setting() {
    let units = units();
    assert_eq!(units.len(), 6);
    for (name, text) in units {
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let setting =
                line.split_once('=').is_some_and(|(key, _)| key.bytes().all(|b| b.is_ascii_alphabetic()));
            assert!(setting || sections(&name).contains(&line), "{name}: {line}");
        }
    }
}

#[test]
fn what_a_unit_refers_to_is_there() {
    let units = units();
    for (name, text) in &units {
        for handler in text.lines().filter_map(|line| line.strip_prefix("OnFailure=")) {
            let template = handler.split_once('@').unwrap().0.to_owned() + "@.service";
            assert!(units.iter().any(|(other, _)| *other == template), "{name}: {handler}");
        }
        if let Some(stem) = name.strip_suffix(".timer") {
            assert!(units.iter().any(|(other, _)| *other == format!("{stem}.service")), "{name}");
        }
    }
}

#[test]
fn the_commands_of_the_units_are_taken() {
    let env = env();
    let job = env.script("job", "#!/bin/sh\necho ran\n");
    for (name, text) in units() {
        for line in text.lines().filter_map(|line| line.strip_prefix("ExecStart=/usr/bin/selfheal ")) {
            let line = line
                .replace("/etc/selfheal/jobs/%i", job.to_str().unwrap())
                .replace("/path/to/the/command", job.to_str().unwrap())
                .replace("%i", "demo")
                .replace("%N", "demo");
            let run = env.run(&line.split(' ').collect::<Vec<_>>());
            assert_eq!(run.code, 0, "{name}: {run:?}");
            assert_eq!(run.stdout.contains("ran"), line.starts_with("run "), "{name}: {run:?}");
        }
    }
}

#[test]
fn systemd_finds_nothing_wrong() {
    let env = env();
    let place = env.root().join("units");
    std::fs::create_dir_all(place.join("demo.service.d")).unwrap();
    let program = env!("CARGO_BIN_EXE_selfheal");
    for (name, text) in units() {
        let text = text.replace("/usr/bin/selfheal", program);
        std::fs::write(place.join(name), text).unwrap();
    }
    std::fs::write(place.join("demo.service"), "[Service]\nType=oneshot\nExecStart=/bin/true\n").unwrap();
    let verify = |units: &[&str]| {
        Command::new("systemd-analyze")
            .args(["verify", "--man=no", "--recursive-errors=no"])
            .args(units.iter().map(|unit| place.join(unit)))
            .env("SYSTEMD_UNIT_PATH", format!("{}:", place.display()))
            .output()
    };
    // Where there is no systemd, or it cannot look at units at all, nothing can be said.
    if !verify(&["demo.service"]).is_ok_and(|output| output.status.success() && output.stderr.is_empty()) {
        eprintln!("skipped: systemd-analyze verify does not work here");
        return;
    }
    std::fs::rename(place.join("wrap.conf"), place.join("demo.service.d/selfheal.conf")).unwrap();
    for unit in ["selfheal@demo.service", "selfheal@demo.timer", "selfheal-failed@demo.service"] {
        let (stem, rest) = unit.split_once('@').unwrap();
        let template = format!("{stem}@.{}", rest.split_once('.').unwrap().1);
        std::os::unix::fs::symlink(place.join(template), place.join(unit)).unwrap();
    }
    let units = [
        "selfheal-tick.service",
        "selfheal-tick.timer",
        "selfheal@demo.service",
        "selfheal@demo.timer",
        "selfheal-failed@demo.service",
        "demo.service",
    ];
    for unit in units {
        let output = verify(&[unit]).unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{unit}: {said}");
    }
}
