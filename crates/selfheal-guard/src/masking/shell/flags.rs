//! Options of commands that make them ignore errors, strict options that are gone, and messages that are thrown away.
//!
//! The tables come from the manual pages of the commands. A command is written as the names that it goes by; `*` stands
//! for any.

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::shell::{Command, Consumer, Redirect};

use super::Sides;
use super::words::{inner_name, is_step, plain};
use crate::finding::at;

/// An option that must not be new, or must not be gone.
struct Flag {
    commands: &'static [&'static str],
    /// Long options and whole words; with `=` at the end as a prefix.
    words: &'static [&'static str],
    /// Letters in a cluster of short options.
    letters: &'static str,
    why: &'static str,
}

const ADDED: &[Flag] = &[
    Flag {
        commands: &["*"],
        words: &[
            "--ignore-errors",
            "--ignore-error",
            "--no-strict",
            "--keep-going",
            "--skip-errors",
            "--skip-broken",
            "--ignore-missing",
            "--exit-zero",
            "--no-fail",
            "--no-fail-on-error",
            "--continue-on-error",
            "--allow-failure",
            "--ignore-failed-read",
            "--no-verify",
            "--no-check",
            "--no-check-certificate",
            "--insecure",
            "--allow-unauthenticated",
            "--nogpgcheck",
            "--no-gpg-checks",
            "--trusted-host",
            "--no-abort-on-error",
            "--passWithNoTests",
            "--no-error-on-unmatched-pattern",
            "--no-error-summary",
            "--ignore-scripts",
            "--ignore-exit-code",
            "--nodeps",
            "--skip-checks",
            "--no-validate",
        ],
        letters: "",
        why: "is told to ignore errors",
    },
    Flag { commands: &["curl"], words: &[], letters: "k", why: "no longer checks the certificate" },
    Flag { commands: &["make", "gmake"], words: &[], letters: "ki", why: "is told to ignore errors" },
    Flag {
        commands: &["ssh", "scp", "sftp", "rsync", "git"],
        words: &[
            "StrictHostKeyChecking=no",
            "-oStrictHostKeyChecking=no",
            "UserKnownHostsFile=/dev/null",
            "http.sslVerify=false",
        ],
        letters: "",
        why: "no longer checks whom it talks to",
    },
    Flag {
        commands: &["shellcheck", "flake8", "pylint", "mypy", "eslint", "ruff"],
        words: &["--exclude=", "--ignore=", "--disable=", "--ignore-errors", "--quiet"],
        letters: "e",
        why: "has rules switched off",
    },
    Flag {
        commands: &["pytest", "py.test", "go", "cargo", "npm", "jest", "mvn", "gradle", "ctest", "prove"],
        words: &[
            "--deselect",
            "--ignore=",
            "--skip",
            "-DskipTests",
            "-Dmaven.test.skip=true",
            "--exclude",
            "-x=test",
            "--lf",
            "-k",
            "-m",
            "-run",
            "--testPathIgnorePatterns",
        ],
        letters: "",
        why: "leaves tests out",
    },
    Flag {
        commands: &["join", "comm", "sort", "merge"],
        words: &["--nocheck-order"],
        letters: "",
        why: "no longer checks the order of its input",
    },
    Flag {
        commands: &["psql"],
        words: &["ON_ERROR_STOP=0", "ON_ERROR_STOP=off"],
        letters: "",
        why: "goes on after errors",
    },
    Flag { commands: &["mysql", "mariadb"], words: &["--force"], letters: "f", why: "goes on after errors" },
    Flag {
        commands: &["xargs", "parallel"],
        words: &["--halt=never"],
        letters: "",
        why: "goes on after errors",
    },
];

const REMOVED: &[Flag] = &[
    Flag {
        commands: &["curl"],
        words: &["--fail", "--fail-with-body", "-f"],
        letters: "f",
        why: "takes an error page for data",
    },
    Flag {
        commands: &["psql"],
        words: &["ON_ERROR_STOP=1", "ON_ERROR_STOP=on"],
        letters: "",
        why: "goes on after errors",
    },
    Flag {
        commands: &["*"],
        words: &[
            "--strict",
            "--exit-code",
            "--error-exitcode=",
            "--check",
            "--verify",
            "--werror",
            "-Werror",
            "--abort-on-error",
            "--fail-fast",
            "--frozen-lockfile",
            "--locked",
            "--warnings-as-errors",
        ],
        letters: "",
        why: "is less strict than before",
    },
    Flag {
        commands: &["bash", "sh", "ksh", "dash"],
        words: &["-e", "-eu", "-euo"],
        letters: "e",
        why: "no longer ends at the first failure",
    },
];

/// Commands whose output says only whether something is there.
const PROBES: &[&str] = &[
    "command", "type", "which", "hash", "kill", "grep", "pgrep", "id", "getent", "test", "ls", "stat", "cmp",
    "pushd", "popd", "compgen",
];

