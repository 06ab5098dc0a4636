//! The command about documents: `knowledge`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use selfheal_core::knowledge::Kind;

/// What documents say.
#[derive(Debug, Args)]
pub struct KnowledgeArgs {
    /// What to do with it
    #[command(subcommand)]
    pub command: KnowledgeCommand,
}

/// What to do with the knowledge.
#[derive(Debug, Subcommand)]
pub enum KnowledgeCommand {
    /// Take a file or folder in; it is read again when it changes
    Add {
        /// The file or folder
        path: PathBuf,
        /// What all of it is; by the names of the files if not given
        #[arg(long, value_name = "KIND")]
        kind: Option<KnowledgeKind>,
    },
    /// List what was taken in
    List {
        /// List every document
        #[arg(long)]
        documents: bool,
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the passages that fit some words best
    Search {
        /// The words: names, options, keys, a message
        #[arg(required = true)]
        words: Vec<String>,
        /// Look beside this script too, and at past incidents, as for a failure of it
        #[arg(long, value_name = "SCRIPT")]
        near: Option<PathBuf>,
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 5)]
        most: usize,
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Read again what changed, now
    Refresh {
        /// Throw the index away and read everything again
        #[arg(long)]
        all: bool,
    },
    /// Take a file or folder out
    Remove {
        /// The file or folder
        path: PathBuf,
    },
}

/// What documents are to a failing job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KnowledgeKind {
    /// They say how things work or what changed
    Reference,
    /// They show how things are done here
    Context,
    /// They tell what was wrong before
    Incident,
}

impl KnowledgeKind {
    /// As the index keeps it.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::Reference => Kind::Reference,
            Self::Context => Kind::Context,
            Self::Incident => Kind::Incident,
        }
    }
}
