//! Tasks: several steps with dependencies, as data and as a pure state machine.
//!
//! Theory of operation: a [`Task`] is what its file says. A run of it is a [`TaskState`], which the program stores, checked
//! by [`TaskState::check`], before it performs the [`Action`]s that [`step`] gives with it; so a crash leaves a state in
//! which every step that may have begun is [`StepStage::Running`]. The next start asks for each of them what became of it
//! ([`Action::Settle`]) and goes on from there. A step that may have done something that must not happen twice is never
//! started again by the engine: it is handed over, and only a person's [`Verdict`] lets the task go on.

mod engine;
mod graph;
mod plan;
mod state;
mod when;

pub use engine::{Action, Event, Found, Unfit, Verdict, step};
pub use graph::{Fault, check, order};
pub use plan::{Cleanup, Isolation, Lock, OnChange, Reach, RetryClass, Step, Task, Work};
pub use state::{
    CleanupRecord, Decision, FileSummary, Healing, Stage, StepOutcome, StepResult, StepStage, StepState,
    TaskContext, TaskState, VERSION,
};
pub use when::{Term, Test, When};
