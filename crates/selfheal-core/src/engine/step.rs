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
        (State::Proposed { round }, Event::AdmissionEnded { admitted, all_refused, more_sources }) => {
            match (admitted, all_refused) {
                (0, _) if *more_sources && *round < plan.limits.rounds => next_round(*round),
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
        // Never applied because nobody answered.
        (State::Held, Event::NobodyAnswered) => end(State::Expired, Status::HandedOver),
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
            (State::TakingBack { failed: true }, vec![Action::TakeBack])
        }
        (State::Applied | State::Rerunning { .. }, Event::ToldToEnd) => end(State::Watching, Status::Healed),
        (state, Event::ToldToEnd) if state.is_before_a_change() => hand_over(Status::Failed),
        (State::Watching, Event::WatchEnded) => (State::Confirmed, vec![]),
        // One that was handed over may have a repair in place that a crash cut off from its watch.
        (State::Applied | State::Watching | State::Confirmed | State::HandedOver, Event::UndoBegun) => {
            (State::TakingBack { failed: false }, vec![Action::TakeBack])
        }
        (State::TakingBack { failed: true }, Event::TakenBack) => {
            (State::RolledBack, vec![Action::Notify, Action::Finish(Status::HandedOver)])
        }
        (State::TakingBack { failed: false }, Event::TakenBack) => (State::RolledBack, vec![]),
        (State::RolledBack, Event::Redone) => (State::Applying, vec![Action::Apply]),
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
        Verdict::Failed => next_round(round),
    }
}

fn next_round(round: u32) -> Next {
    (State::Reported { round: round + 1 }, vec![Action::Diagnose(round + 1)])
}

