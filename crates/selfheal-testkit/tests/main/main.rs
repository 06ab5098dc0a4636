//! The harness holds what it promises, on real processes and sockets.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod children;
mod env;
mod server;
