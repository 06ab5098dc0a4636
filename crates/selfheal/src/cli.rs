//! The command line. The doc comments here are the help texts; one snapshot test holds them all.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use selfheal_core::outcome::Class;
use selfheal_core::proposal::Risk;

/// Run scripts and batch jobs that nobody watches, and heal them when they fail
#[derive(Debug, Parser)]
#[command(name = "selfheal", version, disable_help_subcommand = true, max_term_width = 100)]
#[command(
    after_help = "Start with: selfheal demo\nPut it in front of any job: selfheal run -- bash backup.sh"
)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a job, and heal it if it fails
    Run(Box<RunArgs>),
    /// Try a command in a box: see what it does to files, and keep that or throw it away
    Try(Box<TryArgs>),
    /// Show on a throw-away example what selfheal does
    Demo(DemoArgs),
    /// List incidents, the newest first
    Incidents(IncidentsArgs),
    /// Show one incident: what failed, why, the repair, its proof
    Show(ShowArgs),
    /// Say in plain words what an output means: which step failed, the probable reason, what to do
    Explain(ExplainArgs),
    /// List the outputs that were not understood, and say what one of them is
    Label(LabelArgs),
    /// Say what is different from the last good run and from a login shell: works by hand, not in cron
    EnvDiff(EnvDiffArgs),
    /// Show, check or propose what the exit codes of commands mean
    Profile(ProfileArgs),
    /// Judge scripts, or the change of one: what could do harm, what hides a failure; runs nothing
    Check(CheckArgs),
    /// Apply repairs that wait for a decision
    Approve(DecideArgs),
    /// Drop repairs that wait for a decision
    Reject(DecideArgs),
    /// Put every file that a repair, a try or a transaction changed back as it was
    Undo(UndoArgs),
    /// Look at what a job must have done
    Contract(ContractArgs),
    /// Allow a job's repairs to be applied unattended, or take that back
    Allow(AllowArgs),
    /// Check or show the tamper-evident record
    Audit(AuditArgs),
    /// Say in plain words what selfheal protects and what not
    Limits,
    /// Make every run bare at once: no healing until thawed
    Freeze,
    /// End a freeze
    Thaw,
    /// Do what is due: deliver messages, end watches, clean up after crashes
    Tick,
    /// Tell what this machine offers and how to mend what is missing
    Doctor,
    /// Write a settings file, step by step
    Init(InitArgs),
    /// List the jobs of cron, put selfheal in front of them, take it away again
    Cron(CronArgs),
    /// Look at every scheduled job: could it be tried, who would see that it failed; changes nothing
    Survey(SurveyArgs),
    /// Show, drop, export or import what selfheal has learnt from repairs that worked
    Memory(MemoryArgs),
    /// Count what became of incidents, who repaired them, and what was right how often
    Stats(StatsArgs),
    /// Measure selfheal on a folder of failing jobs: what is truly put right, and what is not
    Bench(Box<BenchArgs>),
    /// Print generated files: the settings schema, the JSON schema, the manual of rules
    #[command(hide = true)]
    Generate(GenerateArgs),
}

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
    /// Ask this model when rules do not help, as openai:NAME
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub model: Option<String>,
    /// The base URL of the model's OpenAI-compatible server
    #[arg(long, value_name = "URL")]
    pub model_url: Option<String>,
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
}

impl Part {
    /// Its word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Feedback => "feedback",
            Self::Memory => "memory",
            Self::Rules => "rules",
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

/// Show on a throw-away example what selfheal does.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the example's folder
    #[arg(long)]
    pub keep: bool,
}

/// List incidents.
#[derive(Debug, Args)]
pub struct IncidentsArgs {
    /// Only those that wait for a decision
    #[arg(long)]
    pub held: bool,
    /// Only those of this job
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub most: usize,
    /// Print them as JSON
    #[arg(long)]
    pub json: bool,
}

/// Show one incident.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The incident, by its end
    pub id: String,
    /// Print only the patch, as `patch -p1` reads it from /
    #[arg(long, conflicts_with = "sent")]
    pub patch: bool,
    /// Print every byte that was sent to a model
    #[arg(long)]
    pub sent: bool,
    /// Print it as JSON
    #[arg(long, conflicts_with_all = ["patch", "sent"])]
    pub json: bool,
}

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

