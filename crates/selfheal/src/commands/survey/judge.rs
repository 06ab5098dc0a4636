//! What can be said of a job by reading it: what stands against trying it in a box, and who would see that it failed.
//! Pure functions of text.

use selfheal_core::job::inner_command;
use selfheal_syntax::shell::{Redirect, Script, StatementKind};

/// What stands against trying a job in a box, as the word of its text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Blocker {
    /// `rights`, `remote`, `daemon`, `network`, `database`, `missing`, `unreadable` or `binary`.
    pub kind: &'static str,
    /// What it is: a command, a library, a file.
    pub what: String,
}

/// Commands whose work does not happen in a box. Source: what a box lacks (setuid, network, the sockets of daemons).
const COMMANDS: &[(&str, &[&str])] = &[
    ("rights", &["sudo", "su", "doas", "runuser", "pkexec"]),
    ("remote", &["ssh", "scp", "sftp", "rsh", "ansible", "ansible-playbook", "salt", "mosh"]),
    (
        "daemon",
        &[
            "docker",
            "docker-compose",
            "podman",
            "kubectl",
            "lxc",
            "virsh",
            "systemctl",
            "service",
            "invoke-rc.d",
            "crictl",
            "nomad",
            "helm",
        ],
    ),
    (
        "network",
        &[
            "curl",
            "wget",
            "ftp",
            "lftp",
            "nc",
            "ncat",
            "aws",
            "gsutil",
            "gcloud",
            "az",
            "rclone",
            "s3cmd",
            "certbot",
            "apt-get",
            "apt",
            "dnf",
            "yum",
            "pip",
            "pip3",
            "npm",
            "mail",
            "mailx",
            "sendmail",
            "msmtp",
            "dig",
            "ping",
            "mbsync",
            "fetchmail",
            "offlineimap",
        ],
    ),
    (
        "database",
        &[
            "psql",
            "pg_dump",
            "pg_dumpall",
            "pg_basebackup",
            "mysql",
            "mysqldump",
            "mariadb",
            "mariadb-dump",
            "mongodump",
            "mongosh",
            "redis-cli",
            "sqlplus",
            "influx",
        ],
    ),
];

/// What a program in another language says when it will use the network. Source: the modules' manuals.
const LIBRARIES: &[(&str, &str)] = &[
    ("import requests", "requests"),
    ("urllib.request", "urllib.request"),
    ("import httpx", "httpx"),
    ("import paramiko", "paramiko"),
    ("import smtplib", "smtplib"),
    ("import ftplib", "ftplib"),
    ("import boto3", "boto3"),
    ("import psycopg", "psycopg"),
    ("import pymysql", "pymysql"),
    ("LWP::UserAgent", "LWP::UserAgent"),
    ("Net::SSH", "Net::SSH"),
    ("Net::FTP", "Net::FTP"),
    ("curl_init(", "curl_init"),
    ("require('axios')", "axios"),
    ("net/http", "net/http"),
];

/// At most so many are named.
const MOST: usize = 5;

/// What stands against trying a shell program.
#[must_use]
pub fn shell_blockers(text: &str) -> Vec<Blocker> {
    let Ok(script) = Script::parse(text) else { return Vec::new() };
    let mut out: Vec<Blocker> = Vec::new();
    for command in script.commands() {
        let words: Vec<_> = command
            .words
            .iter()
            .map(|word| word.literal().unwrap_or_else(|| word.text.clone()).into())
            .collect();
        let inner = inner_command(&words);
        for argv in [&words, &inner] {
            let words: Vec<String> = argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            if let Some(found) = of_words(&words)
                && !out.contains(&found)
                && out.len() < MOST
            {
                out.push(found);
            }
        }
    }
    out
}

fn of_words(words: &[String]) -> Option<Blocker> {
    let first = words.first()?;
    let name = first.rsplit('/').next().unwrap_or(first);
    let named = COMMANDS.iter().find(|(_, names)| names.contains(&name)).map(|(kind, _)| *kind);
    let kind = named.or_else(|| sometimes(name, words.get(1..).unwrap_or_default()))?;
    Some(Blocker { kind, what: name.to_owned() })
}

/// Commands that reach another machine only with some arguments.
fn sometimes(name: &str, arguments: &[String]) -> Option<&'static str> {
    let remote = |word: &String| !word.starts_with(['-', '/', '.']) && word.contains(':');
    match name {
        "rsync" if arguments.iter().any(remote) => Some("remote"),
        "git" if arguments.iter().any(|word| ["pull", "push", "fetch", "clone"].contains(&word.as_str())) => {
            Some("network")
        }
        _ => None,
    }
}

/// What stands against trying a program in another language.
#[must_use]
pub fn library_blockers(text: &str) -> Vec<Blocker> {
    let found = LIBRARIES.iter().filter(|(needle, _)| text.contains(needle));
    found.map(|(_, what)| Blocker { kind: "network", what: (*what).to_owned() }).take(MOST).collect()
}

/// Who would see that a job failed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Seen {
    /// Whether anybody would.
    pub visible: bool,
    /// `selfheal`, `mail`, `no-mail`, `no-mailer`, `discarded`, `file`, `log`, `masked`, `handler` or `journal`.
    pub how: &'static str,
    /// The address, the file, the unit.
    pub place: String,
}

