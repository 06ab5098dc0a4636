//! Deterministic repairs: rules for known kinds of failures, and repairs that worked before.
//!
//! A [`Case`] is one failure with all that is known of it. [`candidates`] asks every rule and gives back what they
//! propose, best first. Nothing here runs anything or writes a file: the machine is seen through
//! [`Scene`](selfheal_core::scene::Scene) alone, and what a proposal is worth is found out by admission and
//! verification.
//!
//! Each rule is one file in `rules/`, and its page in the manual is the header of that file ([`manual`]).
#![forbid(unsafe_code)]

mod candidate;
mod case;
mod causes;
mod caution;
mod choices;
mod combine;
mod compared;
mod folders;
mod globs;
pub mod knowledge;
mod manual;
mod memory;
mod notes;
mod old_forms;
pub mod oscillation;
pub mod packages;
pub mod prompts;
mod python;
mod rules;
mod shell;
mod tables;
#[cfg(test)]
mod testing;
mod text;
mod units;
mod unread;

pub use candidate::{Around, Candidate, Options, candidates};
pub use case::{Case, Language, ScriptFile};
pub use causes::mended_causes;
pub use choices::{Choice, brings_only_what_is_there, choices};
pub use combine::combine;
pub use manual::{Applicability, RulePage, manual};
pub use memory::{Edits, fits, lesson, recalled, with_rules};
pub use rules::{READ_DOCUMENTS, Rule, rules};
