//! # A branch that was renamed
//!
//! ## What it finds
//! A script names a branch that the repository no longer has, while the remote's default branch has another name; usually
//! `master` and `main`. The repository may have no work tree, and the branch a path behind it: `old:folder`.
//!
//! ## Why it fails
//! The branch was renamed where the repository comes from, and the old name was removed.
//!
//! ## Fix
//! The script names the branch that the remote now has as its default.
//!
//! ## Example
//! ```sh
//! git reset --hard origin/master
//! ```
//! ```sh
//! git reset --hard origin/main
//! ```
//!
//! ## Safety
//! Only when the repository's own files say which branch is the default now, and only in commands of git. The repository is
//! not changed.

use std::ops::Range;
use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::scene::absolute;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::python;
use crate::shell::{Script, Values, splice};
use crate::text;

rule!(GitBranch, "git_branch", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let old = case.faults().find_map(|fault| match fault {
        Fault::NoSuchReference { name } => Some(branch_of(name)),
        _ => None,
    });
    let Some(old) = old.filter(|name| !name.is_empty()) else { return Vec::new() };
    let Some(file) = case.failing_file() else { return Vec::new() };
    if file.language == Language::Python {
        return in_python(case, &old).into_iter().collect();
    }
    if !file.language.is_shell() {
        return Vec::new();
    }
    let script = Script::new(&file.text);
    let known = repositories(case, &script, file.folder())
        .iter()
        .find_map(|git| Some((default_branch(case, git, &old)?, git.clone())));
    let Some((new, place)) = cloned(case, &script, &file.path, &old).or(known) else {
        return Vec::new();
    };
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    let values: Vec<Range<usize>> = script
        .assignments()
        .map(|(_, value, _)| value)
        .filter(|v| script.get(v).trim_matches('"') == old)
        .collect();
    let commands = script
        .commands
        .iter()
        .filter(|command| script.name(command) == "git")
        .map(|command| command.span.clone());
    for span in commands.chain(values) {
        let source = script.get(&span).to_owned();
        for at in text::whole_words(&source, &old).collect::<Vec<_>>() {
            let start = span.start + at;
            parts.push((start..start + old.len(), new.clone()));
        }
    }
    let lines: Vec<String> = parts.iter().map(|(span, _)| script.line_of(span.start).to_string()).collect();
    let draft = Draft::new(
        "git_branch",
        format!("there is no branch {old} any more; the default branch is {new} now"),
        format!("name the branch {new}"),
    )
    .evidence(format!("{} says that the default branch is {new}", place.display()))
    .rewrite(&file, splice(&file.text, parts), format!("lines {}: {new} for {old}", lines.join(", ")));
    draft.done().into_iter().collect()
}

/// The branch in what git calls a name: of `origin/old`, `old:folder/file`, `old~2` and `old^{tree}`.
fn branch_of(name: &str) -> String {
    let name = name.trim_matches(['\'', '"', '.']);
    let name = name.split([':', '~', '^', '@']).next().unwrap_or(name);
    name.rsplit('/').next().unwrap_or(name).to_owned()
}

/// The git folder of a repository: `.git` in it, or itself where it has no work tree.
fn git_folder(case: &Case, folder: &Path) -> Option<PathBuf> {
    let inner = folder.join(".git");
    let has = |name: &str| case.scene.facts(&folder.join(name)).is_some();
    if case.scene.facts(&inner).is_some() {
        return Some(inner);
    }
    (has("HEAD") && has("objects")).then(|| folder.to_path_buf())
}

/// The branches of a git folder, loose and packed.
fn branches(case: &Case, git: &Path) -> Vec<String> {
    let packed = case.scene.read(&git.join("packed-refs"), 1 << 16).unwrap_or_default();
    let packed = String::from_utf8_lossy(&packed).into_owned();
    let named = packed.lines().filter_map(|line| Some(line.split_once(" refs/heads/")?.1.trim().to_owned()));
    case.scene.names(&git.join("refs/heads")).into_iter().chain(named).collect()
}

