//! # A file is delivered compressed now
//!
//! ## What it finds
//! A Python program or a shell script reads a file that is not there, while the same name with `.gz`, `.bz2` or `.xz` is.
//!
//! ## Why it fails
//! Whoever writes the file, or the rotation of logs, compresses it now.
//!
//! ## Fix
//! Python opens it with `gzip.open(…, "rt")` or its relatives; in a shell the command that reads it gets it from `gzip -dc`.
//!
//! ## Example
//! ```python
//! with open("visits.log", encoding="utf-8") as lines:
//! ```
//! ```python
//! with gzip.open("visits.log.gz", "rt", encoding="utf-8") as lines:
//! ```
//!
//! ## Safety
//! Only when exactly one compressed file of that name is there, and only for reading. In a shell only where the failure of a part of
//! a pipeline is one of the whole (`set -o pipefail`), or where nothing else is done than to print it. A file that is there under
//! neither name, or is damaged, still fails. It changes what is read, so the risk is medium.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::python::{self, Part};
use crate::shell::{Script, Values, splice};

rule!(CompressedNow, "compressed_now", Unsafe, propose);

/// Endings, the Python module that reads them, and the command that prints them.
const FORMS: &[(&str, &str, &str)] =
    &[("gz", "gzip", "gzip -dc"), ("bz2", "bz2", "bzip2 -dc"), ("xz", "lzma", "xz -dc")];

type Form = (&'static str, &'static str, &'static str);

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::NoSuchPath { path } => Some(path.clone()),
        _ => None,
    });
    let Some((missing, form)) = missing.and_then(|path| Some((path.clone(), compressed(case, &path)?)))
    else {
        return Vec::new();
    };
    let shells = case.files().into_iter().filter(|file| file.language.is_shell());
    in_python(case, &missing, form)
        .or_else(|| shells.into_iter().find_map(|file| in_shell(case, &file, &missing, form)))
        .into_iter()
        .collect()
}

/// In which one form a file is there, while it is not there itself.
fn compressed(case: &Case, path: &Path) -> Option<Form> {
    let with = |ending: &str| PathBuf::from(format!("{}.{ending}", path.display()));
    let mut there = FORMS.iter().filter(|(ending, ..)| case.find(&with(ending)).is_some());
    let one = there.next()?;
    (there.next().is_none() && case.find(path).is_none()).then_some(*one)
}

fn in_python(case: &Case, missing: &Path, form: Form) -> Option<Candidate> {
    let (ending, library, _) = form;
    python::modules(case).into_iter().find_map(|(file, module)| {
        let lines = python::failing_lines(case, &file.path);
        let calls = module.calls();
        let (call, path) =
            calls.iter().filter(|call| lines.contains(&call.line)).find_map(|call| opened(call))?;
        let literal = literal_of(&module, &path, missing)?;
        let mut parts: Vec<Part> = vec![literal_with(&module, literal, ending)?];
        let encoding = call
            .keyword("encoding")
            .map_or_else(String::new, |argument| format!(", {}", keyword(&file, argument)));
        parts.retain(|(span, _)| span.start < call.span.start || span.end > call.span.end);
        let path = if parts.is_empty() { longer(&path, ending)? } else { path };
        parts.push((call.span.clone(), format!("{library}.open({path}, \"rt\"{encoding})")));
        parts.extend(python::import(&module, library));
        let line = call.line;
        let name = missing.display();
        Draft::new(
            "compressed_now",
            format!("line {line}: {name} is delivered as {name}.{ending} now"),
            "read the compressed file",
        )
        .evidence(format!("{name} is not there, {name}.{ending} is"))
        .meaning()
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: {library}.open"))
        .done()
    })
}

/// A call that opens a text for reading, with the expression of its path.
fn opened(call: &Call) -> Option<(&Call, String)> {
    let (path, mode) = match call.callee.rsplit_once('.') {
        None if call.callee == "open" => (call.arguments.first()?.text.clone(), call.arguments.get(1)),
        Some((object, "open")) if !["io", "codecs", "gzip", "bz2", "lzma", "os"].contains(&object) => {
            (object.to_owned(), call.arguments.first())
        }
        _ => return None,
    };
    let mode = call.keyword("mode").or(mode);
    let reads = mode.is_none_or(|mode| matches!(mode.string.as_deref(), Some("r" | "rt")));
    (reads && !path.contains('\n')).then_some((call, path))
}

fn keyword(file: &ScriptFile, argument: &selfheal_syntax::python::Argument) -> String {
    let text = file.text.get(argument.span.clone()).unwrap_or_default();
    if text.starts_with("encoding") { text.to_owned() } else { format!("encoding={text}") }
}

/// The string in the program that ends with the name of the missing file: where, without its quotes.
fn literal_of(module: &Module, path: &str, missing: &Path) -> Option<std::ops::Range<usize>> {
    let name = missing.file_name()?.to_string_lossy().into_owned();
    let mut found = module.nodes("string").into_iter().filter_map(|node| {
        let value = module.string(node)?;
        (value == name || value.ends_with(&format!("/{name}"))).then(|| node.start_byte()..node.end_byte())
    });
    let one = found.next()?;
    // With several, nobody knows which one is meant, unless it stands in the call itself.
    match found.next() {
        None => Some(one),
        Some(_) => path.contains(&name).then_some(one),
    }
}

