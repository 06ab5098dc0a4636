//! Commands that send data away or fetch code.

use selfheal_core::admission::Danger::{High, Medium};

use super::Walk;
use super::argv::Arg;
use super::files::written;
use super::places::Place;
use super::rules::has_letter;

/// Judges a command by what it sends and fetches.
pub fn judge(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], spot: (u32, &str)) {
    match name {
        "curl" => curl(walk, arguments, spot),
        "wget" | "aria2c" | "axel" | "http" | "https" | "xh" => wget(walk, name, arguments, spot),
        "scp" | "rsync" | "rcp" => remote_copy(walk, name, arguments, spot),
        "dig" | "nslookup" | "host" | "ping" | "drill" | "getent"
            if arguments.iter().any(unknown) && !(name == "getent" && asks_this_machine(arguments)) =>
        {
            walk.hit(spot, High, "danger/sends", "what it asks for may carry data away");
        }
        "kill" => signal(walk, arguments, spot),
        "pip" | "pip3" | "pipx" | "npm" | "yarn" | "pnpm" | "npx" | "bunx" | "go" | "gem" | "cargo"
        | "uv" | "brew" | "composer" | "conda" | "R" | "Rscript" => packages(walk, name, arguments, spot),
        "docker" | "podman" | "nerdctl" => image(walk, arguments, spot),
        _ => {}
    }
}

/// Whether `getent` is asked for accounts, which the machine answers itself; names of hosts it asks others.
fn asks_this_machine(arguments: &[Arg]) -> bool {
    arguments.first().is_some_and(|arg| matches!(arg.spelled().as_str(), "passwd" | "group"))
}

fn unknown(arg: &Arg) -> bool {
    arg.spelled().contains('\u{1}') && arg.value.pieces.iter().any(|piece| matches!(piece, selfheal_syntax::values::Piece::Unknown(unknown) if unknown.commands.is_some()))
}

fn value_of(arguments: &[Arg], options: &[&str]) -> Option<Arg> {
    let at = arguments.iter().position(|arg| options.contains(&arg.spelled().as_str()));
    let next = at.and_then(|at| arguments.get(at + 1)).cloned();
    let joined = || {
        let prefix = |word: &str| {
            options
                .iter()
                .filter(|o| o.starts_with("--"))
                .find_map(|o| word.strip_prefix(&format!("{o}=")).map(Arg::text))
        };
        arguments.iter().find_map(|arg| prefix(&arg.spelled()))
    };
    next.or_else(joined)
}

fn fetched(walk: &mut Walk<'_>, target: &Arg, spot: (u32, &str)) {
    let place = walk.places().of(&target.value);
    written(walk, place, false, spot);
    if walk.fetched.len() < 256 {
        let name = target.spelled();
        walk.fetched.push(format!("./{name}"));
        walk.fetched.push(name);
    }
}

fn curl(walk: &mut Walk<'_>, arguments: &[Arg], spot: (u32, &str)) {
    let words: Vec<String> = arguments.iter().map(Arg::spelled).collect();
    let sends = words.iter().any(|word| {
        ["-d", "-F", "-T", "--json", "--upload-file", "--form", "--form-string"].contains(&word.as_str())
            || word.starts_with("--data")
            || word.starts_with("-d@")
            || word.starts_with("-F")
            || word.starts_with("-T")
            || word.starts_with("--form")
            || word.starts_with("--upload-file=")
            || (has_letter(word, "dFT") && !word.starts_with("-o"))
    });
    let method = value_of(arguments, &["-X", "--request"])
        .map(|arg| arg.spelled().to_uppercase())
        .or_else(|| words.iter().find_map(|word| word.strip_prefix("-X").map(str::to_uppercase)));
    let method = method.is_some_and(|method| matches!(method.as_str(), "DELETE" | "PUT" | "POST" | "PATCH"));
    if sends || method {
        walk.hit(spot, High, "danger/sends", "it sends data to another host");
    }
    if words.iter().any(|word| word == "-K" || word == "--config" || word.starts_with("file:///")) {
        walk.hit(spot, Medium, "danger/sends", "it takes its instructions from a file");
    }
    let cluster = words.iter().position(|word| has_letter(word, "o") && word.ends_with('o'));
    let target = value_of(arguments, &["-o", "--output"])
        .or_else(|| cluster.and_then(|at| arguments.get(at + 1)).cloned());
    if let Some(target) = target {
        fetched(walk, &target, spot);
    } else if words.iter().any(|word| has_letter(word, "O") || word == "--remote-name") {
        let last = words
            .iter()
            .filter_map(|word| word.rsplit('/').next().filter(|_| word.contains("://")))
            .next_back()
            .map(str::to_owned);
        last.iter().for_each(|name| fetched(walk, &Arg::text(name), spot));
    }
}

fn wget(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], spot: (u32, &str)) {
    let words: Vec<String> = arguments.iter().map(Arg::spelled).collect();
    let sends = words.iter().any(|word| {
        word.starts_with("--post")
            || word.starts_with("--body")
            || word.starts_with("--method")
            || (name.starts_with("http") && matches!(word.as_str(), "POST" | "PUT" | "DELETE" | "PATCH"))
    });
    if sends {
        walk.hit(spot, High, "danger/sends", "it sends data to another host");
    }
    match value_of(arguments, &["-O", "--output-document", "-qO", "-o", "--output"]) {
        Some(target) if target.spelled() != "-" => fetched(walk, &target, spot),
        Some(_) => {}
        None => {
            let last = words
                .iter()
                .filter(|word| word.contains("://"))
                .filter_map(|word| word.rsplit('/').next())
                .next_back()
                .map(str::to_owned);
            last.iter().for_each(|name| fetched(walk, &Arg::text(name), spot));
        }
    }
}

