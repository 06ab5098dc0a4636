//! The commands about what happened, and what becomes of it.

use clap::{Args, Subcommand};

use super::running::ApplyUpTo;

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

/// Decide.
#[derive(Debug, Args)]
pub struct DecideArgs {
    /// The incidents, each by its end
    #[arg(required = true)]
    pub ids: Vec<String>,
}

/// Decide against.
#[derive(Debug, Args)]
pub struct RejectArgs {
    /// The incidents, each by its end
    #[arg(required = true)]
    pub ids: Vec<String>,
    /// Why; it is kept with the incidents
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Write down what was learnt.
#[derive(Debug, Args)]
pub struct NoteArgs {
    /// The incident, by its end
    pub id: String,
    /// What was learnt or improved
    #[arg(required = true, value_name = "TEXT")]
    pub text: Vec<String>,
}

/// Take a repair back.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The incident or try, by its end
    #[arg(required_unless_present_any = ["last", "job"], conflicts_with_all = ["last", "job"])]
    pub id: Option<String>,
    /// The one that was put in place last
    #[arg(long)]
    pub last: bool,
    /// All repairs of this job, the newest first; with --last only the newest: a job's name, or its script
    #[arg(long, value_name = "JOB")]
    pub job: Option<String>,
    /// Also where a file was changed since: it is saved first, and `redo` brings it back
    #[arg(long)]
    pub force: bool,
}

/// Put a repair back in place.
#[derive(Debug, Args)]
pub struct RedoArgs {
    /// The incident or try, by its end
    pub id: String,
}

/// Drop what is old.
#[derive(Debug, Args)]
pub struct GcArgs {
    /// Only say what would go
    #[arg(long)]
    pub dry_run: bool,
    /// Drop what is older than so many days, in place of `[store]` days
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    pub days: Option<u32>,
    /// Make the database file as small as what is in it; jobs that end meanwhile wait
    #[arg(long, conflicts_with = "dry_run")]
    pub compact: bool,
}

/// Print everything that is recorded.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Only what is newer: a time ago (12h, 7d, 2w) or a date
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only this kind of lines: run, facts, incident, job, ledger, snapshot, memory, tally, message
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = selfheal_store::EXPORTED)]
    pub kind: Vec<String>,
}

/// The rules that may act unattended.
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// What to do with them
    #[command(subcommand)]
    pub command: RulesCommand,
}

/// What to do with the rules.
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List them, and whether each may act unattended
    List,
    /// Let rules that an upgrade changed or brought act unattended again
    Accept {
        /// Only these; all, where none is named
        names: Vec<String>,
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
    Verify {
        /// Compare it with a log that `[store]` anchor sent heads to; - is standard input
        #[arg(long, value_name = "FILE")]
        against: Option<std::path::PathBuf>,
    },
    /// Show the newest records
    Show {
        /// Only those of this incident
        #[arg(long, value_name = "ID")]
        incident: Option<String>,
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 30)]
        most: usize,
    },
    /// Print every record as a line of JSON, with all that is needed to check it elsewhere
    Export {
        /// Only what is newer: a time ago (12h, 7d, 2w) or a date
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
    },
    /// Put a damaged record aside and begin a new one, whose first line says so
    Reset {
        /// Why, in your words
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

/// The channels by which people are told.
#[derive(Debug, Args)]
pub struct NotifyArgs {
    /// What to do with them
    #[command(subcommand)]
    pub command: NotifyCommand,
}

/// What to do with the channels.
#[derive(Debug, Subcommand)]
pub enum NotifyCommand {
    /// Send a test message, and say who took it
    Test {
        /// Only by this channel: `mail`, `program`, or the name of a webhook
        channel: Option<String>,
    },
}
