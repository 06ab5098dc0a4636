//! Runs the commands of selfheal. For real: supervision of process trees, deadlines, capture of output, and the live look
//! at the machine. In boxes, where nothing that they do reaches it: see [`boxes`].
//!
//! Theory of operation: the program never starts a job itself. It starts its own executable again as a hidden,
//! single-threaded command ([`hidden_command`]) that gets its plan on a descriptor, starts the job, passes its output on
//! and sends back what happened. So the job's process tree has a keeper that has no threads and no other children, and
//! that ends the tree when the program dies.

mod apart;
mod binds;
pub mod boxes;
mod capture;
pub mod commit;
pub mod effects;
mod facts;
mod find;
mod hidden;
mod input;
mod mounts;
mod probe;
mod process;
mod reach;
mod replay;
mod scene;
mod script;
mod spool;
mod supervise;
mod supervisor;
mod unix;
mod wire;

pub use apart::{Apart, is_unnoticed};
pub use boxes::{BoxConfig, BoxRunner};
pub use facts::facts;
pub use hidden::hidden_command;
pub use input::input_holds_data;
pub use process::{boot_id, end_process, owner_of_self, process_lives, process_start_ticks};
pub use scene::{LiveScene, read_regular};
pub use script::resolve_script;
pub use spool::Spool;
pub use supervisor::{EndsInOrder, Supervisor, end_by_keys, exec_bare, survive_file_limit, told_to_end};