/// Judge scripts.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The scripts; - is standard input
    #[arg(value_name = "FILE", required_unless_present = "diff", conflicts_with = "diff")]
    pub files: Vec<PathBuf>,
    /// Judge what the change from one version to the other hides, and what harm it can newly do
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"])]
    pub diff: Option<Vec<PathBuf>>,
    /// The language, where the first line or the name of the file does not tell
    #[arg(long)]
    pub language: Option<CheckLanguage>,
    /// Print it as one JSON object
    #[arg(long, conflicts_with = "sarif")]
    pub json: bool,
    /// Print it as SARIF 2.1.0
    #[arg(long)]
    pub sarif: bool,
    /// The level from which on the exit code says so
    #[arg(long, value_name = "LEVEL", default_value = "high")]
    pub fail_on: FailOn,
}

/// From when on `check` ends with another code than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Medium danger or risk
    Medium,
    /// High danger or risk
    High,
    /// The exit code is 0 whatever was found
    Never,
}

/// The languages that `check` judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckLanguage {
    /// Shells: bash, sh, dash, ksh
    #[value(alias = "sh", alias = "shell", alias = "dash", alias = "ksh", alias = "zsh")]
    Bash,
    /// Python
    #[value(alias = "py", alias = "python3")]
    Python,
    /// Perl
    #[value(alias = "pl")]
    Perl,
    /// JavaScript for node
    #[value(alias = "js", alias = "javascript")]
    Node,
    /// Ruby
    #[value(alias = "rb")]
    Ruby,
    /// SQL
    Sql,
    /// Makefiles
    #[value(alias = "makefile")]
    Make,
    /// Pipelines and playbooks in YAML
    #[value(alias = "yml")]
    Yaml,
    /// Dockerfiles
    #[value(alias = "dockerfile")]
    Docker,
}

impl From<CheckLanguage> for selfheal_syntax::Language {
    fn from(language: CheckLanguage) -> Self {
        match language {
            CheckLanguage::Bash => Self::Shell,
            CheckLanguage::Python => Self::Python,
            CheckLanguage::Perl => Self::Perl,
            CheckLanguage::Node => Self::Node,
            CheckLanguage::Ruby => Self::Ruby,
            CheckLanguage::Sql => Self::Sql,
            CheckLanguage::Make => Self::Make,
            CheckLanguage::Yaml => Self::Yaml,
            CheckLanguage::Docker => Self::Docker,
        }
    }
}

/// Decide.
#[derive(Debug, Args)]
pub struct DecideArgs {
    /// The incidents, each by its end
    #[arg(required = true)]
    pub ids: Vec<String>,
}

/// Take a repair back.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The incident or try, by its end
    pub id: String,
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

/// Allow a job's repairs to be applied unattended.
#[derive(Debug, Args)]
pub struct AllowArgs {
    /// The job's name, or the path of its script
    pub job: String,
    /// The highest risk that is applied
    #[arg(long, value_name = "RISK", default_value = "low")]
    pub up_to: ApplyUpTo,
}

/// The record.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// What to do with it
    #[command(subcommand)]
    pub command: AuditCommand,
}

/// What to do with the record.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Check the whole chain against its anchor
    Verify,
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
    /// The manual of rules
    Rules,
    /// The manual of profiles
    Profiles,
}

/// The jobs of cron.
#[derive(Debug, Args)]
pub struct CronArgs {
    /// What to do with them
    #[command(subcommand)]
    pub command: CronCommand,
}

/// What to do with the jobs of cron.
#[derive(Debug, Subcommand)]
pub enum CronCommand {
    /// List every job: where it stands, when it runs, as whom, and whether it is wrapped
    List(CronListArgs),
    /// Put `selfheal run` in front of jobs; shows the difference
    Wrap(CronWrapArgs),
    /// Take `selfheal run` away again; every byte is as before
    Unwrap(CronUnwrapArgs),
}

