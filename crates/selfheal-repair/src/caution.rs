//! What no rule may do, whatever its evidence: the last look at every candidate before it is proposed.
//!
//! A rule sees the kind of a fault; these checks see what a wrong guess would cost. A folder that stands for a mount is
//! never made, a folder whose absence means something is not made, a name with another unit does not stand for the same
//! number, a tool or file out of a folder of tests, examples or old copies is not the real one, an option that deletes or
//! forces is never a spelling of another one, and a column under a new name is not compared with what it never holds.

use std::path::Path;

use selfheal_core::proposal::{FileChange, Proposal};
use selfheal_core::scene::Kind;
use selfheal_syntax::diff;

use crate::case::Case;
use crate::compared;
use crate::units::{self, Change};

/// Words by which text makes a folder, in the languages that there are rules for.
const MAKES_FOLDERS: &[&str] = &["mkdir", "makedirs", "make_path", "mkdirSync", "install -d"];

/// Words by which a shell script goes on with nothing to do.
const PASSES_OVER: &[&str] = &["continue", "nullglob", "exit 0", "return 0"];

/// Remarks by which people say that something missing has a meaning.
const MEANS_SOMETHING: &[&str] = &[
    "must exist",
    "must be there",
    "has to be there",
    "does not exist",
    "not run yet",
    "has not run",
    "stop here",
    "abort",
    "never create",
    "do not create",
    "don't create",
    "not created here",
    "missing",
];

/// Folders that hold what only looks like the real thing: tests, samples, old copies.
const NOT_THE_REAL_THING: &[&str] = &[
    "test",
    "tests",
    "testing",
    "fake",
    "fakes",
    "mock",
    "mocks",
    "stub",
    "stubs",
    "fixture",
    "fixtures",
    "example",
    "examples",
    "sample",
    "samples",
    "template",
    "templates",
    "old",
    "attic",
    "backup",
    "backups",
    "archive",
    "archived",
    "archives",
    "deprecated",
    "obsolete",
    "trash",
    "node_modules",
    "site-packages",
];

/// Parts of an option's name that make it another, stronger one.
const STRONGER: &[&str] =
    &["all", "force", "delete", "purge", "yes", "recursive", "hard", "remove", "wipe", "overwrite"];

/// Files beside the script that are read for what people say.
const MOST_TEXTS: usize = 30;
/// The largest of them, in bytes.
const LARGEST_TEXT: usize = 16 * 1024;
/// Names of a change that are compared.
const MOST_NAMES: usize = 100;
/// Lines above a place in which a remark on it stands.
const REMARK_LINES: usize = 4;

/// Whether a proposal is free of what no rule may do.
pub(crate) fn allows(case: &Case, proposal: &Proposal) -> bool {
    proposal.changes.iter().all(|change| {
        let before = text(change.before.as_deref());
        let after = text(change.after.as_deref());
        let hunks = diff::hunks(&before, &after);
        let added: Vec<&str> = hunks.iter().flat_map(|hunk| hunk.added.iter().map(String::as_str)).collect();
        let makes = |line: &&&str| MAKES_FOLDERS.iter().any(|word| line.contains(word));
        let made = hunks.iter().any(|hunk| hunk.added.iter().any(|line| makes(&&line.as_str())));
        let passes = added.iter().any(|line| PASSES_OVER.iter().any(|word| line.contains(word)));
        let mounts = (made || passes) && speaks_of_mounts(case, &before);
        let meant = made && means_something(case, change, &before);
        let removed: Vec<&str> =
            hunks.iter().flat_map(|hunk| hunk.removed.iter().map(String::as_str)).collect();
        !mounts
            && !meant
            && !another_unit(&removed, &added)
            && !takes_an_imitation(&before, &added)
            && !takes_a_stronger_option(&before, &added)
            && !compared::with_what_never_comes(case, &before, &added)
            && !compared::reads_a_reference(case, &before, &added)
    })
}

fn text(content: Option<&[u8]>) -> String {
    String::from_utf8_lossy(content.unwrap_or_default()).into_owned()
}

