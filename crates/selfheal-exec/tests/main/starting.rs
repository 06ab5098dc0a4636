//! What a job starts with, and all the ways in which it does not start.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use selfheal_core::ports::{Executor, Trouble};
use selfheal_core::run::Ended;
use selfheal_exec::Supervisor;

use crate::common::{HELPER, Program, folder, order, run, shell, supervisor};

fn write(path: &Path, content: &str, mode: u32) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_cannot_be_started_says_why() {
    let (_keep, cwd) = folder();
    write(&cwd.join("plain"), "#!/bin/sh\n", 0o644);
    write(&cwd.join("orphan"), "#!/no/such/interpreter -x\n", 0o755);
    fs::create_dir(cwd.join("folder")).unwrap();
    let ended = |word: &str| run(&order(&cwd, &[word])).ended;
    assert_eq!(ended("no-such-command-anywhere"), Ended::NotFound);
    assert_eq!(ended("./nothing"), Ended::NotFound);
    assert_eq!(ended(""), Ended::NotFound);
    assert_eq!(ended("./plain"), Ended::NotExecutable { reason: "Permission denied".into() });
    assert_eq!(ended("./folder"), Ended::NotExecutable { reason: "Is a directory".into() });
    assert_eq!(ended("./orphan"), Ended::InterpreterMissing { interpreter: "/no/such/interpreter".into() });
    let mut missing = order(&cwd, &["true"]);
    missing.cwd = cwd.join("gone");
    let Ended::NotStarted { reason } = run(&missing).ended else { panic!("it started") };
    assert!(reason.ends_with("gone: No such file or directory"), "{reason}");
}

#[test]
fn a_text_without_a_first_line_is_run_by_the_shell() {
    let (_keep, cwd) = folder();
    write(&cwd.join("text"), "echo \"$0 $1\"; exit 7\n", 0o755);
    let run = run(&order(&cwd, &["./text", "word"]));
    assert_eq!((run.ended, run.stdout.head.as_slice()), (Ended::Exited(7), &b"./text word\n"[..]));
}

#[test]
fn the_environment_is_inherited_with_the_changes_of_the_order() {
    let (_keep, cwd) = folder();
    let mut order = shell(&cwd, "echo \"$ADDED|${CARGO_MANIFEST_DIR-gone}|$PWD\"; command -v only-here");
    fs::create_dir(cwd.join("bin")).unwrap();
    write(&cwd.join("bin/only-here"), "#!/bin/sh\n", 0o755);
    order.env.insert("ADDED".into(), Some("value".into()));
    order.env.insert("CARGO_MANIFEST_DIR".into(), None);
    order.env.insert("PATH".into(), Some(format!("{}:/usr/bin:/bin", cwd.join("bin").display()).into()));
    let text = run(&order).stdout.text();
    assert_eq!(text, format!("value|gone|{0}\n{0}/bin/only-here\n", cwd.display()));
}

#[test]
fn a_job_leads_a_group_of_its_own_and_gets_none_of_our_descriptors() {
    let (_keep, cwd) = folder();
    let run = run(&order(&cwd, &["sh", "-c", "cut -d' ' -f1,5 /proc/$$/stat; exec ls -l /proc/self/fd"]));
    let text = run.stdout.text();
    let (first, descriptors) = text.split_once('\n').unwrap();
    let (pid, group) = first.split_once(' ').unwrap();
    assert_eq!(pid, group);
    // `3` is the folder that `ls` reads; what this test inherited itself is passed through.
    let passed = inherited();
    for line in descriptors.lines().filter_map(|line| line.split_once(" -> ")?.0.rsplit(' ').next()) {
        assert!(
            ["0", "1", "2", "3"].contains(&line) || passed.contains(&line.to_owned()),
            "{line} of {descriptors}"
        );
    }
}

/// The descriptors of this process that its children get.
fn inherited() -> Vec<String> {
    let names = fs::read_dir("/proc/self/fdinfo").unwrap().flatten().map(|entry| entry.file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    names.filter(|name| !closed_on_exec(name)).collect()
}

fn closed_on_exec(name: &str) -> bool {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{name}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).map(str::trim);
    flags.and_then(|flags| u32::from_str_radix(flags, 8).ok()).is_none_or(|flags| flags & 0o2_000_000 != 0)
}

#[test]
fn the_process_number_is_told_at_the_start() {
    let (_keep, cwd) = folder();
    let told = Arc::new(AtomicU32::new(0));
    let on_start = Arc::clone(&told);
    let supervisor = supervisor().with_on_start(move |pid| on_start.store(pid, Ordering::SeqCst));
    let run = supervisor.run(&shell(&cwd, "echo $$")).unwrap();
    assert_eq!(run.stdout.text().trim(), told.load(Ordering::SeqCst).to_string());
}

#[test]
fn without_a_supervisor_nothing_was_started() {
    let (_keep, cwd) = folder();
    let error = Supervisor::new("/no/such/program").run(&order(&cwd, &["touch", "x"])).unwrap_err();
    assert_eq!(error.trouble, Trouble::Missing);
    assert!(!cwd.join("x").exists());
}

#[test]
fn a_bare_command_takes_the_place_of_the_program() {
    let (_keep, cwd) = folder();
    write(&cwd.join("text"), "echo \"$$ $1 ${SELFHEAL_X-gone}\"; exit 7\n", 0o755);
    let bare = |argv: &[&str]| {
        let words = ["bare", "-", "1", "1"].iter().chain(argv);
        let mut command = std::process::Command::new(HELPER);
        command.args(words).current_dir(&cwd).env("SELFHEAL_X", "1").stdout(std::process::Stdio::piped());
        let child = command.spawn().unwrap();
        let pid = child.id();
        (pid, child.wait_with_output().unwrap())
    };
    let (pid, output) = bare(&["./text", "word"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{pid} word gone\n"));
    assert_eq!(bare(&["./nothing"]).1.status.code(), Some(127));
    assert_eq!(bare(&["/"]).1.status.code(), Some(126));
}

#[test]
fn a_job_has_its_signals_as_the_bare_command_has_them() {
    let (_keep, cwd) = folder();
    for trap in [":", "trap '' PIPE", "trap '' PIPE HUP USR1"] {
        let line = format!("{trap}; exec \"$@\"");
        let wrap = ["bash", "-c", &line, "x"];
        let look = ["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"];
        let bare = Program::other(&[&wrap[..], &look[..]].concat(), &cwd).command().output().unwrap();
        for word in ["run", "bare"] {
            let mut program = Program::below_as(word, &wrap, &cwd, &look);
            let supervised = program.command().output().unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert_eq!(text(&supervised.stdout), text(&bare.stdout), "{word}: {trap}");
        }
    }
}
