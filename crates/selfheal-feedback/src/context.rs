//! Facts that bear on a failure: the state of the paths that the failing command names, values of its variables, where
//! its tools are, the beginning of the data that it reads. Bounded everywhere.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::scene::{Kind, Scene, absolute};

use crate::parsers::{bounded, cut};
use crate::report::Case;
use crate::similar::close;

/// How many facts of one kind are given.
const MOST: usize = 6;
/// How much of a file is shown.
const SAMPLE: usize = 160;

/// The facts, in order of weight.
pub(crate) fn context(case: &Case<'_>) -> Vec<(String, String)> {
    let mut out = crate::deadline::facts(case.input.run);
    if case.is_remote() {
        let host =
            case.place.location.as_ref().and_then(|location| location.remote.clone()).unwrap_or_default();
        out.push(("where".into(), format!("on {host}, not on this machine")));
    } else {
        paths(case, &mut out);
        neighbours(case, &mut out);
    }
    commands(case, &mut out);
    values(case, &mut out);
    if !case.is_remote() {
        samples(case, &mut out);
    }
    environment(case, &mut out);
    crate::network::facts(case, &mut out);
    answer(case, &mut out);
    let mut seen = Vec::new();
    out.retain(|(name, _)| {
        !seen.contains(name) && {
            seen.push(name.clone());
            true
        }
    });
    out
}

/// The paths that the fault and the failing command name.
fn named_paths(case: &Case<'_>) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = Vec::new();
    for found in case.found.iter().take(2) {
        match &found.fault {
            Fault::NoSuchPath { path }
            | Fault::NotADirectory { path }
            | Fault::IsADirectory { path }
            | Fault::PathExists { path }
            | Fault::NotExecutable { path }
            | Fault::PermissionDenied { path: Some(path) }
            | Fault::LockHeld { path: Some(path), .. }
            | Fault::NoSpace { path: Some(path) } => out.push(path.clone()),
            Fault::UnmatchedGlob { pattern } => {
                out.push(pattern.rsplit_once('/').map_or(".", |(folder, _)| folder).into());
            }
            _ => {}
        }
    }
    let says = case.words().first().is_some_and(|word| matches!(word.as_str(), "echo" | "printf" | "logger"));
    let words = if says { &[] } else { case.words() };
    let words = words.iter().skip(1).filter(|word| !word.starts_with('-') && !word.contains("://"));
    let words =
        words.filter(|word| (word.contains('/') || word.contains('.')) && !word.contains(['$', '*', '\n']));
    out.extend(words.take(MOST).map(PathBuf::from));
    let mut seen = Vec::new();
    out.retain(|path| {
        !path.as_os_str().is_empty() && path.as_os_str().len() < 1_000 && !seen.contains(path) && {
            seen.push(path.clone());
            true
        }
    });
    out.truncate(MOST);
    out
}

fn paths(case: &Case<'_>, out: &mut Vec<(String, String)>) {
    let scene = case.input.scene;
    for path in named_paths(case) {
        let full = absolute(scene.cwd(), &path);
        out.push((format!("state of {}", path.display()), state(scene, &full)));
        let parent = full.parent().filter(|_| scene.facts(&full).is_none());
        if let Some(parent) = parent.filter(|parent| *parent != scene.cwd()) {
            out.push((format!("state of {}", parent.display()), state(scene, parent)));
        }
    }
}

/// What a path is, in words.
fn state(scene: &dyn Scene, path: &Path) -> String {
    let Some(facts) = scene.facts(path) else {
        return if scene.missing_mount(path) {
            "missing, on a file system that is not mounted".into()
        } else {
            "missing".into()
        };
    };
    let mode = format!("mode {:04o}, user {}", facts.mode & 0o7777, facts.uid);
    match facts.kind {
        Kind::Directory => {
            let count = scene.names(path).len();
            let filled = if count == 0 { "empty".to_owned() } else { format!("{count} names") };
            format!("folder, {filled}, {mode}")
        }
        Kind::File if facts.len == 0 => format!("file, empty, {mode}"),
        Kind::File => format!("file, {} bytes, {mode}", facts.len),
        Kind::Link => format!("link that leads nowhere, {mode}"),
        Kind::Special => format!("device, socket or pipe, {mode}"),
    }
}

