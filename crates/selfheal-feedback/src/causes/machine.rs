//! Causes of failures in the machine, its tools and its network.

use std::path::Path;

use selfheal_core::fault::Fault;

use super::Likely;
use crate::class::pid_in;
use crate::report::Case;

/// Likely causes of one fault.
pub fn causes(case: &Case<'_>, fault: &Fault) -> Vec<Likely> {
    match fault {
        // A path is no name that is searched for: what is wrong is what is wrong with the file.
        Fault::CommandNotFound { name } if name.contains('/') => {
            super::paths::not_started(case, Path::new(name))
        }
        Fault::CommandNotFound { name } => not_found(case, name),
        // Some shells say the same of a file that is not there and of one whose interpreter is not.
        Fault::BadInterpreter { script, interpreter }
            if interpreter.is_empty() && super::paths::is_missing(case, script) =>
        {
            super::paths::not_started(case, script)
        }
        Fault::BadInterpreter { interpreter, .. } => interpreter_missing(interpreter),
        Fault::CarriageReturn { .. } => vec![Likely::usual(
            "crlf-line-ends",
            "The file has the line ends of Windows, and the carriage return became part of the words.",
            "The file has no carriage returns.",
        )],
        Fault::Dialect { construct } => vec![Likely::usual(
            "other-dialect",
            format!("The text uses {construct}, which the interpreter that ran it does not know."),
            "The interpreter that the first line names ran it.",
        )],
        Fault::MissingModule { name } => module(case, name),
        Fault::Encoding { codec } => vec![Likely::usual(
            "other-encoding",
            format!(
                "The input is not {}: it was written in another encoding.",
                if codec.is_empty() { "valid text" } else { codec }
            ),
            "All bytes are valid in that encoding.",
        )],
        Fault::UnknownOption { command, option } => vec![
            Likely::usual(
                "option-of-another-version",
                format!(
                    "{} does not know {option}: another version or another implementation of it.",
                    if command.is_empty() { "The tool" } else { command }
                ),
                "The installed tool's help lists that option.",
            )
            .seen_if(where_is(case, command)),
            Likely::usual(
                "value-taken-for-option",
                "A value that begins with a dash was taken for an option.",
                "The option is written in the script.",
            ),
        ],
        Fault::LockHeld { .. } if in_use(case) => vec![Likely::usual(
            "port-in-use",
            "Another program uses the address or port already.",
            "Nothing listens there.",
        )],
        Fault::LockHeld { path, pid } => lock(case, path.as_deref(), *pid),
        Fault::Network { how, host } => network(case, how, host.as_deref()),
        Fault::HttpStatus { code, .. } => vec![status(*code)],
        Fault::NoSpace { .. } => vec![Likely::usual(
            "space-used-up",
            "The file system is full, or a quota is reached.",
            "There is free space and there are free inodes where it writes.",
        )],
        Fault::OutOfMemory => vec![memory(case)],
        Fault::DeviceError { .. } => vec![Likely::usual(
            "device-broken",
            "The device or file system fails, or became read-only after errors.",
            "Reading and writing there works.",
        )],
        Fault::NeedsTerminal => vec![Likely::usual(
            "waits-for-a-person",
            "The program wants a terminal, a password or a confirmation, and nobody is there.",
            "It runs without asking when started by hand with no terminal.",
        )],
        Fault::TimedOut => vec![Likely::usual(
            "too-slow-or-stuck",
            "It waits for something that does not come, or has more work than its deadline allows.",
            "It ends by itself when given more time.",
        )],
        _ => Vec::new(),
    }
}

/// Whether memory was used up is only known where something says so: the signal alone may come from anybody.
fn memory(case: &Case<'_>) -> Likely {
    let of_memory = |text: &str| ["memory", "oom"].iter().any(|word| text.to_lowercase().contains(word));
    if case.found.iter().any(|found| found.fault == Fault::OutOfMemory && of_memory(&found.text)) {
        return Likely::usual(
            "memory-used-up",
            "Memory ran out, or the kernel ended the process to get some back.",
            "The kernel's log shows no such event, and somebody else ended it.",
        );
    }
    Likely::usual(
        "killed-outright",
        "It was killed at once, without a word why: memory ran out, or a person or a service manager did it.",
        "The kernel's log shows no such event, and nobody ended it.",
    )
}

