//! Where a run of a task stands: what its state file holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Task;
use crate::ids::Timestamp;
use crate::incident::Owner;

/// The version of the state file's form; grows when a field changes its meaning or goes.
pub const VERSION: u32 = 1;

/// One run of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskState {
    /// The version of the form.
    pub version: u32,
    /// The task's name.
    pub task: String,
    /// The run's identity.
    pub run: String,
    /// The task file, absolute.
    pub file: PathBuf,
    /// What the file held when the run began or was last resumed, as a digest.
    pub digest: String,
    /// Where the run stands.
    pub stage: Stage,
    /// Why no further step is started, where none is.
    pub stopping: Option<Stage>,
    /// When it began.
    pub started: Timestamp,
    /// When it was stored last.
    pub updated: Timestamp,
    /// Its end.
    pub deadline: Option<Timestamp>,
    /// The process that works on it, while one does.
    pub owner: Option<Owner>,
    /// The steps that ended well, in the order in which they did.
    pub completed: Vec<String>,
    /// The steps that are not ended.
    pub pending: Vec<String>,
    /// Every step.
    pub steps: BTreeMap<String, StepState>,
    /// What was decided, and by whom.
    pub decisions: Vec<Decision>,
    /// What a person should know, a sentence each.
    pub known_issues: Vec<String>,
    /// What was done at the end, and what of it did not work.
    pub cleanups: Vec<CleanupRecord>,
}

/// Where a run of a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Steps run or are to be run.
    Running,
    /// No step runs any more, and cleaning up is left.
    Cleaning,
    /// Every step ended well.
    Succeeded,
    /// A step failed.
    Failed,
    /// A person must decide.
    HandedOver,
    /// It was told to end.
    Cancelled,
    /// Its deadline hit.
    TimedOut,
}

impl Stage {
    /// The word for texts and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Cleaning => "cleaning",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::HandedOver => "handed_over",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
        }
    }

    /// Whether nothing is left to be done.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Running | Self::Cleaning)
    }
}

/// Where one step stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepState {
    /// Where it stands.
    pub stage: StepStage,
    /// How often it was started.
    pub attempt: u32,
    /// When it was started last.
    pub began: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// What the file said of it when it was started, as a digest.
    pub digest: String,
    /// What it had for itself on the machine, and why not more. Absent in states of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<String>,
    /// What became of it.
    pub result: Option<StepResult>,
}

/// Where one step stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStage {
    /// It was not started.
    #[default]
    Pending,
    /// It may have been started: the mark before everything that it does.
    Running,
    /// It ended.
    Ended,
    /// Its condition does not hold, or what it stands in for did not fail.
    Skipped,
    /// It was not started because another step failed.
    Blocked,
    /// It may have done what must not happen twice: a person must say.
    HandedOver,
}

/// How a step ended, as conditions name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// It did what it should.
    Succeeded,
    /// Its exit code is an answer.
    Negative,
    /// It failed.
    Failed,
    /// It was not run because its condition did not hold.
    Skipped,
    /// It was told to end.
    Cancelled,
}

impl StepOutcome {
    const ALL: [Self; 5] = [Self::Succeeded, Self::Negative, Self::Failed, Self::Skipped, Self::Cancelled];

    /// The word for conditions, texts and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Negative => "negative",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }

    /// The outcome with this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.word() == word)
    }

    /// Whether the task goes on after it.
    #[must_use]
    pub fn is_good(self) -> bool {
        matches!(self, Self::Succeeded | Self::Negative | Self::Skipped)
    }
}

/// What became of a step. Texts are redacted and bounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepResult {
    /// How it ended.
    pub outcome: StepOutcome,
    /// Its exit code.
    pub code: i32,
    /// How long its last run took, in milliseconds.
    pub duration_ms: u64,
    /// Whether it may be run again by itself: what failed of it left nothing, or it may run twice.
    pub repeatable: bool,
    /// What went wrong, in a sentence.
    pub why: Option<String>,
    /// The probable reason, in plain words.
    pub reason: Option<String>,
    /// What to do, in plain words.
    pub to_do: Option<String>,
    /// What selfheal did about a failure.
    pub healing: Option<Healing>,
    /// What it read.
    pub input: Vec<FileSummary>,
    /// What it wrote.
    pub output: Vec<FileSummary>,
    /// What else is known, a sentence each.
    pub notes: Vec<String>,
    /// What was decided on the way, a sentence each; the task takes it over.
    pub decisions: Vec<String>,
    /// What a person should know of the task; the task takes it over.
    pub issues: Vec<String>,
}

