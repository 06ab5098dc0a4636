//! Works by hand, not in cron: how the surroundings of a run differ from those of the last good run or of a login shell,
//! and which one difference explains a fault.
//!
//! [`compare`] lists all differences; [`explain`] finds the one that a fault comes from, by a table of what each kind of
//! fault depends on. What is compared holds no secrets (see [`RecordedFacts`]).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use selfheal_core::facts::{RecordedFacts, is_volatile};
use selfheal_core::fault::Fault;
use selfheal_core::scene::{Kind, Scene};
use serde::Serialize;

/// What a run is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// The job's last good run.
    LastGood,
    /// What a person gets who logs in.
    Login,
}

/// One thing that is different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `PATH`, the name of another variable, `folder`, `user`, `umask`, `terminal`, `program`, or `limit NAME`.
    pub what: String,
    /// How it is in the run; `None` where it is not set.
    pub here: Option<String>,
    /// How it is in what the run is compared with.
    pub there: Option<String>,
}

/// The one difference that a fault comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum Explanation {
    /// The search path lacks the folder of a command.
    PathLacks {
        /// The folder.
        folder: String,
        /// The command.
        command: String,
    },
    /// A variable is not set.
    NotSet {
        /// Its name.
        name: String,
        /// Its value there.
        there: String,
    },
    /// A variable, a limit, the folder, the user, the program has another value.
    Differs {
        /// What.
        what: String,
        /// Here.
        here: String,
        /// There.
        there: String,
    },
    /// Text is read in another encoding.
    Locale {
        /// The locale here.
        here: String,
        /// The locale there.
        there: String,
    },
    /// There was a terminal, and here is none.
    NoTerminal,
}

/// Variables in which interpreters look for modules.
const OF_MODULES: [&str; 12] = [
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONHOME",
    "PERL5LIB",
    "NODE_PATH",
    "RUBYLIB",
    "GEM_HOME",
    "GEM_PATH",
    "CLASSPATH",
    "GOPATH",
    "LD_LIBRARY_PATH",
];

/// Variables that say how the network is reached.
const OF_NETWORK: [&str; 8] = [
    "https_proxy",
    "HTTPS_PROXY",
    "http_proxy",
    "HTTP_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "SSH_AUTH_SOCK",
];

/// Variables that are different by the nature of a login, and explain nothing.
const OF_LOGIN: [&str; 10] = [
    "TERM",
    "LS_COLORS",
    "MAIL",
    "HUSHLOGIN",
    "LESSOPEN",
    "LESSCLOSE",
    "XDG_DATA_DIRS",
    "DEBUGINFOD_URLS",
    "PROMPT_COMMAND",
    "PS1",
];

/// Everything that is different, the most telling first.
#[must_use]
pub fn compare(here: &RecordedFacts, there: &RecordedFacts, baseline: Baseline) -> Vec<Difference> {
    let mut out = Vec::new();
    path_difference(here, there, &mut out);
    if here.locale() != there.locale() {
        push(&mut out, "locale", Some(here.locale()), Some(there.locale()));
    }
    if here.uid != there.uid {
        push(&mut out, "user", Some(&here.uid.to_string()), Some(&there.uid.to_string()));
    }
    if baseline == Baseline::LastGood {
        place_differences(here, there, &mut out);
    }
    if here.umask != there.umask {
        push(&mut out, "umask", Some(&here.umask), Some(&there.umask));
    }
    variable_differences(here, there, baseline, &mut out);
    limit_differences(here, there, &mut out);
    out
}

fn push(out: &mut Vec<Difference>, what: &str, here: Option<&str>, there: Option<&str>) {
    out.push(Difference {
        what: what.into(),
        here: here.map(str::to_owned),
        there: there.map(str::to_owned),
    });
}

/// Only the folders that one side lacks: whole search paths are hard to compare by eye.
fn path_difference(here: &RecordedFacts, there: &RecordedFacts, out: &mut Vec<Difference>) {
    let (own, other) = (here.path(), there.path());
    if own == other {
        return;
    }
    let lacking = |from: &[&str], in_them: &[&str]| {
        let missing: Vec<&str> = from.iter().copied().filter(|folder| !in_them.contains(folder)).collect();
        (!missing.is_empty()).then(|| missing.join(":"))
    };
    let (only_here, only_there) = (lacking(&own, &other), lacking(&other, &own));
    if only_here.is_none() && only_there.is_none() {
        push(out, "PATH", here.var("PATH"), there.var("PATH"));
    } else {
        out.push(Difference { what: "PATH".into(), here: only_here, there: only_there });
    }
}

