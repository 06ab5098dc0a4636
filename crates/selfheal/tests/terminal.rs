//! On a terminal: selfheal asks, colours, and shows what it is doing. The terminal is a real one, made by `script`.

use std::io::{Read, Write};
use std::process::Stdio;

use crate::support::{BACKUP, backup_env};

/// Runs a command line of selfheal on a terminal of its own, and returns all that was shown. What is typed is typed when
/// there is a question, or at once where none is expected: it would be for the job.
pub fn on_a_terminal(env: &selfheal_testkit::TestEnv, line: &str, typed: &str) -> String {
    let question = matches!(typed, "y\n" | "\n");
    let program = env!("CARGO_BIN_EXE_selfheal");
    let mut command = env.command(&[]);
    // `command` names the program under test; here it is run by another one that makes the terminal.
    let vars: Vec<_> =
        command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    let folder = command.get_current_dir().unwrap().to_owned();
    command = std::process::Command::new("script");
    command.args(["-qec", &format!("{program} {line}"), "/dev/null"]).current_dir(folder).env_clear();
    for (name, value) in vars {
        command.env(name, value.unwrap());
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut shown, mut piece, mut typed) = (Vec::new(), [0; 4096], Some(typed));
    if !question {
        keys.write_all(typed.take().unwrap().as_bytes()).unwrap();
    }
    loop {
        if String::from_utf8_lossy(&shown).contains("[y/N]") {
            typed.take().into_iter().for_each(|typed| keys.write_all(typed.as_bytes()).unwrap());
        }
        match screen.read(&mut piece).unwrap() {
            0 => break,
            count => shown.extend_from_slice(&piece[..count]),
        }
    }
    child.wait().unwrap();
    String::from_utf8_lossy(&shown).into_owned()
}

#[test]
fn it_shows_the_repair_and_asks_and_a_yes_applies() {
    let env = backup_env().with("TERM", "xterm");
    let shown = on_a_terminal(&env, "run -- bash backup.sh", "y\n");
    assert!(shown.contains("Apply this repair (risk low) and run the job again? [y/N]"), "{shown}");
    assert!(shown.contains("\u{1b}[32m+"), "the diff is coloured: {shown}");
    assert!(shown.contains("selfheal undo"), "{shown}");
    assert_ne!(env.read("backup.sh"), BACKUP);
}

#[test]
fn anything_but_a_yes_changes_nothing() {
    let env = backup_env().with("TERM", "xterm");
    let shown = on_a_terminal(&env, "run -- bash backup.sh", "\n");
    assert!(shown.contains("selfheal approve"), "{shown}");
    assert_eq!(env.read("backup.sh"), BACKUP);
}

#[test]
fn a_job_that_waits_at_the_terminal_until_its_deadline_is_named() {
    let env = backup_env().with("TERM", "xterm");
    let shown = on_a_terminal(&env, "run --once --deadline 4 --apply none -- cat", "x");
    assert!(shown.contains("cat waited for somebody to type at a terminal"), "{shown}");
}

#[test]
fn no_color_is_respected() {
    let env = backup_env().with("TERM", "xterm").with("NO_COLOR", "1");
    let shown = on_a_terminal(&env, "run --apply none -- bash backup.sh", "");
    assert!(shown.contains("selfheal approve"), "{shown}");
    assert!(!shown.contains("\u{1b}[32m"), "{shown}");
}
