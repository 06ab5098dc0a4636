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

/// Take a repair back.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The incident or try, by its end
    pub id: String,
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
