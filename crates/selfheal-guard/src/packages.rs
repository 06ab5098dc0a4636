//! Packages among the changes of a repair. Their code is other people's and as long as it is: it is not read here, and
//! the judgement says so. What is judged is where they go, what they would replace, what of them would run by itself,
//! whether they would take the place of something of the job's own, and how much they are.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use selfheal_core::admission::{Finding, Weight};
use selfheal_core::install::{Install, MOST_BYTES, MOST_FILES};
use selfheal_core::proposal::{FileChange, Proposal};
use selfheal_core::scene::{Kind, Scene, absolute};

use crate::admit::AdmitInput;
use crate::finding::whole;
use crate::leads;
use crate::scope::{self, Roots};

/// The list that npm keeps of what it put there; it changes with every package.
const BOOKKEEPING: &str = ".package-lock.json";
/// Modules that Python loads by itself at every start, beside `*.pth` files.
const LOADED: [&str; 2] = ["sitecustomize.py", "usercustomize.py"];
/// Where a job keeps modules of its own, seen from its script and its folder.
const OWN: [&str; 7] = [".", "lib", "src", "python", "modules", "vendor", ".."];
/// The most of a script that is read for the interpreter that it names, in bytes.
const MOST_OF_SCRIPT: usize = 1 << 20;

/// The judgement on all that installers bring.
pub fn all(input: &AdmitInput<'_>, roots: &Roots) -> Vec<Finding> {
    let proposal = input.proposal;
    if proposal.installs.is_empty() {
        return Vec::new();
    }
    let mut out: Vec<Finding> =
        proposal.installs.iter().filter_map(|install| place(install, input, roots)).collect();
    let brought: Vec<&FileChange> =
        proposal.changes.iter().filter(|change| proposal.is_packaged(&change.path)).collect();
    let bytes: usize = brought.iter().filter_map(|change| change.after.as_ref()).map(Vec::len).sum();
    if brought.len() > MOST_FILES || bytes as u64 > MOST_BYTES {
        out.push(whole("packages/amount", Weight::Refuse, "its packages are more than a repair may bring"));
    }
    let names: Vec<String> = proposal.installs.iter().map(Install::names).collect();
    let why = format!(
        "it brings {} ({} files): other people's code, of which is judged where it goes and how much it is, not what it does",
        names.join(", "),
        brought.len()
    );
    out.push(whole("packages/third-party", Weight::Medium, why));
    if let Some(name) = proposal.installs.iter().find_map(|install| shadowed(install, input)) {
        let why = format!("it brings a module {name}, and the job has one of that name itself");
        out.push(whole("packages/shadows", Weight::Hold, why));
    }
    out
}

/// The judgement on one file of a package.
pub fn file(change: &FileChange, scene: &dyn Scene) -> Vec<Finding> {
    let mut out = Vec::new();
    let name = change.path.file_name().unwrap_or_default().to_string_lossy();
    if change.path.components().any(|part| part == Component::ParentDir) {
        out.push(whole("scope/file", Weight::Refuse, "the path of a package's file has `..` in it"));
    }
    if change.mode.is_some_and(|mode| mode & 0o7000 != 0) {
        out.push(whole(
            "packages/rights",
            Weight::Refuse,
            "a package's file would give the rights of another user",
        ));
    }
    let replaces = change.before.is_some() || scene.facts(&change.path).is_some();
    if replaces && name != BOOKKEEPING {
        out.push(whole("packages/replaces", Weight::Hold, "it replaces a file that is there already"));
    }
    let runs = LOADED.contains(&&*name) || change.path.extension().is_some_and(|ending| ending == "pth");
    if runs {
        let why = format!("{name} of a package runs whenever this Python starts");
        out.push(whole("packages/runs-by-itself", Weight::Hold, why));
    }
    out
}

/// Why packages must not go where they would: only into the job's folders, or into the environment whose interpreter the
/// job names itself.
fn place(install: &Install, input: &AdmitInput<'_>, roots: &Roots) -> Option<Finding> {
    let place = install.place.as_path();
    let refused = |why: String| Some(whole("packages/place", Weight::Refuse, why));
    if scope::is_system(place) || scope::is_private(place) || scope::is_too_wide(place) {
        return refused(format!("{} is no place for a job's packages", place.display()));
    }
    if !roots.hold(place) && !names(input, place) {
        return refused(format!("{} is neither in the job's folder nor named by the job", place.display()));
    }
    leads::file(place, roots, input.scene)
}

/// Whether the job's command or script names something below a folder.
fn names(input: &AdmitInput<'_>, place: &Path) -> bool {
    let below = |text: &str| absolute(&input.job.cwd, Path::new(text)).starts_with(place);
    let script = input.job.script.as_deref().and_then(|path| input.scene.read(path, MOST_OF_SCRIPT));
    let script = script.map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
    input.job.argv.iter().filter_map(|word| word.to_str()).any(below)
        || scope::paths_in(&script).iter().any(|path| below(path))
}

/// The first module that packages bring and that the job has itself: which of the two is loaded depends on who looks.
fn shadowed(install: &Install, input: &AdmitInput<'_>) -> Option<String> {
    let script = input.job.script.as_deref().and_then(Path::parent);
    let homes = script.into_iter().chain([input.job.cwd.as_path()]);
    let own: Vec<PathBuf> =
        homes.flat_map(|home| OWN.map(|place| absolute(home, Path::new(place)))).collect();
    let is_own = |name: &String| {
        own.iter().filter(|folder| !folder.starts_with(&install.place)).any(|folder| {
            let kind = |name: &str| input.scene.facts(&folder.join(name)).map(|facts| facts.kind);
            let package = kind(name) == Some(Kind::Directory)
                && input.scene.names(&folder.join(name)).iter().any(|file| file.ends_with(".py"));
            package || kind(&format!("{name}.py")) == Some(Kind::File)
        })
    };
    modules(install, input.proposal).into_iter().find(is_own)
}

/// The modules of Python that packages bring: the first name below `site-packages`.
fn modules(install: &Install, proposal: &Proposal) -> BTreeSet<String> {
    let files = proposal.changes.iter().filter(|change| install.holds(&change.path));
    let names = files.filter_map(|change| {
        let mut parts = change.path.components().map(|part| part.as_os_str().to_string_lossy());
        parts.find(|part| part == "site-packages")?;
        let first = parts.next()?;
        let name = first.split('.').next().unwrap_or_default().to_owned();
        let module = !first.ends_with("-info") && !first.ends_with(".pth") && !name.is_empty();
        module.then_some(name)
    });
    names.collect()
}
