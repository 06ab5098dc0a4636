//! Crontabs: read without loss, changed in single lines, written back with every other byte as it was.
//!
//! Pure functions of text: [`Table`] cuts a crontab into lines, [`wrap()`] puts
//! `selfheal run` into a command and takes it out again. What is read from and written to the machine is in
//! `commands/cron/`.

mod command;
mod schedule;
mod table;
mod wrap;

pub use command::{Command, Wrapped, shell_of, wrapped_in};
pub use schedule::Schedule;
pub use table::{Entry, Form, Kind, Table};
pub use wrap::{Refusal, Wish, derived_name, is_interpreter, is_own, main_words, unwrap, wrap};
