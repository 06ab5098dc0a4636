//! Job control on a real terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use selfheal_core::run::Ended;

use crate::common::{Program, folder, pid_in};

/// A person at a terminal.
struct Person {
    terminal: File,
}

impl Person {
    /// Starts the program as the leader of a session at a terminal; standard output goes elsewhere.
    fn start(program: &mut Program, stdin_too: bool) -> (Self, Child) {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let line = File::options().read(true).write(true).open(name).unwrap();
        let command = program.command().stdin(line).stdout(Stdio::piped());
        if !stdin_too {
            command.env("TEST_STDIN", "/dev/null");
        }
        let child = command.spawn().unwrap();
        (Self { terminal: terminal.into() }, child)
    }

    fn types(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).unwrap();
    }
}

/// `setsid --ctty` makes standard input the terminal of the session; the shell then gives the program another one when told.
fn program(cwd: &Path, line: &str) -> Program {
    let shell = "if [ \"${TEST_STDIN-}\" ]; then exec \"$@\" < \"$TEST_STDIN\"; else exec \"$@\"; fi";
    Program::below(&["setsid", "--ctty", "--wait", "sh", "-c", shell, "x"], cwd, &["sh", "-c", line])
}

fn output(mut child: Child) -> String {
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    text
}

#[test]
fn a_job_reads_from_the_terminal_and_its_program_after_it() {
    let (_keep, cwd) = folder();
    let mut program = program(&cwd, "read line; echo \"got $line\"");
    let (mut person, child) = Person::start(&mut program, true);
    person.types("hello\n");
    assert_eq!(output(child), "got hello\n");
    assert_eq!(program.result().ended, Ended::Exited(0));
}

#[test]
fn ctrl_c_reaches_the_job_and_cancels_the_run() {
    let (_keep, cwd) = folder();
    let mut program = program(&cwd, "echo $$ > ready; exec sleep 1000");
    let (mut person, mut child) = Person::start(&mut program, true);
    pid_in(&cwd.join("ready"));
    person.types("\x03");
    child.wait().unwrap();
    assert_eq!(program.result().ended, Ended::Cancelled { signal: 2 });
}

#[test]
fn ctrl_z_where_nobody_could_continue_us_is_not_the_end() {
    let (_keep, cwd) = folder();
    let mut program = program(&cwd, "echo $$ > ready; read line; echo \"got $line\"");
    let (mut person, child) = Person::start(&mut program, true);
    pid_in(&cwd.join("ready"));
    person.types("\x1a");
    person.types("still here\n");
    assert_eq!(output(child), "got still here\n");
}

#[test]
fn a_job_that_opens_the_terminal_itself_gets_it() {
    let (_keep, cwd) = folder();
    let mut program = program(&cwd, "read line < /dev/tty; echo \"got $line\"");
    let (mut person, child) = Person::start(&mut program, false);
    person.types("secret\n");
    assert_eq!(output(child), "got secret\n");
    assert_eq!(program.result().ended, Ended::Exited(0));
}

#[test]
fn ctrl_c_without_a_terminal_at_standard_input_cancels_too() {
    let (_keep, cwd) = folder();
    let mut program = program(&cwd, "echo $$ > ready; exec sleep 1000");
    let (mut person, mut child) = Person::start(&mut program, false);
    pid_in(&cwd.join("ready"));
    person.types("\x03");
    child.wait().unwrap();
    assert_eq!(program.result().ended, Ended::Cancelled { signal: 2 });
}
