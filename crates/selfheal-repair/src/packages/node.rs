//! Packages of Node: what the nearest `package.json` declares.

use std::path::{Path, PathBuf};

use selfheal_core::proposal::Risk;
use selfheal_core::scene::{Kind, Scene};
use serde_json::Value;

use super::{Place, Plan, Wanted, line};
use crate::case::Case;

/// How many folders up a `package.json` is looked for.
const MOST_UP: usize = 4;
/// The largest `package.json` or lock file that is read.
const LARGEST: usize = 4 << 20;
/// The lists in which `package.json` names packages.
const LISTS: [&str; 3] = ["dependencies", "optionalDependencies", "devDependencies"];
/// Where packages come from when nobody says otherwise.
const REGISTRY: &str = "https://registry.npmjs.org/";

/// What npm is told besides: nothing of a package runs, nothing is written but `node_modules`, and no links are made.
const QUIET: [&str; 7] = [
    "--no-save",
    "--ignore-scripts",
    "--no-bin-links",
    "--install-links",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
];

/// What would bring a module of Node.
pub(super) fn wanted(case: &Case<'_>, module: &str, file: &Path) -> Option<Wanted> {
    let name = package_of(module)?;
    let (folder, text) = project(case.scene, file)?;
    let root: Value = serde_json::from_str(&text).ok()?;
    let spec = LISTS.iter().find_map(|list| root.get(list)?.get(&name)?.as_str())?;
    let declared = Place { file: folder.join("package.json"), line: line_of(&text, &name) };
    let has_lock = case.scene.facts(&folder.join("package-lock.json")).is_some();
    let place = folder.join("node_modules");
    let fresh = case.scene.facts(&place).is_none();
    let by_hand = match (has_lock, fresh) {
        (true, true) => line(&folder, &["npm", "ci", "--ignore-scripts"]),
        _ => line(&folder, &["npm", "install", "--ignore-scripts"]),
    };
    let plan = plan(case.scene, &root, &folder, fresh);
    let what = format!("{name}@{spec}");
    Some(Wanted { module: module.to_owned(), what, declared: Some(declared), plan, by_hand })
}

fn plan(scene: &dyn Scene, root: &Value, folder: &Path, fresh: bool) -> Result<Plan, String> {
    if let Some(foreign) = foreign(root) {
        return Err(format!("package.json takes {foreign} from elsewhere than the registry"));
    }
    let Some(npm) = scene.which("npm").into_iter().next() else {
        return Err("npm is not on this machine".to_owned());
    };
    let only_needed = fresh.then_some("--omit=dev");
    let words = ["install"].into_iter().chain(QUIET).chain(only_needed);
    let argv: Vec<String> =
        std::iter::once(npm.display().to_string()).chain(words.map(str::to_owned)).collect();
    let shown: Vec<&str> = std::iter::once("npm").chain(argv.iter().skip(1).map(String::as_str)).collect();
    let set = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
    Ok(Plan {
        tool: "npm",
        shown: line(folder, &shown),
        argv,
        cwd: folder.to_path_buf(),
        place: folder.join("node_modules"),
        env: vec![
            set("npm_config_cache", "/tmp/.npm-cache"),
            set("npm_config_update_notifier", "false"),
            ("NODE_OPTIONS".to_owned(), None),
        ],
        risk: if own_registry(scene, folder) { Risk::High } else { Risk::Medium },
    })
}

/// The package that a module belongs to: `x` of `x/lib/y`, `@scope/x` of `@scope/x/y`.
fn package_of(module: &str) -> Option<String> {
    let good = |part: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
        !part.is_empty() && !part.starts_with(['.', '_']) && part.chars().all(plain)
    };
    let mut parts = module.split('/');
    let first = parts.next()?;
    match first.strip_prefix('@') {
        Some(scope) => {
            let name = parts.next()?;
            (good(scope) && good(name)).then(|| format!("{first}/{name}"))
        }
        None => good(first).then(|| first.to_owned()),
    }
}

/// The nearest folder with a `package.json`, from a file upwards, and its text.
fn project(scene: &dyn Scene, file: &Path) -> Option<(PathBuf, String)> {
    file.ancestors().skip(1).take(MOST_UP).find_map(|folder| {
        let path = folder.join("package.json");
        let facts = scene.facts(&path).filter(|facts| facts.kind == Kind::File && facts.mode & 0o002 == 0)?;
        let read = (facts.len <= LARGEST as u64).then(|| scene.read(&path, LARGEST))??;
        Some((folder.to_path_buf(), String::from_utf8(read).ok()?))
    })
}

/// The first package that comes from an address, a repository or a folder: npm would fetch it with the others.
fn foreign(root: &Value) -> Option<&String> {
    let plain = |spec: &str| {
        let range = |c: char| c.is_ascii_alphanumeric() || ".-+^~<>=|* ".contains(c);
        let local = spec.strip_prefix("file:").is_some_and(|path| {
            let archive = path.ends_with(".tgz") || path.ends_with(".tar.gz");
            archive && !path.starts_with('/') && !path.contains("..")
        });
        local || spec.chars().all(range)
    };
    let lists = LISTS.iter().filter_map(|list| root.get(list)?.as_object());
    let mut entries = lists.flatten();
    entries.find(|(_, spec)| !spec.as_str().is_some_and(plain)).map(|(name, _)| name)
}

/// Whether the project says itself where packages come from.
fn own_registry(scene: &dyn Scene, folder: &Path) -> bool {
    let read = |name: &str| {
        scene.read(&folder.join(name), LARGEST).map(|text| String::from_utf8_lossy(&text).into_owned())
    };
    let settings = read(".npmrc").is_some_and(|text| text.contains("registry"));
    let lock = read("package-lock.json").unwrap_or_default();
    let elsewhere =
        lock.lines().filter_map(|line| line.trim_start().strip_prefix("\"resolved\":")).any(|value| {
            let value = value.trim().trim_start_matches('"');
            !value.starts_with(REGISTRY) && !value.starts_with("file:")
        });
    settings || elsewhere
}

fn line_of(text: &str, name: &str) -> u32 {
    let key = format!("\"{name}\"");
    (1..).zip(text.lines()).find(|(_, line)| line.contains(&key)).map_or(1, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_belongs_to_a_package() {
        assert_eq!(package_of("left-pad").as_deref(), Some("left-pad"));
        assert_eq!(package_of("@a/b/c").as_deref(), Some("@a/b"));
        for other in ["./x", "/x", "../x", "node:fs", "@a", ""] {
            assert_eq!(package_of(other), None, "{other}");
        }
    }

    #[test]
    fn only_the_registry_and_archives_beside_are_no_strangers() {
        let of = |spec: &str| {
            let root: Value = serde_json::json!({ "dependencies": { "x": spec } });
            foreign(&root).is_some()
        };
        for fine in ["^1.2.3", "*", "1.x || >=2", "file:vendor/x.tgz", "latest"] {
            assert!(!of(fine), "{fine}");
        }
        for strange in
            ["git+https://h/x.git", "user/repo", "http://h/x.tgz", "file:../x.tgz", "file:lib", "npm:y@1"]
        {
            assert!(of(strange), "{strange}");
        }
    }
}
