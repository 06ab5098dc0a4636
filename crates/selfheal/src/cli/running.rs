//! The commands that run something: `run`, `try`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, FromArgMatches, ValueEnum};
use selfheal_core::proposal::Risk;

/// Run a job, and heal it if it fails.
#[derive(Debug, Default, Args)]
pub struct RunArgs {
    /// Apply verified repairs up to this risk without asking
    #[arg(long, value_name = "RISK")]
    pub apply: Option<ApplyUpTo>,
    /// The job's name; otherwise user, script and folder are its identity
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,
    /// Declare that the job may run again after a failure
    #[arg(long, conflicts_with = "once")]
    pub repeatable: bool,
    /// Declare that the job must not run again after a failure
    #[arg(long)]
    pub once: bool,
    /// Declare that this exit code of the job is an answer and no failure; may be given more than once
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u8).range(1..))]
    pub answer: Vec<u8>,
    /// Pass standard output on as it comes, or only that of the last run
    #[arg(long, value_name = "WHEN", default_value = "live")]
    pub stdout: StdoutArg,
    /// End the job after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub deadline: Option<u64>,
    /// What to do while the job still runs from before: give way with exit code 0, wait, or end that run
    #[arg(long, value_name = "HOW")]
    pub overlap: Option<Overlap>,
    /// Append the job's whole output to this file, which is rotated when it grows
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Put the time and the stream in front of every line of the log
    #[arg(long, requires = "log")]
    pub log_stamps: bool,
    /// Write what happened to this file as one JSON document
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Say how it ended by exit code too: 110 held, 111 handed over, 112 refused, 113 limit
    #[arg(long)]
    pub exit_status: bool,
    /// Run the job in a box and put what it did to files in place only if it succeeds: all or nothing
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "whole")]
    #[arg(conflicts_with_all = ["stdout", "log"])]
    pub transaction: Option<TransactionArg>,
    /// Stop with an error where selfheal itself cannot do its work, instead of running the job bare
    #[arg(long)]
    pub strict: bool,
    /// Judge and prove a repair made by hand: the changed files lie below this folder, by the same paths
    #[arg(long, value_name = "DIR")]
    pub proposal: Option<PathBuf>,
    /// Ask this model when rules do not help, as openai:NAME, anthropic:NAME, gemini:NAME, ollama:NAME or llama:FILE
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub model: Option<String>,
    /// The base URL of the model's server
    #[arg(long, value_name = "URL")]
    pub model_url: Option<String>,
    /// Append every call to a model and what came of it to this file, as lines of JSON without secrets
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Take the answers of models from such a file; nothing is sent
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Seconds for one question to a model, for machines that are busy
    #[arg(long, value_name = "SECONDS", hide = true)]
    pub model_timeout: Option<u64>,
    /// So many answers at once after a model's first failure, to measure what they are worth
    #[arg(long, value_name = "N", hide = true)]
    pub model_samples: Option<u32>,
    /// Do without a part of selfheal, to measure what it is worth
    #[arg(long, value_name = "PART", hide = true)]
    pub without: Vec<Part>,
    /// Let rules in preview act like all others, to measure them
    #[arg(long, hide = true)]
    pub promote: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// A part of selfheal that can be left out, to measure what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The structured report: only the last raw line of the output is left
    Feedback,
    /// Remembered repairs
    Memory,
    /// The rules
    Rules,
    /// What people wrote down: README, release notes, samples, help of tools, added folders, past incidents
    Knowledge,
    /// The one short question to small models: a diagnosis and a proposal as data are asked for
    Short,
    /// The hints on what stands out in the files near a script
    Hints,
    /// The solved cases from the pages of the rules that a model is shown
    Examples,
    /// The numbered changes that a small model is asked to choose from
    Choices,
}

impl Part {
    /// Its word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Feedback => "feedback",
            Self::Memory => "memory",
            Self::Rules => "rules",
            Self::Knowledge => "knowledge",
            Self::Short => "short",
            Self::Hints => "hints",
            Self::Examples => "examples",
            Self::Choices => "choices",
        }
    }
}

/// The arguments of `run`, given its word and what follows it; nothing where they need more than that to be understood.
pub fn run_alone<'a>(words: impl Iterator<Item = &'a OsString>) -> Option<RunArgs> {
    let grammar = RunArgs::augment_args(clap::Command::new("run"));
    RunArgs::from_arg_matches(&grammar.try_get_matches_from(words).ok()?).ok()
}

/// What a transaction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransactionArg {
    /// The whole job: refused when it uses a network or sends mail
    Whole,
    /// Its files only: whatever it tries on a network fails
    FilesOnly,
}

/// The highest risk that is applied without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApplyUpTo {
    /// Nothing
    None,
    /// Repairs of low risk
    Low,
    /// Repairs of low and medium risk
    Medium,
}

impl ApplyUpTo {
    /// Its word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Low => "low",
            Self::Medium => "medium",
        }
    }

    /// As a risk, `None` for nothing.
    #[must_use]
    pub fn risk(self) -> Option<Risk> {
        match self {
            Self::None => None,
            Self::Low => Some(Risk::Low),
            Self::Medium => Some(Risk::Medium),
        }
    }
}

/// When the job's standard output is passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StdoutArg {
    /// As it comes
    #[default]
    Live,
    /// After the last run, and only that of the last run
    Final,
}

/// What a run does while another one of the same job goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Overlap {
    /// Do not run; the exit code is 0
    Skip,
    /// Run when it has ended; the job's deadline is the longest wait
    Wait,
    /// End it, then run
    Replace,
}

/// Try a command in a box: see what it does to files, and keep that or throw it away.
#[derive(Debug, Args)]
pub struct TryArgs {
    /// Give the command the machine's network
    #[arg(long)]
    pub net: bool,
    /// Let the command see a secret that is hidden otherwise
    #[arg(long, value_name = "PATH")]
    pub see: Vec<PathBuf>,
    /// Limit what it may use: memory=1G, room=500M (what it may write), file-size=100M, processes=50
    #[arg(long, value_name = "WHAT=SIZE")]
    pub limit: Vec<String>,
    /// End the command after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub deadline: Option<u64>,
    /// Show how texts were changed
    #[arg(long)]
    pub diff: bool,
    /// Show only paths that fit a pattern, as *.log or etc/*
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// Write what was done to this file as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Put all that was done in place, if the command succeeds; with an id, what an earlier try left
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with = "keep")]
    #[expect(clippy::option_option, reason = "not given, given, given with an id")]
    pub commit: Option<Option<String>>,
    /// Put only this path in place, with what lies below it
    #[arg(long, value_name = "PATH", conflicts_with = "keep")]
    pub commit_only: Vec<PathBuf>,
    /// Keep what was done for a later --commit ID or --drop ID
    #[arg(long)]
    pub keep: bool,
    /// Show again what an earlier try did
    #[arg(long, value_name = "ID", conflicts_with_all = ["command", "commit", "keep"])]
    pub show: Option<String>,
    /// Throw away what an earlier try left; one that is in place can then not be undone
    #[arg(long, value_name = "ID", conflicts_with_all = ["command", "commit", "keep", "show"])]
    pub drop: Option<String>,
    /// List what earlier tries left
    #[arg(long, conflicts_with_all = ["command", "commit", "keep", "show", "drop"])]
    pub list: bool,
    /// The command and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
