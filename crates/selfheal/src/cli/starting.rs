//! The commands for a start, and for whoever builds selfheal: `demo`, `init`, `generate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Show on a throw-away example what selfheal does.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the example's folder
    #[arg(long)]
    pub keep: bool,
}

/// Write a settings file.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Take the suggested answers without asking
    #[arg(long)]
    pub yes: bool,
    /// Write it here instead of the user's or machine's settings folder
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Print generated files.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// Which one
    pub what: Generated,
}

/// What can be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    /// The JSON schema of `run --json`
    RunSchema,
    /// The JSON schema of task files
    TaskSchema,
    /// The manual of rules
    Rules,
    /// The manual of profiles
    Profiles,
}