/// Names beside a missing path that look like it.
fn neighbours(case: &Case<'_>, out: &mut Vec<(String, String)>) {
    let scene = case.input.scene;
    for found in case.found.iter().take(2) {
        let path = match &found.fault {
            Fault::NoSuchPath { path } | Fault::BadInterpreter { script: path, .. } => path.as_path(),
            Fault::CommandNotFound { name } if name.contains('/') => Path::new(name),
            _ => continue,
        };
        let full = absolute(scene.cwd(), path);
        if scene.facts(&full).is_some() {
            continue;
        }
        let Some(parent) = full.ancestors().skip(1).find(|folder| scene.facts(folder).is_some()) else {
            continue;
        };
        let Some(wanted) = full.strip_prefix(parent).ok().and_then(|rest| rest.components().next()) else {
            continue;
        };
        let wanted = wanted.as_os_str().to_string_lossy().into_owned();
        let names = scene.names(parent);
        let alike = close(&wanted, names.iter().map(String::as_str), MOST);
        if !alike.is_empty() {
            out.push((format!("names like {wanted} in {}", parent.display()), alike.join(", ")));
        }
    }
}

/// Where a missing command, or the tool that failed, is.
fn commands(case: &Case<'_>, out: &mut Vec<(String, String)>) {
    for found in case.found.iter().take(2) {
        let (Fault::CommandNotFound { name } | Fault::UnknownOption { command: name, .. }) = &found.fault
        else {
            continue;
        };
        if name.is_empty() || name.contains('/') {
            continue;
        }
        let places: Vec<String> =
            case.input.scene.which(name).iter().take(MOST).map(|place| place.display().to_string()).collect();
        let text = if places.is_empty() { "nowhere".to_owned() } else { places.join(", ") };
        let package = places.is_empty().then(|| crate::causes::package_of(name)).flatten();
        out.push((format!("places of {name}"), text));
        out.extend(package.map(|package| (format!("package of {name}"), package.to_owned())));
    }
    let missing = case.found.iter().take(2).any(|found| matches!(found.fault, Fault::CommandNotFound { .. }));
    if let Some(path) = case.input.scene.var("PATH").filter(|_| missing) {
        out.push(("PATH".into(), bounded(&path)));
    }
}

/// The values, at the point of failure, of the variables that the failing line names.
fn values(case: &Case<'_>, out: &mut Vec<(String, String)>) {
    let (Some(trace), Some(command)) = (case.input.trace, &case.place.command) else { return };
    let mut names: Vec<&str> = command
        .source
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_'))
        .collect();
    names.sort_unstable();
    names.dedup();
    let values = names.into_iter().filter_map(|name| Some((name, trace.value(name)?))).take(MOST * 2);
    out.extend(values.map(|(name, value)| (format!("value of {name}"), format!("{:?}", cut(value, SAMPLE)))));
}

/// The beginning of the files that a failure about their content is about.
fn samples(case: &Case<'_>, out: &mut Vec<(String, String)>) {
    let places = case.first().map_or(&[][..], |first| first.spots.as_slice());
    let data = places.iter().find(|spot| crate::locate::is_data(&spot.file) && spot.line > 0);
    if let Some(spot) = data {
        let text = case.input.scene.read(&spot.file, 64 * 1024).unwrap_or_default();
        let line = text.split(|byte| *byte == b'\n').nth(spot.line as usize - 1).unwrap_or_default();
        let line = line.get(..SAMPLE.min(line.len())).unwrap_or_default();
        out.push((format!("line {} of {}", spot.line, spot.file.display()), shown(line)));
    }
    let about_content = case.first().is_some_and(|first| {
        matches!(
            first.fault,
            Fault::Encoding { .. }
                | Fault::KeyMissing { .. }
                | Fault::BadValue { .. }
                | Fault::IndexOutOfRange { .. }
                | Fault::NotSorted { .. }
                | Fault::Mismatch { .. }
        )
    });
    if !about_content {
        return;
    }
    for path in data_files(case) {
        let Some(bytes) = case.input.scene.read(&path, SAMPLE) else { continue };
        out.push((format!("beginning of {}", path.display()), shown(&bytes)));
    }
}

