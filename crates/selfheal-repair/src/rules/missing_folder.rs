//! # A folder that the job writes into is missing
//!
//! ## What it finds
//! A shell script writes, copies or moves into a folder that does not exist: by `cp`, `mv`, `install`, `ln`, `rsync`,
//! `tar`, `tee`, `touch`, `sort -o` or a redirection, also behind `xargs` and `find -exec`, or inside of a program of awk.
//!
//! ## Why it fails
//! None of these makes the folders above the file that it writes. The folder was never made on this machine, was cleaned
//! away, or has a date in its name that is new.
//!
//! ## Fix
//! `mkdir -p` for that folder right before it is needed: before the loop when its name does not change in it.
//!
//! ## Example
//! ```sh
//! target="archive/$year/$day.txt"
//! cp items.txt "$target"
//! ```
//! ```sh
//! target="archive/$year/$day.txt"
//! mkdir -p "${target%/*}"
//! cp items.txt "$target"
//! ```
//!
//! ## Safety
//! Only folders that are written into, never ones that are read. Only below the job's own folders or directly below a
//! folder that exists. Never on a mount that is not there, below `/mnt` or `/media`, or where the script speaks of a
//! mount. A file in the place of the folder still fails the job.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::verification::{Check, Expect, SceneEdit};

use crate::candidate::{Candidate, Draft, removed, written};
use crate::case::{Case, ScriptFile};
use crate::folders::{Destination, destinations, is_made, may_be_made};
use crate::shell::{Script, Values, splice};

rule!(MissingFolder, "missing_folder", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = missing_folders(case);
    if missing.is_empty() {
        return Vec::new();
    }
    case.files()
        .iter()
        .filter(|file| file.language.is_shell())
        .filter_map(|file| in_file(case, file, &missing))
        .collect()
}

/// The folders, absolute, that the faults show as missing: those above a path that could not be written.
fn missing_folders(case: &Case) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for fault in case.faults() {
        let Fault::NoSuchPath { path } = fault else { continue };
        let ends = path.to_string_lossy().ends_with('/');
        for place in case.places(path) {
            let folder = if ends { Some(place.as_path()) } else { place.parent() };
            let gone = |folder: &&Path| case.scene.facts(folder).is_none();
            folders.extend(folder.filter(gone).map(Path::to_path_buf));
            // `mv a b missing` names the folder itself.
            folders.extend(Some(place.clone()).filter(|place| gone(&place.as_path())));
        }
    }
    folders
}

fn in_file(case: &Case, file: &ScriptFile, missing: &[PathBuf]) -> Option<Candidate> {
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    let line = case.line_in(file);
    let fits = |destination: &&Destination| match &destination.place {
        Some(place) => missing.contains(place),
        None => line.is_some_and(|line| at_line(&script, destination, line)),
    };
    let all = destinations(case, &script, &values);
    let mut wanted: Vec<&Destination> = all.iter().filter(fits).collect();
    wanted.retain(|destination| may_be_made(case, &script, destination));
    wanted.retain(|destination| !is_made(&script, &destination.word, destination.before));
    wanted.sort_by_key(|destination| destination.before);
    let mut words: Vec<String> = Vec::new();
    let mut parts = Vec::new();
    for destination in &wanted {
        // Made once before the first use in this place of the script; a later use finds it.
        if !words.contains(&destination.word) {
            words.push(destination.word.clone());
            parts.push(script.put_before(destination.before, &format!("mkdir -p {}", destination.word)));
        }
    }
    let first = wanted.first()?;
    let at = script.line_of(first.before);
    let shown = first.place.as_ref().map_or(first.word.clone(), |place| place.to_string_lossy().into_owned());
    let draft = Draft::new(
        "missing_folder",
        format!("line {} writes into {shown}, which does not exist", line.unwrap_or(at)),
        "make the folder right before it is written into",
    )
    .evidence(format!("{shown} does not exist"))
    .rewrite(file, splice(&file.text, parts), format!("line {at}: make {} first", words.join(" and ")));
    let draft = match &first.place {
        Some(place) => scenarios(draft, case, place),
        None => draft,
    };
    draft.done()
}

fn at_line(script: &Script<'_>, destination: &Destination, line: u32) -> bool {
    script.commands.get(destination.command).is_some_and(|command| {
        let first = script.line_of(script.statement(command));
        script.covers(command, line) || first == line
    })
}

