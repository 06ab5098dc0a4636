//! Commands that only run another command (`env`, `nice`, `timeout`, `sudo`, …), as a table, and how the command that
//! they run is found in their arguments.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Wrappers inside wrappers are followed this deep.
const DEPTH: usize = 16;

/// How one wrapper's arguments are read. Source: the synopsis of each manual page.
struct Wrapper {
    /// Its name without a folder.
    name: &'static str,
    /// Options that take the next word (or the rest of theirs) as a value.
    valued: &'static [&'static str],
    /// Words of its own before the command.
    operands: usize,
    /// Options whose value is a line for a shell: the command is that line.
    line: &'static [&'static str],
    /// Whether `NAME=value` words may stand before the command.
    assignments: bool,
}

/// A wrapper without anything special.
const PLAIN: Wrapper = Wrapper { name: "", valued: &[], operands: 0, line: &[], assignments: false };

/// The wrappers that are known.
const WRAPPERS: &[Wrapper] = &[
    Wrapper { name: "env", valued: &["-u", "--unset", "-C", "--chdir"], assignments: true, ..PLAIN },
    Wrapper { name: "nice", valued: &["-n", "--adjustment"], ..PLAIN },
    Wrapper { name: "ionice", valued: &["-c", "-n", "--class", "--classdata"], ..PLAIN },
    Wrapper { name: "timeout", valued: &["-k", "-s", "--kill-after", "--signal"], operands: 1, ..PLAIN },
    Wrapper {
        name: "sudo",
        valued: &[
            "-u",
            "-g",
            "-h",
            "-p",
            "-C",
            "-r",
            "-t",
            "-T",
            "-U",
            "-D",
            "-R",
            "-a",
            "-c",
            "--user",
            "--group",
            "--host",
            "--prompt",
            "--close-from",
            "--role",
            "--type",
            "--command-timeout",
            "--chdir",
            "--chroot",
        ],
        assignments: true,
        ..PLAIN
    },
    Wrapper { name: "doas", valued: &["-u", "-C", "-a"], ..PLAIN },
    Wrapper {
        name: "runuser",
        valued: &["-u", "-g", "-G", "--user", "--group"],
        line: &["-c", "--command"],
        ..PLAIN
    },
    Wrapper {
        name: "su",
        valued: &["-g", "-G", "-s"],
        operands: usize::MAX,
        line: &["-c", "--command"],
        ..PLAIN
    },
    Wrapper { name: "nohup", ..PLAIN },
    Wrapper { name: "setsid", ..PLAIN },
    Wrapper { name: "chronic", ..PLAIN },
    Wrapper { name: "cronic", ..PLAIN },
    Wrapper {
        name: "flock",
        valued: &["-w", "-E", "--timeout", "--wait", "--conflict-exit-code"],
        operands: 1,
        line: &["-c", "--command"],
        ..PLAIN
    },
    Wrapper { name: "lockrun", valued: &["-L", "-W", "--lockfile"], ..PLAIN },
    Wrapper { name: "stdbuf", valued: &["-i", "-o", "-e", "--input", "--output", "--error"], ..PLAIN },
    Wrapper { name: "unbuffer", ..PLAIN },
    Wrapper { name: "time", valued: &["-f", "-o", "--format", "--output"], ..PLAIN },
    Wrapper { name: "chrt", valued: &["-T", "-P", "-D"], operands: 1, ..PLAIN },
    Wrapper { name: "taskset", operands: 1, ..PLAIN },
    Wrapper { name: "numactl", valued: &["-N", "-m", "-C", "-i"], ..PLAIN },
    Wrapper { name: "prlimit", ..PLAIN },
    Wrapper { name: "setpriv", valued: &["--reuid", "--regid", "--groups", "--bounding-set"], ..PLAIN },
    Wrapper { name: "systemd-cat", valued: &["-t", "-p", "--identifier", "--priority"], ..PLAIN },
    Wrapper {
        name: "systemd-run",
        valued: &["-p", "-u", "-M", "-E", "--unit", "--property", "--slice"],
        ..PLAIN
    },
    Wrapper { name: "systemd-inhibit", ..PLAIN },
    Wrapper { name: "xvfb-run", valued: &["-n", "-s", "-e", "-f", "-p", "-w"], ..PLAIN },
    Wrapper { name: "dbus-run-session", ..PLAIN },
    Wrapper { name: "fakeroot", ..PLAIN },
    Wrapper { name: "tini", ..PLAIN },
    Wrapper { name: "dumb-init", ..PLAIN },
    Wrapper { name: "strace", valued: &["-e", "-o", "-s", "-p", "-E", "-u"], ..PLAIN },
    Wrapper { name: "busybox", ..PLAIN },
];

/// The command that is left when everything that only runs another command is taken away: `sudo -u bob timeout 5
/// ./job.sh x` is `./job.sh x`. A line for a shell (`flock FILE -c LINE`) is `sh -c LINE`. A wrapper without a command
/// is its own command.
#[must_use]
pub fn inner_command(argv: &[OsString]) -> Vec<OsString> {
    let mut command = argv.to_vec();
    for _ in 0..DEPTH {
        match find(&command).and_then(|wrapper| unwrap_once(wrapper, &command)) {
            Some(inner) => command = inner,
            None => break,
        }
    }
    command
}

