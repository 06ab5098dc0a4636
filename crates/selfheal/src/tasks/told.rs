//! What a model is told of the task that it works for, and what it says of it. It must bring along all that it was told, or its
//! answer is sent back. What it is told is bounded, and redacted before: what it must bring back is what it saw.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use selfheal_core::redact::{Redacted, Redactor};
use selfheal_core::task::{FileSummary, TaskState};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Names of steps of each kind that are told: the last that are done, the next that are left.
const MOST_STEPS: usize = 50;
/// Sentences of each kind that are told, the last; and that are taken over.
const MOST: usize = 20;
/// The longest of them, in characters.
const LONGEST: usize = 300;
/// Files of a step that are told.
const MOST_FILES: usize = 10;

/// The system's words where the answer must bring the state along.
pub const BRING_IT_ALONG: &str = ", and state_update: the state of the task as you leave it: completed and pending as they are \
    given, every known issue that is given and new ones, and your decisions.";

/// The state of a task as a model sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskView {
    /// The task.
    pub task: String,
    /// The step that is worked on.
    pub step: String,
    /// The steps that are done.
    pub completed: Vec<String>,
    /// What each of them wrote.
    pub wrote: BTreeMap<String, Vec<PathBuf>>,
    /// What was decided.
    pub decisions: Vec<String>,
    /// What a person should know.
    pub known_issues: Vec<String>,
    /// The steps that are left.
    pub pending: Vec<String>,
    /// Every step, told or not.
    #[serde(skip)]
    all: BTreeSet<String>,
    #[serde(skip)]
    done: BTreeSet<String>,
}

impl TaskView {
    /// Of a state, for a step. What leaves the machine names no users.
    #[must_use]
    pub fn of(state: &TaskState, step: &str, redactor: &Redactor) -> Self {
        let paths = |files: &[FileSummary]| {
            files.iter().take(MOST_FILES).map(|file| file.path.clone()).collect::<Vec<_>>()
        };
        let completed = last(&state.completed, MOST_STEPS, Clone::clone);
        let wrote = completed.iter().filter_map(|id| {
            let result = state.steps.get(id)?.result.as_ref()?;
            (!result.output.is_empty()).then(|| (id.clone(), paths(&result.output)))
        });
        let view = Self {
            task: state.task.clone(),
            step: step.to_owned(),
            wrote: wrote.collect(),
            decisions: last(&state.decisions, MOST, |decision| short(&decision.what)),
            known_issues: last(&state.known_issues, MOST, |issue| short(issue)),
            pending: state.pending.iter().take(MOST_STEPS).cloned().collect(),
            completed,
            all: BTreeSet::new(),
            done: BTreeSet::new(),
        };
        let seen = redactor.leaving().value(&view).unwrap_or(view);
        Self {
            all: state.steps.keys().cloned().collect(),
            done: state.completed.iter().cloned().collect(),
            ..seen
        }
    }

    /// For a step, from the state file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(file: &Path, step: &str, redactor: &Redactor) -> std::io::Result<Self> {
        let state: TaskState = serde_json::from_slice(&std::fs::read(file)?)?;
        Ok(Self::of(&state, step, redactor))
    }

    /// The part of a question that tells it, between lines with a mark.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn section(&self, mark: &Redacted, redactor: &Redactor) -> serde_json::Result<Redacted> {
        let redactor = redactor.leaving();
        let title = redactor.text(&format!("It is step {} of a task, whose state is:", self.step));
        Ok(Redacted::join(&[title, mark.clone(), redactor.json(self)?, mark.clone()], "\n"))
    }
}

fn short(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

fn last<T, U>(all: &[T], most: usize, make: impl Fn(&T) -> U) -> Vec<U> {
    all.iter().skip(all.len().saturating_sub(most)).map(make).collect()
}

/// The task of a step that is healed: what models are told of it, and what they said of it.
#[derive(Debug)]
pub struct TaskPart {
    /// What they are told.
    pub view: TaskView,
    /// Decisions and issues that they brought.
    pub news: RefCell<(Vec<String>, Vec<String>)>,
}

impl TaskPart {
    /// With nothing said yet.
    #[must_use]
    pub fn new(view: TaskView) -> Self {
        Self { view, news: RefCell::default() }
    }

    /// Takes over what an answer says of the task.
    ///
    /// # Errors
    /// In one line for the model: there is nothing, or something that was told is missing.
    pub fn take(&self, answer: &Value, redactor: &Redactor) -> Result<(), String> {
        let update = answer.get("state_update").ok_or("state_update is missing")?;
        let update = StateUpdate::deserialize(update).map_err(|error| format!("state_update: {error}"))?;
        if let Some(wrong) = update.wrong(&self.view) {
            return Err(wrong);
        }
        let (decisions, issues) = update.news(&self.view);
        let mut news = self.news.borrow_mut();
        news.0.extend(decisions.iter().map(|text| redactor.with_users(text)));
        news.1.extend(issues.iter().map(|text| redactor.with_users(text)));
        Ok(())
    }
}

/// What a model says of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateUpdate {
    /// The steps that are done.
    pub completed: Vec<String>,
    /// What it decided, a sentence each.
    pub decisions: Vec<String>,
    /// What a person should know, a sentence each: all that was known, and what is new.
    pub known_issues: Vec<String>,
    /// The steps that are left.
    pub pending: Vec<String>,
}

