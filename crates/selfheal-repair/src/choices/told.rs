//! What the message and a tool's help ask for: a value in the form of the message's example, one of the values that it lists, an
//! option that the help of one of the job's own tools names.

use selfheal_core::scene::Kind;

use super::Offer;
use super::near::Near;
use crate::case::{Case, ScriptFile};
use crate::text;

/// Words behind which a message gives an example.
const EXAMPLE: [&str; 7] =
    ["e.g. ", "e.g., ", "for example ", "such as ", "did you mean ", "Did you mean ", "use "];
/// Words behind which it lists what there is.
const LIST: [&str; 7] =
    ["known: ", "choose from ", "expected one of ", "must be one of ", "one of: ", "valid: ", "allowed: "];
/// Values of a list.
const MOST_LISTED: usize = 6;
/// Tools of the job, and options of each.
const MOST_TOOLS: usize = 2;
const MOST_OPTIONS: usize = 5;

pub(super) fn offers(case: &Case, near: &Near) -> Vec<Offer> {
    let mut out = values(case, near);
    out.extend(options(case, near));
    out
}

/// The quoted values of the message in the form that it asks for.
fn values(case: &Case, near: &Near) -> Vec<Offer> {
    let message = &case.report.core_error;
    let wrong: Vec<&str> = ['"', '\'', '`']
        .iter()
        .flat_map(|quote| message.split(*quote).skip(1).step_by(2))
        .filter(|value| !value.is_empty() && value.len() < 60 && !value.contains(char::is_whitespace))
        .collect();
    let behind = |cues: &[&'static str]| -> Option<&str> {
        cues.iter().find_map(|cue| message.find(cue).and_then(|at| message.get(at + cue.len()..)))
    };
    let bare = |word: &str| {
        word.trim_matches(['(', ')', '[', ']', '{', '}', '"', '\'', '`', ',', '.', ';', '?', '!']).to_owned()
    };
    let mut right: Vec<String> = Vec::new();
    right.extend(behind(&EXAMPLE).and_then(|rest| rest.split_whitespace().next()).map(bare));
    let listed = behind(&LIST).map(|rest| rest.split([')', ']', ';']).next().unwrap_or_default());
    right.extend(
        listed
            .into_iter()
            .flat_map(|list| list.split([',', '|']))
            .map(|word| bare(word.trim()))
            .take(MOST_LISTED),
    );
    right.retain(|value| !value.is_empty() && !value.contains(char::is_whitespace));
    let mut out = Vec::new();
    for old in wrong {
        for new in right.iter().filter(|new| *new != old).map(|new| in_the_form(old, new)) {
            let files = near.editable.iter().filter(|file| text::whole_words(&file.text, old).count() == 1);
            out.extend(files.map(|file| {
                let after = text::replace_word(&file.text, old, &new);
                Offer::new(file, after, format!("the message asks for another form than {old}: {new}"))
            }));
        }
    }
    out
}

/// A number in the form of an example that has a unit; else the example itself.
fn in_the_form(old: &str, example: &str) -> String {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unit = example.trim_start_matches(|c: char| c.is_ascii_digit());
    match digits(old)
        && unit.len() < example.len()
        && !unit.is_empty()
        && unit.chars().all(char::is_alphabetic)
    {
        true => format!("{old}{unit}"),
        false => example.to_owned(),
    }
}

/// The job's own tools with one more option, as their help names them.
fn options(case: &Case, near: &Near) -> Vec<Offer> {
    let Some(script) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let mut out = Vec::new();
    let tools = near.files.iter().filter(|path| {
        let executable =
            case.scene.facts(path).is_some_and(|facts| facts.kind == Kind::File && facts.mode & 0o111 != 0);
        executable
            && **path != script.path
            && path.file_name().is_some_and(|name| is_called(&script, &name.to_string_lossy()))
    });
    for tool in tools.take(MOST_TOOLS) {
        let (Some(name), Some(help)) =
            (tool.file_name(), case.scene.ask(&[&tool.to_string_lossy(), "--help"]))
        else {
            continue;
        };
        let name = name.to_string_lossy();
        for option in in_help(&help).into_iter().take(MOST_OPTIONS) {
            out.extend(with_option(&script, &name, &option));
        }
    }
    out
}

fn is_called(script: &ScriptFile, name: &str) -> bool {
    name.len() > 2
        && script.text.lines().any(|line| !line.trim_start().starts_with('#') && calls(line, name).is_some())
}

/// Where the name of a command ends in a line, if it begins a command there.
fn calls(line: &str, name: &str) -> Option<usize> {
    text::whole_words(line, name).map(|at| (at, at + name.len())).find_map(|(at, end)| {
        let path_begins = line
            .get(..at)?
            .rfind(|c: char| !(text::is_name(c) || "./-$\"{}".contains(c)))
            .map_or(0, |before| before + 1);
        let before = line.get(..path_begins)?.trim_end();
        let begins = before.is_empty()
            || before.ends_with(['|', ';', '&', '(', '`'])
            || before.ends_with("then")
            || before.ends_with("do")
            || before.ends_with('!')
            || before.ends_with("if");
        let rest = line.get(end..)?;
        let closes = usize::from(rest.starts_with('"'));
        let ends = rest.get(closes..)?.chars().next().is_none_or(|c| c.is_whitespace() || ")|;&".contains(c));
        (begins && ends).then_some(end + closes)
    })
}

fn with_option(script: &ScriptFile, name: &str, option: &str) -> Option<Offer> {
    let already = option.split('=').next().unwrap_or(option);
    let change = |_: u32, line: &str| {
        if line.trim_start().starts_with('#') || line.contains(already) {
            return None;
        }
        let end = calls(line, name)?;
        Some(format!("{} {option}{}", line.get(..end)?, line.get(end..)?))
    };
    let edits = text::edits_by_line(&script.text, change);
    let after = selfheal_core::edit::apply(&script.text, &edits).ok().filter(|_| edits.len() == 1)?;
    Some(Offer::new(script, after, format!("{name} has the option {option}, as its help says")))
}

/// Options with each of the values that a help lists for them: `--format=plain|json`.
fn in_help(help: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in help.split(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')' | ',')) {
        let Some((option, values)) = word.strip_prefix("--").and_then(|word| word.split_once('=')) else {
            continue;
        };
        let values: Vec<&str> = values.trim_matches(['{', '}', '<', '>']).split(['|', '/']).collect();
        let fine = |text: &&str| !text.is_empty() && text.chars().all(|c| text::is_name(c) || c == '-');
        if values.len() < 2 || !values.iter().all(fine) || !fine(&option) {
            continue;
        }
        for value in values {
            let whole = format!("--{option}={value}");
            if !out.contains(&whole) {
                out.push(whole);
            }
        }
    }
    out
}
