//! What a person would have to allow where something could not be tried: one line for each reason.

/// Parts of reasons as boxes and the driver say them, and what would let it be tried. The first that fits counts.
const ALLOW: &[(&str, &str)] = &[
    ("has no network", "the network: look at it with `selfheal try --net -- COMMAND`, then approve it"),
    ("did not end within", "more time for one trial: `trial` under [limits]"),
    ("the time for trials", "more time for all trials: `incident` under [limits]"),
    ("the room for trials", "more room for all trials: `trial-disk` under [limits], or more free disk"),
    (
        "wrote more than",
        "more room: `trial-disk` under [limits]; `selfheal try --limit room=SIZE -- COMMAND` shows what it needs",
    ),
    (
        "larger file",
        "a larger file: look at it with `selfheal try --limit file-size=SIZE -- COMMAND`, then approve it",
    ),
    ("memory", "more memory: look at it with `selfheal try --limit memory=SIZE -- COMMAND`, then approve it"),
    (
        "more processes",
        "more processes: look at it with `selfheal try --limit processes=N -- COMMAND`, then approve it",
    ),
    ("secret variable", "the secret, which no trial gets: a person approves it and looks at the real run"),
    ("is hidden in the box", "that the box shows it: `see` under [box]"),
    ("setuid", "its rights (sudo), which no trial gets: a person approves it and looks at the real run"),
    (
        "refuses this even to root",
        "its rights, which no trial gets: a person approves it and looks at the real run",
    ),
    (
        "system call that the box refuses",
        "the system call, which no trial gets: a person approves it and looks at the real run",
    ),
    ("belongs to another user", "a trial as the owner or as root: run selfheal as that user"),
    ("its own folders only", "a better box: overlays for this user (`selfheal doctor` says what is missing)"),
    ("no box on this machine", "boxes: `selfheal doctor` says what this machine lacks"),
];

/// For whatever else: a person looks at the real run.
const ELSE: &str = "that it is put in untried: a person approves it and looks at the real run";

/// A reason with what a person would have to allow.
pub(super) fn with_what_to_allow(why: &str) -> String {
    if why.contains("; it needs ") {
        return why.to_owned();
    }
    let found = ALLOW.iter().find(|(part, _)| why.contains(part)).map_or(ELSE, |(_, allow)| allow);
    format!("{why}; it needs {found}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_says_what_it_needs() {
        let needs = |why: &str| with_what_to_allow(why).split_once("; it needs ").unwrap().1.to_owned();
        assert!(needs("the box has no network").starts_with("the network"));
        assert!(needs("it did not end within 60000 ms").contains("`trial`"));
        assert!(needs("failed to stay within the time for trials").contains("`incident`"));
        assert!(needs("failed to stay within the room for trials").contains("`trial-disk`"));
        assert!(needs("it wrote more than the box may hold").contains("trial-disk"));
        assert!(needs("the secret variable TOKEN is not in the box").starts_with("the secret"));
        assert!(needs("/root/.ssh is hidden in the box").contains("`see`"));
        assert!(
            needs("sudo gains rights on the machine, and setuid programs are refused in the box")
                .contains("sudo")
        );
        assert!(needs("a file belongs to another user, which the box cannot store").contains("owner"));
        assert!(needs("something new").contains("approves"));
        let once = with_what_to_allow("the box has no network");
        assert_eq!(with_what_to_allow(&once), once);
    }
}
