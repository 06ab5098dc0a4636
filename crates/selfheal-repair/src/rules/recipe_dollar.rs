//! # A shell variable in a recipe with one dollar
//!
//! ## What it finds
//! A recipe that sets a variable of the shell (`for p in …`, `x=…`) and uses it as `$p`: a syntax error, or an empty value.
//!
//! ## Why it fails
//! make reads `$p` as its own variable `p`, which is empty. The shell needs `$$p`.
//!
//! ## Fix
//! The dollars of the recipe's own variables are doubled.
//!
//! ## Example
//! ```make
//!     for p in $(PARTS); do gzip $p; done
//! ```
//! ```make
//!     for p in $(PARTS); do gzip $$p; done
//! ```
//!
//! ## Safety
//! Only names that the same recipe sets in the shell, and that are no variable of the makefile.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::text;

rule!(RecipeDollar, "recipe_dollar", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| {
        matches!(
            fault,
            Fault::Syntax { .. }
                | Fault::NoSuchPath { .. }
                | Fault::SilentExit { .. }
                | Fault::BadValue { .. }
                | Fault::Other { .. }
                | Fault::IsADirectory { .. }
        )
    });
    let Some(file) = makefile(case).filter(|_| told) else { return Vec::new() };
    let edits = text::edits_by_line(&file.text, |number, line| {
        line.starts_with('\t').then(|| doubled(line, &names(&file.text, number)))
    });
    let Some(first) = edits.first().map(|edit| edit.first) else { return Vec::new() };
    Draft::new(
        "recipe_dollar",
        format!("line {first}: the recipe uses a variable of the shell with one dollar, which make takes for its own"),
        "double the dollars of the recipe's own variables",
    )
    .edit(&file, &edits, format!("{}: $$ for $", text::lines_in_words(&edits)))
    .done()
    .into_iter()
    .collect()
}

fn makefile(case: &Case) -> Option<ScriptFile> {
    let named =
        ["GNUmakefile", "makefile", "Makefile"].iter().find_map(|name| case.file(&case.job.cwd.join(name)));
    case.files().into_iter().find(|file| file.language == Language::Make).or(named)
}

/// The variables that the recipe around a line sets in the shell: of one letter, since `$name` of make is `$n` and `ame`, or
/// longer ones; less those that the makefile itself sets.
fn names(makefile: &str, number: u32) -> Vec<String> {
    let lines: Vec<&str> = makefile.lines().collect();
    let at = (number as usize).saturating_sub(1);
    let recipe = |line: &&&str| line.starts_with('\t') || line.trim().is_empty();
    let above = lines.get(..at).unwrap_or_default().iter().rev().take_while(recipe);
    let below = lines.get(at..).unwrap_or_default().iter().take_while(recipe);
    let mut names: Vec<String> = above.chain(below).flat_map(|line| set_in(line)).collect();
    names.retain(|name| !lines.iter().any(|line| sets(line, name)));
    names
}

/// The names that a recipe line sets: behind `for` and `read`, and before `=` at the beginning of a command.
fn set_in(line: &str) -> Vec<String> {
    let name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && word.chars().all(text::is_name)
    };
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || matches!(c, ';' | '(' | ')' | '&' | '|' | '@' | '`'))
        .filter(|word| !word.is_empty())
        .collect();
    let looped = words.windows(2).filter_map(|pair| match pair {
        ["for" | "read", word] if name(word) => Some((*word).to_owned()),
        _ => None,
    });
    let assigned = words
        .iter()
        .filter_map(|word| word.split_once('='))
        .map(|(left, _)| left)
        .filter(|left| name(left))
        .map(str::to_owned);
    looped.chain(assigned).collect()
}

/// Whether a line of the makefile sets a variable of make.
fn sets(line: &str, name: &str) -> bool {
    let rest = line.strip_prefix("export ").unwrap_or(line).strip_prefix(name);
    rest.is_some_and(|rest| {
        !line.starts_with('\t') && rest.trim_start().trim_start_matches([':', '?', '+', '!']).starts_with('=')
    })
}

fn doubled(line: &str, names: &[String]) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    let mut rest = line;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let behind = from.get(1..).unwrap_or_default();
        if behind.starts_with('$') {
            out.push_str("$$");
            rest = behind.get(1..).unwrap_or_default();
            continue;
        }
        let inner = behind.strip_prefix('{').unwrap_or(behind);
        let word: String = inner.chars().take_while(|c| text::is_name(*c)).collect();
        out.push_str(if names.contains(&word) { "$$" } else { "$" });
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str) -> TestCase {
        TestCase::new("Makefile", text, TestScene::new()).fault(Fault::SilentExit { code: 2 })
    }

    #[test]
    fn doubles_the_dollars_of_the_recipes_own_variables() {
        assert_eq!(
            case("P := a b\nall:\n\t@for p in $(P); do wc -c < $p; echo $${p} $@; done\n")
                .healed(&RecipeDollar),
            "P := a b\nall:\n\t@for p in $(P); do wc -c < $$p; echo $${p} $@; done\n"
        );
        assert_eq!(
            case("all:\n\tcount=`ls | wc -l`; \\\n\techo \"$count ${count}\"\n").healed(&RecipeDollar),
            "all:\n\tcount=`ls | wc -l`; \\\n\techo \"$$count $${count}\"\n"
        );
    }

    #[test]
    fn leaves_makes_own_variables_alone() {
        assert!(case("p = x\nall:\n\tfor p in a; do echo $p; done\n").silent(&RecipeDollar));
        assert!(case("all:\n\tfor p in a; do echo $$p $< $(p)s; done\n").silent(&RecipeDollar));
    }
}
