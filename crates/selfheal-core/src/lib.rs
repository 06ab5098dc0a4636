//! The domain of selfheal: its words as types, the engine as a pure state machine, and the ports through which the
//! program gives it hands.
//!
//! Nothing here reads a file, a clock, the environment or a terminal. A word of `docs/glossary.md` is a type here, one
//! idea a file. The other crates meet only through these types and through [`ports`].
#![forbid(unsafe_code)]

pub mod admission;
pub mod diagnosis;
pub mod edit;
pub mod effects;
pub mod engine;
pub mod facts;
pub mod failpoint;
pub mod fault;
pub mod ids;
pub mod image;
pub mod incident;
pub mod install;
pub mod job;
pub mod knowledge;
pub mod outcome;
pub mod pairs;
pub mod path_bytes;
pub mod path_text;
pub mod ports;
pub mod proposal;
pub mod redact;
pub mod report;
pub mod run;
pub mod scene;
pub mod settings;
pub mod task;
pub mod trace;
pub mod usage;
pub mod verification;
