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
            "--nodeps",
            "--keep-going",
            "--exit-zero",
            "--passWithNoTests",
            "--nogpgcheck",
            "--trusted-host",
            "--insecure",
            "--lenient",
            "--tolerant",
            "--best-effort",
            "--force-yes",
            "--warn-only",
            "--soft-fail",
            "--accept-invalid",
        ],
        letters: "",
        why: "is told to ignore errors",
    },
    Flag {
        commands: &["*"],
        words: &[
            "--dry-run",
            "--dry-run=",
            "--dryrun",
            "--simulate",
            "--no-act",
            "--just-print",
            "--noop",
            "--whatif",
            "--pretend",
            "--recon",
            "--validate-only",
        ],
        letters: "",
        why: "only says what it would do",
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
        commands: &["gradle", "gradlew"],
        words: &["-x", "--exclude-task"],
        letters: "",
        why: "leaves tasks out",
    },
    Flag {
        commands: &["go", "cargo", "rspec", "ansible-playbook", "npm", "pnpm", "yarn"],
        words: &["-short", "--no-run", "--tag", "--skip-tags", "--audit-level", "--audit-level="],
        letters: "",
        why: "leaves out what it checked before",
    },
    Flag { commands: &["ctest"], words: &["-E", "-LE"], letters: "", why: "leaves tests out" },
    Flag {
        commands: &["make", "gmake"],
        words: &["--touch", "--question", "-t", "-q", "-n"],
        letters: "tqn",
        why: "no longer runs the recipes",
    },
    Flag {
        commands: &["npm", "pnpm", "yarn"],
        words: &["--if-present", "--ignore-scripts", "--force"],
        letters: "",
        why: "passes over what is missing or does not fit",
    },
    Flag {
        commands: &["shellcheck"],
        words: &["--severity", "--severity=", "-S"],
        letters: "S",
        why: "leaves findings out",
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
        commands: &[
            "sha1sum",
            "sha224sum",
            "sha256sum",
            "sha384sum",
            "sha512sum",
            "md5sum",
            "b2sum",
            "shasum",
        ],
        words: &["--check"],
        letters: "c",
        why: "no longer checks the sums",
    },
    Flag {
        commands: &["jq", "yq"],
        words: &["--exit-status"],
        letters: "e",
        why: "no longer fails when there is no value",
    },
    Flag {
        commands: &["pg_restore"],
        words: &["--exit-on-error", "--single-transaction"],
        letters: "e1",
        why: "goes on after errors",
    },
    Flag {
        commands: &["git"],
        words: &["--exit-code", "--check"],
        letters: "",
        why: "no longer says by its status what it found",
    },
    Flag {
        commands: &["docker", "docker-compose", "podman-compose"],
        words: &["--exit-code-from", "--exit-code-from=", "--abort-on-container-exit"],
        letters: "",
        why: "no longer ends with the status of what it runs",
    },
    Flag {
        commands: &["gcc", "cc", "clang", "g++", "c++", "clang++"],
        words: &["-Werror"],
        letters: "",
        why: "takes warnings that were errors",
    },
    Flag {
        commands: &["pytest", "py.test", "coverage", "pylint", "eslint", "mypy", "flake8", "ruff"],
        words: &[
            "--strict",
            "--strict-markers",
            "--strict-config",
            "--cov-fail-under",
            "--cov-fail-under=",
            "--fail-under",
            "--fail-under=",
            "--max-warnings",
            "--max-warnings=",
        ],
        letters: "",
        why: "is less strict than before",
    },
    Flag {
        commands: &["python", "python3"],
        words: &["-Werror", "error"],
        letters: "",
        why: "takes warnings that were errors",
    },
    Flag {
        commands: &["bash", "sh", "ksh", "dash"],
        words: &["-e", "-eu", "-euo"],
        letters: "e",
        why: "no longer ends at the first failure",
    },
];

