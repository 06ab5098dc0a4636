//! Where a repair may reach: the files that it changes, and the paths that its new lines name.
//!
//! A job may touch the folder of its script, the folder that it runs in, and the paths that its original text names, reads
//! included. Those are its [`Roots`]. System folders are roots only when the original names something in them, and then
//! only that very path.

use std::path::{Path, PathBuf};

use selfheal_core::admission::{Finding, Weight};
use selfheal_core::job::Job;
use selfheal_core::scene::absolute;
use selfheal_syntax::{diff, language::Language};

use crate::finding::{at, whole};
use crate::size::Change;

/// Folders of the system: never a root, and a new name in them is refused.
pub const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var/lib",
    "/var/spool",
    "/var/run",
    "/var/cache",
    "/snap",
    "/nix",
];

/// Folders that hold everything of everybody: never a root as a whole, though folders in them can be.
const TOO_WIDE: &[&str] =
    &["/", "/home", "/root", "/var", "/var/log", "/tmp", "/var/tmp", "/mnt", "/media", "/srv", "/opt"];

/// Names of files and folders that hold keys or run by themselves at login, commit or by schedule. A path with one of
/// them is never changed and never newly named, also inside of the roots.
const PRIVATE: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".envrc",
    "authorized_keys",
    "autostart",
    "crontabs",
    "hooks",
];

/// System paths that any script may name: devices without content, interpreters, read-only facts.
const HARMLESS: &[&str] = &[
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/tty",
    "/dev/fd",
    "/dev/zero",
    "/dev/urandom",
    "/dev/random",
    "/dev/full",
    "/usr/bin/env",
    "/bin/sh",
    "/bin/bash",
    "/usr/bin/bash",
    "/usr/bin",
    "/usr/local/bin",
    "/bin",
    "/sbin",
    "/usr/sbin",
    "/usr/share/zoneinfo",
    "/etc/os-release",
    "/proc/self",
    "/proc/meminfo",
    "/proc/cpuinfo",
    "/proc/mounts",
];

/// The places that a job may touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// Folders with all that is below them.
    pub folders: Vec<PathBuf>,
    /// Paths that the original names.
    pub named: Vec<PathBuf>,
    base: PathBuf,
    /// What `~` is.
    home: Option<PathBuf>,
}

impl Roots {
    /// The roots of a job, from its own data and the original texts of the files that are changed.
    #[must_use]
    pub fn of(job: &Job, originals: &[&str]) -> Self {
        let mut folders = vec![job.cwd.clone()];
        folders.extend(job.script.as_deref().and_then(Path::parent).map(Path::to_path_buf));
        folders.retain(|folder| !is_too_wide(folder));
        let mut named = Vec::new();
        named.extend(job.script.clone());
        for argument in &job.argv {
            named.extend(argument.to_str().map(|text| absolute(&job.cwd, Path::new(text))));
        }
        for text in originals {
            named.extend(paths_in(text).into_iter().map(|path| absolute(&job.cwd, Path::new(&path))));
        }
        Self { folders, named, base: job.cwd.clone(), home: None }
    }

    /// The same with the folder that `~` and `$HOME` stand for.
    #[must_use]
    pub fn with_home(self, home: Option<PathBuf>) -> Self {
        Self { home: home.filter(|home| home.is_absolute()), ..self }
    }

    /// The roots of a file that is looked at without a job: its folder, and what its text names.
    #[must_use]
    pub fn beside_a_file(folder: &Path, text: &str) -> Self {
        let mut folders = vec![folder.to_path_buf()];
        folders.retain(|folder| !is_too_wide(folder));
        let named = paths_in(text).into_iter().map(|path| absolute(folder, Path::new(&path))).collect();
        Self { folders, named, base: folder.to_path_buf(), home: None }
    }

    /// Whether a path is inside of the roots. A named path covers what is below it unless it is a system folder or one of
    /// the top of the tree.
    #[must_use]
    pub fn hold(&self, path: &Path) -> bool {
        let path = absolute(&self.base, path);
        self.folders.iter().any(|folder| path.starts_with(folder))
            || self
                .named
                .iter()
                .any(|named| path == *named || (!is_too_wide(named) && path.starts_with(named)))
    }