/// What becomes of an incident whose process is gone. Nothing had been changed before [`State::Applying`].
fn found_dead(state: &State) -> Next {
    match state {
        State::Applying | State::TakingBack { .. } => (state.clone(), vec![Action::Recover]),
        State::Applied => end(State::Watching, Status::Healed),
        State::Held | State::Watching => (state.clone(), vec![]),
        // Nobody knows how far it got.
        State::Rerunning { .. } | State::Running | State::Retrying { .. } => hand_over(Status::HandedOver),
        _ => hand_over(Status::Failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Limits;

    const PLAN: Plan = Plan { limits: Limits::DEFAULT, may_rerun: true };

    fn finding(class: Class, repeatable: bool) -> Event {
        Event::ReportReady(Finding { class, located: true, repeatable, retry_after_ms: None })
    }

    fn walk(plan: &Plan, events: Vec<Event>) -> (State, Vec<Action>) {
        events
            .into_iter()
            .fold((State::Running, vec![Action::Run]), |(state, _), event| step(plan, &state, event).unwrap())
    }

    fn to_verified() -> Vec<Event> {
        vec![
            Event::RunFailed,
            finding(Class::Logic, true),
            Event::DiagnosisEnded { found: true },
            Event::ProposingEnded { candidates: 1 },
            Event::AdmissionEnded { admitted: 1, all_refused: false, more_sources: false },
            Event::VerificationEnded { verdict: Verdict::Passed, progress: Progress::default() },
        ]
    }

    #[test]
    fn the_main_way_ends_healed() {
        let mut events = to_verified();
        events.extend([Event::Decided(Decision::Apply), Event::ApplyDone]);
        let (state, actions) = walk(&PLAN, events.clone());
        assert_eq!((state, actions), (State::Applied, vec![Action::Rerun]));
        events.push(Event::RerunStarted { pid: 7, boot_id: "b".into() });
        events.push(Event::RunSucceeded);
        assert_eq!(walk(&PLAN, events), (State::Watching, vec![Action::Finish(Status::Healed)]));
    }

    #[test]
    fn a_job_that_must_not_run_twice_is_repaired_but_not_rerun() {
        let plan = Plan { may_rerun: false, ..PLAN };
        let mut events = to_verified();
        events.extend([Event::Decided(Decision::Apply), Event::ApplyDone]);
        assert_eq!(walk(&plan, events), (State::Watching, vec![Action::Finish(Status::Healed)]));
    }

    #[test]
    fn a_repair_that_fails_for_real_is_taken_back() {
        let mut events = to_verified();
        events.extend([Event::Decided(Decision::Apply), Event::ApplyDone, Event::RunFailed]);
        let (state, actions) = walk(&PLAN, events);
        assert_eq!((&state, actions), (&State::TakingBack { failed: true }, vec![Action::TakeBack]));
        let (state, actions) = step(&PLAN, &state, Event::TakenBack).unwrap();
        assert_eq!(state, State::RolledBack);
        assert_eq!(actions, [Action::Notify, Action::Finish(Status::HandedOver)]);
    }

    #[test]
    fn what_a_person_takes_back_may_come_again() {
        let (state, _) = step(&PLAN, &State::Watching, Event::UndoBegun).unwrap();
        assert_eq!(step(&PLAN, &state, Event::TakenBack).unwrap(), (State::RolledBack, vec![]));
        let again = step(&PLAN, &State::RolledBack, Event::Redone).unwrap();
        assert_eq!(again, (State::Applying, vec![Action::Apply]));
        assert!(step(&PLAN, &State::HandedOver, Event::Redone).is_err());
    }

    #[test]
    fn resource_failures_are_handed_over_at_once_and_transient_ones_wait() {
        let (state, actions) = walk(&PLAN, vec![Event::RunFailed, finding(Class::Resource, true)]);
        assert_eq!(state, State::HandedOver);
        assert!(actions.contains(&Action::Finish(Status::HandedOver)));
        let (state, actions) = walk(&PLAN, vec![Event::RunFailed, finding(Class::Transient, true)]);
        assert_eq!(state, State::Retrying { attempt: 1, waited_ms: 1_000 });
        assert_eq!(actions, [Action::Wait(1_000), Action::Run]);
    }

    #[test]
    fn three_rounds_at_most_and_the_third_only_as_a_fresh_start() {
        let failed = |progress| Event::VerificationEnded { verdict: Verdict::Failed, progress };
        let more = Progress { more_sources: true, ..Progress::default() };
        let at = |round| State::Admitted { round };
        assert_eq!(step(&PLAN, &at(1), failed(more)).unwrap().0, State::Reported { round: 2 });
        assert_eq!(step(&PLAN, &at(2), failed(more)).unwrap().0, State::HandedOver);
        let fresh = Progress { signature_changed: true, ..more };
        assert_eq!(step(&PLAN, &at(2), failed(fresh)).unwrap().0, State::Reported { round: 3 });
        assert_eq!(step(&PLAN, &at(3), failed(fresh)).unwrap().0, State::HandedOver);
    }

    #[test]
    fn a_crash_never_reruns_and_only_applying_needs_recovery() {
        let dead = |state: &State| step(&PLAN, state, Event::FoundDead).unwrap();
        for state in [State::Applying, State::TakingBack { failed: true }] {
            assert_eq!(dead(&state), (state, vec![Action::Recover]));
        }
        let rerunning = State::Rerunning { pid: 1, boot_id: "b".into() };
        assert_eq!(dead(&rerunning).0, State::HandedOver);
        for state in [State::Running, State::Reported { round: 1 }, State::Verified { round: 1 }] {
            let (next, actions) = dead(&state);
            assert_eq!(next, State::HandedOver);
            assert!(!actions.contains(&Action::Run) && !actions.contains(&Action::Rerun));
        }
        assert!(step(&PLAN, &State::Confirmed, Event::FoundDead).is_err());
    }

    #[test]
    fn what_is_told_to_end_begins_nothing_and_leaves_no_change_half_made() {
        let told = |state: &State| step(&PLAN, state, Event::ToldToEnd);
        for state in
            [State::Running, State::Retrying { attempt: 1, waited_ms: 1 }, State::Verified { round: 1 }]
        {
            let (next, actions) = told(&state).unwrap();
            assert_eq!(
                (next, actions),
                (State::HandedOver, vec![Action::Notify, Action::Finish(Status::Failed)])
            );
        }
        // The repair is in place: it is watched, and taken back where the next run fails.
        for state in [State::Applied, State::Rerunning { pid: 1, boot_id: "b".into() }] {
            assert_eq!(told(&state).unwrap(), (State::Watching, vec![Action::Finish(Status::Healed)]));
        }
        assert!(told(&State::Applying).is_err() && told(&State::Held).is_err());
    }

    #[test]
    fn what_does_not_fit_is_an_error_and_not_a_guess() {
        assert!(step(&PLAN, &State::Held, Event::ApplyDone).is_err());
    }
}