fn literal_with(module: &Module, literal: std::ops::Range<usize>, ending: &str) -> Option<Part> {
    let text = module.text().get(literal.clone())?;
    longer(text, ending).map(|new| (literal, new))
}

/// A literal with an ending more.
fn longer(literal: &str, ending: &str) -> Option<String> {
    let quote = literal.chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
    let inner = literal.strip_suffix(quote)?;
    Some(format!("{inner}.{ending}{quote}"))
}

fn in_shell(case: &Case, file: &ScriptFile, missing: &Path, form: Form) -> Option<Candidate> {
    const READERS: &[&str] =
        &["awk", "gawk", "mawk", "grep", "sed", "sort", "cut", "head", "wc", "uniq", "tr", "cat"];
    let (ending, _, prints) = form;
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    let places = case.places(missing);
    let is_it = |word: &str| {
        values
            .word(word)
            .is_some_and(|value| case.places(Path::new(&value)).iter().any(|place| places.contains(place)))
    };
    let command = script.commands.iter().find(|command| {
        READERS.contains(&script.name(command).as_str())
            && command.words.iter().skip(1).any(|span| is_it(script.get(span)))
    })?;
    let word = command.words.iter().skip(1).find(|span| is_it(script.get(span)))?;
    // A second file, or a command that is fed already, is another thing.
    let fed =
        command.before == "|" || command.redirects.iter().any(|(operator, _)| script.get(operator) == "<");
    let files =
        command.words.iter().skip(1).filter(|span| {
            case.find(Path::new(&values.word(script.get(span)).unwrap_or_default())).is_some()
        });
    let only = files.count() == 0 && !fed;
    let name = script.name(command);
    let whole = name == "cat" && command.words.len() == 2;
    if !only || !whole && !file.text.contains("pipefail") {
        return None;
    }
    let written = script.get(word);
    let packed = match written.strip_suffix('"') {
        Some(inner) => format!("{inner}.{ending}\""),
        None => format!("{written}.{ending}"),
    };
    let before = script.text.get(command.words.first()?.start..word.start)?.trim_end();
    let behind = script.text.get(word.end..command.words.last()?.end)?;
    let new =
        if whole { format!("{prints} {packed}") } else { format!("{prints} {packed} | {before}{behind}") };
    let span = command.words.first()?.start..command.words.last()?.end;
    let line = script.line_of(span.start);
    let shown = missing.display();
    Draft::new(
        "compressed_now",
        format!("line {line}: {shown} is there as {shown}.{ending} now"),
        "read the compressed file",
    )
    .evidence(format!("{shown} is not there, {shown}.{ending} is"))
    .meaning()
    .rewrite(file, splice(&file.text, vec![(span, new)]), format!("line {line}: {prints}"))
    .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    fn case(script: &str, text: &str, there: &str, line: u32) -> TestCase {
        TestCase::new(script, text, TestScene::new().file(there, "x")).fault(no_such("in/v.log")).at(line)
    }

    #[test]
    fn python_opens_the_compressed_file() {
        let text = "from pathlib import Path\nLOG = Path(\"in\") / \"v.log\"\nwith LOG.open(encoding=\"utf-8\") as f:\n    pass\n";
        let healed = case("x.py", text, "in/v.log.gz", 3).healed(&CompressedNow);
        assert!(
            healed.contains(
                "Path(\"in\") / \"v.log.gz\"\nwith gzip.open(LOG, \"rt\", encoding=\"utf-8\") as f:"
            ),
            "{healed}"
        );
        let healed =
            case("x.py", "for l in open('in/v.log'):\n    pass\n", "in/v.log.xz", 1).healed(&CompressedNow);
        assert!(healed.contains("in lzma.open('in/v.log.xz', \"rt\"):"), "{healed}");
    }

    #[test]
    fn a_shell_gets_it_from_the_unpacker() {
        let text =
            "set -eo pipefail\nlog=in/v.log\nawk '{ print $1 }' \"$log\" | sort > out\ncat in/v.log > b\n";
        let healed = case("x.sh", text, "in/v.log.gz", 3).healed(&CompressedNow);
        assert!(healed.contains("gzip -dc \"$log.gz\" | awk '{ print $1 }' | sort > out"), "{healed}");
    }

    #[test]
    fn leaves_it_alone_where_nothing_or_two_are_there_or_a_failure_would_be_lost() {
        let text = "set -e\nawk '{ print $1 }' in/v.log > out\n";
        assert!(case("x.sh", text, "in/v.log.gz", 2).silent(&CompressedNow));
        assert!(case("x.py", "open('in/v.log')\n", "in/w.log.gz", 1).silent(&CompressedNow));
        assert!(case("x.py", "open('in/v.log', 'w')\n", "in/v.log.gz", 1).silent(&CompressedNow));
    }
}
