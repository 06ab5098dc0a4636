//! Commands that run other commands: what stands behind them is judged instead, or as well.

use selfheal_core::admission::Danger;
use selfheal_syntax::values::{Piece, Value};

use super::argv::Arg;
use super::places::Place;
use super::{Stdin, Walk};

/// How the words of a wrapper are read.
struct Wrapper {
    names: &'static [&'static str],
    /// Options whose value is the next word.
    valued: &'static [&'static str],
    /// Words of its own before the command.
    operands: usize,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["sudo", "doas"],
        valued: &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group", "--host",
            "--chdir",
        ],
        operands: 0,
    },
    Wrapper { names: &["env"], valued: &["-u", "--unset", "-C", "--chdir"], operands: 0 },
    Wrapper { names: &["nice"], valued: &["-n", "--adjustment"], operands: 0 },
    Wrapper { names: &["ionice"], valued: &["-c", "-n", "--class", "--classdata"], operands: 0 },
    Wrapper {
        names: &["timeout", "gtimeout"],
        valued: &["-k", "-s", "--kill-after", "--signal"],
        operands: 1,
    },
    Wrapper { names: &["stdbuf"], valued: &["-i", "-o", "-e"], operands: 0 },
    Wrapper {
        names: &[
            "time",
            "nohup",
            "command",
            "builtin",
            "exec",
            "setsid",
            "coproc",
            "busybox",
            "toybox",
            "!",
            "then",
            "do",
            "else",
            "caffeinate",
            "unbuffer",
            "fakeroot",
            "proot",
            "eatmydata",
            "cgexec",
            "chronic",
            "ts",
            "dbus-run-session",
            "xvfb-run",
            "numactl",
            "systemd-inhibit",
            "ccache",
            "rlwrap",
            "torsocks",
            "proxychains",
            "sem",
        ],
        valued: &["-f", "-o", "-a", "--format", "--output", "-g"],
        operands: 0,
    },
    Wrapper { names: &["chroot"], valued: &["--userspec", "--groups"], operands: 1 },
    Wrapper { names: &["taskset", "chrt"], valued: &["-p"], operands: 1 },
    Wrapper {
        names: &["flock", "lockf", "setlock", "lckdo"],
        valued: &["-w", "--timeout", "-E", "--conflict-exit-code", "-t"],
        operands: 1,
    },
    Wrapper { names: &["watch"], valued: &["-n", "--interval", "-d"], operands: 0 },
    Wrapper {
        names: &[
            "setpriv",
            "runuser",
            "unshare",
            "nsenter",
            "capsh",
            "systemd-run",
            "pkexec",
            "run0",
            "strace",
            "ltrace",
            "valgrind",
            "gosu",
            "su-exec",
            "chpst",
            "softlimit",
        ],
        valued: &["-u", "-o", "-e", "-p", "--reuid", "--regid", "-t", "-l"],
        operands: 0,
    },
];

/// Options whose value is a line for a shell, by wrapper.
const LINES: &[(&[&str], &[&str])] = &[
    (
        &["su", "runuser", "script", "flock", "sg", "capsh"],
        &["-c", "--command", "-qc", "-qec", "-ec", "-qefc"],
    ),
    (&["env"], &["-S", "--split-string"]),
    (&["capsh"], &["--"]),
];

/// Judges what a wrapper runs; `false` when the command is none, or must also be judged by itself.
pub fn unwrap(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], stdin: &Stdin, line: u32) -> bool {
    for (names, options) in LINES {
        if names.contains(&name) {
            lines(walk, arguments, options, stdin, line);
        }
    }
    match name {
        "xargs" => {
            xargs(walk, arguments, stdin, line);
            return true;
        }
        "parallel" => {
            parallel(walk, arguments, line);
            return true;
        }
        "find" | "fd" => find(walk, arguments, line),
        "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "docker-compose" => {
            in_container(walk, name, arguments, line)
        }
        "ssh" => {
            if matches!(stdin, Stdin::Opaque | Stdin::Text(_) | Stdin::File) {
                walk.hit((line, "ssh"), Danger::High, "danger/sends", "it sends data to another host");
            }
            ssh(walk, arguments, line);
        }
        _ => {}
    }
    let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name)) else { return false };
    let inner = behind(wrapper, arguments);
    if inner.is_empty() && matches!(name, "sudo" | "doas" | "chroot" | "nsenter" | "unshare" | "fakeroot") {
        // `sudo -s`, `chroot dir`: a shell that reads what is piped in.
        super::code::input(walk, stdin, (line, name));
    }
    if inner.is_empty() {
        return matches!(name, "env" | "command" | "exec" | "time");
    }
    if name == "command"
        && arguments
            .first()
            .and_then(Arg::known)
            .is_some_and(|word| word.starts_with("-v") || word.starts_with("-V"))
    {
        return true;
    }
    injected(walk, arguments, line);
    if name == "watch" {
        let text = inner.iter().filter_map(Arg::known).collect::<Vec<_>>().join(" ");
        walk.text(&text, &Stdin::Nothing, Some(line));
    }
    if matches!(name, "sudo" | "doas") {
        walk.hit(
            (line, &inner.iter().map(Arg::spelled).collect::<Vec<_>>().join(" ")),
            Danger::Medium,
            "danger/as-root",
            "it runs as another user",
        );
    }
    walk.judge(&inner, stdin, line);
    true
}

