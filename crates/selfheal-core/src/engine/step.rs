//! The one transition function.

use super::{Action, Decision, Event, Finding, Plan, Progress, State, wait_before_retry};
use crate::incident::Status;
use crate::outcome::Class;
use crate::verification::Verdict;

/// An event that cannot happen in this state: a bug of the driver, never of the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{event:?} does not fit state {}", state.word())]
pub struct Unexpected {
    /// The state.
    pub state: State,
    /// The event.
    pub event: Event,
}

type Next = (State, Vec<Action>);

/// The next state of an incident and what to do in it.
///
/// # Errors
/// When the event cannot happen in this state.
pub fn step(plan: &Plan, state: &State, event: Event) -> Result<Next, Unexpected> {
    let next = match (state, &event) {
        (_, Event::FoundDead) if !state.is_final() => found_dead(state),
        (State::Running, Event::RunSucceeded) => end(State::Confirmed, Status::Succeeded),
        (State::Running, Event::RunFailed) => (State::Ran { attempt: 0, waited_ms: 0 }, vec![Action::Report]),
        (State::Retrying { .. }, Event::RunSucceeded) => end(State::Confirmed, Status::Retried),
        (State::Retrying { attempt, waited_ms }, Event::RunFailed) => {
            (State::Ran { attempt: *attempt, waited_ms: *waited_ms }, vec![Action::Report])
        }
        (State::Ran { attempt, waited_ms }, Event::ReportReady(finding)) => {
            after_report(plan, finding, *attempt, *waited_ms)
        }
        (State::Reported { round }, Event::DiagnosisEnded { found }) => match found {
            true => (State::Diagnosed { round: *round }, vec![Action::Propose]),
            false => hand_over(Status::Failed),
        },
        (State::Diagnosed { round }, Event::ProposingEnded { candidates }) => match candidates {
            0 => hand_over(Status::Failed),
            _ => (State::Proposed { round: *round }, vec![Action::Admit]),
        },
        (State::Proposed { round }, Event::AdmissionEnded { admitted, all_refused }) => {
            match (admitted, all_refused) {
                (0, true) => (State::Refused, vec![Action::Notify, Action::Finish(Status::Refused)]),
                (0, false) => hold(),
                _ => (State::Admitted { round: *round }, vec![Action::Verify]),
            }
        }
        (State::Admitted { round }, Event::VerificationEnded { verdict, progress }) => {
            after_trial(plan, *round, *verdict, *progress)
        }
        (State::Verified { .. }, Event::Decided(decision)) => match decision {
            Decision::Apply => (State::Applying, vec![Action::Apply]),
            Decision::Hold => hold(),
            Decision::Deny => (State::Refused, vec![Action::Notify, Action::Finish(Status::Refused)]),
        },
        (State::Held, Event::Approved) => (State::Applying, vec![Action::Apply]),
        (State::Held, Event::Rejected) => end(State::Refused, Status::Refused),
        (State::Held | State::Verified { .. } | State::Applying, Event::FileChanged) => {
            (State::Expired, vec![Action::Notify, Action::Finish(Status::HandedOver)])
        }
        (State::Applying, Event::ApplyDone) if plan.may_rerun => (State::Applied, vec![Action::Rerun]),
        (State::Applying, Event::ApplyDone) => end(State::Watching, Status::Healed),
        (State::Applying, Event::ApplyFailed) => hand_over(Status::HandedOver),
        (State::Applied, Event::RerunStarted { pid, boot_id }) => {
            (State::Rerunning { pid: *pid, boot_id: boot_id.clone() }, vec![])
        }
        (State::Applied | State::Rerunning { .. }, Event::RunSucceeded) => {
            end(State::Watching, Status::Healed)
        }
        (State::Applied | State::Rerunning { .. } | State::Watching, Event::RunFailed) => {
            (State::RolledBack, vec![Action::TakeBack, Action::Notify, Action::Finish(Status::HandedOver)])
        }
        (State::Watching, Event::WatchEnded) => (State::Confirmed, vec![]),
        (State::Applied | State::Watching | State::Confirmed, Event::Undone) => {
            (State::RolledBack, vec![Action::TakeBack])
        }
        _ => return Err(Unexpected { state: state.clone(), event }),
    };
    Ok(next)
}

fn end(state: State, status: Status) -> Next {
    (state, vec![Action::Finish(status)])
}

fn hand_over(status: Status) -> Next {
    (State::HandedOver, vec![Action::Notify, Action::Finish(status)])
}

fn hold() -> Next {
    (State::Held, vec![Action::Notify, Action::Finish(Status::Held)])
}

fn after_report(plan: &Plan, finding: &Finding, attempt: u32, waited_ms: u64) -> Next {
    if let Some(wait) = wait_before_retry(finding, &plan.limits, attempt, waited_ms) {
        let state = State::Retrying { attempt: attempt + 1, waited_ms: waited_ms + wait };
        return (state, vec![Action::Wait(wait), Action::Run]);
    }
    match finding.class {
        Class::Transient => hand_over(Status::Suspended),
        Class::Resource => hand_over(Status::HandedOver),
        Class::Environment | Class::Logic | Class::Dependency | Class::Unknown => {
            (State::Reported { round: 1 }, vec![Action::Diagnose(1)])
        }
    }
}

fn after_trial(plan: &Plan, round: u32, verdict: Verdict, progress: Progress) -> Next {
    match verdict {
        Verdict::Passed => (State::Verified { round }, vec![Action::Decide]),
        Verdict::Inconclusive => hold(),
        Verdict::Failed if !progress.more_sources => hand_over(Status::Failed),
        // A third round only when the second showed something new or nothing new was tried: the fresh start.
        Verdict::Failed if round >= plan.limits.rounds => hand_over(Status::Limit),
        Verdict::Failed if round >= 2 && !progress.repeated && !progress.signature_changed => {
            hand_over(Status::Limit)
        }
        Verdict::Failed => (State::Reported { round: round + 1 }, vec![Action::Diagnose(round + 1)]),
    }
}

/// What becomes of an incident whose process is gone. Nothing had been changed before [`State::Applying`].
fn found_dead(state: &State) -> Next {
    match state {
        State::Applying => (State::Applying, vec![Action::Recover]),
        State::Applied => end(State::Watching, Status::Healed),
        State::Held | State::Watching => (state.clone(), vec![]),
        // Nobody knows how far it got.
        State::Rerunning { .. } | State::Running | State::Retrying { .. } => hand_over(Status::HandedOver),
        _ => hand_over(Status::Failed),
    }
}
