//! The commands about what selfheal learns, and how well it does: `memory`, `stats`, `bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::running::{ApplyUpTo, Part};

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
    /// Ask this model when rules do not help, as openai:NAME, anthropic:NAME, gemini:NAME, ollama:NAME or llama:FILE
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub model: Option<String>,
    /// The base URL of the model's server
    #[arg(long, value_name = "URL")]
    pub model_url: Option<String>,
    /// So many answers at once after the model's first failure
    #[arg(long, value_name = "N")]
    pub model_samples: Option<u32>,
    /// Append every call to a model and what came of it to this file, as lines of JSON without secrets
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Take the answers of models from such a file; nothing is sent
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Seconds for one question to the model, for machines that are busy
    #[arg(long, value_name = "SECONDS")]
    pub model_timeout: Option<u64>,
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

/// What happened in the last days.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// How far back: a number with h, d or w
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = span)]
    pub since: i64,
    /// For a terminal, as Markdown, or as one HTML file with charts
    #[arg(long, value_name = "FORM", default_value = "terminal")]
    pub format: ReportFormat,
    /// Write it into this file
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Text.
    Terminal,
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
}

/// A span of time in milliseconds; at most ten years.
fn span(text: &str) -> Result<i64, String> {
    const UNITS: [(char, i64); 3] = [('h', 3_600_000), ('d', 86_400_000), ('w', 604_800_000)];
    let none = || "give a number with h, d or w, at most 520w: 7d".to_owned();
    let (unit, factor) = UNITS.into_iter().find(|(unit, _)| text.ends_with(*unit)).ok_or_else(none)?;
    let number: i64 = text.trim_end_matches(unit).parse().map_err(|_| none())?;
    number.checked_mul(factor).filter(|ms| (1..=520 * 604_800_000).contains(ms)).ok_or_else(none)
}
