//! Tasks: several steps that survive anything. What a task file is, is in `docs/tasks.md`.
//!
//! Theory of operation: one process, the runner, feeds what happens to the pure engine (`selfheal_core::task`), stores the
//! state, and performs the actions. Every step runs in a process of its own, this program started again, which keeps a
//! journal: a mark before everything that it does, and one after. So whichever process is killed, what is left on the disk
//! says how far each step got, and `settle` reads it. What a step in a box did is put in place by a draft whose name is in
//! the journal before; so a commit is told from none even where the mark after it is missing.

mod apart;
mod cleaning;
mod files;
mod form;
pub mod index;
mod journal;
pub mod keep;
mod locks;
mod node;
pub mod opening;
mod place;
mod read;
mod runner;
mod settle;
mod shape;
#[cfg(feature = "model")]
pub mod told;
mod view;
pub mod words;
mod worker;
#[cfg(feature = "model")]
pub mod writing;

pub use form::schema;
pub use read::read;
pub use runner::Wishes;
pub use worker::run as run_step;

use selfheal_core::incident::Owner;

/// Whether a process that was noted down still lives.
#[must_use]
pub fn lives(owner: &Owner) -> bool {
    selfheal_exec::boot_id().is_some_and(|boot| boot == owner.boot_id)
        && selfheal_exec::process_lives(owner.pid, owner.start_ticks)
}
