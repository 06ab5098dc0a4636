//! What a person gets who logs in: the surroundings that a job has when it is run by hand.
//!
//! The user's own start files are run, as at every login, but in a box: nothing that they start or write stays. Where no
//! box can be built they are run for real only when a person asked for it (`selfheal env-diff`).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use selfheal_core::facts::RecordedFacts;
use selfheal_core::ids::RunId;
use selfheal_core::ports::{BoxOrder, Boxes, Clock, Executor, Order, Passing};
use selfheal_core::run::{Ended, Facts, Run};
use selfheal_exec::Supervisor;

use crate::context::Context;

/// How long start files may take, in milliseconds.
const DEADLINE_MS: u64 = 3_000;
/// Bytes of the answer that are kept.
const KEEP: usize = 256 * 1024;
/// Stands before the answer: start files may print.
const MARK: &str = "selfheal-login-shell";
/// What the shell is asked. Nothing of it comes from outside.
const QUESTION: &str = "printf '\\n%s\\n' selfheal-login-shell; umask; exec env -0";
/// The search path of a login where `/etc/login.defs` says nothing.
const LOGIN_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games";

/// How the shell is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As at a login: `.profile`.
    Login,
    /// As in a terminal, too: what stands in `.bashrc` behind the question whether somebody is there.
    Interactive,
}

/// Asks a login shell for its surroundings. `None` where it did not answer in time, or where there is no box and
/// `for_real` was not said.
#[must_use]
pub fn ask(context: &Context, boxes: &dyn Boxes, manner: Manner, for_real: bool) -> Option<RecordedFacts> {
    let env = base_environment(context);
    let argv = command(manner);
    let home = env.get(OsStr::new("HOME")).map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let run = if boxes.rung().can_try() {
        let order = BoxOrder {
            argv,
            cwd: home.clone(),
            env,
            deadline_ms: DEADLINE_MS,
            hidden: vec![context.state.clone()],
            keep: KEEP,
            ..BoxOrder::default()
        };
        boxes.run(&order).ok()?.run
    } else if for_real {
        outside(context, argv, &home, env)?
    } else {
        return None;
    };
    let facts = read(&run)?;
    Some(RecordedFacts::of(&Facts { uid: context.uid, cwd: home, tty: true, ..facts }, &context.redactor()))
}

fn command(manner: Manner) -> Vec<OsString> {
    let options = match manner {
        Manner::Login => "-lc",
        Manner::Interactive => "-lic",
    };
    ["bash", options, QUESTION].map(OsString::from).to_vec()
}

/// Without a box: like a job, its output kept and not passed on.
fn outside(
    context: &Context,
    argv: Vec<OsString>,
    home: &std::path::Path,
    env: BTreeMap<OsString, OsString>,
) -> Option<Run> {
    let mut changes: BTreeMap<OsString, Option<OsString>> =
        context.env.keys().map(|name| (name.clone(), None)).collect();
    changes.extend(env.into_iter().map(|(name, value)| (name, Some(value))));
    let supervisor = Supervisor::of_self();
    let order = Order {
        id: RunId::new(context.clock.fresh_id()),
        // What start files say to standard error is not for the reader of this.
        argv: [OsString::from("sh"), "-c".into(), "exec \"$@\" 2>/dev/null".into(), "sh".into()]
            .into_iter()
            .chain(argv)
            .collect(),
        cwd: home.to_owned(),
        env: changes,
        deadline_ms: DEADLINE_MS,
        grace_ms: 500,
        stdout: Passing::Spool,
        keep: KEEP,
        log: None,
    };
    let run = supervisor.run(&order).ok();
    drop(supervisor.take_spool());
    run
}

/// What a login starts with, before any start file: see login(1) and pam_env(8).
fn base_environment(context: &Context) -> BTreeMap<OsString, OsString> {
    let account = Account::of(context.uid);
    let home = own_home(context).or(account.home).unwrap_or_else(|| PathBuf::from("/"));
    let mut env: BTreeMap<OsString, OsString> = BTreeMap::new();
    let defaults = std::fs::read_to_string("/etc/login.defs").unwrap_or_default();
    env.insert("PATH".into(), login_path(&defaults, context.uid).into());
    let machine = std::fs::read_to_string("/etc/environment").unwrap_or_default();
    env.extend(assignments(&machine).map(|(name, value)| (name.into(), value.into())));
    for (name, value) in [
        ("HOME", home.into_os_string()),
        ("USER", account.name.clone().into()),
        ("LOGNAME", account.name.into()),
        ("SHELL", account.shell.into()),
        ("TERM", "dumb".into()),
    ] {
        env.insert(name.into(), value);
    }
    env
}

/// The job's own `HOME`, where it is a folder of this user.
fn own_home(context: &Context) -> Option<PathBuf> {
    let home = PathBuf::from(context.var("HOME")?);
    let facts = std::fs::metadata(&home).ok()?;
    (facts.is_dir() && facts.uid() == context.uid).then_some(home)
}