fn find(command: &[OsString]) -> Option<&'static Wrapper> {
    let name = Path::new(command.first()?).file_name()?;
    WRAPPERS.iter().find(|wrapper| OsStr::new(wrapper.name) == name)
}

/// What one word before the command means.
enum Word {
    /// The command begins here.
    Command,
    /// So many words of the wrapper's own.
    Own(usize),
    /// Its options end here.
    End,
    /// The next word is a line for a shell.
    Line,
    /// A text that is split into words, then the rest follows (`env -S`).
    Split(String),
}

fn unwrap_once(wrapper: &Wrapper, command: &[OsString]) -> Option<Vec<OsString>> {
    let mut rest = command.get(1..)?;
    let mut operands = wrapper.operands;
    loop {
        let word = rest.first()?.to_string_lossy();
        match read_word(wrapper, &word) {
            Word::Own(count) => rest = rest.get(count..)?,
            Word::Line => return Some(vec!["sh".into(), "-c".into(), rest.get(1)?.clone()]),
            Word::Split(text) => return Some(split(&text, rest)),
            Word::End => {
                rest = rest.get(1..)?.get(operands.min(1)..)?;
                break;
            }
            Word::Command if operands > 0 => {
                operands -= 1;
                rest = rest.get(1..)?;
            }
            Word::Command => break,
        }
    }
    (!rest.is_empty()).then(|| rest.to_vec())
}

/// `-S 'text'`, `-Stext`: the words of the text, then what follows the option.
fn split(text: &str, rest: &[OsString]) -> Vec<OsString> {
    let (text, used) = match rest.get(1) {
        Some(next) if text.is_empty() => (next.to_string_lossy().into_owned(), 2),
        _ => (text.to_owned(), 1),
    };
    let words = text.split_whitespace().map(OsString::from);
    words.chain(rest.iter().skip(used).cloned()).collect()
}

fn read_word(wrapper: &Wrapper, word: &str) -> Word {
    if wrapper.assignments && is_assignment(word) {
        return Word::Own(1);
    }
    if word == "--" {
        return Word::End;
    }
    if wrapper.line.contains(&word) {
        return Word::Line;
    }
    if wrapper.name == "env"
        && let Some(text) = word.strip_prefix("-S").or_else(|| word.strip_prefix("--split-string"))
    {
        return Word::Split(text.trim_start_matches(['=', ' ']).to_owned());
    }
    match word.strip_prefix('-') {
        Some(_) if wrapper.valued.contains(&word) => Word::Own(2),
        Some(letters) if letters.starts_with('-') => Word::Own(1),
        Some(letters) => Word::Own(if cluster_wants_value(wrapper, letters) { 2 } else { 1 }),
        None => Word::Command,
    }
}

/// Whether the first letter of `-xyz` that takes a value is the last one, so that the value is the next word.
fn cluster_wants_value(wrapper: &Wrapper, letters: &str) -> bool {
    let takes = |letter| {
        wrapper
            .valued
            .iter()
            .any(|option| option.strip_prefix('-').is_some_and(|own| own.chars().eq([letter])))
    };
    letters
        .char_indices()
        .find(|(_, letter)| takes(*letter))
        .is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with('-')
            && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(line: &str) -> String {
        let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        inner_command(&argv).join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn wrappers_are_taken_away_with_their_options_and_operands() {
        for (line, command) in [
            ("bash job.sh", "bash job.sh"),
            ("env -i A=1 B=2 -u C bash job.sh X=1", "bash job.sh X=1"),
            ("nice -n 10 ./job", "./job"),
            ("nice -10 ./job", "./job"),
            ("nice -n10 ./job", "./job"),
            ("timeout 5 grep x y", "grep x y"),
            ("timeout -k 1 --signal=TERM 5m curl -f u", "curl -f u"),
            ("sudo -u bob -E nohup timeout 5 ./job.sh x", "./job.sh x"),
            ("sudo -nu bob A=1 ./job", "./job"),
            ("sudo -- ./job", "./job"),
            ("flock -n /tmp/l ./job -n", "./job -n"),
            ("flock /tmp/l -c ./job", "sh -c ./job"),
            ("su - bob -c ./job", "sh -c ./job"),
            ("chronic /usr/bin/env python3 job.py", "python3 job.py"),
            ("ionice -c2 -n 7 tar c x", "tar c x"),
            ("taskset -c 0 make", "make"),
        ] {
            assert_eq!(inner(line), command, "{line}");
        }
    }

    #[test]
    fn a_split_string_of_env_is_split() {
        let argv = ["/usr/bin/env", "-S python3 -u", "job.py"].map(OsString::from);
        assert_eq!(inner_command(&argv), ["python3", "-u", "job.py"].map(OsString::from));
        let argv = ["env", "-S", "python3 -u", "job.py"].map(OsString::from);
        assert_eq!(inner_command(&argv), ["python3", "-u", "job.py"].map(OsString::from));
    }

    #[test]
    fn a_wrapper_without_a_command_stays() {
        for line in ["env", "flock -n 9", "sudo -u", "timeout 5", "nice"] {
            assert_eq!(inner(line), line);
        }
        assert!(inner_command(&[]).is_empty());
    }
}