fn not_found(case: &Case<'_>, name: &str) -> Vec<Likely> {
    if case.is_remote() {
        return vec![Likely::usual(
            "not-installed-there",
            format!("{name} is not installed on the other side, or not on the PATH there."),
            "It is found there.",
        )];
    }
    let places = case.input.scene.which(name);
    if let Some(place) = places.first() {
        return vec![
            Likely::usual(
                "not-on-the-path",
                format!("{name} is installed, but not on the PATH of the job."),
                "The job's PATH holds its folder.",
            )
            .seen(format!("it is {}", place.display()))
            .seen_if(case.input.scene.var("PATH").map(|path| format!("PATH is {path}"))),
        ];
    }
    let g_name = name.strip_prefix('g').filter(|rest| rest.len() > 1);
    let other = g_name.and_then(|rest| case.input.scene.which(rest).into_iter().next());
    let not_installed = Likely::usual(
        "not-installed",
        format!("{name} is not installed."),
        "A search finds it somewhere on this machine.",
    )
    .seen_if(super::package_of(name).map(|package| format!("the package {package} of Debian brings it")));
    let other_name = other.map(|place| {
        Likely::usual(
            "other-name-here",
            format!("The tool has another name on this machine than {name}."),
            "No tool of that kind is installed.",
        )
        .seen(format!("{} exists", place.display()))
    });
    other_name.into_iter().chain([not_installed]).collect()
}

fn where_is(case: &Case<'_>, command: &str) -> Option<String> {
    if command.is_empty() || case.is_remote() {
        return None;
    }
    let place = case.input.scene.which(command).into_iter().next()?;
    Some(format!("the tool that ran is {}", place.display()))
}

fn interpreter_missing(interpreter: &str) -> Vec<Likely> {
    if interpreter.ends_with('\r') {
        return vec![
            Likely::usual("crlf-line-ends", "The script has the line ends of Windows, and the carriage return became part of its interpreter's name.", "The first line ends without a carriage return.")
                .seen("the interpreter's name ends with a carriage return"),
        ];
    }
    vec![
        Likely::usual(
            "interpreter-elsewhere",
            format!(
                "{} is not where the script's first line says.",
                if interpreter.is_empty() { "The interpreter" } else { interpreter }
            ),
            "That file exists and can be executed.",
        ),
        Likely::usual(
            "other-processor",
            "The program was built for another system.",
            "It is a text with a first line.",
        ),
    ]
}

fn module(case: &Case<'_>, name: &str) -> Vec<Likely> {
    let removed = crate::stdlib::removed_in(name);
    let mut out = Vec::new();
    if let Some(version) = removed {
        out.push(
            Likely::usual(
                "module-removed",
                format!("{name} is no longer part of the interpreter's own library."),
                "This version's documentation lists it.",
            )
            .seen(format!("Python {version} and later do not have it")),
        );
    }
    out.push(
        Likely::usual(
            "module-not-on-search-path",
            format!("{name} exists, but not in the folders that are searched when the job runs like this."),
            "No file of that name exists near the script.",
        )
        .seen_if(nearby(case, name)),
    );
    out.push(Likely::usual(
        "module-not-installed",
        format!("{name} is not installed for this interpreter."),
        "The same interpreter can load it by hand.",
    ));
    out
}

/// A file or folder near the script that a module may be.
fn nearby(case: &Case<'_>, name: &str) -> Option<String> {
    if case.is_remote() {
        return None;
    }
    let scene = case.input.scene;
    let root = name.split(['.', ':', '/']).find(|part| !part.is_empty())?;
    let script = case.input.script.and_then(|(script, _)| script.parent());
    let folders = [Some(scene.cwd()), script, script.and_then(std::path::Path::parent)];
    let ends = ["", ".py", ".pm", ".js", ".mjs", ".cjs", ".rb", ".php"];
    folders.into_iter().flatten().find_map(|folder| {
        let names = scene.names(folder);
        let hit = names.iter().find(|name| ends.iter().any(|end| name.strip_suffix(end) == Some(root)))?;
        Some(format!("{} exists", folder.join(hit).display()))
    })
}