/// What selfheal did about a failing step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Healing {
    /// The incident.
    pub incident: String,
    /// What became of it, in the words of `run --json`.
    pub status: String,
    /// What was changed, a sentence each.
    pub summary: Vec<String>,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSummary {
    /// Its path.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its content, up to the size that is hashed.
    pub sha256: Option<String>,
}

/// Something that was decided about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// When.
    pub at: Timestamp,
    /// The step, if it is about one.
    pub step: Option<String>,
    /// What, in a sentence.
    pub what: String,
}

/// What was done at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CleanupRecord {
    /// The step whose hook it was; none for the task's own.
    pub step: Option<String>,
    /// What.
    pub what: String,
    /// Why it did not work, if it did not.
    pub failed: Option<String>,
}

/// What every block of a task is given: who it works for, until when, and where the truth is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskContext {
    /// The task's name.
    pub task: String,
    /// The run's identity.
    pub run: String,
    /// The step.
    pub step: String,
    /// Where the run stands.
    pub stage: Stage,
    /// The state file.
    pub state: PathBuf,
    /// The folders that the step may work in: the task's own, and one for this run alone.
    pub roots: Vec<PathBuf>,
    /// When the whole task must have ended.
    pub deadline: Option<Timestamp>,
    /// How often the step was started before.
    pub retries: u32,
}

impl TaskState {
    /// The state of a run that is about to begin. `digests` gives what the file says of each step.
    #[must_use]
    pub fn new(task: &Task, run: String, file: PathBuf, digest: String) -> Self {
        let mut state = Self {
            version: VERSION,
            task: task.id.clone(),
            run,
            file,
            digest,
            stage: Stage::Running,
            stopping: None,
            started: Timestamp(0),
            updated: Timestamp(0),
            deadline: None,
            owner: None,
            completed: Vec::new(),
            pending: Vec::new(),
            steps: task.steps.iter().map(|step| (step.id.clone(), StepState::default())).collect(),
            decisions: Vec::new(),
            known_issues: Vec::new(),
            cleanups: Vec::new(),
        };
        state.sum_up();
        state
    }

    /// How a step ended, if it did.
    #[must_use]
    pub fn outcome(&self, step: &str) -> Option<StepOutcome> {
        self.steps.get(step).and_then(StepState::outcome)
    }

    /// Brings the two lists in line with the steps; what is completed keeps its order.
    pub fn sum_up(&mut self) {
        let good = |state: &StepState| state.outcome().is_some_and(StepOutcome::is_good);
        let steps = &self.steps;
        self.completed.retain(|id| steps.get(id).is_some_and(good));
        let known: BTreeSet<&String> = self.completed.iter().collect();
        let fresh = steps.iter().filter(|(id, state)| good(state) && !known.contains(id));
        let fresh: Vec<String> = fresh.map(|(id, _)| id.clone()).collect();
        self.completed.extend(fresh);
        let open = |state: &StepState| matches!(state.stage, StepStage::Pending | StepStage::Running);
        self.pending = self.steps.iter().filter(|(_, state)| open(state)).map(|(id, _)| id.clone()).collect();
    }

    /// What is wrong with it, where something is: every sentence is a reason not to store it.
    #[must_use]
    pub fn check(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.version != VERSION {
            wrong.push(format!("version is {}, not {VERSION}", self.version));
        }
        for (name, text) in [("task", &self.task), ("run", &self.run), ("digest", &self.digest)] {
            if text.is_empty() {
                wrong.push(format!("{name} is missing"));
            }
        }
        let mut summed = self.clone();
        summed.sum_up();
        if summed.completed != self.completed || summed.pending != self.pending {
            wrong.push("completed and pending do not say what the steps say".to_owned());
        }
        for (id, step) in &self.steps {
            wrong.extend(step.wrong().map(|what| format!("step {id}: {what}")));
        }
        if self.stage.is_final() && !self.pending.is_empty() {
            wrong.push(format!("it is {}, and {} is not ended", self.stage.word(), self.pending.join(", ")));
        }
        wrong
    }

