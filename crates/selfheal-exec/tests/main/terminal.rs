//! Job control on a real terminal.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use selfheal_core::run::Ended;

use crate::common::{Program, folder, pid_in};

/// A person at a terminal.
struct Person {
    terminal: File,
    seen: Vec<u8>,
}

impl Person {
    /// Starts the program as the leader of a session at a terminal; standard output goes elsewhere.
    fn start(program: &mut Program, stdin_too: bool) -> (Self, Child) {
        let (person, line) = Self::new();
        let command = program.command().stdin(line).stdout(Stdio::piped());
        if !stdin_too {
            command.env("TEST_STDIN", "/dev/null");
        }
        (person, command.spawn().unwrap())
    }

    /// The same with all three streams at the terminal.
    fn start_all_there(program: &mut Program) -> (Self, Child) {
        let (person, line) = Self::new();
        let (out, err) = (line.try_clone().unwrap(), line.try_clone().unwrap());
        let child = program.command().stdin(line).stdout(out).stderr(err).spawn().unwrap();
        (person, child)
    }

    /// A person and the line to the terminal.
    fn new() -> (Self, File) {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let line = File::options().read(true).write(true).open(name).unwrap();
        (Self { terminal: terminal.into(), seen: Vec::new() }, line)
    }

    fn types(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).unwrap();
    }

    /// Reads until a text is there, and forgets what was before it.
    fn sees(&mut self, text: &str) {
        let wanted = text.as_bytes();
        loop {
            if let Some(at) = self.seen.windows(wanted.len()).position(|part| part == wanted) {
                self.seen.drain(..at + wanted.len());
                return;
            }
            let mut more = [0; 4096];
            let count = self.terminal.read(&mut more).unwrap();
            self.seen.extend_from_slice(more.get(..count).unwrap());
        }
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
    assert_eq!(program.result().ended, Ended::Cancelled { signal: 2, own: None });
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
    assert_eq!(program.result().ended, Ended::Cancelled { signal: 2, own: None });
}

#[test]
fn ctrl_z_stops_the_job_for_the_shell_and_fg_continues_it() {
    let (_keep, cwd) = folder();
    // It starts nothing: a shell cannot be stopped while its child is, between vfork and exec.
    let line = "echo $$ > ready; read line < fifo; exit 6";
    assert!(Command::new("mkfifo").arg(cwd.join("fifo")).status().unwrap().success());
    let mut program = Program::below(&["true"], &cwd, &["sh", "-c", line]);
    let words: Vec<String> =
        program.command().get_args().map(|word| quoted(word.to_str().unwrap())).collect();
    let mut shell =
        Program::other(&["setsid", "--ctty", "--wait", "bash", "--norc", "--noprofile", "-i"], &cwd);
    shell.command().env("PS1", "NEXT> ");
    let (mut person, mut child) = Person::start_all_there(&mut shell);
    person.sees("NEXT> ");
    person.types(&format!("{}\n", words.join(" ")));
    let job = pid_in(&cwd.join("ready"));
    person.types("\x1a");
    person.sees("Stopped");
    person.sees("NEXT> ");
    assert_eq!(state(job), Some('T'));
    person.types("fg\n");
    fs::write(cwd.join("fifo"), "go\n").unwrap();
    person.sees("NEXT> ");
    person.types("exit\n");
    child.wait().unwrap();
    assert_eq!(program.result().ended, Ended::Exited(6));
}

fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next()?.chars().next()
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
