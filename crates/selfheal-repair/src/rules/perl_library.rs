//! # Perl no longer looks in the current folder
//!
//! ## What it finds
//! A Perl program does not find a module, or a file that it runs with `do` or `require`, that lies beside it (or in `lib`).
//!
//! ## Why it fails
//! Since version 5.26 Perl does not look in `.` for modules, since anybody might have put them there.
//!
//! ## Fix
//! `use lib` with the folder of the program itself, and that folder before the names that `do` and `require` are given.
//!
//! ## Example
//! ```perl
//! use Tariff;
//! do 'settings.pl';
//! ```
//! ```perl
//! use FindBin;
//! use lib $FindBin::Bin;
//! use Tariff;
//! do "$FindBin::Bin/settings.pl";
//! ```
//!
//! ## Safety
//! Only files that do lie beside the program; the current folder itself is not searched again.

use std::path::Path;

use selfheal_core::edit::LineEdit;
use selfheal_core::fault::Fault;
use selfheal_core::scene::Kind;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::text;

rule!(PerlLibrary, "perl_library", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::MissingModule { name } => Some(name.replace("::", "/")),
        Fault::NoSuchPath { path } => Some(path.to_string_lossy().into_owned()),
        _ => None,
    });
    let scripts = case.script.cloned().into_iter().chain(case.files());
    let Some(file) = scripts
        .into_iter()
        .find(|file| file.language == Language::Perl && file.path.extension().is_none_or(|e| e != "pm"))
    else {
        return Vec::new();
    };
    let Some(name) = missing else { return Vec::new() };
    let home = file.folder();
    let stem = name.trim_end_matches(".pm");
    let module = ["", "lib", "../lib"].into_iter().find(|place| {
        case.scene
            .facts(&selfheal_core::scene::absolute(&home.join(place), Path::new(&format!("{stem}.pm"))))
            .is_some()
    });
    let beside = runs_beside(case, home, &file.text);
    let Some(place) =
        module.or_else(|| beside.iter().any(|other| name.ends_with(other.as_str())).then_some(""))
    else {
        return Vec::new();
    };
    let edits = edits(case, &file, place, module.is_some(), &beside);
    let draft = Draft::new(
        "perl_library",
        format!("{name} lies beside the program, where perl does not look any more"),
        "look in the program's own folder",
    )
    .evidence(format!("{name} is in {}", home.display()))
    .edit(&file, &edits, format!("{}: the program's own folder", text::lines_in_words(&edits)));
    draft.done().into_iter().collect()
}

/// The files beside the program that it runs by their bare names.
fn runs_beside(case: &Case, home: &Path, program: &str) -> Vec<String> {
    let names = program.lines().filter_map(bare_name).map(|(_, name)| name.to_owned());
    names.filter(|name| from_home(case, home, name).is_some()).collect()
}

/// A file that a program names, as seen from the program's own folder: it lies there, or where the job runs.
fn from_home(case: &Case, home: &Path, name: &str) -> Option<String> {
    let there = |path: &Path| case.scene.facts(path).is_some_and(|facts| facts.kind == Kind::File);
    if there(&home.join(name)) {
        return Some(name.to_owned());
    }
    let path = selfheal_core::scene::absolute(&case.job.cwd, Path::new(name));
    if !there(&path) || !case.owns(&path) {
        return None;
    }
    if let Ok(rest) = path.strip_prefix(home) {
        return Some(rest.to_string_lossy().into_owned());
    }
    let above = home.strip_prefix(&case.job.cwd).ok()?.components().count();
    Some(format!("{}{name}", "../".repeat(above)))
}

/// The file name, relative and as it is, that `do` or `require` is given on a line: its place with the quotes, and the name.
fn bare_name(line: &str) -> Option<(std::ops::Range<usize>, &str)> {
    for word in ["do ", "require "] {
        let starts: Vec<usize> = text::whole_words(line, word.trim_end()).collect();
        for start in starts {
            let at = start + word.len();
            let rest = line.get(at..)?;
            let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let Some(quote) = quote.filter(|_| line.get(..start).is_some_and(|before| !before.contains('#')))
            else {
                continue;
            };
            let inner = rest.get(1..)?.split(quote).next()?;
            if !inner.is_empty() && !inner.starts_with('/') && !inner.contains(['$', '@']) {
                return Some((at..at + inner.len() + 2, inner));
            }
        }
    }
    None
}

