//! # An option that a tool no longer knows
//!
//! ## What it finds
//! A tool refuses an option or a command of its own, or asks for one that it requires now; its help names one that is spelled
//! almost the same, or says by which one it was replaced or what it was called before, or the message itself proposes one.
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
use crate::case::{Case, ScriptFile};
use crate::shell::{Command, Script, Values, splice, unquoted};
use crate::text::{self, distance};

rule!(UnknownOption, "unknown_option", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let Some((command, refused)) = refused(case, &file, &script) else { return Vec::new() };
    let values = Values::new(case, &script, file.folder());
    let tool = Tool::of(case, &script, &values, command);
    let help = help(case, &tool);
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    let mut said: Vec<String> = Vec::new();
    // What the help says was only renamed does what it did.
    let stated = refused.iter().all(|old| renamed(&help, old).is_some());
    for old in refused {
        let new = proposed_by_message(case, &old)
            .or_else(|| renamed(&help, &old))
            .or_else(|| replaced(&help, &old).filter(|_| old.starts_with("--")))
            .or_else(|| near(&help, &old).filter(|_| old.starts_with("--")));
        // Half a command would fail in another way, or do something else.
        let Some(new) = new else { return Vec::new() };
        let words = command.words.iter().filter(|span| option_of(script.get(span)) == old);
        parts.extend(words.map(|span| (span.start..span.start + old.len(), new.clone())));
        said.push(format!("{new} for {old}"));
    }
    let number = script.line_of(command.span.start);
    let (name, said) = (&tool.name, said.join(", "));
    let mut draft = Draft::new(
        "unknown_option",
        format!("line {number}: {name} was updated and calls what the script asks for differently: {said}"),
        format!("write {said}"),
    )
    .evidence(format!("{name} itself names {said}"))
    .meaning()
    .rewrite(&file, splice(&file.text, parts), format!("line {number}: {said}"));
    if is_read(&script, command) && !(stated && prints_as_before(case, &help)) {
        // A tool whose options changed may print in another form too, and whoever reads it would go on with wrong values.
        draft.raise(Risk::High);
    }
    draft.done().into_iter().collect()
}

/// The command that was refused and the words of it that its tool does not know: the one that the message names, and of a
/// required option all those that the tool's help does not have.
fn refused<'s>(case: &Case, file: &ScriptFile, script: &'s Script<'_>) -> Option<(&'s Command, Vec<String>)> {
    let line = case.line_in(file);
    let here = |command: &&Command| line.is_none_or(|line| script.covers(command, line));
    let mut required = false;
    let mut named: Vec<String> = Vec::new();
    for fault in case.faults() {
        match fault {
            Fault::UnknownOption { option, .. } if option.len() > 2 => {
                named.push(option_of(option).to_owned());
            }
            Fault::BadValue { value: Some(value), message } if message.contains("arguments are required") => {
                required = required || value.contains("--");
            }
            _ => {}
        }
    }
    let uses = |command: &&Command, old: &str| {
        script.words(command).iter().skip(1).any(|word| option_of(word) == old)
    };
    let found = named.iter().find_map(|old| {
        script.commands.iter().find(|command| here(command) && uses(command, old)).map(|c| (c, old))
    });
    let command = match (found, line) {
        (Some((command, _)), _) => command,
        (None, Some(_)) if required => {
            script.commands.iter().find(|c| here(c) && script.words(c).iter().any(|w| w.starts_with("--")))?
        }
        _ => return None,
    };
    let values = Values::new(case, script, file.folder());
    let help = help(case, &Tool::of(case, script, &values, command));
    let live = live(&help);
    let mut all: Vec<String> = found.into_iter().map(|(_, old)| old.clone()).collect();
    for word in script.words(command).into_iter().skip(1).map(option_of) {
        // A whole word, and not one that a variable makes.
        let long = word.len() > 3 && word.starts_with("--") && !word.contains(['$', '`', '"']);
        let gone = long && !live.is_empty() && !live.iter().any(|name| name == word);
        if gone && renamed(&help, word).is_some() && !all.iter().any(|known| known == word) {
            all.push(word.to_owned());
        }
    }
    (!all.is_empty()).then_some((command, all))
}

/// How a tool is asked for its help.
struct Tool {
    /// As the script calls it.
    name: String,
    /// The words that start it: an interpreter comes with its program.
    start: Vec<String>,
    /// The first word behind them, if it looks like a command of the tool.
    sub: Option<String>,
}

