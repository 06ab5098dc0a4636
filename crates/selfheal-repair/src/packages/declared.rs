//! What a project says that it needs: `requirements*.txt`, `pyproject.toml`, `setup.cfg`, `Pipfile`, and the lock files
//! beside them, which say in which version.

use std::path::{Path, PathBuf};

use selfheal_core::scene::{Kind, Scene};

use super::names::normal;
use super::requirement::{self, Requirement};

/// The most lists of requirements that are read in one folder.
const MOST_LISTS: usize = 20;
/// The largest project file that is read; lock files are long.
const LARGEST: usize = 4 << 20;

/// What a project declares of one distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    /// The requirement.
    pub requirement: Requirement,
    /// The file that says so.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// What else its file asks of the installer.
    pub terms: Terms,
}

/// What a list of requirements asks of the installer besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    /// The list is handed over as a whole: it has hashes, constraints, or says where from.
    pub whole: bool,
    /// It names an index or a place of its own.
    pub own_index: bool,
    /// It asks that something is built here, or says what is not understood.
    pub builds: bool,
}

/// What the files of some folders, the nearest first, declare of the first of some distributions (normal names).
pub(super) fn find(scene: &dyn Scene, folders: &[PathBuf], names: &[String]) -> Option<Declared> {
    let all: Vec<Declared> = folders.iter().flat_map(|folder| declared(scene, folder)).collect();
    let found = names.iter().find_map(|name| all.iter().find(|one| one.requirement.name == *name))?;
    let lock = folders.iter().find_map(|folder| locked(scene, folder, &found.requirement.name));
    let fits = !found.requirement.pinned && !found.requirement.direct && !found.terms.whole;
    let exact = lock.filter(|_| fits).and_then(|version| {
        let requirement = requirement::with_version(&found.requirement, &version)?;
        Some(Declared { requirement, ..found.clone() })
    });
    Some(exact.unwrap_or_else(|| found.clone()))
}

/// All that one folder declares.
fn declared(scene: &dyn Scene, folder: &Path) -> Vec<Declared> {
    let mut out = Vec::new();
    for list in lists(scene, folder) {
        out.extend(text(scene, &list).map(|text| of_list(&list, &text)).unwrap_or_default());
    }
    let project = folder.join("pyproject.toml");
    out.extend(text(scene, &project).map(|text| of_project(&project, &text)).unwrap_or_default());
    let setup = folder.join("setup.cfg");
    out.extend(text(scene, &setup).map(|text| of_setup(&setup, &text)).unwrap_or_default());
    let pipfile = folder.join("Pipfile");
    out.extend(text(scene, &pipfile).map(|text| of_pipfile(&pipfile, &text)).unwrap_or_default());
    out
}

/// A project file, unless anybody may write it.
fn text(scene: &dyn Scene, path: &Path) -> Option<String> {
    let facts = scene.facts(path).filter(|facts| facts.kind == Kind::File && facts.mode & 0o002 == 0)?;
    (facts.len <= LARGEST as u64)
        .then(|| scene.read(path, LARGEST))?
        .and_then(|read| String::from_utf8(read).ok())
}

/// The lists of requirements of a folder, `requirements.txt` first.
fn lists(scene: &dyn Scene, folder: &Path) -> Vec<PathBuf> {
    let is_list = |name: &&String| name.starts_with("requirements") && name.ends_with(".txt");
    let mut names = scene.names(folder);
    names.sort_by_key(|name| name.as_str() != "requirements.txt");
    let own = names.iter().filter(is_list).map(|name| folder.join(name));
    let deeper = folder.join("requirements");
    let below = scene.names(&deeper).into_iter().filter(|name| name.ends_with(".txt"));
    own.chain(below.map(|name| deeper.join(name))).take(MOST_LISTS).collect()
}

