//! # A job asks for a terminal's abilities without a terminal
//!
//! ## What it finds
//! `tput`, `clear` or `reset` end the job because `TERM` is not set.
//!
//! ## Why it fails
//! A terminal sets `TERM`; cron and systemd do not.
//!
//! ## Fix
//! The script sets `TERM` to `dumb` in its head where nothing set it: a terminal that can do nothing special.
//!
//! ## Example
//! ```sh
//! set -eu
//! width=$(tput cols)
//! ```
//! ```sh
//! set -eu
//! export TERM="${TERM:-dumb}" # cron sets none
//! width=$(tput cols)
//! ```
//!
//! ## Safety
//! In a terminal everything stays as it is.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Script, splice};

rule!(TerminalType, "terminal_type", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| match fault {
        Fault::UnsetVariable { name } => name == "TERM",
        Fault::Other { message } | Fault::BadValue { message, .. } => {
            message.contains("No value for $TERM")
                || message.contains("TERM environment variable not set")
                || message.contains("unknown terminal type")
        }
        _ => false,
    });
    let Some(file) = case.script.filter(|file| told && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    if script.assignments().any(|(name, ..)| name == "TERM") {
        return Vec::new();
    }
    let at = script.after_head(false);
    let line = "export TERM=\"${TERM:-dumb}\" # cron sets none\n".to_owned();
    Draft::new(
        "terminal_type",
        "a command asks what the terminal can do, and TERM is not set: there is no terminal",
        "say that the terminal can do nothing special where none is set",
    )
    .evidence("TERM is not set")
    .rewrite(file, splice(&file.text, vec![(at..at, line)]), "TERM is dumb where nothing set it")
    .done()
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, message: &str) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new()).fault(Fault::Other { message: message.into() }).at(2)
    }

    #[test]
    fn sets_a_plain_terminal_in_the_head() {
        let tput = case("set -e\nw=$(tput cols)\n", "tput: No value for $TERM and no -T specified");
        assert_eq!(
            tput.healed(&TerminalType),
            "set -e\nexport TERM=\"${TERM:-dumb}\" # cron sets none\nw=$(tput cols)\n"
        );
        let clear = case("#!/bin/sh\nclear\n", "TERM environment variable not set.");
        assert!(clear.healed(&TerminalType).starts_with("#!/bin/sh\nexport TERM="));
    }

    #[test]
    fn leaves_jobs_that_set_it_and_other_messages_alone() {
        assert!(case("TERM=vt100\nclear\n", "TERM environment variable not set.").silent(&TerminalType));
        assert!(case("clear\n", "clear: not found").silent(&TerminalType));
    }
}
