//! What a model says of the task that its script is a step of. It must know all that is known, or its answer is sent back.

use selfheal_core::task::TaskState;
use serde::{Deserialize, Serialize};

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

/// Sentences of each kind that are taken over.
const MOST: usize = 20;
/// The longest of them, in characters.
const LONGEST: usize = 300;

impl StateUpdate {
    /// The form of it in an answer.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        let list = serde_json::json!({
            "type": "array", "maxItems": 200, "items": { "type": "string", "maxLength": LONGEST }
        });
        serde_json::json!({
            "type": "object",
            "properties": { "completed": list, "decisions": list, "known_issues": list, "pending": list },
            "required": ["completed", "decisions", "known_issues", "pending"],
            "additionalProperties": false
        })
    }

    /// Why it cannot be taken over: something that is known is missing, or something is said that is not so.
    #[must_use]
    pub fn wrong(&self, state: &TaskState) -> Option<String> {
        let missing = |name: &str, said: &[String], known: &[String]| {
            let lost = known.iter().find(|one| !said.contains(one))?;
            Some(format!("state_update.{name} lacks \"{lost}\""))
        };
        let unknown = || {
            let said = self.completed.iter().chain(&self.pending);
            let other = said.into_iter().find(|id| !state.steps.contains_key(*id))?;
            Some(format!("state_update names a step \"{other}\" that there is not"))
        };
        let too_early = || {
            let early = self.completed.iter().find(|id| !state.completed.contains(id))?;
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
    pub fn news(&self, state: &TaskState) -> (Vec<String>, Vec<String>) {
        let short = |text: &String| text.chars().take(LONGEST).collect::<String>();
        let issues = self.known_issues.iter().filter(|issue| !state.known_issues.contains(issue));
        (self.decisions.iter().take(MOST).map(short).collect(), issues.take(MOST).map(short).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfheal_core::task::{Step, Task};

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
        let state = state();
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
}