/// Whether the script, or a text beside it, speaks of mounts: nobody but a person knows then which folder is one, and
/// whether an empty one is only not mounted.
fn speaks_of_mounts(case: &Case, script: &str) -> bool {
    let says = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase).any(|word| {
            matches!(
                word.as_str(),
                "mount" | "mounts" | "mounted" | "mountpoint" | "unmounted" | "automount" | "mnt" | "media"
            )
        })
    };
    says(script) || texts_beside(case).iter().any(|text| says(text))
}

/// The small texts in the folders of the job: what people wrote for people, and settings.
fn texts_beside(case: &Case) -> Vec<String> {
    let base = case.base();
    let home = case.job.script.as_deref().and_then(Path::parent).unwrap_or(&base).to_path_buf();
    let mut folders = vec![base];
    if !folders.contains(&home) {
        folders.push(home);
    }
    let mut out = Vec::new();
    for folder in folders {
        for name in case.scene.names(&folder).into_iter().take(MOST_TEXTS) {
            let lower = name.to_lowercase();
            let speaks = ["readme", "notes", "runbook"].iter().any(|word| lower.starts_with(word))
                || [".md", ".txt", ".conf", ".cfg", ".ini", ".env", ".rst"]
                    .iter()
                    .any(|end| lower.ends_with(end));
            let path = folder.join(&name);
            let file = case.scene.facts(&path).is_some_and(|facts| facts.kind == Kind::File);
            if speaks && file {
                out.extend(case.scene.read(&path, LARGEST_TEXT).map(|bytes| text(Some(&bytes))));
            }
        }
    }
    out
}

/// Whether a remark above the failing line says what a missing thing means there.
fn means_something(case: &Case, change: &FileChange, before: &str) -> bool {
    let place = case.report.location.as_ref().filter(|place| place.file == change.path);
    let Some(line) = place.map(|place| place.line as usize) else { return false };
    let lines: Vec<&str> = before.lines().collect();
    let near = lines.iter().take(line).skip(line.saturating_sub(REMARK_LINES + 1));
    near.filter_map(|line| line.split_once('#').or_else(|| line.split_once("//")))
        .map(|(_, remark)| remark.to_lowercase())
        .any(|remark| MEANS_SOMETHING.iter().any(|words| remark.contains(words)))
}

/// Whether new text names a path through a folder of tests, samples or old copies, or of a year.
fn takes_an_imitation(before: &str, added: &[&str]) -> bool {
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    let year =
        |part: &str| part.len() == 4 && part.starts_with("20") && part.bytes().all(|b| b.is_ascii_digit());
    added
        .iter()
        .flat_map(|line| line.split(|c: char| !is_path(c)))
        .filter(|word| word.contains('/') && !before.contains(*word))
        .flat_map(|path| path.split('/'))
        .any(|part| {
            (year(part) || NOT_THE_REAL_THING.contains(&part.to_lowercase().as_str()))
                && !before.contains(part)
        })
}

/// Whether a name became one with another unit, and the number is taken as it comes.
fn another_unit(removed: &[&str], added: &[&str]) -> bool {
    let names = |lines: &[&str]| -> Vec<String> {
        let words = lines
            .iter()
            .flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')));
        words.filter(|word| word.len() > 3).map(str::to_owned).take(MOST_NAMES).collect()
    };
    let (old, new) = (names(removed), names(added));
    let gone = old.iter().filter(|name| !new.contains(name));
    let came: Vec<&String> = new.iter().filter(|name| !old.contains(name)).collect();
    let times = |lines: &[&str], number: &str| -> usize {
        lines.iter().map(|line| crate::text::whole_words(line, number).count()).sum()
    };
    gone.flat_map(|old| came.iter().map(move |new| (old, *new))).any(|(old, new)| {
        match units::renamed(old, new) {
            Change::None => false,
            Change::Divided(by) | Change::Times(by) => {
                let by = by.to_string();
                times(added, &by) <= times(removed, &by)
            }
            Change::Unknown => true,
        }
    })
}

