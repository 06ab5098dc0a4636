//! The question with numbers: which of several possible changes is the right one. A small model reads well and writes badly, so
//! its whole answer is one number.

use std::fmt::Write as _;

use selfheal_core::ports::{Form, Question};
use serde_json::{Value, json};

use super::input::{Document, PromptInput};
use super::material::{Detail, Numbers, mark, section, sections};
use super::{PromptError, clean, hints, render};

/// Lines of the script before and behind the failing one, and of a script that is shown whole.
const AROUND: usize = 12;
const WHOLE: usize = 40;
/// Tokens of an answer.
const MAX_TOKENS: u32 = 24;

/// Asks which of these changes mends the failure.
///
/// # Errors
/// When a template cannot be filled in.
pub fn choice_question(input: &PromptInput<'_>, changes: &[&str]) -> Result<Question, PromptError> {
    let near = input.script.map(|script| around(script, input));
    let seen = PromptInput { script: near.as_ref(), history: &[], stdout_end: "", ..*input };
    let mut sections = sections(&seen, Numbers::Hidden, Detail::Brief);
    let found = hints::hints(input);
    if !found.is_empty() {
        sections.push(section(input, input.words("stands-out"), &found.join("\n")));
    }
    let mut list = String::new();
    for (number, change) in (1..).zip(changes) {
        let _ = writeln!(list, "{number}. {}", clean::line(change, 280));
    }
    sections.push(section(input, input.words("choices"), &list));
    let numbers: Vec<usize> = (0..=changes.len()).collect();
    Ok(Question {
        system: render::fill(input, "choice_system", minijinja::context! {})?,
        user: render::case(input, &mark(input.nonce), &sections, input.words("ask-choice"))?,
        form: Form::Object {
            name: "choice".to_owned(),
            schema: json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["number"],
                "properties": {"number": {"enum": numbers}},
            }),
        },
        max_tokens: MAX_TOKENS,
        temperature: 0.0,
    })
}

/// The change that an answer to [`choice_question`] names, from 0; nothing when it takes none of so many.
#[must_use]
pub fn chosen(answer: &Value, changes: usize) -> Option<usize> {
    let number = usize::try_from(answer.get("number")?.as_u64()?).ok()?;
    number.checked_sub(1).filter(|at| *at < changes)
}

/// The lines of a script that matter: all of a short one, else those around the failure.
fn around(script: &Document, input: &PromptInput<'_>) -> Document {
    let lines: Vec<&str> = script.text.lines().collect();
    let place = input.report.location.as_ref().filter(|place| place.file == script.path);
    let centre = place.map_or(1, |place| place.line as usize).clamp(1, lines.len().max(1));
    let from = if lines.len() <= WHOLE { 0 } else { centre.saturating_sub(AROUND + 1) };
    let kept = lines.iter().skip(from).take(WHOLE.min(lines.len()));
    Document { text: kept.map(|line| format!("{line}\n")).collect(), ..script.clone() }
}