/// What the table of users says of one.
struct Account {
    name: String,
    home: Option<PathBuf>,
    shell: String,
}

impl Account {
    fn of(uid: u32) -> Self {
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let number = uid.to_string();
        let line = users.lines().find(|line| line.split(':').nth(2) == Some(&number)).unwrap_or_default();
        let field = |at: usize| line.split(':').nth(at).filter(|text| !text.is_empty()).map(str::to_owned);
        Self {
            name: field(0).unwrap_or(number),
            home: field(5).map(PathBuf::from),
            shell: field(6).unwrap_or_else(|| "/bin/sh".to_owned()),
        }
    }
}

/// `ENV_PATH PATH=…`, for root `ENV_SUPATH`.
fn login_path(defaults: &str, uid: u32) -> String {
    let key = if uid == 0 { "ENV_SUPATH" } else { "ENV_PATH" };
    let value = defaults.lines().find_map(|line| line.trim().strip_prefix(key));
    let value = value.map(str::trim).map(|value| value.strip_prefix("PATH=").unwrap_or(value));
    value.filter(|value| !value.is_empty()).unwrap_or(LOGIN_PATH).to_owned()
}

/// The lines of `/etc/environment`: `NAME=value`, perhaps with quotes around the value.
fn assignments(text: &str) -> impl Iterator<Item = (String, String)> {
    text.lines().filter_map(|line| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        let value = value.trim();
        let bare = ['"', '\'']
            .iter()
            .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote))
            .unwrap_or(value);
        Some((name.trim().to_owned(), bare.to_owned()))
    })
}

/// The answer behind the mark.
fn read(run: &Run) -> Option<Facts> {
    if !matches!(run.ended, Ended::Exited(0)) || run.stdout.total > run.stdout.head.len() as u64 {
        return None;
    }
    let mark = format!("\n{MARK}\n");
    let bytes = run.stdout.head.as_slice();
    let at = bytes.windows(mark.len()).position(|window| window == mark.as_bytes())?;
    let answer = bytes.get(at + mark.len()..)?;
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let umask = std::str::from_utf8(answer.get(..end)?).ok()?.trim();
    let mut env = BTreeMap::new();
    for pair in answer.get(end + 1..)?.split(|byte| *byte == 0) {
        let text = OsStr::from_bytes(pair).to_string_lossy();
        if let Some((name, value)) = text.split_once('=') {
            env.insert(name.to_owned(), value.to_owned());
        }
    }
    Some(Facts { umask: u32::from_str_radix(umask, 8).ok()?, env, ..Facts::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfheal_core::ids::Timestamp;
    use selfheal_core::run::Capture;

    fn answered(text: &[u8]) -> Run {
        Run {
            id: RunId::new("x"),
            started: Timestamp(0),
            duration_ms: 0,
            ended: Ended::Exited(0),
            stdout: Capture { head: text.to_vec(), tail: Vec::new(), total: text.len() as u64 },
            stderr: Capture::default(),
            peak_kib: None,
            left_running: Vec::new(),
            at_deadline: None,
        }
    }

    #[test]
    fn an_answer_is_read_behind_what_start_files_print() {
        let facts =
            read(&answered(b"Welcome!\nX=1\n\nselfheal-login-shell\n0027\nA=1\0B=two\nlines\0")).unwrap();
        assert_eq!(facts.umask, 0o27);
        assert_eq!(facts.env.get("B").map(String::as_str), Some("two\nlines"));
        assert_eq!(facts.env.len(), 2);
        for broken in [&b""[..], b"\nselfheal-login-shell\n", b"\nselfheal-login-shell\nx\nA=1\0"] {
            assert!(read(&answered(broken)).is_none());
        }
        let failed =
            Run { ended: Ended::TimedOut { after_ms: 3_000 }, ..answered(b"\nselfheal-login-shell\n0022\n") };
        assert!(read(&failed).is_none());
    }

    #[test]
    fn the_search_path_of_a_login_comes_from_its_settings() {
        let text = "# x\nENV_SUPATH\tPATH=/sbin:/bin\nENV_PATH PATH=/bin\n";
        assert_eq!(login_path(text, 0), "/sbin:/bin");
        assert_eq!(login_path(text, 7), "/bin");
        assert_eq!(login_path("", 7), LOGIN_PATH);
    }

    #[test]
    fn machine_wide_variables_are_read_with_and_without_quotes() {
        let text = "# LANG=x\nLANG=\"de_DE.UTF-8\"\nexport A='b c'\nPLAIN=1\nnonsense\n";
        let found: Vec<_> = assignments(text).collect();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(found, [pair("LANG", "de_DE.UTF-8"), pair("A", "b c"), pair("PLAIN", "1")]);
    }
}