/// `env LD_PRELOAD=…`.
fn injected(walk: &mut Walk<'_>, arguments: &[Arg], line: u32) {
    for word in
        arguments.iter().map(Arg::spelled).take_while(|word| word.contains('=') || word.starts_with('-'))
    {
        if ["LD_PRELOAD=", "BASH_ENV=", "LD_AUDIT=", "PYTHONSTARTUP="]
            .iter()
            .any(|name| word.starts_with(name))
        {
            walk.hit(
                (line, &word),
                Danger::High,
                "danger/injected",
                "a variable makes the program load something",
            );
        }
    }
}

/// The words behind a wrapper's own.
fn behind(wrapper: &Wrapper, arguments: &[Arg]) -> Vec<Arg> {
    let mut at = 0;
    let mut operands = wrapper.operands;
    while let Some(arg) = arguments.get(at) {
        let word = arg.spelled();
        if word == "--" {
            at += 1;
            break;
        }
        if wrapper.valued.contains(&word.as_str()) {
            at += 2;
        } else if (word.starts_with('-') && word.len() > 1) || is_assignment(&word) {
            at += 1;
        } else if operands > 0 {
            operands -= 1;
            at += 1;
        } else {
            break;
        }
    }
    arguments
        .get(at + operands.min(if at < arguments.len() { operands } else { 0 })..)
        .unwrap_or_default()
        .to_vec()
}

/// `NAME=value`.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

fn lines(walk: &mut Walk<'_>, arguments: &[Arg], options: &[&str], stdin: &Stdin, line: u32) {
    for (at, arg) in arguments.iter().enumerate() {
        let word = arg.spelled();
        let joined =
            options.iter().find_map(|option| word.strip_prefix(&format!("{option}="))).map(str::to_owned);
        let next = options.contains(&word.as_str()).then(|| arguments.get(at + 1)).flatten();
        if let Some(text) = joined.or_else(|| next.and_then(Arg::known)) {
            walk.text(&text, stdin, Some(line));
        } else if let Some(next) = next {
            walk.hit(
                (line, &next.spelled()),
                Danger::High,
                "danger/hidden-command",
                "it runs a line that cannot be known",
            );
        }
    }
}

/// What `xargs` hands on: names below a known place, or a list that nobody knows.
fn items(stdin: &Stdin) -> Arg {
    let text = match stdin {
        Stdin::Names(Place::Inside) => "./",
        Stdin::Names(Place::OwnTemporary | Place::Temporary) => "/tmp/found/",
        Stdin::Names(Place::Outside | Place::System | Place::Home | Place::Top) => "/usr/",
        _ => return Arg::from_outside(),
    };
    Arg {
        value: Value { pieces: vec![Piece::Text(text.to_owned()), Piece::Glob("*".to_owned())] },
        process: None,
    }
}

