//! Real runs of real, often misbehaving commands, through the public surface.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![expect(clippy::print_stdout, reason = "a test that cannot run here says why")]

mod boxed;
mod common;
mod ending;
mod output;
mod scene;
mod script;
mod starting;
mod terminal;