/// The same for a Python program that starts git: its literals that are the branch, or the branch of a remote.
fn in_python(case: &Case, old: &str) -> Option<Candidate> {
    for (file, module) in python::modules(case) {
        let literals =
            || module.nodes("string").into_iter().filter_map(|node| Some((node, module.string(node)?)));
        if !literals().any(|(_, text)| text == "git" || text.starts_with("git ")) {
            continue;
        }
        let home = file.folder().to_path_buf();
        let mut folders = vec![case.base(), home.clone()];
        folders.extend(case.scene.names(&home).into_iter().map(|name| home.join(name)).take(50));
        folders.dedup();
        let known = folders.iter().filter_map(|folder| git_folder(case, folder));
        let names: Vec<(String, PathBuf)> =
            known.filter_map(|git| Some((default_branch(case, &git, old)?, git))).collect();
        let (new, place) = names.first()?;
        // Two repositories that say different things decide nothing.
        if names.iter().any(|(other, _)| other != new) {
            return None;
        }
        let is_branch = |text: &str| {
            let rest = text.strip_prefix("origin/").unwrap_or(text).strip_prefix(old);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '~', '^']))
        };
        let parts: Vec<(Range<usize>, String)> = literals()
            .filter(|(_, text)| is_branch(text))
            .map(|(node, _)| (node.byte_range(), module.text_of(node).replacen(old, new, 1)))
            .collect();
        let line = python::line_of(&file.text, parts.first()?.0.start);
        return Draft::new(
            "git_branch",
            format!("there is no branch {old} any more; the default branch is {new} now"),
            format!("name the branch {new}"),
        )
        .evidence(format!("{} says that the default branch is {new}", place.display()))
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: {new} for {old}"))
        .done();
    }
    None
}

/// The git folders of the repositories that the script works in: of `-C` and `cd`, of its own folder, and of the
/// folders beside the script.
fn repositories(case: &Case, script: &Script<'_>, path: &Path) -> Vec<PathBuf> {
    let home = path.parent().unwrap_or(Path::new("/")).to_path_buf();
    let values = Values::new(case, script, &home);
    let mut folders: Vec<PathBuf> = Vec::new();
    for command in &script.commands {
        let words = script.words(command);
        let of_option = |pair: &&[&str]| matches!(pair.first(), Some(&"-C" | &"--git-dir"));
        let apart = words.windows(2).find(of_option).and_then(|pair| pair.get(1).copied());
        let given = apart.or_else(|| words.iter().find_map(|word| word.strip_prefix("--git-dir=")));
        let changed = (script.name(command) == "cd").then(|| words.get(1).copied()).flatten();
        folders.extend(
            given
                .or(changed)
                .and_then(|word| values.word(word))
                .map(|value| absolute(&case.base(), Path::new(&value))),
        );
    }
    folders.extend([case.base(), home.clone()]);
    folders.extend(case.scene.names(&home).into_iter().map(|name| home.join(name)).take(50));
    folders.dedup();
    folders.into_iter().filter_map(|folder| git_folder(case, &folder)).collect()
}

/// The default branch of a repository on this machine that the script clones, and where it is.
fn cloned(case: &Case, script: &Script<'_>, path: &Path, old: &str) -> Option<(String, PathBuf)> {
    let values = Values::new(case, script, path.parent().unwrap_or(Path::new("/")));
    script.commands.iter().filter(|command| script.name(command) == "git").find_map(|command| {
        let words = script.words(command);
        let at = words.iter().position(|word| *word == "clone")?;
        let texts = words.iter().skip(at + 1).filter_map(|word| values.word(word));
        texts.filter(|text| text.contains('/')).find_map(|text| {
            let place = case.find(Path::new(text.strip_prefix("file://").unwrap_or(&text)))?;
            let heads = [place.join("HEAD"), place.join(".git/HEAD")];
            let head = heads.iter().find_map(|head| case.scene.read(head, 1 << 12))?;
            let head = String::from_utf8(head).ok()?;
            let name = head.trim().strip_prefix("ref: refs/heads/")?.to_owned();
            (name != old).then_some((name, place))
        })
    })
}