fn xargs(walk: &mut Walk<'_>, arguments: &[Arg], stdin: &Stdin, line: u32) {
    const WRAPPER: Wrapper = Wrapper {
        names: &["xargs"],
        valued: &[
            "-I",
            "-i",
            "-n",
            "-P",
            "-L",
            "-s",
            "-d",
            "-E",
            "-a",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--replace",
        ],
        operands: 0,
    };
    let mut inner = behind(&WRAPPER, arguments);
    if inner.is_empty() {
        return;
    }
    let shell = inner
        .first()
        .and_then(Arg::known)
        .is_some_and(|name| matches!(name.as_str(), "sh" | "bash" | "dash" | "zsh" | "ksh"));
    let mark = placeholder(arguments);
    if let (Stdin::Text(text), Some(mark)) = (stdin, &mark) {
        for item in text.lines().filter(|line| !line.trim().is_empty()).take(8) {
            let filled =
                inner.iter().map(|arg| match arg.known().filter(|word| word.contains(mark.as_str())) {
                    Some(word) => Arg::text(&word.replace(mark.as_str(), item.trim())),
                    None => arg.clone(),
                });
            let filled: Vec<Arg> = filled.collect();
            walk.judge(&filled, &Stdin::Nothing, line);
        }
        return;
    }
    if let Stdin::Text(text) = stdin {
        inner.extend(text.split_whitespace().map(Arg::text));
    } else if shell && inner.last().and_then(Arg::known).is_some_and(|last| last == "-c") {
        walk.hit((line, "xargs sh -c"), Danger::High, "danger/fetched-code", "it runs lines from a pipe");
        return;
    } else {
        let placeholder = inner.iter().position(|arg| arg.spelled().contains("{}"));
        match placeholder.and_then(|at| inner.get_mut(at)) {
            Some(place) if place.spelled() == "{}" => *place = items(stdin),
            Some(_) => {}
            None if !shell => inner.push(items(stdin)),
            None => {}
        }
        as_a_whole(&mut inner);
    }
    walk.judge(&inner, &Stdin::Nothing, line);
}

/// What `xargs -I` puts items in the place of.
fn placeholder(arguments: &[Arg]) -> Option<String> {
    let words: Vec<String> = arguments.iter().map(Arg::spelled).collect();
    let at = words
        .iter()
        .position(|word| word.starts_with("-I") || word == "-i" || word.starts_with("--replace"))?;
    let own = words.get(at)?;
    match own.strip_prefix("-I") {
        Some("") => words.get(at + 1).cloned(),
        Some(mark) => Some(mark.to_owned()),
        None => Some(own.split_once('=').map_or("{}", |(_, mark)| mark).to_owned()),
    }
}

fn parallel(walk: &mut Walk<'_>, arguments: &[Arg], line: u32) {
    const WRAPPER: Wrapper = Wrapper {
        names: &["parallel"],
        valued: &["-j", "--jobs", "-a", "-n", "-N", "-S", "--joblog"],
        operands: 0,
    };
    let inner = behind(&WRAPPER, arguments);
    let at = inner.iter().position(|arg| arg.spelled().starts_with(":::"));
    let (command, given) = inner.split_at(at.unwrap_or(inner.len()));
    let mut lists: Vec<Vec<Arg>> =
        given.iter().skip(1).map(|item| [command, std::slice::from_ref(item)].concat()).collect();
    if lists.is_empty() {
        lists.push([command, &[Arg::from_outside()]].concat());
    }
    for list in lists.into_iter().take(32) {
        match list.as_slice() {
            // One quoted word is a line for a shell.
            [only, item] if only.spelled().contains(' ') => {
                let text = format!("{} {}", only.spelled(), item.spelled());
                walk.text(&text, &Stdin::Nothing, Some(line));
            }
            _ => walk.judge(&list, &Stdin::Nothing, line),
        }
    }
}