fn of_list(file: &Path, text: &str) -> Vec<Declared> {
    let mut terms = Terms::default();
    let mut found: Vec<(u32, Requirement)> = Vec::new();
    let mut joined = String::new();
    let mut begun = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split(" #").next().unwrap_or_default().trim();
        if line.starts_with('#') {
            continue;
        }
        if joined.is_empty() {
            begun = number;
        }
        if let Some(front) = line.strip_suffix('\\') {
            joined.push_str(front);
            joined.push(' ');
            continue;
        }
        joined.push_str(line);
        let whole = std::mem::take(&mut joined);
        let (front, options) = whole.split_once(" --").unwrap_or((&whole, ""));
        terms.take(if front.starts_with('-') { front } else { options });
        found.extend(requirement::read(front).map(|one| (begun, one)));
    }
    let one =
        |(line, requirement)| Declared { requirement, file: file.to_path_buf(), line, terms: terms.clone() };
    found.into_iter().map(one).collect()
}

impl Terms {
    /// Takes a line of options, or those behind a requirement, into account.
    fn take(&mut self, options: &str) {
        let option = options.trim_start_matches('-');
        let name = option.split(['=', ' ']).next().unwrap_or_default();
        match name {
            "" => {}
            "hash" | "require-hashes" | "c" | "constraint" => self.whole = true,
            "i" | "index-url" | "extra-index-url" | "f" | "find-links" | "no-index" | "trusted-host" => {
                self.whole = true;
                self.own_index = true;
            }
            // Other lists are read by themselves, and a package in a folder is none that is missing.
            "r" | "requirement" | "e" | "editable" | "only-binary" | "prefer-binary" => {}
            _ => self.builds = true,
        }
    }
}

/// The line of a file that names something first, from 1.
fn line_of(text: &str, name: &str) -> u32 {
    let name = normal(name);
    let found = (1..).zip(text.lines()).find(|(_, line)| normal(line).contains(&name));
    found.map_or(1, |(number, _)| number)
}

fn at(file: &Path, text: &str, requirement: Requirement) -> Declared {
    let line = line_of(text, &requirement.name);
    Declared { requirement, file: file.to_path_buf(), line, terms: Terms::default() }
}

fn of_project(file: &Path, text: &str) -> Vec<Declared> {
    let Ok(root) = text.parse::<toml::Table>() else { return Vec::new() };
    let get = |path: &[&str]| {
        let mut value = root.get(*path.first()?)?;
        for part in path.get(1..)? {
            value = value.get(part)?;
        }
        Some(value)
    };
    let mut lines: Vec<&str> = Vec::new();
    lines.extend(get(&["project", "dependencies"]).map(words).unwrap_or_default());
    for groups in [get(&["project", "optional-dependencies"]), get(&["dependency-groups"])] {
        let groups = groups.and_then(toml::Value::as_table).into_iter().flatten();
        lines.extend(groups.flat_map(|(_, list)| words(list)));
    }
    let mut out: Vec<Requirement> = lines.into_iter().filter_map(requirement::read).collect();
    out.extend(get(&["tool", "poetry", "dependencies"]).map(of_table).unwrap_or_default());
    let groups = get(&["tool", "poetry", "group"]).and_then(toml::Value::as_table).into_iter().flatten();
    out.extend(groups.filter_map(|(_, group)| group.get("dependencies")).flat_map(of_table));
    out.into_iter().map(|one| at(file, text, one)).collect()
}

fn of_pipfile(file: &Path, text: &str) -> Vec<Declared> {
    let Ok(root) = text.parse::<toml::Table>() else { return Vec::new() };
    let tables = ["packages", "dev-packages"].into_iter().filter_map(|name| root.get(name));
    tables.flat_map(of_table).map(|one| at(file, text, one)).collect()
}

fn words(value: &toml::Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(toml::Value::as_str).collect()
}

