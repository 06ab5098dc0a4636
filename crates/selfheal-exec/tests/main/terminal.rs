//! Job control on a real terminal.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OutputModes, Winsize, tcgetattr, tcsetwinsize};
use selfheal_core::run::Ended;

use crate::common::{Program, folder, kill, lives, pid_in, wait_for};

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

    /// The same with a window of some size.
    fn start_sized(program: &mut Program, size: Winsize) -> (Self, Child) {
        let (person, line) = Self::new();
        tcsetwinsize(&line, size).unwrap();
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

/// Whether the user's terminal is as a shell leaves it to a command.
fn is_put_back(person: &Person) -> bool {
    let modes = tcgetattr(&person.terminal).unwrap();
    modes.local_modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
        && modes.output_modes.contains(OutputModes::OPOST)
}

fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

#[test]
fn a_job_at_a_terminal_has_one_and_its_streams_are_still_told_apart() {
    let (_keep, cwd) = folder();
    let line =
        "test -t 0 && test -t 1 && test -t 2 && stty size && echo warned >&2; printf 'to the end'; exit 4";
    let mut program = program(&cwd, line);
    let (mut person, mut child) = Person::start_sized(&mut program, size(33, 99));
    person.sees("33 99\r\n");
    child.wait().unwrap();
    let run = program.result();
    assert_eq!(run.ended, Ended::Exited(4));
    assert_eq!(run.stdout.text(), "33 99\nto the end");
    assert_eq!(run.stderr.text(), "warned\n");
    assert!(is_put_back(&person));
}

#[test]
fn a_window_that_changes_changes_for_the_job() {
    let (_keep, cwd) = folder();
    let line =
        "trap 'stty size > now' WINCH; echo $$ > ready; until [ -s now ]; do sleep 0.02; done; cat now";
    let mut program = program(&cwd, line);
    let (mut person, mut child) = Person::start_sized(&mut program, size(24, 80));
    pid_in(&cwd.join("ready"));
    tcsetwinsize(&person.terminal, size(40, 120)).unwrap();
    person.sees("40 120\r\n");
    child.wait().unwrap();
    assert_eq!(program.result().ended, Ended::Exited(0));
}

#[test]
fn keys_are_for_the_job_and_ctrl_c_cancels_the_run() {
    let (_keep, cwd) = folder();
    let mut program = program(&cwd, "read word; echo \"got $word\"; exec sleep 1000");
    let (mut person, mut child) = Person::start_sized(&mut program, size(24, 80));
    person.types("a\x7fhello\n");
    person.sees("got hello\r\n");
    person.types("\x03");
    child.wait().unwrap();
    assert_eq!(program.result().ended, Ended::Cancelled { signal: 2, own: None });
    assert!(is_put_back(&person));
}

#[test]
fn ctrl_z_at_a_terminal_of_its_own_where_nobody_could_continue_us_is_not_the_end() {
    let (_keep, cwd) = folder();
    let mut program = program(&cwd, "echo $$ > ready; read line; echo \"got $line\"");
    let (mut person, mut child) = Person::start_sized(&mut program, size(24, 80));
    pid_in(&cwd.join("ready"));
    person.types("\x1a");
    person.types("still here\n");
    person.sees("got still here\r\n");
    child.wait().unwrap();
    assert!(is_put_back(&person));
}

#[test]
fn who_ever_is_killed_the_terminal_is_put_back() {
    for supervisor_too in [false, true] {
        let (_keep, cwd) = folder();
        let mut program = program(&cwd, "echo $PPID > above; echo $$ > ready; exec sleep 1000");
        let (person, mut child) = Person::start_sized(&mut program, size(24, 80));
        let job = pid_in(&cwd.join("ready"));
        let supervisor = pid_in(&cwd.join("above"));
        wait_for("the raw terminal", || (!is_put_back(&person)).then_some(()));
        let front = parent(supervisor);
        kill("KILL", if supervisor_too { supervisor } else { front });
        wait_for("the end of the job", || (!lives(job)).then_some(()));
        wait_for("the terminal", || is_put_back(&person).then_some(()));
        child.wait().unwrap();
    }
}

#[test]
fn in_the_background_a_job_goes_on_and_stops_when_it_wants_to_read() {
    let (_keep, cwd) = folder();
    let line =
        "echo $$ > ready; until [ -e go ]; do sleep 0.02; done; echo went on; read line; echo \"got $line\"";
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
    wait_for("the raw terminal", || (!is_put_back(&person)).then_some(()));
    person.types("\x1a");
    person.sees("Stopped");
    person.sees("NEXT> ");
    person.types("bg\n");
    wait_for("the job to go on", || (state(job) != Some('T')).then_some(()));
    fs::write(cwd.join("go"), "").unwrap();
    person.sees("went on");
    wait_for("the job to stop", || (state(job) == Some('T')).then_some(()));
    person.types("fg\n");
    wait_for("the job to go on", || (state(job) != Some('T')).then_some(()));
    person.types("a word\n");
    person.sees("got a word");
    person.sees("NEXT> ");
    person.types("exit\n");
    child.wait().unwrap();
    assert_eq!(program.result().ended, Ended::Exited(0));
}

#[test]
fn ctrl_c_ends_the_script_that_starts_the_job_too() {
    let (_keep, cwd) = folder();
    let mut program = Program::below(
        &["setsid", "--ctty", "--wait", "bash", "-c", "\"$@\"; echo reached > reached", "x"],
        &cwd,
        &["sh", "-c", "echo $$ > ready; exec sleep 1000"],
    );
    let (mut person, mut child) = Person::start_sized(&mut program, size(24, 80));
    pid_in(&cwd.join("ready"));
    wait_for("the raw terminal", || (!is_put_back(&person)).then_some(()));
    person.types("\x03");
    child.wait().unwrap();
    assert_eq!(program.result().ended, Ended::Cancelled { signal: 2, own: None });
    assert!(!cwd.join("reached").exists());
}

fn parent(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next().unwrap().split(' ').nth(1).unwrap().parse().unwrap()
}
