//! Causes of failures that print nothing: strict mode, pipes, and codes that are answers.

use selfheal_core::fault::Fault;

use super::Likely;
use crate::locate::failing_step;
use crate::report::Case;
use crate::words::{base, is_strict};

/// Commands whose code 1 is an answer.
const ANSWERS: [&str; 14] = [
    "grep", "egrep", "fgrep", "diff", "cmp", "test", "[", "[[", "expr", "pgrep", "read", "let", "false",
    "which",
];

/// Likely causes of one fault.
pub fn causes(case: &Case<'_>, fault: &Fault) -> Vec<Likely> {
    let Fault::SilentExit { code } = fault else { return Vec::new() };
    let step = failing_step(case.input, None);
    let words = step.map_or(&[][..], |step| step.words.as_slice());
    let first = words.first().map_or("", |word| base(word));
    let strict = case.input.script.is_some_and(|(_, text)| is_strict(text));
    let said = step.map(|step| format!("`{}` ended with code {code}", step.words.join(" ")));
    let mut out = Vec::new();
    if *code == 141 {
        out.push(
            Likely::usual(
                "reader-closed-the-pipe",
                "A later part of a pipe stopped reading (head, grep -q), and pipefail made that a failure.",
                "Nothing in the script reads only the beginning of a pipe.",
            )
            .seen_if(said.clone()),
        );
    }
    if strict && is_arithmetic(words, case) {
        out.push(
            Likely::usual(
                "arithmetic-is-zero",
                "An arithmetic command whose value is 0 returns 1, and strict mode ends the script there.",
                "The value is not 0 at that line.",
            )
            .seen_if(said.clone()),
        );
    } else if strict && ANSWERS.contains(&first) {
        out.push(
            Likely::usual(
                "answer-taken-for-failure",
                format!("{first} answered with code {code}, and strict mode took the answer for a failure."),
                "The code is that of an error.",
            )
            .seen_if(said.clone()),
        );
    }
    if matches!(first, "exit" | "return") {
        out.push(
            Likely::usual(
                "explicit-exit",
                format!("The script itself decided to end with code {code}, and did not say why."),
                "A command that failed just before it explains the code.",
            )
            .seen_if(said),
        );
    } else if strict {
        out.push(
            Likely::usual(
                "strict-mode-stopped",
                "Strict mode ended the script at a command that returned an exit code and said nothing.",
                "The script ends by an explicit exit.",
            )
            .seen_if(said),
        );
    } else {
        out.push(Likely::usual(
            "silent-exit",
            "The command ended with a code of its own and said nothing.",
            "Its output went somewhere else, such as a log file.",
        ));
    }
    out
}

/// `((i++))`, `let i=0`.
fn is_arithmetic(words: &[String], case: &Case<'_>) -> bool {
    let first = words.first().map_or("", String::as_str);
    let source = case.place.command.as_ref().map_or("", |command| command.source.as_str());
    first == "let" || first.starts_with("((") || source.trim_start().starts_with("((")
}