    /// Whether a path is one of the siblings of a named path: `/data/a.csv.tmp` beside `/data/a.csv`.
    #[must_use]
    pub fn beside(&self, path: &Path) -> bool {
        let path = absolute(&self.base, path);
        let folders =
            self.named.iter().filter_map(|named| named.parent()).filter(|folder| !is_too_wide(folder));
        folders.into_iter().any(|folder| path.starts_with(folder))
    }
}

/// Whether a folder is too wide to be a root.
#[must_use]
pub fn is_too_wide(path: &Path) -> bool {
    TOO_WIDE.iter().any(|wide| path == Path::new(wide))
        || SYSTEM.iter().any(|system| path.starts_with(system))
}

/// Whether a path holds keys, or runs by itself.
#[must_use]
pub fn is_private(path: &Path) -> bool {
    let mut before = "";
    path.components().filter_map(|part| part.as_os_str().to_str()).any(|part| {
        // Only those of git run by themselves.
        // Some mounts take upper case for lower case.
        let known = PRIVATE.iter().find(|known| known.eq_ignore_ascii_case(part));
        let found = known.is_some_and(|known| *known != "hooks" || before.eq_ignore_ascii_case(".git"));
        before = part;
        found
    })
}

/// Whether a path lies in a system folder and is none of the harmless ones.
#[must_use]
pub fn is_system(path: &Path) -> bool {
    let harmless = HARMLESS.iter().any(|known| path == Path::new(known))
        || ["/dev/fd", "/dev/shm", "/proc/self", "/usr/share/zoneinfo"]
            .iter()
            .any(|known| path.starts_with(known));
    !harmless && (path == Path::new("/") || SYSTEM.iter().any(|system| path.starts_with(system)))
}

/// Whether any script may name a path, although it belongs to the system.
#[must_use]
pub fn is_harmless(path: &Path) -> bool {
    HARMLESS.iter().any(|known| path == Path::new(known)) || path.starts_with("/tmp")
}

/// Whether a file may be changed at all.
#[must_use]
pub fn file(path: &Path, roots: &Roots) -> Option<Finding> {
    let why = if !path.is_absolute() {
        "the path of a changed file is not absolute".to_owned()
    } else if path.components().any(|part| part == std::path::Component::ParentDir) {
        "the path of a changed file has `..` in it".to_owned()
    } else if is_private(path) {
        format!("{} holds keys or runs by itself", path.display())
    } else if is_system(path) && !roots.named.iter().any(|named| named == path) {
        format!("{} belongs to the system", path.display())
    } else if !roots.hold(path) {
        format!(
            "{} is not in the folder of the job or of its script, and the script does not name it",
            path.display()
        )
    } else {
        return None;
    };
    Some(whole("scope/file", Weight::Refuse, why))
}

/// The paths that the new lines of a text name and that are outside of the roots.
#[must_use]
pub fn new_paths(change: Change<'_>, language: Language, roots: &Roots) -> Vec<Finding> {
    if language == Language::Sql {
        return Vec::new();
    }
    let mut out: Vec<Finding> = Vec::new();
    for hunk in diff::hunks(change.before, change.after) {
        for (line, text) in hunk.new.clone().zip(&hunk.added) {
            let is_new = |path: &String| !change.before.contains(path.as_str());
            let plain = paths_in(text).into_iter().filter(is_new).filter_map(|path| outside(&path, roots));
            let home = homes_in(text).into_iter().filter(is_new);
            let hidden = hidden_root(text).filter(|_| language == Language::Shell).filter(is_new);
            let hidden =
                hidden.map(|path| format!("it names {path}, and which folder that is nobody can say"));
            out.extend(hidden.map(|why| at("scope/path", line, Weight::Refuse, why)));
            let home = home.filter_map(|path| outside_at_home(&path, change.before, roots));
            out.extend(plain.chain(home).map(|why| at("scope/path", line, Weight::Refuse, why)));
        }
    }
    out.truncate(16);
    out
}

