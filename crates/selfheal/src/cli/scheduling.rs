//! The commands about scheduled jobs: `cron`, `survey`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::running::ApplyUpTo;

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
