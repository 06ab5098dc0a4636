//! The commands that say what something means: outputs, exit codes, surroundings, contracts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use selfheal_core::outcome::Class;

/// Say in plain words what an output means.
#[derive(Debug, Args)]
#[command(after_help = "The output is read from FILE or standard input: COMMAND 2>&1 | selfheal explain\n\
    Exit codes: 0 explained, also where nothing was understood; 1 it cannot be read; 2 the command line is wrong")]
pub struct ExplainArgs {
    /// The file that holds the output; - for standard input
    #[arg(value_name = "FILE", conflicts_with = "run")]
    pub file: Option<PathBuf>,
    /// The command line that wrote it; run this in the folder of that command
    #[arg(long, value_name = "LINE", allow_hyphen_values = true, conflicts_with = "run")]
    pub command: Option<String>,
    /// The exit code with which it ended
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "run")]
    pub exit_code: Option<i32>,
    /// A picture of the output (PNG or JPEG); a model that sees, if one is set up, copies its text out
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "run"])]
    pub image: Option<PathBuf>,
    /// Print it as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Keep the output for `selfheal label` where it is not understood, its secrets taken out
    #[arg(long)]
    pub keep: bool,
    /// A command that is run once, for real, and explained
    #[arg(last = true, value_name = "COMMAND")]
    pub run: Vec<OsString>,
}

/// Say what is different from the last good run and from a login shell.
#[derive(Debug, Args)]
pub struct EnvDiffArgs {
    /// The job's name, the path of its script, or an incident by its end
    pub job: String,
    /// Print all differences, even where one explains the failure
    #[arg(long)]
    pub all: bool,
    /// Print it as JSON
    #[arg(long, conflicts_with = "all")]
    pub json: bool,
}

/// What the exit codes of commands mean.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// What to do with them
    #[command(subcommand)]
    pub command: ProfileCommand,
}

/// What to do with profiles.
#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// Show what the exit codes of a command mean
    Show {
        /// The command
        command: String,
    },
    /// Check the shipped profiles and your own, or one file, with their examples
    Test {
        /// The file
        file: Option<PathBuf>,
    },
    /// Propose a profile from a command's own help and manual page; it counts only when accepted
    Learn {
        /// The command
        command: String,
        /// Write it to your profiles as learned-COMMAND.toml instead of printing it
        #[arg(long)]
        write: bool,
    },
    /// Put a proposed profile into force, after you have read it
    Accept {
        /// Its file, or the command that it was learned from
        file: PathBuf,
    },
}

/// Look at what a job must have done.
#[derive(Debug, Args)]
pub struct ContractArgs {
    /// What to do
    #[command(subcommand)]
    pub command: ContractCommand,
}

/// What can be done with contracts.
#[derive(Debug, Subcommand)]
pub enum ContractCommand {
    /// Propose a contract from what good runs left
    Learn {
        /// The job: its script in this folder, or its name
        #[arg(value_name = "JOB")]
        job: String,
    },
    /// Look at a job's contract without running the job: exit code 114 when it is broken
    Check {
        /// The job: its script in this folder, or its name
        #[arg(value_name = "JOB")]
        job: String,
    },
}

/// List the outputs that were not understood, and say what one of them is.
#[derive(Debug, Args)]
pub struct LabelArgs {
    /// The output, by its end; without it all are listed, with nothing else it is shown
    pub id: Option<String>,
    /// What kind of failure it is
    #[arg(long, value_name = "CLASS", requires = "id")]
    pub class: Option<ClassArg>,
    /// Where it happened
    #[arg(long = "at", value_name = "FILE:LINE", requires = "id")]
    pub place: Option<String>,
    /// The line of the output that says most, or a part of it
    #[arg(long, value_name = "TEXT", requires = "id")]
    pub core_error: Option<String>,
    /// What the program says of its version
    #[arg(long, value_name = "TEXT", requires = "id")]
    pub version: Option<String>,
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClassArg {
    /// It may pass by itself
    Transient,
    /// Something is used up or broken
    Resource,
    /// The job is fine, where it runs is not
    Environment,
    /// A mistake in the job
    Logic,
    /// Something outside changed
    Dependency,
}

impl ClassArg {
    /// As a class.
    #[must_use]
    pub fn class(self) -> Class {
        match self {
            Self::Transient => Class::Transient,
            Self::Resource => Class::Resource,
            Self::Environment => Class::Environment,
            Self::Logic => Class::Logic,
            Self::Dependency => Class::Dependency,
        }
    }
}