/// `find … -exec cmd {} \;`: the command gets names below what is searched.
fn find(walk: &mut Walk<'_>, arguments: &[Arg], line: u32) {
    let roots: Vec<&Arg> = arguments
        .iter()
        .take_while(|arg| !arg.spelled().starts_with('-') && !arg.spelled().starts_with('('))
        .collect();
    let found = |root: Option<&&Arg>| {
        let mut value = root.map_or_else(|| Value::text("."), |arg| arg.value.clone());
        value.pieces.push(Piece::Text("/found".to_owned()));
        value.pieces.push(Piece::Glob("*".to_owned()));
        Arg { value, process: None }
    };
    let starts = arguments.iter().enumerate().filter(|(_, arg)| {
        matches!(arg.spelled().as_str(), "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "--exec")
    });
    for (at, _) in starts.take(8) {
        let rest = arguments.get(at + 1..).unwrap_or_default();
        let end = rest
            .iter()
            .position(|arg| matches!(arg.spelled().as_str(), ";" | "+" | "\\;"))
            .unwrap_or(rest.len());
        let inner = rest.get(..end).unwrap_or_default();
        for root in roots.iter().map(Some).chain(roots.is_empty().then_some(None)) {
            let mut list: Vec<Arg> = inner
                .iter()
                .map(|arg| if arg.spelled() == "{}" { found(root) } else { arg.clone() })
                .collect();
            as_a_whole(&mut list);
            let before = walk.out.len();
            walk.judge(&list, &Stdin::Nothing, line);
            let place = root.map_or(Place::Inside, |arg| walk.places().of(&arg.value));
            // What is done to whatever is found there is done to all of it.
            if matches!(
                place,
                Place::Outside | Place::System | Place::Home | Place::Top | Place::Above | Place::Device
            ) {
                raise(walk, before);
            }
        }
    }
}

/// A change of mode or owner of whatever is found is a recursive one.
fn as_a_whole(list: &mut Vec<Arg>) {
    let name = list.first().and_then(Arg::known).unwrap_or_default();
    if matches!(name.as_str(), "chmod" | "chown" | "chgrp" | "setfacl" | "chattr") {
        list.insert(1, Arg::text("-R"));
    }
}

/// Makes the changes that were found since a moment as dangerous as changes to many files are.
fn raise(walk: &mut Walk<'_>, from: usize) {
    const CHANGES: &[&str] =
        &["danger/delete", "danger/mode", "danger/write", "danger/overwrite", "danger/database"];
    let changes = walk.out.iter_mut().skip(from).filter(|found| CHANGES.contains(&found.rule.as_str()));
    changes.for_each(|found| found.danger = Danger::High);
}

/// `docker exec NAME command`, `kubectl exec POD -- command`: the command runs where no snapshot reaches.
fn in_container(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], line: u32) {
    const WRAPPER: Wrapper = Wrapper {
        names: &["exec"],
        valued: &[
            "-u",
            "--user",
            "-w",
            "--workdir",
            "-e",
            "--env",
            "--env-file",
            "-n",
            "--namespace",
            "-c",
            "--container",
            "--context",
        ],
        operands: 1,
    };
    let Some(at) = arguments.iter().position(|arg| matches!(arg.spelled().as_str(), "exec" | "run")) else {
        return;
    };
    let rest = arguments.get(at + 1..).unwrap_or_default();
    let dashes = rest.iter().position(|arg| arg.spelled() == "--");
    let inner = match dashes {
        Some(dashes) => rest.get(dashes + 1..).unwrap_or_default().to_vec(),
        None if matches!(name, "kubectl" | "oc") => return,
        None => behind(&WRAPPER, rest),
    };
    let before = walk.out.len();
    walk.judge(&inner, &Stdin::Nothing, line);
    raise(walk, before);
}

/// `ssh host command`: the command runs where no snapshot reaches.
fn ssh(walk: &mut Walk<'_>, arguments: &[Arg], line: u32) {
    const WRAPPER: Wrapper = Wrapper {
        names: &["ssh"],
        valued: &[
            "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-p", "-Q",
            "-R", "-S", "-W", "-w", "-B",
        ],
        operands: 1,
    };
    if let Some(proxy) = arguments
        .iter()
        .map(Arg::spelled)
        .find(|word| word.contains("ProxyCommand=") || word.contains("LocalCommand="))
    {
        let text = proxy.split_once('=').map(|(_, text)| text.to_owned()).unwrap_or_default();
        walk.text(&text, &Stdin::Nothing, Some(line));
        walk.hit((line, &proxy), Danger::High, "danger/hidden-command", "ssh is told to run a command here");
    }
    let inner = behind(&WRAPPER, arguments);
    let host = arguments.iter().any(|arg| !arg.spelled().starts_with('-'));
    if host {
        walk.hit(
            (line, &arguments.iter().map(Arg::spelled).collect::<Vec<_>>().join(" ")),
            Danger::Medium,
            "danger/remote",
            "it works on another host",
        );
    }
    let text = inner.iter().map(Arg::spelled).collect::<Vec<_>>().join(" ");
    if text.contains('\u{1}') || inner.is_empty() {
        return;
    }
    let before = walk.out.len();
    let roots = crate::scope::Roots::default();
    let mut remote = Walk { depth: walk.depth, ..Walk::new(&roots) };
    remote.cwd = super::Cwd::Unknown;
    remote.text(&text, &Stdin::Nothing, Some(line));
    walk.out.extend(remote.out);
    for operation in walk.out.iter_mut().skip(before).filter(|operation| operation.rule.contains("delete")) {
        operation.danger = Danger::High;
    }
}
