//! The notifiers through their public surface, with real programs and real servers on this machine.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod mail;
mod program;
mod servers;
mod webhook;
