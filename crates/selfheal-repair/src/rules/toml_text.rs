//! # A text in a TOML file without quotation marks
//!
//! ## What it finds
//! A program stops at an invalid value of a TOML file: a path or word without quotation marks, or `True` and `False` as in
//! Python.
//!
//! ## Why it fails
//! TOML wants texts in quotation marks and its truth values in small letters; many other formats do not.
//!
//! ## Fix
//! The text gets quotation marks; the truth value is written as TOML wants it. Other lines of the same kind in that file, too.
//!
//! ## Example
//! ```toml
//! source = /var/mail
//! ```
//! ```toml
//! source = "/var/mail"
//! ```
//!
//! ## Safety
//! Only the file of which the parser's line and column fit. What looks like a number, a date, a list or a table is left
//! alone: which text was meant there nobody knows. What is written is what was meant, so the risk is low for a file of the
//! job's own; the file is a setting, so it counts as medium.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::proposal::Risk;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::python;
use crate::text;

rule!(TomlText, "toml_text", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let place = case.faults().find_map(|fault| match fault {
        Fault::BadValue { message, .. } | Fault::Syntax { message, .. } | Fault::Other { message } => {
            message.contains("nvalid value").then(|| line_and_column(message)).flatten()
        }
        _ => None,
    });
    let Some((line, column)) = place else { return Vec::new() };
    let fits = |file: &ScriptFile| {
        text::line(&file.text, line)
            .is_some_and(|text| quoted(text).is_some() && value_at(text) == Some(column))
    };
    let found: Vec<ScriptFile> = files(case).into_iter().filter(fits).collect();
    let [file] = found.as_slice() else { return Vec::new() };
    let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let edits = text::edits_by_line(&file.text, |_, line| quoted(line));
    let lines = text::lines_in_words(&edits);
    let mut draft = Draft::new(
        "toml_text",
        format!(
            "{name}, line {line}: TOML wants texts in quotation marks, and true and false in small letters"
        ),
        "write the values as TOML wants them",
    )
    .evidence(format!("the parser stops in {name} at line {line}, column {column}"))
    .edit(file, &edits, format!("{name}, {lines}: written as TOML wants it"));
    draft.raise(Risk::Medium);
    draft.done().into_iter().collect()
}

/// The numbers of `… at line 7, column 10 …`.
fn line_and_column(message: &str) -> Option<(u32, usize)> {
    let number = |text: &str| {
        let digits: String = text.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    };
    let (_, rest) = message.split_once("line ")?;
    let (_, column) = rest.split_once("column ")?;
    Some((number(rest)?, number(column)? as usize))
}

/// The TOML files that the job names.
fn files(case: &Case) -> Vec<ScriptFile> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for (_, module) in python::modules(case) {
        paths.extend(python::data_files(case, &module));
    }
    let words = case.argv.iter().map(|word| word.to_string_lossy().into_owned());
    paths.extend(words.filter_map(|word| case.find(Path::new(&word))));
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    paths.dedup();
    let files = paths.into_iter().take(20).filter_map(|path| case.file(&path));
    files.filter(|file| file.language == Language::Other).collect()
}

/// The column, from 1, in which the value of a line begins.
fn value_at(line: &str) -> Option<usize> {
    let (key, value) = line.split_once('=')?;
    let blanks = value.len() - value.trim_start().len();
    Some(key.chars().count() + 1 + blanks + 1)
}

/// A line `key = value` whose value TOML does not understand, as it wants it.
fn quoted(line: &str) -> Option<String> {
    let (key, value) = line.split_once('=')?;
    let plain_key = !key.trim().is_empty()
        && key.trim().chars().all(|c| text::is_name(c) || matches!(c, '-' | '.' | '"'));
    let (value, comment) = match value.find(" #") {
        Some(at) => (value.get(..at)?, value.get(at..)?),
        None => (value, ""),
    };
    let blanks = value.get(..value.len() - value.trim_start().len())?;
    let value = value.trim();
    let new = match value {
        "True" | "TRUE" => "true".to_owned(),
        "False" | "FALSE" => "false".to_owned(),
        "true" | "false" | "inf" | "nan" => return None,
        text if text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '~' | '$' | '*'))
            && !text.contains(['"', '\'', '[', '{', '=']) =>
        {
            format!("\"{}\"", text.replace('\\', "\\\\"))
        }
        _ => return None,
    };
    plain_key.then(|| format!("{key}={blanks}{new}{comment}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(toml: &str, place: &str) -> TestCase {
        let text = "import tomllib\ns = tomllib.load(open('b.toml', 'rb'))\n";
        let fault = Fault::BadValue { value: None, message: format!("Invalid value (at {place})") };
        TestCase::new("x.py", text, TestScene::new().file("b.toml", toml)).fault(fault)
    }

    #[test]
    fn writes_values_as_toml_wants_them() {
        assert_eq!(
            case("a = 1\nsource = /var/mail  # all\non = True\n", "line 2, column 10").healed(&TomlText),
            "a = 1\nsource = \"/var/mail\" # all\non = true\n"
        );
        assert_eq!(
            case("[mail]\nquiet = False\n", "line 2, column 9").healed(&TomlText),
            "[mail]\nquiet = false\n"
        );
    }

    #[test]
    fn leaves_other_values_and_places_alone() {
        for toml in ["a = 1\nb = 12:x\n", "a = 1\nb = [x]\n", "a = 1\nb = 'x\n"] {
            assert!(case(toml, "line 2, column 5").silent(&TomlText), "{toml}");
        }
        assert!(case("a = 1\nsource = /var\n", "line 1, column 5").silent(&TomlText));
        assert!(case("a = 1\nsource = /var\n", "line 2, column 3").silent(&TomlText));
    }
}
