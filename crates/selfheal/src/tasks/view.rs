//! How a run shows while it goes on: a line for every step, and at a terminal one that moves with what runs and how long.

use std::cell::RefCell;
use std::ffi::OsStr;

use selfheal_core::ids::Timestamp;
use selfheal_core::task::{StepStage, StepState, TaskState};

use super::words;
use crate::commands::tell;
use crate::context::Context;
use crate::terminal::Progress;
use crate::texts::Texts;

/// Shows a run on standard error.
pub struct View {
    terminal: bool,
    /// The line that moves; a new one after each line that stays.
    progress: RefCell<Option<Progress>>,
}

impl View {
    /// For the terminal of this process.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        let moves = context.env.get(OsStr::new("TERM")).is_some_and(|term| term != "dumb");
        Self { terminal: context.terminal.error && moves, progress: RefCell::default() }
    }

    /// One line.
    pub fn say(&self, text: &str) {
        if let Some(progress) = self.progress.take() {
            progress.clear();
        }
        tell(&format!("selfheal: {text}"));
    }

    /// What is different in a new state: steps that were started, where no line moves, and those that ended.
    pub fn changed(&self, texts: &Texts, before: &TaskState, now: &TaskState) {
        let same = |(id, step): &(&String, &StepState)| {
            before.steps.get(*id).map(|step| (step.stage, step.attempt)) == Some((step.stage, step.attempt))
        };
        let changed = now.steps.iter().filter(|step| !same(step));
        // What ended is the reason for what starts, and for what is not run.
        let mut changed: Vec<_> = changed.collect();
        changed.sort_by_key(|(_, step)| (step.stage == StepStage::Running, step.result.is_none()));
        for (id, step) in changed {
            match step.stage {
                StepStage::Running if !self.terminal => {
                    self.say(&texts.say("task-step-started", &[("step", id)]))
                }
                StepStage::Running | StepStage::Pending => {}
                _ => {
                    self.say(&words::step_line(texts, id, step));
                    let issues = step.result.iter().flat_map(|result| &result.issues);
                    issues.for_each(|issue| self.say(&format!("  ! {}", crate::terminal::clean(issue))));
                }
            }
        }
    }

    /// Moves the line of what runs.
    pub fn tick(&self, state: &TaskState, now: Timestamp) {
        if !self.terminal {
            return;
        }
        let running = state.steps.iter().filter(|(_, step)| step.stage == StepStage::Running);
        let shown: Vec<String> = running
            .map(|(id, step)| {
                let since = now.0.saturating_sub(step.began.unwrap_or(now).0) / 1_000;
                format!("{id} {since} s")
            })
            .collect();
        let mut progress = self.progress.borrow_mut();
        progress.get_or_insert_with(|| Progress::new(true)).say(shown.join(", "));
    }

    /// The last lines.
    pub fn end(&self, lines: &[String]) {
        for line in lines {
            self.say(line);
        }
    }
}