    /// What of an earlier state is missing in this one: nothing that was known may get lost on the way.
    #[must_use]
    pub fn lost_since(&self, earlier: &Self) -> Vec<String> {
        let mut lost = Vec::new();
        if self.run != earlier.run || self.task != earlier.task {
            lost.push("it is of another run".to_owned());
        }
        lost.extend(
            earlier
                .completed
                .iter()
                .filter(|id| !self.steps.contains_key(*id))
                .map(|id| format!("step {id} is gone")),
        );
        if !self.decisions.starts_with(&earlier.decisions) {
            lost.push("decisions are gone".to_owned());
        }
        if !self.known_issues.starts_with(&earlier.known_issues) {
            lost.push("known issues are gone".to_owned());
        }
        lost
    }
}

impl StepResult {
    /// A result of which nothing is known but how it ended.
    #[must_use]
    pub fn plain(outcome: StepOutcome, code: i32) -> Self {
        Self {
            outcome,
            code,
            duration_ms: 0,
            repeatable: false,
            why: None,
            reason: None,
            to_do: None,
            healing: None,
            input: Vec::new(),
            output: Vec::new(),
            notes: Vec::new(),
            decisions: Vec::new(),
            issues: Vec::new(),
        }
    }
}

impl StepState {
    /// How it ended, if it did.
    #[must_use]
    pub fn outcome(&self) -> Option<StepOutcome> {
        match self.stage {
            StepStage::Ended => self.result.as_ref().map(|result| result.outcome),
            StepStage::Skipped => Some(StepOutcome::Skipped),
            StepStage::Pending | StepStage::Running | StepStage::Blocked | StepStage::HandedOver => None,
        }
    }

    fn wrong(&self) -> Option<&'static str> {
        match self.stage {
            StepStage::Ended if self.result.is_none() => Some("it ended without a result"),
            StepStage::Ended | StepStage::Running if self.attempt == 0 => Some("it was never started"),
            StepStage::Running if self.began.is_none() => Some("it began at no time"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Step;

    fn fresh() -> TaskState {
        let step = Step { id: "a".to_owned(), ..Step::default() };
        let task = Task { id: "t".to_owned(), steps: vec![step], ..Task::default() };
        TaskState::new(&task, "r".to_owned(), "/t.toml".into(), "d".to_owned())
    }

    #[test]
    fn a_state_that_contradicts_itself_is_not_stored() {
        let state = fresh();
        assert_eq!(state.check(), Vec::<String>::new());
        let ended = TaskState { stage: Stage::Succeeded, ..state.clone() };
        assert_eq!(ended.check(), ["it is succeeded, and a is not ended"]);
        let mut lied = state.clone();
        lied.completed.push("a".to_owned());
        assert_eq!(lied.check(), ["completed and pending do not say what the steps say"]);
        let mut torn = state;
        torn.steps.get_mut("a").unwrap().stage = StepStage::Ended;
        torn.sum_up();
        assert_eq!(torn.check(), ["step a: it ended without a result"]);
    }

    #[test]
    fn nothing_known_gets_lost() {
        let mut earlier = fresh();
        earlier.known_issues.push("one".to_owned());
        let mut later = earlier.clone();
        later.known_issues.push("two".to_owned());
        assert!(later.lost_since(&earlier).is_empty());
        assert_eq!(earlier.lost_since(&later), ["known issues are gone"]);
    }

    #[test]
    fn an_unknown_field_is_no_state() {
        let mut value = serde_json::to_value(fresh()).unwrap();
        assert!(serde_json::from_value::<TaskState>(value.clone()).is_ok());
        value.as_object_mut().unwrap().insert("more".to_owned(), 1.into());
        assert!(serde_json::from_value::<TaskState>(value).is_err());
    }
}
