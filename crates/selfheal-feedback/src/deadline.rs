//! What was going on when a deadline hit: whether the job waited for a person, and the facts for the report.

use selfheal_core::run::{Act, Capture, Ended, Idle, Moment, Run, SeenProcess};

use crate::parsers::{bounded, cut};

/// Processes that are told of.
const PROCESSES: usize = 12;
/// Open files that are told of, for each process.
const FILES: usize = 6;
/// Last lines of a stream that are told.
const LINES: usize = 3;
/// The longest question that is taken for one.
const LONGEST_PROMPT: usize = 200;

/// What questions to a person hold, in small letters.
const ASKS: [&str; 15] = [
    "password",
    "passphrase",
    "passcode",
    "pin for",
    "username",
    "login",
    "verification code",
    "one-time",
    "otp",
    "[y/n",
    "(y/n",
    "(yes/no",
    "continue",
    "are you sure",
    "press ",
];
/// What they end with.
const ENDS: [char; 5] = [':', '?', ']', ')', '>'];

/// What a job waits for a person with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The command line of the process that reads from a terminal, or was stopped because it wanted to.
    pub process: Option<String>,
    /// The question that it asks.
    pub asked: Option<String>,
}

/// What a job that writes nothing waits for a person with, if it seems to: the question of a process that reads from a
/// terminal, or one that nobody has answered. Not redacted.
#[must_use]
pub fn waits_for_a_person(idle: &Idle) -> Option<Wait> {
    let capture =
        |bytes: &[u8]| Capture { head: bytes.to_owned(), tail: Vec::new(), total: bytes.len() as u64 };
    let asked = [&idle.stderr, &idle.stdout].into_iter().find_map(|bytes| prompt(&capture(bytes)));
    let process = idle.moment.waits_for_terminal().map(|process| name(process).to_owned());
    (asked.is_some() || process.is_some()).then_some(Wait { process, asked })
}

/// What the job waited for a person with, if it did when its deadline hit: one line that names it.
pub(crate) fn waited_for_a_person(run: &Run) -> Option<String> {
    if !matches!(run.ended, Ended::TimedOut { .. }) {
        return None;
    }
    let asked = [&run.stderr, &run.stdout].into_iter().find_map(prompt);
    let reader = run.at_deadline.as_ref().and_then(|moment| moment.waits_for_terminal());
    match (reader, asked) {
        (Some(process), Some(asked)) => {
            Some(format!("{} waited for an answer at a terminal: {asked}", name(process)))
        }
        (Some(process), None) => Some(format!("{} waited for somebody to type at a terminal", name(process))),
        (None, Some(asked)) => Some(format!("the job waited for an answer: {asked}")),
        (None, None) => None,
    }
}

fn name(process: &SeenProcess) -> &str {
    cut(&process.command, 80)
}

/// The question that a stream ends with: a last line that nobody ended, in the words and with the end of a question.
fn prompt(stream: &Capture) -> Option<String> {
    let text = end_of(stream);
    let last = text.rsplit(['\n', '\r']).next()?.trim();
    let small = last.to_lowercase();
    let asks = last.len() <= LONGEST_PROMPT
        && last.ends_with(ENDS)
        && ASKS.iter().any(|words| small.contains(words));
    asks.then(|| bounded(last))
}

/// The end of a stream, as much as the last lines can take.
fn end_of(stream: &Capture) -> String {
    let bytes = if stream.tail.is_empty() { &stream.head } else { &stream.tail };
    let from = bytes.len().saturating_sub(4 * LONGEST_PROMPT * LINES);
    String::from_utf8_lossy(bytes.get(from..).unwrap_or_default()).into_owned()
}

/// The facts for the report, in the order of the tree.
pub(crate) fn facts(run: &Run) -> Vec<(String, String)> {
    let Some(moment) = &run.at_deadline else { return Vec::new() };
    let mut out: Vec<_> = moment.processes.iter().take(PROCESSES).map(process).collect();
    let more = (moment.processes.len() as u64).saturating_sub(PROCESSES as u64) + moment.more;
    if more > 0 {
        out.push(("at the deadline, more processes".into(), more.to_string()));
    }
    out.push(("at the deadline, silent for".into(), silence(moment)));
    for (stream, capture) in [("output", &run.stdout), ("error", &run.stderr)] {
        let text = end_of(capture);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
        if !last.is_empty() {
            out.push((format!("at the deadline, last on standard {stream}"), bounded(&last.join(" ⏎ "))));
        }
    }
    out
}

fn silence(moment: &Moment) -> String {
    format!("{} s", moment.silent_ms / 1_000)
}

