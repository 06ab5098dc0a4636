//! Scripts written from a stated need: a model writes, the guard judges, a box shows what it does, a person looks. Only then
//! the script is kept, with the need and the proof beside it.
//!
//! Nothing that the model says is trusted: the text must parse, an operation of high danger sends it back, and the trial
//! runs in a box. What did not do is sent back with the reason, three answers at most.

mod ask;
mod hides;
mod keep;
mod trial;

use std::path::{Path, PathBuf};

use selfheal_core::admission::Danger;
use selfheal_guard::scope::Roots;
use selfheal_syntax::{Language, check};
use serde::{Deserialize, Serialize};

pub use keep::{Record, Standing};

use crate::command_error::CommandError;
use crate::context::Context;
use crate::guard_rules;
use crate::tasks::told::{StateUpdate, TaskView};

/// Answers that are asked for at most.
const ROUNDS: u32 = 3;

/// What is needed.
#[derive(Clone, Debug)]
pub struct Need<'a> {
    /// In the user's words.
    pub need: &'a str,
    /// `bash`, `sh` or `python`.
    pub language: &'a str,
    /// Where the script will run.
    pub folder: &'a Path,
    /// Files that must be there afterwards.
    pub outputs: &'a [PathBuf],
    /// The task that it is a step of.
    pub task: Option<&'a TaskView>,
}

impl Need<'_> {
    /// Where its script may write: the folder, and what the person named.
    fn roots(&self) -> Roots {
        let outputs = self.outputs.iter().map(|path| path.display().to_string());
        let named: Vec<String> = std::iter::once(self.need.to_owned()).chain(outputs).collect();
        Roots::beside_a_file(self.folder, &named.join("\n"))
    }
}

/// A script that passed, and what was seen of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The text.
    pub script: String,
    /// What it does, in the model's words.
    pub summary: String,
    /// The model.
    pub model: String,
    /// How many answers it took.
    pub rounds: u32,
    /// The highest danger of an operation in it: `low` or `medium`.
    pub danger: String,
    /// What the guard says of it, a sentence each.
    pub findings: Vec<String>,
    /// What the trial did to files, a line each.
    pub effects: Vec<String>,
    /// What the trial wrote last.
    pub said: String,
    /// Why the trial shows less than a real run would, where that is so.
    pub doubt: Option<String>,
    /// What the model says of the task, where it is a step of one.
    pub state_update: Option<StateUpdate>,
}

impl Written {
    /// Whether it may be run unattended by somebody who allows this much.
    #[must_use]
    pub fn is_within(&self, apply: crate::cli::ApplyUpTo) -> bool {
        use crate::cli::ApplyUpTo;
        let low = self.danger == danger_word(Danger::Low);
        self.doubt.is_none() && (apply == ApplyUpTo::Medium || (apply == ApplyUpTo::Low && low))
    }
}

/// Has a script written, judged and tried. Nothing is changed by it.
///
/// # Errors
/// When there is no model, or none of its answers did.
pub fn write(context: &Context, id: &str, need: &Need<'_>) -> Result<Written, CommandError> {
    let asker = ask::Asker::new(context, id, need)?;
    let mut question = asker.question()?;
    let mut last = String::new();
    for round in 1..=ROUNDS {
        let answer = match asker.ask(&question) {
            Ok(answer) => answer,
            Err(ask::NoAnswer::Unfit(reason)) => {
                question = asker.again(&question, &reason);
                last = reason;
                continue;
            }
            Err(ask::NoAnswer::Failed(reason)) => return Err(CommandError::new(reason)),
        };
        match looked_at(context, need, &answer) {
            Ok(seen) => {
                return Ok(Written {
                    script: answer.script,
                    summary: answer.summary,
                    model: asker.model().to_owned(),
                    rounds: round,
                    state_update: answer.state_update,
                    ..seen
                });
            }
            Err(reason) => {
                question = asker.again(&question, &reason);
                last = reason;
            }
        }
    }
    Err(CommandError::new(format!("none of {ROUNDS} scripts did what is needed: {last}"))
        .hint("state the need more exactly: which files, what is to come of them"))
}

/// What checks, guard and trial show of an answer; why it is sent back, where it is.
fn looked_at(context: &Context, need: &Need<'_>, answer: &ask::Answer) -> Result<Written, String> {
    let language = if need.language == "python" { Language::Python } else { Language::Shell };
    let problems = check::syntax_errors(language, &answer.script)
        .map_err(|_| "it is too large to be read".to_owned())?;
    if let Some(problem) = problems.first() {
        return Err(format!("line {} does not parse: {}", problem.line, problem.message));
    }
    let (danger, findings) = judged(context, need, language, &answer.script)?;
    let trial = trial::try_out(context, need, &answer.script)?;
    Ok(Written {
        danger: danger_word(danger).to_owned(),
        findings,
        effects: trial.effects,
        said: trial.said,
        doubt: trial.doubt,
        script: String::new(),
        summary: String::new(),
        model: String::new(),
        rounds: 0,
        state_update: None,
    })
}

/// Admission of a new text: every operation in it counts, since there is nothing that it changes.
fn judged(
    context: &Context,
    need: &Need<'_>,
    language: Language,
    script: &str,
) -> Result<(Danger, Vec<String>), String> {
    let (policy, _) = guard_rules::load(context);
    let roots = need.roots();
    let Some(operations) = policy.operations(language, script, &roots) else {
        return Err("it is too large to be judged".to_owned());
    };
    if let Some(high) = operations.iter().find(|operation| operation.danger == Danger::High) {
        return Err(format!("line {} is refused: {}", high.line, high.why));
    }
    let worst = operations.iter().map(|operation| operation.danger).max().unwrap_or(Danger::Low);
    let shown = operations.iter().filter(|operation| operation.danger > Danger::Low);
    let mut said: Vec<String> =
        shown.map(|operation| format!("line {}: {}", operation.line, operation.why)).collect();
    let hidden = hides::failures(need.language, language, script)?;
    let worst = if hidden.is_empty() { worst } else { worst.max(Danger::Medium) };
    said.extend(hidden);
    Ok((worst, said))
}

fn danger_word(danger: Danger) -> &'static str {
    match danger {
        Danger::Low => "low",
        Danger::Medium => "medium",
        Danger::High => "high",
    }
}
