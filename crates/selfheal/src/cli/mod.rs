//! The command line. The doc comments here are the help texts; one snapshot test holds them all. A file for each group of
//! commands.

mod checking;
mod explaining;
mod incidents;
mod knowing;
mod measuring;
mod running;
mod scheduling;
mod starting;
mod tasks;

use clap::{Parser, Subcommand};

pub use self::checking::{CheckArgs, FailOn};
pub use self::explaining::{
    ContractArgs, ContractCommand, EnvDiffArgs, ExplainArgs, LabelArgs, ProfileArgs, ProfileCommand,
};
pub use self::incidents::{
    AllowArgs, AuditArgs, AuditCommand, DecideArgs, ExportArgs, GcArgs, IncidentsArgs, NoteArgs, NotifyArgs,
    NotifyCommand, RedoArgs, RejectArgs, RulesArgs, RulesCommand, ShowArgs, UndoArgs,
};
pub use self::knowing::{KnowledgeArgs, KnowledgeCommand, KnowledgeKind};
pub use self::measuring::{BenchArgs, MemoryArgs, MemoryCommand, ReportArgs, ReportFormat, StatsArgs};
pub use self::running::{ApplyUpTo, Overlap, Part, RunArgs, StdoutArg, TransactionArg, TryArgs, run_alone};
pub use self::scheduling::{
    CronArgs, CronCommand, CronListArgs, CronUnwrapArgs, CronWhich, CronWrapArgs, SurveyArgs,
};
pub use self::starting::{DemoArgs, GenerateArgs, Generated, InitArgs};
#[cfg(feature = "model")]
pub use self::tasks::LanguageModelCommand;
pub use self::tasks::{ChangedArg, LanguageModelArgs, ModelArgs, TaskArgs, TaskCommand, WriteArgs};

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
    /// Run tasks of several steps that survive anything
    Task(TaskArgs),
    /// Have a script written from a stated need: judged, tried in a box, and kept only when you say so
    Write(WriteArgs),
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
    /// Look at what waits for a decision, and decide, on a terminal
    Review,
    /// Apply repairs that wait for a decision
    Approve(DecideArgs),
    /// Drop repairs that wait for a decision
    Reject(RejectArgs),
    /// Keep with an incident what was learnt from it; `show` and `report` tell it
    Note(NoteArgs),
    /// Put every file that a repair, a try or a transaction changed back as it was
    Undo(UndoArgs),
    /// Put a repair or a try back in place that was taken back
    Redo(RedoArgs),
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
    /// Show which rules may act unattended, and accept those that an upgrade changed
    Rules(RulesArgs),
    /// Drop what is old and needed by nobody
    Gc(GcArgs),
    /// Print everything that is recorded, redacted, as lines of JSON
    Export(ExportArgs),
    /// Try the channels by which people are told
    Notify(NotifyArgs),
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
    /// Name documents that say how things work or what changed, and search them
    Knowledge(KnowledgeArgs),
    /// Try the language models that are configured
    Model(LanguageModelArgs),
    /// Tell what happened in the last days: healed, waiting, time saved, what deserves a real fix
    Report(ReportArgs),
    /// Count what became of incidents, who repaired them, and what was right how often
    Stats(StatsArgs),
    /// Measure selfheal on a folder of failing jobs: what is truly put right, and what is not
    Bench(Box<BenchArgs>),
    /// Print generated files: the settings schema, the JSON schema, the manual of rules
    #[command(hide = true)]
    Generate(GenerateArgs),
}