/// `name = "^1.2"` and `name = { version = "1.2", extras = ["x"] }`, as poetry and pipenv write it.
fn of_table(value: &toml::Value) -> Vec<Requirement> {
    let entries = value.as_table().into_iter().flatten().filter(|(name, _)| *name != "python");
    entries.filter_map(|(name, value)| of_entry(name, value)).collect()
}

fn of_entry(name: &str, value: &toml::Value) -> Option<Requirement> {
    if let Some(version) = value.as_str() {
        return requirement::read(&format!("{name}{}", specifier(version)?));
    }
    let table = value.as_table()?;
    let Some(version) = table.get("version").and_then(toml::Value::as_str) else {
        // From a repository, an address or a folder.
        let direct = requirement::read(name)?;
        return Some(Requirement { direct: true, ..direct });
    };
    let extras = table.get("extras").map(words).unwrap_or_default().join(",");
    let extras = if extras.is_empty() { String::new() } else { format!("[{extras}]") };
    requirement::read(&format!("{name}{extras}{}", specifier(version)?))
}

/// A version of poetry's or pipenv's in pip's words: `^1.2` is `>=1.2,<2`.
fn specifier(version: &str) -> Option<String> {
    let version = version.trim();
    if version == "*" {
        return Some(String::new());
    }
    if let Some(low) = version.strip_prefix('^') {
        return Some(format!(">={low},<{}", next(low, true)?));
    }
    if let Some(low) = version.strip_prefix('~').filter(|rest| !rest.starts_with('=')) {
        return Some(format!(">={low},<{}", next(low, false)?));
    }
    let bare = version.starts_with(|c: char| c.is_ascii_digit());
    Some(if bare { format!("=={version}") } else { version.to_owned() })
}

/// The first version that `^LOW` (or, without `caret`, `~LOW`) does not allow.
fn next(low: &str, caret: bool) -> Option<String> {
    let numbers: Vec<u64> = low.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let zero = numbers.iter().position(|number| *number != 0).unwrap_or(numbers.len().saturating_sub(1));
    let at = if caret { zero } else { 1.min(numbers.len().saturating_sub(1)) };
    let mut out: Vec<u64> = numbers.iter().take(at).copied().collect();
    out.push(numbers.get(at)?.checked_add(1)?);
    Some(out.iter().map(u64::to_string).collect::<Vec<_>>().join("."))
}

/// `install_requires` of `setup.cfg`: the lines below it that are indented.
fn of_setup(file: &Path, text: &str) -> Vec<Declared> {
    let mut inside = false;
    let mut out = Vec::new();
    for line in text.lines() {
        let indented = line.starts_with([' ', '\t']);
        if !indented {
            let value = line.strip_prefix("install_requires").map(|rest| rest.trim_start_matches([' ', '=']));
            inside = value.is_some();
            out.extend(value.and_then(requirement::read));
        } else if inside {
            out.extend(requirement::read(line));
        }
    }
    out.into_iter().map(|one| at(file, text, one)).collect()
}