fn edits(case: &Case, file: &ScriptFile, place: &str, module: bool, beside: &[String]) -> Vec<LineEdit> {
    let mut edits = text::edits_by_line(&file.text, |_, line| {
        let (span, name) = bare_name(line).filter(|(_, name)| beside.iter().any(|other| other == name))?;
        let mut out = line.to_owned();
        let place = from_home(case, file.folder(), name)?;
        out.replace_range(span, &format!("\"$FindBin::Bin/{place}\""));
        Some(out)
    });
    let pragma = |line: &str| {
        ["strict", "warnings", "utf8", "feature", "5", "v5", "FindBin", "lib", "vars", "autodie"]
            .iter()
            .any(|name| line.strip_prefix("use ").is_some_and(|rest| rest.starts_with(name)))
    };
    let lines: Vec<&str> = file.text.lines().collect();
    let first_use = lines.iter().position(|line| line.starts_with("use ") && !pragma(line));
    let head = lines.iter().rposition(|line| line.starts_with("use ") && pragma(line)).map(|at| at + 1);
    let comments = lines.iter().take_while(|line| line.starts_with('#')).count();
    let at = first_use.or(head).unwrap_or(comments) as u32 + 1;
    let mut new = Vec::new();
    if !file.text.contains("use FindBin") {
        new.push("use FindBin;".to_owned());
    }
    if module {
        new.push(if place.is_empty() {
            "use lib $FindBin::Bin;".to_owned()
        } else {
            format!("use lib \"$FindBin::Bin/{place}\";")
        });
    }
    if !new.is_empty() {
        edits.push(text::before(at, new));
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    #[test]
    fn looks_in_the_programs_own_folder() {
        let scene = TestScene::new().file("Tariff.pm", "1;").file("settings.pl", "1;");
        let text = "#!/usr/bin/perl\nuse strict;\nuse warnings;\nuse Tariff;\ndo 'settings.pl'; # own values\ndo 'other.pl';\n";
        let case =
            TestCase::new("bill.pl", text, scene).fault(Fault::MissingModule { name: "Tariff".into() }).at(4);
        assert_eq!(
            case.healed(&PerlLibrary),
            "#!/usr/bin/perl\nuse strict;\nuse warnings;\nuse FindBin;\nuse lib $FindBin::Bin;\nuse Tariff;\ndo \"$FindBin::Bin/settings.pl\"; # own values\ndo 'other.pl';\n"
        );
    }

    #[test]
    fn files_of_the_job_are_named_from_the_programs_folder() {
        let scene = TestScene::new().file("bin/fees.pl", "1;").file("conf/town.pl", "1;");
        let text = "use strict;\nrequire \"bin/fees.pl\";\nrequire 'conf/town.pl';\n";
        let case = TestCase::new("bin/x.pl", text, scene)
            .fault(Fault::MissingModule { name: "bin/fees.pl".into() })
            .at(2);
        assert_eq!(
            case.healed(&PerlLibrary),
            "use strict;\nuse FindBin;\nrequire \"$FindBin::Bin/fees.pl\";\nrequire \"$FindBin::Bin/../conf/town.pl\";\n"
        );
    }

    #[test]
    fn knows_folders_of_modules() {
        let scene = TestScene::new().file("lib/My/Feed.pm", "1;");
        let case = TestCase::new("x.pl", "use My::Feed;\n", scene)
            .fault(Fault::MissingModule { name: "My::Feed".into() });
        assert_eq!(
            case.healed(&PerlLibrary),
            "use FindBin;\nuse lib \"$FindBin::Bin/lib\";\nuse My::Feed;\n"
        );
    }

    #[test]
    fn leaves_modules_of_others_alone() {
        let case = TestCase::new("x.pl", "use DBI;\n", TestScene::new())
            .fault(Fault::MissingModule { name: "DBI".into() });
        assert!(case.silent(&PerlLibrary));
        assert!(
            TestCase::new("x.pl", "use A;\n", TestScene::new()).fault(no_such("in.txt")).silent(&PerlLibrary)
        );
    }
}
