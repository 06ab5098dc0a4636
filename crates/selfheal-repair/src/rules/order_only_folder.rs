//! # A recipe writes into a folder that nothing makes
//!
//! ## What it finds
//! A recipe of a makefile writes a target below a folder that is not there. Either the makefile has a rule for the folder
//! that nobody asks for, or none.
//!
//! ## Why it fails
//! make makes only what something depends on. After `make clean`, or with several jobs at once, the recipe runs before the
//! folder is there.
//!
//! ## Fix
//! The targets below the folder get it as an order-only prerequisite (`| build`), where the makefile has a rule for it; else
//! their recipes make the folder first.
//!
//! ## Example
//! ```make
//! build/%.txt: %.in
//! ```
//! ```make
//! build/%.txt: %.in | build
//! ```
//!
//! ## Safety
//! Only a folder of the job's own, never one on a mount. An order-only prerequisite makes no target out of date.

use std::path::Path;

use selfheal_core::edit::LineEdit;
use selfheal_core::fault::Fault;
use selfheal_core::scene::absolute;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::folders::place_may_be_made;
use crate::text;

rule!(OrderOnlyFolder, "order_only_folder", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let files = case.files().into_iter().chain(beside(case));
    let Some(file) = files.into_iter().find(|file| file.language == Language::Make) else {
        return Vec::new();
    };
    case.faults().filter_map(missing).find_map(|folder| mended(case, &file, &folder)).into_iter().collect()
}

fn beside(case: &Case) -> Option<ScriptFile> {
    ["GNUmakefile", "makefile", "Makefile"].iter().find_map(|name| case.file(&case.job.cwd.join(name)))
}

/// The folder of a file that could not be made, relative as the makefile writes it.
fn missing(fault: &Fault) -> Option<String> {
    let path = match fault {
        Fault::NoSuchPath { path } => path.to_string_lossy().into_owned(),
        Fault::Other { message } => {
            let (_, rest) = message.split_once("cannot create ")?;
            rest.split(':').next()?.trim().trim_matches(['\'', '"']).to_owned()
        }
        _ => return None,
    };
    let folder = Path::new(&path).parent()?.to_string_lossy().into_owned();
    (!folder.is_empty() && !path.starts_with('/')).then_some(folder)
}

fn mended(case: &Case, file: &ScriptFile, folder: &str) -> Option<Candidate> {
    let place = absolute(&case.job.cwd, Path::new(folder));
    if case.scene.facts(&place).is_some() || !place_may_be_made(case, &place) {
        return None;
    }
    let has_rule = file.text.lines().any(|line| {
        rule_of(line).is_some_and(|(targets, _)| {
            let targets = expanded(&file.text, targets);
            targets.split_whitespace().any(|target| target.trim_end_matches('/') == folder)
        })
    });
    let mut below = false;
    let edits: Vec<LineEdit> = text::edits_by_line(&file.text, |_, line| {
        if let Some((targets, needs)) = rule_of(line) {
            let inside = |target: &str| Path::new(target).parent() == Some(Path::new(folder));
            below = expanded(&file.text, targets).split_whitespace().any(inside);
            let asked = needs.contains('|') || needs.trim_end().ends_with('\\') || needs.contains(';');
            return (below && has_rule && !asked).then(|| format!("{} | {folder}", line.trim_end()));
        }
        let first = line.starts_with('\t') && std::mem::take(&mut below);
        (first && !has_rule).then(|| format!("\t@mkdir -p $(@D)\n{line}"))
    });
    let lines = text::lines_in_words(&edits);
    let strategy = if has_rule { "ask for the folder first" } else { "make the folder in the recipe" };
    Draft::new(
        "order_only_folder",
        format!("a recipe writes into {folder}, which is not there, and nothing asks for it"),
        strategy,
    )
    .evidence(format!("{folder} does not exist"))
    .edit(file, &edits, format!("{lines}: {folder} is there first"))
    .done()
}

/// The targets and the prerequisites of a line that begins a rule.
fn rule_of(line: &str) -> Option<(&str, &str)> {
    let (targets, needs) = line.split_once(':')?;
    let plain = !line.starts_with(['\t', ' ', '#', '.']) && !targets.contains('=') && !targets.contains('#');
    (plain && !needs.starts_with('=') && !needs.starts_with(":=")).then_some((targets, needs))
}

/// Targets with the makefile's plain variables put in.
fn expanded(makefile: &str, targets: &str) -> String {
    let mut out = targets.to_owned();
    for line in makefile.lines().filter(|line| !line.starts_with('\t')) {
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.trim_end_matches([':', '?']).trim();
        if !name.is_empty() && name.chars().all(text::is_name) && !value.contains('$') {
            out = out
                .replace(&format!("$({name})"), value.trim())
                .replace(&format!("${{{name}}}"), value.trim());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    fn case(makefile: &str) -> TestCase {
        TestCase::new("Makefile", makefile, TestScene::new()).fault(no_such("build/a.txt")).at(2)
    }

    #[test]
    fn asks_for_the_folder_where_there_is_a_rule_for_it() {
        assert_eq!(
            case("all: build/a.txt\nbuild/%.txt: %.in\n\ttr a b < $< > $@\nbuild:\n\tmkdir build\n")
                .healed(&OrderOnlyFolder),
            "all: build/a.txt\nbuild/%.txt: %.in | build\n\ttr a b < $< > $@\nbuild:\n\tmkdir build\n"
        );
    }

    #[test]
    fn makes_the_folder_where_there_is_none() {
        assert_eq!(
            case("OUT := build\n$(OUT)/a.txt: a.in\n\tsort $< > $@\n\ttrue\nx: y\n\ttouch x\n")
                .healed(&OrderOnlyFolder),
            "OUT := build\n$(OUT)/a.txt: a.in\n\t@mkdir -p $(@D)\n\tsort $< > $@\n\ttrue\nx: y\n\ttouch x\n"
        );
    }

    #[test]
    fn leaves_folders_that_are_there_and_sources_alone() {
        let there =
            TestCase::new("Makefile", "build/a.txt: a\n\tcat b/x > $@\n", TestScene::new().folder("build"));
        assert!(there.fault(no_such("build/a.txt")).silent(&OrderOnlyFolder));
        assert!(case("all: x\nx: y\n\tcat build/a.txt > x\n").silent(&OrderOnlyFolder));
    }
}
