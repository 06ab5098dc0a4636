//! # An option that a tool no longer knows
//!
//! ## What it finds
//! A tool refuses an option; its own help names one that is spelled almost the same, or says by which one it was replaced.
//!
//! ## Why it fails
//! The tool was updated and its options changed.
//!
//! ## Fix
//! The option that the tool's help names is used instead.
//!
//! ## Example
//! ```sh
//! stockctl export --tsv stock.db
//! ```
//! ```sh
//! stockctl export --output=tsv stock.db
//! ```
//!
//! ## Safety
//! The help is asked for in a box. Exactly one option must fit. What it does may differ, so the risk is medium.

use std::ops::Range;

use selfheal_core::fault::Fault;
use selfheal_core::proposal::Risk;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, Values, splice, unquoted};
use crate::text::{self, distance};

rule!(UnknownOption, "unknown_option", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let refused = case.faults().find_map(|fault| match fault {
        Fault::UnknownOption { option, .. } if option.starts_with("--") => {
            Some(option.split('=').next().unwrap_or(option).to_owned())
        }
        _ => None,
    });
    let Some(old) = refused else { return Vec::new() };
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let line = case.line_in(&file);
    let uses = |command: &&Command| script.words(command).iter().any(|word| option_of(word) == old);
    let Some(command) =
        script.commands.iter().find(|c| uses(c) && line.is_none_or(|line| script.covers(c, line)))
    else {
        return Vec::new();
    };
    let home = file.path.parent().map(|home| home.to_string_lossy().into_owned()).unwrap_or_default();
    let values = Values::new(case, &script, home);
    let name = script
        .words(command)
        .first()
        .map(|word| values.word(word).unwrap_or_else(|| unquoted(word)))
        .unwrap_or_default();
    let program = case.find(std::path::Path::new(&name)).filter(|_| name.contains('/'));
    let program = program.map_or(name.clone(), |path| path.to_string_lossy().into_owned());
    let sub = script
        .words(command)
        .get(1)
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-'))
        .copied();
    let help = help(case, &program, sub);
    let Some(new) = replaced(&help, &old).or_else(|| near(&help, &old)) else { return Vec::new() };
    let parts: Vec<(Range<usize>, String)> = command
        .words
        .iter()
        .filter(|span| option_of(script.get(span)) == old)
        .map(|span| (span.start..span.start + old.len(), new.clone()))
        .collect();
    let number = script.line_of(command.span.start);
    let mut draft = Draft::new(
        "unknown_option",
        format!("line {number}: {name} does not know {old} any more; its help names {new}"),
        format!("use {new}"),
    )
    .evidence(format!("the help of {name} names {new} and not {old}"))
    .meaning()
    .rewrite(&file, splice(&file.text, parts), format!("line {number}: {new} for {old}"));
    if is_read(&script, command) {
        // A tool whose options changed may print in another form too, and whoever reads it would go on with wrong values.
        draft.raise(Risk::High);
    }
    draft.done().into_iter().collect()
}

/// Whether something reads what a command prints.
fn is_read(script: &Script, command: &Command) -> bool {
    let text = script.text.get(..command.span.start).unwrap_or_default().trim_end();
    let redirected = command.redirects.iter().any(|(operator, _)| script.get(operator).ends_with('>'));
    redirected || command.after == "|" || text.ends_with("$(") || text.ends_with('`')
}

