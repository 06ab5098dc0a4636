//! Solved cases: a failure, its cause, the repair and what shows that it holds; one for each class of failure, written for
//! selfheal. The one of the failure's own class is shown to a model.

use selfheal_core::outcome::Class;

/// One solved case.
#[derive(Clone, Copy, Debug)]
struct Example {
    class: Class,
    failure: &'static str,
    cause: &'static str,
    repair: &'static str,
    shown_by: &'static str,
}

const EXAMPLES: [Example; 5] = [
    Example {
        class: Class::Logic,
        failure: "`if [ $mode = fast ]` in line 12 ends with `[: =: unary operator expected`; mode is empty",
        cause: "Line 12 uses mode without quotes, so the test loses its left side when it is empty, and set -e ends with 2.",
        repair: "Quote it: `if [ \"$mode\" = fast ]`. Nothing else changes.",
        shown_by: "the job ends with 0 when mode is empty, and still takes the fast way when it is `fast`",
    },
    Example {
        class: Class::Environment,
        failure: "`sort -o lists/all.txt parts/*` in line 8 ends with `lists/all.txt: No such file or directory`",
        cause: "Line 8 writes into lists, a folder that the job never makes; a fresh checkout does not have it.",
        repair: "Make it before line 8: `mkdir -p lists`. A missing parts folder is still an error.",
        shown_by: "lists/all.txt exists, and the job still fails without parts",
    },
    Example {
        class: Class::Dependency,
        failure: "`pick --list FILE` in line 5 ends with `unknown option --list`; its help says `--names FILE`",
        cause: "Line 5 uses an option that this version of pick has not any more; it is called --names now.",
        repair: "Call it by the new name, in every line that uses it.",
        shown_by: "the same names come out as before",
    },
    Example {
        class: Class::Transient,
        failure: "`fetch $URL` in line 3 ends with `timed out` in one of ten runs",
        cause: "Line 3 gives up after the first try, and the server is slow now and then.",
        repair: "Try three times with a pause, and end with the error of the last try.",
        shown_by: "the job ends well when the second try does, and fails when all three do",
    },
    Example {
        class: Class::Unknown,
        failure: "the job ends with 1 and says nothing",
        cause: "Line 9 is `((count++))`, whose status is 1 when count was 0, and set -e ends the job there.",
        repair: "Write `count=$((count + 1))`, whose status is 0.",
        shown_by: "the job goes on behind line 9 and counts as before",
    },
];

/// The solved case of a class, as text.
pub(super) fn of(class: Class) -> String {
    let found = EXAMPLES.iter().find(|example| example.class == class);
    let Some(example) = found.or(EXAMPLES.first()) else { return String::new() };
    format!(
        "Failure: {}.\nCause: {}\nRepair: {}\nShown by: {}.",
        example.failure, example.cause, example.repair, example.shown_by
    )
}