impl Tool {
    fn of(case: &Case, script: &Script<'_>, values: &Values<'_>, command: &Command) -> Self {
        const INTERPRETERS: &[&str] = &["node", "python3", "python", "perl", "ruby", "bash", "sh"];
        let words: Vec<String> = script
            .words(command)
            .iter()
            .map(|word| values.word(word).unwrap_or_else(|| unquoted(word)))
            .take(4)
            .collect();
        let first = words.first().cloned().unwrap_or_default();
        let place = |word: &str| {
            let path = case.find(std::path::Path::new(word)).filter(|_| word.contains('/'));
            path.map_or_else(|| word.to_owned(), |path| path.to_string_lossy().into_owned())
        };
        let program = words.get(1).filter(|word| {
            INTERPRETERS.contains(&first.as_str())
                && !word.starts_with('-')
                && case.find(std::path::Path::new(word)).is_some()
        });
        let (name, start) = match program {
            Some(program) => (program.clone(), vec![first.clone(), place(program)]),
            None => (first.clone(), vec![place(&first)]),
        };
        let is_sub = |word: &&String| {
            word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
        };
        let sub = words.get(start.len()).filter(is_sub).cloned();
        Self { name, start, sub }
    }
}

/// What the message itself proposes: `Did you mean --out-file?`.
fn proposed_by_message(case: &Case, old: &str) -> Option<String> {
    let message = &case.report.core_error;
    let at = message.to_lowercase().find("did you mean")?;
    let (before, behind) = (message.get(..at)?, message.get(at..)?);
    if !before.contains(old) {
        return None;
    }
    let named: Vec<(String, Option<String>)> = options(behind);
    match named.as_slice() {
        [(name, _)] if old.starts_with("--") && name != old => Some(name.clone()),
        _ => None,
    }
}

/// Words of a help text behind which an option's or a command's earlier name stands.
const FORMERLY: &[&str] = &[
    "(was ",
    "(was: ",
    " was: ",
    "this was ",
    "it was ",
    "used to be ",
    "earlier ",
    "formerly ",
    "previously ",
    "(called ",
    "known as ",
    "replaces ",
    "old name",
];

/// What stands behind such a word on a line.
fn formerly(line: &str) -> Option<&str> {
    let lower = line.to_ascii_lowercase();
    let at = FORMERLY.iter().filter_map(|mark| lower.find(mark).map(|at| at + mark.len())).min()?;
    line.get(at..)
}

/// The long options that a help text offers, without those that it names only as earlier names.
fn live(help: &str) -> Vec<String> {
    let offered = |line: &str| match formerly(line) {
        Some(behind) => line.get(..line.len() - behind.len()).unwrap_or_default().to_owned(),
        None => line.to_owned(),
    };
    let text: Vec<String> = help.lines().map(offered).collect();
    options(&text.join("\n")).into_iter().map(|(name, _)| name).collect()
}

/// The option or command of which the help says that it had the old name before; exactly one.
fn renamed(help: &str, old: &str) -> Option<String> {
    let long = old.starts_with("--");
    let lines: Vec<&str> = help.lines().collect();
    let mut found: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(behind) = formerly(line) else { continue };
        let named = match long {
            true => options(behind).iter().any(|(name, _)| name == old),
            false => text::whole_words(behind, old).next().is_some(),
        };
        if !named {
            continue;
        }
        // A long entry has its description on the lines below.
        let before = line.get(..line.len() - behind.len()).unwrap_or_default();
        let above = at.checked_sub(1).and_then(|at| lines.get(at)).copied().unwrap_or_default();
        let first = |text: &str| match long {
            true => options(text).into_iter().map(|(name, _)| name).next(),
            false => {
                let word = text.split_whitespace().next()?;
                let plain = word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
                (plain && text.starts_with(' ') && word.len() > 1).then(|| word.to_owned())
            }
        };
        let new = first(before).or_else(|| first(above).filter(|_| long));
        found.extend(new.filter(|new| new != old));
    }
    found.dedup();
    match found.as_slice() {
        [new] => Some(new.clone()),
        _ => None,
    }
}

