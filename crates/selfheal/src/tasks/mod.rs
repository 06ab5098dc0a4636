//! Tasks: several steps that survive anything. What a task file is, is in `docs/tasks.md`.
//!
//! Theory of operation: one process, the runner, feeds what happens to the pure engine (`selfheal_core::task`), stores the
//! state, and performs the actions. Every step runs in a process of its own, this program started again, which keeps a
//! journal: a mark before everything that it does, and one after. So whichever process is killed, what is left on the disk
//! says how far each step got, and `settle` reads it. What a step in a box did is put in place by a draft whose name is in
//! the journal before; so a commit is told from none even where the mark after it is missing.

mod form;
mod node;
mod read;
mod shape;

pub use form::schema;
pub use read::{TaskFile, read};
