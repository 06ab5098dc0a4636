//! The notifiers through their public surface, with real programs.
#![expect(clippy::unwrap_used, reason = "tests")]

mod program;