/// Beginnings of long options that ask for leniency, by what must stand later in them. Matched without dashes, so
/// `--ignoreErrors` is found too.
const LENIENT: &[(&str, &[&str])] = &[
    (
        "ignore",
        &[
            "err",
            "fail",
            "missing",
            "exit",
            "invalid",
            "bad",
            "warn",
            "unread",
            "checksum",
            "broken",
            "script",
            "platform",
            "unreachable",
            "deps",
            "cert",
            "ssl",
            "corrupt",
            "zero",
        ],
    ),
    (
        "skip",
        &[
            "err",
            "fail",
            "bad",
            "invalid",
            "broken",
            "test",
            "check",
            "verif",
            "missing",
            "unavail",
            "line",
            "valid",
            "row",
            "malformed",
            "corrupt",
            "ssl",
            "lint",
        ],
    ),
    (
        "allow",
        &[
            "insecure",
            "unauth",
            "untrust",
            "fail",
            "err",
            "empty",
            "missing",
            "invalid",
            "partial",
            "downgrade-to-insecure",
            "dirty",
        ],
    ),
    ("continue", &["err", "fail"]),
    (
        "no",
        &[
            "verif",
            "check",
            "strict",
            "fail",
            "abort",
            "gpg",
            "error",
            "valid",
            "ssl",
            "sslverif",
            "integrity",
            "sign",
            "exit-code",
        ],
    ),
    ("disable", &["check", "verif", "valid", "strict", "ssl", "tls", "host-key", "lint", "rule"]),
    ("exit", &["zero", "0", "code=0", "code 0"]),
    ("suppress", &["err", "fail", "exit"]),
    ("tolerate", &[""]),
    ("drop", &["bad", "invalid", "malformed"]),
    ("deselect", &[""]),
    ("exclude", &["test"]),
];

/// Beginnings of long options that ask for strictness; they must not go.
const STRICT: &[&str] = &[
    "strict",
    "exit-code",
    "error",
    "check",
    "verify",
    "validate",
    "werror",
    "abort",
    "fail",
    "frozen",
    "locked",
    "warnings-as-errors",
    "schema",
    "dtdvalid",
    "checksum",
    "require",
    "max-warnings",
    "single-transaction",
    "set-exit",
    "detailed-exitcode",
    "pipefail",
    "immutable",
    "ci",
    "halt",
    "stop-on",
    "exit-on",
    "bail",
];

/// Parts of options whose number is a bar: a lower one lets more pass, or a higher one.
const BARS: &[(&str, bool)] = &[
    ("fail-under", true),
    ("min", true),
    ("threshold", true),
    ("coverage", true),
    ("max-warnings", false),
    ("max-errors", false),
    ("max-fail", false),
    ("maxfail", false),
    ("max-age", false),
    ("tolerance", false),
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
            out.extend(each_for_itself(old, new));
        }
        out.extend(opened(origin, new));
        out.extend(silenced(origin, new));
    }
    out
}

/// `find … -exec cmd {} +` fails when the command fails, `-exec cmd {} \;` does not.
fn each_for_itself(old: &Command, new: &Command) -> Option<Finding> {
    let ends = |command: &Command, sign: &str| {
        command.is("find") && command.arguments().iter().map(plain).any(|word| word == sign)
    };
    let found = ends(old, "+") && !ends(new, "+") && ends(new, ";");
    let why = "`find` no longer fails when the command fails that it runs";
    found.then(|| at("masking/errors-ignored", new.lines.0, Weight::Refuse, why))
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

/// Options by what their names say: leniency that is new, strictness that is gone, bars that are lower.
fn spoken(old: &Command, new: &Command) -> Vec<Finding> {
    let name = inner_name(new);
    let options = |command: &Command| -> Vec<String> {
        let all = command.arguments().iter().map(plain);
        all.filter(|word| word.starts_with('-') && word.len() > 2).map(|word| word.to_lowercase()).collect()
    };
    let (had, has) = (options(old), options(new));
    let mut out = Vec::new();
    let refuse = |rule: &str, why: &str| at(rule, new.lines.0, Weight::Refuse, format!("`{name}` {why}"));
    let count = |all: &[String], test: &dyn Fn(&str) -> bool| {
        all.iter().filter(|word| test(word.trim_start_matches('-'))).count()
    };
    let lenient = |word: &str| {
        LENIENT.iter().any(|(begin, parts)| {
            word.strip_prefix(begin).is_some_and(|rest| parts.iter().any(|part| rest.contains(part)))
        })
    };
    let strict = |word: &str| STRICT.iter().any(|begin| word.starts_with(begin));
    if count(&has, &lenient) > count(&had, &lenient) {
        out.push(refuse("masking/errors-ignored", "is told to ignore errors"));
    }
    if count(&has, &strict) < count(&had, &strict) {
        out.push(refuse("masking/less-strict", "is less strict than before"));
    }
    for (bar, lower) in BARS {
        let number = |all: &[String]| -> Option<f64> {
            let found = all.iter().find(|word| word.contains(bar))?;
            found.split_once('=').and_then(|(_, value)| value.parse().ok())
        };
        let (Some(before), Some(after)) = (number(&had), number(&has)) else { continue };
        if (*lower && after < before) || (!lower && after > before) {
            out.push(refuse("masking/check-weakened", "lets more pass than before"));
        }
    }
    out
}

fn flags(old: &Command, new: &Command) -> Vec<Finding> {
    let name = inner_name(new);
    let mut out = spoken(old, new);
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