/// The version that a lock file of a folder says; nothing where it comes from elsewhere than an index.
fn locked(scene: &dyn Scene, folder: &Path, name: &str) -> Option<String> {
    let of_toml = |file: &str| {
        let root = text(scene, &folder.join(file))?.parse::<toml::Table>().ok()?;
        let packages = root.get("package")?.as_array()?;
        let entry = packages.iter().find(|one| {
            one.get("name").and_then(toml::Value::as_str).is_some_and(|known| normal(known) == name)
        })?;
        let source = entry.get("source").and_then(toml::Value::as_table);
        let indexed = source.is_none_or(|source| source.contains_key("registry"));
        entry.get("version").and_then(toml::Value::as_str).filter(|_| indexed).map(str::to_owned)
    };
    let of_pipfile = || {
        let root: serde_json::Value =
            serde_json::from_str(&text(scene, &folder.join("Pipfile.lock"))?).ok()?;
        let entry = root.get("default")?.as_object()?.iter().find(|(known, _)| normal(known) == name)?.1;
        entry.get("version")?.as_str()?.strip_prefix("==").map(str::to_owned)
    };
    ["uv.lock", "poetry.lock", "pdm.lock"].into_iter().find_map(of_toml).or_else(of_pipfile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestScene;

    fn found(scene: &TestScene, module: &str) -> Option<(String, String)> {
        let found = find(scene, &["/srv/job".into()], &super::super::names::likely(module))?;
        let name = found.file.file_name().unwrap().to_string_lossy().into_owned();
        Some((found.requirement.text, format!("{name}:{}", found.line)))
    }

    #[test]
    fn lists_of_requirements_are_read() {
        let list = "# ours\nsix\nPyYAML == 6.0.1  # settings\nrequests>=2; python_version > '3.7'\n";
        let scene = TestScene::new().file("requirements.txt", list).file("requirements/extra.txt", "attrs\n");
        assert_eq!(found(&scene, "yaml"), Some(("PyYAML==6.0.1".into(), "requirements.txt:3".into())));
        assert_eq!(found(&scene, "attr"), Some(("attrs".into(), "extra.txt:1".into())));
        assert_eq!(found(&scene, "numpy"), None);
    }

    #[test]
    fn what_a_list_asks_besides_counts() {
        let terms = |text: &str| {
            let scene = TestScene::new().file("requirements.txt", text);
            let terms = find(&scene, &["/srv/job".into()], &["six".to_owned()]).unwrap().terms;
            (terms.whole, terms.own_index, terms.builds)
        };
        assert_eq!(terms("six\n"), (false, false, false));
        assert_eq!(terms("six==1.16.0 \\\n    --hash=sha256:ab\n"), (true, false, false));
        assert_eq!(terms("--extra-index-url https://example.org/simple\nsix\n"), (true, true, false));
        assert_eq!(terms("-c limits.txt\nsix\n"), (true, false, false));
        assert_eq!(terms("--no-binary :all:\nsix\n"), (false, false, true));
    }

    #[test]
    fn projects_and_their_locks_are_read() {
        let project = "[project]\ndependencies = [\n  \"requests>=2\",\n]\n[project.optional-dependencies]\nx = [\"six\"]\n[tool.poetry.dependencies]\npython = \"^3.9\"\npyyaml = \"^6.0\"\nattrs = { version = \"~23.1\", extras = [\"dev\"] }\nours = { git = \"https://example.org/x.git\" }\n";
        let lock = "[[package]]\nname = \"requests\"\nversion = \"2.31.0\"\nsource = { registry = \"https://pypi.org/simple\" }\n[[package]]\nname = \"six\"\nversion = \"1.0\"\nsource = { git = \"x\" }\n";
        let scene = TestScene::new().file("pyproject.toml", project).file("uv.lock", lock);
        assert_eq!(found(&scene, "requests"), Some(("requests==2.31.0".into(), "pyproject.toml:3".into())));
        assert_eq!(found(&scene, "six").unwrap().0, "six");
        assert_eq!(found(&scene, "yaml").unwrap().0, "pyyaml>=6.0,<7");
        assert_eq!(found(&scene, "attr").unwrap().0, "attrs[dev]>=23.1,<23.2");
        assert!(find(&scene, &["/srv/job".into()], &["ours".to_owned()]).unwrap().requirement.direct);
    }

    #[test]
    fn setup_files_are_read_and_what_anybody_may_write_is_not() {
        let scene = TestScene::new()
            .file("setup.cfg", "[options]\ninstall_requires =\n    six>=1\n    attrs\nzip_safe = no\n");
        assert_eq!(found(&scene, "six"), Some(("six>=1".into(), "setup.cfg:3".into())));
        let open = TestScene::new().raw("requirements.txt", b"six\n", 0o666);
        assert_eq!(found(&open, "six"), None);
    }
}