impl StateUpdate {
    /// The form of it in an answer.
    #[must_use]
    pub fn schema() -> Value {
        let list = json!({
            "type": "array", "maxItems": 2 * MOST_STEPS, "items": { "type": "string", "maxLength": LONGEST }
        });
        json!({
            "type": "object",
            "properties": { "completed": list, "decisions": list, "known_issues": list, "pending": list },
            "required": ["completed", "decisions", "known_issues", "pending"],
            "additionalProperties": false
        })
    }

    /// Why it cannot be taken over: something that is known is missing, or something is said that is not so.
    #[must_use]
    pub fn wrong(&self, state: &TaskView) -> Option<String> {
        let missing = |name: &str, said: &[String], known: &[String]| {
            let lost = known.iter().find(|one| !said.contains(one))?;
            Some(format!("state_update.{name} lacks \"{lost}\""))
        };
        let unknown = || {
            let said = self.completed.iter().chain(&self.pending);
            let other = said.into_iter().find(|id| !state.all.contains(*id))?;
            Some(format!("state_update names a step \"{other}\" that there is not"))
        };
        let too_early = || {
            let early = self.completed.iter().find(|id| !state.done.contains(*id))?;
            Some(format!("state_update.completed says that \"{early}\" is done, and it is not"))
        };
        missing("completed", &self.completed, &state.completed)
            .or_else(|| missing("pending", &self.pending, &state.pending))
            .or_else(|| missing("known_issues", &self.known_issues, &state.known_issues))
            .or_else(unknown)
            .or_else(too_early)
    }

    /// What is new in it: decisions and issues.
    #[must_use]
    pub fn news(&self, state: &TaskView) -> (Vec<String>, Vec<String>) {
        let short = |text: &String| short(text);
        let issues = self.known_issues.iter().filter(|issue| !state.known_issues.contains(issue));
        let decisions = self.decisions.iter().filter(|what| !state.decisions.contains(what));
        (decisions.take(MOST).map(short).collect(), issues.take(MOST).map(short).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfheal_core::task::{Step, Task};

    fn view() -> TaskView {
        TaskView::of(&state(), "a", &Redactor::default())
    }

    fn state() -> TaskState {
        let step = |id: &str| Step { id: id.to_owned(), ..Step::default() };
        let task = Task { id: "t".to_owned(), steps: vec![step("a"), step("b")], ..Task::default() };
        let mut state = TaskState::new(&task, "r".to_owned(), "/t".into(), "d".to_owned());
        state.known_issues.push("the disk is slow".to_owned());
        state
    }

    fn update(completed: &[&str], pending: &[&str], issues: &[&str]) -> StateUpdate {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        StateUpdate {
            completed: list(completed),
            decisions: list(&["use tar"]),
            known_issues: list(issues),
            pending: list(pending),
        }
    }

    #[test]
    fn nothing_that_is_known_may_be_missing() {
        let state = view();
        let good = update(&[], &["a", "b"], &["the disk is slow", "logs are large"]);
        assert_eq!(good.wrong(&state), None);
        assert_eq!(good.news(&state), (vec!["use tar".to_owned()], vec!["logs are large".to_owned()]));
        let wrong = |update: StateUpdate| update.wrong(&state).unwrap();
        assert!(wrong(update(&[], &["a"], &["the disk is slow"])).contains("pending lacks \"b\""));
        assert!(wrong(update(&[], &["a", "b"], &[])).contains("known_issues lacks"));
        assert!(
            wrong(update(&[], &["a", "b", "c"], &["the disk is slow"])).contains("\"c\" that there is not")
        );
        assert!(
            wrong(update(&["a"], &["a", "b"], &["the disk is slow"]))
                .contains("\"a\" is done, and it is not")
        );
    }

    /// A task of a thousand steps, with a secret and very long sentences: what is told can be brought back.
    #[test]
    fn what_is_told_is_bounded_and_redacted_and_enough() {
        let steps = (0..1_000).map(|n| Step { id: format!("s{n}"), ..Step::default() }).collect();
        let task = Task { id: "t".to_owned(), steps, ..Task::default() };
        let mut state = TaskState::new(&task, "r".to_owned(), "/t".into(), "d".to_owned());
        state.completed = state.pending.split_off(500);
        state.known_issues = vec!["password=hunter2hunter2 ".repeat(1_000); 100];
        let redactor = Redactor::default();
        let view = TaskView::of(&state, "s3", &redactor);
        let told = view.section(&Redacted::fixed("-"), &redactor).unwrap();
        assert!(told.as_str().len() < 20_000 && !told.as_str().contains("hunter2"), "{told}");
        let part = TaskPart::new(view.clone());
        let answer = |issues: &[String]| json!({ "state_update": { "completed": view.completed, "pending": view.pending, "decisions": ["x"], "known_issues": issues } });
        assert!(part.take(&answer(&[]), &redactor).unwrap_err().contains("known_issues lacks"));
        assert!(part.take(&json!({}), &redactor).unwrap_err().contains("is missing"));
        part.take(&answer(&[&view.known_issues[..], &["new".to_owned()]].concat()), &redactor).unwrap();
        assert_eq!(part.news.take(), (vec!["x".to_owned()], vec!["new".to_owned()]));
    }
}