/// List the jobs of cron.
#[derive(Debug, Args)]
pub struct CronListArgs {
    /// Look below this folder instead of /, as for the image of a machine
    #[arg(long, value_name = "FOLDER")]
    pub root: Option<PathBuf>,
    /// Print them as JSON
    #[arg(long)]
    pub json: bool,
}

/// Which jobs of which table.
#[derive(Debug, Args)]
pub struct CronWhich {
    /// The job: the number of its line, or its name, as `cron list` shows them
    #[arg(value_name = "LINE|NAME", required_unless_present = "all")]
    pub job: Option<String>,
    /// All jobs of the table
    #[arg(long, conflicts_with = "job")]
    pub all: bool,
    /// This system table, as /etc/cron.d/backup, instead of your own crontab
    #[arg(long, value_name = "FILE", conflicts_with = "user")]
    pub file: Option<PathBuf>,
    /// The crontab of this user
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Write the change; without this it is only shown
    #[arg(long)]
    pub write: bool,
}

/// Put selfheal in front of jobs.
#[derive(Debug, Args)]
pub struct CronWrapArgs {
    /// Which ones
    #[command(flatten)]
    pub which: CronWhich,
    /// Let the wrapped jobs apply verified repairs up to this risk
    #[arg(long, value_name = "RISK")]
    pub apply: Option<ApplyUpTo>,
}

/// Take selfheal away from jobs.
#[derive(Debug, Args)]
pub struct CronUnwrapArgs {
    /// Which ones
    #[command(flatten)]
    pub which: CronWhich,
}

/// Look at every scheduled job.
#[derive(Debug, Args)]
pub struct SurveyArgs {
    /// Look below this folder instead of /, as for the image of a machine
    #[arg(long, value_name = "FOLDER")]
    pub root: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Measure selfheal on a folder of failing jobs.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// The folder of cases; docs/bench.md says what a case is
    pub cases: PathBuf,
    /// Apply verified repairs up to this risk
    #[arg(long, value_name = "RISK", default_value = "medium")]
    pub apply: ApplyUpTo,
    /// Only cases whose name holds this word; may be given several times
    #[arg(long, value_name = "WORD")]
    pub only: Vec<String>,
    /// Only cases of this kind; may be given several times
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Run so many cases at once; as many as there are processors if not given
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// End selfheal on a case after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub limit: u64,
    /// Ask this model when rules do not help, as openai:NAME
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub model: Option<String>,
    /// The base URL of the model's server
    #[arg(long, value_name = "URL")]
    pub model_url: Option<String>,
    /// What a million tokens of the model cost, in any currency
    #[arg(long, value_name = "MONEY")]
    pub price: Option<f64>,
    /// Leave a part of selfheal out; may be given several times
    #[arg(long, value_name = "PART")]
    pub ablate: Vec<Part>,
    /// Run each case a second time, in a fresh copy, with what was learnt; figures are of the second run
    #[arg(long)]
    pub again: bool,
    /// Tell the change against an earlier result; exit code 1 when a case got worse
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the figures to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the figures to this file as Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write each diagnosis to this file, for a person to judge its reasoning
    #[arg(long, value_name = "FILE")]
    pub sheet: Option<PathBuf>,
    /// Let rules in preview act like all others
    #[arg(long)]
    pub promote: bool,
    /// Print no line per case while they run
    #[arg(long)]
    pub quiet: bool,
}

/// What selfheal has learnt.
#[derive(Debug, Args)]
pub struct MemoryArgs {
    /// What to do with it
    #[command(subcommand)]
    pub command: MemoryCommand,
}

/// What to do with remembered repairs.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// List remembered repairs, the newest first
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one with its edits
    Show {
        /// Its name, or the end of it
        id: String,
    },
    /// Drop one
    Forget {
        /// Its name, or the end of it
        id: String,
    },
    /// Print all as one JSON object a line; unredacted, for they hold parts of scripts
    Export,
    /// Take over what another machine exported; each is proved again before it is used
    Import {
        /// The file
        file: PathBuf,
    },
}

/// Counts.
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// Print them as JSON
    #[arg(long)]
    pub json: bool,
}
