//! What a run means and what went wrong: profiles of exit codes, parsers of output, causes, classes, reports, and
//! whether a job may run again.
//!
//! Three questions are answered, each by one function. [`profiles::Profiles::interpret`]: did the job succeed, give a
//! negative answer, or fail? [`report::report`]: what failed, where, and why? [`repeat::repeatable`]: may it run
//! again? All knowledge sits in tables: `profiles/*.toml` for exit codes, `parsers/*.rs` for messages, `class.rs` for
//! classes, `causes/` for causes, `repeat/once.toml` for what must not happen twice.
//!
//! The crate is pure. It looks at the machine through [`selfheal_core::scene::Scene`]. What a failing job printed is
//! hostile: all reading is bounded and takes time in proportion to its length.
#![forbid(unsafe_code)]

mod bodies;
mod causes;
mod class;
pub mod command_line;
mod context;
mod deadline;
pub mod environment;
pub mod explain;
#[cfg(test)]
mod fake_scene;
mod findings;
mod inner;
mod locate;
pub mod logs;
mod network;
mod parsers;
mod passed_over;
pub mod profiles;
pub mod repeat;
pub mod report;
pub mod retry_after;
pub mod scan;
mod signature;
mod similar;
mod stdlib;
mod survived;
mod template;
mod words;

pub use deadline::{Wait, waits_for_a_person};
pub use locate::remote as remote_host;
pub use passed_over::passed_over;
