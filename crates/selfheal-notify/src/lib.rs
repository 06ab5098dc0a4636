//! Delivers messages to people. [`Program`] hands each to a program of the user's choice.
#![forbid(unsafe_code)]

mod child;
mod program;

pub use program::{Program, ProgramSettings};