/// The hosts that new lines name in addresses and that the original does not name.
#[must_use]
pub fn new_hosts(change: Change<'_>) -> Option<Finding> {
    let is_host = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    diff::hunks(change.before, change.after).into_iter().find_map(|hunk| {
        let lines = hunk.new.clone().zip(&hunk.added).filter(|(_, text)| !text.trim_start().starts_with('#'));
        lines.into_iter().find_map(|(line, text)| {
            let (_, rest) = text.split_once("://")?;
            let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            let host = rest.get(..rest.find(|c| !is_host(c)).unwrap_or(rest.len())).unwrap_or_default();
            let own = ["localhost", "127.", "[::1]"].iter().any(|own| host.starts_with(own));
            let new = !host.is_empty() && !own && !change.before.contains(host);
            new.then(|| at("scope/network", line, Weight::Medium, format!("it names the new host {host}")))
        })
    })
}

fn outside(text: &str, roots: &Roots) -> Option<String> {
    let path = absolute(&roots.base, Path::new(text));
    if HARMLESS.iter().any(|known| path == Path::new(known)) || (roots.hold(&path) && !is_private(&path)) {
        return None;
    }
    if is_private(&path) {
        return Some(format!("it names {text}, which holds keys or runs by itself"));
    }
    if is_system(&path) && !tells_of_processes(text) {
        let program = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/usr/sbin/", "/sbin/"]
            .iter()
            .any(|bin| text.starts_with(bin));
        return (!program)
            .then(|| format!("it names {text}, which belongs to the system and is not in the original"));
    }
    let temporary = path.starts_with("/tmp") || path.starts_with("/var/tmp") || path.starts_with("/dev/shm");
    let why = if text.starts_with('/') {
        "is outside of what the original names"
    } else {
        "leads out of the job's folder"
    };
    (!temporary && !tells_of_processes(text) && !roots.beside(&path))
        .then(|| format!("it names {text}, which {why}"))
}

/// Whether a path only tells of processes and of the machine's load: `/proc/$pid`, `/proc/42/cmdline`, `/proc/loadavg`.
/// That something is written there is judged as danger.
fn tells_of_processes(text: &str) -> bool {
    const OF_ONE: &[&str] = &["cmdline", "comm", "cwd", "exe", "fd", "limits", "stat", "statm", "status"];
    const OF_ALL: &[&str] = &["cpuinfo", "loadavg", "meminfo", "mounts", "stat", "uptime", "version"];
    let Some(rest) = text.strip_prefix("/proc") else { return false };
    match rest.trim_matches('/').split_once('/') {
        None => {
            let part = rest.trim_matches('/');
            part.chars().all(|c| c.is_ascii_digit()) || part == "self" || OF_ALL.contains(&part)
        }
        Some((process, part)) => {
            (process.chars().all(|c| c.is_ascii_digit()) || process == "self")
                && (OF_ONE.contains(&part) || part.starts_with("fd/"))
        }
    }
}

/// The same for a path below `~`, `$HOME` or `${HOME}`. What the original names there, or beside it, is free; so are
/// programs.
fn outside_at_home(text: &str, before: &str, roots: &Roots) -> Option<String> {
    let (_, rest) = text.split_once('/')?;
    if is_private(Path::new(rest)) {
        return Some(format!("it names {text}, which holds keys or runs by itself"));
    }
    // The home folders of others are not known.
    let own = text.starts_with("~/") || text.starts_with('$');
    let path = roots.home.as_ref().filter(|_| own).map(|home| absolute(home, Path::new(rest)));
    let inside = path.is_some_and(|path| roots.hold(&path) || roots.beside(&path));
    let first = rest.split('/').next().unwrap_or_default();
    let program = rest.starts_with("bin") || rest.starts_with(".local/bin") || rest.contains("/bin");
    let climbs = rest.split('/').any(|part| part == "..");
    let beside = !first.is_empty() && homes_in(before).iter().any(|old| below(old) == Some(first));
    let free = inside || (!climbs && (program || beside));
    (!free).then(|| format!("it names {text}, which is in the home folder and not in the original"))
}

/// The first folder of a path below the home folder.
fn below(home: &str) -> Option<&str> {
    home.split('/').nth(1).filter(|first| !first.is_empty())
}

/// The paths below the home folder that a line or text names, as written: `~/x`, `~bob/x`, `$HOME/x`, `${HOME}/x`. Quotes
/// between the two parts are left out, comments are skipped.
fn homes_in(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
    lines.flat_map(homes_in_line).collect()
}