/// Whether new text has an option that does more than the one it replaces could.
fn takes_a_stronger_option(before: &str, added: &[&str]) -> bool {
    let is_option = |c: char| c.is_ascii_alphanumeric() || c == '-';
    added
        .iter()
        .flat_map(|line| line.split(|c: char| !is_option(c)))
        .filter(|word| word.starts_with("--") && !before.contains(*word))
        .flat_map(|word| word.split('-'))
        .any(|part| STRONGER.contains(&part))
}

#[cfg(test)]
mod tests {
    use selfheal_core::fault::Fault;
    use selfheal_core::proposal::{Risk, Source};

    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn allowed(scene: TestScene, before: &str, after: &str) -> bool {
        let case = TestCase::new("x.sh", before, scene)
            .fault(Fault::NoSuchPath { path: "out/a".into() })
            .at(before.lines().count() as u32);
        let change = FileChange {
            path: case.case().job.script.clone().unwrap(),
            before: Some(before.into()),
            after: Some(after.into()),
            mode: None,
        };
        let proposal = Proposal {
            source: Source::Given,
            changes: vec![change],
            summary: Vec::new(),
            risk: Risk::Low,
            changes_meaning: false,
            rollback: String::new(),
            installs: Vec::new(),
        };
        allows(&case.case(), &proposal)
    }

    #[test]
    fn folders_are_made_only_where_nobody_speaks_of_mounts() {
        let (before, after) = ("D=out\ncp a \"$D/\"\n", "D=out\nmkdir -p \"$D\"\ncp a \"$D/\"\n");
        assert!(allowed(TestScene::new(), before, after));
        assert!(!allowed(TestScene::new().file("README", "out is mounted by hand\n"), before, after));
        assert!(!allowed(
            TestScene::new().file("job.conf", "# the USB disk, mounted\nD=out\n"),
            before,
            after
        ));
        let remark = format!("# the tape's mount\n{before}");
        assert!(!allowed(TestScene::new(), &remark, &format!("# the tape's mount\n{after}")));
        assert!(allowed(TestScene::new().file("README", "the amount is in out\n"), before, after));
    }

    #[test]
    fn a_folder_whose_absence_means_something_is_not_made() {
        let before = "# a missing out/ means that the stage before has not run\ncp a out/\n";
        assert!(!allowed(TestScene::new(), before, &before.replace("cp a", "mkdir -p out\ncp a")));
    }

    #[test]
    fn imitations_are_not_taken_for_the_real_thing() {
        let before = "cardcharge 1\n";
        assert!(!allowed(TestScene::new(), before, "PATH=$PATH:tests/fakes\ncardcharge 1\n"));
        assert!(allowed(TestScene::new(), before, "PATH=$PATH:tools/bin\ncardcharge 1\n"));
        assert!(!allowed(TestScene::new(), "cat data/r.csv\n", "cat data/archive/2019/r.csv\n"));
        assert!(allowed(TestScene::new(), "cat tests/a\n", "cat tests/b\n"));
    }

    #[test]
    fn a_number_is_not_taken_in_another_unit() {
        let before = "x = r['wait_minutes'] * 2\n";
        assert!(!allowed(TestScene::new(), before, "x = r['wait_seconds'] * 2\n"));
        assert!(allowed(TestScene::new(), before, "x = (r['wait_seconds'] / 60) * 2\n"));
        assert!(allowed(TestScene::new(), before, "x = r['wait_minutes_total'] * 2\n"));
        assert!(!allowed(TestScene::new(), "awk '{ n += $size_kb }'\n", "awk '{ n += $size_bytes }'\n"));
    }

    #[test]
    fn a_stronger_option_is_never_a_spelling() {
        assert!(!allowed(TestScene::new(), "tool --clean x\n", "tool --clean-all x\n"));
        assert!(allowed(TestScene::new(), "tool --tsv x\n", "tool --output=tsv x\n"));
    }
}
