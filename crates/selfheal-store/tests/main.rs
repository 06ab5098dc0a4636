//! The store through its public surface: real databases, files and processes.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

mod crash;
mod export;
mod gc;
mod good;
mod helpers;
mod journal;
mod knowledge;
mod ledger;
mod memory;
mod opening;
mod outbox;
mod settings;
mod snapshots;
mod task_index;
mod trees;
mod writers;