fn scenarios(draft: Draft, case: &Case, place: &Path) -> Draft {
    let made = vec![SceneEdit::MakeFolder { path: place.to_path_buf() }];
    let draft = draft
        .scenario("folder-missing", format!("{} is missing", place.display()), Expect::Succeeds, Vec::new())
        .checked(vec![Check::Exists { path: place.to_path_buf() }])
        .scenario("folder-present", format!("{} is there", place.display()), Expect::SameAsOriginal, made);
    if !case.owns(place) {
        return draft;
    }
    let blocked = vec![removed(place), written(place, "a file in the way\n")];
    draft.scenario("file-in-the-way", format!("{} is a file", place.display()), Expect::Fails, blocked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    #[test]
    fn makes_the_folder_of_a_variable_that_holds_a_path() {
        let text = "set -e\nday=$(sed -n 1p day)\ntarget=\"archive/${day:0:4}/$day.txt\"\ncp items.txt \"$target\"\nmv items.txt x\n";
        let case = TestCase::new("x.sh", text, TestScene::new().file("items.txt", "a").folder("archive"))
            .fault(no_such("archive/2024/2024-05-02.txt"))
            .at(4);
        assert_eq!(
            case.healed(&MissingFolder),
            text.replace("cp items", "mkdir -p \"${target%/*}\"\ncp items")
        );
    }

    #[test]
    fn makes_the_folder_before_the_loop_and_for_redirections_behind_it() {
        let text = "OUT=${OUT:-reports/daily}\nwhile read -r name; do\n  wc -l \"$name\" > \"$OUT/$name.txt\"\ndone < list\n";
        let case = TestCase::new("x.sh", text, TestScene::new()).fault(no_such("reports/daily/a.txt")).at(3);
        assert_eq!(case.healed(&MissingFolder), text.replace("while", "mkdir -p \"$OUT\"\nwhile"));
        let text = "for f in a b; do\n  echo \"$f\"\ndone > out/list\n";
        let case = TestCase::new("x.sh", text, TestScene::new()).fault(no_such("out/list")).at(3);
        assert_eq!(case.healed(&MissingFolder), format!("mkdir -p out\n{text}"));
    }

    #[test]
    fn makes_it_inside_of_the_function_and_inside_of_the_loop_that_sets_its_name() {
        let text = "keep() {\n    local to=\"store/$1\"\n    install -m 640 \"$2\" \"$to/\"\n}\nfor k in a b; do\n    keep $k x\ndone\n";
        let case = TestCase::new("x.sh", text, TestScene::new()).fault(no_such("store/a/")).at(3);
        assert_eq!(
            case.healed(&MissingFolder),
            text.replace("    install", "    mkdir -p \"$to\"\n    install")
        );
        let text = "while read -r y; do cp x \"years/$y/x\"; done < l\n";
        let case = TestCase::new("x.sh", text, TestScene::new()).fault(no_such("years/2024/x")).at(1);
        assert_eq!(case.healed(&MissingFolder), text.replace("do cp", "do mkdir -p \"years/$y\"; cp"));
    }

    #[test]
    fn sees_writers_behind_xargs_find_and_in_awk() {
        let text = "TO=got/all\nfind in -name '*.x' -print0 | xargs -0 -I{} cp {} \"$TO/\"\n";
        let case = TestCase::new("x.sh", text, TestScene::new()).fault(no_such("got/all/")).at(2);
        assert_eq!(case.healed(&MissingFolder), text.replace("find", "mkdir -p \"$TO\"\nfind"));
        let text = "find in -name '*.x' -exec mv -t kept/x {} +\n";
        let case = TestCase::new("x.sh", text, TestScene::new()).fault(no_such("kept/x")).at(1);
        assert_eq!(case.healed(&MissingFolder), format!("mkdir -p kept/x\n{text}"));
        let text = "to=parts/$(cat id)\nawk -v to=\"$to\" '{ print $2 > (to \"/\" $1) }' in\nsort in > \"$to/all\"\n";
        let case = TestCase::new("x.sh", text, TestScene::new()).fault(no_such("parts/a/b")).at(2);
        assert_eq!(case.healed(&MissingFolder), text.replace("awk -v", "mkdir -p \"$to\"\nawk -v"));
        let text = "awk '{ print > \"by/day/\" $1 }' in\n";
        let case = TestCase::new("x.sh", text, TestScene::new()).fault(no_such("by/day/3")).at(1);
        assert_eq!(case.healed(&MissingFolder), format!("mkdir -p by/day\n{text}"));
        let text = "ls in | xargs -I{} cp in/{} {}.bak\nawk '$1 > 3' got/x\n";
        assert!(
            TestCase::new("x.sh", text, TestScene::new())
                .fault(no_such("got/x"))
                .at(2)
                .silent(&MissingFolder)
        );
    }

    #[test]
    fn leaves_missing_inputs_mounts_and_far_places_alone() {
        let missing = |text: &str, path: &str, scene: TestScene| {
            TestCase::new("x.sh", text, scene).fault(no_such(path)).at(1).silent(&MissingFolder)
        };
        assert!(missing("cp in/a b\n", "in/a", TestScene::new()));
        assert!(missing("sort < in/a\n", "in/a", TestScene::new()));
        assert!(missing("cp a /mnt/nas/a\n", "/mnt/nas/a", TestScene::new().folder("/mnt")));
        assert!(missing(
            "cp a /backup/daily/a\n",
            "/backup/daily/a",
            TestScene::new().folder("/backup").unmounted("/backup")
        ));
        assert!(missing("cp a /opt/x/y/a\n", "/opt/x/y/a", TestScene::new().folder("/opt")));
        assert!(missing("D=vault # the tape's mount\ncp a $D/a\n", "vault/a", TestScene::new()));
        assert!(missing("cp a out/a\n", "out/a", TestScene::new().file("out", "a file")));
        assert!(missing("cp a mnt/disk/a\n", "mnt/disk/a", TestScene::new()));
        assert!(missing("cp a off/x/a # x\n# the disk is mounted at off/x\n", "off/x/a", TestScene::new()));
        let text = "# a missing out/ means that the stage before has not run\ncp a out/a\n";
        assert!(
            TestCase::new("x.sh", text, TestScene::new())
                .fault(no_such("out/a"))
                .at(2)
                .silent(&MissingFolder)
        );
        let scene = TestScene::new().file("x.conf", "# the disk, mounted by hand\nTO=usb/x\n");
        let text = ". ./x.conf\ncp a \"$TO/a\"\n";
        assert!(TestCase::new("x.sh", text, scene).fault(no_such("usb/x/a")).at(2).silent(&MissingFolder));
    }
}