fn process(seen: &SeenProcess) -> (String, String) {
    let mut text = cut(&seen.command, 200).to_owned();
    if text.is_empty() {
        text.push_str("(a process without a command line)");
    }
    if seen.stopped {
        text.push_str("; stopped by a signal");
    }
    if let Some(waits) = &seen.waits {
        let act = match waits.act {
            Act::Connect => "connect by".to_owned(),
            act => act.word().to_owned(),
        };
        text.push_str(&format!("; waits to {act} {}", waits.on.display()));
    }
    let files: Vec<String> =
        seen.files.iter().take(FILES).map(|file| cut(&file.to_string_lossy(), 120).to_owned()).collect();
    if !files.is_empty() {
        text.push_str(&format!("; has open {}", files.join(", ")));
    }
    (format!("at the deadline, process {}", seen.pid), text.chars().take(600).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfheal_core::ids::{RunId, Timestamp};
    use selfheal_core::run::Waiting;

    fn run(stdout: &str, stderr: &str, processes: Vec<SeenProcess>) -> Run {
        let capture = |text: &str| Capture { head: text.into(), tail: Vec::new(), total: text.len() as u64 };
        Run {
            id: RunId::new("r"),
            started: Timestamp(0),
            duration_ms: 1,
            ended: Ended::TimedOut { after_ms: 1_000 },
            stdout: capture(stdout),
            stderr: capture(stderr),
            peak_kib: None,
            left_running: Vec::new(),
            at_deadline: Some(Box::new(Moment { processes, more: 0, silent_ms: 61_000 })),
        }
    }

    fn reads(on: &str) -> SeenProcess {
        let waits = Some(Waiting { act: Act::Read, on: on.into() });
        SeenProcess { pid: 7, command: "ssh host".into(), waits, ..SeenProcess::default() }
    }

    #[test]
    fn a_question_or_a_reader_of_a_terminal_is_a_job_that_waits_for_a_person() {
        let asked = waited_for_a_person(&run("", "connecting\nPassword for db: ", Vec::new()));
        assert_eq!(asked.as_deref(), Some("the job waited for an answer: Password for db:"));
        let asked = waited_for_a_person(&run("Proceed? [y/N] ", "", Vec::new()));
        assert_eq!(asked.as_deref(), Some("the job waited for an answer: Proceed? [y/N]"));
        let reader = waited_for_a_person(&run("", "", vec![reads("/dev/pts/3")]));
        assert_eq!(reader.as_deref(), Some("ssh host waited for somebody to type at a terminal"));
        let stopped = SeenProcess { stopped: true, files: vec!["/dev/tty".into()], ..reads("pipe:[1]") };
        assert!(waited_for_a_person(&run("", "", vec![stopped])).is_some());
    }

    #[test]
    fn a_job_that_still_waits_is_named_by_its_question_or_its_reader() {
        let idle = |stderr: &str, processes| Idle {
            moment: Moment { processes, more: 0, silent_ms: 5_000 },
            stdout: b"copying\n".to_vec(),
            stderr: stderr.into(),
        };
        let both =
            waits_for_a_person(&idle("Enter passphrase for key '/k': ", vec![reads("/dev/tty")])).unwrap();
        assert_eq!(both.process.as_deref(), Some("ssh host"));
        assert_eq!(both.asked.as_deref(), Some("Enter passphrase for key '/k':"));
        let asked = waits_for_a_person(&idle("Continue? [y/N] ", Vec::new())).unwrap();
        assert_eq!((asked.process, asked.asked.as_deref()), (None, Some("Continue? [y/N]")));
        assert_eq!(waits_for_a_person(&idle("12% done", vec![reads("pipe:[7]")])), None);
    }

    #[test]
    fn a_slow_job_is_not_one() {
        for (stdout, stderr) in
            [("password changed\n", ""), ("", "Password: \n"), ("", "reading the logins: 40%"), ("", "")]
        {
            let slow = run(stdout, stderr, vec![reads("pipe:[1]"), reads("/dev/ttyfoo/../x")]);
            let slow = Run { at_deadline: None, ..slow };
            assert_eq!(waited_for_a_person(&slow), None, "{stdout}{stderr}");
        }
        assert_eq!(waited_for_a_person(&run("", "", vec![reads("pipe:[1]")])), None);
        let ended = Run { ended: Ended::Exited(1), ..run("", "Password: ", Vec::new()) };
        assert_eq!(waited_for_a_person(&ended), None);
    }

    #[test]
    fn the_facts_name_processes_files_and_the_last_lines() {
        let mut process = reads("/var/lock/x");
        process.waits = Some(Waiting { act: Act::Lock, on: "/var/lock/x".into() });
        process.files = vec!["/var/lock/x".into()];
        let facts = facts(&run("a\nb\nc\nd\n", "", vec![process]));
        let of = |name: &str| facts.iter().find(|(key, _)| key == name).map(|(_, text)| text.as_str());
        let seen = "ssh host; waits to lock /var/lock/x; has open /var/lock/x";
        assert_eq!(of("at the deadline, process 7"), Some(seen));
        assert_eq!(of("at the deadline, silent for"), Some("61 s"));
        assert_eq!(of("at the deadline, last on standard output"), Some("b ⏎ c ⏎ d"));
    }
}
