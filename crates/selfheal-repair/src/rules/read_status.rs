//! # A read that gets its text and answers "end of file"
//!
//! ## What it finds
//! In a strict script, `read … < FILE` with a file whose last line has no newline, or `read -d ''` from a here-document,
//! ends the job without a word.
//!
//! ## Why it fails
//! `read` answers with status 1 when it meets the end of its input before its delimiter, although it has set its variables.
//!
//! ## Fix
//! The answer is accepted when the first variable has got something.
//!
//! ## Example
//! ```sh
//! read -r major minor < VERSION
//! ```
//! ```sh
//! read -r major minor < VERSION || [ -n "$major" ]
//! ```
//!
//! ## Safety
//! An empty or missing file still fails the job.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::scene::absolute;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, Values, splice, unquoted};
use crate::text;

rule!(ReadStatus, "read_status", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let silent = case.faults().all(|fault| matches!(fault, Fault::SilentExit { code: 1 }));
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell() && silent) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    if !script.strict('e', "errexit") {
        return Vec::new();
    }
    let values = Values::new(case, &script, file.folder());
    let line = case.line_in(&file);
    let found: Vec<(&Command, String)> =
        script.commands.iter().filter_map(|c| Some((c, accepted(case, &script, &values, c)?))).collect();
    let hit = |(command, _): &&(&Command, String)| {
        line.is_none_or(|line| script.covers(command, line) || is_head(&script, command, line))
    };
    let Some((first, _)) = found.iter().find(hit) else { return Vec::new() };
    let number = script.line_of(first.span.start);
    let parts = found.iter().map(|(c, check)| (c.span.end..c.span.end, check.clone())).collect();
    let lines: Vec<String> = found.iter().map(|(c, _)| script.line_of(c.span.start).to_string()).collect();
    let draft = Draft::new(
        "read_status",
        format!("line {number}: read got its text, and answers 1 because no delimiter came behind it"),
        "accept the end of the input when something was read",
    )
    .evidence("read ended with 1 and said nothing")
    .rewrite(
        &file,
        splice(&file.text, parts),
        format!("line {}: the end of the input is no error", lines.join(", ")),
    );
    draft.done().into_iter().collect()
}

/// Whether a line lies in the here-document of a command.
fn is_head(script: &Script<'_>, command: &Command, line: u32) -> bool {
    let start = script.line_of(command.span.start);
    let body = script.here.iter().find(|here| script.line_of(here.body.start) == start + 1);
    body.is_some_and(|here| start <= line && line <= script.line_of(here.body.end))
}

/// What is put behind a `read` as a plain command whose input ends without its delimiter.
fn accepted(case: &Case, script: &Script<'_>, values: &Values<'_>, command: &Command) -> Option<String> {
    let plain = matches!(command.before.as_str(), "" | ";") && matches!(command.after.as_str(), "" | ";");
    if script.name(command) != "read" || !plain || script.in_condition(command) {
        return None;
    }
    let words = script.words(command);
    let null = words.windows(2).any(|pair| {
        pair.first().is_some_and(|word| word.starts_with('-') && word.ends_with('d'))
            && matches!(pair.get(1).copied(), Some("''" | "\"\""))
    });
    let ends = command.redirects.iter().any(|(operator, target)| match script.get(operator) {
        "<<" | "<<-" | "<<<" => null,
        "<" => null || lacks_newline(case, values, script.get(target)),
        _ => false,
    });
    let mut name = words.iter().skip(1).filter(|word| !word.starts_with('-')).map(|word| unquoted(word));
    let name = name.find(|name| !name.is_empty() && name.chars().all(text::is_name));
    ends.then(|| format!(" || [ -n \"${}\" ]", name.as_deref().unwrap_or("REPLY")))
}

fn lacks_newline(case: &Case, values: &Values<'_>, word: &str) -> bool {
    let Some(path) = values.word(word) else { return false };
    let bytes = case.scene.read(&absolute(&case.base(), Path::new(&path)), crate::case::LARGEST);
    bytes.is_some_and(|bytes| !bytes.is_empty() && !bytes.contains(&b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, content: &str) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new().file("VERSION", content))
            .fault(Fault::SilentExit { code: 1 })
            .at(2)
    }

    #[test]
    fn accepts_a_line_without_its_newline() {
        let text = "set -eu\nread -r major minor < VERSION\necho \"$major\"\n";
        assert_eq!(
            case(text, "3 4").healed(&ReadStatus),
            text.replace("< VERSION", "< VERSION || [ -n \"$major\" ]")
        );
        let text = "set -e\nread line < VERSION\n";
        assert!(case(text, "x").healed(&ReadStatus).ends_with("|| [ -n \"$line\" ]\n"));
    }

    #[test]
    fn accepts_the_end_of_a_here_document() {
        let text = "set -e\nread -r -d '' Q <<'SQL'\nSELECT 1\nSQL\necho \"$Q\"\n";
        assert_eq!(
            case(text, "").healed(&ReadStatus),
            text.replace("<<'SQL'\n", "<<'SQL' || [ -n \"$Q\" ]\n")
        );
    }

    #[test]
    fn leaves_empty_files_and_looked_at_answers_alone() {
        assert!(case("set -e\nread -r a < VERSION\n", "").silent(&ReadStatus));
        assert!(case("set -e\nread -r a < VERSION\n", "x\n").silent(&ReadStatus));
        assert!(case("set -e\nread -r a < VERSION || exit 3\n", "x").silent(&ReadStatus));
        assert!(case("read -r a < VERSION\n", "x").silent(&ReadStatus));
    }
}
