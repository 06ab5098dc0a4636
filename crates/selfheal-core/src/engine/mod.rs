//! The engine: the way of an incident as a pure state machine.
//!
//! Theory of operation: the driver in the program holds one [`State`]. It feeds what happened as an [`Event`] to
//! [`step`] and gets the next state with the [`Action`]s to perform. It stores the next state *before* it performs
//! them, so a crash leaves a state that names the last action that may have begun; [`Event::FoundDead`] tells what to do
//! with such a leftover. Nothing here waits, reads or writes.

mod retry;
mod step;

pub use retry::wait_before_retry;
pub use step::{Unexpected, step};

use serde::{Deserialize, Serialize};

use crate::incident::Status;
use crate::outcome::Class;
use crate::settings::Limits;
use crate::verification::Verdict;

/// Where an incident stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// The job runs for the first time.
    Running,
    /// It waits, then runs again.
    Retrying {
        /// Which retry it is, from 1.
        attempt: u32,
        /// Milliseconds waited so far, this wait included.
        waited_ms: u64,
    },
    /// It ran and failed; the report is being made.
    Ran {
        /// Retries made so far.
        attempt: u32,
        /// Milliseconds waited so far.
        waited_ms: u64,
    },
    /// The report is there; a diagnosis is being sought.
    Reported {
        /// The round that it is sought for, from 1.
        round: u32,
    },
    /// There is a diagnosis; candidates are being made.
    Diagnosed {
        /// The round.
        round: u32,
    },
    /// There are candidates; they are being judged.
    Proposed {
        /// The round.
        round: u32,
    },
    /// At least one was admitted; it is being tried.
    Admitted {
        /// The round.
        round: u32,
    },
    /// One was verified; whether it may be applied is being decided.
    Verified {
        /// The round.
        round: u32,
    },
    /// It waits for a person.
    Held,
    /// Files are being changed. A leftover in this state is completed or taken back from the snapshots.
    Applying,
    /// The repair is in place.
    Applied,
    /// The repaired job runs for real.
    Rerunning {
        /// The process that runs it: selfheal's own, whose end tells that nobody watches any more.
        pid: u32,
        /// The boot that the number belongs to.
        boot_id: String,
    },
    /// The repair is in place and the next runs are watched.
    Watching,
    /// It stayed good.
    Confirmed,
    /// Files are being put back. A leftover in this state is completed.
    TakingBack {
        /// Because the repaired job failed, not because a person wants it.
        failed: bool,
    },
    /// The repair was taken back.
    RolledBack,
    /// Refused by policy, by the guard or by a person.
    Refused,
    /// The file changed while a decision was open.
    Expired,
    /// A person must do something.
    HandedOver,
}

