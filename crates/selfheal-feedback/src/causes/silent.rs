//! Causes of failures that print nothing: strict mode, pipes, and codes that are answers.

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Outcome;
use selfheal_syntax::shell::{Consumer, Script};

use super::Likely;
use crate::findings::meaning;
use crate::locate::failing_step;
use crate::parsers::cut;
use crate::repeat::line_of;
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
    } else if (strict || pipefail(case))
        && let Some(meaning) = answer(case, words, *code)
    {
        out.push(
            Likely::usual(
                "answer-taken-for-failure",
                format!(
                    "{first} answered with code {code}{meaning}, and {} took the answer for a failure.",
                    if strict { "strict mode" } else { "pipefail" }
                ),
                "The code is that of an error.",
            )
            .seen_if(said.clone()),
        );
    }
    if step.is_none()
        && let Some((line, words, meaning)) = piped_answer(case, *code)
    {
        out.push(
            Likely::usual(
                "answer-in-a-pipe",
                format!(
                    "With pipefail, `{words}` in the pipe of line {line} decides too, and its code {code} is an \
                     answer{meaning}."
                ),
                "Another stage of a pipe, or another command, ended with that code.",
            )
            .seen_if(Some(format!("line {line}: {words}"))),
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

/// What the code of a command answers, as it reads behind the code; absent where it is no answer.
fn answer(case: &Case<'_>, words: &[String], code: i32) -> Option<String> {
    let first = words.first().map(|word| base(word))?;
    match meaning(case.input, words, code) {
        Outcome::Negative { meaning } => Some(format!(" ({meaning})")),
        _ => ANSWERS.contains(&first).then(String::new),
    }
}

/// The script, or the line for a shell.
fn shell_text(case: &Case<'_>) -> Option<String> {
    let of_script = case.input.script.map(|(_, text)| text.to_owned());
    of_script.or_else(|| line_of(&crate::inner::look_through(case.input.argv).words).map(str::to_owned))
}

fn pipefail(case: &Case<'_>) -> bool {
    shell_text(case).is_some_and(|text| text.contains("pipefail"))
}

/// The stage of a pipe under pipefail, if there is only one, whose code would be an answer: line, words, meaning.
fn piped_answer(case: &Case<'_>, code: i32) -> Option<(u32, String, String)> {
    const LONGEST: usize = 64 * 1024;
    let text = shell_text(case).filter(|text| pipefail(case) && text.len() <= LONGEST)?;
    let script = Script::parse(&text).ok()?;
    let one_line = text.lines().count() == 1;
    let piped = script.commands().iter().filter(|command| {
        command.context.pipeline.is_some_and(|(_, stages)| stages > 1)
            && (one_line || script.option_at("pipefail", command.lines.0))
            && command.context.consumers.iter().all(|consumer| *consumer == Consumer::Pipe)
    });
    let mut answers = piped.filter_map(|command| {
        let words: Vec<String> = command
            .words
            .iter()
            .map(|word| word.literal_or_pattern().unwrap_or_else(|| word.text.clone()))
            .collect();
        let meaning = answer(case, &words, code)?;
        Some((command.lines.0, cut(&words.join(" "), 120).to_owned(), meaning))
    });
    let first = answers.next()?;
    answers.next().is_none().then_some(first)
}

/// `((i++))`, `let i=0`.
fn is_arithmetic(words: &[String], case: &Case<'_>) -> bool {
    let first = words.first().map_or("", String::as_str);
    let source = case.place.command.as_ref().map_or("", |command| command.source.as_str());
    first == "let" || first.starts_with("((") || source.trim_start().starts_with("((")
}
