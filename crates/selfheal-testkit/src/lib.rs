//! What the tests of all crates stand on. Never published and never part of the program.
//!
//! [`ModelServer`] is a model server on the wire that says what the test scripts, good or bad. [`TestEnv`] runs a program
//! where nothing of the machine's user shows, and [`Outcome::normalised`] makes its output fit for a snapshot.
//! [`Child`] are small scripts that misbehave in one way each. Nothing here waits for a time to pass: only for
//! conditions, with a deadline.
#![forbid(unsafe_code)]
#![expect(clippy::expect_used, clippy::panic, reason = "a broken test environment must fail the test loudly")]

mod children;
mod env;
mod model_server;
mod normalise;
mod play;
mod reply;
mod tree;

pub use children::Child;
pub use env::{Outcome, TestEnv};
pub use model_server::{ModelServer, Request};
pub use normalise::normalise;
pub use play::Fault;
pub use reply::Reply;
pub use tree::copy_tree;