impl State {
    /// Whether nothing further happens by itself.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Confirmed | Self::RolledBack | Self::Refused | Self::Expired | Self::HandedOver)
    }

    /// Whether nothing of a repair can have been put in place yet, and nobody is asked to decide on one.
    #[must_use]
    pub fn is_before_a_change(&self) -> bool {
        match self {
            Self::Running
            | Self::Retrying { .. }
            | Self::Ran { .. }
            | Self::Reported { .. }
            | Self::Diagnosed { .. }
            | Self::Proposed { .. }
            | Self::Admitted { .. }
            | Self::Verified { .. } => true,
            Self::Held | Self::Applying | Self::Applied | Self::Rerunning { .. } | Self::Watching => false,
            Self::TakingBack { .. } => false,
            Self::Confirmed | Self::RolledBack | Self::Refused | Self::Expired | Self::HandedOver => false,
        }
    }

    /// The word used in listings.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Retrying { .. } => "retrying",
            Self::Ran { .. } => "ran",
            Self::Reported { .. } => "reported",
            Self::Diagnosed { .. } => "diagnosed",
            Self::Proposed { .. } => "proposed",
            Self::Admitted { .. } => "admitted",
            Self::Verified { .. } => "verified",
            Self::Held => "held",
            Self::Applying => "applying",
            Self::Applied => "applied",
            Self::Rerunning { .. } => "rerunning",
            Self::Watching => "watching",
            Self::Confirmed => "confirmed",
            Self::TakingBack { .. } => "taking_back",
            Self::RolledBack => "rolled_back",
            Self::Refused => "refused",
            Self::Expired => "expired",
            Self::HandedOver => "handed_over",
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A real run ended well, or with an exit code that is an answer.
    RunSucceeded,
    /// A real run failed.
    RunFailed,
    /// The report on the last run is ready.
    ReportReady(Finding),
    /// Diagnosing ended; whether there is a diagnosis.
    DiagnosisEnded {
        /// Whether any tier has one.
        found: bool,
    },
    /// Proposing ended.
    ProposingEnded {
        /// How many candidates there are.
        candidates: usize,
    },
    /// Judging ended.
    AdmissionEnded {
        /// How many candidates may be tried.
        admitted: usize,
        /// Whether every other one was refused by the guard.
        all_refused: bool,
        /// Whether another source could still propose something.
        more_sources: bool,
    },
    /// Trying ended, with the verdict on the best candidate.
    VerificationEnded {
        /// The verdict.
        verdict: Verdict,
        /// What the failed trial says about a further round.
        progress: Progress,
    },
    /// It was decided what to do with a verified repair.
    Decided(Decision),
    /// A person rejected it.
    Rejected,
    /// A person approved it.
    Approved,
    /// A file that it changes is not what it was.
    FileChanged,
    /// The time in which a person could decide is over.
    NobodyAnswered,
    /// The files were changed.
    ApplyDone,
    /// They could not be changed; nothing was.
    ApplyFailed,
    /// selfheal was told to end. What is not begun is left; a change that is being made is made first.
    ToldToEnd,
    /// The real run of the repaired job begins.
    RerunStarted {
        /// The process that runs it.
        pid: u32,
        /// The boot that the number belongs to.
        boot_id: String,
    },
    /// The watch ended well.
    WatchEnded,
    /// A person takes the repair back.
    UndoBegun,
    /// All files are back.
    TakenBack,
    /// A person wants a repair back in place that was taken back.
    Redone,
    /// The process that worked on it is gone.
    FoundDead,
}

/// What the report says for the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The class of the failure.
    pub class: Class,
    /// Whether the report has a location inside the script.
    pub located: bool,
    /// Whether the job may run again: the second of the two permissions.
    pub repeatable: bool,
    /// What a server asked to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// What a failed trial says about a further round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// It was the same repair as in the round before.
    pub repeated: bool,
    /// The failure is another one now.
    pub signature_changed: bool,
    /// Another source could still propose something.
    pub more_sources: bool,
}

/// What is to be done with a verified repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Put it in; whether the job may then run again.
    Apply,
    /// Leave it ready for a person.
    Hold,
    /// Drop it.
    Deny,
}

/// What the driver is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Wait this many milliseconds.
    Wait(u64),
    /// Run the job for real.
    Run,
    /// Make the report on the last run.
    Report,
    /// Seek a diagnosis for this round.
    Diagnose(u32),
    /// Make candidates.
    Propose,
    /// Judge them.
    Admit,
    /// Try them in boxes.
    Verify,
    /// Decide by policy, holds and the person at the terminal.
    Decide,
    /// Save snapshots, then change the files.
    Apply,
    /// Put the files back.
    TakeBack,
    /// Complete or take back what a dead process left half done.
    Recover,
    /// Run the repaired job for real, if it may run again.
    Rerun,
    /// Tell a person.
    Notify,
    /// It ended like this.
    Finish(Status),
}

impl Action {
    /// Whether it is not done any more once selfheal was told to end. What makes a change whole, or tells of it, is.
    #[must_use]
    pub fn begins_something(&self) -> bool {
        match self {
            Self::Wait(_)
            | Self::Run
            | Self::Report
            | Self::Diagnose(_)
            | Self::Propose
            | Self::Admit
            | Self::Verify
            | Self::Decide
            | Self::Rerun => true,
            Self::Apply | Self::TakeBack | Self::Recover | Self::Notify | Self::Finish(_) => false,
        }
    }
}

/// What holds for the whole incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Every hard stop.
    pub limits: Limits,
    /// Whether a real rerun after the repair is allowed.
    pub may_rerun: bool,
}
