//! # Recipes that make or its shell does not understand
//!
//! ## What it finds
//! A makefile has blanks where recipe lines need a tab ("missing separator"), or a recipe uses `source`, `[[`, arrays or
//! other words of bash, which the shell that make starts does not know.
//!
//! ## Why it fails
//! make tells recipes by the tab at the beginning of the line; editors like to turn it into blanks. And make runs recipes
//! with `sh`, whatever shell the writer has.
//!
//! ## Fix
//! The leading blanks of recipe lines become a tab; `source` becomes `.`; recipes that need more of bash are run with it.
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
    let bash = case.faults().any(|fault| match fault {
        Fault::Dialect { .. } | Fault::Syntax { .. } | Fault::BadValue { .. } => true,
        Fault::CommandNotFound { name } => BASH_ONLY.contains(&name.as_str()),
        _ => false,
    });
    if bash && !separator_said(case) {
        out.extend(with_bash(case, &file));
    }
    out
}

/// Commands and reserved words that only bash and its like know.
const BASH_ONLY: &[&str] = &["[[", "((", "declare", "shopt", "mapfile", "readarray", "pushd", "popd", "let"];

fn separator_said(case: &Case) -> bool {
    case.report.core_error.contains("separator")
}

/// `SHELL := …/bash` before everything else, where recipes speak bash and nothing says which shell runs them.
fn with_bash(case: &Case, file: &ScriptFile) -> Option<Candidate> {
    let recipes = || file.text.lines().zip(1_u32..).filter(|(line, _)| line.starts_with('\t'));
    let (_, at) = recipes().find(|(line, _)| speaks_bash(line))?;
    let chosen = file.text.lines().any(|line| {
        line.strip_prefix("SHELL").is_some_and(|rest| rest.trim_start().starts_with(['=', ':', '?']))
    });
    let shell = case.scene.which("bash").first().map(|path| path.display().to_string())?;
    let shell = if case.scene.facts(std::path::Path::new("/bin/bash")).is_some() {
        "/bin/bash".to_owned()
    } else {
        shell
    };
    if chosen {
        return None;
    }
    let head = file.text.lines().take_while(|line| line.starts_with('#')).count() as u32;
    Draft::new(
        "makefile_recipes",
        format!("line {at}: the recipe is written for bash; make runs recipes with sh"),
        "have make run its recipes with bash",
    )
    .edit(
        file,
        &[text::before(head + 1, vec![format!("SHELL := {shell}")])],
        format!("line {}: recipes run with bash", head + 1),
    )
    .done()
}

/// Whether a line of a recipe uses what only bash and its like know.
fn speaks_bash(line: &str) -> bool {
    let begins = |word: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line.get(..at).unwrap_or_default().trim_end_matches(' ');
            let fresh = before.ends_with(['\t', '@', '-', ';', '(', '&', '|', '!', '{'])
                || ["if", "while", "until", "then", "do", "else", "elif"].iter().any(|w| before.ends_with(w));
            fresh && line.get(at + word.len()..).is_some_and(|rest| rest.starts_with([' ', '(']))
        })
    };
    BASH_ONLY.iter().any(|word| begins(word))
        || line.contains("<(")
        || line.contains("<<<")
        || has_array(line)
}

/// `name=(…)` or `$${name[…]}`.
fn has_array(line: &str) -> bool {
    let made =
        line.match_indices("=(").any(|(at, _)| line.get(..at).is_some_and(|b| b.ends_with(text::is_name)));
    let used = line.match_indices("$${").any(|(at, _)| {
        let rest = line.get(at + 3..).unwrap_or_default();
        let rest = rest.trim_start_matches(['#', '!']).trim_start_matches(text::is_name);
        rest.starts_with('[')
    });
    made || used
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
    fn has_recipes_in_bash_run_with_bash() {
        let ask = |text: &str, fault: Fault| {
            let scene = TestScene::new().command("bash", "/usr/bin/bash");
            TestCase::new("Makefile", text, scene).fault(fault).ask(&MakefileRecipes)
        };
        let after = |text: &str, fault: Fault| {
            let candidates = ask(text, fault);
            String::from_utf8(candidates[0].proposal.changes[0].after.clone().unwrap()).unwrap()
        };
        let dialect = || Fault::Dialect { construct: "[[".into() };
        let text = "# ours\nA = 1\nall:\n\t@[[ $(A) == 1 ]] && echo $(A)\n";
        assert_eq!(after(text, dialect()), text.replace("A = 1\nall", "SHELL := /usr/bin/bash\nA = 1\nall"));
        let text = "all:\n\tlist=(a b); for x in $${list[@]}; do echo $$x; done\n";
        let syntax = Fault::Syntax { near: Some("(".into()), message: "unexpected".into() };
        assert_eq!(after(text, syntax), format!("SHELL := /usr/bin/bash\n{text}"));
        assert!(ask("SHELL = /bin/dash\nall:\n\t[[ a ]]\n", dialect()).is_empty());
        assert!(ask("all:\n\techo '[[ a ]]' | grep x\n", dialect()).is_empty());
    }

    #[test]
    fn leaves_other_failures_alone() {
        let case = TestCase::new("Makefile", MAKE, TestScene::new())
            .fault(Fault::CommandNotFound { name: "cc".into() });
        assert!(case.silent(&MakefileRecipes));
    }
}