fn option_of(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// What the tool says of itself, of the command that was used first.
fn help(case: &Case, program: &str, sub: Option<&str>) -> String {
    let mut text = String::new();
    let asks: Vec<Vec<&str>> = match sub {
        Some(sub) => vec![vec![program, sub, "--help"], vec![program, "help", sub], vec![program, "--help"]],
        None => vec![vec![program, "--help"], vec![program, "-h"]],
    };
    for ask in asks {
        if let Some(answer) = case.scene.ask(&ask).filter(|answer| answer.contains("--")) {
            text.push_str(&answer);
            text.push('\n');
            break;
        }
    }
    text.chars().take(100_000).collect()
}

/// The long options of a help text, with the value's name when one is shown.
fn options(help: &str) -> Vec<(String, Option<String>)> {
    let mut out: Vec<(String, Option<String>)> = Vec::new();
    for (at, _) in help.match_indices("--") {
        let before = help.get(..at).and_then(|part| part.chars().next_back());
        if before.is_some_and(|c| c == '-' || text::is_name(c)) {
            continue;
        }
        let rest = help.get(at + 2..).unwrap_or_default();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        let value = rest
            .get(end..)
            .and_then(|tail| tail.strip_prefix('='))
            .map(|tail| tail.chars().take_while(|c| text::is_name(*c) || *c == '-').collect::<String>());
        let known = out.iter().any(|(known, _)| known.trim_start_matches('-') == name);
        if name.len() > 1 && !known {
            out.push((format!("--{name}"), value.filter(|value| !value.is_empty())));
        }
    }
    out
}

/// The one option that is spelled almost like the old one.
fn near(help: &str, old: &str) -> Option<String> {
    let options = options(help);
    let alike = |new: &str| {
        let (a, b) = (new.trim_start_matches('-'), old.trim_start_matches('-'));
        let bare = |text: &str| text.replace('-', "");
        a != b
            && (bare(a) == bare(b)
                || distance(a, b, 2) <= if b.len() > 5 { 2 } else { 1 }
                || same_words(a, b))
    };
    let mut found = options.iter().map(|(name, _)| name).filter(|name| alike(name));
    let first = found.next()?;
    found.next().is_none().then(|| first.clone())
}

/// One is the other with a word more: `--exclude` and `--exclude-pattern`.
fn same_words(a: &str, b: &str) -> bool {
    let (longer, shorter) = if a.len() > b.len() { (a, b) } else { (b, a) };
    shorter.len() >= 4 && longer.strip_prefix(shorter).is_some_and(|rest| rest.starts_with('-'))
}

/// What the help says that replaced the old option: in the sentence that names it, or an option whose values hold its name.
fn replaced(help: &str, old: &str) -> Option<String> {
    let bare = old.trim_start_matches('-');
    for line in help.lines().filter(|line| text::whole_words(line, bare).next().is_some()) {
        let lower = line.to_lowercase();
        let marks = ["replaced by", "replaced with", "renamed to", "use ", "became", "is now", "now "];
        let behind = marks.iter().find_map(|mark| lower.find(mark)).and_then(|at| line.get(at..));
        let instead = lower.contains("instead").then_some(line);
        let Some(said) = behind.or(instead) else { continue };
        let others: Vec<(String, Option<String>)> =
            options(said).into_iter().filter(|(name, _)| name != old).collect();
        if let [(name, value)] = others.as_slice() {
            return Some(match value {
                Some(_) => format!("{name}={bare}"),
                None => name.clone(),
            });
        }
    }
    // `--output=FORMAT` and `FORMAT: tsv or csv`.
    let takes = options(help).into_iter().find(|(_, value)| {
        value.as_ref().is_some_and(|value| {
            help.lines().any(|line| {
                let described = line
                    .trim_start()
                    .strip_prefix(value.as_str())
                    .is_some_and(|rest| rest.trim_start().starts_with([':', '=', '{', 'i']));
                described && text::whole_words(line, bare).next().is_some()
            })
        })
    });
    takes.map(|(name, _)| format!("{name}={bare}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(help: &str, line: &str, option: &str) -> TestCase {
        let scene = TestScene::new().answer("tool --help", help).answer("tool export --help", help);
        TestCase::new("x.sh", line, scene)
            .fault(Fault::UnknownOption { command: "tool".into(), option: option.into() })
            .at(1)
    }

    #[test]
    fn uses_what_the_help_names() {
        let help = "tool export --output=FORMAT FILE\n  FORMAT: tsv or csv. A heading line.\n  Since 3.0; --tsv and --csv are gone.\n";
        assert_eq!(
            case(help, "tool export --tsv a > b\n", "--tsv").healed(&UnknownOption),
            "tool export --output=tsv a > b\n"
        );
        let help =
            "  --color WHEN\n  --no-colour is replaced: use --color-mode\n  --exclude-pattern=P  leave out\n";
        assert_eq!(
            case(help, "tool --exclude='*.o' a\n", "--exclude").healed(&UnknownOption),
            "tool --exclude-pattern='*.o' a\n"
        );
        assert_eq!(
            case("  --dry-run\n", "tool --dryrun\n", "--dryrun").healed(&UnknownOption),
            "tool --dry-run\n"
        );
    }

    #[test]
    fn leaves_options_without_a_likeness_alone() {
        assert!(case("  --all\n  --long\n", "tool --frobnicate\n", "--frobnicate").silent(&UnknownOption));
        assert!(case("  --sort-a\n  --sort-b\n", "tool --sort\n", "--sort").silent(&UnknownOption));
    }
}
