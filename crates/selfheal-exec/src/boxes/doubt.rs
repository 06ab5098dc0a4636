//! Whether the box, and not the job, may be the reason for how a boxed run ended. Pure: reads what was seen.

use std::path::{Path, PathBuf};

use selfheal_core::run::Ended;

use super::wire::Overrun;

/// What the judgement looks at.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    /// How the run ended.
    pub ended: &'a Ended,
    /// Both streams as text.
    pub output: &'a str,
    /// What was hidden.
    pub hidden: &'a [PathBuf],
    /// Variables that were taken out because they are secret.
    pub secrets: &'a [String],
    /// The limit that the box saw it run into.
    pub overrun: Option<Overrun>,
    /// The box was one of copies: everything outside of the job's folders is read-only.
    pub copied: bool,
    /// Programs of the machine that gain rights by their mode, which they do not in a box. None where the box is one of
    /// root, who has the rights already.
    pub setuid: &'a [String],
    /// A file with several names of which only one was changed.
    pub several_names: Option<&'a Path>,
    /// It had the machine's network.
    pub net: bool,
    /// All effects are listed.
    pub complete: bool,
    /// The box is one of root.
    pub as_root: bool,
}

/// Texts that tools print for want of something that a box does not have, and what that is. The first column is the
/// system's or library's own wording, in lower case.
const TELLTALES: [(&str, &str); 33] = [
    ("value too large for defined data type", "a file belongs to another user, which the box cannot store"),
    ("[errno 75]", "a file belongs to another user, which the box cannot store"),
    ("eoverflow", "a file belongs to another user, which the box cannot store"),
    ("invalid cross-device link", "the box cannot move this folder"),
    ("exdev", "the box cannot move this folder"),
    ("network is unreachable", NETWORK),
    ("no route to host", NETWORK),
    ("could not resolve", NETWORK),
    ("couldn't resolve", NETWORK),
    ("temporary failure in name resolution", NETWORK),
    ("name or service not known", NETWORK),
    ("nodename nor servname provided", NETWORK),
    ("unknown host", NETWORK),
    ("getaddrinfo", NETWORK),
    ("enetunreach", NETWORK),
    ("unable to resolve host", NETWORK),
    ("connection refused", NETWORK),
    ("econnrefused", NETWORK),
    ("is the server running", NETWORK),
    ("effective uid is not 0", "setuid programs are refused in the box"),
    ("no new privileges", "setuid programs are refused in the box"),
    ("must be setuid root", "setuid programs are refused in the box"),
    ("must be suid to work", "setuid programs are refused in the box"),
    ("cannot fork", "it started more processes than the box may hold"),
    ("can't start new thread", "it started more processes than the box may hold"),
    ("cannot allocate memory", MEMORY),
    ("memoryerror", MEMORY),
    ("std::bad_alloc", MEMORY),
    ("out of memory", MEMORY),
    ("file too large", LARGE),
    ("file size limit exceeded", LARGE),
    ("must be superuser to", "the box refuses this even to root"),
    ("only root can", "the box refuses this even to root"),
];

const NETWORK: &str = "the box has no network";

const MEMORY: &str = "the box may have too little memory";

const LARGE: &str = "it wrote a larger file than the box may hold";

/// The signal for a file that grows beyond what a process may write.
const SIGXFSZ: i32 = 25;

/// A signal that the system call filter sends to programs of another architecture.
const SIGSYS: i32 = 31;

/// The reason for doubt, if there is one. A run that ended well is never in doubt for what it printed.
pub(crate) fn doubt(evidence: &Evidence<'_>) -> Option<String> {
    if let Ended::TimedOut { after_ms } = evidence.ended {
        return Some(format!("it did not end within {after_ms} ms"));
    }
    if let Some(overrun) = evidence.overrun {
        return Some(in_words(overrun).to_owned());
    }
    if !evidence.complete {
        return Some("what it did could not be listed completely".to_owned());
    }
    if *evidence.ended == Ended::Exited(0) {
        return None;
    }
    if *evidence.ended == Ended::Signaled(SIGXFSZ) || *evidence.ended == Ended::Exited(128 + SIGXFSZ) {
        return Some(LARGE.to_owned());
    }
    if *evidence.ended == Ended::Signaled(SIGSYS) || *evidence.ended == Ended::Exited(128 + SIGSYS) {
        return Some("it made a system call that the box refuses".to_owned());
    }
    let lower = evidence.output.to_lowercase();
    let counts = |why: &str| !(evidence.net && why == NETWORK);
    let tells = |(text, why): &&(&str, &str)| counts(why) && lower.contains(text);
    let told = TELLTALES.iter().find(tells).map(|(_, why)| (*why).to_owned());
    let told = told.or_else(|| crowded(&lower).then(|| in_words(Overrun::Processes).to_owned()));
    let refused =
        (evidence.as_root && is_refused(&lower)).then(|| "the box refuses this even to root".to_owned());
    let denied = evidence.copied && (is_refused(&lower) || lower.contains("permission denied"));
    let refused =
        refused.or_else(|| denied.then(|| "the box lets it write to its own folders only".to_owned()));
    told.or(refused)
        .or_else(|| read_only(&lower))
        .or_else(|| setuid(evidence))
        .or_else(|| hidden(evidence))
        .or_else(|| secret(evidence))
        .or_else(|| {
            let file = evidence.several_names?;
            Some(format!("{} has several names, which the box does not keep together", file.display()))
        })
}