/// The default branch of a repository's remote, if it is not the old name.
fn default_branch(case: &Case, git: &Path, old: &str) -> Option<String> {
    let read = |path: &Path| case.scene.read(path, 1 << 16).and_then(|bytes| String::from_utf8(bytes).ok());
    let config = read(&git.join("config")).unwrap_or_default();
    let remote = config.lines().find_map(|line| line.trim().strip_prefix("url = "));
    let head_of = |text: String, prefix: &str| {
        Some(text.trim().strip_prefix("ref: ")?.strip_prefix(prefix)?.to_owned())
    };
    // A remote on this machine says it itself; else what was fetched last, else the only other branch.
    let near = remote.filter(|url| !url.contains("://") && !url.contains('@')).and_then(|url| {
        let folder = git.parent()?.to_path_buf();
        let place = absolute(&folder, Path::new(url));
        let head = read(&place.join("HEAD")).or_else(|| read(&place.join(".git/HEAD")))?;
        head_of(head, "refs/heads/")
    });
    let fetched =
        || read(&git.join("refs/remotes/origin/HEAD")).and_then(|text| head_of(text, "refs/remotes/origin/"));
    let usual = || {
        let names = case.scene.names(&git.join("refs/remotes/origin"));
        ["main", "master", "trunk", "develop"]
            .into_iter()
            .find(|name| names.iter().any(|known| known == name) && *name != old)
            .map(str::to_owned)
    };
    // A repository without a work tree says itself which of its branches is the default.
    let own = || {
        let known = branches(case, git);
        let name = head_of(read(&git.join("HEAD"))?, "refs/heads/")?;
        let bare = git.file_name().is_some_and(|name| name != ".git");
        (bare && known.contains(&name) && known.iter().all(|known| known != old)).then_some(name)
    };
    // A repository without a remote has only its own branches.
    let local = || {
        let heads = case.scene.names(&git.join("refs/heads"));
        let has = |name: &str| heads.iter().any(|head| head == name);
        let mut found = ["main", "master", "trunk", "develop"].into_iter().filter(|name| has(name));
        let first = found.next().filter(|_| remote.is_none() && !has(old))?;
        found.next().is_none().then(|| first.to_owned())
    };
    own().or(near).or_else(fetched).filter(|name| name != old).or_else(usual).or_else(local)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(scene: TestScene) -> TestCase {
        let text = "git -C site fetch origin\ngit -C site checkout -q master\ngit -C site reset --hard origin/master # master\n";
        TestCase::new("x.sh", text, scene)
            .fault(Fault::NoSuchReference { name: "origin/master".into() })
            .at(3)
    }

    #[test]
    fn names_the_default_branch_of_the_remote() {
        let scene = TestScene::new()
            .file("site/.git/config", "[remote \"origin\"]\n\turl = ../origin.git\n")
            .file("origin.git/HEAD", "ref: refs/heads/main\n");
        assert_eq!(
            case(scene).healed(&GitBranch),
            "git -C site fetch origin\ngit -C site checkout -q main\ngit -C site reset --hard origin/main # master\n"
        );
        let scene = TestScene::new()
            .file("site/.git/config", "url = https://x/y\n")
            .file("site/.git/refs/remotes/origin/trunk", "0\n");
        assert!(case(scene).healed(&GitBranch).contains("origin/trunk"));
    }

    #[test]
    fn names_the_branch_in_programs_that_start_git() {
        let text =
            "import subprocess\nbase = 'master'\nsubprocess.check_output(['git', 'diff', base], cwd='up')\n";
        let case = |scene: TestScene| {
            TestCase::new("x.py", text, scene).fault(Fault::NoSuchReference { name: "master".into() }).at(3)
        };
        let scene =
            || TestScene::new().file("up/.git/config", "[core]\n").file("up/.git/refs/heads/main", "0\n");
        assert_eq!(case(scene()).healed(&GitBranch), text.replace("'master'", "'main'"));
        assert!(case(scene().file("up/.git/refs/heads/develop", "0\n")).silent(&GitBranch));
        assert!(case(scene().file("up/.git/refs/heads/master", "0\n")).silent(&GitBranch));
    }

    #[test]
    fn asks_the_repository_that_is_cloned() {
        let ask = |head: &str| {
            let text = "B=master\ngit clone -q --branch \"$B\" \"file://$PWD/up\" copy\n";
            TestCase::new("x.sh", text, TestScene::new().file("up/.git/HEAD", head))
                .fault(Fault::NoSuchReference { name: "master".into() })
                .at(2)
        };
        assert!(
            ask("ref: refs/heads/trunk\n")
                .healed(&GitBranch)
                .starts_with("B=trunk\ngit clone -q --branch \"$B\"")
        );
        assert!(ask("ref: refs/heads/master\n").silent(&GitBranch));
    }

    #[test]
    fn asks_a_mirror_that_has_no_work_tree() {
        let text = "R=docs.git\ngit --git-dir=\"$R\" archive devel:pages/en | tar -xf -\ngit --git-dir=\"$R\" log -1 devel~1\n";
        let ask = |refs: &str| {
            let scene = TestScene::new()
                .file("docs.git/HEAD", "ref: refs/heads/trunk\n")
                .folder("docs.git/objects")
                .file("docs.git/config", "[remote \"origin\"]\n\turl = /gone\n")
                .file("docs.git/packed-refs", refs);
            TestCase::new("x.sh", text, scene)
                .fault(Fault::NoSuchReference { name: "devel:pages/en".into() })
                .at(2)
        };
        let refs = "# pack-refs with: peeled\n0123 refs/heads/trunk\n4567 refs/heads/draft\n";
        assert_eq!(ask(refs).healed(&GitBranch), text.replace("devel", "trunk"));
        assert!(ask("0123 refs/heads/trunk\n4567 refs/heads/devel\n").silent(&GitBranch));
        assert!(ask("4567 refs/heads/draft\n").silent(&GitBranch));
    }

    #[test]
    fn leaves_unknown_repositories_alone() {
        assert!(case(TestScene::new()).silent(&GitBranch));
    }
}
