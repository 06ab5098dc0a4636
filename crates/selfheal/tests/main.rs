//! The program from outside: real processes, files, namespaces, SQLite, interpreters.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that finds something else than it needs must fail"
)]

mod attack;
mod backup;
mod bench;
mod check;
#[cfg(feature = "model")]
mod choosing;
mod contract;
mod corpus;
mod cron;
mod crowd;
mod decide;
mod ending;
mod environment;
mod evidence;
mod explain;
mod failpoints;
mod faults;
mod help;
mod holds;
mod hosts;
mod keeping;
mod kill;
#[cfg(feature = "model")]
mod knowledge;
mod memory;
mod outcomes;
mod overlap;
mod profiles;
mod proof;
mod proposal;
mod reports;
mod reviewing;
mod room;
mod rules;
mod running;
mod story;
mod support;
mod systemd;
mod tasks;
mod telling;
mod terminal;
mod trying;
mod unattended;
mod undoing;
mod workspace;

#[cfg(feature = "model")]
mod injection;
mod installing;
#[cfg(feature = "model")]
mod llama;
#[cfg(feature = "model")]
mod model;
#[cfg(feature = "model")]
mod model_loop;
#[cfg(feature = "model")]
mod model_test;
#[cfg(feature = "model")]
mod pictures;
#[cfg(feature = "model")]
mod redaction;
#[cfg(feature = "model")]
mod traffic;
#[cfg(feature = "model")]
mod writing;
