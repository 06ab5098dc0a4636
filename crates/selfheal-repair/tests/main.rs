//! The public surface, with real files and real shells: what rules propose is put in place and run.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at once")]

mod backup;
mod hostile;
mod machine;
mod shells;