fn homes_in_line(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, c) in line.char_indices() {
        let rest = line.get(at..).unwrap_or_default();
        let starts = c == '~' && begins_home(line.get(..at).unwrap_or_default());
        let spelled =
            ["$HOME", "${HOME}"].into_iter().find_map(|name| Some((name, rest.strip_prefix(name)?)));
        let tail = match spelled {
            Some((name, tail)) => Some((name.to_owned(), tail.trim_start_matches(['"', '\'']))),
            None if starts => {
                let user = rest.find('/').and_then(|end| rest.get(..end)).filter(|user| !user.contains(' '));
                user.and_then(|user| Some((user.to_owned(), rest.strip_prefix(user)?)))
            }
            None => None,
        };
        if let Some((front, tail)) = tail.filter(|(_, tail)| tail.starts_with('/')) {
            let len = tail.find(|c: char| !is_path_char(c)).unwrap_or(tail.len());
            out.push(format!("{front}{}", tail.get(..len).unwrap_or_default()));
        }
    }
    out
}

/// Whether a `~` behind a text is a home folder: at the beginning of a word, or right behind a quote as other languages
/// write it. In `$1 ~/x/` and `=~/x/` it is an operator.
fn begins_home(front: &str) -> bool {
    let quoted = ['"', '\''].iter().any(|quote| front.matches(*quote).count() % 2 == 1);
    if quoted {
        return ["(\"", "('"].iter().any(|call| front.ends_with(call));
    }
    let operator = front.trim_end_matches('=').ends_with(char::is_whitespace) && front.ends_with('=');
    !operator && (front.is_empty() || front.ends_with(|c: char| c.is_whitespace() || "=:(<>|;&".contains(c)))
}

/// The paths that a line or text names: absolute ones, and relative ones that climb with `..`. Comments are skipped.
#[must_use]
pub fn paths_in(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        if line.starts_with('#') && !line.starts_with("#!") || line.starts_with("//") {
            continue;
        }
        out.extend(paths_in_line(line));
    }
    out
}

/// A pattern for the first folder of an absolute path, outside of quotes: `/?tc/x`, `/[e]tc`, `/*/x`, `/{etc,usr}`.
fn hidden_root(line: &str) -> Option<String> {
    // Those programs take patterns for lines between slashes; in arithmetic a slash divides.
    let matches_lines = ["sed ", "awk ", "(("].iter().any(|name| line.contains(name));
    if matches_lines || line.trim_start().starts_with('#') {
        return None;
    }
    line.split_whitespace().map(|word| word.trim_start_matches(['<', '>', '=', '('])).find_map(|word| {
        let rest = word.strip_prefix('/')?;
        let first = rest.split('/').next().unwrap_or_default();
        let pattern =
            first.contains(['?', '*', '[', '{']) && !word.ends_with('/') && !word.contains(['\\', '+', '$']);
        // `/x/d` of sed stands in quotes.
        let quoted = line.split(word).next().is_some_and(|front| front.matches(['"', '\'']).count() % 2 == 1);
        (pattern && !quoted).then(|| word.trim_end_matches([';', ')']).to_owned())
    })
}

fn paths_in_line(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let (mut earlier, mut before) = (' ', ' ');
    let mut at = 0;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let len = rest.find(|c: char| !is_path_char(c)).unwrap_or(rest.len());
        if len == 0 {
            earlier = before;
            before = rest.chars().next().unwrap_or(' ');
            at += before.len_utf8();
            continue;
        }
        let word = rest.get(..len).unwrap_or_default();
        let word = word.strip_prefix("file://").unwrap_or(word);
        out.extend(default_path(line.get(..at).unwrap_or_default(), word));
        // In `"$X"/etc` the quote closes.
        let closes = matches!(before, '"' | '\'')
            && (earlier.is_alphanumeric() || matches!(earlier, '_' | '}' | ')' | '*'));
        // Behind `}` or a name it continues a variable, as in `$X/etc`; with `://` it is an address.
        let continues = matches!(before, '}' | '$' | ')' | '*' | '~' | '?' | ']' | '\\' | '%');
        if !continues && !closes && is_path(word) {
            out.push(word.trim_end_matches(['.', ':', ',']).to_owned());
        }
        earlier = word.chars().nth_back(1).unwrap_or(before);
        before = word.chars().last().unwrap_or(' ');
        at += len;
    }
    out
}