/// Whether a word names a place on another host: `host:path`, `user@host:`, `rsync://`.
fn is_remote(word: &str) -> bool {
    let before = word.split_once(':').map(|(before, _)| before);
    word.contains("://")
        || before.is_some_and(|host| {
            !host.is_empty() && !host.contains('/') && !host.starts_with('-') && !host.starts_with('.')
        })
}

fn remote_copy(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], spot: (u32, &str)) {
    let words: Vec<String> = arguments.iter().map(Arg::spelled).collect();
    let dry = name == "rsync" && words.iter().any(|word| word == "--dry-run" || has_letter(word, "n"));
    if dry {
        return;
    }
    let last_remote = words.iter().rfind(|word| !word.starts_with('-')).is_some_and(|word| is_remote(word));
    if last_remote {
        walk.hit(spot, High, "danger/sends", "it copies files to another host");
    } else if words.iter().any(|word| is_remote(word)) {
        walk.hit(spot, Medium, "danger/remote", "it copies files from another host");
    }
    if let Some(target) = arguments.last().filter(|_| name != "rsync" && !last_remote) {
        let place = walk.places().of(&target.value);
        written(walk, place, false, spot);
    }
}

fn signal(walk: &mut Walk<'_>, arguments: &[Arg], spot: (u32, &str)) {
    let words: Vec<String> = arguments.iter().map(Arg::spelled).collect();
    if words.first().is_some_and(|word| matches!(word.as_str(), "-0" | "-l" | "-L")) || words.is_empty() {
        return;
    }
    let targets =
        words.iter().enumerate().filter(|(at, word)| *at > 0 || !word.starts_with('-')).map(|(_, word)| word);
    for target in targets {
        let listed = arguments.iter().any(unknown);
        if matches!(target.as_str(), "-1" | "1") || listed {
            walk.hit(spot, High, "danger/signals", "it signals processes that are not its own");
        } else if target.parse::<i64>().is_ok()
            && words.len() > 1
            && !matches!(words.first().map(String::as_str), Some("-s" | "-n"))
        {
            walk.hit(spot, High, "danger/signals", "it signals a process by a fixed number");
        }
    }
}

fn packages(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], spot: (u32, &str)) {
    let words: Vec<String> = arguments.iter().map(Arg::spelled).collect();
    let removes =
        words.iter().any(|word| matches!(word.as_str(), "uninstall" | "remove" | "rm" | "un" | "cleanup"));
    let listed =
        words.iter().any(|word| word == "-r" || word.starts_with("--requirement") || word == "--all");
    if removes
        && (listed || arguments.iter().any(unknown) || arguments.iter().any(|arg| arg.process.is_some()))
    {
        walk.hit(spot, High, "danger/packages", "it removes a whole list of packages");
    }
    let installs = words.iter().any(|word| {
        matches!(
            word.as_str(),
            "install"
                | "i"
                | "add"
                | "run"
                | "get"
                | "exec"
                | "tool"
                | "require"
                | "x"
                | "create"
                | "dlx"
                | "tap"
        )
    }) || matches!(name, "npx" | "bunx");
    let address = words.iter().any(|word| {
        word.contains("://")
            || word.starts_with("git+")
            || word.starts_with("git@")
            || word.starts_with("github:")
            || [
                "--index-url",
                "--extra-index-url",
                "-i",
                "--source",
                "-s",
                "--git",
                "--registry",
                "--find-links",
                "-f",
                "--channel",
                "-c",
            ]
            .contains(&word.as_str())
                && name != "npm"
                && name != "go"
                && name != "cargo"
            || word == "--git"
            || word.starts_with("--registry")
            || word.starts_with("--index-url=")
            || word.starts_with("--extra-index-url=")
    });
    let go = name == "go"
        && words.iter().any(|word| {
            word.contains('@')
                || (word.contains('/')
                    && word
                        .split('/')
                        .next()
                        .is_some_and(|host| host.contains('.') && !host.starts_with('.')))
        });
    let spec = |word: &String| {
        (word.contains('/') && !word.starts_with(['.', '/', '@', '-']) && word.matches('/').count() == 1)
            && matches!(name, "npm" | "yarn" | "pnpm" | "npx" | "bunx")
    };
    if installs && (address || go || words.iter().any(spec)) {
        walk.hit(spot, High, "danger/fetched-code", "it installs or runs code from an address");
    }
}

/// `docker run image`: an image from a named registry is fetched code.
fn image(walk: &mut Walk<'_>, arguments: &[Arg], spot: (u32, &str)) {
    let words: Vec<String> = arguments.iter().map(Arg::spelled).collect();
    let Some(run) = words.iter().position(|word| matches!(word.as_str(), "run" | "create" | "pull")) else {
        return;
    };
    let from_registry = words.iter().skip(run + 1).filter(|word| !word.starts_with('-')).any(|word| {
        word.split_once('/').is_some_and(|(host, rest)| {
            !rest.is_empty()
                && !host.is_empty()
                && (host.contains('.') || host.contains(':'))
                && !host.starts_with(['.', '/', '~', '$', '\u{1}'])
                && !rest.contains(':') | host.contains('.')
        })
    });
    if from_registry {
        walk.hit(spot, High, "danger/fetched-code", "it runs an image from another registry");
    }
    let folders = words.iter().filter_map(|word| word.split_once(':')).map(|(folder, _)| folder);
    if folders.filter(|folder| folder.starts_with('/')).any(|folder| {
        matches!(walk.places().text(folder), Place::Top | Place::System | Place::Home | Place::Private)
    }) {
        walk.hit(spot, High, "danger/containers", "it gives a container a folder of the system");
    }
}
