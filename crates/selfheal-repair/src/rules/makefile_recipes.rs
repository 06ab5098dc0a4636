//! # Recipes that make or its shell does not understand
//!
//! ## What it finds
//! A makefile has blanks where recipe lines need a tab ("missing separator"), or a recipe uses `source`, which the shell
//! that make starts does not know.
//!
//! ## Why it fails
//! make tells recipes by the tab at the beginning of the line; editors like to turn it into blanks. And make runs recipes
//! with `sh`, whatever shell the writer has.
//!
//! ## Fix
//! The leading blanks of recipe lines become a tab; `source` becomes `.`.
//!
//! ## Example
//! ```make
//! all: out
//!     source ./env && build
//! ```
//! ```make
//! all: out
//! <tab>. ./env && build
//! ```
//!
//! ## Safety
//! Only lines directly below a rule are taken for a recipe; assignments and conditionals stay.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::text;

rule!(MakefileRecipes, "makefile_recipes", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let Some(file) = makefile(case) else { return Vec::new() };
    let separator = case.faults().any(|fault| match fault {
        Fault::Syntax { .. } => true,
        Fault::Other { message } => message.contains("missing separator"),
        _ => false,
    });
    let source = case.faults().any(|fault| match fault {
        Fault::CommandNotFound { name } => name == "source",
        Fault::Dialect { .. } => true,
        _ => false,
    });
    let mut out = Vec::new();
    if separator {
        let edits = tabs(&file.text);
        let draft = Draft::new(
            "makefile_recipes",
            format!(
                "{} of the makefile begin with blanks where make wants a tab",
                text::lines_in_words(&edits)
            ),
            "begin recipe lines with a tab",
        )
        .edit(&file, &edits, format!("{}: a tab for the blanks", text::lines_in_words(&edits)));
        out.extend(draft.done());
    }
    if source {
        let edits = dots(&file.text);
        let draft = Draft::new(
            "makefile_recipes",
            "a recipe uses source, which is a word of bash; make runs recipes with sh",
            "use the dot, which every shell knows",
        )
        .edit(&file, &edits, format!("{}: . for source", text::lines_in_words(&edits)));
        out.extend(draft.done());
    }
    out
}

/// The makefile: where the failure happened, or one beside the job.
fn makefile(case: &Case) -> Option<ScriptFile> {
    let of_failure =
        case.failing_file().filter(|file| file.language == Language::Make || is_makefile(&file.text));
    of_failure.or_else(|| {
        let given = case.argv.windows(2).find_map(|pair| match pair {
            [option, name] if option == "-f" => Some(name.clone()),
            _ => None,
        });
        let runs_make = case.argv.first().is_some_and(|word| word.to_string_lossy().ends_with("make"));
        let script_runs =
            case.script.is_some_and(|script| text::whole_words(&script.text, "make").next().is_some());
        let names = given.iter().map(|name| name.to_string_lossy().into_owned());
        let names = names.chain(["GNUmakefile", "makefile", "Makefile"].map(str::to_owned));
        let found = names
            .filter_map(|name| case.find(std::path::Path::new(&name)))
            .next()
            .filter(|_| runs_make || script_runs)?;
        case.file(&found)
    })
}

fn is_makefile(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(".PHONY:")) && !text.starts_with("#!")
}

/// Whether a line begins a rule: `target: prerequisites`.
fn is_rule(line: &str) -> bool {
    let head = line.split('#').next().unwrap_or_default();
    let begins =
        !line.starts_with([' ', '\t', '#']) && !line.starts_with("ifeq") && !line.starts_with("export ");
    let colon = head.find(':');
    begins
        && colon.is_some_and(|at| {
            !head.get(at + 1..).is_some_and(|rest| rest.starts_with('=') || rest.starts_with(":="))
        })
}

fn tabs(makefile: &str) -> Vec<selfheal_core::edit::LineEdit> {
    let mut recipe = false;
    text::edits_by_line(makefile, |_, line| {
        if is_rule(line) {
            recipe = true;
            return None;
        }
        if !line.starts_with([' ', '\t']) {
            recipe = recipe
                && (line.is_empty()
                    || line.starts_with('#')
                    || line.starts_with("if")
                    || line.starts_with("e"));
            return None;
        }
        (recipe && line.starts_with(' ') && !line.trim().is_empty())
            .then(|| format!("\t{}", line.trim_start()))
    })
}

fn dots(makefile: &str) -> Vec<selfheal_core::edit::LineEdit> {
    text::edits_by_line(makefile, |_, line| {
        let mut out = line.to_owned();
        let starts: Vec<usize> = text::whole_words(line, "source").collect();
        for at in starts.into_iter().rev() {
            let before = line.get(..at).unwrap_or_default().trim_end_matches(' ');
            let command = before.ends_with(['\t', '@', '-', ';', '(', '&', '|']) && line.starts_with('\t');
            let argument = line.get(at + 6..).is_some_and(|rest| rest.starts_with(' '));
            if command && argument {
                out.replace_range(at..at + 6, ".");
            }
        }
        Some(out)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const MAKE: &str =
        "P := a\n\nall: x\n    @echo $(P)\n\nx: y\n    source ./e && cp y x\n  touch z\nQ = 1\n    R = 2\n";

    #[test]
    fn puts_tabs_before_recipes() {
        let case = TestCase::new("Makefile", MAKE, TestScene::new())
            .fault(Fault::Syntax { near: None, message: "missing separator".into() })
            .at(4);
        let healed = case.healed(&MakefileRecipes);
        assert_eq!(
            healed,
            "P := a\n\nall: x\n\t@echo $(P)\n\nx: y\n\tsource ./e && cp y x\n\ttouch z\nQ = 1\n    R = 2\n"
        );
    }

    #[test]
    fn uses_the_dot_in_recipes() {
        let text = "all:\n\t@source ./e && echo source $(x)\n";
        let case = TestCase::new("Makefile", text, TestScene::new())
            .fault(Fault::CommandNotFound { name: "source".into() });
        assert_eq!(case.healed(&MakefileRecipes), "all:\n\t@. ./e && echo source $(x)\n");
    }

    #[test]
    fn leaves_other_failures_alone() {
        let case = TestCase::new("Makefile", MAKE, TestScene::new())
            .fault(Fault::CommandNotFound { name: "cc".into() });
        assert!(case.silent(&MakefileRecipes));
    }
}