fn place_differences(here: &RecordedFacts, there: &RecordedFacts, out: &mut Vec<Difference>) {
    if here.cwd != there.cwd {
        push(out, "folder", Some(&here.cwd.to_string_lossy()), Some(&there.cwd.to_string_lossy()));
    }
    if let Some((own, other)) = program_difference(here, there) {
        push(out, "program", Some(&own), Some(&other));
    }
    if here.tty != there.tty {
        let word = |tty: bool| if tty { "yes" } else { "no" };
        push(out, "terminal", Some(word(here.tty)), Some(word(there.tty)));
    }
}

/// How the program that runs the job changed, in words.
fn program_difference(here: &RecordedFacts, there: &RecordedFacts) -> Option<(String, String)> {
    let (own, other) = (here.program.as_ref()?, there.program.as_ref()?);
    let same_file = own.path == other.path && own.inode == other.inode && own.modified_s == other.modified_s;
    let same_version = own.version.is_none() || other.version.is_none() || own.version == other.version;
    if same_file && same_version {
        return None;
    }
    let words = |program: &selfheal_core::run::Program| {
        let path =
            program.path.as_ref().map_or_else(|| program.name.clone(), |path| path.display().to_string());
        match &program.version {
            Some(version) => format!("{path} ({version})"),
            None => format!("{path} (file of {})", day(program.modified_s)),
        }
    };
    let (own, other) = (words(own), words(other));
    (own != other).then_some((own, other))
}

/// The day of a moment, in UTC. Source of the arithmetic: the civil calendar of Howard Hinnant's `civil_from_days`.
fn day(seconds: i64) -> String {
    let days = seconds.div_euclid(86_400) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (month, carry) = if shifted < 10 { (shifted + 3, 0) } else { (shifted - 9, 1) };
    format!("{}-{month:02}-{:02}", year_of_era + era * 400 + carry, of_year - (153 * shifted + 2) / 5 + 1)
}

fn variable_differences(
    here: &RecordedFacts,
    there: &RecordedFacts,
    baseline: Baseline,
    out: &mut Vec<Difference>,
) {
    let ours: BTreeMap<&str, &str> = pairs(here);
    let theirs: BTreeMap<&str, &str> = pairs(there);
    let names: BTreeSet<&str> = ours.keys().chain(theirs.keys()).copied().collect();
    for name in names {
        let boring = name == "PATH" || is_volatile(name);
        let of_login = baseline == Baseline::Login && OF_LOGIN.contains(&name);
        let (own, other) = (ours.get(name).copied(), theirs.get(name).copied());
        if own != other && !boring && !of_login {
            push(out, name, own, other);
        }
    }
}

fn pairs(facts: &RecordedFacts) -> BTreeMap<&str, &str> {
    facts.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn limit_differences(here: &RecordedFacts, there: &RecordedFacts, out: &mut Vec<Difference>) {
    for (name, own) in &here.limits {
        if let Some(other) = there.limits.get(name).filter(|other| *other != own) {
            push(out, &format!("limit {name}"), Some(own), Some(other));
        }
    }
}

/// A run and what it is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The run.
    pub here: &'a RecordedFacts,
    /// What it is compared with.
    pub there: &'a RecordedFacts,
    /// What that is.
    pub baseline: Baseline,
}

/// Whether the surroundings can be the reason of a fault at all: else nobody need be asked.
#[must_use]
pub fn may_explain(fault: &Fault) -> bool {
    match fault {
        Fault::CommandNotFound { name } => !name.contains('/'),
        Fault::Other { message } => is_open_files(message),
        Fault::NoSuchPath { path } => path.is_relative(),
        Fault::UnsetVariable { .. }
        | Fault::KeyMissing { .. }
        | Fault::Encoding { .. }
        | Fault::MissingModule { .. }
        | Fault::MissingName { .. }
        | Fault::UnknownOption { .. }
        | Fault::PermissionDenied { .. }
        | Fault::Dialect { .. }
        | Fault::NeedsTerminal
        | Fault::Network { .. }
        | Fault::OutOfMemory => true,
        _ => false,
    }
}