/// Files of the failing command and of the arguments, then those that the lines around the failure name.
fn data_files(case: &Case<'_>) -> Vec<PathBuf> {
    let scene = case.input.scene;
    let words = case.words().iter().chain(case.place.command.iter().map(|command| &command.source));
    let mut names: Vec<String> =
        words.flat_map(|word| word.split([' ', '"', '\'', '(', ')', ','])).map(str::to_owned).collect();
    let frames = case.input.trace.iter().flat_map(|trace| trace.frames.iter().rev().take(3));
    names.extend(
        frames
            .flat_map(|frame| frame.values.values())
            .map(|value| value.trim_matches(['\'', '"']).to_owned()),
    );
    names.extend(case.input.argv.iter().skip(1).map(|word| word.to_string_lossy().into_owned()));
    let mut out: Vec<PathBuf> = Vec::new();
    for name in names.iter().filter(|name| name.contains('.') && name.len() < 300).take(40) {
        let path = PathBuf::from(name);
        let full = absolute(scene.cwd(), &path);
        let script = case.input.script.is_some_and(|(script, _)| script == full);
        let file = scene.facts(&full).is_some_and(|facts| facts.kind == Kind::File);
        if file && !script && !out.contains(&path) {
            out.push(path);
        }
    }
    out.truncate(3);
    out
}

/// Bytes as text, what is not printable as an escape.
fn shown(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| std::ascii::escape_default(*byte)).map(char::from).collect()
}

/// What a server said in the body of its answer.
fn answer(case: &Case<'_>, out: &mut Vec<(String, String)>) {
    let of_server = matches!(
        case.first().map(|first| &first.fault),
        Some(Fault::HttpStatus { .. } | Fault::PermissionDenied { path: None } | Fault::Other { .. })
    );
    if !of_server {
        return;
    }
    let run = case.input.run;
    let said = [&run.stdout, &run.stderr]
        .into_iter()
        .find_map(|stream| crate::bodies::message(&crate::parsers::kept(stream)));
    out.extend(said.map(|said| ("answer of the server".to_owned(), said)));
}

/// The name servers that the machine asks.
pub(crate) fn name_servers(case: &Case<'_>) -> Vec<String> {
    let text = case.input.scene.read(Path::new("/etc/resolv.conf"), 16 * 1024).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let servers = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("nameserver "))
        .map(|name| bounded(name.trim()));
    servers.take(MOST).collect()
}

/// Whether the machine has a default route; `None` where it does not say.
pub(crate) fn default_route(case: &Case<'_>) -> Option<bool> {
    let text = case.input.scene.read(Path::new("/proc/net/route"), 64 * 1024)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    text.starts_with("Iface")
        .then(|| text.lines().skip(1).any(|line| line.split_whitespace().nth(1) == Some("00000000")))
}

/// The proxy that a request to a host goes through by the environment.
pub(crate) fn proxy(case: &Case<'_>, host: &str) -> Option<String> {
    let scene = case.input.scene;
    let own = ["127.0.0.1", "localhost", "::1"].contains(&host);
    let except = ["no_proxy", "NO_PROXY"].iter().find_map(|name| scene.var(name)).unwrap_or_default();
    let excepted = except
        .split(',')
        .map(|name| name.trim().trim_start_matches('.'))
        .any(|name| name == "*" || (!name.is_empty() && host.ends_with(name)));
    let named =
        ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy"].iter().find_map(|name| scene.var(name));
    named.filter(|proxy| !proxy.is_empty() && !own && !excepted).map(|proxy| {
        // Who is allowed to use it stands before the `@`.
        bounded(proxy.rsplit_once('@').map_or(proxy.as_str(), |(_, host)| host))
    })
}

/// What of the environment bears on networks and locales.
fn environment(case: &Case<'_>, out: &mut Vec<(String, String)>) {
    let names: &[&str] = match case.first().map(|first| &first.fault) {
        Some(Fault::Network { .. } | Fault::HttpStatus { .. }) => {
            &["http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"]
        }
        Some(Fault::NotSorted { .. } | Fault::Encoding { .. } | Fault::BadValue { .. }) => {
            &["LC_ALL", "LANG", "PYTHONIOENCODING"]
        }
        _ => &[],
    };
    if matches!(case.first().map(|first| &first.fault), Some(Fault::Network { .. })) {
        let servers = name_servers(case);
        let servers = if servers.is_empty() { "none is configured".to_owned() } else { servers.join(", ") };
        out.push(("name servers".to_owned(), servers));
        let route = default_route(case)
            .map(|there| if there { "there is a default route" } else { "no default route" });
        out.extend(route.map(|route| ("route".to_owned(), route.to_owned())));
    }
    for name in names {
        let value = case.input.scene.var(name);
        out.extend(value.map(|value| ((*name).to_owned(), bounded(&value))));
    }
}
