//! Every exit code of selfheal's own, in one place. Stable, never reused. What stands for the end of a job (its own
//! code; 124 deadline, 125 not started, 126 not executable, 127 not found, 128+n signal) is `Ended::code` in core;
//! `docs/exit-codes.md` has both.

/// The command did what it should.
pub const OK: i32 = 0;
/// A command other than `run` could not do what was asked: `error:` and `hint:` say why.
pub const ERROR: i32 = 1;
/// `try`, `run --transaction`: what the command did was not put in place, and nothing was changed.
pub const NOT_IN_PLACE: i32 = 115;
/// `try`, `run --transaction`: there is no box, so nothing was run.
pub const NO_BOX: i32 = 125;
/// The command line or the settings are wrong; nothing was done.
pub const USAGE: i32 = 2;
/// `audit verify`: the record was tampered with or is damaged.
pub const TAMPERED: i32 = 3;
/// `run --overlap wait` or `replace`: an earlier run of the job still went on when the job's deadline had passed.
pub const TOO_LATE: i32 = 124;
/// `run`: what the job wrote to standard output could not be passed on (a full disk), and the job did not notice.
pub const OUTPUT_LOST: i32 = 125;
/// selfheal could not start the job.
pub const NOT_STARTED: i32 = 125;
/// `run --exit-status`: a repair is ready and waits for a person; `write`: a script does.
pub const HELD: i32 = 110;
/// `run --exit-status`: a repair is ready and waits for a person for a limited time (`wait 2h`), then it expires.
pub const WAITS: i32 = 116;
/// `run --exit-status`, `task`: a person must do something.
pub const HANDED_OVER: i32 = 111;
/// `run --exit-status`: the repair was refused by policy.
pub const REFUSED: i32 = 112;
/// `run --exit-status`: a limit or budget was reached.
pub const LIMIT: i32 = 113;
/// `run`: the job ended with exit code 0 and broke its contract, and was not put right.
pub const UNFULFILLED: i32 = 114;
/// `task`: it was told to end.
pub const CANCELLED: i32 = 143;
/// `check`: something dangerous was found.
pub const DANGEROUS: i32 = 120;
/// `check --diff`: the change hides a failure.
pub const MASKED: i32 = 121;
/// `check`: something could not be judged.
pub const UNJUDGED: i32 = 122;

use selfheal_core::incident::Status;

/// The exit code of `selfheal run` for a repair that waits; `limited` is whether it waits for a limited time.
#[must_use]
pub fn of_held(limited: bool, own: i32, speaking: bool) -> i32 {
    if limited && speaking { WAITS } else { of_run(Status::Held, own, speaking) }
}

/// The exit code of `selfheal run` for a status and the job's own code; `speaking` is `--exit-status`.
#[must_use]
pub fn of_run(status: Status, own: i32, speaking: bool) -> i32 {
    match status {
        Status::Held if speaking => HELD,
        Status::HandedOver | Status::Suspended if speaking => HANDED_OVER,
        Status::Refused if speaking => REFUSED,
        Status::Limit if speaking => LIMIT,
        Status::Succeeded | Status::Negative | Status::Retried | Status::Healed => own,
        _ if own == OK => UNFULFILLED,
        _ => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_s_own_code_is_kept_unless_asked() {
        assert_eq!(of_run(Status::Held, 7, false), 7);
        assert_eq!(of_run(Status::Held, 7, true), HELD);
        assert_eq!(of_held(true, 7, true), WAITS);
        assert_eq!(of_held(false, 7, true), HELD);
        assert_eq!(of_held(true, 7, false), 7);
        assert_eq!(of_run(Status::Failed, 7, true), 7);
        assert_eq!(of_run(Status::Negative, 1, true), 1);
        assert_eq!(of_run(Status::Failed, 0, false), UNFULFILLED);
        assert_eq!(of_run(Status::Held, 0, false), UNFULFILLED);
        assert_eq!(of_run(Status::Healed, 0, false), OK);
    }
}