/// The one difference that a fault comes from, if there is one.
#[must_use]
pub fn explain(fault: &Fault, pair: Pair<'_>, scene: &dyn Scene) -> Option<Explanation> {
    let Pair { here, there, baseline } = pair;
    match fault {
        Fault::CommandNotFound { name } => path_lacks(name, pair, scene),
        Fault::UnsetVariable { name } | Fault::KeyMissing { key: name } => not_set(name, pair),
        Fault::Encoding { .. } => locale(here, there),
        Fault::MissingModule { .. } => {
            of_variables(&OF_MODULES, pair).or_else(|| program(pair)).or_else(|| first_program(pair, scene))
        }
        Fault::MissingName { .. } | Fault::UnknownOption { .. } => program(pair),
        Fault::NoSuchPath { path } if baseline == Baseline::LastGood => other_folder(path, pair, scene),
        // The same script ran well, so another shell ran it.
        Fault::Dialect { .. } if baseline == Baseline::LastGood => program(pair),
        Fault::PermissionDenied { .. } if here.uid != there.uid => Some(Explanation::Differs {
            what: "user".into(),
            here: here.uid.to_string(),
            there: there.uid.to_string(),
        }),
        Fault::PermissionDenied { .. } => (here.umask != there.umask).then(|| Explanation::Differs {
            what: "umask".into(),
            here: here.umask.clone(),
            there: there.umask.clone(),
        }),
        Fault::NeedsTerminal => (!here.tty && there.tty).then_some(Explanation::NoTerminal),
        Fault::Network { .. } => of_variables(&OF_NETWORK, pair),
        Fault::OutOfMemory => limit("address space", pair),
        Fault::Other { message } if is_open_files(message) => limit("open files", pair),
        _ => None,
    }
}

/// A folder on the other search path that holds the command, and that this one lacks.
fn path_lacks(name: &str, pair: Pair<'_>, scene: &dyn Scene) -> Option<Explanation> {
    if name.contains('/') || name.is_empty() {
        return None;
    }
    let own = pair.here.path();
    let folder = pair.there.path().into_iter().find(|folder| {
        folder.starts_with('/') && !own.contains(folder) && is_program(&Path::new(folder).join(name), scene)
    })?;
    Some(Explanation::PathLacks { folder: folder.to_owned(), command: name.to_owned() })
}

fn is_program(path: &Path, scene: &dyn Scene) -> bool {
    scene.facts(path).is_some_and(|facts| facts.kind == Kind::File && facts.mode & 0o111 != 0)
}

fn not_set(name: &str, pair: Pair<'_>) -> Option<Explanation> {
    if pair.here.var(name).is_some() {
        return None;
    }
    let there = pair.there.var(name)?.to_owned();
    Some(Explanation::NotSet { name: name.to_owned(), there })
}

fn of_variables(names: &[&str], pair: Pair<'_>) -> Option<Explanation> {
    names.iter().find_map(|name| match (pair.here.var(name), pair.there.var(name)) {
        (None, Some(_)) => not_set(name, pair),
        (Some(here), Some(there)) if here != there => Some(Explanation::Differs {
            what: (*name).to_owned(),
            here: here.to_owned(),
            there: there.to_owned(),
        }),
        _ => None,
    })
}

/// An encoding fails where the locale has none and the other one has.
fn locale(here: &RecordedFacts, there: &RecordedFacts) -> Option<Explanation> {
    let unicode = |locale: &str| locale.to_ascii_lowercase().replace('-', "").contains("utf8");
    let (own, other) = (here.locale(), there.locale());
    let lost = !unicode(own) && unicode(other);
    lost.then(|| Explanation::Locale { here: own.to_owned(), there: other.to_owned() })
}

fn program(pair: Pair<'_>) -> Option<Explanation> {
    if pair.baseline != Baseline::LastGood {
        return None;
    }
    let (here, there) = program_difference(pair.here, pair.there)?;
    Some(Explanation::Differs { what: "program".into(), here, there })
}

