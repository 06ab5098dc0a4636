//! # A test with an empty or split value
//!
//! ## What it finds
//! `[ $x = y ]` with a variable that is empty or holds several words: "unary operator expected", "too many arguments".
//!
//! ## Why it fails
//! Without quotes an empty value is no word at all, and one with blanks is several. The test gets the wrong number of words
//! and answers 2, which `if` takes for "no".
//!
//! ## Fix
//! The variables in the script's tests are quoted.
//!
//! ## Example
//! ```sh
//! if [ $MODE = full ]; then
//! ```
//! ```sh
//! if [ "$MODE" = full ]; then
//! ```
//!
//! ## Safety
//! Only words inside of `[ … ]` and `test`. An empty value compares as what it is.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Script, splice};

rule!(UnquotedTest, "unquoted_test", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let tests = case.faults().any(|fault| {
        let (Fault::BadValue { message, .. }
        | Fault::Syntax { message, .. }
        | Fault::Other { message }
        | Fault::WrongType { message }) = fault
        else {
            return false;
        };
        let said = [
            "operator expected",
            "too many arguments",
            "argument expected",
            "unexpected operator",
            "integer expression expected",
        ];
        said.iter().any(|text| message.contains(text)) && (message.contains('[') || message.contains("test:"))
    });
    let Some(file) = case.failing_file().filter(|file| tests && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    for command in script.commands.iter().filter(|c| matches!(script.name(c).as_str(), "[" | "test")) {
        for span in command.words.iter().skip(1) {
            let word = script.get(span);
            let bare = word.starts_with('$')
                && !word.starts_with("$((")
                && !word.starts_with("$#")
                && !word.contains('"');
            let pattern = word.contains(['*', '?']) && !word.starts_with("$(") && !word.contains("${");
            if bare && !pattern && !matches!(word, "$?" | "$$" | "$!") {
                parts.push((span.clone(), format!("\"{word}\"")));
            }
        }
    }
    let Some((first, _)) = parts.first() else { return Vec::new() };
    let line = script.line_of(first.start);
    let mut lines: Vec<String> =
        parts.iter().map(|(span, _)| script.line_of(span.start).to_string()).collect();
    lines.dedup();
    let draft = Draft::new(
        "unquoted_test",
        format!("line {line}: the test uses a variable without quotes, and its value is empty or has several words"),
        "quote the variables in tests",
    )
    .rewrite(&file, splice(&file.text, parts), format!("line {}: quoted", lines.join(", ")));
    draft.done().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str) -> TestCase {
        let fault =
            Fault::BadValue { value: Some(String::new()), message: "[: =: unary operator expected".into() };
        TestCase::new("x.sh", text, TestScene::new()).fault(fault).at(1)
    }

    #[test]
    fn quotes_the_variables_of_tests() {
        let text = "if [ $MODE = full ]; then :; elif [ $MODE = a -o ${M} = \"\" ]; then :; fi\n[ $(wc -l < f) -gt $# ]\necho $MODE\n";
        assert_eq!(
            case(text).healed(&UnquotedTest),
            "if [ \"$MODE\" = full ]; then :; elif [ \"$MODE\" = a -o \"${M}\" = \"\" ]; then :; fi\n[ \"$(wc -l < f)\" -gt $# ]\necho $MODE\n"
        );
    }

    #[test]
    fn quotes_substitutions_and_the_word_test_too() {
        let text = "test $(hostname) = web && echo y\nwhile [ ${left} -gt 0 ]; do :; done\n";
        assert_eq!(
            case(text).healed(&UnquotedTest),
            "test \"$(hostname)\" = web && echo y\nwhile [ \"${left}\" -gt 0 ]; do :; done\n"
        );
    }

    #[test]
    fn leaves_quoted_tests_and_others_alone() {
        assert!(case("[ \"$a\" = b ]\n[[ $a = b ]]\n").silent(&UnquotedTest));
        let other =
            TestCase::new("x.sh", "[ $a = b ]\n", TestScene::new()).fault(Fault::SilentExit { code: 1 });
        assert!(other.silent(&UnquotedTest));
    }
}