fn lock(case: &Case<'_>, path: Option<&std::path::Path>, pid: Option<u32>) -> Vec<Likely> {
    // The processes of another machine are not known here.
    let pid =
        pid.or_else(|| path.and_then(|path| pid_in(path, case.input.scene))).filter(|_| !case.is_remote());
    let busy = Likely::usual(
        "held-by-another-run",
        "Another run holds the lock and will give it back.",
        "The process that the lock names is gone.",
    );
    match pid {
        Some(pid) if case.input.scene.process_lives(pid) => vec![busy.seen(format!("process {pid} lives"))],
        Some(pid) => vec![
            Likely::usual(
                "stale-lock",
                "The lock was left by a run that ended without giving it back.",
                "The process that it names lives.",
            )
            .seen(format!("process {pid} does not exist")),
        ],
        None => vec![busy],
    }
}

fn in_use(case: &Case<'_>) -> bool {
    case.first().is_some_and(|first| {
        first.text.contains("ddress already in use") || first.text.contains("EADDRINUSE")
    })
}

fn network(case: &Case<'_>, how: &str, host: Option<&str>) -> Vec<Likely> {
    let host = host.unwrap_or("the host");
    let text = match how {
        "resolve" => {
            format!("The name of {host} cannot be resolved: the resolver is down, or the name is wrong.")
        }
        "refused" => format!("Nothing listens at {host}: the service is down or restarting."),
        "timeout" => format!("{host} does not answer in time: it is overloaded, or packets are dropped."),
        "reset" => format!("The connection to {host} was cut."),
        "unreachable" => format!("There is no way to {host}: the network or a tunnel is down."),
        "tls" => {
            format!("The certificate of {host} is not accepted: it expired, or its issuer is unknown here.")
        }
        _ => format!("The network operation with {host} failed."),
    };
    let seen = match how {
        "resolve" => {
            crate::context::name_servers(case).is_empty().then(|| "no name server is configured".to_owned())
        }
        "unreachable" | "timeout" => crate::context::default_route(case)
            .filter(|there| !there)
            .map(|_| "there is no default route".to_owned()),
        _ => None,
    };
    let first =
        Likely::usual(&format!("network-{how}"), text, "The same request works now from this machine.");
    let second = match crate::context::proxy(case, host) {
        Some(proxy) => Likely::usual(
            "proxy-in-the-way",
            format!("The job goes through the proxy {proxy}, which may be what does not answer."),
            "The same request works without the proxy.",
        )
        .seen_if((proxy_fails(how)).then(|| format!("the environment names the proxy {proxy}"))),
        None => Likely::usual(
            "proxy-not-set",
            "The job needs a proxy that its environment does not name.",
            "No proxy is needed there.",
        ),
    };
    let looked = crate::network::look(case);
    let seen = seen.or_else(|| looked.as_ref().and_then(|(target, reach)| target.evidence(how, reach)));
    let passed = looked.and_then(|(target, reach)| target.passed(how, &reach)).map(|seen| {
        Likely::usual(
            "network-passed",
            format!("It was a short outage on the way to {host}, or there: it works again."),
            "The next run fails in the same way.",
        )
        .seen(seen)
    });
    passed.into_iter().chain([first.seen_if(seen), second]).collect()
}

/// Whether a proxy can be what fails in this way.
fn proxy_fails(how: &str) -> bool {
    matches!(how, "refused" | "timeout" | "resolve" | "unreachable")
}

fn status(code: u16) -> Likely {
    let (id, text) = match code {
        429 => ("asked-too-often", "The server refuses because it was asked too often.".to_owned()),
        401 | 403 | 407 => (
            "access-refused",
            format!("The server refuses access ({code}): credentials are missing, wrong or expired."),
        ),
        404 | 410 => ("address-gone", format!("The server no longer has what was asked for ({code}).")),
        400..=499 => ("request-refused", format!("The server does not accept the request ({code}).")),
        _ => ("server-failing", format!("The server fails or is overloaded ({code}).")),
    };
    Likely::usual(id, text, "The same request succeeds now.")
}