/// A process that could not be started: the same words about something else are the job's own matter.
fn crowded(lower: &str) -> bool {
    let unavailable = |line: &str| line.contains("resource temporarily unavailable");
    lower.lines().any(|line| unavailable(line) && (line.contains("fork") || line.contains("thread")))
}

fn in_words(overrun: Overrun) -> &'static str {
    match overrun {
        Overrun::Processes => "it started more processes than the box may hold",
        Overrun::Memory => "it used more memory than the box may hold",
        Overrun::Room => "it wrote more than the box may hold",
    }
}

/// Root is hardly ever refused anything outside of a box. (EACCES does not count: it is what a missing execute bit gives.)
fn is_refused(lower: &str) -> bool {
    let of_mount = |line: &str| line.starts_with("mount:") && line.contains("permission denied");
    lower.contains("operation not permitted") || lower.lines().any(of_mount)
}

fn read_only(lower: &str) -> Option<String> {
    lower.contains("read-only file system").then(|| "a file system is read-only in the box".to_owned())
}

fn hidden(evidence: &Evidence<'_>) -> Option<String> {
    let named = |path: &&PathBuf| path.to_str().is_some_and(|path| evidence.output.contains(path));
    evidence.hidden.iter().find(named).map(|path| format!("{} is hidden in the box", path.display()))
}

fn secret(evidence: &Evidence<'_>) -> Option<String> {
    let named = |name: &&String| contains_word(evidence.output, name);
    evidence.secrets.iter().find(named).map(|name| format!("the secret variable {name} is not in the box"))
}

/// A message of a program that gains rights: whatever it says, the missing rights may be why.
fn setuid(evidence: &Evidence<'_>) -> Option<String> {
    let speaks = |name: &&String| contains_word(evidence.output, &format!("{name}:"));
    let name = evidence.setuid.iter().find(speaks)?;
    Some(format!("{name} gains rights on the machine, and setuid programs are refused in the box"))
}

fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(ended: Ended, output: &str) -> Option<String> {
        doubt(&Evidence {
            ended: &ended,
            output,
            hidden: &["/root/.ssh".into()],
            secrets: &["API_KEY".to_owned()],
            overrun: None,
            copied: false,
            setuid: &["su".to_owned()],
            several_names: None,
            net: false,
            complete: true,
            as_root: true,
        })
    }

    #[test]
    fn blames_the_box_only_for_what_it_lacks() {
        for (output, word) in [
            ("mv: cannot move: Value too large for defined data type", "another user"),
            ("OSError: [Errno 18] Invalid cross-device link: 'a'", "move"),
            ("curl: (6) Could not resolve host: example.org", "network"),
            ("cat: /root/.ssh/id: No such file or directory", "hidden"),
            ("x.sh: line 3: API_KEY: unbound variable", "API_KEY"),
            ("sudo: effective uid is not 0, is sudo installed setuid root?", "setuid"),
            ("touch: cannot touch '/sys/x': Read-only file system", "read-only"),
            ("mount: /mnt: permission denied.", "refuses"),
            ("Password: su: System error", "setuid"),
            ("setcap: Operation not permitted", "refuses"),
        ] {
            let why = judge(Ended::Exited(1), output).unwrap_or_default();
            assert!(why.contains(word), "{output}: {why}");
            assert_eq!(judge(Ended::Exited(0), output), None);
        }
    }

    #[test]
    fn an_ordinary_failure_is_the_jobs() {
        for output in [
            "cp: cannot stat 'logs/*.log': No such file or directory",
            "MY_API_KEYS: bad",
            "vsu: su is no letter",
            "./x: Permission denied",
            "",
        ] {
            assert_eq!(judge(Ended::Exited(1), output), None, "{output}");
        }
        assert!(judge(Ended::TimedOut { after_ms: 5 }, "").is_some());
        assert!(judge(Ended::Signaled(31), "").is_some());
    }
}