impl Seen {
    /// Of a job that ends in a known way.
    #[must_use]
    pub fn by(visible: bool, how: &'static str, place: impl Into<String>) -> Self {
        Self { visible, how, place: place.into() }
    }
}

/// How mail leaves the machine.
#[derive(Clone, Copy, Debug)]
pub struct Mail<'a> {
    /// `MAILTO`, or the user.
    pub to: &'a str,
    /// Whether there is a program that sends it.
    pub mailer: bool,
}

/// Where a stream goes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Cron,
    Null,
    File(String),
}

/// Who would see that a command line of cron failed: cron mails what it prints, whatever its exit code is.
#[must_use]
pub fn seen_by_cron(line: &str, mail: Mail<'_>) -> Seen {
    let Ok(script) = Script::parse(line) else { return mailed(mail) };
    if masked(line) {
        return Seen::by(false, "masked", "");
    }
    for command in script.commands() {
        if command.is("logger") || command.is("systemd-cat") {
            return Seen::by(false, "log", "");
        }
    }
    match errors_to(&script) {
        Target::Null => Seen::by(false, "discarded", ""),
        Target::File(file) => Seen::by(false, "file", file),
        Target::Cron => mailed(mail),
    }
}

fn mailed(mail: Mail<'_>) -> Seen {
    match (mail.to, mail.mailer) {
        ("", _) => Seen::by(false, "no-mail", ""),
        (to, false) => Seen::by(false, "no-mailer", to),
        (to, true) => Seen::by(true, "mail", to),
    }
}

/// Whether the line ends well whatever happened.
fn masked(line: &str) -> bool {
    let squeezed = line.split_whitespace().collect::<Vec<_>>().join(" ");
    ["|| true", "|| :", "|| exit 0", "; true", "; exit 0", "; :"].iter().any(|end| squeezed.ends_with(end))
}

/// Where the errors of the last command go, and those of everything before, when it is one statement.
fn errors_to(script: &Script) -> Target {
    let last = script.commands().iter().rev().find(|command| !command.context.substitution);
    let mut redirects: Vec<&Redirect> =
        last.map(|command| command.redirects.iter().collect()).unwrap_or_default();
    for statement in script.body() {
        if !matches!(statement.kind, StatementKind::Command(_)) {
            redirects.extend(&statement.redirects);
        }
    }
    let (mut output, mut errors) = (Target::Cron, Target::Cron);
    for redirect in redirects {
        let target = redirect.target.as_ref().map(|word| word.literal().unwrap_or_else(|| word.text.clone()));
        let target = target.unwrap_or_default();
        let number = redirect.descriptor.as_deref();
        match (redirect.operator.as_str(), number, target.as_str()) {
            ("&>" | "&>>", _, _) => {
                output = of_file(&target);
                errors = output.clone();
            }
            (">&", Some("2"), "1") => errors = output.clone(),
            (">&", None | Some("1"), "2") => output = errors.clone(),
            (">" | ">>" | ">|", Some("2"), _) => errors = of_file(&target),
            (">" | ">>" | ">|", None | Some("1"), _) => output = of_file(&target),
            _ => {}
        }
    }
    errors
}

fn of_file(path: &str) -> Target {
    if path == "/dev/null" { Target::Null } else { Target::File(path.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn how(line: &str) -> &'static str {
        seen_by_cron(line, Mail { to: "root", mailer: true }).how
    }

    #[test]
    fn who_sees_a_failure_follows_the_redirections() {
        for (line, wanted) in [
            ("a", "mail"),
            ("a >/dev/null", "mail"),
            ("a >/dev/null 2>&1", "discarded"),
            ("a 2>&1 >/dev/null", "mail"),
            ("a &>/dev/null", "discarded"),
            ("cd /x && a >> /var/log/a 2>&1", "file"),
            ("(a; b) 2>/dev/null", "discarded"),
            ("a || true", "masked"),
            ("a ; exit 0", "masked"),
            ("a 2>&1 | logger -t a", "log"),
            ("chronic a", "mail"),
        ] {
            assert_eq!(how(line), wanted, "{line}");
        }
        assert_eq!(seen_by_cron("a", Mail { to: "", mailer: true }).how, "no-mail");
        assert_eq!(seen_by_cron("a", Mail { to: "x", mailer: false }).how, "no-mailer");
    }

    #[test]
    fn what_a_box_lacks_is_found_behind_wrappers_too() {
        let kinds = |text: &str| {
            shell_blockers(text)
                .into_iter()
                .map(|one| format!("{} {}", one.kind, one.what))
                .collect::<Vec<_>>()
        };
        assert_eq!(kinds("cd /x && tar cf a b"), Vec::<String>::new());
        assert_eq!(kinds("sudo -u bob ssh host ls"), ["rights sudo", "remote ssh"]);
        assert_eq!(kinds("timeout 5 /usr/bin/curl -f x || docker ps"), ["network curl", "daemon docker"]);
        assert_eq!(kinds("rsync -a /a /b; rsync -a /a host:/b; git status"), ["remote rsync"]);
        assert_eq!(kinds("if x; then y=$(psql -c z); fi"), ["database psql"]);
        assert_eq!(library_blockers("import os\nimport requests\n")[0].what, "requests");
    }
}