/// Another file of the same name comes first on the other search path: a virtual environment, a newer version.
fn first_program(pair: Pair<'_>, scene: &dyn Scene) -> Option<Explanation> {
    let name = &pair.here.program.as_ref()?.name;
    let first = |facts: &RecordedFacts| {
        let folders = facts.path();
        let mut files = folders.iter().map(|folder| Path::new(folder).join(name));
        files.find(|file| file.is_absolute() && is_program(file, scene))
    };
    let (here, there) = (first(pair.here)?, first(pair.there)?);
    (here != there).then(|| Explanation::Differs {
        what: name.clone(),
        here: here.display().to_string(),
        there: there.display().to_string(),
    })
}

/// A relative path that is where the last good run was, and not here.
fn other_folder(path: &Path, pair: Pair<'_>, scene: &dyn Scene) -> Option<Explanation> {
    let (here, there): (&PathBuf, &PathBuf) = (&pair.here.cwd, &pair.there.cwd);
    let moved = path.is_relative() && here != there && scene.facts(&there.join(path)).is_some();
    moved.then(|| Explanation::Differs {
        what: "folder".into(),
        here: here.display().to_string(),
        there: there.display().to_string(),
    })
}

fn limit(name: &str, pair: Pair<'_>) -> Option<Explanation> {
    let (here, there) = (pair.here.limits.get(name)?, pair.there.limits.get(name)?);
    (here != there).then(|| Explanation::Differs {
        what: format!("limit {name}"),
        here: here.clone(),
        there: there.clone(),
    })
}