/// Whether neither the help nor the notes beside the job say that a tool prints in another form.
fn prints_as_before(case: &Case, help: &str) -> bool {
    const FORMS: [&str; 9] =
        ["column", "columns", "heading", "header", "headings", "cents", "prints", "fields", "format"];
    let says = |text: &str| {
        let lower = text.to_lowercase();
        FORMS.iter().any(|word| text::whole_words(&lower, word).next().is_some())
    };
    !says(help) && !crate::notes::notes(case).iter().skip(1).any(|note| says(&note.text))
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
fn help(case: &Case, tool: &Tool) -> String {
    let start = &tool.start;
    let with = |words: &[&str]| -> Vec<String> {
        start.iter().cloned().chain(words.iter().map(|word| (*word).to_owned())).collect()
    };
    let asks = match tool.sub.as_deref() {
        Some(sub) => vec![with(&[sub, "--help"]), with(&["help", sub]), with(&["--help"])],
        None => vec![with(&["--help"]), with(&["-h"])],
    };
    let answers = asks
        .iter()
        .filter_map(|ask| case.scene.ask(&ask.iter().map(String::as_str).collect::<Vec<_>>()))
        .filter(|answer| answer.contains("--") || tool.sub.is_some() && answer.lines().count() > 2);
    let mut text = String::new();
    // Of a command that is not known any more, the tool may say nothing but where its help is.
    for answer in answers {
        text.push_str(&answer);
        text.push('\n');
        if answer.lines().count() > 2 {
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
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        // `--clean-all` does more than `--clean`, and `--no-x` the opposite of `--x`.
        let strong = |text: &str| {
            let strong = [
                "all",
                "force",
                "recursive",
                "everything",
                "hard",
                "purge",
                "delete",
                "no",
                "skip",
                "ignore",
                "without",
                "disable",
            ];
            text.split('-').filter(|word| strong.contains(word)).map(str::to_owned).collect::<Vec<_>>()
        };
        a != b
            && strong(a) == strong(b)
            && digits(a) == digits(b)
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
    fn writes_all_options_that_were_renamed_with_the_one_that_failed() {
        let help = "usage: tool list [-h] --shelf SHELF [--output-format {csv,json}] file\n\noptions:\n  \
            --shelf SHELF         the shelf (was: --rack)\n  --output-format {csv,json}\n                        \
            how to print (was: --format)\n";
        let scene = TestScene::new().answer("tool list --help", help);
        let case = TestCase::new("x.sh", "tool list --rack \"$r\" --format csv a\n", scene)
            .fault(Fault::BadValue {
                value: Some("--shelf".into()),
                message: "the following arguments are required".into(),
            })
            .at(1);
        assert_eq!(case.healed(&UnknownOption), "tool list --shelf \"$r\" --output-format csv a\n");
    }

    #[test]
    fn believes_what_the_message_proposes() {
        let mut case = TestCase::new("x.sh", "node t/md.js --outfile p.html a\n", TestScene::new())
            .fault(Fault::UnknownOption { command: "md".into(), option: "--outfile".into() })
            .at(1);
        case.report.core_error = "md: unknown option --outfile. Did you mean --out-file?".into();
        assert_eq!(case.healed(&UnknownOption), "node t/md.js --out-file p.html a\n");
    }

    #[test]
    fn renames_commands_and_leaves_what_is_read_to_a_person() {
        let help = "commands:\n  export    print the book (called \"dump\" before 3.0)\n  check     check\n\n\
            options:\n  --silent  no messages (replaces --quiet)\n";
        let scene = || TestScene::new().answer("tool --help", help);
        let fault = || Fault::UnknownOption { command: "tool".into(), option: "dump".into() };
        let case = TestCase::new("x.sh", "tool dump --quiet a\n", scene()).fault(fault()).at(1);
        assert_eq!(case.healed(&UnknownOption), "tool export --silent a\n");
        let read = |scene| TestCase::new("x.sh", "tool dump --quiet a > b\n", scene).fault(fault()).at(1);
        assert_eq!(read(scene()).ask(&UnknownOption)[0].proposal.risk, Risk::Medium);
        let told = scene().file("CHANGES", "3.0: the first line is a heading\n");
        assert_eq!(read(told).ask(&UnknownOption)[0].proposal.risk, Risk::High);
        let case = TestCase::new("x.sh", "tool purge a\n", scene())
            .fault(Fault::UnknownOption { command: "tool".into(), option: "purge".into() })
            .at(1);
        assert!(case.silent(&UnknownOption));
    }

    #[test]
    fn leaves_options_without_a_likeness_alone() {
        assert!(case("  --all\n  --long\n", "tool --frobnicate\n", "--frobnicate").silent(&UnknownOption));
        assert!(case("  --clean-all  delete all\n", "tool --clean\n", "--clean").silent(&UnknownOption));
        assert!(case("  --sort-a\n  --sort-b\n", "tool --sort\n", "--sort").silent(&UnknownOption));
    }
}
