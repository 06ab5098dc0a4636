//! Programs that accept, refuse, hang, and misbehave.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::ports::{Message, Notifier, PortError, Trouble};
use selfheal_core::redact::Redactor;
use selfheal_notify::{Program, ProgramSettings};

/// Long enough for a machine under heavy load.
const PATIENT_MS: u64 = 60_000;

fn message(text: &str) -> Message {
    let redactor = Redactor::default();
    Message {
        at: Timestamp(1_700_000_000_000),
        subject: redactor.text("backup failed on \"host\""),
        text: redactor.text(text),
        html: None,
        incident: Some(IncidentId::new("0190")),
    }
}

/// A notifier that runs a shell script with the folder as `$1`.
fn script(text: &str, folder: &Path, limit_ms: u64) -> Program {
    let words = ["sh", "-c", text, "notifier"].map(OsString::from);
    let command = words.into_iter().chain([folder.as_os_str().to_owned()]).collect();
    Program::from_settings(ProgramSettings { command, limit_ms }).unwrap()
}

/// The text of an error with what caused it.
fn told(error: &PortError) -> String {
    format!("{error}: {}", error.source().map(ToString::to_string).unwrap_or_default())
}

fn lives(pid: &str) -> bool {
    // A zombie that nobody has reaped yet is dead.
    fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

#[test]
fn the_program_reads_the_message_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let notifier = script(r#"cat > "$1/got"; pwd > "$1/folder"; echo noise"#, folder.path(), PATIENT_MS);
    notifier.notify(&message("approve with\n`selfheal approve`")).unwrap();
    let got: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("got")).unwrap()).unwrap();
    let wanted = serde_json::json!({
        "version": 1,
        "at": 1_700_000_000_000_i64,
        "subject": "backup failed on \"host\"",
        "text": "approve with\n`selfheal approve`",
        "incident": "0190",
    });
    assert_eq!(got, wanted);
    assert_eq!(fs::read_to_string(folder.path().join("folder")).unwrap(), "/\n");
}

#[test]
fn a_program_that_fails_does_not_accept() {
    let folder = tempfile::tempdir().unwrap();
    let error =
        script("echo 'no route' >&2; exit 3", folder.path(), PATIENT_MS).notify(&message("x")).unwrap_err();
    assert_eq!(told(&error), "notify by sh: it ended with exit code 3: no route");
    let error = script("kill -TERM $$", folder.path(), PATIENT_MS).notify(&message("x")).unwrap_err();
    assert_eq!(told(&error), "notify by sh: it was ended by signal 15");
}

#[test]
fn a_program_that_hangs_is_killed_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"trap '' TERM INT HUP; sleep 1000 & echo $! > "$1/inner"; echo $$ > "$1/outer"; wait"#;
    // How far it gets before the limit depends on the load: try longer ones until it got to its end.
    let limits = std::iter::successors(Some(200), |ms| Some(ms * 4));
    let outer = folder.path().join("outer");
    for limit_ms in limits.take(5) {
        let error = script(text, folder.path(), limit_ms).notify(&message("x")).unwrap_err();
        assert!(told(&error).contains("did not end within"), "{}", told(&error));
        if fs::read_to_string(&outer).is_ok_and(|text| !text.is_empty()) {
            break;
        }
    }
    for name in ["outer", "inner"] {
        let pid = fs::read_to_string(folder.path().join(name)).unwrap();
        while lives(&pid) {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_message_that_is_not_read_does_not_block() {
    let folder = tempfile::tempdir().unwrap();
    let large = message(&"large ".repeat(200_000));
    script("exit 0", folder.path(), PATIENT_MS).notify(&large).unwrap();
}

#[test]
fn endless_complaints_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let error =
        script("while :; do echo complaint >&2; done", folder.path(), 300).notify(&message("x")).unwrap_err();
    assert!(told(&error).len() < 500, "{}", told(&error).len());
}

#[test]
fn what_the_program_leaves_running_does_not_delay_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"sleep 1000 & echo $! > "$1/left"; exit 0"#;
    script(text, folder.path(), PATIENT_MS).notify(&message("x")).unwrap();
    let left = fs::read_to_string(folder.path().join("left")).unwrap();
    assert!(lives(&left), "a daemon that the program started is its own");
    std::process::Command::new("kill").arg(left.trim()).status().unwrap();
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let missing = |name: &str| {
        let command = vec![OsString::from(name)];
        Program::from_settings(ProgramSettings { command, limit_ms: PATIENT_MS })
    };
    let error = missing("/no/such/program").unwrap().notify(&message("x")).unwrap_err();
    assert!(told(&error).starts_with("notify by /no/such/program: "), "{}", told(&error));
    assert!(missing("bin/notify").unwrap_err().to_string().contains("not absolute"));
    assert_eq!(missing("").unwrap_err().trouble, Trouble::Missing);
    assert_eq!(Program::from_settings(ProgramSettings::default()).unwrap_err().trouble, Trouble::Missing);
    assert_eq!(ProgramSettings::default().limit_ms, 20_000);
}