/// A path behind the sign of a default, as in `${X:-/etc}`.
fn default_path(front: &str, word: &str) -> Option<String> {
    let rest =
        ["-/", "+/"].iter().filter_map(|sign| word.find(sign)).min().and_then(|at| word.get(at + 1..))?;
    (front.ends_with("${") && is_path(rest)).then(|| rest.trim_end_matches(['.', ':', ',']).to_owned())
}

fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || "/._-+@:".contains(c)
}

fn is_path(word: &str) -> bool {
    let absolute = word.starts_with('/')
        && word.chars().nth(1).is_some_and(|c| c.is_alphanumeric() || c == '.' || c == '_');
    let climbs = word.starts_with("../") || word == ".." || word.contains("/../") || word.ends_with("/..");
    (absolute || climbs) && !word.contains("//")
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfheal_core::ids::JobKey;
    use selfheal_core::job::Repeatable;

    fn job() -> Job {
        Job {
            key: JobKey::new("nightly"),
            argv: vec!["bash".into(), "run.sh".into()],
            cwd: "/srv/jobs/nightly".into(),
            script: Some("/srv/jobs/nightly/run.sh".into()),
            repeatable: Repeatable::Unstated,
        }
    }

    const BEFORE: &str = "#!/bin/bash\nSRC=/data/in\ncp \"$SRC\"/*.csv /data/out/\n";

    fn new_path(line: &str) -> bool {
        let after = format!("{BEFORE}{line}\n");
        let change = Change { path: Path::new("/srv/jobs/nightly/run.sh"), before: BEFORE, after: &after };
        let job = Job { cwd: "/home/u/jobs".into(), ..job() };
        let roots = Roots::of(&job, &[BEFORE]).with_home(Some("/home/u".into()));
        !new_paths(change, Language::Shell, &roots).is_empty()
    }

    #[test]
    fn a_path_in_a_default_is_named() {
        assert_eq!(paths_in("SRC=${SRC:-/var/log}"), ["/var/log"]);
        assert_eq!(paths_in("SRC=${SRC-/etc/x} a-/b"), ["/etc/x"]);
    }

    #[test]
    fn files_outside_of_the_roots_are_refused() {
        let roots = Roots::of(&job(), &[BEFORE]);
        for (path, refused) in [
            ("/srv/jobs/nightly/run.sh", false),
            ("/srv/jobs/nightly/lib/x.sh", false),
            ("/data/in/x", false),
            ("/etc/passwd", true),
            ("/srv/jobs/nightly/.SSH/id", true),
            ("/srv/jobs/other/run.sh", true),
            ("/srv/jobs/nightly/../other/run.sh", true),
            ("run.sh", true),
        ] {
            assert_eq!(file(Path::new(path), &roots).is_some(), refused, "{path}");
        }
    }

    #[test]
    fn new_paths_are_found_and_old_ones_are_free() {
        for line in [
            "cp x /etc/cron.d/x",
            "cp x /home/bob/x",
            "rm -f ../../other/x",
            "echo x > /dev/sda",
            "cat '/root/.ssh/id'",
            "rm -f /etc/*.conf",
            "rm -rf ../*",
            "cp x ~/other/",
            "cp x \"$HOME\"/other/y",
            "cp x ${HOME}/../bob",
            "cp x ~bob/y",
            "cat ~/.pgpass",
            "cat /?tc/passwd",
            "cp x /[e]tc/x",
            "cp x /*/x",
        ] {
            assert!(new_path(line), "{line}");
        }
        for line in [
            "mkdir -p /data/out",
            "mkdir -p \"$SRC\"/old",
            "x > /dev/null 2>&1",
            "t=$(mktemp /tmp/x.XXXX)",
            "# see /etc/fstab",
            "/usr/bin/gzip x",
            "curl https://example.org/etc/x",
            "x=${y%/}/etc/z",
            "sed 's/a/b/g'",
            "PATH=$HOME/.local/bin:$PATH",
            "cp x ~/jobs/y",
            "echo $HOME",
            "awk '$1 ~/x/y/' a",
            "perl -ne 'print if $_ =~/x/'",
            "[[ $a =~/x ]]",
            "awk '/[0-9]/ { print }' x",
            "sed -n /[0-9]/p x",
            "x=$((a /*b))",
        ] {
            assert!(!new_path(line), "{line}");
        }
    }
}