/// What became of options and messages.
pub fn compare(sides: &Sides) -> Vec<Finding> {
    let mut out = Vec::new();
    for (index, new) in sides.new.script.commands().iter().enumerate() {
        let origin =
            sides.origin.get(index).copied().flatten().and_then(|at| sides.old.script.commands().get(at));
        if let Some(old) = origin {
            out.extend(flags(old, new));
        }
        out.extend(opened(origin, new));
        out.extend(silenced(origin, new));
    }
    out
}

/// A `chmod` that lets everybody write where that was not so.
fn opened(old: Option<&Command>, new: &Command) -> Option<Finding> {
    let opens = |command: &Command| {
        let mode =
            command.arguments().iter().map(plain).find(|word| !word.starts_with('-')).unwrap_or_default();
        let octal =
            mode.len() >= 3 && mode.chars().all(|c| c.is_digit(8)) && mode.ends_with(['2', '3', '6', '7']);
        let letters = mode.split(',').any(|part| {
            part.split_once(['+', '='])
                .is_some_and(|(who, what)| what.contains('w') && (who.is_empty() || who.contains(['o', 'a'])))
        });
        octal || letters
    };
    let found = new.is("chmod") && opens(new) && !old.is_some_and(opens);
    found.then(|| at("masking/opened", new.lines.0, Weight::Refuse, "everybody may write now"))
}

fn flags(old: &Command, new: &Command) -> Vec<Finding> {
    let name = inner_name(new);
    let mut out = Vec::new();
    let applies = |flag: &&Flag| flag.commands.iter().any(|own| *own == "*" || *own == name);
    for flag in ADDED.iter().filter(applies) {
        if has(new, flag) && !has(old, flag) {
            out.push(at(
                "masking/errors-ignored",
                new.lines.0,
                Weight::Refuse,
                format!("`{name}` {}", flag.why),
            ));
        }
    }
    for flag in REMOVED.iter().filter(applies) {
        if has(old, flag) && !has(new, flag) {
            out.push(at(
                "masking/less-strict",
                new.lines.0,
                Weight::Refuse,
                format!("`{name}` {}", flag.why),
            ));
        }
    }
    out
}

fn has(command: &Command, flag: &Flag) -> bool {
    command.arguments().iter().map(plain).any(|word| {
        let whole = flag
            .words
            .iter()
            .any(|own| if own.ends_with('=') { word.starts_with(own) } else { word == *own });
        let cluster = word.starts_with('-')
            && !word.starts_with("--")
            && word.chars().skip(1).all(|c| c.is_ascii_alphabetic());
        whole || (cluster && word.chars().skip(1).any(|c| flag.letters.contains(c)))
    })
}

/// A redirection that throws messages away, new on a step that stands for itself.
fn silenced(old: Option<&Command>, new: &Command) -> Option<Finding> {
    let quiet = |command: &Command| command.redirects.iter().filter(|r| hides_messages(r, command)).count();
    if quiet(new) <= old.map_or(0, quiet) {
        return None;
    }
    let name = inner_name(new);
    let line = new.lines.0;
    if name == "exec" && new.words.len() <= 1 {
        return Some(at(
            "masking/silenced",
            line,
            Weight::Refuse,
            "all messages of the script are thrown away",
        ));
    }
    let asked =
        new.context.consumers.iter().any(|consumer| *consumer != Consumer::Pipe) || new.context.substitution;
    let probe = PROBES.contains(&name.as_str());
    match old {
        Some(old) if is_step(old) && !(asked && probe) => Some(at(
            "masking/silenced",
            line,
            Weight::Refuse,
            format!("the messages of `{name}` are thrown away"),
        )),
        None if is_step(new) && !asked => Some(at(
            "masking/silenced",
            line,
            Weight::Medium,
            format!("the messages of the new command `{name}` are thrown away"),
        )),
        _ => None,
    }
}

fn hides_messages(redirect: &Redirect, command: &Command) -> bool {
    let target = redirect.target.as_ref().map(plain).unwrap_or_default();
    let null = target == "/dev/null";
    let errors = redirect.descriptor.as_deref() == Some("2");
    let both =
        redirect.operator.starts_with("&>") || (redirect.operator == ">&" && redirect.descriptor.is_none());
    let follows = errors && redirect.operator == ">&" && target == "1" && stdout_is_null(command);
    let closed = (target == "-" || redirect.operator.ends_with("&-"))
        && redirect.descriptor.as_deref().is_none_or(|d| d == "1" || d == "2");
    (null && (errors || both)) || follows || closed
}

fn stdout_is_null(command: &Command) -> bool {
    command.redirects.iter().any(|redirect| {
        redirect.operator == ">"
            && redirect.descriptor.as_deref().is_none_or(|d| d == "1")
            && redirect.target.as_ref().is_some_and(|target| plain(target) == "/dev/null")
    })
}