fn is_open_files(message: &str) -> bool {
    message.contains("Too many open files")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_scene::FakeScene;
    use selfheal_core::run::Program;

    fn facts(env: &[(&str, &str)]) -> RecordedFacts {
        let mut env: Vec<(String, String)> =
            env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        env.sort();
        RecordedFacts { cwd: "/job".into(), umask: "0022".into(), env, ..RecordedFacts::default() }
    }

    fn ask(
        fault: &Fault,
        here: &RecordedFacts,
        there: &RecordedFacts,
        scene: &FakeScene,
    ) -> Option<Explanation> {
        assert!(may_explain(fault));
        explain(fault, Pair { here, there, baseline: Baseline::LastGood }, scene)
    }

    #[test]
    fn a_command_that_the_other_search_path_has_explains_itself() {
        let scene =
            FakeScene::new("/job").program("/opt/x/bin/mytool").file("/opt/y/bin/mytool", "no program");
        let here = facts(&[("PATH", "/usr/bin:/bin")]);
        let there = facts(&[("PATH", "/opt/y/bin:/opt/x/bin:/usr/bin:/bin")]);
        let fault = Fault::CommandNotFound { name: "mytool".into() };
        let wanted = Explanation::PathLacks { folder: "/opt/x/bin".into(), command: "mytool".into() };
        assert_eq!(ask(&fault, &here, &there, &scene), Some(wanted));
        assert_eq!(ask(&fault, &there, &here, &scene), None);
        let other = Fault::CommandNotFound { name: "othertool".into() };
        assert_eq!(ask(&other, &here, &there, &scene), None);
    }

    #[test]
    fn a_variable_that_is_set_only_there_explains_itself() {
        let scene = FakeScene::new("/job");
        let fault = Fault::UnsetVariable { name: "USER".into() };
        let there = facts(&[("USER", "bob")]);
        let wanted = Explanation::NotSet { name: "USER".into(), there: "bob".into() };
        assert_eq!(ask(&fault, &facts(&[]), &there, &scene), Some(wanted));
        assert_eq!(ask(&fault, &there, &there, &scene), None);
        assert_eq!(ask(&fault, &facts(&[]), &facts(&[]), &scene), None);
    }

    #[test]
    fn a_locale_without_an_encoding_explains_unreadable_text() {
        let scene = FakeScene::new("/job");
        let fault = Fault::Encoding { codec: "ascii".into() };
        let (plain, unicode) = (facts(&[]), facts(&[("LANG", "en_US.UTF-8")]));
        let wanted = Explanation::Locale { here: "POSIX".into(), there: "en_US.UTF-8".into() };
        assert_eq!(ask(&fault, &plain, &unicode, &scene), Some(wanted));
        assert_eq!(ask(&fault, &unicode, &plain, &scene), None);
        let german = facts(&[("LANG", "de_DE.utf8")]);
        assert_eq!(ask(&fault, &german, &unicode, &scene), None);
    }

    #[test]
    fn modules_come_from_variables_or_from_another_interpreter() {
        let fault = Fault::MissingModule { name: "requests".into() };
        let scene = FakeScene::new("/job").program("/usr/bin/python3").program("/srv/venv/bin/python3");
        let there = facts(&[("PATH", "/srv/venv/bin:/usr/bin")]);
        let mut here = facts(&[("PATH", "/usr/bin")]);
        here.program = Some(Program { name: "python3".into(), ..Program::default() });
        let wanted = Explanation::Differs {
            what: "python3".into(),
            here: "/usr/bin/python3".into(),
            there: "/srv/venv/bin/python3".into(),
        };
        assert_eq!(ask(&fault, &here, &there, &scene), Some(wanted));
        let there = facts(&[("PATH", "/usr/bin"), ("PYTHONPATH", "/srv/lib")]);
        let wanted = Explanation::NotSet { name: "PYTHONPATH".into(), there: "/srv/lib".into() };
        assert_eq!(ask(&fault, &here, &there, &scene), Some(wanted));
    }

    #[test]
    fn a_relative_path_that_is_in_the_other_folder_explains_itself() {
        let scene = FakeScene::new("/job").file("/data/in.csv", "x");
        let fault = Fault::NoSuchPath { path: "in.csv".into() };
        let there = RecordedFacts { cwd: "/data".into(), ..facts(&[]) };
        let found = ask(&fault, &facts(&[]), &there, &scene);
        assert!(matches!(found, Some(Explanation::Differs { what, .. }) if what == "folder"));
        let elsewhere = RecordedFacts { cwd: "/tmp".into(), ..facts(&[]) };
        assert_eq!(ask(&fault, &facts(&[]), &elsewhere, &scene), None);
    }

    #[test]
    fn limits_terminals_users_and_programs_explain_their_faults() {
        let scene = FakeScene::new("/job");
        let here = facts(&[]);
        let mut there = RecordedFacts { tty: true, uid: 1000, ..facts(&[("https_proxy", "http://p:3128")]) };
        there.limits.insert("open files".into(), "65536".into());
        let mut limited = here.clone();
        limited.limits.insert("open files".into(), "64".into());
        let files = Fault::Other { message: "OSError: Too many open files".into() };
        assert!(ask(&files, &limited, &there, &scene).is_some());
        assert_eq!(ask(&Fault::NeedsTerminal, &here, &there, &scene), Some(Explanation::NoTerminal));
        assert!(ask(&Fault::PermissionDenied { path: None }, &here, &there, &scene).is_some());
        let network = Fault::Network { how: "timeout".into(), host: None };
        assert!(ask(&network, &here, &there, &scene).is_some());
        let program = |inode, version: &str| {
            let version = Some(version.to_owned());
            let path = Some("/usr/bin/python3.11".into());
            Some(Program { name: "python3".into(), path, inode, modified_s: 5, version })
        };
        let old = RecordedFacts { program: program(1, "Python 3.11.2"), ..facts(&[]) };
        let new = RecordedFacts { program: program(2, "Python 3.13.1"), ..facts(&[]) };
        let name = Fault::MissingName { owner: "ssl".into(), name: "wrap_socket".into() };
        assert!(ask(&name, &new, &old, &scene).is_some());
        assert_eq!(ask(&name, &new, &new, &scene), None);
    }

    #[test]
    fn a_table_names_only_what_is_different_and_only_the_folders_that_lack() {
        let here = facts(&[("PATH", "/usr/bin:/bin"), ("HOME", "/root"), ("TERM", "dumb")]);
        let mut there = facts(&[("PATH", "/opt/x/bin:/usr/bin:/bin"), ("HOME", "/root"), ("USER", "root")]);
        there.umask = "0002".into();
        let found = compare(&here, &there, Baseline::Login);
        let rows: Vec<(&str, Option<&str>, Option<&str>)> =
            found.iter().map(|row| (row.what.as_str(), row.here.as_deref(), row.there.as_deref())).collect();
        assert_eq!(
            rows,
            [
                ("PATH", None, Some("/opt/x/bin")),
                ("umask", Some("0022"), Some("0002")),
                ("USER", None, Some("root")),
            ]
        );
        assert!(compare(&here, &here, Baseline::LastGood).is_empty());
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, wanted) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_735_689_599, "2024-12-31"),
            (-1, "1969-12-31"),
        ] {
            assert_eq!(day(seconds), wanted);
        }
    }
}
